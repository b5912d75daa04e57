//! Whether the error of scores depends on something else: how long an output is, which model wrote it, which answer came first. What the
//! errors are is said here, how they are compared is the room `stats`.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::labels::{Value, Words};
use crate::stats::{
    Mean,
    agreement::{GroupDifference, group_difference, rank_trend},
    paired::holm,
};

/// What the error may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum By<'a> {
    /// The value at this JSON Pointer in the metadata of a case, or else among the keys that scorebox does not know.
    Key(&'a str),
    /// The number of characters of the output, as JSON.
    OutputLength,
}

/// Numbers that are more than this many different ones are no groups: four groups of about equal size are made of them.
pub(super) const MOST_VALUES: usize = 10;

/// Groups that are shown; the cases of smaller ones are the last group together.
const MOST_GROUPS: usize = 20;

/// What an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum BiasUnit {
    /// 1 for a case that passes and should not, -1 for one that should and does not: rates are compared.
    Rate,
    /// The score less the label.
    Score,
    /// The score less the label, each in standard deviations from its mean: they are on different scales.
    StandardDeviations,
}

/// How errors depend on something. Errors above 0 are in favour of the case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Bias {
    /// What it is: a JSON Pointer, or `output length`.
    pub by: String,
    /// What an error is.
    pub unit: BiasUnit,
    /// Cases that do not say what it is of them, or not so that it can be read.
    pub without: u64,
    /// Spearman's rho of errors with the number, if it is one, over cases: of several attempts the means. `None` if errors do not vary.
    pub rho: Option<f64>,
    /// Its p value.
    pub p: Option<f64>,
    /// The groups: the largest first, or in ascending order if they are ranges of numbers.
    pub groups: Vec<BiasGroup>,
}

/// The cases of which something is the same.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BiasGroup {
    /// The value, or the range: `12 to 40`.
    pub name: String,
    /// Cases; attempts count each, here and in the means below.
    pub cases: u64,
    /// The mean of what the scorer says: the rate of what passes, or the mean score.
    pub mean_score: f64,
    /// The mean of the labels: the rate of positives, or the mean label.
    pub mean_label: f64,
    /// The mean error.
    pub mean_error: f64,
    /// How much more the scorer favours it than all others: the errors of several attempts at a case are one, their mean. `None` if there are too few cases, and if errors do not vary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against_others: Option<GroupDifference>,
    /// The p value of that, corrected for the number of groups (Holm).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_corrected: Option<f64>,
}

/// A case whose error is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Erring {
    pub(super) value: Option<Value>,
    /// What the case is known by: attempts at it have the same.
    pub(super) case: u64,
    pub(super) score: f64,
    pub(super) label: f64,
    pub(super) error: f64,
}

/// A group in the making.
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
        rank_trend(&of_cases(&|index| numbers[index]), &of_cases(&|index| with[index].error))
    });
    let groups = match &numbers {
        Some(numbers) if different(numbers) > MOST_VALUES => quarters(numbers),
        _ => by_value(&with, words),
    };
    let mut groups: Vec<BiasGroup> =
        groups.into_iter().map(|group| against_others(group, &with, &attempts)).collect();
    let p_values: Vec<Option<f64>> =
        groups.iter().map(|group| group.against_others.map(|it| it.p)).collect();
    for (group, p) in groups.iter_mut().zip(holm(&p_values)) {
        group.p_corrected = p;
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

/// What is said of a group, whose errors are compared with those of all other cases.
fn against_others(group: Group, cases: &[Erring], attempts: &Attempts) -> BiasGroup {
    let Group { name, indices } = group;
    let mean = |of: fn(&Erring) -> f64| {
        let mut mean = Mean::default();
        indices.iter().filter_map(|index| cases.get(*index)).for_each(|case| mean.add(of(case)));
        mean.get().unwrap_or_default()
    };
    let errors = |indices: &[usize]| {
        let mut mean = Mean::default();
        let errors = attempts.means(indices, &|index| cases[index].error);
        errors.into_iter().for_each(|error| mean.add(error));
        mean
    };
    let is_other = |index: &usize| indices.binary_search(index).is_err();
    let others: Vec<usize> = (0..cases.len()).filter(is_other).collect();
    BiasGroup {
        cases: indices.len() as u64,
        mean_score: mean(|case| case.score),
        mean_label: mean(|case| case.label),
        mean_error: mean(|case| case.error),
        against_others: group_difference(&errors(&indices), &errors(&others)),
        p_corrected: None,
        name,
    }
}

/// Which attempts are at the same case: they are alike, so that tests count them once.
pub(super) struct Attempts {
    /// The index of each attempt's case among the cases.
    case_of: Vec<usize>,
    cases: usize,
}

impl Attempts {
    /// Of attempts, of which these numbers say the cases.
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
        let mut means = vec![Mean::default(); self.cases];
        indices.iter().for_each(|index| means[self.case_of[*index]].add(of(*index)));
        means.iter().filter_map(Mean::get).collect()
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
    if groups.len() > MOST_GROUPS {
        let small = groups.split_off(MOST_GROUPS);
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

    /// Twenty cases, of which half are of group 1 and have larger errors, each with so many equal attempts.
    fn of_attempts(attempts: usize) -> Bias {
        let case = |case: u64| Erring {
            value: Some(Value::Number((case % 2) as f64)),
            case,
            score: 0.0,
            label: 0.0,
            error: (case * 7 % 11) as f64 / 10.0 + (case % 2) as f64 / 4.0,
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

    #[test]
    fn a_case_with_attempts_in_two_groups_counts_once_in_each() {
        let attempt = |case: u64, group: f64, error: f64| Erring {
            value: Some(Value::Number(group)),
            case,
            score: 0.0,
            label: 0.0,
            error,
        };
        let attempts: Vec<Erring> = (0..6)
            .flat_map(|case| {
                let error = case as f64;
                [(0.0, error), (0.0, error + 0.5), (1.0, error), (1.0, error + 0.5)]
                    .map(|(group, error)| attempt(case, group, error))
            })
            .collect();
        let found = bias("/by".to_owned(), BiasUnit::Score, &attempts, &Words::default());
        let mean = |shift: f64| {
            let mut mean = Mean::default();
            (0..6).for_each(|case| mean.add(f64::from(case) + shift));
            mean
        };
        assert_eq!(found.groups[0].against_others, group_difference(&mean(0.25), &mean(0.25)),);
    }
}
