//! Compares differences of groups and trends with SciPy's permutation tests and Welch's test.

use serde::Deserialize;

use super::{close, figures, within};
use crate::stats::{
    agreement::{CaseErrors, group_difference, rank_trend, welch_test},
    paired::TestMethod,
};

#[derive(Deserialize)]
struct Bias {
    group: Vec<f64>,
    others: Vec<f64>,
    p: f64,
    low: f64,
    high: f64,
}

#[test]
fn differences_of_groups_are_those_of_scipy() {
    for expected in figures::<Vec<Bias>>("biases") {
        let (p, low, high) = welch_test(expected.group, expected.others);
        close(p, expected.p);
        close(low, expected.low);
        close(high, expected.high);
    }
}

/// Cases on both sides, and cases on one side.
fn cases(pairs: &[f64], group: &[f64], others: &[f64]) -> Vec<CaseErrors> {
    let case = |group, others| CaseErrors { group, others, size: 1.0 };
    let pairs = pairs.iter().map(|it| case(Some(it + 0.5), Some(0.5)));
    let single = group.iter().map(|it| case(Some(*it), None));
    pairs.chain(single).chain(others.iter().map(|it| case(None, Some(*it)))).collect()
}

/// Four standard deviations of the part of 9999 draws.
fn chance(p: f64) -> f64 {
    4.0 * (p * (1.0 - p) / 9999.0).sqrt() + 1e-4
}

#[derive(Deserialize)]
struct Regrouped {
    group: Vec<f64>,
    others: Vec<f64>,
    p: f64,
    interval: Option<(f64, f64)>,
    exact: bool,
}

#[test]
fn groups_put_together_at_random_are_those_of_scipy() {
    for expected in figures::<Vec<Regrouped>>("regrouped") {
        let found = group_difference(&cases(&[], &expected.group, &expected.others)).unwrap();
        let (low, high) = expected.interval.unzip();
        assert_eq!(found.low.is_some(), low.is_some(), "{found:?}");
        let ends = [(found.low, low), (found.high, high)];
        let ends = ends.into_iter().filter_map(|(found, expected)| found.zip(expected));
        if expected.exact {
            assert_eq!(found.method, TestMethod::Exact);
            close(found.p, expected.p);
            // The reference t is rounded to nine digits.
            ends.for_each(|(found, expected)| within(found, expected, 1e-8));
        } else {
            assert_eq!(found.method, TestMethod::Seeded);
            within(found.p, expected.p, chance(expected.p));
            let half = found.high.unwrap() - found.difference;
            ends.for_each(|(found, expected)| within(found, expected, 0.03 * half));
        }
    }
}

#[derive(Deserialize)]
struct Paired {
    pairs: Vec<f64>,
    group: Vec<f64>,
    others: Vec<f64>,
    difference: f64,
    p: f64,
    interval: (f64, f64),
}

#[test]
fn cases_on_both_sides_are_compared_with_themselves() {
    for expected in figures::<Vec<Paired>>("regroupedPairs") {
        let Paired { pairs, group, others, difference, p, interval } = expected;
        let found = group_difference(&cases(&pairs, &group, &others)).unwrap();
        assert_eq!(found.method, TestMethod::Exact);
        close(found.difference, difference);
        close(found.p, p);
        within(found.low.unwrap(), interval.0, 1e-8);
        within(found.high.unwrap(), interval.1, 1e-8);
    }
}

#[derive(Deserialize)]
struct Trend {
    numbers: Vec<f64>,
    errors: Vec<f64>,
    rho: f64,
    p: f64,
    exact: bool,
}

#[test]
fn trends_are_those_of_scipy() {
    for Trend { numbers, errors, rho, p, exact } in figures::<Vec<Trend>>("rankTrends") {
        let (found_rho, found_p) = rank_trend(&numbers, &errors).unwrap();
        close(found_rho, rho);
        if exact {
            close(found_p, p);
        } else {
            within(found_p, p, chance(p));
        }
    }
}
