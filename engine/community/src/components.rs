//! Manages the folder of fetched components, each in a file that is named by its digest. A file is written completely
//! or not at all; no file is trusted because it is in the folder.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use bytes::Bytes;
use scorebox::{digest::Digest, input_file::open_regular, registry::component_file_name};

use crate::artifact::MAX_COMPONENT_BYTES;

/// A folder of components.
#[derive(Clone, Debug)]
pub struct Components {
    folder: PathBuf,
}

impl Components {
    /// Uses `folder`, which is created when the first component is stored.
    pub fn new(folder: PathBuf) -> Components {
        Components { folder }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The component with this digest; `None` if it does not exist, or the file contains different bytes.
    pub fn component(&self, digest: Digest) -> Option<Bytes> {
        let path = self.file(digest);
        let (file, mut bytes) = (open_regular(&path).ok()?, Vec::new());
        // One more byte shows that the file is not the component.
        file.take(MAX_COMPONENT_BYTES as u64 + 1).read_to_end(&mut bytes).ok()?;
        (Digest::of(&bytes) == digest).then(|| bytes.into())
    }

    /// Stores a component, and replaces any other file with its name.
    ///
    /// # Errors
    /// If the component cannot be written; nothing is left then. A folder that is not empty is not replaced.
    pub fn keep(&self, component: &[u8]) -> io::Result<Digest> {
        let digest = Digest::of(component);
        if self.component(digest).is_some() {
            return Ok(digest);
        }
        fs::create_dir_all(&self.folder)?;
        let mut beside = tempfile::Builder::new().prefix(".fetching-").tempfile_in(&self.folder)?;
        // This writes to the file itself, so that errors do not contain its temporary name, which means nothing to a
        // user.
        beside.as_file_mut().write_all(component)?;
        beside.as_file().sync_all()?;
        let path = self.file(digest);
        if path.symlink_metadata().is_ok_and(|it| it.is_dir()) {
            fs::remove_dir(&path).map_err(|error| {
                let name = component_file_name(digest);
                io::Error::new(
                    error.kind(),
                    format!("the folder `{name}` is in its place: {error}"),
                )
            })?;
        }
        beside.persist(path)?;
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

    #[cfg(unix)]
    #[test]
    fn what_is_not_a_file_is_not_waited_for_and_replaced_unless_something_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let components = Components::new(folder.path().to_owned());
        let digest = Digest::of(b"one");
        let path = components.file(digest);
        for make in ["mkfifo", "mkdir", "ln -s /dev/zero"] {
            let mut words = make.split(' ');
            let mut command = std::process::Command::new(words.next().unwrap());
            assert!(command.args(words).arg(&path).status().unwrap().success());
            assert!(components.component(digest).is_none(), "{make}");
            assert_eq!(components.keep(b"one").unwrap(), digest, "{make}");
            assert_eq!(&components.component(digest).unwrap()[..], b"one");
            fs::remove_file(&path).unwrap();
        }
        fs::create_dir_all(path.join("something")).unwrap();
        let error = components.keep(b"one").unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("the folder `{digest}.wasm` is in its place: ")),
            "{error}"
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside");
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
