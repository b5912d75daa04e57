//! The files that the task left, from either source: the case's data, or the user's grant. It only reads them;
//! [`Workspace`] reports what changed in them.

use std::borrow::Cow;

use super::{Workspace, find};
use scorebox_sdk::{Case, ScoreError, excerpt};

/// The files of a workspace, by their paths from its root.
///
/// ```
/// # use scorebox_sdk::Case;
/// # use scorebox_sdk_workspace::Files;
/// # let case = Case::new(serde_json::json!("done")).with_file("src/a.ts", "let a = 1;\n");
/// let files = Files::granted(&case).unwrap();
/// assert!(files.exists("src/a.ts"));
/// assert_eq!(files.text("src/a.ts").unwrap(), "let a = 1;\n");
/// ```
#[derive(Debug)]
pub struct Files {
    source: Source,
    /// Sorted by their bytes.
    paths: Vec<String>,
}

#[derive(Debug)]
enum Source {
    Case(Workspace),
    /// In native tests, in place of the grant.
    #[cfg(not(target_arch = "wasm32"))]
    Memory(Vec<(String, Vec<u8>)>),
    /// A function pointer, so that only a component that asks for the grant imports it.
    #[cfg(target_arch = "wasm32")]
    Grant(fn(&str) -> Result<Vec<u8>, String>),
}

impl Files {
    /// The files whose content the case contains; see [`Workspace::of`].
    ///
    /// # Errors
    /// As [`Workspace::of`]; and if the workspace has neither `files` nor a `diff`.
    pub fn of(case: &Case) -> Result<Self, ScoreError> {
        let workspace = Workspace::of(case)?;
        match workspace.files.is_some() {
            true => Ok(Self::in_case(workspace)),
            false => Err(workspace.lacks("`files`")),
        }
    }

    fn in_case(workspace: Workspace) -> Self {
        let paths = workspace.files().filter(|file| file.exists());
        let paths = paths.map(|file| file.path().to_owned()).collect();
        Self { source: Source::Case(workspace), paths }
    }

    /// The files that the user granted. A scorer that calls this imports `workspace`, and is refused if the user did
    /// not grant it. In a native test, these are the files that [`Case::with_file`] added.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if the case has no workspace.
    pub fn granted(case: &Case) -> Result<Self, ScoreError> {
        granted(case)
    }

    /// The files that the case contains or, if it has none, those that the user granted. A scorer that calls this needs
    /// the grant in either case.
    ///
    /// # Errors
    /// If the case's workspace cannot be read, or neither exists.
    pub fn of_or_granted(case: &Case) -> Result<Self, ScoreError> {
        let not_in_case = match find::look(case)? {
            Ok(workspace) if workspace.files.is_some() => return Ok(Self::in_case(workspace)),
            Ok(workspace) => workspace.lacks("`files`").to_string(),
            Err(found) => found,
        };
        granted(case).map_err(|not_granted| {
            ScoreError::invalid_input(format!(
                "there are no files: {not_in_case}; the granted workspace: {not_granted}"
            ))
        })
    }

    /// All paths, sorted by their bytes.
    #[must_use]
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    /// Whether there is a file with this path.
    #[must_use]
    pub fn exists(&self, path: &str) -> bool {
        self.paths.binary_search_by(|known| known.as_str().cmp(path)).is_ok()
    }

    /// The content of a file.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if there is no such file, or its content is not known.
    pub fn read(&self, path: &str) -> Result<Cow<'_, [u8]>, ScoreError> {
        let shown = excerpt(path, 120);
        if !self.exists(path) {
            let message = format!("there is no file `{shown}` in the workspace");
            return Err(ScoreError::invalid_input(message));
        }
        let unreadable =
            |why: &str| ScoreError::invalid_input(format!("`{shown}` cannot be read: {why}"));
        match &self.source {
            Source::Case(workspace) => (workspace.file(path).and_then(|file| file.content()))
                .map(|content| Cow::Borrowed(content.as_bytes()))
                .ok_or_else(|| unreadable("the case does not have its content")),
            #[cfg(not(target_arch = "wasm32"))]
            Source::Memory(files) => (files.iter().find(|(known, _)| known == path))
                .map(|(_, content)| Cow::Borrowed(content.as_slice()))
                .ok_or_else(|| unreadable("it is gone")),
            #[cfg(target_arch = "wasm32")]
            Source::Grant(read) => read(path).map(Cow::Owned).map_err(|why| unreadable(&why)),
        }
    }

    /// The text of a file.
    ///
    /// # Errors
    /// As [`Files::read`]; and if it is not UTF-8.
    pub fn text(&self, path: &str) -> Result<Cow<'_, str>, ScoreError> {
        let no_text = || {
            let path = excerpt(path, 120);
            ScoreError::invalid_input(format!("`{path}` is not a text (UTF-8)"))
        };
        match self.read(path)? {
            Cow::Borrowed(bytes) => {
                std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| no_text())
            }
            Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).map_err(|_| no_text()),
        }
    }
}

#[cfg(target_arch = "wasm32")]
fn granted(_: &Case) -> Result<Files, ScoreError> {
    use crate::bindings::scorebox::scorer::workspace;
    let paths = workspace::paths().map_err(ScoreError::InvalidInput)?;
    Ok(Files { source: Source::Grant(|path| workspace::read(path)), paths })
}

#[cfg(not(target_arch = "wasm32"))]
fn granted(case: &Case) -> Result<Files, ScoreError> {
    if case.granted_files().is_empty() {
        return Err(ScoreError::invalid_input("the case has no workspace"));
    }
    let mut paths: Vec<_> = case.granted_files().iter().map(|(path, _)| path.clone()).collect();
    paths.sort();
    Ok(Files { source: Source::Memory(case.granted_files().to_vec()), paths })
}
