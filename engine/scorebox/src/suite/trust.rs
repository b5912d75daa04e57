//! What a suite file says that published scorers must be: `[policy]`. Holds no scorer against it.

use std::path::PathBuf;

use crate::sandbox::Grants;

use super::{
    Location,
    document::Node,
    entry::{grants, size},
    parse_bytes,
    reading::Reading,
};

/// The keys of a policy.
const KEYS: [&str; 4] = ["signers", "registries", "deny-grants", "max-size"];
/// The length of a public key of minisign, as text.
const SIGNER_BYTES: usize = 56;

/// What published scorers must be, so that they are used. What is not set refuses nothing. Components in files and
/// built-in scorers are not published, and no policy is about them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrustPolicy {
    /// The keys of which one must have signed the component: public keys of minisign.
    pub signers: Option<Vec<String>>,
    /// The registries that they may be from: hosts, with their ports if they are named with them.
    pub registries: Option<Vec<String>>,
    /// What they must not need.
    pub denied_grants: Grants,
    /// The most bytes of a component.
    pub max_bytes: Option<u64>,
    /// Where it is written.
    pub location: Option<Location>,
}

impl TrustPolicy {
    /// The same with these [`signers`](TrustPolicy::signers).
    #[must_use]
    pub fn with_signers(mut self, signers: impl Into<Option<Vec<String>>>) -> TrustPolicy {
        self.signers = signers.into();
        self
    }

    /// The same with these [`registries`](TrustPolicy::registries).
    #[must_use]
    pub fn with_registries(mut self, registries: impl Into<Option<Vec<String>>>) -> TrustPolicy {
        self.registries = registries.into();
        self
    }

    /// The same with these [`denied_grants`](TrustPolicy::denied_grants).
    #[must_use]
    pub fn with_denied_grants(mut self, denied_grants: Grants) -> TrustPolicy {
        self.denied_grants = denied_grants;
        self
    }

    /// The same with this [`max_bytes`](TrustPolicy::max_bytes).
    #[must_use]
    pub fn with_max_bytes(mut self, max_bytes: impl Into<Option<u64>>) -> TrustPolicy {
        self.max_bytes = max_bytes.into();
        self
    }

    /// The same, written in this file at this line and column.
    #[must_use]
    pub fn at(mut self, file: PathBuf, line: usize, column: usize) -> TrustPolicy {
        self.location = Some(Location { file, line, column });
        self
    }

    /// Whether this is written as the host of a registry may be: without a scheme, a path or a pattern, which would
    /// match none.
    pub fn is_registry(written: &str) -> bool {
        let is_of_a_host =
            |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '-' | ':' | '[' | ']');
        !written.is_empty() && written.chars().all(is_of_a_host)
    }

    /// Whether this is written as a public key of minisign is.
    pub fn is_signer(written: &str) -> bool {
        let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
        written.len() == SIGNER_BYTES && written.starts_with("RW") && written.bytes().all(is_base64)
    }
}

/// Reads `[policy]`.
pub(super) fn policy(reading: &mut Reading<'_>, node: &Node, location: Location) -> TrustPolicy {
    let mut policy = TrustPolicy { location: Some(location), ..TrustPolicy::default() };
    for (key, member) in reading.members(node, "policy", "of `policy`", &KEYS) {
        let node = &member.node;
        match key {
            "signers" => policy.signers = Some(signers(reading, node)),
            "registries" => policy.registries = Some(registries(reading, node)),
            "deny-grants" => policy.denied_grants = grants(reading, node, key),
            _ => {
                let written = size(reading, node, key);
                let bytes = written.map(|written| parse_bytes(&written));
                policy.max_bytes = bytes.and_then(|bytes| reading.said(&node.span, bytes));
            }
        }
    }
    policy
}

fn registries(reading: &mut Reading<'_>, node: &Node) -> Vec<String> {
    let mut registries = Vec::new();
    for item in reading.list(node, "registries") {
        let Some(registry) = reading.text(item, "registries") else { continue };
        match TrustPolicy::is_registry(&registry) {
            true => registries.push(registry),
            false => {
                let shown = registry.escape_debug();
                let reason = format!(
                    "`{shown}` is not the host of a registry, such as `registry.example.com` or `localhost:5000`"
                );
                reading.wrong(&item.span, reason);
            }
        }
    }
    registries
}

fn signers(reading: &mut Reading<'_>, node: &Node) -> Vec<String> {
    let mut signers = Vec::new();
    for item in reading.list(node, "signers") {
        let Some(signer) = reading.text(item, "signers") else { continue };
        match TrustPolicy::is_signer(&signer) {
            true => signers.push(signer),
            false => {
                let shown = signer.escape_debug().to_string();
                let reason = format!(
                    "`{shown}` is not a public key of minisign, which has {SIGNER_BYTES} characters and begins with `RW`"
                );
                reading.wrong(&item.span, reason);
            }
        }
    }
    signers
}
