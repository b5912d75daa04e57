//! Compares scores with labels that are yes or no: which cases pass, which are positive, and the figures of both. It
//! reads no label.

use super::{agreement::BinaryAgreement, bias::Attempts, labels::PositiveRule};
use crate::{
    contract::{Direction, Scale},
    stats::agreement::{
        BestThreshold, Calibration, Categories, Confusion, Weights, best_threshold, rank_trend,
        roc_auc,
    },
    verdict::Policy,
};

/// The threshold on the scale from 0 to 1, if nothing else defines one.
const HALF: f64 = 0.5;

/// The least number of cases, and the largest p value, with which scores count as reversed.
const LEAST_CASES: usize = 10;
const SHOWN: f64 = 0.05;

/// Scores and labels, case by case.
pub(super) struct Binary {
    threshold: Option<f64>,
    lower_is_better: bool,
    is_unit: bool,
    cases: Vec<(f64, bool)>,
}

impl Binary {
    /// These scores, each with whether its label is positive. Scores at `threshold` or better pass; it is the scorer's
    /// own unless another one is requested.
    pub(super) fn new(cases: Vec<(f64, bool)>, policy: Policy, asked: Option<f64>) -> Binary {
        let is_unit = policy.scale() == Scale::Unit;
        Binary {
            threshold: asked.or(policy.declared_threshold()).or(is_unit.then_some(HALF)),
            lower_is_better: policy.direction() == Direction::LowerIsBetter,
            is_unit,
            cases,
        }
    }

    /// Whether a score passes; `None` if nothing defines it.
    pub(super) fn passes(&self, score: f64) -> Option<bool> {
        self.threshold.map(|threshold| match self.lower_is_better {
            true => score <= threshold,
            false => score >= threshold,
        })
    }

    /// Whether each label is positive.
    pub(super) fn labels(&self) -> impl Iterator<Item = bool> {
        self.cases.iter().map(|(_, yes)| *yes)
    }

    /// 1 or -1: multiplied by this, higher scores are better.
    fn sign(&self) -> f64 {
        if self.lower_is_better { -1.0 } else { 1.0 }
    }

    /// Which cases pass, compared with which are positive, for the cases at these indices.
    pub(super) fn confusion(&self, indices: &[usize]) -> Option<Confusion> {
        self.threshold?;
        let mut confusion = Confusion::default();
        for (score, yes) in self.at(indices) {
            confusion.add(self.passes(score)?, yes);
        }
        Some(confusion)
    }

    /// The area under the ROC curve of the cases at these indices.
    pub(super) fn roc_auc(&self, indices: &[usize]) -> Option<f64> {
        let signed: Vec<(f64, bool)> =
            self.at(indices).map(|(score, yes)| (self.sign() * score, yes)).collect();
        roc_auc(&signed)
    }

    /// The scores of the cases at these indices as probabilities, on the scale from 0 to 1.
    pub(super) fn calibration(&self, indices: &[usize]) -> Option<Calibration> {
        let cases: Vec<(f64, bool)> = self.at(indices).collect();
        self.is_unit.then(|| Calibration::of(&cases, self.lower_is_better)).flatten()
    }

    /// The same for all attempts; `case_of` has the case of each.
    fn calibration_of_all(&self, case_of: &[u64]) -> Option<Calibration> {
        let of_all = || Calibration::of_attempts(&self.cases, case_of, self.lower_is_better);
        self.is_unit.then(of_all).flatten()
    }

    /// Whether positive cases have worse scores than others, by more than chance. Attempts at a case, which `case_of`
    /// identifies, count once.
    fn is_reversed(&self, case_of: &[u64], roc_auc: Option<f64>) -> bool {
        let attempts = Attempts::of(case_of.iter().copied());
        let all: Vec<usize> = (0..self.cases.len()).collect();
        let scores = attempts.means(&all, &|index| self.sign() * self.cases[index].0);
        let labels = attempts.means(&all, &|index| f64::from(u8::from(self.cases[index].1)));
        let trend = rank_trend(&labels, &scores);
        scores.len() >= LEAST_CASES
            && roc_auc.is_some_and(|area| area < HALF)
            && trend.is_some_and(|(rho, p)| rho < 0.0 && p < SHOWN)
    }

    fn best_threshold(&self, fold_of: &[usize], folds: usize) -> Option<BestThreshold> {
        let sign = self.sign();
        let signed: Vec<(f64, bool)> =
            self.cases.iter().map(|(score, yes)| (sign * score, *yes)).collect();
        best_threshold(&signed, fold_of, folds).map(|best| BestThreshold {
            threshold: sign * best.threshold + 0.0,
            of_folds: best.of_folds.iter().map(|it| sign * it + 0.0).collect(),
            ..best
        })
    }

    fn at(&self, indices: &[usize]) -> impl Iterator<Item = (f64, bool)> {
        indices.iter().filter_map(|index| self.cases.get(*index).copied())
    }

    /// All figures, over all attempts; `case_of` has the case of each. Each case has a fold, below `folds`. `rule` is
    /// why labels are positive.
    pub(super) fn agreement(
        &self,
        rule: PositiveRule,
        case_of: &[u64],
        fold_of: &[usize],
        folds: usize,
    ) -> BinaryAgreement {
        let all: Vec<usize> = (0..self.cases.len()).collect();
        let confusion = self.confusion(&all);
        let categories = confusion.map(categories);
        let roc_auc = self.roc_auc(&all);
        BinaryAgreement {
            positives: self.cases.iter().filter(|(_, yes)| *yes).count() as u64,
            positive: rule,
            reversed: self.is_reversed(case_of, roc_auc),
            threshold: self.threshold,
            confusion,
            accuracy: confusion.and_then(|it| it.accuracy()),
            precision: confusion.and_then(|it| it.precision()),
            recall: confusion.and_then(|it| it.recall()),
            specificity: confusion.and_then(|it| it.specificity()),
            f1: confusion.and_then(|it| it.f1()),
            balanced_accuracy: confusion.and_then(|it| it.balanced_accuracy()),
            kappa: categories.as_ref().and_then(|it| it.kappa(Weights::None)),
            alpha: categories.as_ref().and_then(Categories::alpha_nominal),
            roc_auc,
            best_threshold: self.best_threshold(fold_of, folds),
            calibration: self.calibration_of_all(case_of),
        }
    }
}

/// Yes and no as two categories.
pub(super) fn categories(confusion: Confusion) -> Categories {
    let Confusion { true_positives, false_positives, false_negatives, true_negatives } = confusion;
    let mut categories = Categories::new(2);
    categories.add_many(1, 1, true_positives);
    categories.add_many(1, 0, false_positives);
    categories.add_many(0, 1, false_negatives);
    categories.add_many(0, 0, true_negatives);
    categories
}
