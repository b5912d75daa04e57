//! A component to load: its keys in the cache, and what may be known of it without its bytes. It compiles nothing.

use crate::{component_bytes::ComponentBytes, digest::Digest};

use super::{
    Anatomy, ErrorKind, Grants, Limits, Sandbox, ScoreError,
    cache::{Outside, engine_digest},
    code::Way,
    split,
    wanted_code::Wanted,
};

/// The version of the checks that cached descriptions, configurations and the states that `configure` left have passed;
/// it increases when the checks change.
const CHECKS: &str = "4";

/// A component that the user admits.
pub(super) struct Source<'a> {
    pub(super) component: &'a ComponentBytes,
    pub(super) outside: Outside,
    pub(super) way: Way,
}

impl Sandbox {
    /// A component for which the cache may already have `known`.
    ///
    /// # Errors
    /// `invalid-component` if the bytes are not a component with the contract's exports, `missing-grant` if it imports
    /// what is not granted.
    pub(super) fn source<'a>(
        &self,
        component: &'a ComponentBytes,
        known: Option<Outside>,
        grants: Grants,
    ) -> Result<Source<'a>, ScoreError> {
        let anatomy = match &known {
            Some(Outside { anatomy, .. }) => anatomy,
            None => &read(component)?,
        };
        admit(anatomy, grants)?;
        let way = self.way_of(anatomy);
        let outside = match known {
            Some(outside) => outside,
            None => Outside {
                anatomy: anatomy.clone(),
                but_data: match way {
                    Way::Apart => split::digest_but_data(component.bytes()?),
                    Way::Whole => None,
                },
            },
        };
        Ok(Source { component, outside, way })
    }

    /// Components that import WASI are not split: whether they can be frozen is known only after `configure`, and if
    /// not, they score a little faster when they are whole.
    fn way_of(&self, anatomy: &Anatomy) -> Way {
        if anatomy.imports_wasi() { Way::Whole } else { self.shared().way }
    }

    /// The code of a component, with its keys in the cache.
    pub(super) fn wanted<'a>(&self, source: &Source<'a>) -> Wanted<'a> {
        let Source { component, outside, way } = source;
        // These texts are not configurations.
        let key = self.code_key(component.digest(), *way, "code");
        let shared_key =
            outside.but_data.map(|digest| self.code_key(digest, *way, "code for any data"));
        Wanted { component, way: *way, key, shared_key }
    }

    /// The key of a component with a configuration in the cache. `limits` are those under which the guest ran: what it
    /// left, and whether it got there, depends on them. (A time-out leaves nothing to keep.)
    pub(super) fn image_key(&self, component: Digest, config: &str, limits: &Limits) -> Digest {
        let what = format!("{CHECKS} {config}");
        self.cache_key(component, self.shared().way, &what, [limits.fuel, limits.memory_bytes])
    }

    fn code_key(&self, digest: Digest, way: Way, what: &str) -> Digest {
        self.cache_key(digest, way, what, [0; 2])
    }

    fn cache_key(&self, digest: Digest, way: Way, what: &str, limits: [u64; 2]) -> Digest {
        let engine = engine_digest(&self.shared().engine);
        let limits = limits.map(u64::to_le_bytes).concat();
        let way: &[u8] = match way {
            Way::Apart => b"apart",
            Way::Whole => b"whole",
        };
        Digest::of_parts([
            digest.as_bytes().as_slice(),
            what.as_bytes(),
            engine.as_bytes(),
            limits.as_slice(),
            way,
        ])
    }
}

/// Refuses a component that [`Sandbox::load`] would refuse before it compiles anything.
///
/// # Errors
/// `invalid-component` if the bytes are not a component with the contract's exports, `missing-grant` if it imports what
/// is not granted.
pub fn check_outside(component: &ComponentBytes, grants: Grants) -> Result<(), ScoreError> {
    admit(&read(component)?, grants)
}

/// The outside of a component that is not too large to be loaded.
fn read(component: &ComponentBytes) -> Result<Anatomy, ScoreError> {
    if component.length() > Limits::MAX_COMPONENT_BYTES {
        let message = format!(
            "the component has {} bytes; the most that is loaded is {}",
            component.length(),
            Limits::MAX_COMPONENT_BYTES
        );
        return Err(ScoreError::new(ErrorKind::InvalidComponent, message));
    }
    Anatomy::read(component.bytes()?)
}

/// Refuses a component that may not even be compiled.
fn admit(anatomy: &Anatomy, grants: Grants) -> Result<(), ScoreError> {
    anatomy.must_be_a_scorer()?;
    grants.admit(&anatomy.imports)
}
