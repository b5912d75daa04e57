//! Tests paired numbers at the ends of the range of `f64`, and which results depend on the order. Reference values are
//! in `stats/reference`.

use super::*;
use crate::stats::IntervalMethod;

fn differences(pairs: impl IntoIterator<Item = (f64, f64)>) -> Differences {
    let mut differences = Differences::default();
    pairs.into_iter().for_each(|(first, second)| differences.add(first, second));
    differences
}

#[test]
fn without_pairs_nothing_is_known() {
    let none = differences([]);
    assert_eq!((none.pairs(), none.mean(), none.test(), none.effect()), (0, None, None, None));
    assert_eq!((none.interval(-1.0..=1.0), none.ones()), (None, None));
    assert_eq!(permutation_test(&[]), None);
}

/// Differences of any size with this standard deviation.
fn any(stddev: f64) -> Spread {
    Spread::Graded { stddev, step: 0.0 }
}

#[test]
fn equal_pairs_show_no_difference_and_no_interval() {
    let same = differences([(0.3, 0.3); 50]);
    assert_eq!(same.mean(), Some(0.0));
    assert_eq!(same.test().unwrap().p, 1.0);
    assert_eq!((same.interval(-1.0..=1.0), same.effect()), (None, None));
    assert_eq!(cases_needed(any(0.0), 0.1, 1), None);
    assert_eq!(smallest_difference(any(0.4), 1, 1), None);
}

#[test]
fn scores_of_0_and_1_are_tested_exactly_however_many_they_are() {
    let pairs = (0..50_000).map(|n| if n < 30 { (0.0, 1.0) } else { (1.0, 1.0) });
    let test = differences(pairs).test().unwrap();
    assert_eq!(test.method, TestMethod::Exact);
    // Thirty coins that all show the same side.
    assert!((test.p - 2.0_f64.powi(-29)).abs() < 1e-20);
}

#[test]
fn few_differences_have_a_drawn_interval_and_many_students_within_the_scale() {
    let pair = |n: u32| (f64::from(n % 7) / 7.0, 1.0);
    let few = differences((0..29).map(pair)).interval(-1.0..=1.0).unwrap();
    assert_eq!((few.method, few.cases), (IntervalMethod::Bootstrap, 29));
    let many = differences((0..30).map(pair)).interval(-1.0..=0.6).unwrap();
    assert_eq!((many.method, many.high), (IntervalMethod::StudentT, 0.6));
}

#[test]
fn more_differences_than_are_held_are_tested_by_their_mean_and_deviation() {
    let pair = |n: u32| (0.5, f64::from(n % 100) / 99.0);
    let many = differences((0..MAX_PERMUTED as u32 + 1).map(pair));
    assert_eq!(many.test().unwrap().method, TestMethod::StudentT);
    let held = differences((0..2000).map(pair)).test().unwrap();
    assert_eq!(held.method, TestMethod::Seeded);
    assert!((many.test().unwrap().p - 1.0).abs() < 0.1 && held.p > 0.9);
}

#[test]
fn the_greatest_numbers_do_not_overflow() {
    let pairs = (0..40).map(|n| if n % 2 == 0 { (0.0, f64::MAX) } else { (f64::MAX / 2.0, 0.0) });
    let great = differences(pairs);
    assert!(great.mean().unwrap().is_finite() && great.stddev().unwrap().is_finite());
    assert!((0.0..=1.0).contains(&great.test().unwrap().p));
    assert!(great.interval(f64::MIN..=f64::MAX).is_some());
}

#[test]
fn the_same_differences_have_the_same_figures_to_the_bit() {
    let pair = |n: u32| (f64::from(n * 7919 % 100) / 99.0, f64::from(n * 104_729 % 100) / 99.0);
    let [one, other] = [(); 2].map(|()| differences((0..300).map(pair)));
    assert_eq!((one.test(), one.interval(-1.0..=1.0)), (other.test(), other.interval(-1.0..=1.0)));
}

#[test]
fn several_tests_share_the_error_that_is_allowed_and_take_more_cases() {
    // (2.4977 + 0.8416)² (0.5/0.1)² + 2.4977²/2, with z for 0.05/8.
    assert_eq!(cases_needed(any(0.5), 0.1, 4), Some(282));
    assert_eq!(cases_needed(any(0.5), 0.1, 1), Some(199));
    let smallest = smallest_difference(any(0.5), 282, 4).unwrap();
    assert!((0.0999..=0.1).contains(&smallest), "{smallest}");
}

#[test]
fn no_difference_is_shown_by_fewer_cases_than_a_permutation_test_takes() {
    // 2^-5 is below 0.05, and 2^-7 below 0.05/4.
    assert_eq!(
        (cases_needed(any(0.01), 0.5, 1), cases_needed(any(0.01), 0.5, 4)),
        (Some(6), Some(8))
    );
    assert_eq!(smallest_difference(any(0.01), 5, 1), None);
    assert!(smallest_difference(any(0.01), 6, 1).is_some());
}

/// Expected: the least n with `scipy.stats.binom.sf(5, n, d) >= 0.8`, and `scipy.stats.beta.ppf(0.8, 6, n - 5)`; with
/// more tests, 8 changes. Changes that may also be larger vary as those of one step at least: (2.4977 + 0.8416)² (1/0.05
/// - 1) + 2.4977²/2.
#[test]
fn a_difference_of_scores_of_0_and_1_takes_the_cases_that_change() {
    // One of a thousand cases has changed.
    let graded = Spread::Graded { stddev: 0.031_622_776, step: 1.0 };
    let equal = Spread::Equal { step: 1.0, variance: 0.001 - 1e-6 };
    for (seldom, of_four) in [(graded, 215), (equal, 204)] {
        let needed = |difference, tests| cases_needed(seldom, difference, tests).unwrap();
        assert_eq!([needed(0.05, 1), needed(0.02, 1), needed(0.05, 4)], [157, 394, of_four]);
        let smallest = smallest_difference(seldom, 1000, 1).unwrap();
        assert!((smallest - 0.007_894_505_774_991_603).abs() < 1e-9, "{smallest}");
    }
    // Many changes in both directions vary more than they need to.
    let often = Spread::Graded { stddev: 0.589, step: 1.0 };
    assert_eq!(cases_needed(often, 0.1, 1), cases_needed(any(0.589), 0.1, 1));
    assert_eq!(smallest_difference(often, 100, 1), smallest_difference(any(0.589), 100, 1));
    // Of steps of a fifth, five times as many cases change.
    let fifths = Spread::Graded { stddev: 0.031_622_776, step: 0.2 };
    assert_eq!(cases_needed(fifths, 0.01, 1), cases_needed(graded, 0.05, 1));
    assert_eq!(cases_needed(fifths, 0.2, 1), Some(6));
}

/// Of six cases all signs must agree: `scipy.stats.norm.ppf(0.8 ** (1 / 6))` is 1.7927; the mean alone asks for 1.387.
#[test]
fn a_difference_of_few_graded_scores_takes_as_many_signs_as_the_test_does() {
    let smallest = smallest_difference(any(1.0), 6, 1).unwrap();
    assert!((smallest - 1.792_736_720_580_4).abs() < 1e-9, "{smallest}");
    assert_eq!(cases_needed(any(1.0), 1.8, 1), Some(6));
    assert!(cases_needed(any(1.0), 1.7, 1) > Some(6));
}

#[test]
fn cases_that_change_by_one_step_show_no_difference_beyond_it() {
    let varied = Spread::Equal { step: 0.5, variance: 0.9 };
    let smallest = |cases| smallest_difference(varied, cases, 1).unwrap();
    assert!((0.45..=0.5).contains(&smallest(6)), "{}", smallest(6));
    assert_eq!([cases_needed(varied, 0.6, 1), cases_needed(varied, 0.0, 1)], [None, None]);
    // All changed alike, or none changed.
    let alike = Spread::Equal { step: 0.5, variance: 0.0 };
    assert_eq!((cases_needed(alike, 0.1, 1), smallest_difference(alike, 50, 1)), (None, None));
}

/// Where the power is no longer counted, the formula for a mean takes over.
#[test]
fn very_many_cases_of_one_step_show_what_the_mean_shows() {
    let spread = Spread::Equal { step: 1.0, variance: 0.3 };
    let mean = Spread::Graded { stddev: 0.3_f64.sqrt(), step: 0.0 };
    for (difference, allowed) in [(0.02, 0.02), (0.005, 0.005), (0.001, 0.0)] {
        let [counted, formula] =
            [spread, mean].map(|it| cases_needed(it, difference, 1).unwrap() as f64);
        assert!(
            counted >= formula * 0.995 && counted <= formula * (1.0 + allowed),
            "{counted}, {formula}"
        );
    }
    for cases in [99_999, 100_001] {
        let [counted, formula] =
            [spread, mean].map(|it| smallest_difference(it, cases, 1).unwrap());
        assert!((counted / formula - 1.0).abs() < 0.005, "{counted}, {formula}");
    }
}

#[test]
fn what_so_many_cases_show_is_what_takes_so_many() {
    for spread in [
        any(0.3),
        Spread::Graded { stddev: 0.05, step: 1.0 },
        Spread::Graded { stddev: 0.2, step: 0.25 },
    ] {
        for cases in [8, 30, 157, 1000, 100_000] {
            let smallest = smallest_difference(spread, cases, 1).unwrap();
            let takes = |difference| cases_needed(spread, difference, 1).unwrap();
            let (just, less) = (takes(smallest * (1.0 + 1e-9)), takes(smallest * 0.99));
            assert!(just <= cases.max(6) && less >= cases, "{spread:?}: {just}, {cases}, {less}");
        }
    }
}

#[test]
fn differences_say_by_how_much_a_case_changes_at_least() {
    let spread = |pairs: &[(f64, f64)]| differences(pairs.iter().copied()).spread().unwrap();
    let mixed = spread(&[(0.0, 0.5), (1.0, 0.0), (0.3, 0.1 + 0.2), (1.0, 1.0)]);
    assert!(matches!(mixed, Spread::Graded { step: 0.5, .. }), "{mixed:?}");
    // Half of the cases changed, one more up than down.
    let equal = spread(&[(0.0, 0.5), (0.5, 1.0), (1.0, 0.5), (1.0, 1.0), (0.3, 0.3), (0.0, 0.0)]);
    let variance = 0.5 - 1.0 / 36.0;
    assert!(
        matches!(equal, Spread::Equal { step: 0.5, variance: it } if (it - variance).abs() < 1e-15),
        "{equal:?}"
    );
    assert_eq!(spread(&[(0.3, 0.3); 2]), any(0.0));
    assert_eq!(differences([(0.0, 1.0)]).spread(), None);
}

#[test]
fn rounding_makes_neither_a_difference_nor_equal_distances_unequal() {
    let mut differences = Differences::default();
    for number in [0.1, 0.2, 0.3, 0.4] {
        differences.add(number, number + 0.1);
    }
    assert_eq!(differences.test().unwrap().method, TestMethod::Exact);
    assert_eq!((differences.stddev(), differences.effect()), (Some(0.0), None));
    assert_eq!(differences.interval(-1.0..=1.0), None);
    // Whole numbers have none, and are compared with what has some.
    let ones = |pairs: [(f64, f64); 2]| {
        let mut differences = Differences::default();
        pairs.iter().for_each(|(first, second)| differences.add(*first, *second));
        differences.test().unwrap().method
    };
    let rounded = (0.3, 0.1 + 0.2 + 1.0);
    assert_eq!(ones([(0.0, 1.0), rounded]), ones([rounded, (0.0, 1.0)]));
    let mut none = Differences::default();
    none.add(0.3, 0.1 + 0.2);
    assert_eq!((none.up(), none.down()), (0, 0));
}
