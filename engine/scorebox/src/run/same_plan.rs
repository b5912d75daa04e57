//! Whether a resumed run has the scorers that it began with. It reads no rows.

use crate::{
    case::CasePointer,
    store::{RunRecord, ScorerRecord, ScorerSpec},
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
    if let Some(change) = stored.iter().zip(scorers).find_map(|(it, now)| change(&it.spec, now)) {
        return differs(change);
    }
    let draws = |ready: &ReadyScorer| matches!(ready.selection.sampling, Sampling::Ratio { .. });
    let before = run.spec.seed.as_deref();
    match before.filter(|before| *before != seed && scorers.iter().any(draws)) {
        Some(before) => differs(format!("its seed is `{before}`; now it is `{seed}`")),
        None => Ok(()),
    }
}

/// The first property of a scorer that has changed, in words.
fn change(before: &ScorerSpec, now: &ReadyScorer) -> Option<String> {
    let grants = json(&now.grants.iter().collect::<Vec<_>>());
    let judge = now.scorer.judge().map(json);
    let asked =
        |ready: &ReadyCondition| (ready.scorer.digest(), ready.scorer.config().as_str().to_owned());
    let condition = before.condition.as_ref();
    let condition = condition.map(|it| (it.component_digest, it.config_json.clone()));
    let output_from = now.output_from.as_ref().map(CasePointer::as_str);
    let subject = now.subject.as_ref().map(ScorerId::as_str);
    let selection = &now.selection;
    // The comparison, and the words before and after the scorer's name.
    let changes = [
        (before.component_digest != now.scorer.digest(), "the component of", "has changed"),
        (
            before.config_digest != now.scorer.config().digest(),
            "the configuration of",
            "has changed",
        ),
        (before.limits_json != json(now.scorer.limits()), "the limits of", "have changed"),
        (before.grants_json != grants, "the grants of", "have changed"),
        (!before.asks_judge_like(judge.as_deref()), "the judge of", "has changed"),
        (before.sampling_json != selection.sampling_json(), "the sampling of", "has changed"),
        (before.nodes_json != selection.nodes_json(), "the nodes of", "have changed"),
        (before.output_from.as_deref() != output_from, "`on` of", "has changed"),
        (condition != now.condition.as_ref().map(asked), "`when` of", "has changed"),
        (before.subject.as_deref() != subject, "whose results", "scores has changed"),
        (
            !before.policy().counts_as(&now.policy),
            "severity, threshold, weight or `required` of",
            "have changed",
        ),
    ];
    let (_, what, changed) = changes.into_iter().find(|(differs, ..)| *differs)?;
    Some(format!("{what} `{}` {changed}", now.id))
}
