//! Writes verdicts, statuses and states as words, each with a colour and a shape. Decides none of them.

use maud::{Markup, html};
use scorebox::{
    contract::Direction,
    row::Status,
    store::RunState,
    verdict::{CaseVerdict, Standing, Verdict},
};

use crate::figure;

/// The verdict of a case, including regressions of a passed case. If no scorer of the run `decides`, a passed case has
/// no word.
pub(crate) fn verdict(case: &CaseVerdict, decides: bool) -> Markup {
    match (case.verdict, case.regressions) {
        (Verdict::Passed, 1..) => html! { span.word.regressed { "regressed" } },
        (Verdict::Passed, 0) if !decides => html! { span.none { "–" } },
        (verdict, _) => html! { span class={ "word " (verdict.as_str()) } { (verdict.as_str()) } },
    }
}

/// How a scorer's row counts: its standing, if it decides something, or otherwise its status.
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

/// `at least 0.7`, depending on the scorer's direction.
pub(crate) fn threshold(threshold: Option<f64>, direction: Direction) -> Option<String> {
    let side = match direction {
        Direction::HigherIsBetter => "at least",
        Direction::LowerIsBetter => "at most",
    };
    threshold.map(|threshold| format!("{side} {}", figure::exact(threshold)))
}

/// A time in UTC.
pub(crate) fn moment(ms: i64) -> Markup {
    match figure::moment(ms) {
        Some((people, machine)) => html! { time datetime=(machine) { (people) } },
        None => html! { (ms) " ms since 1970" },
    }
}
