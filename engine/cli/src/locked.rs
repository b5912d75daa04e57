//! Compares loaded scorers with their locks, and refuses those that differ. It reads no lock itself, and asks no
//! registry.

use scorebox::{
    component_bytes::ComponentBytes,
    contract::{Field, Fields, ScorerInfo},
    registry::{Origin, Reference, Registry},
    run::ReadyScorer,
    sandbox::{Anatomy, Grants, Sandbox},
    suite::{Suite, SuiteScorer, TrustPolicy},
};
use scorebox_community::Locked;

use crate::{
    failure::Failure,
    lock_file::{Locks, lock_again, locks_of},
    report, setup,
    trust::Trust,
};

/// Loads the scorers of a suite, and checks them against its locks.
pub(crate) async fn loaded(suite: &Suite, sandbox: &Sandbox) -> Result<Vec<ReadyScorer>, Failure> {
    loaded_as(&locks_of(&suite.scorers)?, suite, sandbox).await
}

/// Loads the scorers of a suite, and checks them against `locks`.
pub(crate) async fn loaded_as(
    locks: &Locks,
    suite: &Suite,
    sandbox: &Sandbox,
) -> Result<Vec<ReadyScorer>, Failure> {
    let registry = setup::registry_with(&suite.scorers, locks);
    must_be_allowed(locks, suite, &registry)?;
    let scorers = setup::loaded(suite, &registry, sandbox).await?;
    must_be_as_these(locks, &suite.policies, &scorers)?;
    Ok(scorers)
}

/// Refuses a published scorer that a policy does not allow, as far as its lock and its bytes show: before any of it is
/// compiled or run. Its imports are known only once it is loaded.
pub(crate) fn must_be_allowed(
    locks: &Locks,
    suite: &Suite,
    registry: &Registry,
) -> Result<(), Failure> {
    let published = |scorer: &SuiteScorer| matches!(scorer.uses, Reference::Published(_));
    if !suite.scorers.iter().any(published) {
        return Ok(());
    }
    let trust = Trust::with(&suite.policies)?;
    for scorer in suite.scorers.iter().filter(|_| !trust.is_empty()) {
        let Reference::Published(address) = &scorer.uses else { continue };
        let brought = scorer.brought.as_ref().map(|brought| brought.source.component.clone());
        // Loading reports a component that cannot be read.
        let component =
            brought.or_else(|| registry.resolve(&scorer.uses).ok().map(|source| source.component));
        if let (Some(locked), Some(component)) = (locks.get(address), component) {
            trust.must_allow_loaded(locked, Grants::NONE, &component)?;
        }
    }
    Ok(())
}

/// Refuses a scorer whose version, fields or imports differ from its lock: the lock was edited, so the user never
/// agreed to them. Also refuses one that a policy does not allow.
pub(crate) fn must_be_as_locked(
    scorers: &[SuiteScorer],
    policies: &[TrustPolicy],
    loaded: &[ReadyScorer],
) -> Result<(), Failure> {
    must_be_as_these(&locks_of(scorers)?, policies, loaded)
}

fn must_be_as_these(
    locks: &Locks,
    policies: &[TrustPolicy],
    loaded: &[ReadyScorer],
) -> Result<(), Failure> {
    let published = |scorer: &&ReadyScorer| matches!(scorer.origin, Origin::Published(_));
    // Most suites have no published scorers and need no policy.
    if !loaded.iter().any(|scorer| published(&scorer)) {
        return Ok(());
    }
    let trust = Trust::with(policies)?;
    for scorer in loaded {
        let Origin::Published(address) = &scorer.origin else { continue };
        let Some(locked) = locks.get(address) else { continue };
        let (info, anatomy) = (scorer.scorer.info(), scorer.scorer.anatomy());
        must_be(locked, info, (anatomy, &scorer.component), &trust)?;
    }
    Ok(())
}

/// Refuses the component of a published scorer if it differs from its lock, or if the user's policy does not allow it.
pub(crate) fn must_be_this(
    scorer: &SuiteScorer,
    info: &ScorerInfo,
    outside: (&Anatomy, &ComponentBytes),
) -> Result<(), Failure> {
    let (locks, trust) = (locks_of(std::slice::from_ref(scorer))?, Trust::with(&[])?);
    locks.values().try_for_each(|locked| must_be(locked, info, outside, &trust))
}

/// Refuses a scorer that differs from `locked`.
fn must_be(
    locked: &Locked,
    info: &ScorerInfo,
    (anatomy, component): (&Anatomy, &ComponentBytes),
    trust: &Trust,
) -> Result<(), Failure> {
    must_be_as(locked, info, anatomy)?;
    trust.must_allow_loaded(locked, anatomy.grants(), component)
}

/// Refuses a scorer whose version differs from its address, or whose fields, imports or grants differ from `locked`.
pub(crate) fn must_be_as(
    locked: &Locked,
    info: &ScorerInfo,
    anatomy: &Anatomy,
) -> Result<(), Failure> {
    let found = lock_of(locked, info.reads, anatomy);
    let difference = match info.version == locked.address.tag() {
        false => {
            let version = report::one_line(&info.version, 80);
            format!("the component's version is {version}, which differs from its address")
        }
        true if found == *locked => return Ok(()),
        true => differs(&found, locked),
    };
    let message = format!("`{}` is not what it is locked as: {difference}", locked.address);
    Err(Failure::new(message).hint(lock_again(locked)))
}

/// What the scorer at the address of `locked` would be locked to now.
pub(crate) fn lock_of(locked: &Locked, reads: Fields, anatomy: &Anatomy) -> Locked {
    let Locked { address, component, manifest, signed, .. } = locked.clone();
    let contract = anatomy.contract_version().unwrap_or_default();
    let grants = anatomy.grants();
    Locked::new(address, component, manifest, contract)
        .signed(signed)
        .reading(reads.iter().map(|field: Field| field.key().to_owned()))
        .importing(anatomy.imports.clone(), grants.iter().map(|grant| grant.to_string()))
}

/// The differences, each as found and as in the lock.
fn differs(found: &Locked, locked: &Locked) -> String {
    let list = |names: &[String]| match names {
        [] => "nothing".to_owned(),
        names => names.join(", "),
    };
    let both = |what: &str, found: &[String], locked: &[String]| {
        format!("{what} {}; the lock says {}", list(found), list(locked))
    };
    if found.reads != locked.reads {
        return both("in addition to the output it reads", &found.reads, &locked.reads);
    }
    if found.imports != locked.imports {
        return both("it imports", &found.imports, &locked.imports);
    }
    if found.grants != locked.grants {
        return both("it needs the grants", &found.grants, &locked.grants);
    }
    format!(
        "it is of version {} of the contract; the lock says {}",
        found.contract, locked.contract
    )
}
