//! The intervals of figures of agreement: by bootstrap, or by formulas if they exist. It decides no label.

use std::collections::BTreeMap;

use super::{
    agreement::{Agreement, Figure},
    binary::{Binary, categories},
};
use crate::stats::{
    Rate,
    agreement::{Categories, Errors, Weights, correlations},
    bootstrapped_intervals,
};

/// Figures whose intervals are bootstrapped.
const BOOTSTRAPPED: [Figure; 23] = [
    Figure::Accuracy,
    Figure::Precision,
    Figure::Recall,
    Figure::Specificity,
    Figure::F1,
    Figure::BalancedAccuracy,
    Figure::Kappa,
    Figure::Alpha,
    Figure::RocAuc,
    Figure::Brier,
    Figure::SameCategory,
    Figure::CategoryKappa,
    Figure::CategoryKappaLinear,
    Figure::CategoryKappaQuadratic,
    Figure::CategoryAlpha,
    Figure::CategoryAlphaOrdinal,
    Figure::Pearson,
    Figure::Spearman,
    Figure::Kendall,
    Figure::IntervalAlpha,
    Figure::MeanError,
    Figure::MeanAbsoluteError,
    Figure::RootMeanSquareError,
];

/// The values from which figures are computed.
#[derive(Default)]
pub(super) struct Compared<'a> {
    pub(super) binary: Option<&'a Binary>,
    /// Scores and labels, if labels are numbers.
    pub(super) numbers: Option<&'a [(f64, f64)]>,
    /// Whether they are on one scale.
    pub(super) same_scale: bool,
    pub(super) categories: Option<InCategories<'a>>,
}

/// Labels and scores in categories.
#[derive(Clone, Copy)]
pub(super) struct InCategories<'a> {
    /// How many categories there are.
    pub(super) count: usize,
    pub(super) has_order: bool,
    /// The indices of the categories of label and scorer.
    pub(super) pairs: &'a [(usize, usize)],
}

impl Compared<'_> {
    /// The figures of the pairs at these indices, in the order of [`BOOTSTRAPPED`].
    fn figures(&self, indices: &[usize]) -> [Option<f64>; BOOTSTRAPPED.len()] {
        let mut figures = BTreeMap::new();
        self.of_binary(indices, &mut figures);
        self.of_categories(indices, &mut figures);
        self.of_numbers(indices, &mut figures);
        BOOTSTRAPPED.map(|figure| figures.get(&figure).copied().flatten())
    }

    fn of_numbers(&self, indices: &[usize], figures: &mut BTreeMap<Figure, Option<f64>>) {
        let Some(numbers) = self.numbers else { return };
        let pairs: Vec<(f64, f64)> =
            indices.iter().filter_map(|index| numbers.get(*index).copied()).collect();
        let found = correlations(&pairs);
        figures.extend([
            (Figure::Pearson, found.pearson),
            (Figure::Spearman, found.spearman),
            (Figure::Kendall, found.kendall),
        ]);
        if self.same_scale {
            let errors = Errors::of(&pairs);
            figures.extend([
                (Figure::IntervalAlpha, found.alpha),
                (Figure::MeanError, errors.map(|it| it.mean)),
                (Figure::MeanAbsoluteError, errors.map(|it| it.mean_absolute)),
                (Figure::RootMeanSquareError, errors.map(|it| it.root_mean_square)),
            ]);
        }
    }

    fn of_binary(&self, indices: &[usize], figures: &mut BTreeMap<Figure, Option<f64>>) {
        let Some(binary) = self.binary else { return };
        figures.insert(Figure::RocAuc, binary.roc_auc(indices));
        figures.insert(Figure::Brier, binary.calibration(indices).map(|it| it.brier));
        let Some(confusion) = binary.confusion(indices) else { return };
        let categories = categories(confusion);
        let rate = |rate: Option<Rate>| rate.map(|it| it.rate);
        figures.extend([
            (Figure::Accuracy, rate(confusion.accuracy())),
            (Figure::Precision, rate(confusion.precision())),
            (Figure::Recall, rate(confusion.recall())),
            (Figure::Specificity, rate(confusion.specificity())),
            (Figure::F1, confusion.f1()),
            (Figure::BalancedAccuracy, confusion.balanced_accuracy()),
            (Figure::Kappa, categories.kappa(Weights::None)),
            (Figure::Alpha, categories.alpha_nominal()),
        ]);
    }

    fn of_categories(&self, indices: &[usize], figures: &mut BTreeMap<Figure, Option<f64>>) {
        let Some(InCategories { count, has_order, pairs }) = self.categories else { return };
        let mut categories = Categories::new(count);
        let mut same = 0;
        for (label, chosen) in indices.iter().filter_map(|index| pairs.get(*index)) {
            categories.add(*label, *chosen);
            same += u64::from(label == chosen);
        }
        figures.extend([
            (Figure::SameCategory, Rate::of(same, categories.cases()).map(|it| it.rate)),
            (Figure::CategoryKappa, categories.kappa(Weights::None)),
            (Figure::CategoryAlpha, categories.alpha_nominal()),
        ]);
        if has_order {
            figures.extend([
                (Figure::CategoryKappaLinear, categories.kappa(Weights::Linear)),
                (Figure::CategoryKappaQuadratic, categories.kappa(Weights::Quadratic)),
                (Figure::CategoryAlphaOrdinal, categories.alpha_ordinal()),
            ]);
        }
    }
}

/// The intervals of the figures of an agreement; `case_of` has the case of each pair. Rates and Pearson's r have
/// intervals from formulas, unless several attempts at one case would make these too narrow.
pub(super) fn intervals(
    agreement: &Agreement,
    compared: &Compared<'_>,
    case_of: &[u64],
) -> BTreeMap<Figure, (f64, f64)> {
    let bootstrapped = bootstrapped_intervals(case_of, |indices| compared.figures(indices));
    let bootstrapped =
        BOOTSTRAPPED.into_iter().zip(bootstrapped).filter_map(|(figure, it)| Some((figure, it?)));
    let mut intervals: BTreeMap<Figure, (f64, f64)> = bootstrapped.collect();
    if agreement.has_attempts {
        return intervals;
    }
    let of_rate = |rate: Option<Rate>| rate.map(|it| (it.low, it.high));
    let binary = agreement.binary.as_ref();
    let by_formula = [
        (Figure::Accuracy, of_rate(binary.and_then(|it| it.accuracy))),
        (Figure::Precision, of_rate(binary.and_then(|it| it.precision))),
        (Figure::Recall, of_rate(binary.and_then(|it| it.recall))),
        (Figure::Specificity, of_rate(binary.and_then(|it| it.specificity))),
        (Figure::SameCategory, of_rate(agreement.categories.as_ref().and_then(|it| it.accuracy))),
        (Figure::Pearson, agreement.correlations.as_ref().and_then(|it| it.pearson_interval)),
    ];
    for (figure, interval) in by_formula {
        match interval {
            Some(interval) => intervals.insert(figure, interval),
            None => intervals.remove(&figure),
        };
    }
    intervals
}
