//! Reads the requirements for published scorers in a suite file: `[policy]`. It checks no scorer.

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

/// The requirements that published scorers must meet to be used. Missing keys refuse nothing. Components in files and
/// built-in scorers are not published, and policies do not apply to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrustPolicy {
    /// The keys of which at least one must have signed the component: public keys of minisign.
    pub signers: Option<Vec<String>>,
    /// The registries that are allowed: hosts, with their ports if the reference has them.
    pub registries: Option<Vec<String>>,
    /// The grants that they must not need.
    pub denied_grants: Grants,
    /// The maximum size of a component in bytes.
    pub max_bytes: Option<u64>,
    /// Its location.
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

    /// The same, with a location in this file at this line and column.
    #[must_use]
    pub fn at(mut self, file: PathBuf, line: usize, column: usize) -> TrustPolicy {
        self.location = Some(Location { file, line, column });
        self
    }

    /// Whether this is a valid host of a registry: without a scheme, a path or a pattern, which would never match.
    pub fn is_registry(written: &str) -> bool {
        let is_of_a_host =
            |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '-' | ':' | '[' | ']');
        !written.is_empty() && written.chars().all(is_of_a_host)
    }

    /// Whether this has the form of a minisign public key.
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
