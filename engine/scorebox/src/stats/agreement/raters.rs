//! Several raters who assign the same cases to categories, and how much of their agreement is more than chance. Raters
//! have no names: the ratings of a case have no order.

use std::collections::BTreeMap;

/// The sums over several raters' ratings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Raters {
    /// Cases by how many ratings they have.
    by_count: BTreeMap<usize, Rated>,
}

/// Cases with the same number of ratings.
#[derive(Clone, Debug, Default, PartialEq)]
struct Rated {
    cases: u64,
    /// Ordered pairs of equal ratings of one case, over all cases.
    same_pairs: f64,
    /// How often each category occurred.
    totals: BTreeMap<usize, u64>,
}

impl Raters {
    /// Adds a case: the category that each of its raters chose. One rating alone says nothing about agreement.
    pub fn add(&mut self, ratings: &[usize]) {
        if ratings.len() < 2 {
            return;
        }
        let mut of_case: BTreeMap<usize, u64> = BTreeMap::new();
        ratings.iter().for_each(|category| *of_case.entry(*category).or_default() += 1);
        let rated = self.by_count.entry(ratings.len()).or_default();
        rated.cases += 1;
        for (category, times) in of_case {
            rated.same_pairs += (times * (times - 1)) as f64;
            *rated.totals.entry(category).or_default() += times;
        }
    }

    /// Cases with two ratings or more.
    pub fn cases(&self) -> u64 {
        self.by_count.values().map(|rated| rated.cases).sum()
    }

    /// The number of ratings that most cases have, and how many cases those are.
    pub fn usual(&self) -> Option<(usize, u64)> {
        let usual = self.by_count.iter().max_by_key(|(_, rated)| rated.cases)?;
        Some((*usual.0, usual.1.cases))
    }

    /// The part of a case's pairs of raters who agree, as its mean over cases: each counts once, however many ratings
    /// it has. `None` without a case.
    pub fn same(&self) -> Option<f64> {
        let sum: f64 =
            self.by_count.iter().map(|(count, rated)| rated.same_pairs / pairs(*count)).sum();
        (self.cases() > 0).then(|| sum / self.cases() as f64)
    }

    /// Fleiss' kappa over the cases with the [usual](Raters::usual) number of ratings: 1 is full agreement, 0 is
    /// agreement by chance. `None` if only one category occurred.
    ///
    /// Fleiss, "Measuring nominal scale agreement among many raters", Psychological Bulletin 76 (1971).
    pub fn fleiss_kappa(&self) -> Option<f64> {
        let (count, cases) = self.usual()?;
        let rated = self.by_count.get(&count)?;
        let same = rated.same_pairs / pairs(count) / cases as f64;
        let ratings = cases as f64 * count as f64;
        let by_chance: f64 =
            rated.totals.values().map(|times| (*times as f64 / ratings).powi(2)).sum();
        (rated.totals.len() > 1).then(|| (same - by_chance) / (1.0 - by_chance))
    }

    /// Krippendorff's alpha for categories without an order, over all cases with two ratings or more. `None` if only
    /// one category occurred.
    ///
    /// Krippendorff, "Computing Krippendorff's alpha-reliability" (2011).
    pub fn alpha_nominal(&self) -> Option<f64> {
        let mut totals: BTreeMap<usize, f64> = BTreeMap::new();
        let mut observed = 0.0;
        for (count, rated) in &self.by_count {
            let different = rated.cases as f64 * pairs(*count) - rated.same_pairs;
            observed += different / (*count as f64 - 1.0);
            for (category, times) in &rated.totals {
                *totals.entry(*category).or_default() += *times as f64;
            }
        }
        let ratings: f64 = totals.values().sum();
        let by_chance = ratings.powi(2) - totals.values().map(|times| times.powi(2)).sum::<f64>();
        (totals.len() > 1).then(|| 1.0 - (ratings - 1.0) * observed / by_chance)
    }
}

/// The number of ordered pairs of `count` ratings.
fn pairs(count: usize) -> f64 {
    count as f64 * (count as f64 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rated(cases: &[&[usize]]) -> Raters {
        let mut raters = Raters::default();
        cases.iter().for_each(|ratings| raters.add(ratings));
        raters
    }

    #[track_caller]
    fn is_near(found: Option<f64>, expected: f64) {
        assert!(found.is_some_and(|found| (found - expected).abs() < 1e-9), "{found:?}");
    }

    /// Ten cases, fourteen raters, five categories; kappa from statsmodels 0.15.
    #[test]
    fn fleiss_kappa_is_that_of_a_table_that_others_computed() {
        let table = [
            [0, 0, 0, 0, 14],
            [0, 2, 6, 4, 2],
            [0, 0, 3, 5, 6],
            [0, 3, 9, 2, 0],
            [2, 2, 8, 1, 1],
            [7, 7, 0, 0, 0],
            [3, 2, 6, 3, 0],
            [2, 5, 3, 2, 2],
            [6, 5, 2, 1, 0],
            [0, 2, 2, 3, 7],
        ];
        let mut raters = Raters::default();
        for row in table {
            let times = row.iter().enumerate();
            let ratings: Vec<usize> =
                times.flat_map(|(category, times)| std::iter::repeat_n(category, *times)).collect();
            raters.add(&ratings);
        }
        assert_eq!((raters.cases(), raters.usual()), (10, Some((14, 10))));
        is_near(raters.fleiss_kappa(), 0.209_930_704_421_955_22);
        is_near(raters.same(), 0.378_021_978_021_978);
    }

    /// Three coders, each of whom leaves out units; alpha from the package krippendorff 0.8.
    #[test]
    fn alpha_takes_cases_that_some_raters_left_out() {
        let raters = rated(&[
            &[1],
            &[2, 2],
            &[1, 1],
            &[3, 3],
            &[3, 3, 4],
            &[4, 4, 4],
            &[1, 3],
            &[2, 2],
            &[1, 1],
            &[1, 1],
            &[3, 3],
            &[3, 3],
            &[3, 4],
        ]);
        assert_eq!((raters.cases(), raters.usual()), (12, Some((2, 10))));
        is_near(raters.alpha_nominal(), 0.691_358_024_691_358);
    }

    #[test]
    fn one_category_or_no_case_leaves_agreement_beyond_chance_undefined() {
        let one = rated(&[&[0, 0, 0], &[0, 0, 0]]);
        assert_eq!((one.same(), one.fleiss_kappa(), one.alpha_nominal()), (Some(1.0), None, None));
        let none = rated(&[&[1]]);
        assert_eq!((none.same(), none.fleiss_kappa(), none.alpha_nominal()), (None, None, None));
        assert_eq!(none.usual(), None);
    }
}
