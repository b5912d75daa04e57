//! What a user requires of a run as a whole, and what of it does not hold. Decides no exit code.

use super::{Broken, Policy, RunVerdict};
use crate::stats::paired::difference;

/// What is required of a run, beyond what its gates require of each case.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Requirements {
    /// The worst mean of a scorer: by its name in the suite.
    pub worst_means: Vec<(String, f64)>,
    /// The least rate of cases that pass, 0 to 1.
    pub least_pass_rate: Option<f64>,
    /// The most rows without a score because something went wrong; none: no limit.
    pub most_errors: Option<u64>,
}

impl Requirements {
    /// The same with this one of the [`worst_means`](Requirements::worst_means).
    #[must_use]
    pub fn with_worst_mean(mut self, scorer_id: impl Into<String>, worst: f64) -> Requirements {
        self.worst_means.push((scorer_id.into(), worst));
        self
    }

    /// The same with this [`least_pass_rate`](Requirements::least_pass_rate).
    #[must_use]
    pub fn with_least_pass_rate(mut self, least_pass_rate: impl Into<Option<f64>>) -> Requirements {
        self.least_pass_rate = least_pass_rate.into();
        self
    }

    /// The same with this [`most_errors`](Requirements::most_errors).
    #[must_use]
    pub fn with_most_errors(mut self, most_errors: impl Into<Option<u64>>) -> Requirements {
        self.most_errors = most_errors.into();
        self
    }
}

/// The scores of one scorer, as far as requirements need them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers make it, and must not leave out what counts"
)]
pub struct ScorerMean<'a> {
    /// The scorer's name in the suite.
    pub scorer_id: &'a str,
    /// How its scores count.
    pub policy: Policy,
    /// The mean of its scores; `None` if it has none.
    pub mean: Option<f64>,
    /// Its rows without a score because something went wrong.
    pub errors: u64,
    /// Whether a case can fail or be errored because of it: by its score, or by an assertion that it made.
    pub can_fail: bool,
    /// Whether it is for a sample of the cases only, which may be none of few.
    pub is_sampled: bool,
}

impl Requirements {
    /// The requirements that do not hold, in the order in which they are said. If a rate of passing cases is required,
    /// single cases may fail. A gate that decided no case at all does not hold, unless it is for a sample of them, or all cases say themselves that they are not
    /// to be judged. Cases that are errored break nothing by themselves: that there are errors is known without. But
    /// an error does not hide that another gate failed.
    pub fn broken(&self, run: &RunVerdict, scorers: &[ScorerMean<'_>]) -> Vec<Broken> {
        let RunVerdict { failed, errored, errored_and_failed, .. } = *run;
        let cases = Broken::Cases { failed, errored, errored_and_failed };
        let is_whole = run.incomplete() == 0;
        let decided = run.passed + failed + errored;
        let spared = run.skipped - run.skipped_by_themselves;
        let decides = scorers.iter().any(|scorer| scorer.can_fail && !scorer.is_sampled);
        let is_idle = decides && is_whole && decided == 0 && spared > 0;
        let idle = is_idle && self.least_pass_rate.is_none();
        let idle = idle.then_some(Broken::NothingDecided { cases: run.skipped });
        let has_bad_cases = failed + errored_and_failed > 0 && self.least_pass_rate.is_none();
        let means = self.worst_means.iter().filter_map(|(id, worst)| {
            let scorer = scorers.iter().find(|scorer| scorer.scorer_id == id)?;
            // What rounding alone takes from a mean breaks nothing.
            let is_met =
                |mean| scorer.policy.is_as_good_as(mean, *worst) || difference(mean, *worst) == 0.0;
            let holds = scorer.mean.is_some_and(is_met);
            let broken =
                || Broken::Mean { scorer_id: id.clone(), mean: scorer.mean, worst: *worst };
            (!holds).then(broken)
        });
        let rate = run.pass_rate.map(|rate| rate.rate);
        // A rate of 0 requires nothing but that single cases may fail.
        let is_broken = |least: &f64| match decides {
            true => rate.is_none_or(|rate| rate < *least),
            false => *least > 0.0,
        };
        let least = self.least_pass_rate.filter(is_broken);
        let errors = scorers.iter().map(|scorer| scorer.errors).sum();
        let most = self.most_errors.filter(|most| errors > *most);
        let mut broken: Vec<Broken> = has_bad_cases.then_some(cases).into_iter().collect();
        broken.extend(idle);
        broken.extend(means);
        broken.extend(least.map(|least| match decides {
            true => Broken::PassRate { rate, least },
            false => Broken::NothingDecides { least },
        }));
        broken.extend(most.map(|most| Broken::Errors { errors, most }));
        broken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        contract::{Direction, Scale, Severity},
        verdict::{CaseTally, Counted, Effort, RunTally},
    };

    fn policy(direction: Direction) -> Policy {
        Policy::declared(Severity::Gate, Some(0.5), direction, Scale::Unit)
    }

    fn run(scores: &[f64]) -> RunVerdict {
        let mut run = RunTally::default();
        for score in scores {
            let mut case = CaseTally::new();
            case.add(&policy(Direction::HigherIsBetter), Counted::Score(*score, &[]));
            run.add(case.verdict(), Effort::default());
        }
        run.verdict()
    }

    fn scorer(direction: Direction, mean: f64) -> ScorerMean<'static> {
        let policy = policy(direction);
        ScorerMean {
            scorer_id: "a",
            policy,
            mean: Some(mean),
            errors: 3,
            can_fail: true,
            is_sampled: false,
        }
    }

    #[test]
    fn a_failed_case_breaks_a_run_unless_a_rate_is_required() {
        let run = run(&[1.0, 1.0, 1.0, 0.0]);
        let gate = scorer(Direction::HigherIsBetter, 0.75);
        let broken = |requirements: Requirements| requirements.broken(&run, &[gate]);
        let cases = Broken::Cases { failed: 1, errored: 0, errored_and_failed: 0 };
        assert_eq!(broken(Requirements::default()), [cases]);
        let rate = |least| Requirements { least_pass_rate: Some(least), ..Requirements::default() };
        assert_eq!(broken(rate(0.75)), []);
        assert_eq!(broken(rate(0.8)), [Broken::PassRate { rate: Some(0.75), least: 0.8 }]);
    }

    #[test]
    fn a_rate_is_not_met_if_no_scorer_decides() {
        let measures = ScorerMean { can_fail: false, ..scorer(Direction::HigherIsBetter, 0.0) };
        let rate = Requirements { least_pass_rate: Some(0.5), ..Requirements::default() };
        let broken = |scorers: &[ScorerMean<'_>]| rate.broken(&run(&[1.0]), scorers);
        assert_eq!(broken(&[measures]), [Broken::NothingDecides { least: 0.5 }]);
        assert_eq!(broken(&[measures, scorer(Direction::HigherIsBetter, 1.0)]), []);
        let any = Requirements { least_pass_rate: Some(0.0), ..Requirements::default() };
        assert_eq!(any.broken(&run(&[1.0]), &[measures]), []);
    }

    #[test]
    fn a_gate_that_decided_no_case_at_all_does_not_hold() {
        let gate = policy(Direction::HigherIsBetter);
        let spared = |tallies: &[CaseTally]| {
            let mut run = RunTally::default();
            for tally in tallies {
                let mut tally = *tally;
                tally.add(&gate, Counted::Skipped);
                run.add(tally.verdict(), Effort::default());
            }
            run.verdict()
        };
        let scorers = [scorer(Direction::HigherIsBetter, 1.0)];
        let none = Requirements::default();
        let (spared_only, by_itself) = ([CaseTally::new()], [CaseTally::skipped()]);
        let both = [CaseTally::new(), CaseTally::skipped()];
        let nothing = |cases| vec![Broken::NothingDecided { cases }];
        assert_eq!(none.broken(&spared(&spared_only), &scorers), nothing(1));
        assert_eq!(none.broken(&spared(&both), &scorers), nothing(2));
        // Skipping all cases is deliberate, and without cases none was missed.
        assert_eq!(none.broken(&spared(&by_itself), &scorers), []);
        assert_eq!(none.broken(&spared(&[]), &scorers), []);
        let measures = [ScorerMean { can_fail: false, ..scorers[0] }];
        assert_eq!(none.broken(&spared(&spared_only), &measures), []);
        let sampled = [ScorerMean { is_sampled: true, ..scorers[0] }];
        assert_eq!(none.broken(&spared(&spared_only), &sampled), []);
        let rate = Requirements { least_pass_rate: Some(0.5), ..Requirements::default() };
        let without = Broken::PassRate { rate: None, least: 0.5 };
        assert_eq!(rate.broken(&spared(&spared_only), &scorers), [without]);
    }

    #[test]
    fn a_gate_that_failed_breaks_a_run_also_if_another_one_of_the_case_has_an_error() {
        let gate = policy(Direction::HigherIsBetter);
        let errored = |beside| {
            let (mut case, mut run) = (CaseTally::new(), RunTally::default());
            case.add(&gate, Counted::Error);
            case.add(&gate, Counted::Score(beside, &[]));
            run.add(case.verdict(), Effort::default());
            Requirements::default().broken(&run.verdict(), &[])
        };
        let cases = Broken::Cases { failed: 0, errored: 1, errored_and_failed: 1 };
        assert_eq!((errored(0.0), errored(1.0)), (vec![cases], vec![]));
    }

    #[test]
    fn a_mean_is_compared_in_the_direction_of_its_scorer() {
        let worst = |worst| Requirements {
            worst_means: vec![("a".to_owned(), worst)],
            ..Requirements::default()
        };
        let broken = |direction, limit| {
            !worst(limit).broken(&run(&[1.0]), &[scorer(direction, 0.4)]).is_empty()
        };
        assert!(broken(Direction::HigherIsBetter, 0.5) && !broken(Direction::HigherIsBetter, 0.4));
        assert!(broken(Direction::LowerIsBetter, 0.3) && !broken(Direction::LowerIsBetter, 0.4));
    }

    #[test]
    fn what_rounding_takes_from_a_mean_breaks_nothing() {
        let least = Requirements::default().with_worst_mean("a", 0.2);
        let scorer =
            |mean| ScorerMean { mean: Some(mean), ..scorer(Direction::HigherIsBetter, 0.0) };
        let broken = |mean| least.broken(&run(&[1.0]), &[scorer(mean)]).len();
        assert_eq!((broken(0.199_999_999_999_999_98), broken(0.199_999)), (0, 1));
    }

    #[test]
    fn a_mean_of_nothing_is_no_good_mean() {
        let requirements =
            Requirements { worst_means: vec![("a".to_owned(), 0.0)], ..Requirements::default() };
        let unscored = ScorerMean { mean: None, ..scorer(Direction::HigherIsBetter, 0.0) };
        assert_eq!(requirements.broken(&run(&[1.0]), &[unscored]).len(), 1);
    }

    #[test]
    fn errors_are_counted_over_all_scorers() {
        let scorers = [scorer(Direction::HigherIsBetter, 1.0); 2];
        let most = |most| Requirements { most_errors: Some(most), ..Requirements::default() };
        assert_eq!(most(6).broken(&run(&[1.0]), &scorers), []);
        assert_eq!(most(5).broken(&run(&[1.0]), &scorers), [Broken::Errors { errors: 6, most: 5 }]);
    }
}
