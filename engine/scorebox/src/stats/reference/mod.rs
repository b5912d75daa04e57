//! Compares the room's figures with those of SciPy, statsmodels, scikit-learn and krippendorff, which `figures.py`
//! computed once; `bias.rs` compares those of groups and trends.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

mod bias;

use super::{
    ClusteredMean, ENOUGH_TO_DRAW, IntervalMethod, Mean, Rate,
    agreement::{
        Calibration, Categories, Confusion, Weights, best_threshold, correlations, rank_trend,
        roc_auc, student_trend,
    },
    bootstrap::{bootstrap, bootstrapped_intervals},
    distributions::{coin_beyond, normal_below, normal_quantile, student_beyond, student_quantile},
    paired::{
        Passes, SignPower, Spread, TestMethod, WinsAndLosses, cases_needed, fewest_cases, holm,
        permutation_test, smallest_difference,
    },
};

/// The figures under a key.
fn figures<T: DeserializeOwned>(key: &str) -> T {
    let mut all: Value = serde_json::from_str(include_str!("figures.json")).unwrap();
    serde_json::from_value(all[key].take()).unwrap()
}

/// Asserts that both are equal except for rounding.
#[track_caller]
fn close(found: f64, expected: f64) {
    within(found, expected, 1e-10 * expected.abs().max(1e-3));
}

#[track_caller]
fn within(found: f64, expected: f64, allowed: f64) {
    assert!((found - expected).abs() <= allowed, "{found} is not {expected}");
}

fn mean_of(numbers: &[f64]) -> Mean {
    let mut mean = Mean::default();
    numbers.iter().for_each(|number| mean.add(*number));
    mean
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Quantiles {
    normal: Vec<[f64; 2]>,
    normal_below: Vec<[f64; 2]>,
    student: Vec<[f64; 3]>,
    student_beyond: Vec<[f64; 3]>,
    coin: Vec<(u64, u64, f64)>,
}

#[test]
fn quantiles_and_probabilities_are_those_of_scipy() {
    let quantiles: Quantiles = figures("quantiles");
    for [probability, value] in quantiles.normal {
        close(normal_quantile(probability), value);
    }
    for [value, probability] in quantiles.normal_below {
        close(normal_below(value), probability);
    }
    for [probability, freedom, value] in quantiles.student {
        close(student_quantile(probability, freedom), value);
    }
    for [value, freedom, probability] in quantiles.student_beyond {
        // With a million degrees of freedom, statrs has two digits less.
        within(student_beyond(value, freedom), probability, 1e-8 * probability);
    }
    for (heads, trials, probability) in quantiles.coin {
        close(coin_beyond(heads, trials), probability);
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MeanInterval {
    cases: Vec<Vec<f64>>,
    low: f64,
    high: f64,
    standard_error: Option<f64>,
    method: String,
}

#[test]
fn intervals_of_means_are_those_of_scipy_and_statsmodels() {
    for expected in figures::<Vec<MeanInterval>>("meanIntervals") {
        let scores: Vec<f64> = expected.cases.iter().flatten().copied().collect();
        let mut mean = ClusteredMean::around(mean_of(&scores).get().unwrap());
        for case in &expected.cases {
            case.iter().for_each(|score| mean.add(*score));
            mean.end_case();
        }
        let scale = match expected.method.as_str() {
            "wilson" => 0.0..=1.0,
            _ => f64::MIN..=f64::MAX,
        };
        let interval = mean.interval(scale).unwrap();
        assert_eq!(interval.method.as_str(), expected.method);
        assert_eq!(interval.cases, expected.cases.len() as u64);
        close(interval.low, expected.low);
        close(interval.high, expected.high);
        if let Some(error) = expected.standard_error {
            close(mean.standard_error().unwrap(), error);
        }
    }
}

#[derive(Deserialize)]
struct Bootstrap {
    scores: Vec<f64>,
    low: f64,
    high: f64,
    error: f64,
}

/// SciPy drew a million times, so the remaining difference is the chance of our ten thousand draws.
#[test]
fn drawn_intervals_are_those_of_scipy_but_for_chance() {
    for expected in figures::<Vec<Bootstrap>>("bootstraps") {
        let units: Vec<(f64, u64)> = expected.scores.iter().map(|score| (*score, 1)).collect();
        let (low, high) = bootstrap(&units).unwrap();
        within(low, expected.low, 0.1 * expected.error);
        within(high, expected.high, 0.1 * expected.error);
        let interval = ClusteredMean::of(&expected.scores, 0.5).interval(0.0..=1.0).unwrap();
        if expected.scores.len() as u64 >= ENOUGH_TO_DRAW {
            assert_eq!((interval.low, interval.high), (low, high));
            assert_eq!(interval.method, IntervalMethod::Bootstrap);
        } else {
            assert!(interval.low < low && interval.high > high);
            assert_eq!(interval.method, IntervalMethod::StudentT);
        }
    }
}

#[derive(Deserialize)]
struct Permutation {
    differences: Vec<f64>,
    p: f64,
    exact: bool,
}

#[test]
fn permutation_tests_are_those_of_scipy() {
    for expected in figures::<Vec<Permutation>>("permutations") {
        let test = permutation_test(&expected.differences).unwrap();
        if expected.exact {
            assert_eq!(test.method, TestMethod::Exact);
            close(test.p, expected.p);
        } else {
            assert_eq!(test.method, TestMethod::Seeded);
            // Four standard deviations of the part of 9999 draws.
            let allowed = 4.0 * (expected.p * (1.0 - expected.p) / 9999.0).sqrt();
            within(test.p, expected.p, allowed + 1e-4);
        }
    }
}

#[derive(Deserialize)]
struct StudentTest {
    differences: Vec<f64>,
    p: f64,
    stddev: f64,
    effect: f64,
}

#[test]
fn the_paired_t_test_and_the_effect_are_those_of_scipy() {
    let expected: StudentTest = figures("studentTest");
    let mean = mean_of(&expected.differences);
    close(super::paired::student_test(&mean).unwrap(), expected.p);
    close(mean.sample_stddev().unwrap(), expected.stddev);
    close(mean.get().unwrap() / mean.sample_stddev().unwrap(), expected.effect);
}

#[derive(Deserialize)]
struct Counted {
    table: [[u64; 2]; 2],
    p: f64,
}

#[test]
fn mcnemars_test_and_the_sign_test_are_those_of_statsmodels() {
    for Counted { table: [[both, only_first], [only_second, neither]], p } in
        figures::<Vec<Counted>>("counted")
    {
        close(Passes { both, only_first, only_second, neither }.mcnemar(), p);
        let (wins, losses) = (only_second, only_first);
        close(WinsAndLosses { wins, losses, ties: both + neither }.sign_test(), p);
    }
}

#[derive(Deserialize)]
struct Corrected {
    p: Vec<f64>,
    corrected: Vec<f64>,
}

#[test]
fn corrected_p_values_are_those_of_statsmodels() {
    for Corrected { p, corrected } in figures::<Vec<Corrected>>("corrected") {
        // Missing p values do not count.
        let some: Vec<Option<f64>> = p.iter().copied().map(Some).chain([None]).collect();
        let found = holm(&some);
        assert_eq!(found.last(), Some(&None));
        found.iter().flatten().zip(corrected).for_each(|(found, expected)| close(*found, expected));
    }
}

#[derive(Deserialize)]
struct Size {
    stddev: f64,
    cases: f64,
    difference: Option<f64>,
    smallest: Option<f64>,
}

/// statsmodels uses the noncentral t distribution. Guenther's formula differs from it by at most one case, which is a
/// hundredth of the difference that ten cases show.
#[test]
fn numbers_of_cases_are_those_of_statsmodels_to_within_one() {
    for Size { stddev, cases, difference, smallest } in figures::<Vec<Size>>("sizes") {
        if let Some(difference) = difference {
            let spread = Spread::Graded { stddev, step: 0.0 };
            let found = cases_needed(spread, difference, 1).unwrap();
            within(found as f64, cases.ceil(), 1.0);
            assert_eq!(cases_needed(spread, -difference, 1), Some(found));
        }
        if let Some(smallest) = smallest {
            let spread = Spread::Graded { stddev, step: 0.0 };
            let found = smallest_difference(spread, cases as u64, 1).unwrap();
            within(found, smallest, 0.011 * smallest);
        }
    }
}

#[derive(Deserialize)]
struct SignPowers {
    powers: Vec<PowerOfSigns>,
    needed: Vec<PowerOfSigns>,
}

#[derive(Deserialize)]
struct PowerOfSigns {
    share: f64,
    difference: f64,
    tests: u64,
    cases: u64,
    power: Option<f64>,
}

#[test]
fn the_power_of_the_sign_test_is_that_of_scipys() {
    let SignPowers { powers, needed } = figures("signPowers");
    for PowerOfSigns { share, difference, tests, cases, power } in powers {
        let error = 0.05 / tests as f64;
        let mut found = SignPower::new(share, difference, error, fewest_cases(tests));
        within(found.of(cases), power.unwrap(), 1e-9);
    }
    for PowerOfSigns { share, difference, tests, cases, .. } in needed {
        // In steps of a fifth, of which so many cases take one.
        let spread = Spread::Equal { step: 0.2, variance: share - difference * difference };
        assert_eq!(cases_needed(spread, 0.2 * difference, tests), Some(cases), "{share}");
        let smallest = smallest_difference(spread, cases, tests).unwrap();
        assert!(smallest <= 0.2 * difference * (1.0 + 1e-9), "{smallest}");
        let fewer = smallest_difference(spread, cases - 1, tests);
        assert!(fewer.is_none_or(|fewer| fewer > 0.2 * difference), "{fewer:?}");
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AgainstLabels {
    scores: Vec<f64>,
    labels: Vec<u8>,
    confusion: [u64; 4],
    accuracy: f64,
    precision: f64,
    recall: f64,
    f1: f64,
    balanced_accuracy: f64,
    kappa: f64,
    alpha_nominal: f64,
    auc: f64,
    brier: f64,
    bins: Vec<[f64; 2]>,
    folds: Vec<usize>,
    threshold: f64,
    thresholds_of_folds: Vec<f64>,
    held_out: [u64; 4],
}

fn counts(confusion: Confusion) -> [u64; 4] {
    let Confusion { true_positives, false_positives, false_negatives, true_negatives } = confusion;
    [true_positives, false_positives, false_negatives, true_negatives]
}

#[test]
fn agreement_with_labels_is_that_of_scikit_learn() {
    for expected in figures::<Vec<AgainstLabels>>("againstLabels") {
        let cases: Vec<(f64, bool)> = expected
            .scores
            .iter()
            .zip(&expected.labels)
            .map(|(score, yes)| (*score, *yes == 1))
            .collect();
        let (mut confusion, mut categories) = (Confusion::default(), Categories::new(2));
        for (score, yes) in &cases {
            confusion.add(*score >= 0.5, *yes);
            categories.add(usize::from(*score >= 0.5), usize::from(*yes));
        }
        assert_eq!(counts(confusion), expected.confusion);
        let rate = |rate: Option<Rate>| rate.unwrap().rate;
        close(rate(confusion.accuracy()), expected.accuracy);
        close(rate(confusion.precision()), expected.precision);
        close(rate(confusion.recall()), expected.recall);
        close(confusion.f1().unwrap(), expected.f1);
        close(confusion.balanced_accuracy().unwrap(), expected.balanced_accuracy);
        close(categories.kappa(Weights::None).unwrap(), expected.kappa);
        close(categories.alpha_nominal().unwrap(), expected.alpha_nominal);
        close(roc_auc(&cases).unwrap(), expected.auc);
        let calibration = Calibration::of(&cases, false).unwrap();
        close(calibration.brier, expected.brier);
        let bins = calibration.bins.iter().filter(|bin| bin.cases > 0);
        let bins: Vec<_> =
            bins.map(|bin| (bin.mean_score.unwrap(), bin.positives.unwrap().rate)).collect();
        assert_eq!(bins.len(), expected.bins.len());
        for ((mean, rate), [expected_mean, expected_rate]) in bins.into_iter().zip(expected.bins) {
            close(mean, expected_mean);
            close(rate, expected_rate);
        }
        let best = best_threshold(&cases, &expected.folds, 5).unwrap();
        assert_eq!(best.threshold, expected.threshold);
        assert_eq!(best.of_folds, expected.thresholds_of_folds);
        // scikit-learn's rows are the true values, positive first.
        let [true_positives, false_negatives, false_positives, true_negatives] = expected.held_out;
        assert_eq!(
            counts(best.held_out),
            [true_positives, false_positives, false_negatives, true_negatives]
        );
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ratings {
    pairs: Vec<(usize, usize)>,
    categories: usize,
    kappa: f64,
    kappa_linear: f64,
    kappa_quadratic: f64,
    alpha_nominal: f64,
    alpha_ordinal: f64,
}

#[test]
fn agreement_of_ratings_is_that_of_scikit_learn_and_krippendorff() {
    for expected in figures::<Vec<Ratings>>("ratings") {
        let mut categories = Categories::new(expected.categories);
        expected.pairs.iter().for_each(|(first, second)| categories.add(*first, *second));
        close(categories.kappa(Weights::None).unwrap(), expected.kappa);
        close(categories.kappa(Weights::Linear).unwrap(), expected.kappa_linear);
        close(categories.kappa(Weights::Quadratic).unwrap(), expected.kappa_quadratic);
        close(categories.alpha_nominal().unwrap(), expected.alpha_nominal);
        close(categories.alpha_ordinal().unwrap(), expected.alpha_ordinal);
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Correlated {
    pairs: Vec<(f64, f64)>,
    pearson: f64,
    pearson_interval: (f64, f64),
    spearman: f64,
    spearman_p: f64,
    kendall: f64,
    alpha: f64,
}

#[test]
fn correlations_are_those_of_scipy_and_krippendorff() {
    for expected in figures::<Vec<Correlated>>("correlations") {
        let found = correlations(&expected.pairs);
        close(found.pearson.unwrap(), expected.pearson);
        let (low, high) = found.pearson_interval.unwrap();
        close(low, expected.pearson_interval.0);
        close(high, expected.pearson_interval.1);
        close(found.spearman.unwrap(), expected.spearman);
        close(found.kendall.unwrap(), expected.kendall);
        close(found.alpha.unwrap(), expected.alpha);
        let (first, second): (Vec<f64>, Vec<f64>) = expected.pairs.into_iter().unzip();
        let (rho, p) = rank_trend(&first, &second).unwrap();
        close(rho, expected.spearman);
        close(student_trend(rho, first.len()), expected.spearman_p);
        if first.len() > 30 {
            close(p, expected.spearman_p);
        }
    }
}

#[derive(Deserialize)]
struct Drawn {
    scores: Vec<f64>,
    labels: Vec<u8>,
    kappa: [f64; 3],
    auc: [f64; 3],
    spearman: [f64; 3],
    kendall: [f64; 3],
}

/// SciPy drew twenty thousand times, so the remaining difference is the chance of our two thousand, a quarter of a
/// standard error.
#[test]
fn drawn_intervals_of_agreement_are_those_of_scipy_but_for_chance() {
    for Drawn { scores, labels, kappa, auc, spearman, kendall } in figures::<Vec<Drawn>>("drawn") {
        let pairs: Vec<(f64, f64)> =
            scores.into_iter().zip(labels.into_iter().map(f64::from)).collect();
        let unit_of: Vec<u64> = (0..pairs.len() as u64).collect();
        let found = bootstrapped_intervals(&unit_of, |indices| {
            let drawn: Vec<(f64, f64)> = indices.iter().map(|index| pairs[*index]).collect();
            let mut categories = Categories::new(2);
            drawn.iter().for_each(|(score, label)| {
                categories.add(usize::from(*score >= 0.5), usize::from(*label > 0.5));
            });
            let yes: Vec<(f64, bool)> =
                drawn.iter().map(|(score, label)| (*score, *label > 0.5)).collect();
            let together = correlations(&drawn);
            [categories.kappa(Weights::None), roc_auc(&yes), together.spearman, together.kendall]
        });
        for (found, [low, high, error]) in found.into_iter().zip([kappa, auc, spearman, kendall]) {
            let (found_low, found_high) = found.unwrap();
            within(found_low, low, 0.25 * error);
            within(found_high, high, 0.25 * error);
        }
    }
}
