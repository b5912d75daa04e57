//! Figures over the attempts at one case, and over those at many cases: reducers of scores, and pass@k and pass^k of
//! successes. It knows no case and no database.

#![expect(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "a formula has these numbers and no others"
)]

use std::collections::HashMap;

use serde::Serialize;

use super::Mean;

/// How the scores of several attempts are reduced to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reducer {
    /// The arithmetic mean.
    Mean,
    /// The median: the score in the middle, or the mean of the two in the middle.
    Median,
    /// The most frequent score; of several that are equally frequent, the one that came first.
    Mode,
    /// The lowest.
    Min,
    /// The highest.
    Max,
}

impl Reducer {
    /// All reducers, in the order in which tables show them.
    pub const ALL: [Reducer; 5] =
        [Reducer::Mean, Reducer::Median, Reducer::Mode, Reducer::Min, Reducer::Max];

    /// The word in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Reducer::Mean => "mean",
            Reducer::Median => "median",
            Reducer::Mode => "mode",
            Reducer::Min => "min",
            Reducer::Max => "max",
        }
    }

    /// Whether more attempts have another score on average, although nothing about them is different. The highest of
    /// eight is higher than one score, and the one in the middle is closer to the commonest.
    pub const fn depends_on_count(self) -> bool {
        !matches!(self, Reducer::Mean)
    }

    /// The reduced score of these, in the order of the attempts; `None` if there are none. The scores are finite.
    pub fn reduce(self, scores: &[f64]) -> Option<f64> {
        let first = *scores.first()?;
        Some(match self {
            Reducer::Mean => super::Summary::of(&mut scores.to_vec())?.mean,
            Reducer::Median => super::Summary::of(&mut scores.to_vec())?.p50,
            Reducer::Mode => mode(scores),
            Reducer::Min => scores.iter().copied().fold(first, f64::min),
            Reducer::Max => scores.iter().copied().fold(first, f64::max),
        })
    }
}

fn mode(scores: &[f64]) -> f64 {
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for score in scores {
        *counts.entry(bits(score)).or_default() += 1;
    }
    let most = counts.values().copied().max().unwrap_or_default();
    let is_most_frequent = |score: &&f64| counts[&bits(score)] == most;
    scores.iter().find(is_most_frequent).copied().unwrap_or_default()
}

/// The bits of a score, the same for 0 and -0.
fn bits(score: &f64) -> u64 {
    (score + 0.0).to_bits()
}

/// The scores of the attempts at one case, reduced to one score by each reducer; or the means of these over many cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Reduced {
    /// By [`Reducer::Mean`]; `None` here and below if there are no scores.
    pub mean: Option<f64>,
    /// By [`Reducer::Median`].
    pub median: Option<f64>,
    /// By [`Reducer::Mode`].
    pub mode: Option<f64>,
    /// By [`Reducer::Min`].
    pub min: Option<f64>,
    /// By [`Reducer::Max`].
    pub max: Option<f64>,
}

impl Reduced {
    /// The scores, finite and in the order of the attempts, by each reducer.
    pub fn of(scores: &[f64]) -> Reduced {
        let [mean, median, mode, min, max] = Reducer::ALL.map(|reducer| reducer.reduce(scores));
        Reduced { mean, median, mode, min, max }
    }

    /// The score by this reducer.
    pub fn by(&self, reducer: Reducer) -> Option<f64> {
        match reducer {
            Reducer::Mean => self.mean,
            Reducer::Median => self.median,
            Reducer::Mode => self.mode,
            Reducer::Min => self.min,
            Reducer::Max => self.max,
        }
    }
}

/// Computes the means of reduced scores.
#[derive(Clone, Debug, Default)]
pub struct ReducedMeans([Mean; Reducer::ALL.len()]);

impl ReducedMeans {
    /// Adds the scores of the next case; a case without scores does not count.
    pub fn add(&mut self, case: &Reduced) {
        for (mean, reducer) in self.0.iter_mut().zip(Reducer::ALL) {
            if let Some(score) = case.by(reducer) {
                mean.add(score);
            }
        }
    }

    /// The means.
    pub fn get(&self) -> Reduced {
        let [mean, median, mode, min, max] = self.0.each_ref().map(Mean::get);
        Reduced { mean, median, mode, min, max }
    }
}

/// The attempts at one case, and how many of them succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempts {
    /// All attempts.
    pub trials: u64,
    /// How many succeeded; no more than there are.
    pub successes: u64,
}

impl Attempts {
    /// The chance that at least one of `k` attempts, drawn from these without replacement, succeeded; `None` if there
    /// are fewer than `k`, or `k` is 0.
    ///
    /// 1 - C(n - c, k) / C(n, k), the unbiased estimator of Chen et al., "Evaluating large language models trained on
    /// code", 2021, section 2.1.
    pub fn pass_at(self, k: u64) -> Option<f64> {
        let all_fail = Attempts { successes: self.trials.checked_sub(self.successes)?, ..self };
        Some(1.0 - all_fail.pass_all(k)?)
    }

    /// The chance that all of `k` attempts, drawn from these without replacement, succeeded; `None` if there are fewer
    /// than `k`, or `k` is 0.
    ///
    /// pass^k: C(c, k) / C(n, k), Yao et al., "τ-bench", 2024, section 4.
    pub fn pass_all(self, k: u64) -> Option<f64> {
        let Attempts { trials, successes } = self;
        if k == 0 || k > trials || successes > trials {
            return None;
        }
        if k > successes {
            return Some(0.0);
        }
        Some((0..k).map(|drawn| (successes - drawn) as f64 / (trials - drawn) as f64).product())
    }

    /// Whether at least `k` attempts succeeded; `None` if there are fewer than `k`, or `k` is 0.
    pub fn at_least(self, k: u64) -> Option<bool> {
        (1..=self.trials).contains(&k).then_some(self.successes >= k)
    }
}

/// Figures over several attempts at each of many cases.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Tries {
    /// Cases with attempts that count.
    pub cases: u64,
    /// All attempts that count.
    pub attempts: u64,
    /// Attempts that passed.
    pub passed: u64,
    /// Passed divided by attempts; `None` if there are no attempts.
    pub pass_rate: Option<f64>,
    /// For each requested k, in ascending order.
    pub draws: Vec<Draw>,
}

/// Figures for k attempts at each case, drawn from all of them: means over the cases. `None` (not defined) if a case
/// has fewer than k attempts or there are no cases: the mean of the other cases would be that of another set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Draw {
    /// How many attempts are drawn.
    pub k: u64,
    /// The chance that at least one of them passed, see [`Attempts::pass_at`].
    pub pass_at_k: Option<f64>,
    /// The chance that all of them passed, see [`Attempts::pass_all`].
    pub pass_hat_k: Option<f64>,
    /// The part of the cases for which at least k of all attempts passed.
    pub at_least_k: Option<f64>,
    /// Cases with fewer than k attempts.
    pub cases_with_fewer: u64,
}

/// The numbers of attempts for which figures are usually shown, if the case with the most attempts has `most_attempts`:
/// 1, 2, 4 and 8, and all of them.
pub fn usual_draws(most_attempts: u64) -> Vec<u64> {
    let mut ks: Vec<u64> = [1, 2, 4, 8].into_iter().filter(|k| *k <= most_attempts).collect();
    if ks.last().is_none_or(|last| *last < most_attempts) {
        ks.push(most_attempts.max(1));
    }
    ks
}

/// Computes [`Tries`]; memory use does not depend on the number of cases.
#[derive(Clone, Debug)]
pub struct TriesOfCases {
    cases: u64,
    trials: u64,
    successes: u64,
    draws: Vec<DrawOfCases>,
}

#[derive(Clone, Debug, Default)]
struct DrawOfCases {
    k: u64,
    pass_at: Mean,
    pass_all: Mean,
    at_least: u64,
    fewer: u64,
}

impl TriesOfCases {
    /// Starts without a case; computes figures for each of these `k`, which are 1 or more.
    pub fn new(ks: &[u64]) -> TriesOfCases {
        let mut ks = ks.to_vec();
        ks.sort_unstable();
        ks.dedup();
        let draws = ks.into_iter().map(|k| DrawOfCases { k, ..DrawOfCases::default() });
        TriesOfCases { cases: 0, trials: 0, successes: 0, draws: draws.collect() }
    }

    /// Adds the attempts at the next case; a case without attempts does not count.
    pub fn add(&mut self, case: Attempts) {
        if case.trials == 0 {
            return;
        }
        self.cases += 1;
        self.trials += case.trials;
        self.successes += case.successes;
        for draw in &mut self.draws {
            let k = draw.k;
            match (case.pass_at(k), case.pass_all(k), case.at_least(k)) {
                (Some(one), Some(all), Some(enough)) => {
                    draw.pass_at.add(one);
                    draw.pass_all.add(all);
                    draw.at_least += u64::from(enough);
                }
                _ => draw.fewer += 1,
            }
        }
    }

    /// The figures over all cases.
    pub fn get(&self) -> Tries {
        let share = |part: u64, of: u64| (of > 0).then(|| part as f64 / of as f64);
        let draw = |draw: &DrawOfCases| {
            let defined = draw.fewer == 0;
            Draw {
                k: draw.k,
                pass_at_k: draw.pass_at.get().filter(|_| defined),
                pass_hat_k: draw.pass_all.get().filter(|_| defined),
                at_least_k: share(draw.at_least, self.cases).filter(|_| defined),
                cases_with_fewer: draw.fewer,
            }
        };
        Tries {
            cases: self.cases,
            attempts: self.trials,
            passed: self.successes,
            pass_rate: share(self.successes, self.trials),
            draws: self.draws.iter().map(draw).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: Attempts = Attempts { trials: 10, successes: 3 };

    #[test]
    fn pass_at_k_is_the_share_of_draws_with_a_success() {
        // 1 - C(7, k) / C(10, k), by hand.
        assert!((SOME.pass_at(1).unwrap() - 0.3).abs() < 1e-15);
        assert!((SOME.pass_at(2).unwrap() - (1.0 - 21.0 / 45.0)).abs() < 1e-15);
        assert!((SOME.pass_at(5).unwrap() - (1.0 - 21.0 / 252.0)).abs() < 1e-15);
        assert_eq!(SOME.pass_at(8), Some(1.0));
    }

    #[test]
    fn pass_all_is_the_share_of_draws_of_successes_alone() {
        // C(3, k) / C(10, k), by hand.
        assert_eq!(SOME.pass_all(1), Some(0.3));
        assert!((SOME.pass_all(2).unwrap() - 3.0 / 45.0).abs() < 1e-15);
        assert!((SOME.pass_all(3).unwrap() - 1.0 / 120.0).abs() < 1e-15);
        assert_eq!(SOME.pass_all(4), Some(0.0));
    }

    #[test]
    fn more_draws_than_attempts_are_undefined() {
        for undefined in [0, 11] {
            assert_eq!(SOME.pass_at(undefined), None);
            assert_eq!(SOME.pass_all(undefined), None);
            assert_eq!(SOME.at_least(undefined), None);
        }
        assert_eq!((SOME.at_least(3), SOME.at_least(4)), (Some(true), Some(false)));
    }

    #[test]
    fn reducers_take_what_their_name_says() {
        let scores = [0.5, 1.0, 0.0, 1.0, 0.0];
        let reduced = Reducer::ALL.map(|reducer| reducer.reduce(&scores).unwrap());
        // Of 1 and 0, which both occur twice, 1 came first.
        assert_eq!(reduced, [0.5, 0.5, 1.0, 0.0, 1.0]);
        assert_eq!(Reducer::Median.reduce(&[0.0, 1.0]), Some(0.5));
        assert_eq!(Reducer::Mean.reduce(&[]), None);
    }

    /// `tasks[c]` tasks of four trials each, of which c succeeded.
    fn of_four(tasks: [u64; 5]) -> Tries {
        let mut tries = TriesOfCases::new(&[4, 1, 2, 3, 2]);
        for (successes, tasks) in (0..).zip(tasks) {
            (0..tasks).for_each(|_| tries.add(Attempts { trials: 4, successes }));
        }
        tries.get()
    }

    fn rounded(tries: &Tries, of: impl Fn(&Draw) -> Option<f64>) -> Vec<String> {
        tries.draws.iter().map(|draw| format!("{:.3}", of(draw).unwrap())).collect()
    }

    /// The four rows of the table for the airline domain in tau-bench's README (commit 034a267): 50 tasks, 4 trials.
    /// Only these numbers of tasks with 0 to 4 successes give the published pass^1 to pass^4.
    #[test]
    fn pass_hat_k_over_many_tasks_is_as_published_for_tau_bench() {
        for (tasks, published) in [
            ([16, 13, 8, 5, 8], ["0.380", "0.237", "0.185", "0.160"]),
            ([30, 7, 6, 2, 5], ["0.225", "0.140", "0.110", "0.100"]),
            ([17, 11, 11, 4, 7], ["0.365", "0.217", "0.160", "0.140"]),
            ([26, 4, 7, 5, 8], ["0.325", "0.233", "0.185", "0.160"]),
        ] {
            assert_eq!(tasks.iter().sum::<u64>(), 50);
            assert_eq!(rounded(&of_four(tasks), |draw| draw.pass_hat_k), published);
        }
    }

    /// By hand: of 4 tasks with 0, 1, 2 and 4 successes in 4 trials, draws of 2 include a success in 0, 3, 5 and 6 of 6
    /// cases.
    #[test]
    fn figures_over_cases_are_means_of_those_of_each_case() {
        let tries = of_four([1, 1, 1, 0, 1]);
        assert_eq!((tries.cases, tries.attempts, tries.passed), (4, 16, 7));
        assert_eq!(tries.pass_rate, Some(7.0 / 16.0));
        assert_eq!(rounded(&tries, |draw| draw.pass_at_k), ["0.438", "0.583", "0.688", "0.750"]);
        assert_eq!(rounded(&tries, |draw| draw.at_least_k), ["0.750", "0.500", "0.250", "0.250"]);
    }

    #[test]
    fn usual_draws_end_with_all_attempts() {
        for (most, ks) in
            [(0, &[1][..]), (1, &[1]), (3, &[1, 2, 3]), (4, &[1, 2, 4]), (100, &[1, 2, 4, 8, 100])]
        {
            assert_eq!(usual_draws(most), ks);
        }
    }

    #[test]
    fn a_case_with_fewer_attempts_makes_the_figure_of_all_cases_undefined() {
        let mut tries = TriesOfCases::new(&[1, 2]);
        tries.add(Attempts { trials: 2, successes: 1 });
        tries.add(Attempts { trials: 1, successes: 1 });
        tries.add(Attempts { trials: 0, successes: 0 });
        let [one, two] = tries.get().draws[..] else { panic!("two") };
        assert_eq!(
            (one.pass_at_k, one.pass_hat_k, one.cases_with_fewer),
            (Some(0.75), Some(0.75), 0)
        );
        assert_eq!((two.pass_at_k, two.pass_hat_k, two.at_least_k), (None, None, None));
        assert_eq!((two.cases_with_fewer, tries.get().cases), (1, 2));
        let none = TriesOfCases::new(&[1]).get();
        assert_eq!(
            (none.pass_rate, none.draws[0].pass_at_k, none.draws[0].at_least_k),
            (None, None, None)
        );
    }

    #[test]
    fn reduced_scores_of_many_cases_are_averaged_and_no_scores_count_nowhere() {
        let mut means = ReducedMeans::default();
        for scores in [&[0.0, 1.0, 1.0][..], &[], &[0.5]] {
            means.add(&Reduced::of(scores));
        }
        let means = means.get();
        assert_eq!((means.median, means.mode), (Some(0.75), Some(0.75)));
        assert_eq!((means.min, means.max), (Some(0.25), Some(0.75)));
        assert_eq!(means.mean, Some((2.0 / 3.0 + 0.5) / 2.0));
        assert_eq!(ReducedMeans::default().get(), Reduced::default());
    }
}
