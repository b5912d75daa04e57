//! The verdicts of all cases together: how many passed, and how many failed and why. It keeps only counts and means.

use serde::Serialize;

use crate::{
    amount::count,
    stats::{Mean, Rate},
};

use super::{CaseVerdict, Verdict};

/// A case's contribution to the verdict of a run, in addition to its own verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers make it, and must not leave out what counts"
)]
pub struct Effort {
    /// How long the task took, in milliseconds, if it is known.
    pub latency_ms: Option<f64>,
    /// What it cost, in US dollars, if it is known.
    pub cost_usd: Option<f64>,
}

/// The verdicts of all cases together, in the order of the cases, so that the means are the same in every run.
#[derive(Clone, Debug, Default)]
pub struct RunTally {
    passed: u64,
    regressed: u64,
    failed: u64,
    errored: u64,
    errored_and_failed: u64,
    failed_incomplete: u64,
    errored_incomplete: u64,
    skipped: u64,
    skipped_by_themselves: u64,
    undecided: u64,
    score: Mean,
    latency_ms: Mean,
    cost_usd: Mean,
}

/// The figures over the verdicts of all cases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunVerdict {
    /// Cases that passed, including those with regressions.
    pub passed: u64,
    /// Cases that passed although a soft requirement is not met.
    pub regressed: u64,
    /// Cases with a failed gate.
    pub failed: u64,
    /// Cases in which a gate or a required scorer has no score.
    pub errored: u64,
    /// Errored cases in which another gate fails.
    pub errored_and_failed: u64,
    /// Failed cases for which a scorer has no row yet; they count in no rate.
    #[serde(skip_serializing_if = "is_none")]
    pub failed_incomplete: u64,
    /// Errored cases for which a scorer has no row yet; they count in no rate.
    #[serde(skip_serializing_if = "is_none")]
    pub errored_incomplete: u64,
    /// Cases that must not be judged; they count in no rate.
    pub skipped: u64,
    /// How many of them state it themselves.
    #[serde(skip)]
    pub skipped_by_themselves: u64,
    /// Cases for which a scorer has no row yet, as in a run that was interrupted, and against which none decides; they
    /// count in no rate.
    pub undecided: u64,
    /// The rate of passed cases among the judged ones; `None` if there are none. Each attempt counts; for a stored run,
    /// the interval is computed over cases.
    pub pass_rate: Option<Rate>,
    /// The mean of the judged cases' weighted scores, 0 to 1; `None` if none has one.
    pub mean_score: Option<f64>,
    /// The mean latency of the judged cases that have one, in milliseconds.
    pub mean_latency_ms: Option<f64>,
    /// The mean cost of the judged cases that have one, in US dollars.
    pub mean_cost_usd: Option<f64>,
}

impl RunVerdict {
    /// Cases that count in the rate and the means: those that passed, failed or are errored, and for which every scorer
    /// has a row.
    pub const fn judged(&self) -> u64 {
        self.passed + self.failed - self.failed_incomplete + self.errored - self.errored_incomplete
    }

    /// Cases, except skipped ones, for which a scorer has no row yet, whatever the others decide.
    pub const fn incomplete(&self) -> u64 {
        self.undecided + self.failed_incomplete + self.errored_incomplete
    }

    /// `42 incomplete (8 of them already failed, 1 already errored)`: the cases for which a scorer has no row yet;
    /// `None` if there are none.
    pub fn incomplete_in_words(&self) -> Option<String> {
        let all = Some(self.incomplete()).filter(|all| *all > 0)?;
        let already = [(self.failed_incomplete, "failed"), (self.errored_incomplete, "errored")];
        let already = already.into_iter().filter(|(number, _)| *number > 0);
        let already = already.enumerate().map(|(index, (number, what))| {
            let of = if index == 0 { " of them" } else { "" };
            format!("{}{of} already {what}", count(number))
        });
        Some(match already.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => format!("{} incomplete", count(all)),
            already => format!("{} incomplete ({already})", count(all)),
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

impl RunTally {
    /// Adds the verdict of the next case.
    pub fn add(&mut self, case: CaseVerdict, effort: Effort) {
        match case.verdict {
            Verdict::Errored => {
                self.errored += 1;
                self.errored_and_failed += u64::from(case.has_failure);
                self.errored_incomplete += u64::from(case.is_incomplete);
            }
            Verdict::Failed => {
                self.failed += 1;
                self.failed_incomplete += u64::from(case.is_incomplete);
            }
            Verdict::Skipped => {
                self.skipped += 1;
                self.skipped_by_themselves += u64::from(case.skips_itself);
            }
            Verdict::Undecided => self.undecided += 1,
            Verdict::Passed => {
                self.passed += 1;
                self.regressed += u64::from(case.regressions > 0);
            }
        }
        if case.is_judged() {
            let effort = [
                (&mut self.score, case.score),
                (&mut self.latency_ms, effort.latency_ms),
                (&mut self.cost_usd, effort.cost_usd),
            ];
            for (mean, number) in effort {
                number.into_iter().for_each(|number| mean.add(number));
            }
        }
    }

    /// The figures over all cases.
    pub fn verdict(&self) -> RunVerdict {
        let mut verdict = RunVerdict {
            passed: self.passed,
            regressed: self.regressed,
            failed: self.failed,
            errored: self.errored,
            errored_and_failed: self.errored_and_failed,
            failed_incomplete: self.failed_incomplete,
            errored_incomplete: self.errored_incomplete,
            skipped: self.skipped,
            skipped_by_themselves: self.skipped_by_themselves,
            undecided: self.undecided,
            pass_rate: None,
            mean_score: self.score.get(),
            mean_latency_ms: self.latency_ms.get(),
            mean_cost_usd: self.cost_usd.get(),
        };
        verdict.pass_rate = Rate::of(verdict.passed, verdict.judged());
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(verdict: Verdict, regressions: u32) -> CaseVerdict {
        CaseVerdict::of(verdict, regressions, Some(0.5))
    }

    #[test]
    fn a_skipped_case_counts_in_no_rate_and_in_no_mean() {
        let mut tally = RunTally::default();
        let effort = |latency_ms| Effort { latency_ms: Some(latency_ms), cost_usd: None };
        tally.add(case(Verdict::Passed, 0), effort(10.0));
        tally.add(case(Verdict::Passed, 2), effort(20.0));
        tally.add(case(Verdict::Failed, 1), effort(30.0));
        tally.add(case(Verdict::Errored, 0), Effort::default());
        tally.add(case(Verdict::Skipped, 0), effort(1e9));
        let verdict = tally.verdict();
        let counts = (verdict.passed, verdict.regressed, verdict.failed, verdict.errored);
        assert_eq!((counts, verdict.skipped), ((2, 1, 1, 1), 1));
        assert_eq!(verdict.pass_rate, Rate::of(2, 4));
        assert_eq!(verdict.mean_latency_ms, Some(20.0));
        assert_eq!((verdict.mean_cost_usd, verdict.mean_score), (None, Some(0.5)));
    }

    #[test]
    fn means_of_the_greatest_numbers_do_not_overflow() {
        let mut tally = RunTally::default();
        let greatest = Effort { latency_ms: Some(1.7e308), cost_usd: Some(f64::MAX) };
        (0..4).for_each(|_| tally.add(case(Verdict::Passed, 0), greatest));
        let verdict = tally.verdict();
        assert_eq!(verdict.mean_latency_ms, Some(1.7e308));
        assert_eq!(verdict.mean_cost_usd, Some(f64::MAX));
    }

    /// A fast gate has decided all of sixty cases and a slow scorer eighteen, as where a budget ends a run: the rate of
    /// the eighteen is that of the sixty.
    #[test]
    fn the_rate_of_an_unfinished_run_is_of_the_cases_that_every_scorer_has_seen() {
        let (mut whole, mut unfinished) = (RunTally::default(), RunTally::default());
        let effort = Effort { latency_ms: Some(10.0), cost_usd: None };
        for index in 0..60 {
            let passes = index % 9 < 7;
            let verdict = if passes { Verdict::Passed } else { Verdict::Failed };
            whole.add(case(verdict, 0), effort);
            let late = if passes { Verdict::Undecided } else { Verdict::Failed };
            let late = CaseVerdict { is_incomplete: true, score: Some(0.0), ..case(late, 0) };
            match index < 18 {
                true => unfinished.add(case(verdict, 0), effort),
                false => unfinished.add(late, Effort { latency_ms: Some(1e9), cost_usd: None }),
            }
        }
        let (whole, verdict) = (whole.verdict(), unfinished.verdict());
        assert_eq!(verdict.pass_rate, Rate::of(14, 18));
        assert_eq!((verdict.mean_score, verdict.mean_latency_ms), (Some(0.5), Some(10.0)));
        assert_eq!((verdict.failed, verdict.failed_incomplete), (whole.failed, whole.failed - 4));
        assert_eq!(verdict.judged() + verdict.incomplete(), 60);
    }

    #[test]
    fn an_errored_case_that_lacks_a_scorer_counts_in_no_rate() {
        let mut tally = RunTally::default();
        let errored = CaseVerdict { is_incomplete: true, ..case(Verdict::Errored, 0) };
        tally.add(errored, Effort::default());
        let verdict = tally.verdict();
        assert_eq!((verdict.errored, verdict.judged(), verdict.incomplete()), (1, 0, 1));
        assert_eq!((verdict.pass_rate, verdict.mean_score), (None, None));
    }

    #[test]
    fn a_run_without_judged_cases_has_no_rate() {
        assert_eq!(RunTally::default().verdict().pass_rate, None);
    }
}
