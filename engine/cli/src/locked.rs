//! Scorers that are loaded, held against what they are locked as. Reads no lock itself, and asks no registry.

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

/// The scorers of a suite, which are what its locks say.
pub(crate) async fn loaded(suite: &Suite, sandbox: &Sandbox) -> Result<Vec<ReadyScorer>, Failure> {
    loaded_as(&locks_of(&suite.scorers)?, suite, sandbox).await
}

/// The scorers of a suite, which are what these say, its locks.
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

/// Refuses a published scorer that a policy does not let in, as far as its lock and its bytes show it: before anything
/// of it is compiled or asked. What it imports is known once it is loaded.
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
        // What cannot be read is said when it is loaded.
        let component =
            brought.or_else(|| registry.resolve(&scorer.uses).ok().map(|source| source.component));
        if let (Some(locked), Some(component)) = (locks.get(address), component) {
            trust.must_allow_loaded(locked, Grants::NONE, &component)?;
        }
    }
    Ok(())
}

/// Refuses a scorer that has another version, reads or imports something else than its lock says: the lock was changed
/// by hand, so that nobody has said yes to this. And one that a policy does not let in.
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
    // Most suites have none, and then no policy is looked for.
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

/// Refuses the component of a published scorer that is not what its lock says, or that the user's policy does not let
/// in.
pub(crate) fn must_be_this(
    scorer: &SuiteScorer,
    info: &ScorerInfo,
    outside: (&Anatomy, &ComponentBytes),
) -> Result<(), Failure> {
    let (locks, trust) = (locks_of(std::slice::from_ref(scorer))?, Trust::with(&[])?);
    locks.values().try_for_each(|locked| must_be(locked, info, outside, &trust))
}

/// Refuses a scorer that is not as `locked` says.
fn must_be(
    locked: &Locked,
    info: &ScorerInfo,
    (anatomy, component): (&Anatomy, &ComponentBytes),
    trust: &Trust,
) -> Result<(), Failure> {
    must_be_as(locked, info, anatomy)?;
    trust.must_allow_loaded(locked, anatomy.grants(), component)
}

/// Refuses a scorer that has another version than its address, or that reads, imports or needs something else than
/// `locked` says.
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

/// What the scorer would be locked to that is published as `locked` is.
pub(crate) fn lock_of(locked: &Locked, reads: Fields, anatomy: &Anatomy) -> Locked {
    let Locked { address, component, manifest, signed, .. } = locked.clone();
    let contract = anatomy.contract_version().unwrap_or_default();
    let grants = anatomy.grants();
    Locked::new(address, component, manifest, contract)
        .signed(signed)
        .reading(reads.iter().map(|field: Field| field.key().to_owned()))
        .importing(anatomy.imports.clone(), grants.iter().map(|grant| grant.to_string()))
}

/// What is different, as it is and as the lock says.
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
