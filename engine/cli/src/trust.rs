//! Applies the policies about published scorers: the user's, and those of a suite. A scorer must satisfy all of them.
//! It reads no components.

use scorebox::{component_bytes::ComponentBytes, sandbox::Grants, suite::TrustPolicy};
use scorebox_community::{Address, Locked, Signer};

use crate::{
    failure::Failure, lock_file::lock_again, report, user_configuration::UserConfiguration,
};

/// The properties of a published scorer that policies check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claims<'c> {
    pub address: &'c Address,
    /// The signer, from a verified signature.
    pub signer: Option<&'c Signer>,
    /// The grants that it needs.
    pub grants: Grants,
    /// The size of the component, in bytes.
    pub bytes: u64,
}

/// All policies that apply.
#[derive(Debug, Default)]
pub(crate) struct Trust {
    policies: Vec<TrustPolicy>,
}

impl Trust {
    /// The user's policy, and the policies of a suite.
    pub(crate) fn with(of_suite: &[TrustPolicy]) -> Result<Trust, Failure> {
        let mut policies: Vec<TrustPolicy> =
            UserConfiguration::read()?.policy.into_iter().collect();
        policies.extend_from_slice(of_suite);
        Ok(Trust { policies })
    }

    /// Whether there is no policy.
    pub(crate) fn is_empty(&self) -> bool {
        self.policies.is_empty()
    }

    /// How many policies apply, as text.
    pub(crate) fn words(&self) -> String {
        match self.policies.len() {
            0 => "no policy is set".to_owned(),
            policies => report::counted(policies as u64, "policy lets it in", "policies let it in"),
        }
    }

    /// Refuses a registry before it is contacted.
    pub(crate) fn must_allow_registry(&self, address: &Address) -> Result<(), Failure> {
        let registry = address.registry();
        for policy in &self.policies {
            if let Some(allowed) = &policy.registries
                && !allowed.iter().any(|it| it.eq_ignore_ascii_case(registry))
            {
                let message = format!("the registry {registry} is not allowed");
                return Err(refused(
                    address,
                    policy,
                    &message,
                    &listed("allowed registries", allowed),
                ));
            }
        }
        Ok(())
    }

    /// Refuses a scorer that a policy does not allow.
    pub(crate) fn must_allow(&self, claims: Claims<'_>) -> Result<(), Failure> {
        self.must_allow_registry(claims.address)?;
        self.policies.iter().try_for_each(|policy| must_hold(policy, claims))
    }

    /// Refuses a locked scorer that is loaded, whose component has the digest of the lock. The signature in the lock is
    /// checked only if a policy names signers: otherwise nothing depends on it, and the digest identifies the bytes
    /// that the user agreed to.
    pub(crate) fn must_allow_loaded(
        &self,
        locked: &Locked,
        grants: Grants,
        component: &ComponentBytes,
    ) -> Result<(), Failure> {
        if self.policies.iter().any(|policy| policy.signers.is_some()) {
            return self.must_allow_locked(locked, grants, component.bytes()?);
        }
        let (address, bytes) = (&locked.address, component.length());
        self.must_allow(Claims { address, signer: None, grants, bytes })
    }

    /// Refuses a locked scorer with this component, if a policy does not allow it or the signature in the lock is not
    /// of the component.
    pub(crate) fn must_allow_locked(
        &self,
        locked: &Locked,
        grants: Grants,
        component: &[u8],
    ) -> Result<(), Failure> {
        let address = &locked.address;
        let signer = locked.proved_signer(component).map_err(|error| {
            Failure::new(format!("`{address}` is not what it is locked as: {error}"))
                .hint(lock_again(locked))
        })?;
        let bytes = component.len() as u64;
        self.must_allow(Claims { address, signer, grants, bytes }).map_err(|failure| {
            let is_said = signer.is_none() && locked.signer().is_some();
            let wants_signer = self.policies.iter().any(|policy| policy.signers.is_some());
            match is_said && wants_signer {
                // An older scorebox locked it.
                true => failure.hint(
                    "its lock names a signer without the signature: `scorebox add` with its address and its name writes it",
                ),
                false => failure,
            }
        })
    }
}

fn must_hold(policy: &TrustPolicy, claims: Claims<'_>) -> Result<(), Failure> {
    let Claims { address, signer, grants, bytes } = claims;
    if let Some(signers) = &policy.signers
        && !signer.is_some_and(|signer| signers.iter().any(|it| it == signer.as_str()))
    {
        let message = match signer {
            Some(signer) => format!("its signer {signer} is not allowed"),
            None => "it is not signed".to_owned(),
        };
        return Err(refused(address, policy, &message, &listed("allowed signers", signers)));
    }
    if let Some(grant) = grants.iter().find(|grant| policy.denied_grants.contains(*grant)) {
        let message = format!("it needs the grant {grant}, which is denied");
        return Err(refused(
            address,
            policy,
            &message,
            "take another scorer, or change the policy",
        ));
    }
    if let Some(most) = policy.max_bytes.filter(|most| bytes > *most) {
        let message = format!(
            "it has {}, and at most {} are allowed",
            report::bytes(bytes),
            report::bytes(most)
        );
        return Err(refused(
            address,
            policy,
            &message,
            "take another scorer, or change the policy",
        ));
    }
    Ok(())
}

fn refused(address: &Address, policy: &TrustPolicy, message: &str, hint: &str) -> Failure {
    let location =
        policy.location.as_ref().map_or_else(String::new, |location| format!("{location}: "));
    Failure::new(format!("{location}the policy refuses `{address}`: {message}")).hint(hint)
}

fn listed(what: &str, items: &[String]) -> String {
    const SHOWN: usize = 8;
    let named: Vec<String> = items.iter().take(SHOWN).map(|it| report::one_line(it, 80)).collect();
    match (named.is_empty(), items.len() > SHOWN) {
        (true, _) => format!("{what}: none"),
        (false, more) => format!("{what}: {}{}", named.join(", "), if more { ", …" } else { "" }),
    }
}
