//! Computes how well the scores of a run agree with labels: those of people, or another scorer's. It keeps some two
//! hundred bytes of each case that has both, for at most a million cases.

use std::collections::BTreeMap;

use super::{
    agreement::{Agreement, AgreementError, AgreementOptions, MAX_PAIRS},
    bias::{Bias, BiasUnit, By, Erring, bias},
    binary::Binary,
    bootstrap_intervals::{Compared, InCategories, intervals},
    categorized::{Categorized, categories_of_numbers},
    labelled::{Places, Pointers, Reading},
    labels::{Positive, PositiveRule, Value, With},
    raters::Rating,
};
use crate::{
    contract::{Direction, Scale},
    stats::{
        Mean,
        agreement::{Correlations, Errors, correlations},
    },
    store::{RunState, ScorerRecord, Store},
    verdict::Policy,
};

/// How many parts the cases are divided into; each part is held out once.
const FOLDS: usize = 5;

/// Scores and labels count as on one scale if the largest of one side is at most this many times that of the other.
/// Judges use a narrow part of a scale, so ranges are no good evidence; the common scales, from 0 to 1, from 1 to 5 and
/// from 0 to 100, differ by more.
const MAX_TIMES_AS_LARGE: f64 = 4.0;

/// Computes how well the scores of a run's scorer agree with labels.
///
/// # Errors
/// [`StoreError::NoSuchRun`](crate::store::StoreError::NoSuchRun), or the database cannot be read; a scorer that the
/// run does not have; a pointer that is not valid; no labels, or no scores; labels that are words of which none is
/// known to be positive; more than a million cases with both.
pub fn agreement(
    store: &Store,
    run: &str,
    scorer_id: &str,
    options: AgreementOptions<'_>,
) -> Result<Agreement, AgreementError> {
    let pointers = Pointers::of(&options)?;
    store.snapshot(|store| {
        let record = store.run(run)?;
        let scorers = store.scorers(record.key)?;
        let scorer = named(&scorers, scorer_id)?;
        let own = scorer.spec.policy();
        if let Some(threshold) = options.threshold
            && !own.scale().contains(threshold)
        {
            return Err(AgreementError::Threshold { threshold, scorer_id: scorer_id.to_owned() });
        }
        let other = match options.with {
            With::Scorer(id) => Some(named(&scorers, id)?),
            With::Label(_) => None,
        };
        let mut places = Places::default();
        if let Some(pointer) = &pointers.label {
            store.for_each_labelled(record.key, options.node, scorer.key, None, |case| {
                places.add(pointer, case)
            })?;
        }
        let mut reading = Reading::of(&places);
        let mut rating = Rating::new(&pointers.raters);
        let other_key = other.map(|other| other.key);
        store.for_each_labelled(record.key, options.node, scorer.key, other_key, |case| {
            rating.add(case);
            reading.add(case, &pointers, options.by)
        })?;
        let raters = rating.agreement(options.raters);
        if !options.raters.is_empty() && raters.is_none() {
            let keys = reading.keys.unwrap_or_default();
            return Err(AgreementError::NoRaters { raters: options.raters.to_vec(), keys });
        }
        let policies = Policies { own, other: other.map(|other| other.spec.policy()) };
        let mut agreement = reading.agreement(scorer_id, policies, options)?;
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

/// The part to which a case belongs: by its id, so that attempts at it stay together, wherever they are.
fn fold(case: u64) -> usize {
    (case >> 56) as usize % FOLDS
}

/// The forms in which scores and labels are compared.
struct Read {
    /// Set if all labels are numbers.
    numbers: Option<Vec<(f64, f64)>>,
    /// Set if the labels are categories.
    categorized: Option<Categorized>,
    /// Set if it is known for each label whether it is positive, with the rule for it.
    binary: Option<(Binary, PositiveRule)>,
    /// Whether scores and labels seem to be numbers on one scale.
    same_scale: bool,
}

/// The policies of the scorer's scores, and of the other scorer's, if its scores are the labels.
#[derive(Clone, Copy)]
struct Policies {
    own: Policy,
    other: Option<Policy>,
}

impl Policies {
    /// Whether scores and labels seem to be on one scale.
    fn same_scale(&self, numbers: &[(f64, f64)]) -> bool {
        let is_unit = |label: &f64| (0.0..=1.0).contains(label);
        match self.other {
            Some(other) => other.scale() == self.own.scale(),
            None if self.own.scale() == Scale::Points => are_as_large(numbers),
            None => numbers.iter().all(|(_, label)| is_unit(label)),
        }
    }
}

/// Whether scores and labels have similar sizes: points of 0 to 100 and labels of 0 and 1 do not.
fn are_as_large(numbers: &[(f64, f64)]) -> bool {
    let largest = |of: fn(&(f64, f64)) -> f64| {
        numbers.iter().map(of).fold(0.0, |largest: f64, it| largest.max(it.abs()))
    };
    let (scores, labels) = (largest(|pair| pair.0), largest(|pair| pair.1));
    scores.max(labels) <= MAX_TIMES_AS_LARGE * scores.min(labels)
}

impl Reading {
    fn agreement(
        mut self,
        scorer_id: &str,
        policies: Policies,
        options: AgreementOptions<'_>,
    ) -> Result<Agreement, AgreementError> {
        let with = match options.with {
            With::Label(text) | With::Scorer(text) => text,
        };
        self.refuse_without_pairs(scorer_id, with)?;
        self.read_labels(options.positive);
        self.read_groups();
        let read = self.read(with, policies, options)?;
        let bias = self.bias(&read, scorer_id, policies.own, options)?;
        let Read { numbers, categorized, binary, same_scale } = &read;
        let folds: Vec<usize> = self.pairs.iter().map(|pair| fold(pair.case)).collect();
        let case_of: Vec<u64> = self.pairs.iter().map(|pair| pair.case).collect();
        let first = &self.pairs[0];
        let labels = numbers.as_ref().map(|numbers| numbers.iter().map(|(_, label)| *label));
        let mut agreement = Agreement {
            run_id: String::new(),
            state: RunState::Finished,
            scorer_id: scorer_id.to_owned(),
            with: with.to_owned(),
            labels_from: self.place(),
            cases: self.cases,
            pairs: self.pairs.len() as u64,
            without_score: self.without_score,
            without_label: self.without_label,
            labels_elsewhere: self.elsewhere,
            unreadable_labels: self.unreadable,
            lower_is_better: policies.own.direction() == Direction::LowerIsBetter,
            opposite_directions: policies
                .other
                .is_some_and(|it| it.direction() != policies.own.direction()),
            same_scale: *same_scale,
            constant_scores: self.pairs.iter().all(|pair| pair.score == first.score),
            constant_labels: self.pairs.iter().all(|pair| pair.label == first.label),
            mean_score: mean(self.pairs.iter().map(|pair| pair.score)),
            mean_label: labels.and_then(mean),
            correlations: numbers.as_ref().map(|numbers| {
                let found = correlations(numbers);
                Correlations { alpha: found.alpha.filter(|_| *same_scale), ..found }
            }),
            errors: numbers.as_ref().filter(|_| *same_scale).and_then(|it| Errors::of(it)),
            binary: binary
                .as_ref()
                .map(|(binary, rule)| binary.agreement(rule.clone(), &case_of, &folds, FOLDS)),
            categories: categorized.as_ref().map(Categorized::agreement),
            has_attempts: has_twice(&case_of),
            intervals: BTreeMap::new(),
            bias,
            raters: None,
        };
        agreement.intervals = intervals(&agreement, &read.compared(), &case_of);
        Ok(agreement)
    }

    /// Returns an error if there is nothing to compare, or too much.
    fn refuse_without_pairs(&self, scorer_id: &str, with: &str) -> Result<(), AgreementError> {
        if self.pairs.len() > MAX_PAIRS {
            return Err(AgreementError::TooManyPairs);
        }
        if !self.pairs.is_empty() {
            return Ok(());
        }
        let scorer_id = scorer_id.to_owned();
        if self.cases == self.without_score {
            return Err(AgreementError::NoScores { scorer_id });
        }
        if let Some(what) = self.unreadable_is {
            let (with, labels) = (with.to_owned(), self.unreadable + self.elsewhere);
            return Err(AgreementError::UnreadableLabels { scorer_id, with, labels, what });
        }
        let keys = self.keys.clone().unwrap_or_default();
        Err(AgreementError::NoLabels { scorer_id, with: with.to_owned(), keys })
    }

    /// The forms in which scores and labels can be compared; an error if there is none, or if no label is one that
    /// should be positive.
    fn read(
        &self,
        with: &str,
        policies: Policies,
        options: AgreementOptions<'_>,
    ) -> Result<Read, AgreementError> {
        let numbers = self.numbers();
        let Policies { own, other } = policies;
        let rule = self.positive_rule(options.positive, own, other, numbers.as_deref());
        let positives = self.positives(rule.as_ref(), other);
        let is_named = options.positive != Positive::Better;
        if is_named && !positives.contains(&Some(true)) {
            let (with, labels) = (with.to_owned(), self.some_labels());
            return Err(AgreementError::NonePositive { with, labels });
        }
        let categorized = match &numbers {
            Some(numbers) => categories_of_numbers(numbers),
            None => self.categories_of_words(),
        };
        let binary: Option<Vec<bool>> = positives.into_iter().collect();
        if numbers.is_none() && categorized.is_none() && binary.is_none() {
            let (with, words) = (with.to_owned(), self.some_labels());
            return Err(match self.other_categories() {
                Some(categories) => AgreementError::OtherWords { with, words, categories },
                None => AgreementError::WhichArePositive { with, words },
            });
        }
        let binary = binary.zip(rule).map(|(yes, rule)| {
            let cases = self.pairs.iter().zip(yes).map(|(pair, yes)| (pair.score, yes));
            (Binary::new(cases.collect(), own, options.threshold), rule)
        });
        let same_scale = numbers.as_ref().is_some_and(|numbers| policies.same_scale(numbers));
        Ok(Read { numbers, categorized, binary, same_scale })
    }

    /// Whether the error depends on the requested property; an error if no case has it, or if no errors can be
    /// computed.
    fn bias(
        &self,
        read: &Read,
        scorer_id: &str,
        policy: Policy,
        options: AgreementOptions<'_>,
    ) -> Result<Option<Bias>, AgreementError> {
        let Some(by) = options.by else { return Ok(None) };
        let name = match by {
            By::Key(text) => text.to_owned(),
            By::OutputLength => "output length".to_owned(),
        };
        let decided = read.binary.as_ref().and_then(|(binary, _)| self.wrong_decisions(binary));
        let (unit, erring) = match (decided, &read.numbers) {
            (Some(erring), _) => (BiasUnit::Rate, erring),
            (None, Some(_)) => self.differences(policy, read.same_scale),
            (None, None) => {
                let (With::Label(with) | With::Scorer(with)) = options.with;
                return Err(self.no_errors(name, with, scorer_id, read.binary.is_some()));
            }
        };
        let bias = bias(name, unit, &erring, &self.words);
        if let (By::Key(by), true) = (by, bias.groups.is_empty()) {
            let keys = self.keys.clone().unwrap_or_default();
            return Err(AgreementError::NoGroups { by: by.to_owned(), keys });
        }
        Ok(Some(bias))
    }

    /// Why labels that are words have no errors.
    fn no_errors(
        &self,
        by: String,
        with: &str,
        scorer_id: &str,
        is_known_which_are_positive: bool,
    ) -> AgreementError {
        let with = with.to_owned();
        match is_known_which_are_positive {
            false => AgreementError::ErrorsOfWords { by, with, words: self.some_labels() },
            true => {
                let scorer_id = scorer_id.to_owned();
                AgreementError::ErrorsWithoutThreshold { by, with, scorer_id }
            }
        }
    }

    /// For each case, whether the scorer passes it and should not, or the reverse; `None` if nothing defines what
    /// passes.
    fn wrong_decisions(&self, binary: &Binary) -> Option<Vec<Erring>> {
        let number = |yes: bool| f64::from(u8::from(yes));
        let erring = self.pairs.iter().zip(binary.labels()).map(|(pair, yes)| {
            let (score, label) = (number(binary.passes(pair.score)?), number(yes));
            let error = score - label;
            Some(Erring { value: pair.by, case: pair.case, score, label, error, size: 1.0 })
        });
        erring.collect()
    }

    /// How far scores are from labels that are numbers, case by case.
    fn differences(&self, policy: Policy, same_scale: bool) -> (BiasUnit, Vec<Erring>) {
        let pairs = self.pairs.iter().filter_map(|pair| match pair.label {
            Value::Number(label) => Some((pair, label)),
            Value::Word(_) => None,
        });
        let (mut scores, mut labels) = (Mean::default(), Mean::default());
        for (pair, label) in pairs.clone() {
            scores.add(pair.score);
            labels.add(label);
        }
        let stddev = |of: &Mean| of.sample_stddev().filter(|stddev| *stddev > 0.0);
        let in_stddevs = |number: f64, of: &Mean| stddev(of).map_or(0.0, |stddev| number / stddev);
        let standing =
            |number: f64, of: &Mean| of.get().map_or(0.0, |mean| in_stddevs(number - mean, of));
        let erring = pairs.map(|(pair, label)| {
            let (error, size) = match same_scale {
                true => (pair.score - label, pair.score.abs().max(label.abs())),
                false => (
                    standing(pair.score, &scores) - standing(label, &labels),
                    in_stddevs(pair.score, &scores).abs().max(in_stddevs(label, &labels).abs()),
                ),
            };
            // If lower scores are better, a lower score is in the case's favour.
            let error = match policy.direction() {
                Direction::HigherIsBetter => error,
                Direction::LowerIsBetter => -error,
            };
            let (value, case, score) = (pair.by, pair.case, pair.score);
            Erring { value, case, score, label, error, size }
        });
        let unit = if same_scale { BiasUnit::Score } else { BiasUnit::StandardDeviations };
        (unit, erring.collect())
    }
}

impl Read {
    /// The values for which intervals are bootstrapped.
    fn compared(&self) -> Compared<'_> {
        Compared {
            binary: self.binary.as_ref().map(|(binary, _)| binary),
            numbers: self.numbers.as_deref(),
            same_scale: self.same_scale,
            categories: self.categorized.as_ref().map(|it| InCategories {
                count: it.names.len(),
                has_order: it.has_order,
                pairs: &it.pairs,
            }),
        }
    }
}

fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let mut mean = Mean::default();
    numbers.for_each(|number| mean.add(number));
    mean.get()
}

/// Whether a number occurs twice.
fn has_twice(numbers: &[u64]) -> bool {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}
