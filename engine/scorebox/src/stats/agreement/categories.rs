//! Two raters who assign cases to categories, and how much of their agreement is more than chance. It knows only the
//! indices of the categories.

#![expect(clippy::exhaustive_enums, reason = "a formula has these and no others")]

/// The weight of a disagreement, by the distance between the indices of the categories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// The same for all.
    None,
    /// The distance.
    Linear,
    /// The distance squared.
    Quadratic,
}

/// How often each pair of categories occurred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Categories {
    side: usize,
    counts: Vec<u64>,
}

impl Categories {
    /// Starts with this number of categories, and no case.
    pub fn new(categories: usize) -> Categories {
        Categories { side: categories, counts: vec![0; categories * categories] }
    }

    /// Counts a case that the first rater assigns to the category at index `first`, and the second rater to that at
    /// `second`.
    pub fn add(&mut self, first: usize, second: usize) {
        self.add_many(first, second, 1);
    }

    /// Counts several equal cases.
    pub fn add_many(&mut self, first: usize, second: usize, cases: u64) {
        if first < self.side && second < self.side {
            self.counts[first * self.side + second] += cases;
        }
    }

    /// A row for each category of the first rater, with how often the second chose each.
    pub fn rows(&self) -> impl Iterator<Item = &[u64]> {
        self.counts.chunks(self.side.max(1))
    }

    /// All cases.
    pub fn cases(&self) -> u64 {
        self.counts.iter().sum()
    }

    fn count(&self, first: usize, second: usize) -> f64 {
        self.counts[first * self.side + second] as f64
    }

    fn of_first(&self, first: usize) -> f64 {
        (0..self.side).map(|second| self.count(first, second)).sum()
    }

    fn of_second(&self, second: usize) -> f64 {
        (0..self.side).map(|first| self.count(first, second)).sum()
    }

    /// The sum over all pairs of indices.
    fn over_pairs(&self, term: impl Fn(usize, usize) -> f64) -> f64 {
        let indices = 0..self.side;
        indices
            .clone()
            .flat_map(|a| indices.clone().map(move |b| (a, b)))
            .map(|(a, b)| term(a, b))
            .sum()
    }

    /// Cohen's kappa: 1 is full agreement, 0 is agreement by chance. `None` if both always choose one category.
    ///
    /// Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20 (1960);
    /// with weights, "Weighted kappa", Psychological Bulletin 70 (1968).
    pub fn kappa(&self, weights: Weights) -> Option<f64> {
        let cases = self.cases() as f64;
        let weight = |a: usize, b: usize| {
            let apart = a.abs_diff(b) as f64;
            match weights {
                Weights::None => f64::from(u8::from(a != b)),
                Weights::Linear => apart,
                Weights::Quadratic => apart * apart,
            }
        };
        let firsts: Vec<f64> = (0..self.side).map(|index| self.of_first(index)).collect();
        let seconds: Vec<f64> = (0..self.side).map(|index| self.of_second(index)).collect();
        let observed = self.over_pairs(|a, b| weight(a, b) * self.count(a, b));
        let by_chance = self.over_pairs(|a, b| weight(a, b) * firsts[a] * seconds[b]) / cases;
        (by_chance > 0.0).then(|| 1.0 - observed / by_chance)
    }

    /// Krippendorff's alpha for categories without an order: 1 is full agreement, 0 is agreement by chance. `None` if
    /// only one category occurred.
    ///
    /// Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), by the coincidences of two raters.
    pub fn alpha_nominal(&self) -> Option<f64> {
        self.alpha(|_, a, b| f64::from(u8::from(a != b)))
    }

    /// Krippendorff's alpha for ordered categories: the weight of a disagreement depends on the number of ratings in
    /// between.
    pub fn alpha_ordinal(&self) -> Option<f64> {
        self.alpha(|totals, a, b| {
            let (low, high) = (a.min(b), a.max(b));
            let between: f64 = totals[low..=high].iter().sum();
            (between - f64::midpoint(totals[low], totals[high])).powi(2)
        })
    }

    /// `apart` is the squared difference of two categories, given how often each occurred.
    fn alpha(&self, apart: impl Fn(&[f64], usize, usize) -> f64) -> Option<f64> {
        let totals: Vec<f64> =
            (0..self.side).map(|index| self.of_first(index) + self.of_second(index)).collect();
        let ratings: f64 = totals.iter().sum();
        let apart = |a, b| if a == b { 0.0 } else { apart(&totals, a, b) };
        let observed = self.over_pairs(|a, b| apart(a, b) * (self.count(a, b) + self.count(b, a)));
        let by_chance = self.over_pairs(|a, b| apart(a, b) * totals[a] * totals[b]);
        (by_chance > 0.0).then(|| 1.0 - (ratings - 1.0) * observed / by_chance)
    }
}
