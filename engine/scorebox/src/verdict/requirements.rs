//! What a user requires of a run as a whole, and which requirements are not met. It decides no exit code.

use super::{Broken, Policy, RunVerdict};
use crate::stats::paired::difference;

/// The requirements for a run, beyond those of its gates for each case.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Requirements {
    /// The worst mean of a scorer, with its name in the suite.
    pub worst_means: Vec<(String, f64)>,
    /// The lowest rate of passing cases, 0 to 1.
    pub least_pass_rate: Option<f64>,
    /// The largest number of rows without a score because of an error; `None`: no limit.
    pub most_errors: Option<u64>,
    /// The scorers that may decide no case at all, by their names in the suite.
    pub may_be_idle: Vec<String>,
}

impl Requirements {
    /// The same with this additional entry in [`worst_means`](Requirements::worst_means).
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

    /// The same with this additional entry in [`may_be_idle`](Requirements::may_be_idle).
    #[must_use]
    pub fn with_idle(mut self, scorer_id: impl Into<String>) -> Requirements {
        self.may_be_idle.push(scorer_id.into());
        self
    }
}

/// The facts about one scorer that requirements need.
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
    /// How many of its rows have no score because of an error.
    pub errors: u64,
    /// Whether a case can fail or be errored because of it: by its score, or by an assertion in it.
    pub can_fail: bool,
    /// The number of cases, if it decided none; `None` if it decided one, if there were none for it, or if that is no
    /// evidence: it scores a sample of the cases, or more may come.
    pub idle_of: Option<u64>,
    /// Whether no further rows may come.
    pub is_whole: bool,
}

impl Requirements {
    /// The requirements that do not hold, in the order in which they are said. If a rate of passing cases is required,
    /// single cases may fail. A gate that decided no case at all does not hold, whatever the others decided. A rate of
    /// 0 requires nothing of the cases, not even that. Cases that are errored break nothing by themselves: that there
    /// are errors is known without. But an error does not hide that another gate failed, and where errors are allowed, a
    /// gate that has nothing else does not hold, as one that decided no case.
    pub fn broken(&self, run: &RunVerdict, scorers: &[ScorerMean<'_>]) -> Vec<Broken> {
        let RunVerdict { failed, errored, errored_and_failed, .. } = *run;
        let cases = Broken::Cases { failed, errored, errored_and_failed };
        let decides = scorers.iter().any(|scorer| scorer.can_fail);
        let idle = scorers.iter().filter_map(|scorer| self.idle(scorer));
        let only_errors = scorers.iter().filter_map(|scorer| self.only_errors(scorer));
        let has_bad_cases = failed + errored_and_failed > 0 && self.least_pass_rate.is_none();
        let means = self.worst_means.iter().filter_map(|(id, worst)| {
            let scorer = scorers.iter().find(|scorer| scorer.scorer_id == id)?;
            // A mean that is below by rounding alone meets the requirement.
            let is_met =
                |mean| scorer.policy.is_as_good_as(mean, *worst) || difference(mean, *worst) == 0.0;
            let holds = scorer.mean.is_some_and(is_met);
            let broken =
                || Broken::Mean { scorer_id: id.clone(), mean: scorer.mean, worst: *worst };
            (!holds).then(broken)
        });
        let rate = run.pass_rate.map(|rate| rate.rate);
        let holds = |least: f64| decides && rate.is_some_and(|rate| rate >= least);
        let is_broken = |least: &f64| *least > 0.0 && !holds(*least);
        let least = self.least_pass_rate.filter(is_broken);
        let errors = scorers.iter().map(|scorer| scorer.errors).sum();
        let most = self.most_errors.filter(|most| errors > *most);
        let mut broken: Vec<Broken> = has_bad_cases.then_some(cases).into_iter().collect();
        broken.extend(idle);
        broken.extend(only_errors);
        broken.extend(means);
        broken.extend(least.map(|least| match decides {
            true => Broken::PassRate { rate, least },
            false => Broken::NothingDecides { least },
        }));
        broken.extend(most.map(|most| Broken::Errors { errors, most }));
        broken
    }

    /// Reports a scorer that decides whether a case passes but decided none.
    fn idle(&self, scorer: &ScorerMean<'_>) -> Option<Broken> {
        let cases = scorer.idle_of.filter(|_| self.must_decide(scorer))?;
        Some(Broken::NothingDecided { scorer_id: scorer.scorer_id.to_owned(), cases })
    }

    /// That all that such a scorer has are errors, which alone would break nothing because they are allowed.
    fn only_errors(&self, scorer: &ScorerMean<'_>) -> Option<Broken> {
        let ScorerMean { errors, mean, .. } = *scorer;
        let has_only_errors = errors > 0 && mean.is_none() && scorer.is_whole;
        let is_broken = has_only_errors && self.most_errors.is_some() && self.must_decide(scorer);
        let scorer_id = scorer.scorer_id.to_owned();
        is_broken.then_some(Broken::OnlyErrors { scorer_id, errors })
    }

    /// Whether a scorer decides, and must decide a case.
    fn must_decide(&self, scorer: &ScorerMean<'_>) -> bool {
        let is_named = self.may_be_idle.iter().any(|id| id == scorer.scorer_id);
        scorer.can_fail && !is_named && self.least_pass_rate != Some(0.0)
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
            idle_of: None,
            is_whole: true,
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
    fn each_gate_that_decided_no_case_at_all_does_not_hold() {
        let gate = scorer(Direction::HigherIsBetter, 1.0);
        let idle = ScorerMean { scorer_id: "b", idle_of: Some(4), ..gate };
        let measures = ScorerMean { scorer_id: "c", can_fail: false, ..idle };
        let passed = run(&[1.0]);
        let nothing = |id: &str| Broken::NothingDecided { scorer_id: id.to_owned(), cases: 4 };
        let none = Requirements::default();
        assert_eq!(none.broken(&passed, &[gate, idle, measures]), [nothing("b")]);
        let another = ScorerMean { scorer_id: "d", ..idle };
        assert_eq!(none.broken(&passed, &[idle, another]), [nothing("b"), nothing("d")]);
        // A rate of what the others decided does not compensate for it, unless the rate requires nothing.
        let rate = |least| Requirements::default().with_least_pass_rate(least);
        assert_eq!(rate(0.5).broken(&passed, &[gate, idle]), [nothing("b")]);
        assert_eq!(rate(0.0).broken(&passed, &[gate, idle]), []);
        let allowed = Requirements::default().with_idle("b");
        assert_eq!(allowed.broken(&passed, &[idle, another]), [nothing("d")]);
    }

    #[test]
    fn a_rate_of_no_case_is_not_met_unless_it_is_0() {
        let idle = ScorerMean { idle_of: Some(4), ..scorer(Direction::HigherIsBetter, 1.0) };
        let rate = |least| Requirements::default().with_least_pass_rate(least).with_idle("a");
        let without = Broken::PassRate { rate: None, least: 0.5 };
        assert_eq!(rate(0.5).broken(&run(&[]), &[idle]), [without]);
        assert_eq!(rate(0.0).broken(&run(&[]), &[idle]), []);
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
    fn a_mean_of_nothing_meets_no_requirement() {
        let requirements =
            Requirements { worst_means: vec![("a".to_owned(), 0.0)], ..Requirements::default() };
        let unscored = ScorerMean { mean: None, ..scorer(Direction::HigherIsBetter, 0.0) };
        assert_eq!(requirements.broken(&run(&[1.0]), &[unscored]).len(), 1);
    }

    #[test]
    fn a_gate_that_has_only_errors_does_not_hold_where_errors_are_allowed() {
        let gate = ScorerMean { mean: None, ..scorer(Direction::HigherIsBetter, 0.0) };
        let broken = |requirements: Requirements, gate| requirements.broken(&run(&[]), &[gate]);
        let allowed = || Requirements::default().with_most_errors(3);
        let only = Broken::OnlyErrors { scorer_id: "a".into(), errors: 3 };
        assert_eq!(broken(allowed(), gate), [only]);
        // Without it, that there are errors is known.
        assert_eq!(broken(Requirements::default(), gate), []);
        for holds in [
            ScorerMean { mean: Some(1.0), ..gate },
            ScorerMean { can_fail: false, ..gate },
            ScorerMean { is_whole: false, ..gate },
        ] {
            assert_eq!(broken(allowed(), holds), []);
        }
        assert_eq!(broken(allowed().with_idle("a"), gate), []);
        assert_eq!(broken(allowed().with_least_pass_rate(0.0), gate), []);
    }

    #[test]
    fn errors_are_counted_over_all_scorers() {
        let scorers = [scorer(Direction::HigherIsBetter, 1.0); 2];
        let most = |most| Requirements { most_errors: Some(most), ..Requirements::default() };
        assert_eq!(most(6).broken(&run(&[1.0]), &scorers), []);
        assert_eq!(most(5).broken(&run(&[1.0]), &scorers), [Broken::Errors { errors: 6, most: 5 }]);
    }
}
