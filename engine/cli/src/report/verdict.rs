//! Verdicts of cases and runs, and requirements that do not hold, in words.

use scorebox::{
    aggregate::{DecidedRun, DecidedScorer, Decisive},
    contract::{Direction, Severity},
    stats::Rate,
    verdict::{Broken, CaseVerdict, RunVerdict, Verdict},
};

use super::{count, counted, score};

/// `passed`, marked if soft requirements do not hold.
pub(crate) fn verdict(case: &CaseVerdict) -> String {
    match (case.verdict, case.regressions) {
        (Verdict::Passed, 1..) => "passed, regressed".to_owned(),
        (verdict, _) => verdict.as_str().to_owned(),
    }
}

/// The verdict of a run: a line for all of it, and one for each scorer that decided against a case.
pub(crate) fn of_run(decided: &DecidedRun) -> Vec<String> {
    let RunVerdict { passed, regressed, failed, errored, skipped, pass_rate, .. } = decided.verdict;
    let of = passed + failed + errored;
    let mut first =
        format!("verdict: {} of {} passed", count(passed), counted(of, "case", "cases"));
    if let Some(rate) = pass_rate {
        first.push_str(&format!(" ({})", with_interval(rate)));
    }
    let others = [
        (regressed, "of them with regressions"),
        (failed, "failed"),
        (errored, "errored"),
        (skipped, "skipped"),
    ];
    for (number, what) in others {
        if number > 0 {
            first.push_str(&format!(", {} {what}", count(number)));
        }
    }
    let mut lines = vec![first];
    lines.extend(decided.scorers.iter().filter_map(of_scorer));
    lines
}

/// `42.0 %, 95 % interval 37.3 to 46.9 %`.
fn with_interval(rate: Rate) -> String {
    let [rate, low, high] = [rate.rate, rate.low, rate.high].map(|part| part * 100.0);
    format!("{rate:.1} %, 95 % interval {low:.1} to {high:.1} %")
}

/// `  right (gate, at least 1): 240 cases failed`, and how many of them by its assertions; `None` if it decided against no case.
fn of_scorer(scorer: &DecidedScorer) -> Option<String> {
    let against =
        [(scorer.failed, "failed"), (scorer.regressed, "regressed"), (scorer.errored, "errored")];
    let against = against.into_iter().filter(|(number, _)| *number > 0);
    let against: Vec<String> = against
        .map(|(number, what)| format!("{} {what}", counted(number, "case", "cases")))
        .collect();
    if against.is_empty() {
        return None;
    }
    let severity = scorer.severity.as_str();
    let required = match scorer.policy.is_required() && scorer.severity == Severity::Soft {
        true => ", required",
        false => "",
    };
    let threshold = threshold(scorer).map(|threshold| format!(", {threshold}")).unwrap_or_default();
    let id = super::one_line(&scorer.scorer_id, 64);
    let by_assertions = match &scorer.first_assertion {
        Some(first) => format!(
            ", {} by its assertions (first: {})",
            count(scorer.by_assertions),
            super::one_line(first, 64)
        ),
        None => String::new(),
    };
    let against = against.join(", ");
    Some(format!("  {id} ({severity}{required}{threshold}): {against}{by_assertions}"))
}

/// `no addresses 0.0000, at least 1.0000: has an e-mail address`: an assertion that decided against a case.
pub(crate) fn decisive(assertion: &Decisive) -> String {
    let Decisive { name, score: has, threshold, reason, .. } = assertion;
    let reason = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
    format!("{name} {}, at least {}{reason}", score(*has), score(*threshold))
}

/// `at least 0.7000`, in the direction of the scorer.
fn threshold(scorer: &DecidedScorer) -> Option<String> {
    let side = match scorer.policy.direction() {
        Direction::HigherIsBetter => "at least",
        Direction::LowerIsBetter => "at most",
    };
    scorer.threshold.map(|threshold| format!("{side} {}", score(threshold)))
}

/// A requirement that does not hold.
pub(crate) fn broken(broken: &Broken) -> String {
    let percent = |rate: f64| format!("{:.1} %", rate * 100.0);
    match broken {
        Broken::Cases { failed, .. } => format!("{} failed", counted(*failed, "case", "cases")),
        Broken::Mean { scorer_id, mean: Some(mean), worst } => {
            format!("the mean of `{scorer_id}` is {}; required: {}", score(*mean), score(*worst))
        }
        Broken::Mean { scorer_id, mean: None, .. } => format!("`{scorer_id}` has no score"),
        Broken::PassRate { rate: Some(rate), least } => {
            format!("{} of the cases passed; required: {}", percent(*rate), percent(*least))
        }
        Broken::PassRate { rate: None, .. } => "no case was decided".to_owned(),
        Broken::Errors { errors, most } => format!(
            "{}; allowed: {}",
            counted(*errors, "score is an error", "scores are errors"),
            count(*most)
        ),
        _ => "a requirement does not hold".to_owned(),
    }
}
