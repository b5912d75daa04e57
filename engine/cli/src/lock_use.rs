//! Which entries of a folder's `scorebox.lock` its suite files use, and whether the lock has exactly those. It writes
//! nothing.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    fs, io,
    path::{Path, PathBuf},
};

use scorebox::{
    input_file::{self, InputFileError, MAX_CONFIGURATION_BYTES},
    registry::Reference,
    suite::{Suite, SuiteNames, SuiteScorer},
};

use scorebox_community::Address;

use crate::{
    advice::lock_it,
    failure::Failure,
    lock_file::{LockFile, file_of, folder_of},
    setup,
};

/// The published scorers that the suite files of a folder use.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    addresses: BTreeSet<String>,
    /// Whether they may use more than these.
    is_unclear: bool,
}

impl Uses {
    /// What the suite files beside the lock use: all files that end in .toml or .json, the files in `suites`, and those
    /// that any of them includes.
    pub(crate) fn beside(lock: &LockFile, suites: &[&Path]) -> Result<Uses, Failure> {
        let folder = lock.path().parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let unreadable = |error: io::Error| {
            Failure::new(format!("cannot read the folder `{}`: {error}", folder.display()))
        };
        let real = fs::canonicalize(folder).map_err(unreadable)?;
        // Each file, and whether it is a suite for certain.
        let mut files: Vec<(PathBuf, bool)> = Vec::new();
        for file in fs::read_dir(folder).map_err(unreadable)? {
            let path = file.map_err(unreadable)?.path();
            if path.extension().is_some_and(|suffix| suffix == "toml" || suffix == "json") {
                files.push((path, false));
            }
        }
        files.extend(suites.iter().map(|suite| ((*suite).to_owned(), true)));
        let (mut uses, mut read) = (Uses::default(), BTreeSet::new());
        while let Some((path, is_suite)) = files.pop() {
            let is_beside = folder_of_file(&path).is_some_and(|it| it == real);
            // Opening a pipe would wait for a writer.
            let is_other = fs::metadata(&path).is_ok_and(|there| !there.is_file());
            if !is_beside || is_other || !read.insert(path.file_name().map(ToOwned::to_owned)) {
                continue;
            }
            let text = match input_file::read_text(&path, MAX_CONFIGURATION_BYTES) {
                Ok(text) => text,
                Err(error) => {
                    uses.is_unclear |= is_suite || may_hide_a_suite(&error);
                    continue;
                }
            };
            let names = Suite::names_in(&path, &text, &setup::variable)?;
            uses.add(&names);
            uses.is_unclear |= names.is_unclear && (is_suite || may_name_published(&text));
            files.extend(names.includes.into_iter().map(|path| (path, is_suite)));
        }
        Ok(uses)
    }

    /// Whether one of the files uses the address, or may use it.
    pub(crate) fn have(&self, address: &str) -> bool {
        self.is_unclear || self.addresses.contains(&Address::canonical(address))
    }

    fn add(&mut self, names: &SuiteNames) {
        self.addresses.extend(names.uses.iter().filter_map(|(_, uses)| match uses {
            Reference::Published(address) => Some(Address::canonical(address)),
            Reference::Name(_) | Reference::File(_) => None,
        }));
    }
}

/// Refuses locks that do not have exactly the entries that the suites beside them need, or that an older scorebox
/// wrote.
pub(crate) fn must_be_up_to_date(scorers: &[SuiteScorer]) -> Result<(), Failure> {
    let mut folders: BTreeMap<PathBuf, LockFile> = BTreeMap::new();
    // A bundle's lock always has exactly what the bundle uses.
    let on_disk = |folder: &Path| folder.as_os_str().is_empty() || folder.is_dir();
    for scorer in scorers {
        let Reference::Published(address) = &scorer.uses else { continue };
        let folder = folder_of(scorer);
        if !on_disk(&folder) {
            continue;
        }
        let file = match folders.entry(folder.clone()) {
            Entry::Occupied(there) => there.into_mut(),
            Entry::Vacant(place) => place.insert(LockFile::in_folder(&folder)?),
        };
        if file.lock.get(address).is_none() {
            return Err(not_locked(scorer.id.as_str(), address, file.path(), file_of(scorer)));
        }
    }
    // A suite without published scorers may have a leftover lock.
    let written = scorers.iter().filter_map(|scorer| scorer.location.as_ref()?.file.parent());
    for folder in written.filter(|folder| on_disk(folder)) {
        if let Entry::Vacant(place) = folders.entry(folder.to_owned()) {
            place.insert(LockFile::in_folder(folder)?);
        }
    }
    for (folder, file) in &folders {
        let path = file.path().display();
        if file.lock.is_of_older_version() {
            return Err(Failure::new(format!("`{path}` was written by an older scorebox"))
                .hint("`scorebox update` writes it again"));
        }
        let locations = scorers.iter().flat_map(|it| [&it.location, &it.uses_location]).flatten();
        let suites: Vec<&Path> = locations.map(|location| location.file.as_path()).collect();
        let mut uses = Uses::beside(file, &suites)?;
        for scorer in scorers.iter().filter(|scorer| folder_of(scorer) == *folder) {
            if let Reference::Published(address) = &scorer.uses {
                uses.addresses.insert(Address::canonical(address));
            }
        }
        for locked in file.lock.iter() {
            let address = locked.address.to_string();
            if !uses.have(&address) {
                return Err(Failure::new(format!(
                    "`{path}` locks `{address}`, which no suite beside it uses"
                ))
                .hint("`scorebox update` leaves it out; or restore the suite that uses it"));
            }
        }
    }
    Ok(())
}

/// The error that the lock at `lock` does not name the component of the scorer `name`, with how to lock it; `suite` is
/// the file that uses the scorer.
pub(crate) fn not_locked(name: &str, address: &str, lock: &Path, suite: Option<&Path>) -> Failure {
    let message = format!("scorer `{name}`: `{address}` is not in `{}`", lock.display());
    Failure::new(message).hint(lock_it(address, suite))
}

/// Whether a file that could not be read may be a suite. A file that is not text is not a suite; nor is a dangling
/// link.
fn may_hide_a_suite(error: &InputFileError) -> bool {
    matches!(error, InputFileError::PermissionDenied | InputFileError::Failed(_))
}

/// The canonical path of a file's folder; `None` if the folder does not exist.
fn folder_of_file(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()
}

/// Whether a text that cannot be parsed may be a suite with published scorers: it contains such an address, or a
/// variable or an escape may hide one.
fn may_name_published(text: &str) -> bool {
    ["oci://", "${", "\\"].iter().any(|part| text.contains(part))
}
