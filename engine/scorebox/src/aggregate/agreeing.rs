//! How well the scores of a run agree with labels: those of people, or another scorer's. Holds some two hundred bytes of each case
//! that has both, of at most a million cases.

use std::collections::BTreeMap;

use super::{
    agreement::{Agreement, AgreementError, AgreementOptions, MOST_PAIRS},
    bias::{Bias, BiasUnit, By, Erring, MOST_VALUES, bias, different},
    categorized::{Categorized, MOST_CATEGORIES, categories_of_numbers},
    drawing::{Compared, InCategories, intervals},
    labels::{Found, Positive, Value, With, Words, at, keys_of, number_in, score},
    raters::Rating,
    yes_or_no::YesOrNo,
};
use crate::{
    case::Pointer,
    contract::{Direction, Scale},
    digest::Digest,
    stats::{
        Mean,
        agreement::{Correlations, correlations},
    },
    store::{RunState, ScorerRecord, Store},
    verdict::Policy,
};

/// Parts of the cases of which each is held out once.
const FOLDS: usize = 5;

/// A case with a score and a label.
struct Pair {
    score: f64,
    label: Value,
    /// The category that the scorer names, if labels are words.
    category: Option<usize>,
    /// What its case's id is known by.
    case: u64,
    by: Option<Value>,
}

/// Computes how well the scores of a run's scorer agree with labels.
///
/// # Errors
/// [`StoreError::NoSuchRun`](crate::store::StoreError::NoSuchRun), or the database cannot be read; a scorer that the run does not have; a pointer that is not one; no labels, or no
/// scores; labels that are words of which none is known to be positive; more than a million cases with both.
pub fn agreement(
    store: &Store,
    run: &str,
    scorer_id: &str,
    options: AgreementOptions<'_>,
) -> Result<Agreement, AgreementError> {
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
    let raters = raters.collect::<Result<Vec<_>, _>>()?;
    store.snapshot(|store| {
        let record = store.run(run)?;
        let scorers = store.scorers(record.key)?;
        let scorer = named(&scorers, scorer_id)?;
        let policy = scorer.spec.policy();
        if let Some(threshold) = options.threshold
            && !policy.scale().contains(threshold)
        {
            return Err(AgreementError::Threshold { threshold, scorer_id: scorer_id.to_owned() });
        }
        let other = match options.with {
            With::Scorer(id) => Some(named(&scorers, id)?),
            With::Label(_) => None,
        };
        let mut reading = Reading::default();
        let mut rating = Rating::new(&raters);
        let other_key = other.map(|other| other.key);
        store.for_each_labelled(record.key, options.node, scorer.key, other_key, |case| {
            reading.cases += 1;
            if reading.keys.is_none() {
                reading.keys = Some(keys_of(case));
            }
            rating.add(case);
            let Some(of_scorer) = score(case.row.as_ref()) else {
                reading.without_score += 1;
                return true;
            };
            let found = match &label {
                Some(pointer) => at(pointer, case, &mut reading.words),
                None => match score(case.other.as_ref()) {
                    Some(score) => Found::Value(Value::Number(score)),
                    None => Found::Nothing,
                },
            };
            let label = match found {
                Found::Nothing => {
                    reading.without_label += 1;
                    return true;
                }
                Found::Unreadable => {
                    reading.unreadable += 1;
                    return true;
                }
                Found::Value(label) => label,
            };
            let category = case.row.as_ref().and_then(|row| row.label.as_deref());
            let value = match (options.by, &by) {
                (Some(By::OutputLength), _) => Some(Value::Number(case.output_characters as f64)),
                (_, Some(pointer)) => match at(pointer, case, &mut reading.words) {
                    Found::Value(value) => Some(value),
                    Found::Nothing | Found::Unreadable => None,
                },
                _ => None,
            };
            reading.pairs.push(Pair {
                score: of_scorer + 0.0,
                label,
                category: category.and_then(|word| reading.words.place(word)),
                case: known_by(&case.case_id),
                by: value,
            });
            reading.pairs.len() <= MOST_PAIRS
        })?;
        let other_policy = other.map(|other| other.spec.policy());
        let raters = rating.agreement(options.raters);
        if !options.raters.is_empty() && raters.is_none() {
            let keys = reading.keys.unwrap_or_default();
            return Err(AgreementError::NoRaters { raters: options.raters.to_vec(), keys });
        }
        let mut agreement = reading.agreement(scorer_id, policy, other_policy, options)?;
        agreement.run_id = record.spec.id.to_string();
        agreement.state = record.state;
        agreement.raters = raters;
        Ok(agreement)
    })
}

fn named<'s>(scorers: &'s [ScorerRecord], id: &str) -> Result<&'s ScorerRecord, AgreementError> {
    scorers.iter().find(|scorer| scorer.spec.scorer_id == id).ok_or_else(|| {
        let scorer_ids = scorers.iter().map(|scorer| scorer.spec.scorer_id.clone()).collect();
        AgreementError::NoSuchScorer { scorer_id: id.to_owned(), scorer_ids }
    })
}

/// A number for a case's id: attempts at it have the same, other cases another one.
fn known_by(case_id: &str) -> u64 {
    let digest = Digest::of(case_id.as_bytes());
    digest.as_bytes().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The part of the cases that a case is of: by its id, so that attempts at it stay together, wherever it is.
fn fold(case: u64) -> usize {
    (case >> 56) as usize % FOLDS
}

/// What was read.
#[derive(Default)]
struct Reading {
    cases: u64,
    without_score: u64,
    without_label: u64,
    unreadable: u64,
    keys: Option<Vec<String>>,
    words: Words,
    pairs: Vec<Pair>,
}

impl Reading {
    fn agreement(
        mut self,
        scorer_id: &str,
        policy: Policy,
        other: Option<Policy>,
        options: AgreementOptions<'_>,
    ) -> Result<Agreement, AgreementError> {
        let with = match options.with {
            With::Label(text) | With::Scorer(text) => text.to_owned(),
        };
        if self.pairs.len() > MOST_PAIRS {
            return Err(AgreementError::TooManyPairs);
        }
        let scorer_id = scorer_id.to_owned();
        if self.pairs.is_empty() {
            return Err(match self.cases == self.without_score {
                true => AgreementError::NoScores { scorer_id },
                false => {
                    let keys = self.keys.unwrap_or_default();
                    AgreementError::NoLabels { scorer_id, with, keys }
                }
            });
        }
        self.read_labels(options.positive);
        self.read_groups();
        let numbers: Option<Vec<(f64, f64)>> = self
            .pairs
            .iter()
            .map(|pair| match pair.label {
                Value::Number(label) => Some((pair.score, label)),
                Value::Word(_) => None,
            })
            .collect();
        let positives = self.positives(other, options.positive, numbers.as_deref());
        let is_named = !matches!(options.positive, Positive::Higher);
        if is_named && !positives.contains(&Some(true)) {
            return Err(AgreementError::NonePositive { with, labels: self.some_labels() });
        }
        let categorized = match &numbers {
            Some(numbers) => categories_of_numbers(numbers),
            None => self.categories_of_words(),
        };
        let yes_or_no: Option<Vec<bool>> = positives.into_iter().collect();
        if numbers.is_none() && categorized.is_none() && yes_or_no.is_none() {
            return Err(AgreementError::WhichArePositive { with, words: self.some_labels() });
        }
        let same_scale = numbers.as_ref().is_some_and(|numbers| {
            let is_unit = |label: &f64| (0.0..=1.0).contains(label);
            match other {
                Some(other) => other.scale() == policy.scale(),
                None if policy.scale() == Scale::Points => true,
                None => numbers.iter().all(|(_, label)| is_unit(label)),
            }
        });
        let yes_or_no = yes_or_no.map(|yes| {
            let cases = self.pairs.iter().zip(yes).map(|(pair, yes)| (pair.score, yes));
            YesOrNo::new(cases.collect(), policy, options.threshold)
        });
        let folds: Vec<usize> = self.pairs.iter().map(|pair| fold(pair.case)).collect();
        let case_of: Vec<u64> = self.pairs.iter().map(|pair| pair.case).collect();
        let binary = yes_or_no.as_ref().map(|it| it.agreement(&case_of, &folds, FOLDS));
        let correlations = numbers.as_ref().map(|numbers| {
            let found = correlations(numbers);
            Correlations { alpha: found.alpha.filter(|_| same_scale), ..found }
        });
        let by = options.by.map(|by| {
            let (unit, erring) = self.errors(policy, yes_or_no.as_ref(), same_scale);
            let name = match by {
                By::Key(text) => text.to_owned(),
                By::OutputLength => "output length".to_owned(),
            };
            bias(name, unit, &erring, &self.words)
        });
        if let (Some(By::Key(by)), Some(Bias { groups, .. })) = (options.by, &by)
            && groups.is_empty()
        {
            let keys = self.keys.clone().unwrap_or_default();
            return Err(AgreementError::NoGroups { by: (*by).to_owned(), keys });
        }
        let mean = |numbers: &mut dyn Iterator<Item = f64>| {
            let mut mean = Mean::default();
            numbers.for_each(|number| mean.add(number));
            mean.get()
        };
        let first = &self.pairs[0];
        let mut agreement = Agreement {
            run_id: String::new(),
            state: RunState::Finished,
            scorer_id,
            with,
            cases: self.cases,
            pairs: self.pairs.len() as u64,
            without_score: self.without_score,
            without_label: self.without_label,
            unreadable_labels: self.unreadable,
            lower_is_better: policy.direction() == Direction::LowerIsBetter,
            opposite_directions: other.is_some_and(|it| it.direction() != policy.direction()),
            same_scale,
            constant_scores: self.pairs.iter().all(|pair| pair.score == first.score),
            constant_labels: self.pairs.iter().all(|pair| pair.label == first.label),
            mean_score: mean(&mut self.pairs.iter().map(|pair| pair.score)),
            mean_label: numbers
                .as_ref()
                .and_then(|numbers| mean(&mut numbers.iter().map(|(_, label)| *label))),
            correlations,
            binary,
            categories: categorized.as_ref().map(Categorized::agreement),
            has_attempts: has_twice(&case_of),
            intervals: BTreeMap::new(),
            bias: by,
            raters: None,
        };
        let compared = Compared {
            yes_or_no: yes_or_no.as_ref(),
            numbers: numbers.as_deref(),
            categories: categorized.as_ref().map(|it| InCategories {
                count: it.names.len(),
                has_order: it.has_order,
                pairs: &it.pairs,
            }),
        };
        agreement.intervals = intervals(&agreement, &compared, &case_of);
        Ok(agreement)
    }

    /// Takes labels that read as numbers for these, and leaves out slips among them; but words are compared as words if the scorer's
    /// categories are among them, or if one of them is to be positive.
    fn read_labels(&mut self, positive: Positive<'_>) {
        let names_category =
            |pair: &Pair| pair.category.is_some_and(|it| pair.label == Value::Word(it));
        let are_words = match positive {
            Positive::Higher => self.pairs.iter().any(names_category),
            Positive::These(these) => these.iter().any(|it| number_in(it).is_none()),
            Positive::From(_) => false,
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

    /// Takes what cases are grouped by for numbers, if it reads as such. Slips among few different numbers are groups like these.
    fn read_groups(&mut self) {
        let values = || self.pairs.iter().filter_map(|pair| pair.by);
        let numbers: Vec<f64> = values().filter_map(|value| self.words.number(value)).collect();
        let are_all = numbers.len() == values().count();
        let are_many = || self.words.are_numbers(values()) && different(&numbers) > MOST_VALUES;
        if are_all || are_many() {
            for pair in &mut self.pairs {
                let number = pair.by.and_then(|value| self.words.number(value));
                pair.by = number.map(Value::Number);
            }
        }
    }

    /// Whether each label is positive, if that is known.
    fn positives(
        &self,
        other: Option<Policy>,
        positive: Positive<'_>,
        numbers: Option<&[(f64, f64)]>,
    ) -> Vec<Option<bool>> {
        let by_other =
            other.filter(|policy| positive == Positive::Higher && policy.threshold().is_some());
        let higher = numbers.and_then(higher_of_two);
        // Of two scores of a scorer, the better one is positive.
        let lower_is_better = positive == Positive::Higher
            && other.is_some_and(|policy| policy.direction() == Direction::LowerIsBetter);
        let is = |pair: &Pair| match (by_other, pair.label) {
            (Some(policy), Value::Number(score)) => policy.passes(score),
            _ => positive.is(pair.label, higher, &self.words).map(|is| is != lower_is_better),
        };
        self.pairs.iter().map(is).collect()
    }

    fn some_labels(&self) -> Vec<String> {
        const SHOWN: usize = 10;
        let mut shown: Vec<String> = Vec::new();
        for pair in &self.pairs {
            let label = match pair.label {
                Value::Number(number) => number.to_string(),
                Value::Word(place) => self.words.word(place).to_owned(),
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

    /// The categories that the scorer names, against the labels. `None` if it does not name one of each case.
    fn categories_of_words(&self) -> Option<Categorized> {
        let pairs: Option<Vec<(usize, usize)>> = self
            .pairs
            .iter()
            .map(|pair| match pair.label {
                Value::Word(label) => Some((label, pair.category?)),
                Value::Number(_) => None,
            })
            .collect();
        let pairs = pairs?;
        let mut used: Vec<usize> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
        used.sort_unstable_by_key(|place| self.words.word(*place));
        used.dedup();
        if used.len() > MOST_CATEGORIES {
            return None;
        }
        let place = |word: usize| used.iter().position(|it| *it == word);
        let pairs = pairs.iter().map(|(label, category)| Some((place(*label)?, place(*category)?)));
        Some(Categorized {
            names: used.iter().map(|place| self.words.word(*place).to_owned()).collect(),
            has_order: false,
            pairs: pairs.collect::<Option<_>>()?,
        })
    }

    /// How far the scorer is off, case by case.
    fn errors(
        &self,
        policy: Policy,
        yes_or_no: Option<&YesOrNo>,
        same_scale: bool,
    ) -> (BiasUnit, Vec<Erring>) {
        let number = |yes: bool| f64::from(u8::from(yes));
        let decided = yes_or_no.and_then(|it| {
            let erring = self.pairs.iter().zip(it.labels()).map(|(pair, yes)| {
                let (score, label) = (number(it.passes(pair.score)?), number(yes));
                let error = score - label;
                Some(Erring { value: pair.by, case: pair.case, score, label, error })
            });
            erring.collect::<Option<Vec<Erring>>>()
        });
        if let Some(erring) = decided {
            return (BiasUnit::Rate, erring);
        }
        let pairs = self.pairs.iter().filter_map(|pair| match pair.label {
            Value::Number(label) => Some((pair, label)),
            Value::Word(_) => None,
        });
        let (mut scores, mut labels) = (Mean::default(), Mean::default());
        for (pair, label) in pairs.clone() {
            scores.add(pair.score);
            labels.add(label);
        }
        let standing = |number: f64, of: &Mean| {
            let stddev = of.sample_stddev().filter(|stddev| *stddev > 0.0);
            stddev.zip(of.get()).map_or(0.0, |(stddev, mean)| (number - mean) / stddev)
        };
        let erring = pairs.map(|(pair, label)| {
            let error = match same_scale {
                true => pair.score - label,
                false => standing(pair.score, &scores) - standing(label, &labels),
            };
            // Of lower scores, which are better, a lower one is in favour.
            let error = match policy.direction() {
                Direction::HigherIsBetter => error,
                Direction::LowerIsBetter => -error,
            };
            Erring { value: pair.by, case: pair.case, score: pair.score, label, error }
        });
        let unit = if same_scale { BiasUnit::Score } else { BiasUnit::StandardDeviations };
        (unit, erring.collect())
    }
}

/// Whether a number comes twice.
fn has_twice(numbers: &[u64]) -> bool {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

/// The higher one of the labels, if there are two; 1 if all are 0 or all are 1.
fn higher_of_two(numbers: &[(f64, f64)]) -> Option<f64> {
    let first = numbers.first()?.1;
    let Some(other) = numbers.iter().map(|(_, label)| *label).find(|label| *label != first) else {
        return (first == 0.0 || first == 1.0).then_some(1.0);
    };
    let are_two = numbers.iter().all(|(_, label)| *label == first || *label == other);
    are_two.then(|| first.max(other))
}
