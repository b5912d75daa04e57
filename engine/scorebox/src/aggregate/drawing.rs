//! The intervals of figures of agreement: by drawing cases again, and by formulas where there are some. Decides no label.

use std::collections::BTreeMap;

use super::{
    agreement::{Agreement, Figure},
    yes_or_no::{YesOrNo, categories},
};
use crate::stats::{
    Rate,
    agreement::{Categories, Weights, correlations},
    drawn_intervals,
};

/// Figures whose intervals are drawn.
const DRAWN: [Figure; 20] = [
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
];

/// What figures are computed of.
#[derive(Default)]
pub(super) struct Compared<'a> {
    pub(super) yes_or_no: Option<&'a YesOrNo>,
    /// Scores and labels, if labels are numbers.
    pub(super) numbers: Option<&'a [(f64, f64)]>,
    pub(super) categories: Option<InCategories<'a>>,
}

/// Labels and scores in categories.
#[derive(Clone, Copy)]
pub(super) struct InCategories<'a> {
    /// How many categories there are.
    pub(super) count: usize,
    pub(super) has_order: bool,
    /// The places of those of label and scorer.
    pub(super) pairs: &'a [(usize, usize)],
}

impl Compared<'_> {
    /// The figures of the pairs at these places, as [`DRAWN`] names them.
    fn figures(&self, places: &[usize]) -> [Option<f64>; DRAWN.len()] {
        let mut figures = BTreeMap::new();
        self.of_yes_or_no(places, &mut figures);
        self.of_categories(places, &mut figures);
        if let Some(numbers) = self.numbers {
            let pairs: Vec<(f64, f64)> =
                places.iter().filter_map(|place| numbers.get(*place).copied()).collect();
            let found = correlations(&pairs);
            figures.extend([
                (Figure::Pearson, found.pearson),
                (Figure::Spearman, found.spearman),
                (Figure::Kendall, found.kendall),
                (Figure::IntervalAlpha, found.alpha),
            ]);
        }
        DRAWN.map(|figure| figures.get(&figure).copied().flatten())
    }

    fn of_yes_or_no(&self, places: &[usize], figures: &mut BTreeMap<Figure, Option<f64>>) {
        let Some(yes_or_no) = self.yes_or_no else { return };
        figures.insert(Figure::RocAuc, yes_or_no.roc_auc(places));
        figures.insert(Figure::Brier, yes_or_no.calibration(places).map(|it| it.brier));
        let Some(confusion) = yes_or_no.confusion(places) else { return };
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

    fn of_categories(&self, places: &[usize], figures: &mut BTreeMap<Figure, Option<f64>>) {
        let Some(InCategories { count, has_order, pairs }) = self.categories else { return };
        let mut categories = Categories::new(count);
        let mut same = 0;
        for (label, chosen) in places.iter().filter_map(|place| pairs.get(*place)) {
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

/// The intervals of the figures of an agreement, of pairs of which `case_of` says the case. Rates and Pearson's r have those of formulas,
/// unless attempts at one case make these too narrow.
pub(super) fn intervals(
    agreement: &Agreement,
    compared: &Compared<'_>,
    case_of: &[u64],
) -> BTreeMap<Figure, (f64, f64)> {
    let drawn = drawn_intervals(case_of, |places| compared.figures(places));
    let drawn = DRAWN.into_iter().zip(drawn).filter_map(|(figure, it)| Some((figure, it?)));
    let mut intervals: BTreeMap<Figure, (f64, f64)> = drawn.collect();
    if !agreement.same_scale {
        intervals.remove(&Figure::IntervalAlpha);
    }
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
