//! Agreement of scores with labels: options, figures, errors. It computes nothing.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    bias::{Bias, By},
    labels::{LabelPlace, Positive, PositiveRule, With, number_in},
    raters::RaterAgreement,
};
use crate::{
    advice::{Advice, Advised, Form, Thing},
    stats::{
        Rate,
        agreement::{BestThreshold, Calibration, Confusion, Correlations, Errors},
    },
    store::{RunState, StoreError},
    suggest::closest,
};

/// How many cases with a score and a label fit in memory.
pub(super) const MAX_PAIRS: usize = 1_000_000;

/// Which scores are compared with which labels, and how.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AgreementOptions<'a> {
    /// Where the labels are.
    pub with: With<'a>,
    /// Only the cases of this task.
    pub node: Option<&'a str>,
    /// The worst score that passes; without it the scorer's own threshold, or 0.5 on the scale from 0 to 1.
    pub threshold: Option<f64>,
    /// Which labels are positive.
    pub positive: Positive<'a>,
    /// The property on which the error may depend.
    pub by: Option<By<'a>>,
    /// Where labels of several people are, to be compared with each other: JSON Pointers, each to a person's label or
    /// to a list with a label of each.
    pub raters: &'a [String],
}

impl<'a> AgreementOptions<'a> {
    /// The agreement with these labels.
    pub fn new(with: With<'a>) -> AgreementOptions<'a> {
        AgreementOptions {
            with,
            node: None,
            threshold: None,
            positive: Positive::default(),
            by: None,
            raters: &[],
        }
    }

    /// The same with this [`node`](AgreementOptions::node).
    #[must_use]
    pub fn with_node(mut self, node: impl Into<Option<&'a str>>) -> AgreementOptions<'a> {
        self.node = node.into();
        self
    }

    /// The same with this [`threshold`](AgreementOptions::threshold).
    #[must_use]
    pub fn with_threshold(mut self, threshold: impl Into<Option<f64>>) -> AgreementOptions<'a> {
        self.threshold = threshold.into();
        self
    }

    /// The same with these [`positive`](AgreementOptions::positive) labels.
    #[must_use]
    pub fn with_positive(mut self, positive: Positive<'a>) -> AgreementOptions<'a> {
        self.positive = positive;
        self
    }

    /// The same with this [`by`](AgreementOptions::by).
    #[must_use]
    pub fn with_by(mut self, by: impl Into<Option<By<'a>>>) -> AgreementOptions<'a> {
        self.by = by.into();
        self
    }

    /// The same with these [`raters`](AgreementOptions::raters).
    #[must_use]
    pub fn with_raters(mut self, raters: &'a [String]) -> AgreementOptions<'a> {
        self.raters = raters;
        self
    }
}

/// How well scores agree with labels.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Agreement {
    /// The run.
    pub run_id: String,
    /// The state of the run. Of a run that is still running, the stored part is compared.
    pub state: RunState,
    /// The scorer.
    pub scorer_id: String,
    /// Where the labels are: a JSON Pointer, or the id of another scorer.
    pub with: String,
    /// The part of the cases that the labels are in; `None` if they are another scorer's scores.
    pub labels_from: Option<LabelPlace>,
    /// All cases; each attempt counts.
    pub cases: u64,
    /// Cases with a score and a label; all figures below are over these.
    pub pairs: u64,
    /// Cases for which the scorer has no score: an error, not applicable, skipped.
    pub without_score: u64,
    /// Cases with a score but without a label.
    pub without_label: u64,
    /// How many of these have a label at the same pointer in another part, which does not count.
    pub labels_elsewhere: u64,
    /// Cases with a score whose label cannot be read: a list, an object, a long text, a word while others have numbers.
    pub unreadable_labels: u64,
    /// Whether lower scores are better.
    pub lower_is_better: bool,
    /// Whether the labels are scores of a scorer with the other direction: correlations and alpha compare the numbers
    /// unchanged.
    pub opposite_directions: bool,
    /// Whether scores and labels seem to be numbers on one scale: figures that compare them directly are then defined.
    pub same_scale: bool,
    /// Whether all scores are equal: figures that need them to vary are then not defined.
    pub constant_scores: bool,
    /// Whether all labels are equal.
    pub constant_labels: bool,
    /// The mean score.
    pub mean_score: Option<f64>,
    /// The mean label, if labels are numbers.
    pub mean_label: Option<f64>,
    /// How scores and labels correlate, if labels are numbers. `alpha` is set only if both are on one scale.
    pub correlations: Option<Correlations>,
    /// How far scores are from labels, if labels are numbers and both are on one scale.
    pub errors: Option<Errors>,
    /// Agreement on yes and no, if it is known which labels are positive.
    pub binary: Option<BinaryAgreement>,
    /// Agreement on categories, if scorer and labels have 3 to 20 of them in common.
    pub categories: Option<CategoryAgreement>,
    /// Whether cases have several attempts with a score and a label. All of them count, and intervals are drawn by
    /// case.
    pub has_attempts: bool,
    /// The 95 % intervals of the figures that have one. If cases have several attempts, use these, which are drawn case
    /// by case: the interval within a rate is then too narrow.
    pub intervals: BTreeMap<Figure, (f64, f64)>,
    /// How errors depend on the requested property.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias: Option<Bias>,
    /// How well people agree with each other, if that was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raters: Option<RaterAgreement>,
}

impl Agreement {
    /// The 95 % interval of a figure.
    pub fn interval(&self, figure: Figure) -> Option<(f64, f64)> {
        self.intervals.get(&figure).copied()
    }
}

/// A figure that may have an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Figure {
    /// The part of the cases with the right decision.
    Accuracy,
    /// The part of the passing cases that is positive.
    Precision,
    /// The part of the positive cases that passes.
    Recall,
    /// The part of the negative cases that does not pass.
    Specificity,
    /// The harmonic mean of precision and recall.
    F1,
    /// The mean of recall and specificity.
    BalancedAccuracy,
    /// Cohen's kappa of yes and no.
    Kappa,
    /// Krippendorff's alpha of yes and no.
    Alpha,
    /// The area under the ROC curve.
    RocAuc,
    /// Brier's score.
    Brier,
    /// The part of the cases with the same category.
    SameCategory,
    /// Cohen's kappa of categories.
    CategoryKappa,
    /// The same with linear weights.
    CategoryKappaLinear,
    /// The same with quadratic weights.
    CategoryKappaQuadratic,
    /// Krippendorff's alpha of categories.
    CategoryAlpha,
    /// Krippendorff's alpha of ordered categories.
    CategoryAlphaOrdinal,
    /// Pearson's r.
    Pearson,
    /// Spearman's rho.
    Spearman,
    /// Kendall's tau-b.
    Kendall,
    /// Krippendorff's alpha of numbers.
    IntervalAlpha,
    /// The mean of the scores less their labels.
    MeanError,
    /// The mean of these differences without their signs.
    MeanAbsoluteError,
    /// The root of the mean of their squares.
    RootMeanSquareError,
}

/// Agreement on yes and no. A figure is `None` if it is not defined: nothing passes, or all labels are equal.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BinaryAgreement {
    /// Cases whose label is positive.
    pub positives: u64,
    /// Which labels are positive.
    pub positive: PositiveRule,
    /// Whether positive cases have worse scores than others, by more than chance (Spearman's rho over at least ten
    /// cases): the labels may mean the opposite.
    pub reversed: bool,
    /// The worst score that passes; `None` for points without a threshold: the figures from `confusion` to `alpha` are
    /// then missing.
    pub threshold: Option<f64>,
    /// Which cases pass, compared with which are positive.
    pub confusion: Option<Confusion>,
    /// The part of the cases with the right decision.
    pub accuracy: Option<Rate>,
    /// The part of the passing cases that is positive.
    pub precision: Option<Rate>,
    /// The part of the positive cases that passes.
    pub recall: Option<Rate>,
    /// The part of the negative cases that does not pass.
    pub specificity: Option<Rate>,
    /// The harmonic mean of precision and recall.
    pub f1: Option<f64>,
    /// The mean of recall and specificity.
    pub balanced_accuracy: Option<f64>,
    /// Cohen's kappa.
    pub kappa: Option<f64>,
    /// Krippendorff's alpha for categories.
    pub alpha: Option<f64>,
    /// The chance that a positive case has a better score than a negative one.
    pub roc_auc: Option<f64>,
    /// The threshold that separates best, by cross-validation in five parts.
    pub best_threshold: Option<BestThreshold>,
    /// The scores as probabilities of a positive label, on the scale from 0 to 1; of a negative label, if lower is
    /// better.
    pub calibration: Option<Calibration>,
}

/// Agreement on categories.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CategoryAgreement {
    /// The categories: numbers in ascending order, or words by name.
    pub names: Vec<String>,
    /// A row for each category of the labels, with how often the scorer chose each category.
    pub table: Vec<Vec<u64>>,
    /// Whether the categories have an order: numbers do.
    pub has_order: bool,
    /// The part of the cases with the same category.
    pub accuracy: Option<Rate>,
    /// Cohen's kappa.
    pub kappa: Option<f64>,
    /// Kappa with linear weights. For words, whose order means nothing, it is `None`, like the next two.
    pub kappa_linear: Option<f64>,
    /// Kappa with quadratic weights.
    pub kappa_quadratic: Option<f64>,
    /// Krippendorff's alpha for ordered categories.
    pub alpha_ordinal: Option<f64>,
    /// Krippendorff's alpha for categories.
    pub alpha: Option<f64>,
}

/// Why agreement cannot be computed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgreementError {
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run does not have a scorer.
    #[error("the run has no scorer `{scorer_id}`")]
    NoSuchScorer {
        /// The requested scorer.
        scorer_id: String,
        /// The scorers of the run.
        scorer_ids: Vec<String>,
    },
    /// The text is not a valid JSON Pointer.
    #[error("`{pointer}` is not a valid JSON Pointer: {reason}")]
    Pointer {
        /// The text.
        pointer: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// The threshold is off the scorer's scale.
    #[error("{threshold} is not on the scale of scorer `{scorer_id}`, which is 0 to 1")]
    Threshold {
        /// The threshold.
        threshold: f64,
        /// The scorer.
        scorer_id: String,
    },
    /// No case has a label.
    #[error("no case with a score of `{scorer_id}` has a label at `{with}`{}", keys_there(.keys))]
    NoLabels {
        /// The scorer.
        scorer_id: String,
        /// Where labels were expected.
        with: String,
        /// The keys of the first case's metadata, its unknown keys, and those of its ground truth.
        keys: Vec<String>,
    },
    /// Cases have labels, but none can be read.
    #[error(
        "no case with a score of `{scorer_id}` has a label at `{with}` that can be read: of {labels} the first is {what}, and a label is a number, a text of up to 256 bytes, `true` or `false`"
    )]
    UnreadableLabels {
        /// The scorer.
        scorer_id: String,
        /// Where the labels are.
        with: String,
        /// How many labels there are.
        labels: u64,
        /// The kind of the first label.
        what: &'static str,
    },
    /// No case with a score and a label has the property to group by.
    #[error("no case with a score and a label has a number or a short text at `{by}`{}", keys_there(.keys))]
    NoGroups {
        /// Where the property was expected.
        by: String,
        /// The keys of the first case's metadata, its unknown keys, and those of its ground truth.
        keys: Vec<String>,
    },
    /// Labels are words of which none is known to be positive: then there are no errors that could depend on anything.
    #[error("errors by `{by}` are not known: the labels at `{with}` are words, and nothing says which of them should pass: {}", listed(.words))]
    ErrorsOfWords {
        /// The property to group errors by.
        by: String,
        /// Where the labels are.
        with: String,
        /// Some of the labels.
        words: Vec<String>,
    },
    /// Labels are words, and nothing defines which scores pass.
    #[error(
        "errors by `{by}` are not known: the labels at `{with}` are words, and scorer `{scorer_id}` has points without a threshold"
    )]
    ErrorsWithoutThreshold {
        /// The property to group errors by.
        by: String,
        /// Where the labels are.
        with: String,
        /// The scorer.
        scorer_id: String,
    },
    /// No case has labels of two people.
    #[error("no case has two labels at {}{}", listed(.raters), keys_there(.keys))]
    NoRaters {
        /// Where the labels were expected.
        raters: Vec<String>,
        /// The keys of the first case's metadata, its unknown keys, and those of its ground truth.
        keys: Vec<String>,
    },
    /// There are labels, but no scores.
    #[error("no case of the run has a score of `{scorer_id}`")]
    NoScores {
        /// The scorer.
        scorer_id: String,
    },
    /// Labels are words, and nothing defines which of them are positive.
    #[error("the labels at `{with}` are words, and the scorer names no categories: {}", listed(.words))]
    WhichArePositive {
        /// Where the labels are.
        with: String,
        /// Some of the labels.
        words: Vec<String>,
    },
    /// Both labels and the scorer's categories are words, but they have no word in common.
    #[error(
        "the labels at `{with}` are other words than the scorer's categories: {}; it names {}",
        listed(.words),
        listed(.categories)
    )]
    OtherWords {
        /// Where the labels are.
        with: String,
        /// Some of the labels.
        words: Vec<String>,
        /// Some of the categories.
        categories: Vec<String>,
    },
    /// No label is one of the positive ones.
    #[error("no label at `{with}` is one of the positive labels that you named; the labels are {}", listed(.labels))]
    NonePositive {
        /// Where the labels are.
        with: String,
        /// Some of the labels.
        labels: Vec<String>,
    },
    /// There are more pairs than fit in memory.
    #[error("more than {MAX_PAIRS} cases have a score and a label")]
    TooManyPairs,
}

fn listed(words: &[String]) -> String {
    let quoted: Vec<String> =
        words.iter().map(|word| format!("`{}`", crate::cut::cut(word, 48))).collect();
    quoted.join(", ")
}

fn keys_there(keys: &[String]) -> String {
    match keys.is_empty() {
        true => String::new(),
        false => format!("; the first case has {}", listed(keys)),
    }
}

impl Advised for AgreementError {
    fn advice(&self) -> Option<Advice> {
        match self {
            AgreementError::Store(error) => error.advice(),
            AgreementError::NoSuchScorer { scorer_id, scorer_ids } => {
                let closest = closest(scorer_id, scorer_ids.iter().map(String::as_str));
                let names = scorer_ids.clone();
                let choose = || Advice::Choose { what: Thing::ScorerOfSuite, names };
                Some(Advice::did_you_mean(&closest).unwrap_or_else(choose))
            }
            AgreementError::Pointer { .. } => Some(Advice::Write(Form::Pointer)),
            AgreementError::NonePositive { labels, .. }
                if labels.iter().any(|label| number_in(label).is_some()) =>
            {
                Some(Advice::Name(Thing::PositiveLabels))
            }
            AgreementError::WhichArePositive { .. }
            | AgreementError::OtherWords { .. }
            | AgreementError::ErrorsOfWords { .. }
            | AgreementError::NonePositive { .. } => Some(Advice::Name(Thing::PositiveWords)),
            AgreementError::NoScores { .. }
            | AgreementError::NoLabels { .. }
            | AgreementError::UnreadableLabels { .. }
            | AgreementError::NoGroups { .. }
            | AgreementError::NoRaters { .. }
            | AgreementError::Threshold { .. }
            | AgreementError::ErrorsWithoutThreshold { .. }
            | AgreementError::TooManyPairs => None,
        }
    }
}
