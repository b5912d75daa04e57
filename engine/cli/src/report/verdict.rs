//! Verdicts of cases and runs, and requirements that do not hold, in words.

use scorebox::{
    aggregate::{DecidedRun, DecidedScorer, Decisive},
    contract::{Direction, Severity},
    stats::Rate,
    verdict::{Broken, CaseVerdict, RunVerdict, Verdict, apart, percent, percent_interval},
};

use super::{count, counted, score};

/// `passed`, marked if soft requirements do not hold; `failed`, marked if a scorer is still missing.
pub(crate) fn verdict(case: &CaseVerdict) -> String {
    match (case.verdict, case.regressions) {
        (Verdict::Passed, 1..) => "passed, regressed".to_owned(),
        (verdict @ (Verdict::Failed | Verdict::Errored), _) if case.is_incomplete => {
            format!("{}, incomplete", verdict.as_str())
        }
        (verdict, _) => verdict.as_str().to_owned(),
    }
}

/// The verdict of a run: a line for all of it, and one for each scorer that decided against a case.
pub(crate) fn of_run(decided: &DecidedRun) -> Vec<String> {
    let mut lines = vec![of_cases(&decided.verdict)];
    lines.extend(decided.scorers.iter().filter_map(of_scorer));
    lines
}

/// `verdict: 14 of 18 cases passed (…), 4 failed, 42 not scored by all scorers (of them 13 failed already)`: a case that a scorer has not seen
/// is in the last number only.
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
        (verdict.incomplete(), "not scored by all scorers"),
    ];
    for (number, what) in others {
        if number > 0 {
            first.push_str(&format!(", {} {what}", count(number)));
        }
    }
    let already = [(failed_incomplete, "failed"), (errored_incomplete, "errored")];
    let already = already.into_iter().filter(|(number, _)| *number > 0);
    let already: Vec<String> =
        already.map(|(number, what)| format!("{} {what}", count(number))).collect();
    if !already.is_empty() {
        first.push_str(&format!(" (of them {} already)", already.join(", ")));
    }
    first
}

/// `42.0 %, 95 % interval 37.3 to 46.9 %`.
fn with_interval(rate: Rate) -> String {
    let interval = percent_interval(rate.rate, rate.low, rate.high);
    format!("{}, 95 % interval {interval}", percent(rate.rate))
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

/// `2 cases failed, and 1 errored case also failed`.
fn cases_failed(failed: u64, errored_and_failed: u64) -> String {
    let failed = (failed > 0).then(|| format!("{} failed", counted(failed, "case", "cases")));
    let errored = (errored_and_failed > 0).then(|| {
        format!("{} also failed", counted(errored_and_failed, "errored case", "errored cases"))
    });
    let both: Vec<String> = failed.into_iter().chain(errored).collect();
    both.join(", and ")
}

/// A requirement that does not hold.
pub(crate) fn broken(broken: &Broken) -> String {
    match broken {
        Broken::Cases { failed, errored_and_failed, .. } => {
            cases_failed(*failed, *errored_and_failed)
        }
        Broken::Mean { scorer_id, mean: Some(mean), worst } => {
            let [mean, worst] = apart(*mean, *worst, score);
            format!("the mean of `{scorer_id}` is {mean}; required: {worst}")
        }
        Broken::Mean { scorer_id, mean: None, .. } => format!("`{scorer_id}` has no score"),
        Broken::PassRate { rate: Some(rate), least } => {
            let [rate, least] = rates_apart(*rate, *least);
            format!("{rate} of the cases passed; required: {least}")
        }
        Broken::PassRate { rate: None, .. } => "no case was decided".to_owned(),
        Broken::NothingDecides { least } => format!(
            "there is no pass rate: no scorer decides whether a case passes; required: {}",
            percent(*least)
        ),
        Broken::Errors { errors, most } => format!(
            "{}; allowed: {}",
            counted(*errors, "score is an error", "scores are errors"),
            count(*most)
        ),
        _ => "a requirement does not hold".to_owned(),
    }
}

/// A rate of cases and the one that was required, as percentages that differ if they do.
fn rates_apart(rate: f64, least: f64) -> [String; 2] {
    let plain = [rate, least].map(percent);
    if plain[0] != plain[1] || rate == least {
        return plain;
    }
    apart(rate * 100.0, least * 100.0, |share| format!("{share:.1}")).map(|it| format!("{it} %"))
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
        assert_eq!(undecided, format!("{whole}, 33 not scored by all scorers"));
        add(8, Verdict::Failed, true);
        assert_eq!(
            add(1, Verdict::Errored, true),
            format!("{whole}, 42 not scored by all scorers (of them 8 failed, 1 errored already)")
        );
    }

    #[test]
    fn a_case_that_failed_before_all_scorers_saw_it_is_marked() {
        let mut case = CaseVerdict::of(Verdict::Failed, 0, None);
        assert_eq!(verdict(&case), "failed");
        case.is_incomplete = true;
        assert_eq!(verdict(&case), "failed, incomplete");
    }

    #[test]
    fn a_requirement_that_does_not_hold_is_not_rounded_to_one_that_does() {
        let mean = |mean: f64, worst: f64| {
            broken(&Broken::Mean { scorer_id: "a".into(), mean: Some(mean), worst })
        };
        assert_eq!(mean(0.5, 0.75), "the mean of `a` is 0.5000; required: 0.7500");
        assert_eq!(mean(0.99997, 1.0), "the mean of `a` is 0.99997; required: 1.00000");
        assert_eq!(
            mean(1e9, 1e9 + 1.0),
            "the mean of `a` is 1000000000.00000; required: 1000000001.00000"
        );
        let least = f64::from_bits(0.3_f64.to_bits() + 1);
        assert_eq!(mean(0.3, least), format!("the mean of `a` is 0.3; required: {least}"));
    }

    #[test]
    fn a_rate_below_the_required_one_looks_like_it() {
        let rate = |rate: f64, least: f64| broken(&Broken::PassRate { rate: Some(rate), least });
        assert_eq!(rate(0.75, 0.8), "75.0 % of the cases passed; required: 80.0 %");
        assert_eq!(rate(0.9999, 1.0), "99.99 % of the cases passed; required: 100.0 %");
        assert_eq!(rate(0.79996, 0.8), "79.99600 % of the cases passed; required: 80.00000 %");
    }
}
