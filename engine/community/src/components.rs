//! The folder of components that were fetched, each in a file that its digest names. A file is there whole or not at all; nothing in the
//! folder is trusted because it is there.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use bytes::Bytes;
use scorebox::{digest::Digest, registry::component_file_name};

use crate::artifact::MOST_COMPONENT_BYTES;

/// A folder of components.
#[derive(Clone, Debug)]
pub struct Components {
    folder: PathBuf,
}

impl Components {
    /// The components in `folder`, which is made when the first one is kept.
    pub fn new(folder: PathBuf) -> Components {
        Components { folder }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The component of that digest; `None` if it is not there, or the file has other bytes.
    pub fn component(&self, digest: Digest) -> Option<Bytes> {
        let path = self.file(digest);
        let is_small = fs::metadata(&path).ok()?.len() <= MOST_COMPONENT_BYTES as u64;
        let bytes = is_small.then(|| fs::read(&path).ok()).flatten()?;
        (Digest::of(&bytes) == digest).then(|| bytes.into())
    }

    /// Keeps a component, in place of a file that has its name and other bytes.
    ///
    /// # Errors
    /// If it cannot be written; nothing is left then.
    pub fn keep(&self, component: &[u8]) -> io::Result<Digest> {
        let digest = Digest::of(component);
        if self.component(digest).is_some() {
            return Ok(digest);
        }
        fs::create_dir_all(&self.folder)?;
        let mut beside = tempfile::Builder::new().prefix(".fetching-").tempfile_in(&self.folder)?;
        // The file itself, whose errors do not name it: it has a name that says nothing to anyone.
        beside.as_file_mut().write_all(component)?;
        beside.as_file().sync_all()?;
        beside.persist(self.file(digest))?;
        Ok(digest)
    }

    fn file(&self, digest: Digest) -> PathBuf {
        self.folder.join(component_file_name(digest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_is_kept_under_its_digest_and_a_damaged_one_is_not_had() {
        let folder = tempfile::tempdir().unwrap();
        let components = Components::new(folder.path().join("a/b"));
        assert!(components.component(Digest::of(b"one")).is_none());
        let digest = components.keep(b"one").unwrap();
        assert_eq!(components.keep(b"one").unwrap(), digest);
        assert_eq!(&components.component(digest).unwrap()[..], b"one");
        fs::write(components.file(digest), b"two").unwrap();
        assert!(components.component(digest).is_none());
        components.keep(b"one").unwrap();
        assert_eq!(&components.component(digest).unwrap()[..], b"one");
        assert_eq!(fs::read_dir(components.folder()).unwrap().count(), 1, "nothing is left beside");
    }

    #[test]
    fn where_nothing_can_be_written_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let components = Components::new(folder.path().join("file/below"));
        assert!(components.keep(b"one").is_err());
        assert!(components.component(Digest::of(b"one")).is_none());
    }
}
