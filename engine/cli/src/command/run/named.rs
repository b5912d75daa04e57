//! Parses scorers and grants as named on the command line. It loads nothing.

use std::path::Path;

use scorebox::{
    registry::Reference,
    sandbox::Grant,
    suite::{ScorerId, Suite, SuiteScorer},
};

use crate::{arguments::split_named, failure::Failure, report::shell_word};

/// `NAME=GRANT`.
pub(super) fn named_grant(written: &str) -> Result<(String, Grant), Failure> {
    let (name, what) = split_named("grant", written)?;
    let grant = what.parse().map_err(|error| Failure::new(format!("{error}")))?;
    Ok((name, grant))
}

/// `latency`, `./x.wasm`, `fast=latency`.
pub(super) fn scorer(written: &str) -> Result<SuiteScorer, Failure> {
    let (name, uses) = match written.split_once('=') {
        Some((name, uses)) if ScorerId::new(name).is_ok() => (Some(name), uses),
        _ => (None, written),
    };
    let uses = Reference::parse(uses, Path::new(""));
    let id = ScorerId::new(name.unwrap_or(&uses.default_name()))?;
    Ok(SuiteScorer::new(id, uses))
}

/// The failure that a scorer of the command line has the name of another scorer.
pub(super) fn named_twice(added: &SuiteScorer) -> Failure {
    let uses = shell_word(added.uses.to_string());
    Failure::new(format!("two scorers are called `{}`", added.id))
        .hint(format!("give this one another name: `-s other-name={uses}`"))
}

/// The suite with the target that --target names: a plain name means the suite's scorer of this name, if there is one.
pub(super) fn targeting(suite: Suite, written: &str) -> Result<Suite, Failure> {
    if suite.target.is_some() {
        return Err(Failure::new("two targets: that of --target, and `[target]` of the suite")
            .hint("a run has one target"));
    }
    let target = scorer(written)?;
    let id = target.id.clone();
    let is_of_suite = suite.scorers.iter().any(|scorer| scorer.id == id);
    if is_of_suite && id.as_str() == written {
        return Ok(suite.with_scorer_as_target(&id)?);
    }
    if is_of_suite {
        let uses = shell_word(target.uses.to_string());
        return Err(Failure::new(format!(
            "the suite has a scorer `{id}`, and `--target {written}` is another one of this name"
        ))
        .hint(format!(
            "`--target {id}` tests the scorer of the suite; another one needs another name: `--target other-name={uses}`"
        )));
    }
    Ok(suite.with_target(target)?)
}
