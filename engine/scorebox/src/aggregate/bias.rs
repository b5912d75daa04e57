//! Whether the error of scores depends on something else: how long an output is, which model wrote it, which answer
//! came first. This file defines the errors; the room `stats` compares them.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::labels::{Value, Words};
use crate::stats::{
    Mean,
    agreement::{CaseErrors, GroupDifference, group_difference, rank_trend, without_rounding},
    paired::holm,
};

/// The property on which the error may depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum By<'a> {
    /// The value at this JSON Pointer in the metadata of a case, or else among the keys that scorebox does not know.
    Key(&'a str),
    /// The number of characters of the output, as JSON.
    OutputLength,
}

/// Numbers with more different values than this are not used as groups: they are divided into four groups of about
/// equal size.
pub(super) const MAX_VALUES: usize = 10;

/// How many groups are shown; the cases of the smaller ones form the last group together.
const MAX_GROUPS: usize = 20;

/// The unit of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum BiasUnit {
    /// 1 for a case that passes and should not, -1 for a case that should pass and does not: rates are compared.
    Rate,
    /// The score less the label.
    Score,
    /// The score less the label, each in standard deviations from its mean, because they are on different scales.
    StandardDeviations,
}

/// How errors depend on a property. Errors above 0 are in the case's favour.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Bias {
    /// The property: a JSON Pointer, or `output length`.
    pub by: String,
    /// The unit of an error.
    pub unit: BiasUnit,
    /// Cases without the property, or with one that cannot be read.
    pub without: u64,
    /// Spearman's rho of errors with the property, if it is a number, over cases, each with the means of its attempts.
    /// `None` if errors do not vary.
    pub rho: Option<f64>,
    /// Its p value.
    pub p: Option<f64>,
    /// The groups: the largest first, or in ascending order if they are ranges of numbers.
    pub groups: Vec<BiasGroup>,
}

/// The cases with the same value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BiasGroup {
    /// The value, or the range: `12 to 40`.
    pub name: String,
    /// Cases; each attempt counts, here and in the means below.
    pub cases: u64,
    /// The mean of the scorer's side: the rate of passing cases, or the mean score.
    pub mean_score: f64,
    /// The mean of the labels: the rate of positives, or the mean label.
    pub mean_label: f64,
    /// The mean error.
    pub mean_error: f64,
    /// How much more the scorer favours this group than all others. Several attempts at a case have one error, their
    /// mean, and a case with attempts in the group and outside it is compared with itself. `None` if there are too few
    /// cases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against_others: Option<GroupDifference>,
    /// The p value of this difference, corrected for the number of groups (Holm); two groups are one test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_corrected: Option<f64>,
}

/// A case whose error is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Erring {
    pub(super) value: Option<Value>,
    /// Identifies the case: all attempts at it have the same number.
    pub(super) case: u64,
    pub(super) score: f64,
    pub(super) label: f64,
    pub(super) error: f64,
    /// The size of the numbers whose difference is the error, in its unit.
    pub(super) size: f64,
}

/// A group that is being built.
#[derive(Clone, Debug, Default)]
struct Group {
    name: String,
    indices: Vec<usize>,
}

/// How the errors of these cases depend on their values.
pub(super) fn bias(by: String, unit: BiasUnit, cases: &[Erring], words: &Words) -> Bias {
    let with: Vec<Erring> = cases.iter().copied().filter(|case| case.value.is_some()).collect();
    let numbers: Option<Vec<f64>> = with
        .iter()
        .map(|case| match case.value {
            Some(Value::Number(number)) => Some(number),
            _ => None,
        })
        .collect();
    let attempts = Attempts::of(with.iter().map(|case| case.case));
    let trend = numbers.as_ref().and_then(|numbers| {
        let all: Vec<usize> = (0..with.len()).collect();
        let of_cases = |of: &dyn Fn(usize) -> f64| attempts.means(&all, of);
        let errors = of_cases(&|index| with[index].error);
        let sizes = of_cases(&|index| with[index].size);
        let errors: Vec<(f64, f64)> = errors.into_iter().zip(sizes).collect();
        rank_trend(&of_cases(&|index| numbers[index]), &without_rounding(&errors))
    });
    let groups = match &numbers {
        Some(numbers) if different(numbers) > MAX_VALUES => quarters(numbers),
        _ => by_value(&with, words),
    };
    let differences = differences(&groups, &with, &attempts);
    let mut groups: Vec<BiasGroup> =
        groups.into_iter().map(|group| figures(group, &with)).collect();
    for (group, (difference, p)) in groups.iter_mut().zip(differences) {
        (group.against_others, group.p_corrected) = (difference, p);
    }
    Bias {
        by,
        unit,
        without: (cases.len() - with.len()) as u64,
        rho: trend.map(|(rho, _)| rho),
        p: trend.map(|(_, p)| p),
        groups,
    }
}

/// How much the errors of each group differ from those of all others, with the corrected p value. For two groups, that
/// is one question.
fn differences(
    groups: &[Group],
    cases: &[Erring],
    attempts: &Attempts,
) -> Vec<(Option<GroupDifference>, Option<f64>)> {
    let asked = if groups.len() == 2 { 1 } else { groups.len() };
    let found = groups.iter().take(asked).map(|group| against_others(group, cases, attempts));
    let found: Vec<Option<GroupDifference>> = found.collect();
    let p_values: Vec<Option<f64>> = found.iter().map(|it| it.map(|it| it.p)).collect();
    let mut found: Vec<_> = found.into_iter().zip(holm(&p_values)).collect();
    if let ([(difference, p)], true) = (found.as_slice(), groups.len() == 2) {
        found.push((difference.map(GroupDifference::mirrored), *p));
    }
    found
}

/// How much the errors of a group differ from those of all others.
fn against_others(group: &Group, cases: &[Erring], attempts: &Attempts) -> Option<GroupDifference> {
    let is_other = |index: &usize| group.indices.binary_search(index).is_err();
    let others: Vec<usize> = (0..cases.len()).filter(is_other).collect();
    let all: Vec<usize> = (0..cases.len()).collect();
    let errors = |indices: &[usize]| attempts.by_case(indices, &|index| cases[index].error);
    let sizes = attempts.by_case(&all, &|index| cases[index].size);
    let sides = errors(&group.indices).into_iter().zip(errors(&others)).zip(sizes);
    let sides = sides.map(|((group, others), size)| CaseErrors {
        group,
        others,
        size: size.unwrap_or_default(),
    });
    group_difference(&sides.collect::<Vec<_>>())
}

/// The figures of a group by itself.
fn figures(group: Group, cases: &[Erring]) -> BiasGroup {
    let Group { name, indices } = group;
    let mean = |of: fn(&Erring) -> f64| {
        let mut mean = Mean::default();
        indices.iter().filter_map(|index| cases.get(*index)).for_each(|case| mean.add(of(case)));
        mean.get().unwrap_or_default()
    };
    BiasGroup {
        cases: indices.len() as u64,
        mean_score: mean(|case| case.score),
        mean_label: mean(|case| case.label),
        mean_error: mean(|case| case.error),
        against_others: None,
        p_corrected: None,
        name,
    }
}

/// Which attempts are at the same case: they are similar, so tests count them once.
pub(super) struct Attempts {
    /// The index of each attempt's case.
    case_of: Vec<usize>,
    cases: usize,
}

impl Attempts {
    /// From the number of each attempt's case.
    pub(super) fn of(cases: impl Iterator<Item = u64>) -> Attempts {
        let mut indices = HashMap::new();
        let case_of = cases.map(|case| {
            let next = indices.len();
            *indices.entry(case).or_insert(next)
        });
        Attempts { case_of: case_of.collect(), cases: indices.len() }
    }

    /// The mean of the attempts at these indices, case by case.
    pub(super) fn means(&self, indices: &[usize], of: &dyn Fn(usize) -> f64) -> Vec<f64> {
        if self.cases == self.case_of.len() {
            return indices.iter().map(|index| of(*index)).collect();
        }
        self.by_case(indices, of).into_iter().flatten().collect()
    }

    /// The same, with `None` for cases that have no attempt at these indices.
    fn by_case(&self, indices: &[usize], of: &dyn Fn(usize) -> f64) -> Vec<Option<f64>> {
        if self.cases == self.case_of.len() {
            let mut numbers = vec![None; self.cases];
            indices.iter().for_each(|index| numbers[*index] = Some(of(*index)));
            return numbers;
        }
        let mut means = vec![Mean::default(); self.cases];
        indices.iter().for_each(|index| means[self.case_of[*index]].add(of(*index)));
        means.iter().map(Mean::get).collect()
    }
}

pub(super) fn different(numbers: &[f64]) -> usize {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.dedup();
    sorted.len()
}

/// Four groups of about the same size; equal numbers stay together.
fn quarters(numbers: &[f64]) -> Vec<Group> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b]));
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); 4];
    let mut before = 0;
    for equals in order.chunk_by(|a, b| numbers[*a] == numbers[*b]) {
        groups[before * 4 / order.len()].extend(equals);
        before += equals.len();
    }
    let groups = groups.into_iter().filter(|indices| !indices.is_empty());
    groups
        .map(|mut indices| {
            let (low, high) = (numbers[indices[0]], numbers[indices[indices.len() - 1]]);
            indices.sort_unstable();
            Group { name: format!("{low} to {high}"), indices }
        })
        .collect()
}

/// A group for each value, the largest first, of equally large ones by name.
fn by_value(cases: &[Erring], words: &Words) -> Vec<Group> {
    let mut named: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, case) in cases.iter().enumerate() {
        let name = match case.value {
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Word(word)) => words.word(word).to_owned(),
            None => continue,
        };
        named.entry(name).or_default().push(index);
    }
    let mut groups: Vec<Group> =
        named.into_iter().map(|(name, indices)| Group { name, indices }).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.indices.len()));
    if groups.len() > MAX_GROUPS {
        let small = groups.split_off(MAX_GROUPS);
        let name = format!("{} others", small.len());
        let mut indices: Vec<usize> = small.into_iter().flat_map(|group| group.indices).collect();
        indices.sort_unstable();
        groups.push(Group { name, indices });
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twenty cases, half of which are in group 1 and have larger errors, each with this number of equal attempts.
    fn of_attempts(attempts: usize) -> Bias {
        let case = |case: u64| Erring {
            value: Some(Value::Number((case % 2) as f64)),
            case,
            score: 0.0,
            label: 0.0,
            error: (case * 7 % 11) as f64 / 10.0 + (case % 2) as f64 / 4.0,
            size: 1.0,
        };
        let cases: Vec<Erring> =
            (0..20).flat_map(|n| std::iter::repeat_n(case(n), attempts)).collect();
        bias("/by".to_owned(), BiasUnit::Score, &cases, &Words::default())
    }

    #[test]
    fn attempts_at_a_case_make_no_difference_and_no_trend_surer() {
        let (once, often) = (of_attempts(1), of_attempts(10));
        assert!(once.p.is_some_and(|p| p > 0.05) && once.groups[0].against_others.is_some());
        let is_close = |one: Option<f64>, other: Option<f64>| {
            one.zip(other).is_some_and(|(one, other)| (one - other).abs() < 1e-9)
        };
        assert!(is_close(once.rho, often.rho) && is_close(once.p, often.p), "{once:?} {often:?}");
        for (once, often) in once.groups.iter().zip(&often.groups) {
            assert_eq!(once.cases * 10, often.cases);
            let p = |group: &BiasGroup| group.against_others.map(|it| it.p);
            assert!(is_close(p(once), p(often)), "{once:?} {often:?}");
        }
    }

    fn attempt(case: u64, group: f64, error: f64) -> Erring {
        let value = Some(Value::Number(group));
        Erring { value, case, score: 0.0, label: 0.0, error, size: 1.0 }
    }

    fn bias_of(attempts: &[Erring]) -> Bias {
        bias("/by".to_owned(), BiasUnit::Score, attempts, &Words::default())
    }

    fn against(bias: &Bias, group: usize) -> GroupDifference {
        bias.groups[group].against_others.unwrap()
    }

    /// Cases differ far more than the two orders of a case do, so only the pairs show the difference.
    #[test]
    fn a_case_with_attempts_in_two_groups_is_compared_with_itself() {
        let attempts: Vec<Erring> = (0..12)
            .flat_map(|case| {
                let error = case as f64;
                let higher = error + 0.1 + error / 100.0;
                [(0.0, error), (0.0, error + 0.5), (1.0, higher), (1.0, higher + 0.5)]
                    .map(|(group, error)| attempt(case, group, error))
            })
            .collect();
        let found = against(&bias_of(&attempts), 1);
        assert!((found.difference - 0.155).abs() < 1e-12, "{found:?}");
        // All 12 are higher, which happens in two ways of 2^12.
        assert!((found.p - 2.0 / 4096.0).abs() < 1e-12, "{found:?}");
        assert!(found.low.unwrap() > 0.0 && found.high.unwrap() < 0.3, "{found:?}");
    }

    #[test]
    fn two_groups_are_one_question() {
        let attempts: Vec<Erring> = (0..24)
            .map(|case| attempt(case, (case % 2) as f64, (case * 7 % 11) as f64 / 10.0))
            .collect();
        let found = bias_of(&attempts);
        let (one, other) = (against(&found, 0), against(&found, 1));
        assert_eq!(other, one.mirrored());
        assert_eq!([0, 1].map(|group| found.groups[group].p_corrected), [Some(one.p); 2]);
        assert!(one.low < Some(one.difference) && Some(one.difference) < one.high);
    }

    #[test]
    fn a_group_that_is_always_wrong_is_found_among_groups_that_never_are() {
        let attempts: Vec<Erring> = (0..80)
            .map(|case| attempt(case, (case % 4) as f64, f64::from(u8::from(case % 4 == 0))))
            .collect();
        let found = bias_of(&attempts);
        let wrong = found.groups.iter().find(|group| group.name == "0").unwrap();
        let against = wrong.against_others.unwrap();
        assert_eq!((against.difference, against.low, against.high), (1.0, None, None));
        assert!(wrong.p_corrected.unwrap() < 1e-15, "{wrong:?}");
    }

    #[test]
    fn what_rounding_leaves_is_no_difference_and_no_trend() {
        let attempts: Vec<Erring> = (0..40)
            .map(|case| {
                let label = (case % 8) as f64 / 10.0;
                attempt(case, (case % 2) as f64, label + 0.2 - label)
            })
            .collect();
        let found = bias_of(&attempts);
        assert_eq!((found.rho, found.p), (None, None));
        assert_eq!((against(&found, 0).difference, against(&found, 0).p), (0.0, 1.0));
    }
}
