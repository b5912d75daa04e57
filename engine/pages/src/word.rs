//! Words for verdicts, statuses and states: each with a colour and a shape. Decides none of them.

use maud::{Markup, html};
use scorebox::{
    contract::Direction,
    row::Status,
    store::RunState,
    verdict::{CaseVerdict, Standing, Verdict},
};

use crate::figure;

/// The verdict of a case; a pass with regressions says so. Of a run in which no scorer `decides`, a pass says nothing.
pub(crate) fn verdict(case: &CaseVerdict, decides: bool) -> Markup {
    match (case.verdict, case.regressions) {
        (Verdict::Passed, 1..) => html! { span.word.regressed { "regressed" } },
        (Verdict::Passed, 0) if !decides => html! { span.none { "–" } },
        (verdict, _) => html! { span class={ "word " (verdict.as_str()) } { (verdict.as_str()) } },
    }
}

/// How a scorer's row counts: its standing, if it decides something, or else its status.
pub(crate) fn counted(status: Status, standing: Option<Standing>) -> Markup {
    match (status, standing) {
        (Status::Scored, Some(standing)) => self::standing(standing),
        (status, _) => html! { span class={ "word " (status.as_str()) } { (status.as_str()) } },
    }
}

/// How a result counts.
pub(crate) fn standing(standing: Standing) -> Markup {
    html! { span class={ "word " (standing.as_str()) } { (standing.as_str()) } }
}

/// How far a run has come.
pub(crate) fn state(state: RunState) -> Markup {
    html! { span class={ "word " (state.as_str()) } { (state.as_str()) } }
}

/// `at least 0.7`, in the direction of the scorer.
pub(crate) fn threshold(threshold: Option<f64>, direction: Direction) -> Option<String> {
    let side = match direction {
        Direction::HigherIsBetter => "at least",
        Direction::LowerIsBetter => "at most",
    };
    threshold.map(|threshold| format!("{side} {}", figure::exact(threshold)))
}

/// A moment in UTC.
pub(crate) fn moment(ms: i64) -> Markup {
    match figure::moment(ms) {
        Some((people, machine)) => html! { time datetime=(machine) { (people) } },
        None => html! { (ms) " ms since 1970" },
    }
}
