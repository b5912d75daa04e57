//! Whether the error of scores depends on the group of the cases. It knows no names of cases or groups.

#![expect(clippy::exhaustive_structs, reason = "a formula has these numbers and no others")]

use serde::Serialize;

use super::regrouped::{Standing, Strata, regrouped};
use crate::stats::{
    distributions::{CONFIDENCE, student_beyond, student_quantile},
    paired::TestMethod,
    rounding::{difference_of_size, without_rounding},
};

/// The error of a case in a group and outside it; its attempts may be on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CaseErrors {
    /// The mean error of its attempts in the group.
    pub group: Option<f64>,
    /// The mean error of its other attempts.
    pub others: Option<f64>,
    /// The size of the numbers whose differences are the errors: it decides which differences may be rounding.
    pub size: f64,
}

/// How much higher the errors of a group are than all other errors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GroupDifference {
    /// The mean error of the group less that of the others.
    pub difference: f64,
    /// The lower end of its 95 % interval; `None`, like the upper one, if the errors of a side do not vary or are too
    /// few.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The two-sided p value.
    pub p: f64,
    /// How it was computed.
    pub method: TestMethod,
}

impl GroupDifference {
    /// How much higher the other errors are.
    #[must_use]
    pub fn mirrored(self) -> GroupDifference {
        let negative = |number: f64| 0.0 - number;
        let (low, high) = (self.high.map(negative), self.low.map(negative));
        GroupDifference { difference: negative(self.difference), low, high, ..self }
    }
}

/// Compares the errors of a group with all others. A case on both sides is compared with itself, a case on one side
/// with those on the other; if there are cases of both kinds, each of the two differences has the weight of its
/// precision if all errors varied equally, n/2 for n pairs and k l / (k + l) for k cases and l others. `None` with
/// fewer than two pairs and fewer than two cases on one side.
///
/// The test permutes the groups: within a case that is on both sides, and over the cases on one side. It compares the
/// difference in its standard errors, which is valid even if one side varies more than the other (Janssen, "Studentized
/// permutation tests for non-i.i.d. hypotheses and the generalized Behrens-Fisher problem", Statistics and Probability
/// Letters 36, 1997; Chung and Romano, "Exact and asymptotically robust permutation tests", Annals of Statistics 41,
/// 2013). The interval contains the differences that the same permutations would not reject, with that standard error.
/// If there are too many cases to permute, both use Student's t with Welch's degrees of freedom.
pub fn group_difference(cases: &[CaseErrors]) -> Option<GroupDifference> {
    let strata = strata(cases)?;
    let Some((strata, unit)) = strata.in_units() else {
        let (difference, p) = (0.0, 1.0);
        return Some(GroupDifference {
            difference,
            low: None,
            high: None,
            p,
            method: TestMethod::Exact,
        });
    };
    let observed = strata.observed();
    let (p, method, quantile) = match regrouped(&strata) {
        Some(permuted) => (permuted.p(&observed), permuted.method, permuted.quantile()),
        None => {
            let (p, quantile) = welch(&observed, &strata);
            (p, TestMethod::StudentT, Some(quantile))
        }
    };
    let half = quantile.filter(|_| strata.vary()).map(|quantile| quantile * observed.error());
    // An end near 0 becomes 0, so that the test and the interval agree.
    let end = |half: f64| {
        let end = difference_of_size(half, observed.difference, half.abs()) * unit;
        Some(end).filter(|end| end.is_finite())
    };
    let (low, high) = (half.and_then(end), half.and_then(|half| end(-half)));
    let difference = observed.difference * unit;
    difference.is_finite().then_some(GroupDifference { difference, low, high, p, method })
}

/// Divides the errors into those to compare within cases and between cases.
fn strata(cases: &[CaseErrors]) -> Option<Strata> {
    let (mut pairs, mut single) = (Vec::new(), Vec::new());
    for case in cases {
        match (case.group, case.others) {
            (Some(group), Some(others)) => {
                pairs.push((difference_of_size(others, group, case.size), case.size));
            }
            (Some(error), None) => single.push((true, (error, case.size))),
            (None, Some(error)) => single.push((false, (error, case.size))),
            (None, None) => {}
        }
    }
    let distances: Vec<(f64, f64)> = pairs.iter().map(|(it, size)| (it.abs(), *size)).collect();
    let distances = without_rounding(&distances).into_iter();
    let pairs = distances.zip(&pairs).map(|(distance, (it, _))| match *it == 0.0 {
        true => 0.0,
        false => distance.copysign(*it),
    });
    let errors: Vec<(f64, f64)> = single.iter().map(|(_, error)| *error).collect();
    let (mut group, mut others) = (Vec::new(), Vec::new());
    for (error, (is_group, _)) in without_rounding(&errors).into_iter().zip(&single) {
        if *is_group { group.push(error) } else { others.push(error) }
    }
    Strata::of(pairs.collect(), group, others)
}

/// The two-sided p value of Student's t with the degrees of freedom of Welch, "The generalization of 'Student's'
/// problem when several different population variances are involved", Biometrika 34 (1947), and the number of standard
/// errors that includes 95 %. A side that does not vary is assumed to vary like both together.
fn welch(observed: &Standing, strata: &Strata) -> (f64, f64) {
    let parts = strata.parts();
    let variance: f64 = parts.iter().map(|(variance, _)| variance).sum();
    let below: f64 = parts.iter().map(|(variance, freedom)| variance.powi(2) / freedom).sum();
    let freedom = variance.powi(2) / below;
    let t = observed.difference / variance.sqrt();
    if !(t.is_finite() && freedom.is_finite()) {
        return (0.0, 0.0);
    }
    (student_beyond(t, freedom), student_quantile(f64::midpoint(1.0, CONFIDENCE), freedom))
}

/// [`welch`] for two groups whose errors vary: the p value and the ends of the interval.
#[cfg(test)]
pub(in crate::stats) fn welch_test(group: Vec<f64>, others: Vec<f64>) -> (f64, f64, f64) {
    let strata = Strata::of(Vec::new(), group, others).unwrap();
    let observed = strata.observed();
    let (p, quantile) = welch(&observed, &strata);
    let half = quantile * observed.error();
    (p, observed.difference - half, observed.difference + half)
}
