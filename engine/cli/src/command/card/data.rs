//! The cases of a page: files that others can obtain, each identified by its digest; and the database with their
//! scores. It reads no cases.

use std::{
    collections::HashSet,
    fs::File,
    io,
    path::{Path, PathBuf},
};

use scorebox::{digest::Digesting, store::StoreError};
use scorebox_pages::CardFile;
use tempfile::TempDir;

use crate::{failure::Failure, same_file::file_name, waiting::Waiting};

/// Files with cases.
pub(super) struct Data {
    pub(super) files: Vec<CardFile>,
}

impl Data {
    /// The digests of these files; `None` if there are none.
    pub(super) fn read(paths: &[PathBuf]) -> Result<Option<Data>, Failure> {
        if paths.is_empty() {
            return Ok(None);
        }
        let mut names = HashSet::new();
        if let Some(name) =
            paths.iter().map(|it| file_name(it)).find(|it| !names.insert(it.clone()))
        {
            let message = format!("two files with cases are called `{name}`");
            return Err(Failure::new(message)
                .hint("others have them in one folder: give one of them another name"));
        }
        let _waiting = Waiting::on("reading the cases");
        let files = paths.iter().map(|path| file(path)).collect::<Result<_, Failure>>()?;
        Ok(Some(Data { files }))
    }

    /// Refuses files whose bytes have changed: the scored data would differ from the data that the page names.
    pub(super) fn must_be_the_same(&self, paths: &[PathBuf]) -> Result<(), Failure> {
        let _waiting = Waiting::on("reading the cases");
        for (path, before) in paths.iter().zip(&self.files) {
            if file(path)? != *before {
                let path = path.display();
                return Err(Failure::new(format!("`{path}` changed while its cases were scored"))
                    .hint("score a file that nothing writes to"));
            }
        }
        Ok(())
    }
}

fn file(path: &Path) -> Result<CardFile, Failure> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Failure::new(format!("{}: no such file", path.display())),
        _ => Failure::new(format!("cannot read `{}`: {error}", path.display())),
    };
    // A pipe or a device can be read only once.
    if !path.metadata().map_err(failed)?.is_file() {
        return Err(Failure::new(format!("`{}` is not a file", path.display()))
            .hint("the page names the data by a digest, so that others can check it: write the cases to a file"));
    }
    let mut digesting = Digesting::default();
    let bytes = File::open(path).and_then(|mut file| io::copy(&mut file, &mut digesting));
    let bytes = bytes.map_err(failed)?;
    Ok(CardFile { name: file_name(path), bytes, digest: digesting.finish() })
}

/// The database with the scores.
pub(super) struct Kept {
    path: PathBuf,
    /// The temporary folder, if the user named no database.
    folder: Option<TempDir>,
}

impl Kept {
    /// The named database, or one in a temporary folder that is removed with this value.
    pub(super) fn of(named: Option<&Path>) -> Result<Kept, Failure> {
        if let Some(path) = named {
            return Ok(Kept { path: path.to_owned(), folder: None });
        }
        let folder = TempDir::new().map_err(|error| Failure::temporary_folder(&error))?;
        Ok(Kept { path: folder.path().join("card.db"), folder: Some(folder) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The failure to store or read the scores. The message names the database's path only if the user did.
    pub(super) fn failure(&self, error: StoreError) -> Failure {
        match self.is_named() {
            true => error.into(),
            false => Failure::temporary_database(&error).hint(
                "make room there, name another folder in TMPDIR, or name a database to keep: --db FILE",
            ),
        }
    }

    /// Whether the user named the database.
    pub(super) fn is_named(&self) -> bool {
        self.folder.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changes_while_it_is_scored_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cases.jsonl");
        std::fs::write(&path, "{\"id\": \"a\", \"output\": 1}\n").unwrap();
        let paths = [path.clone()];
        let data = Data::read(&paths).unwrap().unwrap();
        data.must_be_the_same(&paths).unwrap();
        std::fs::write(&path, "{\"id\": \"a\", \"output\": 2}\n").unwrap();
        let refused = data.must_be_the_same(&paths).unwrap_err();
        assert!(refused.message.ends_with("changed while its cases were scored"), "{refused:?}");
    }
}
