//! A component's bytes with their digest, which is computed once; embedded bytes are uncompressed on first use. It does
//! not look into the bytes.

use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, OnceLock},
};

use crate::{
    advice::{Advice, Advised},
    digest::Digest,
};

/// A component's bytes and their digest. A clone shares both.
#[derive(Clone)]
pub struct ComponentBytes(Arc<Inner>);

struct Inner {
    digest: Digest,
    length: u64,
    held: Held,
}

enum Held {
    Here(Cow<'static, [u8]>),
    Packed { packed: &'static dyn Packed, unpacked: OnceLock<Option<Vec<u8>>> },
}

/// Embedded bytes in another form.
pub(crate) trait Packed: Sync {
    /// The bytes; `None` if they do not have the expected digest.
    fn unpacked(&self) -> Option<Vec<u8>>;
}

/// The embedded bytes are not the component that the digest names: this build of the program is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the component that is embedded as sha256:{digest} is damaged")]
#[non_exhaustive]
pub struct DamagedComponent {
    /// The expected digest.
    pub digest: Digest,
}

impl Advised for DamagedComponent {
    fn advice(&self) -> Option<Advice> {
        None
    }
}

impl ComponentBytes {
    /// These bytes, which are not checked. Computes their digest.
    pub fn new(bytes: impl Into<Cow<'static, [u8]>>) -> ComponentBytes {
        let bytes = bytes.into();
        let (digest, length) = (Digest::of(&bytes), bytes.len() as u64);
        ComponentBytes(Arc::new(Inner { digest, length, held: Held::Here(bytes) }))
    }

    /// Bytes that have this digest and length once they are unpacked.
    pub(crate) fn packed(
        packed: &'static dyn Packed,
        digest: Digest,
        length: u64,
    ) -> ComponentBytes {
        let held = Held::Packed { packed, unpacked: OnceLock::new() };
        ComponentBytes(Arc::new(Inner { digest, length, held }))
    }

    /// The digest of the bytes, which names the component.
    pub fn digest(&self) -> Digest {
        self.0.digest
    }

    /// The number of bytes.
    pub fn length(&self) -> u64 {
        self.0.length
    }

    /// The bytes.
    ///
    /// # Errors
    /// If the bytes are embedded and do not have their digest.
    pub fn bytes(&self) -> Result<&[u8], DamagedComponent> {
        match &self.0.held {
            Held::Here(bytes) => Ok(bytes),
            Held::Packed { packed, unpacked } => {
                let unpacked = unpacked.get_or_init(|| packed.unpacked());
                unpacked.as_deref().ok_or(DamagedComponent { digest: self.0.digest })
            }
        }
    }
}

impl PartialEq for ComponentBytes {
    fn eq(&self, other: &ComponentBytes) -> bool {
        self.digest() == other.digest()
    }
}

impl Eq for ComponentBytes {}

impl fmt::Debug for ComponentBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ComponentBytes")
            .field("digest", &self.digest())
            .field("length", &self.length())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Default)]
    struct Counted {
        times: AtomicUsize,
        damaged: bool,
    }

    impl Packed for Counted {
        fn unpacked(&self) -> Option<Vec<u8>> {
            self.times.fetch_add(1, Ordering::Relaxed);
            (!self.damaged).then(|| b"abc".to_vec())
        }
    }

    #[test]
    fn what_is_packed_is_unpacked_once_and_only_when_its_bytes_are_asked_for() {
        let counted: &'static Counted = Box::leak(Box::default());
        let component = ComponentBytes::packed(counted, Digest::of(b"abc"), 3);
        let clone = component.clone();
        assert_eq!((component.digest(), component.length()), (Digest::of(b"abc"), 3));
        assert_eq!(component, ComponentBytes::new(b"abc".as_slice()));
        assert_eq!(counted.times.load(Ordering::Relaxed), 0);
        assert_eq!((component.bytes(), clone.bytes()), (Ok(&b"abc"[..]), Ok(&b"abc"[..])));
        assert_eq!(counted.times.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn what_is_damaged_has_no_bytes() {
        let damaged: &'static Counted =
            Box::leak(Box::new(Counted { damaged: true, ..Counted::default() }));
        let digest = Digest::of(b"abc");
        let component = ComponentBytes::packed(damaged, digest, 3);
        assert_eq!(component.bytes(), Err(DamagedComponent { digest }));
    }
}
