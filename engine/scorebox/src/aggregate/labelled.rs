//! Reads the cases of a run that have a score and a label, and the form of their labels: numbers, words, positive or
//! not. It computes no figure.

use std::collections::HashSet;

use super::{
    agreement::{AgreementError, AgreementOptions, MAX_PAIRS},
    bias::{By, MAX_VALUES, different},
    categorized::{Categorized, MAX_CATEGORIES},
    labels::{
        Found, LOOKUPS, LabelPlace, Positive, PositiveRule, Value, With, Words, at, is_truth,
        keys_of, number_in, read, score, what_is,
    },
};
use crate::{
    case::Pointer, contract::Direction, digest::Digest, store::LabelledCase, verdict::Policy,
};

/// Where labels are, and which other values of a case are read.
pub(super) struct Pointers {
    /// `None` if the labels are another scorer's scores.
    pub(super) label: Option<Pointer>,
    by: Option<Pointer>,
    pub(super) raters: Vec<Pointer>,
}

impl Pointers {
    /// The pointers in the options.
    pub(super) fn of(options: &AgreementOptions<'_>) -> Result<Pointers, AgreementError> {
        let pointer = |text: &str| {
            let wrong = |reason| AgreementError::Pointer { pointer: text.to_owned(), reason };
            Pointer::parse(text).map_err(wrong)
        };
        let label = match options.with {
            With::Label(text) => Some(pointer(text)?),
            With::Scorer(_) => None,
        };
        let by = match options.by {
            Some(By::Key(text)) => Some(pointer(text)?),
            _ => None,
        };
        let raters = options.raters.iter().map(|text| pointer(text));
        Ok(Pointers { label, by, raters: raters.collect::<Result<_, _>>()? })
    }
}

/// A case with a score and a label.
pub(super) struct Pair {
    pub(super) score: f64,
    pub(super) label: Value,
    /// The category in the scorer's answer, if labels are words.
    pub(super) category: Option<usize>,
    /// Identifies its case.
    pub(super) case: u64,
    pub(super) by: Option<Value>,
}

/// Everything that was read.
#[derive(Default)]
pub(super) struct Reading {
    pub(super) cases: u64,
    pub(super) without_score: u64,
    pub(super) without_label: u64,
    pub(super) unreadable: u64,
    /// Cases with a score that have a label, but not in the part with those of the others.
    pub(super) elsewhere: u64,
    /// The kind of the first label that cannot be read.
    pub(super) unreadable_is: Option<&'static str>,
    /// Which of [`LOOKUPS`] finds the labels.
    lookup: Option<usize>,
    /// Whether any label is `true` or `false`.
    has_truths: bool,
    /// The keys of the first case, for messages.
    pub(super) keys: Option<Vec<String>>,
    pub(super) words: Words,
    pub(super) pairs: Vec<Pair>,
}

/// How many labels there are in each part of a case that may have them.
#[derive(Default)]
pub(super) struct Places {
    labels: [usize; LOOKUPS.len()],
}

impl Places {
    /// Counts the readable labels of a case that has a score; `false` if there are too many to compare.
    pub(super) fn add(&mut self, pointer: &Pointer, case: &LabelledCase) -> bool {
        if score(case.row.as_ref()).is_none() {
            return true;
        }
        for (lookup, labels) in LOOKUPS.iter().zip(&mut self.labels) {
            *labels += usize::from(lookup.finds_readable(pointer, case));
        }
        self.labels.iter().all(|labels| *labels <= MAX_PAIRS)
    }

    /// Which of [`LOOKUPS`] finds the most labels, the first of equals; `None` if none finds any. Counting is necessary
    /// because a stray label may be in a part that comes before that of all other labels.
    fn most(&self) -> Option<usize> {
        let most = self.labels.iter().max().filter(|most| **most > 0)?;
        self.labels.iter().position(|labels| labels == most)
    }
}

impl Reading {
    /// A reading that takes labels from the part with the most.
    pub(super) fn of(places: &Places) -> Reading {
        Reading { lookup: places.most(), ..Reading::default() }
    }

    /// Adds a case; `false` if there is no room for another one.
    pub(super) fn add(
        &mut self,
        case: &LabelledCase,
        pointers: &Pointers,
        by: Option<By<'_>>,
    ) -> bool {
        self.cases += 1;
        if self.keys.is_none() {
            self.keys = Some(keys_of(case));
        }
        let Some(of_scorer) = score(case.row.as_ref()) else {
            self.without_score += 1;
            return true;
        };
        let label = match self.label(case, pointers.label.as_ref()) {
            Found::Nothing => {
                self.without_label += 1;
                return true;
            }
            Found::Unreadable => {
                self.unreadable += 1;
                return true;
            }
            Found::Value(label) => label,
        };
        let category = case.row.as_ref().and_then(|row| row.label.as_deref());
        let by = self.group(case, pointers.by.as_ref(), by);
        self.pairs.push(Pair {
            score: of_scorer + 0.0,
            label,
            category: category.and_then(|word| self.words.index(word)),
            case: known_by(&case.case_id),
            by,
        });
        self.pairs.len() <= MAX_PAIRS
    }

    /// The part of the cases that has the labels, if they are not another scorer's scores.
    pub(super) fn place(&self) -> Option<LabelPlace> {
        LOOKUPS.get(self.lookup?).map(|lookup| lookup.place)
    }

    fn label(&mut self, case: &LabelledCase, pointer: Option<&Pointer>) -> Found {
        let Some(pointer) = pointer else {
            let score = score(case.other.as_ref());
            return score.map_or(Found::Nothing, |score| Found::Value(Value::Number(score)));
        };
        let raw = self.lookup.and_then(|index| LOOKUPS[index].raw(pointer, case));
        let found = raw.map_or(Found::Nothing, |raw| read(raw, &mut self.words));
        match found {
            Found::Nothing => {
                if let Some(lookup) = LOOKUPS.iter().find(|it| it.finds(pointer, case)) {
                    self.elsewhere += 1;
                    let raw = lookup.raw(pointer, case);
                    self.unreadable_is = self.unreadable_is.or(raw.map(what_is));
                }
            }
            Found::Value(Value::Word(index)) => self.has_truths |= is_truth(self.words.word(index)),
            Found::Value(Value::Number(_)) => self.has_truths |= raw.is_some_and(is_truth),
            Found::Unreadable => self.unreadable_is = self.unreadable_is.or(raw.map(what_is)),
        }
        found
    }

    /// The property on which the case's error may depend.
    fn group(
        &mut self,
        case: &LabelledCase,
        pointer: Option<&Pointer>,
        by: Option<By<'_>>,
    ) -> Option<Value> {
        if by == Some(By::OutputLength) {
            return Some(Value::Number(case.output_characters as f64));
        }
        match at(pointer?, case, &mut self.words) {
            Found::Value(value) => Some(value),
            Found::Nothing | Found::Unreadable => None,
        }
    }

    /// The pairs as numbers; `None` if a label is a word.
    pub(super) fn numbers(&self) -> Option<Vec<(f64, f64)>> {
        let numbers = self.pairs.iter().map(|pair| match pair.label {
            Value::Number(label) => Some((pair.score, label)),
            Value::Word(_) => None,
        });
        numbers.collect()
    }

    /// Converts labels that read as numbers to numbers, and drops slips among them; but words stay words if the
    /// scorer's categories or the requested positive labels are among them.
    pub(super) fn read_labels(&mut self, positive: Positive<'_>) {
        let names_category =
            |pair: &Pair| pair.category.is_some_and(|it| pair.label == Value::Word(it));
        let are_words = match positive {
            Positive::Better => self.pairs.iter().any(names_category),
            Positive::These(these) => these.iter().any(|it| number_in(it).is_none()),
            Positive::From(_) | Positive::To(_) => false,
        };
        if are_words || !self.words.are_numbers(self.pairs.iter().map(|pair| pair.label)) {
            return;
        }
        let before = self.pairs.len();
        self.pairs.retain_mut(|pair| {
            let number = self.words.number(pair.label);
            pair.label = number.map_or(pair.label, Value::Number);
            number.is_some()
        });
        self.unreadable += (before - self.pairs.len()) as u64;
    }

    /// Converts the property that cases are grouped by to numbers, if it reads as such. Slips among few different
    /// numbers stay groups of their own.
    pub(super) fn read_groups(&mut self) {
        let values = || self.pairs.iter().filter_map(|pair| pair.by);
        let numbers: Vec<f64> = values().filter_map(|value| self.words.number(value)).collect();
        let are_all = numbers.len() == values().count();
        let are_many = || self.words.are_numbers(values()) && different(&numbers) > MAX_VALUES;
        if are_all || are_many() {
            for pair in &mut self.pairs {
                let number = pair.by.and_then(|value| self.words.number(value));
                pair.by = number.map(Value::Number);
            }
        }
    }

    /// Why labels are positive; `None` if nothing defines it. `own` are the scorer's scores, `other` those that are the
    /// labels.
    pub(super) fn positive_rule(
        &self,
        positive: Positive<'_>,
        own: Policy,
        other: Option<Policy>,
        numbers: Option<&[(f64, f64)]>,
    ) -> Option<PositiveRule> {
        match positive {
            Positive::Better if other.is_some_and(|it| it.threshold().is_some()) => {
                Some(PositiveRule::Passing)
            }
            Positive::Better => {
                let (low, high) = two_labels(numbers?)?;
                if self.has_truths && (low, high) == (0.0, 1.0) {
                    return Some(PositiveRule::True);
                }
                // Numbers from people are assumed to rise and fall with the scores.
                let lower_is_better = other.unwrap_or(own).direction() == Direction::LowerIsBetter;
                let number = if lower_is_better { low } else { high };
                Some(PositiveRule::BetterOfTwo { number, lower_is_better })
            }
            Positive::These(labels) => Some(PositiveRule::Named { labels: labels.to_vec() }),
            Positive::From(number) => Some(PositiveRule::AtLeast { number }),
            Positive::To(number) => Some(PositiveRule::AtMost { number }),
        }
    }

    /// Whether each label is positive, if that is known.
    pub(super) fn positives(
        &self,
        rule: Option<&PositiveRule>,
        other: Option<Policy>,
    ) -> Vec<Option<bool>> {
        let is = |pair: &Pair| rule?.is(pair.label, other, &self.words);
        self.pairs.iter().map(is).collect()
    }

    /// Some of the labels, for a message.
    pub(super) fn some_labels(&self) -> Vec<String> {
        const SHOWN: usize = 10;
        let mut shown: Vec<String> = Vec::new();
        for pair in &self.pairs {
            let label = match pair.label {
                Value::Number(number) => number.to_string(),
                Value::Word(index) => self.words.word(index).to_owned(),
            };
            if !shown.contains(&label) {
                shown.push(label);
            }
            if shown.len() == SHOWN {
                break;
            }
        }
        shown
    }

    /// The scorer's categories and the labels; `None` if some case has no category.
    fn words_of_both(&self) -> Option<Vec<(usize, usize)>> {
        let words = self.pairs.iter().map(|pair| match pair.label {
            Value::Word(label) => Some((label, pair.category?)),
            Value::Number(_) => None,
        });
        words.collect()
    }

    /// Some of the scorer's categories, if each case has one and none of them is a label.
    pub(super) fn other_categories(&self) -> Option<Vec<String>> {
        const SHOWN: usize = 10;
        let pairs = self.words_of_both()?;
        let labels: HashSet<usize> = pairs.iter().map(|(label, _)| *label).collect();
        let mut shown: Vec<String> = Vec::new();
        for (_, category) in pairs {
            if labels.contains(&category) {
                return None;
            }
            let word = self.words.word(category);
            if shown.len() < SHOWN && shown.iter().all(|it| it != word) {
                shown.push(word.to_owned());
            }
        }
        Some(shown)
    }

    /// The scorer's categories, compared with the labels. `None` if some case has no category, or if none of them is a
    /// label.
    pub(super) fn categories_of_words(&self) -> Option<Categorized> {
        let pairs = self.words_of_both()?;
        if self.other_categories().is_some() {
            return None;
        }
        let mut used: Vec<usize> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
        used.sort_unstable_by_key(|index| self.words.word(*index));
        used.dedup();
        if used.len() > MAX_CATEGORIES {
            return None;
        }
        let index = |word: usize| used.iter().position(|it| *it == word);
        let pairs = pairs.iter().map(|(label, category)| Some((index(*label)?, index(*category)?)));
        Some(Categorized {
            names: used.iter().map(|index| self.words.word(*index).to_owned()).collect(),
            has_order: false,
            pairs: pairs.collect::<Option<_>>()?,
        })
    }
}

/// A number that identifies a case's id: all attempts at the case have it.
fn known_by(case_id: &str) -> u64 {
    let digest = Digest::of(case_id.as_bytes());
    digest.as_bytes().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The lower and the higher label, if there are only two; 0 and 1 if all labels are one of these.
fn two_labels(numbers: &[(f64, f64)]) -> Option<(f64, f64)> {
    let first = numbers.first()?.1;
    let Some(other) = numbers.iter().map(|(_, label)| *label).find(|label| *label != first) else {
        return (first == 0.0 || first == 1.0).then_some((0.0, 1.0));
    };
    let are_two = numbers.iter().all(|(_, label)| *label == first || *label == other);
    are_two.then(|| (first.min(other), first.max(other)))
}
