//! The interval of a mean of scores that are added case by case, with several scores of a case as one unit. It keeps no
//! more than a few cases.

#![expect(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "a formula has these numbers and no others"
)]

use serde::{Deserialize, Serialize};

use super::{
    Rate,
    bootstrap::{Unit, bootstrap},
    distributions::{CONFIDENCE, student_quantile},
    rounding::difference,
    summary::{DOWN, Moments},
};

/// Cases from which on Student's t is taken: the mean of so many is about normal, unless the scores are very skewed. Then
/// intervals are right less often, drawn ones of fewer cases too: docs/statistics.md has how often.
pub const ENOUGH_CASES: u64 = 30;

/// With at least this many cases, resampling them shows how far others may be: intervals drawn from 2 cases contain the
/// mean 50 times of 100, from 4 cases 88 times, from 8 about 94 times. Student's t is below 95 with few cases too, for
/// scores on a scale with ends.
pub const ENOUGH_TO_DRAW: u64 = 8;

/// How an interval was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntervalMethod {
    /// Wilson's score interval with one trial per case: scores that are 0 or 1, one for each case.
    Wilson,
    /// Wilson's score interval with the cases as clusters: scores that are 0 or 1, some cases with several.
    ClusteredWilson,
    /// Student's t: 30 cases or more, or fewer than 8.
    StudentT,
    /// Student's t with the cases as clusters: as many cases, some with several scores.
    ClusteredT,
    /// Resampling cases, with a fixed seed: 8 to 29 cases.
    Bootstrap,
}

impl IntervalMethod {
    /// The word in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            IntervalMethod::Wilson => "wilson",
            IntervalMethod::ClusteredWilson => "clustered-wilson",
            IntervalMethod::StudentT => "student-t",
            IntervalMethod::ClusteredT => "clustered-t",
            IntervalMethod::Bootstrap => "bootstrap",
        }
    }
}

/// The interval that a mean is in, right about 95 times of 100.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How it was computed.
    pub method: IntervalMethod,
    /// The number of cases; several scores of a case count once.
    pub cases: u64,
}

/// Computes the interval of a mean. Scores are added case by case.
///
/// Scores of one case are similar, so the case is the unit: with m cases, N scores and the sums e of a case's distances
/// from the mean, the variance of the mean is m/(m-1) Σe²/N², and Student's t has m - 1 degrees of freedom (Liang and
/// Zeger, "Longitudinal data analysis using generalized linear models", Biometrika 73, 1986; for evaluations of
/// language models: Miller, "Adding error bars to evals", arXiv:2411.00640). With one score per case, this is the usual
/// s²/n (Student, "The probable error of a mean", Biometrika 6, 1908).
#[derive(Clone, Debug)]
pub struct ClusteredMean {
    mean: f64,
    scores: u64,
    ones: u64,
    is_rate: bool,
    cases: u64,
    /// The current case.
    case: Case,
    /// Whether a case has several scores.
    is_clustered: bool,
    squares: Moments,
    scaled: Moments,
    few: Vec<Unit>,
    least: f64,
    most: f64,
    /// The least and the greatest mean of a case.
    case_means: (f64, f64),
}

#[derive(Clone, Copy, Debug, Default)]
struct Case {
    sum: f64,
    distance: f64,
    scores: u64,
}

impl ClusteredMean {
    /// Starts the interval of scores with a known mean: finite numbers.
    pub fn around(mean: f64) -> ClusteredMean {
        ClusteredMean {
            mean,
            scores: 0,
            ones: 0,
            is_rate: true,
            cases: 0,
            case: Case::default(),
            is_clustered: false,
            squares: Moments::default(),
            scaled: Moments::default(),
            few: Vec::new(),
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
            case_means: (f64::INFINITY, f64::NEG_INFINITY),
        }
    }

    /// The interval of numbers, each of which is a case.
    pub fn of(numbers: &[f64], mean: f64) -> ClusteredMean {
        let mut interval = ClusteredMean::around(mean);
        for number in numbers {
            interval.add(*number);
            interval.end_case();
        }
        interval
    }

    /// Adds the next score of the case.
    pub fn add(&mut self, score: f64) {
        self.case.scores += 1;
        self.case.sum += score;
        self.case.distance += score - self.mean;
        self.scores += 1;
        self.is_rate &= score == 0.0 || score == 1.0;
        self.ones += u64::from(score == 1.0);
        self.least = self.least.min(score);
        self.most = self.most.max(score);
    }

    /// Ends the current case. A case without scores does not count.
    pub fn end_case(&mut self) {
        let case = std::mem::take(&mut self.case);
        if case.scores == 0 {
            return;
        }
        self.cases += 1;
        self.is_clustered |= case.scores > 1;
        let (least, most) = self.case_means;
        let mean = case.sum / case.scores as f64;
        self.case_means = (least.min(mean), most.max(mean));
        self.squares.add(case.distance * case.distance, self.cases);
        self.scaled.add((case.distance * DOWN) * (case.distance * DOWN), self.cases);
        if self.cases < ENOUGH_CASES {
            self.few.push((case.sum, case.scores));
        } else {
            self.few = Vec::new();
        }
    }

    /// The standard error of the mean; `None` with fewer than two cases.
    pub fn standard_error(&self) -> Option<f64> {
        if self.cases < 2 {
            return None;
        }
        let (cases, scores) = (self.cases as f64, self.scores as f64);
        let factor = (cases / (cases - 1.0)).sqrt() / scores;
        let error = self.squares.sum().sqrt() * factor;
        let error =
            if error.is_finite() { error } else { self.scaled.sum().sqrt() * factor / DOWN };
        error.is_finite().then_some(error)
    }

    /// How many scores of a rate carry as much information as all of these, if each were of its own case: the cases
    /// divided by the part of a score's variance that is between cases. That part is 1 / cases / (scores / cases)² Σe²
    /// of `p (1 - p)`, the variance of a rate p, with the sums e as above; it is 1 if the attempts at a case always
    /// agree. A few cases of which nearly all agree hardly show it, so it counts two more that agree, one with nothing
    /// but 1 and one with nothing but 0: without them, the first attempt that fails would make the others weigh more.
    /// The result is at most the number of scores.
    ///
    /// Wilson's interval for this number of scores: Dean and Pagano, "Evaluating confidence interval methods for
    /// binomial proportions in clustered surveys", Journal of Survey Statistics and Methodology 3 (2015).
    fn effective_scores(&self) -> f64 {
        let (cases, scores) = (self.cases as f64, self.scores as f64);
        let each = scores / cases;
        let (one, zero) = (1.0 - self.mean, self.mean);
        let added = one * one + zero * zero;
        let between = self.squares.sum() / (each * each) + added;
        let all = cases * one * zero + added;
        (cases * all / between).min(scores)
    }

    /// The interval of scores that are 0 or 1; `None` if there is only one case, whose scores differ: that is no
    /// evidence about other cases.
    fn of_rate(&self) -> Option<(f64, f64, IntervalMethod)> {
        if !self.is_clustered {
            let rate = Rate::of(self.ones, self.cases)?;
            return Some((rate.low, rate.high, IntervalMethod::Wilson));
        }
        if self.cases == 1 && self.least != self.most {
            return None;
        }
        let rate = Rate::within(self.mean.clamp(0.0, 1.0), self.effective_scores())?;
        Some((rate.low, rate.high, IntervalMethod::ClusteredWilson))
    }

    /// The interval, limited to the scale; `None` with fewer than two cases, unless the scores are a rate, and if all
    /// cases have the same mean and the scores are not all 0 or 1: that is no evidence of how far other cases may be
    /// from it.
    pub fn interval(&self, scale: std::ops::RangeInclusive<f64>) -> Option<Interval> {
        let cases = self.cases;
        let interval = |low: f64, high: f64, method| {
            let (low, high) = (low.max(*scale.start()), high.min(*scale.end()));
            (low.is_finite() && high.is_finite()).then_some(Interval { low, high, method, cases })
        };
        // On a scale without an end, scores of 0 and 1 are not a rate.
        if self.is_rate && *scale.end() <= 1.0 {
            let (low, high, method) = self.of_rate()?;
            return interval(low, high, method);
        }
        if difference(self.case_means.0, self.case_means.1) == 0.0 {
            return None;
        }
        if (ENOUGH_TO_DRAW..ENOUGH_CASES).contains(&cases) {
            let (low, high) = bootstrap(&self.few)?;
            return interval(low, high, IntervalMethod::Bootstrap);
        }
        let half = self.standard_error()?
            * student_quantile(f64::midpoint(1.0, CONFIDENCE), cases as f64 - 1.0);
        let method = match self.is_clustered {
            true => IntervalMethod::ClusteredT,
            false => IntervalMethod::StudentT,
        };
        interval(self.mean - half, self.mean + half, method)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The interval of these cases.
    fn of(cases: &[&[f64]]) -> Option<Interval> {
        let count = cases.iter().map(|case| case.len()).sum::<usize>();
        let sum: f64 = cases.iter().flat_map(|case| case.iter()).sum();
        let mut mean = ClusteredMean::around(sum / count.max(1) as f64);
        for case in cases {
            case.iter().for_each(|score| mean.add(*score));
            mean.end_case();
        }
        mean.interval(0.0..=1.0)
    }

    #[test]
    fn without_spread_or_cases_there_is_no_interval() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[&[]]), None);
        assert_eq!(of(&[&[0.5]]), None);
        let half: &[f64] = &[0.5];
        assert_eq!(of(&[half; 100]), None);
    }

    #[test]
    fn attempts_that_agree_are_one_trial_of_a_rate() {
        let case: &[f64] = &[1.0, 1.0, 1.0];
        let rate = of(&[case; 10]).unwrap();
        assert_eq!((rate.method, rate.cases), (IntervalMethod::ClusteredWilson, 10));
        assert_eq!(Some((rate.low, rate.high)), Rate::of(10, 10).map(|it| (it.low, it.high)));
    }

    #[test]
    fn cases_whose_attempts_have_one_mean_have_no_interval_without_width() {
        let half: &[f64] = &[1.0, 0.0];
        for cases in [3, 12, 40] {
            let rate = of(&vec![half; cases]).unwrap();
            // As if each attempt were a case, which is the most information that they can have.
            let expected = Rate::of(cases as u64, 2 * cases as u64).unwrap();
            assert_eq!((rate.low, rate.high), (expected.low, expected.high));
            assert_eq!((rate.method, rate.cases), (IntervalMethod::ClusteredWilson, cases as u64));
            assert_eq!(of(&vec![&[0.25, 0.5][..]; cases]), None);
        }
        // Equal except for rounding.
        assert_eq!(of(&[&[0.1, 0.2], &[0.3, 0.0], &[0.2, 0.1]]), None);
        assert_eq!(of(&[half]), None, "the attempts at one case show nothing of others");
    }

    #[test]
    fn attempts_at_few_cases_are_drawn_case_by_case() {
        let case: &[f64] = &[1.0, 0.0, 1.0, 1.0];
        let cases: [&[f64]; 5] = [case, &[0.0; 4], &[1.0; 4], case, &[0.0; 4]];
        let few = of(&cases.repeat(2)).unwrap();
        assert_eq!((few.method, few.cases), (IntervalMethod::ClusteredWilson, 10));
        // Forty attempts, counted as cases, would give a narrower interval than ten cases can.
        let as_cases = Rate::of(20, 40).unwrap();
        assert!(few.high - few.low > as_cases.high - as_cases.low);
        let graded: [&[f64]; 5] = [&[0.5, 0.25], &[0.0; 2], &[1.0; 2], &[0.75], &[0.125; 2]];
        assert_eq!(of(&graded.repeat(2)).unwrap().method, IntervalMethod::Bootstrap);
        assert_eq!(of(&graded).unwrap().method, IntervalMethod::ClusteredT);
    }

    #[test]
    fn the_first_attempt_that_fails_makes_hardly_anything_surer() {
        for cases in [2, 20, 40, 400] {
            let passed: &[f64] = &[1.0; 5];
            let mut all = vec![passed; cases];
            let low = |all: &[&[f64]]| of(all).unwrap().low;
            let before = low(&all);
            all[0] = &[0.0, 1.0, 1.0, 1.0, 1.0];
            assert!(low(&all) - before < 0.003, "{cases} cases");
        }
    }

    /// How often the interval of a rate contains it: cases have rates of 0.9 on average that differ so much that
    /// attempts correlate with 0.4 (a beta distribution, realized by Pólya's urn).
    #[test]
    fn the_interval_of_a_rate_holds_as_often_as_it_says() {
        let mut random = crate::stats::random::Random::new(7);
        let mut chance = || random.below(1 << 30) as f64 / f64::from(1_u32 << 30);
        let (rate, alike, rounds) = (0.9, 0.4_f64, 1000);
        for (cases, attempts) in [(12, 5), (40, 5), (100, 3)] {
            let mut held = 0;
            for _ in 0..rounds {
                let drawn: Vec<Vec<f64>> = (0..cases)
                    .map(|_| {
                        // An attempt repeats one of those before it, or is new: Pólya's urn.
                        let mut case: Vec<f64> = Vec::new();
                        while case.len() < attempts {
                            let old = case.len() as f64 * alike / (1.0 - alike);
                            let before = (chance() * (1.0 + old) < old)
                                .then(|| case[(chance() * case.len() as f64) as usize]);
                            let new = f64::from(u8::from(chance() < rate));
                            case.push(before.unwrap_or(new));
                        }
                        case
                    })
                    .collect();
                let drawn: Vec<&[f64]> = drawn.iter().map(Vec::as_slice).collect();
                held += u32::from(of(&drawn).is_some_and(|it| (it.low..=it.high).contains(&rate)));
            }
            // With resampled cases it would be 87 to 91 times of 100.
            assert!((940..=995).contains(&held), "{held} of {rounds} with {cases} cases");
        }
    }

    #[test]
    fn two_cases_leave_nearly_all_open() {
        let two = of(&[&[0.3], &[0.4]]).unwrap();
        assert_eq!(two.method, IntervalMethod::StudentT);
        assert_eq!((two.low, two.high > 0.98), (0.0, true));
    }

    #[test]
    fn ones_on_a_scale_without_an_end_are_no_rate() {
        let points = |scores: &[f64]| {
            let mean = scores.iter().sum::<f64>() / scores.len() as f64;
            ClusteredMean::of(scores, mean).interval(0.0..=f64::MAX)
        };
        assert_eq!(points(&[1.0; 40]), None);
        let mut mixed = [1.0; 40];
        mixed[0] = 0.0;
        assert_eq!(points(&mixed).unwrap().method, IntervalMethod::StudentT);
    }

    #[test]
    fn an_interval_ends_where_the_scale_does() {
        let mut cases: Vec<&[f64]> = vec![&[1.0]; 60];
        cases[0] = &[0.5];
        let near_the_end = of(&cases).unwrap();
        assert_eq!((near_the_end.method, near_the_end.high), (IntervalMethod::StudentT, 1.0));
    }

    #[test]
    fn the_greatest_scores_do_not_overflow() {
        let numbers: Vec<f64> = (0..60).map(|n| if n % 2 == 0 { f64::MAX } else { 0.0 }).collect();
        let mean = ClusteredMean::of(&numbers, f64::MAX / 2.0);
        assert!(mean.standard_error().unwrap().is_finite());
        assert!(mean.interval(0.0..=f64::MAX).is_some());
    }
}
