//! Published scorers, each pinned to one component, and where these components are: in a folder, or provided by a
//! suite. It fetches nothing: a missing component is an error.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{MAX_FILE_BYTES, Origin, RegistryError, ScorerSource, bounded};
use crate::{
    component_bytes::ComponentBytes,
    digest::Digest,
    input_file::{InputFileError, open_regular},
};

/// The pins of published scorers, and their components.
#[derive(Clone, Debug, Default)]
pub(super) struct Pinned {
    folder: Option<PathBuf>,
    scorers: BTreeMap<String, Digest>,
    brought: BTreeMap<Digest, Arc<ScorerSource>>,
}

/// The name of a component's file in a folder of components: `SHA256.wasm`, in lower case.
pub fn component_file_name(digest: Digest) -> String {
    format!("{digest}.wasm")
}

/// The largest size of a component, in bytes.
pub const fn most_component_bytes() -> u64 {
    MAX_FILE_BYTES - 1
}

impl Pinned {
    pub(super) fn set_folder(&mut self, folder: PathBuf) {
        self.folder = Some(folder);
    }

    pub(super) fn pin(&mut self, scorers: impl IntoIterator<Item = (String, Digest)>) {
        self.scorers.extend(scorers);
    }

    pub(super) fn bring(&mut self, components: impl IntoIterator<Item = Arc<ScorerSource>>) {
        let named = |source: Arc<ScorerSource>| (source.component.digest(), source);
        self.brought.extend(components.into_iter().map(named));
    }

    /// The component with this digest, if it came with a suite.
    pub(super) fn brought(&self, digest: Digest) -> Option<&ScorerSource> {
        self.brought.get(&digest).map(Arc::as_ref)
    }

    /// The path of the component with this digest, whether the file exists or not; `None` if there is no folder.
    pub(super) fn file(&self, digest: Digest) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(component_file_name(digest)))
    }

    /// The component with this digest, if the folder has it.
    pub(super) fn component(&self, digest: Digest) -> Option<ComponentBytes> {
        let component = ComponentBytes::new(read(&self.file(digest)?).ok()?);
        (component.digest() == digest).then_some(component)
    }

    /// The component that the scorer at `address` is pinned to.
    pub(super) fn resolve(&self, address: &str) -> Result<ScorerSource, RegistryError> {
        let digest = *self.scorers.get(address).ok_or_else(|| RegistryError::NotPinned {
            address: address.to_owned(),
            nearest: crate::suggest::closest(address, self.scorers.keys().map(String::as_str)),
        })?;
        let not_fetched = || RegistryError::NotFetched { address: address.to_owned(), digest };
        let path = self.file(digest).ok_or_else(not_fetched)?;
        if !path.exists() {
            return Err(not_fetched());
        }
        // A folder or a pipe is not the component, just as a file with other bytes is not.
        if path.is_file() {
            let bytes = read(&path);
            let bytes =
                bytes.map_err(|source| RegistryError::Unreadable { path: path.clone(), source })?;
            let component = ComponentBytes::new(bytes);
            if component.digest() == digest {
                let origin = Origin::Published(address.to_owned());
                return Ok(ScorerSource { component, origin });
            }
        }
        Err(RegistryError::NotTheComponent { address: address.to_owned(), path })
    }
}

/// Reads a file of the folder, which no user named.
fn read(path: &Path) -> Result<Vec<u8>, InputFileError> {
    bounded(&open_regular(path)?)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::{
        advice::{Advice, Advised as _},
        registry::{Reference, Registry},
    };

    use super::*;

    #[test]
    fn a_component_that_a_suite_brought_is_found_by_its_digest_and_needs_no_folder() {
        let source = ScorerSource::new(b"a component".to_vec(), Origin::File("a.wasm".into()));
        let registry = Registry::with_builtins().with_brought([Arc::new(source.clone())]);
        assert_eq!(registry.fetched(Digest::of(b"a component")), Some(source));
        assert!(registry.fetched(Digest::of(b"another")).is_none());
    }

    #[test]
    fn a_published_scorer_is_the_component_that_it_is_pinned_to_or_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (bytes, address) = (b"a component", "a.test/team/grade:1.2.0");
        let digest = Digest::of(bytes);
        let file = folder.path().join(component_file_name(digest));
        let registry = Registry::with_builtins().with_components(folder.path().to_owned());
        let reference = Reference::Published(address.to_owned());

        let error = registry.resolve(&reference).unwrap_err();
        assert_eq!(error.to_string(), format!("`{address}` is not locked to a component"));
        assert_eq!(error.advice(), Some(Advice::Lock { address: address.into(), suite: None }));

        let registry = registry.with_pinned([(address.to_owned(), digest)]);
        let error = registry.resolve(&reference).unwrap_err();
        assert!(matches!(error, RegistryError::NotFetched { .. }), "{error}");
        assert_eq!(error.advice(), Some(Advice::Fetch { suite: None }));
        assert!(registry.fetched(digest).is_none());

        fs::write(&file, bytes).unwrap();
        let source = registry.resolve(&reference).unwrap();
        assert_eq!(source.component.bytes().unwrap(), bytes);
        assert_eq!(source.origin.to_string(), format!("oci://{address}"));
        assert_eq!(registry.fetched(digest).unwrap().component, source.component);

        // A byte of the file is changed: the digest is computed from what is read, not taken from the name.
        fs::write(&file, b"A component").unwrap();
        let error = registry.resolve(&reference).unwrap_err();
        assert!(matches!(error, RegistryError::NotTheComponent { .. }), "{error}");
        assert!(registry.fetched(digest).is_none());

        for in_its_place in ["mkdir", "mkfifo"] {
            fs::remove_file(&file).or_else(|_| fs::remove_dir(&file)).unwrap();
            let made = std::process::Command::new(in_its_place).arg(&file).status().unwrap();
            assert!(made.success());
            let error = registry.resolve(&reference).unwrap_err();
            assert!(matches!(error, RegistryError::NotTheComponent { .. }), "{error}");
            assert!(registry.fetched(digest).is_none());
        }

        let other = Reference::Published("a.test/team/grade:1.2.1".to_owned());
        let error = registry.resolve(&other).unwrap_err();
        assert_eq!(error.advice(), Some(Advice::DidYouMean(vec![address.to_owned()])));
    }
}
