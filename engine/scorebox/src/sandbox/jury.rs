//! Combines the answers of several jurors to one case into one score. It asks nobody; the formulas are in
//! `judge::jury`.

use serde_json::{Value, json};

use crate::{
    contract::{Assertion, ScoreResult},
    judge::{Jury, Seat, agreement, spread},
};

use super::{ErrorKind, Limits, ScoreError, cut};

/// The most bytes of a juror's reason, if all that the jurors say is too long.
const SHORT_REASON_BYTES: usize = 200;

/// One juror's answer.
pub(super) struct Vote {
    pub(super) seat: Seat,
    pub(super) result: Result<ScoreResult, ScoreError>,
}

/// The votes by kind of answer.
struct Counted<'v> {
    scored: Vec<(f64, &'v ScoreResult)>,
    not_applicable: Vec<&'v ScoreResult>,
    failed: Vec<&'v ScoreError>,
}

/// The jurors' scores as one, with a `meta` that lists who gave which score.
///
/// # Errors
/// A budget is spent, or the run is stopped; or too few jurors have a score, and too few report that the scorer does
/// not apply to the case.
pub(super) fn combined(
    jury: &Jury,
    votes: Vec<Vote>,
    limits: &Limits,
) -> Result<ScoreResult, ScoreError> {
    let counted = Counted::of(&votes);
    let ends = |error: &&&ScoreError| error.kind.ends_the_run();
    if let Some(error) = counted.failed.iter().find(ends) {
        return Err((*error).clone());
    }
    let scores: Vec<f64> = counted.scored.iter().map(|(score, _)| *score).collect();
    let quorum = jury.quorum() as usize;
    let score = match jury.combine.of(&scores) {
        Some(score) if scores.len() >= quorum => Some(score),
        _ if counted.not_applicable.len() >= quorum => None,
        _ => return Err(no_quorum(jury, &counted, limits)),
    };
    let closest = match score {
        Some(score) => counted.closest_to(score),
        None => counted.not_applicable.first().copied(),
    };
    let agreeing = |result: &ScoreResult| score.is_none() || result.score == score;
    Ok(ScoreResult {
        score,
        label: label(votes.iter().filter_map(|vote| vote.result.as_ref().ok()), agreeing),
        reason: closest.and_then(|result| result.reason.clone()),
        meta: Some(meta(jury, &votes, &scores, limits)),
        assertions: match score {
            Some(_) => assertions(jury, &counted),
            None => Vec::new(),
        },
    })
}

impl<'v> Counted<'v> {
    fn of(votes: &'v [Vote]) -> Counted<'v> {
        let mut counted =
            Counted { scored: Vec::new(), not_applicable: Vec::new(), failed: Vec::new() };
        for vote in votes {
            match &vote.result {
                Err(error) => counted.failed.push(error),
                Ok(result) => match result.score {
                    Some(score) => counted.scored.push((score, result)),
                    None => counted.not_applicable.push(result),
                },
            }
        }
        counted
    }

    /// The result of the juror whose score is closest to `combined`; the first of several.
    fn closest_to(&self, combined: f64) -> Option<&'v ScoreResult> {
        let distance = |(score, _): &&(f64, &ScoreResult)| (score - combined).abs();
        let closest =
            self.scored.iter().min_by(|one, other| distance(one).total_cmp(&distance(other)));
        closest.map(|(_, result)| *result)
    }
}

/// The error without a quorum: the first juror's error, and how many jurors have a score.
fn no_quorum(jury: &Jury, counted: &Counted<'_>, limits: &Limits) -> ScoreError {
    let Counted { scored, not_applicable, failed } = counted;
    let mut message = format!(
        "{} of {} jurors have a score; the quorum is {}",
        scored.len(),
        scored.len() + not_applicable.len() + failed.len(),
        jury.quorum()
    );
    if !not_applicable.is_empty() {
        message.push_str(&format!("; for {} the scorer does not apply", not_applicable.len()));
    }
    let Some(first) = failed.first() else {
        return ScoreError::new(ErrorKind::Failed, message);
    };
    message.push_str(&format!("; {}: {}", first.kind, first.message));
    ScoreError { message: cut(&message, limits.reason_bytes), ..(*first).clone() }
}

/// The label that all agreeing results share.
fn label<'v>(
    results: impl Iterator<Item = &'v ScoreResult>,
    agreeing: impl Fn(&ScoreResult) -> bool,
) -> Option<String> {
    let mut labels = results.filter(|result| agreeing(result)).map(|result| &result.label);
    let first = labels.next()?;
    labels.all(|label| label == first).then(|| first.clone()).flatten()
}

/// Assertions by name, each combined from the jurors that have it.
fn assertions(jury: &Jury, counted: &Counted<'_>) -> Vec<Assertion> {
    let all = || counted.scored.iter().flat_map(|(_, result)| &result.assertions);
    let mut combined: Vec<Assertion> = Vec::new();
    for first in all() {
        if combined.iter().any(|known| known.name == first.name) {
            continue;
        }
        let same: Vec<f64> =
            all().filter(|it| it.name == first.name).map(|assertion| assertion.score).collect();
        let score = jury.combine.of(&same).unwrap_or(first.score);
        combined.push(Assertion { score, ..first.clone() });
    }
    combined
}

/// Who gave which score, how far the scores are apart, and how many agree. If it is too long, it omits the jurors' own
/// `meta` and shortens their reasons.
fn meta(jury: &Jury, votes: &[Vote], scores: &[f64], limits: &Limits) -> String {
    let document = |has_meta: bool, reason_bytes: usize| {
        let votes: Vec<Value> =
            votes.iter().map(|vote| vote.to_json(has_meta, reason_bytes)).collect();
        json!({ "jury": {
            "combine": jury.combine,
            "quorum": jury.quorum(),
            "scored": scores.len(),
            "spread": spread(scores),
            "agreement": agreement(scores),
            "votes": votes,
        }})
        .to_string()
    };
    let whole = document(true, limits.reason_bytes);
    if whole.len() <= limits.meta_bytes {
        return whole;
    }
    let without_meta = document(false, limits.reason_bytes);
    if without_meta.len() <= limits.meta_bytes {
        return without_meta;
    }
    document(false, SHORT_REASON_BYTES.min(limits.reason_bytes))
}

impl Vote {
    fn to_json(&self, has_meta: bool, reason_bytes: usize) -> Value {
        let Seat { judge, model, sample, .. } = &self.seat;
        let mut vote = json!({ "judge": judge, "sample": sample });
        let mut say = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                vote[key] = value;
            }
        };
        say("model", model.as_deref().map(Value::from));
        match &self.result {
            Ok(result) => {
                say("score", Some(json!(result.score)));
                say("label", result.label.as_deref().map(Value::from));
                let reason = result.reason.as_deref().map(|reason| cut(reason, reason_bytes));
                say("reason", reason.map(Value::from));
                let meta: Option<Value> =
                    result.meta.as_deref().and_then(|meta| serde_json::from_str(meta).ok());
                let meta = meta.and_then(|meta| if has_meta { Some(meta) } else { counted(&meta) });
                say("meta", meta);
            }
            // One name for all kinds of no answer, so that an answer that is recorded later gives the same bytes.
            Err(error) => say("error", Some(word(error.kind).into())),
        }
        vote
    }
}

/// What stays of a juror's omitted `meta`: that its answer cannot be read, which a run counts.
fn counted(meta: &Value) -> Option<Value> {
    (meta["unreadable"] == true).then(|| json!({ "unreadable": true }))
}

fn word(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::JudgeRefused
        | ErrorKind::JudgeUnavailable
        | ErrorKind::JudgeTimedOut
        | ErrorKind::JudgeNotRecorded => "no-answer",
        kind => kind.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::from_str;

    use crate::judge::{Combine, JudgeChoice, JudgeSettings, Judges, ProviderSettings};

    use super::*;

    /// Votes with these answers, in the order of the jurors.
    fn of(jury: &Jury, said: Vec<Result<ScoreResult, ScoreError>>) -> Vec<Vote> {
        let provider = ProviderSettings::Command { command: vec!["judge".into()] };
        let judges = Judges::builder().judge("default", JudgeSettings::new(provider), None).build();
        let choice = JudgeChoice { jury: Some(jury.clone()), ..JudgeChoice::default() };
        let jurors = judges.asker(choice).unwrap().jurors();
        assert_eq!(jurors.len(), said.len());
        jurors.into_iter().zip(said).map(|((seat, _), result)| Vote { seat, result }).collect()
    }

    fn verdict(
        combine: Combine,
        said: Vec<Result<ScoreResult, ScoreError>>,
    ) -> Result<ScoreResult, ScoreError> {
        let jury = Jury { combine, ..Jury::of_samples(u32::try_from(said.len()).unwrap()) };
        combined(&jury, of(&jury, said), &Limits::default())
    }

    fn scored(score: f64, label: &str) -> Result<ScoreResult, ScoreError> {
        let label = Some(label.to_owned());
        Ok(ScoreResult { score: Some(score), label, ..ScoreResult::default() })
    }

    fn failed(kind: ErrorKind) -> Result<ScoreResult, ScoreError> {
        Err(ScoreError::new(kind, "why"))
    }

    #[test]
    fn the_label_is_that_of_the_jurors_whose_score_it_is() {
        let said = || vec![scored(1.0, "yes"), scored(0.0, "no"), scored(1.0, "yes")];
        assert_eq!(verdict(Combine::Majority, said()).unwrap().label.as_deref(), Some("yes"));
        assert_eq!(verdict(Combine::Mean, said()).unwrap().label, None);
        let differ = vec![scored(1.0, "yes"), scored(0.0, "no"), scored(1.0, "surely")];
        assert_eq!(verdict(Combine::Majority, differ).unwrap().label, None);
    }

    #[test]
    fn a_case_that_the_scorer_is_not_for_stays_one() {
        let not = || Ok(ScoreResult { reason: Some("no".into()), ..ScoreResult::default() });
        let result = verdict(Combine::Mean, vec![not(), scored(1.0, ""), not()]).unwrap();
        assert_eq!((result.score, result.reason.as_deref()), (None, Some("no")));
        let error = verdict(Combine::Mean, vec![not(), scored(1.0, "")]).unwrap_err();
        assert_eq!(
            error.message,
            "1 of 2 jurors have a score; the quorum is 2; for 1 the scorer does not apply"
        );
    }

    #[test]
    fn a_spent_budget_counts_more_than_a_quorum() {
        let said = vec![scored(1.0, ""), scored(1.0, ""), failed(ErrorKind::JudgeOverBudget)];
        let error = verdict(Combine::Mean, said).unwrap_err();
        assert_eq!(error.kind, ErrorKind::JudgeOverBudget);
    }

    #[test]
    fn assertions_are_combined_by_name() {
        let with = |names: &[(&str, f64)]| {
            let assertions = names.iter().map(|(name, score)| Assertion {
                name: (*name).to_owned(),
                score: *score,
                severity: None,
                threshold: Some(0.5),
                reason: None,
            });
            let assertions = assertions.collect();
            Ok(ScoreResult { score: Some(1.0), assertions, ..ScoreResult::default() })
        };
        let said = vec![with(&[("clear", 1.0), ("short", 0.0)]), with(&[("clear", 0.5)])];
        let result = verdict(Combine::Mean, said).unwrap();
        let names: Vec<_> =
            result.assertions.iter().map(|it| (it.name.as_str(), it.score)).collect();
        assert_eq!(names, [("clear", 0.75), ("short", 0.0)]);
        assert_eq!(result.assertions[0].threshold, Some(0.5));
    }

    #[test]
    fn that_an_answer_cannot_be_read_is_said_even_where_the_rest_of_meta_is_too_much() {
        let meta = |rest: &str| Some(format!(r#"{{"unreadable":{rest}}}"#));
        let long = format!(r#"true,"answer":"{}""#, "a".repeat(1000));
        let zero = |meta| Ok(ScoreResult { score: Some(0.0), meta, ..ScoreResult::default() });
        let jury = Jury::of_samples(2);
        let votes = of(&jury, vec![zero(meta(&long)), zero(meta("false"))]);
        let limits = Limits { meta_bytes: 800, ..Limits::default() };
        let said = combined(&jury, votes, &limits).unwrap().meta.unwrap();
        let votes = from_str::<Value>(&said).unwrap()["jury"]["votes"].clone();
        assert_eq!(votes[0]["meta"], json!({"unreadable": true}));
        assert_eq!(votes[1]["meta"], Value::Null);
    }

    #[test]
    fn what_the_jurors_say_stays_within_the_limit_of_meta() {
        let long = |letter: &str| {
            let meta = format!("{{\"long\":\"{}\"}}", letter.repeat(400));
            Ok(ScoreResult {
                score: Some(1.0),
                reason: Some(letter.repeat(1000)),
                meta: Some(meta),
                ..ScoreResult::default()
            })
        };
        let jury = Jury::of_samples(2);
        let bytes = |meta_bytes: usize| {
            let limits = Limits { meta_bytes, ..Limits::default() };
            let result = combined(&jury, of(&jury, vec![long("a"), long("b")]), &limits).unwrap();
            let meta = result.meta.unwrap();
            assert!(meta.len() <= meta_bytes);
            from_str::<Value>(&meta).unwrap()["jury"]["votes"][1].clone()
        };
        let whole = bytes(4000);
        assert_eq!(
            (
                whole["meta"]["long"].as_str().unwrap().len(),
                whole["reason"].as_str().unwrap().len()
            ),
            (400, 1000)
        );
        let without_meta = bytes(3000);
        assert_eq!(
            (&without_meta["meta"], without_meta["reason"].as_str().unwrap().len()),
            (&Value::Null, 1000)
        );
        let short = bytes(1000);
        assert!(short["reason"].as_str().unwrap().len() < 250);
    }
}
