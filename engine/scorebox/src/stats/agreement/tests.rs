//! Tests agreement if scores or labels do not vary, or if there are very few. Reference values are in
//! `stats/reference`.

use super::*;
use crate::stats::{
    paired::{TestMethod, holm},
    random::{Random, SEED},
};

#[test]
fn what_is_one_sided_is_not_defined() {
    let constant = correlations(&[(0.5, 0.0), (0.5, 1.0), (0.5, 1.0)]);
    assert_eq!((constant.pearson, constant.spearman, constant.kendall), (None, None, None));
    assert_eq!(correlations(&[(0.5, 0.5), (0.5, 0.5)]), Correlations::default());
    assert_eq!(correlations(&[]), Correlations::default());
    assert_eq!(roc_auc(&[(0.1, true), (0.9, true)]), None);
    assert_eq!(best_threshold(&[(0.1, true), (0.9, true)], &[0, 1], 2), None);
    assert_eq!(Calibration::of(&[], false), None);
    assert_eq!(Calibration::of(&[(1.5, true)], false), None);
    assert_eq!(rank_trend(&[1.0, 2.0], &[0.0, 1.0]), None);
    assert_eq!(group_difference(&[]), None);
}

#[test]
fn kappa_and_alpha_of_one_category_are_not_defined() {
    let mut same = Categories::new(2);
    (0..5).for_each(|_| same.add(1, 1));
    for weights in [Weights::None, Weights::Linear, Weights::Quadratic] {
        assert_eq!(same.kappa(weights), None);
    }
    assert_eq!((same.alpha_nominal(), same.alpha_ordinal()), (None, None));
    assert_eq!(Categories::new(0).kappa(Weights::None), None);
}

#[test]
fn figures_of_what_never_passes_are_not_defined_and_never_nan() {
    let mut confusion = Confusion::default();
    confusion.add(false, true);
    assert_eq!((confusion.precision(), confusion.specificity()), (None, None));
    assert_eq!((confusion.f1(), confusion.balanced_accuracy()), (Some(0.0), None));
    assert_eq!(Confusion::default().f1(), None);
}

#[test]
fn pairs_in_full_agreement_have_1_and_in_full_disagreement_minus_1() {
    let up: Vec<(f64, f64)> = (0..10).map(|n| (f64::from(n), f64::from(n))).collect();
    let found = correlations(&up);
    let all = [found.pearson, found.spearman, found.kendall, found.alpha];
    assert!(all.into_iter().all(|it| (it.unwrap() - 1.0).abs() < 1e-15), "{found:?}");
    assert_eq!(found.pearson_interval, None);
    // Rounding alone keeps this r from 1, and its interval would have no width.
    let line: Vec<(f64, f64)> =
        (0..7).map(|n| (f64::from(n) * 0.1, f64::from(n) * 0.3 + 0.7)).collect();
    let found = correlations(&line);
    assert!(found.pearson.is_some_and(|r| r > 1.0 - 1e-14), "{found:?}");
    assert_eq!(found.pearson_interval, None);
    let down: Vec<(f64, f64)> = up.iter().map(|(a, b)| (*a, -*b)).collect();
    assert!((correlations(&down).kendall.unwrap() + 1.0).abs() < 1e-15);
    let (rho, p) = rank_trend(&[1.0, 2.0, 3.0, 4.0], &[1.0, 2.0, 3.0, 4.0]).unwrap();
    // Of 24 orders, this one and its reverse are equally far: t would be infinite.
    assert!(rho > 0.999_999 && (p - 2.0 / 24.0).abs() < 1e-15);
}

#[test]
fn the_greatest_and_the_least_numbers_do_not_overflow() {
    let great = [(0.0, 1.0), (f64::MAX, 2.0), (f64::MAX / 2.0, 3.0), (1e-300, 4.0)];
    let found = correlations(&great);
    assert!(found.pearson.unwrap().abs() <= 1.0 && found.spearman.is_some());
    let tiny = [(1e-310, 1.0), (2e-310, 2.0), (3e-310, 3.0)];
    assert!(correlations(&tiny).pearson.is_some_and(|r| r > 0.99));
}

#[test]
fn attempts_at_a_case_make_no_bin_surer_than_cases_do() {
    let cases = [(0.91, true), (0.95, true), (0.97, false), (0.12, false)];
    let attempts: Vec<(f64, bool)> = cases.iter().flat_map(|case| [*case; 10]).collect();
    let case_of: Vec<u64> = (0..40).map(|attempt| attempt / 10).collect();
    let once = Calibration::of(&cases, false).unwrap();
    let often = Calibration::of_attempts(&attempts, &case_of, false).unwrap();
    for (once, often) in once.bins.iter().zip(&often.bins) {
        assert_eq!((once.positives, once.cases * 10), (often.positives, often.cases));
    }
    assert!((once.brier - often.brier).abs() < 1e-12);
}

#[test]
fn a_score_on_an_edge_is_in_the_bin_above_and_1_in_the_last() {
    let edges: Vec<(f64, bool)> = (0..=10).map(|n| (f64::from(n) / 10.0, true)).collect();
    let counts: Vec<u64> =
        Calibration::of(&edges, false).unwrap().bins.iter().map(|bin| bin.cases).collect();
    assert_eq!(counts, [1, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
}

#[test]
fn scores_of_which_lower_is_better_stay_as_they_are() {
    let higher = [(0.9, true), (0.7, true), (0.7, false), (0.35, true), (0.05, false)];
    let lower = higher.map(|(score, yes)| (score, !yes));
    let (higher, lower) =
        (Calibration::of(&higher, false).unwrap(), Calibration::of(&lower, true).unwrap());
    assert_eq!((lower.brier, lower.expected_error), (higher.brier, higher.expected_error));
    for (higher, lower) in higher.bins.iter().zip(&lower.bins) {
        assert_eq!((lower.cases, lower.mean_score), (higher.cases, higher.mean_score));
        let negatives = lower.positives.map(|it| 1.0 - it.rate);
        assert_eq!(negatives, higher.positives.map(|it| it.rate));
    }
}

/// The part of sets of cases with a finding after Holm's correction, among groups of `size` cases whose errors do not
/// depend on the group.
fn false_alarms(groups: usize, size: usize, error: impl Fn(&mut Random) -> f64) -> f64 {
    const SETS: u32 = 300;
    let mut random = Random::new(SEED);
    let mut alarms = 0_u32;
    for _ in 0..SETS {
        let errors: Vec<f64> = (0..groups * size).map(|_| error(&mut random)).collect();
        let p_of = |group: usize| {
            let of = |(place, error): (usize, &f64)| match place / size == group {
                true => CaseErrors { group: Some(*error), others: None, size: 1.0 },
                false => CaseErrors { group: None, others: Some(*error), size: 1.0 },
            };
            let cases: Vec<CaseErrors> = errors.iter().enumerate().map(of).collect();
            group_difference(&cases).map(|found| found.p)
        };
        let p_values: Vec<Option<f64>> = (0..groups).map(p_of).collect();
        alarms += u32::from(holm(&p_values).into_iter().flatten().any(|p| p < 0.05));
    }
    f64::from(alarms) / f64::from(SETS)
}

/// 5 % are allowed, and chance adds three standard deviations at most, up to 8.8 %.
#[test]
fn chance_is_taken_for_bias_as_rarely_as_is_said() {
    let rate = |random: &mut Random| match random.below(20) {
        0 | 1 => 1.0,
        2 => -1.0,
        _ => 0.0,
    };
    let score = |random: &mut Random| random.below(1_000) as f64 / 1_000.0;
    for (groups, size) in [(10, 2), (4, 4)] {
        let found = [false_alarms(groups, size, rate), false_alarms(groups, size, score)];
        assert!(found.iter().all(|alarms| *alarms < 0.088), "{groups} of {size}: {found:?}");
    }
}

/// Cases with similar errors in two judgements, of which the second is always a little higher.
#[test]
fn a_small_difference_within_cases_is_found_although_cases_differ_much() {
    let case = |place: usize| {
        let error = ((place * 7) % 10) as f64 / 10.0;
        let (group, others) = (Some(error + 0.1), Some(error));
        CaseErrors { group, others, size: 1.0 }
    };
    let found = group_difference(&(0..40).map(case).collect::<Vec<_>>()).unwrap();
    assert_eq!((found.low, found.high, found.method), (None, None, TestMethod::Exact));
    // 2 of 2^40 ways.
    assert!((found.p * 2.0_f64.powi(39) - 1.0).abs() < 1e-9, "{found:?}");
}

#[test]
fn an_interval_leaves_out_0_exactly_if_the_test_finds_a_difference() {
    let mut random = Random::new(SEED);
    for size in [2, 3, 4, 6, 12, 40, 600].into_iter().cycle().take(70) {
        let mut errors = |shift: f64| {
            let of =
                |_| random.below(1_000_000) as f64 / 1_000_000.0 + shift / (size as f64).sqrt();
            (0..size).map(of).collect::<Vec<f64>>()
        };
        let (group, others) = (errors(0.8), errors(0.0));
        let cases = group.iter().map(|it| (Some(*it), None));
        let cases = cases.chain(others.iter().map(|it| (None, Some(*it))));
        let cases: Vec<CaseErrors> =
            cases.map(|(group, others)| CaseErrors { group, others, size: 1.0 }).collect();
        let found = group_difference(&cases).unwrap();
        let leaves_out = found.low.zip(found.high).map(|(low, high)| low > 0.0 || high < 0.0);
        assert!(leaves_out.is_none_or(|out| out == (found.p < 0.05)), "{size}: {found:?}");
        assert!(leaves_out.is_some() || size < 4, "{size}: {found:?}");
    }
}
