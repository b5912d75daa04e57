//! The parts of a scorer's page about its component, configuration and machine. It scores nothing, and does not write
//! the page.

use scorebox::{
    contract::ScorerInfo,
    registry::{Origin, ScorerSource},
    sandbox::{Anatomy, Grant, WASMTIME_VERSION},
    suite::SuiteScorer,
};
use scorebox_pages::{CardComponent, CardKey};

use crate::{
    failure::Failure, lock_file::locks_of, published::NOT_SIGNED, report, same_file::file_name,
};

/// The signer of a published scorer as text, from the signature in its lock; `None` if the scorer is not published.
pub(super) fn signer(scorer: &SuiteScorer, component: &[u8]) -> Result<Option<String>, Failure> {
    let locks = locks_of(std::slice::from_ref(scorer))?;
    let Some(locked) = locks.values().next() else { return Ok(None) };
    let proved = locked.proved_signer(component).map_err(|error| {
        Failure::new(format!("`{}` is not what it is locked as: {error}", locked.address))
            .hint("the lock was changed by hand; `scorebox audit` says what else is wrong")
    })?;
    Ok(Some(match (proved, locked.signer()) {
        (Some(signer), _) => signer.to_string(),
        (None, Some(said)) => format!("{said}, as the lock says, without the signature"),
        (None, None) => NOT_SIGNED.to_owned(),
    }))
}

/// The page's facts about the component.
pub(super) fn component(
    source: &ScorerSource,
    anatomy: &Anatomy,
    signer: Option<String>,
) -> CardComponent {
    let gives = |grant: Grant| match grant {
        Grant::Wasi => "an empty WASI, without files, network or clock",
        Grant::Workspace => "the files that the task left, for reading",
        Grant::Judge => "questions to the language model that you name",
        grant => grant.gives(),
    };
    let grants = anatomy.grants().iter();
    CardComponent {
        origin: match &source.origin {
            Origin::BuiltIn => "scorebox, built in".to_owned(),
            Origin::File(path) => file_name(path),
            origin => origin.to_string(),
        },
        signer,
        digest: source.component.digest(),
        bytes: source.component.length(),
        contract: anatomy.contract_version().unwrap_or_default().to_owned(),
        imports: anatomy.imports.clone(),
        grants: grants.map(|grant| (grant.to_string(), gives(grant).to_owned())).collect(),
        wasmtime: WASMTIME_VERSION.to_owned(),
    }
}

/// The keys of its configuration.
pub(super) fn keys(info: &ScorerInfo) -> Vec<CardKey> {
    let keys = info.config_schema.as_deref().map(report::config_keys).unwrap_or_default();
    keys.into_iter().map(card_key).collect()
}

fn card_key(key: report::ConfigKey) -> CardKey {
    let report::ConfigKey { name, kind, range, default, description, choices } = key;
    let choices = choices.into_iter().map(|choice| (choice.value, choice.meaning)).collect();
    CardKey { name, kind, range, default, description, choices }
}

/// This machine, without anything that identifies a user.
pub(super) fn machine(jobs: usize) -> String {
    let at_once = report::counted(jobs as u64, "score at once", "scores at once");
    format!("{} {}, {at_once}", std::env::consts::OS, std::env::consts::ARCH)
}
