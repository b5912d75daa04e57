//! Reads everything that a database contains about a case, and shows what decided against it in a line. It leaves
//! showing the case in full to `case`.

use maud::{Markup, html};
use scorebox::{
    store::{CaseKey, RunRecord, ScoreCursor, ScorerRecord, Store, StoreError},
    verdict::CaseVerdict,
};

use crate::{
    case::{CaseInFull, Decided},
    figure,
    said::Said,
};

/// What decided against a case, in a line.
pub(crate) fn why(case: &CaseInFull) -> Markup {
    const MAX_REASON: usize = 240;
    html! {
        @if case.against.is_empty() { (its_scores(case)) }
        @for (index, decided) in case.against.iter().enumerate() {
            @if index > 0 { "; " }
            b { (Said::line(&decided.scorer_id, 80)) }
            @if let Some(record) = case.scores.iter().find(|it| it.row.scorer_id == decided.scorer_id) {
                @let answer = &record.row.answer;
                @if let Some(score) = answer.score { " " (figure::score_beside(score, record.threshold)) }
                @match (&answer.error, &answer.reason) {
                    (Some(error), _) => { ": " (Said::line(&error.message, MAX_REASON)) },
                    (None, Some(reason)) => { ": " (Said::line(reason, MAX_REASON)) },
                    _ => {},
                }
            }
            (decided.assertions())
        }
    }
}

/// The scores of a case that nothing decided against, in a line.
fn its_scores(case: &CaseInFull) -> Markup {
    const MAX_SCORES: usize = 6;
    let scores = case.scores.iter().filter_map(|it| Some((it, it.row.answer.score?)));
    html! {
        @for (index, (record, score)) in scores.take(MAX_SCORES).enumerate() {
            @if index > 0 { ", " }
            (Said::line(&record.row.scorer_id, 80)) " " (figure::score(score))
        }
    }
}

/// Everything that is stored of a case.
///
/// # Errors
/// The database cannot be read.
pub(crate) fn in_full(
    store: &Store,
    run: &RunRecord,
    scorers: &[ScorerRecord],
    key: CaseKey,
    verdict: CaseVerdict,
    against: Vec<Decided>,
) -> Result<CaseInFull, StoreError> {
    let content = store.case_content(key)?;
    let (mut scores, mut calls) = (Vec::new(), Vec::new());
    for scorer in scorers {
        let cursor = ScoreCursor::new(key, scorer.key);
        let Some(record) = store.score_at(cursor)? else { continue };
        if !record.row.answer.calls.is_empty() {
            store.for_each_call(run.key, Some(cursor), |call| calls.push(call))?;
        }
        scores.push(record);
    }
    Ok(CaseInFull { content, verdict, against, scores, calls })
}
