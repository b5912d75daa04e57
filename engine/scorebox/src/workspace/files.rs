//! [`Workspace`]: the files of one case, and their digest. It reads no disk.

use std::{collections::BTreeMap, sync::Arc};

use crate::digest::Digest;

/// The files that a task left, by their paths: relative, with `/`, sorted by their bytes. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace(Arc<Files>);

#[derive(Debug, PartialEq, Eq)]
struct Files {
    files: BTreeMap<String, Vec<u8>>,
    digest: Digest,
}

impl Workspace {
    /// A workspace of these files.
    pub fn new(files: BTreeMap<String, Vec<u8>>) -> Workspace {
        let parts = files.iter().flat_map(|(path, content)| [path.as_bytes(), content.as_slice()]);
        let digest = Digest::of_parts(std::iter::once(&b"scorebox workspace 1"[..]).chain(parts));
        Workspace(Arc::new(Files { files, digest }))
    }

    /// The digest of all paths and contents.
    pub fn digest(&self) -> Digest {
        self.0.digest
    }

    /// All paths, sorted by their bytes.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.files.keys().map(String::as_str)
    }

    /// The content of the file at `path`.
    pub fn read(&self, path: &str) -> Option<&[u8]> {
        self.0.files.get(path).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(files: &[(&str, &str)]) -> Workspace {
        let owned =
            |(path, content): &(&str, &str)| (path.to_string(), content.as_bytes().to_vec());
        Workspace::new(files.iter().map(owned).collect())
    }

    #[test]
    fn the_digest_is_that_of_paths_and_contents() {
        let one = workspace(&[("a", "1"), ("b", "2")]);
        assert_eq!(one.digest(), workspace(&[("b", "2"), ("a", "1")]).digest());
        for other in [
            workspace(&[]),
            workspace(&[("a", "1")]),
            workspace(&[("a", "2"), ("b", "1")]),
            workspace(&[("a", "1b2"), ("", "")]),
        ] {
            assert_ne!(one.digest(), other.digest(), "{other:?}");
        }
    }
}
