//! Scores and labels in categories: which categories exist, and how often both are in the same one. It reads no label.

use super::agreement::CategoryAgreement;
use crate::stats::{
    Rate,
    agreement::{Categories, Weights},
};

/// The largest number of categories for which there is a table.
pub(super) const MAX_CATEGORIES: usize = 20;

/// Cases in categories: the indices of the label's and the scorer's category among the names.
pub(super) struct Categorized {
    pub(super) names: Vec<String>,
    pub(super) has_order: bool,
    pub(super) pairs: Vec<(usize, usize)>,
}

impl Categorized {
    pub(super) fn agreement(&self) -> CategoryAgreement {
        let mut categories = Categories::new(self.names.len());
        self.pairs.iter().for_each(|(label, chosen)| categories.add(*label, *chosen));
        let table: Vec<Vec<u64>> = categories.rows().map(<[u64]>::to_vec).collect();
        let same = table.iter().enumerate().filter_map(|(index, row)| row.get(index)).sum();
        let of_order = |figure: Option<f64>| figure.filter(|_| self.has_order);
        CategoryAgreement {
            names: self.names.clone(),
            has_order: self.has_order,
            accuracy: Rate::of(same, categories.cases()),
            table,
            kappa: categories.kappa(Weights::None),
            kappa_linear: of_order(categories.kappa(Weights::Linear)),
            kappa_quadratic: of_order(categories.kappa(Weights::Quadratic)),
            alpha_ordinal: of_order(categories.alpha_ordinal()),
            alpha: categories.alpha_nominal(),
        }
    }
}

/// The categories of numbers: 3 to 20 different ones, on both sides together, most of which occur on both sides.
pub(super) fn categories_of_numbers(numbers: &[(f64, f64)]) -> Option<Categorized> {
    let different = |of: &dyn Fn(&(f64, f64)) -> f64| {
        let mut seen: Vec<f64> = Vec::new();
        for number in numbers.iter().map(of) {
            if let Err(index) = seen.binary_search_by(|it| it.total_cmp(&(number + 0.0))) {
                seen.insert(index, number + 0.0);
                if seen.len() > MAX_CATEGORIES {
                    return None;
                }
            }
        }
        Some(seen)
    };
    let (scores, labels) = (different(&|pair| pair.0)?, different(&|pair| pair.1)?);
    let shared = scores.iter().filter(|score| labels.contains(score)).count();
    let mut all = [scores, labels].concat();
    all.sort_unstable_by(f64::total_cmp);
    all.dedup();
    if !(3..=MAX_CATEGORIES).contains(&all.len()) || shared * 2 < all.len() {
        return None;
    }
    let index = |number: f64| all.iter().position(|it| *it == number);
    let pairs = numbers.iter().map(|(score, label)| Some((index(*label)?, index(*score)?)));
    Some(Categorized {
        names: all.iter().map(f64::to_string).collect(),
        has_order: true,
        pairs: pairs.collect::<Option<_>>()?,
    })
}
