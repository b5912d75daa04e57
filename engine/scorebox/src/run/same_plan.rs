//! Whether a run that is to be resumed has the scorers that it began with. Reads no row.

use crate::{
    case::CasePointer,
    store::{RunRecord, ScorerRecord},
    suite::{Sampling, ScorerId},
};

use super::{ReadyCondition, ReadyScorer, RunError, json};

/// Refuses to mix the scores of two different suites in one run.
pub(super) fn must_be_the_same(
    run: &RunRecord,
    stored: &[ScorerRecord],
    seed: &str,
    scorers: &[ReadyScorer],
) -> Result<(), RunError> {
    let differs = |reason: String| Err(RunError::NotTheSame { run: run.spec.id.clone(), reason });
    let names = |names: &mut dyn Iterator<Item = &str>| names.collect::<Vec<_>>().join(", ");
    let before = names(&mut stored.iter().map(|scorer| scorer.spec.scorer_id.as_str()));
    let now = names(&mut scorers.iter().map(|scorer| scorer.id.as_str()));
    if before != now {
        return differs(format!("its scorers are {before}; now they are {now}"));
    }
    for (before, now) in stored.iter().zip(scorers) {
        if before.spec.component_digest != now.scorer.digest() {
            return differs(format!("the component of `{}` has changed", now.id));
        }
        if before.spec.config_digest != now.scorer.config().digest() {
            return differs(format!("the configuration of `{}` has changed", now.id));
        }
        if before.spec.limits_json != json(now.scorer.limits()) {
            return differs(format!("the limits of `{}` have changed", now.id));
        }
        if before.spec.grants_json != json(&now.grants.iter().collect::<Vec<_>>()) {
            return differs(format!("the grants of `{}` have changed", now.id));
        }
        if !before.spec.asks_judge_like(now.scorer.judge().map(json).as_deref()) {
            return differs(format!("the judge of `{}` has changed", now.id));
        }
        let (selection, spec) = (&now.selection, &before.spec);
        if spec.sampling_json != selection.sampling_json() {
            return differs(format!("the sampling of `{}` has changed", now.id));
        }
        if spec.nodes_json != selection.nodes_json() {
            return differs(format!("the nodes of `{}` have changed", now.id));
        }
        if spec.output_from.as_deref() != now.output_from.as_ref().map(CasePointer::as_str) {
            return differs(format!("`on` of `{}` has changed", now.id));
        }
        let asked = |ready: &ReadyCondition| {
            (ready.scorer.digest(), ready.scorer.config().as_str().to_owned())
        };
        let before =
            spec.condition.as_ref().map(|it| (it.component_digest, it.config_json.clone()));
        if before != now.condition.as_ref().map(asked) {
            return differs(format!("`when` of `{}` has changed", now.id));
        }
        if spec.subject.as_deref() != now.subject.as_ref().map(ScorerId::as_str) {
            return differs(format!("whose results `{}` scores has changed", now.id));
        }
        if !spec.policy().counts_as(&now.policy) {
            let reason = "severity, threshold, weight or `required` of";
            return differs(format!("{reason} `{}` have changed", now.id));
        }
    }
    let draws = |ready: &ReadyScorer| matches!(ready.selection.sampling, Sampling::Ratio { .. });
    let before = run.spec.seed.as_deref();
    match before.filter(|before| *before != seed && scorers.iter().any(draws)) {
        Some(before) => differs(format!("its seed is `{before}`; now it is `{seed}`")),
        None => Ok(()),
    }
}
