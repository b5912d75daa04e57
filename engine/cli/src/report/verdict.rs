//! Formats verdicts of cases and runs. The library's `verdict` and `aggregate` decide them.

use scorebox::{
    aggregate::{DecidedRun, DecidedScorer, Decisive},
    contract::{Direction, Severity},
    stats::Rate,
    verdict::{CaseVerdict, RunVerdict, Verdict, apart, percent, percent_interval},
};

use super::{count, counted, score};

/// `passed`, marked if the case has regressions; `failed`, marked if a scorer is still missing.
pub(crate) fn verdict(case: &CaseVerdict) -> String {
    match (case.verdict, case.regressions) {
        (Verdict::Passed, 1..) => "passed, regressed".to_owned(),
        (verdict @ (Verdict::Failed | Verdict::Errored), _) if case.is_incomplete => {
            format!("{}, incomplete", verdict.as_str())
        }
        (verdict, _) => verdict.as_str().to_owned(),
    }
}

/// The verdict of a case; `decides` is whether a scorer of the run can fail cases: otherwise `passed` would mean
/// nothing.
pub(crate) fn verdict_where(decides: bool, case: &CaseVerdict) -> String {
    if decides { verdict(case) } else { undecided(case).to_owned() }
}

/// The text for a case that no scorer can fail.
fn undecided(case: &CaseVerdict) -> &'static str {
    match (case.verdict, case.regressions) {
        (Verdict::Passed, 1..) => "regressed",
        (Verdict::Passed, 0) => "-",
        (verdict, _) => verdict.as_str(),
    }
}

/// The verdict of a run: a line for the whole, and one for each scorer that decided against a case, or that decided no
/// case although it can fail one; empty if the scorers only measure.
pub(crate) fn of_run(decided: &DecidedRun) -> Vec<String> {
    let mut lines = match (decided.decides, decided.requires()) {
        (true, _) => vec![of_cases(&decided.verdict)],
        (false, true) => vec![of_regressions(&decided.verdict)],
        (false, false) => return Vec::new(),
    };
    lines.extend(decided.scorers.iter().filter_map(of_scorer));
    lines
}

/// `verdict: 14 of 18 cases passed (…), 4 failed, 42 incomplete (13 of them already failed)`: a case that a scorer has
/// no row for is in the last number only.
fn of_cases(verdict: &RunVerdict) -> String {
    let RunVerdict { failed_incomplete, errored_incomplete, .. } = *verdict;
    let judged = counted(verdict.judged(), "case", "cases");
    let mut first = format!("verdict: {} of {judged} passed", count(verdict.passed));
    if let Some(rate) = verdict.pass_rate {
        first.push_str(&format!(" ({})", with_interval(rate)));
    }
    let others = [
        (verdict.regressed, "of them with regressions"),
        (verdict.failed - failed_incomplete, "failed"),
        (verdict.errored - errored_incomplete, "errored"),
        (verdict.skipped, "skipped"),
    ];
    for (number, what) in others {
        if number > 0 {
            first.push_str(&format!(", {} {what}", count(number)));
        }
    }
    if let Some(incomplete) = verdict.incomplete_in_words() {
        first.push_str(&format!(", {incomplete}"));
    }
    first
}

/// `verdict: no scorer can fail a case; 48 of 60 cases have regressions, which --strict counts as failures`.
fn of_regressions(verdict: &RunVerdict) -> String {
    let judged = counted(verdict.judged(), "case", "cases");
    let incomplete = match verdict.incomplete() {
        0 => String::new(),
        number => format!(", and {} are incomplete", count(number)),
    };
    format!(
        "verdict: no scorer can fail a case; {} of {judged} have regressions, which --strict counts as failures{incomplete}",
        count(verdict.regressed)
    )
}

/// `42.0 %, 95 % interval 37.3 to 46.9 %`.
fn with_interval(rate: Rate) -> String {
    let interval = percent_interval(rate.rate, rate.low, rate.high);
    format!("{}, 95 % interval {interval}", percent(rate.rate))
}

/// `  right (gate, at least 1): 240 cases failed`, and how many of them by its assertions; or that a scorer that can
/// fail a case decided none. `None` if it decided some cases and none against.
fn of_scorer(scorer: &DecidedScorer) -> Option<String> {
    let against =
        [(scorer.failed, "failed"), (scorer.regressed, "regressed"), (scorer.errored, "errored")];
    let against = against.into_iter().filter(|(number, _)| *number > 0);
    let mut against: Vec<String> = against
        .map(|(number, what)| format!("{} {what}", counted(number, "case", "cases")))
        .collect();
    against.extend(scorer.idle_in_words());
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
    let [has, threshold] = apart(*has, *threshold, score);
    format!("{name} {has}, at least {threshold}{reason}")
}

/// `at least 0.7000`, in the direction of the scorer.
fn threshold(scorer: &DecidedScorer) -> Option<String> {
    let side = match scorer.policy.direction() {
        Direction::HigherIsBetter => "at least",
        Direction::LowerIsBetter => "at most",
    };
    scorer.threshold.map(|threshold| format!("{side} {}", score(threshold)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use scorebox::verdict::{Effort, RunTally};

    #[test]
    fn a_case_that_lacks_a_scorer_is_in_no_number_but_that_of_such_cases() {
        let mut tally = RunTally::default();
        let mut add = |times: u32, verdict, is_incomplete| {
            for _ in 0..times {
                let mut case = CaseVerdict::of(verdict, 0, None);
                case.is_incomplete = is_incomplete;
                tally.add(case, Effort::default());
            }
            of_cases(&tally.verdict())
        };
        add(14, Verdict::Passed, false);
        let whole = add(4, Verdict::Failed, false);
        assert_eq!(
            whole,
            "verdict: 14 of 18 cases passed (77.8 %, 95 % interval 54.8 to 91.0 %), 4 failed"
        );
        let undecided = add(33, Verdict::Undecided, true);
        assert_eq!(undecided, format!("{whole}, 33 incomplete"));
        add(8, Verdict::Failed, true);
        assert_eq!(
            add(1, Verdict::Errored, true),
            format!("{whole}, 42 incomplete (8 of them already failed, 1 already errored)")
        );
    }

    #[test]
    fn a_case_that_failed_before_all_scorers_saw_it_is_marked() {
        let mut case = CaseVerdict::of(Verdict::Failed, 0, None);
        assert_eq!(verdict(&case), "failed");
        case.is_incomplete = true;
        assert_eq!(verdict(&case), "failed, incomplete");
    }
}
