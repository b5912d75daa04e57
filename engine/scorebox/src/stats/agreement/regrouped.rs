//! How far apart the errors of two groups would be if cases were assigned to them at random: all ways are counted if
//! they are few, otherwise some are drawn. It does not know what the groups are.

use crate::stats::{
    Mean,
    distributions::{CONFIDENCE, log_ways},
    paired::TestMethod,
    random::{Random, SEED},
};

/// How many ways are counted; ways with the same errors in a group count as one. Twenty cases have fewer.
const MAX_COUNTED: f64 = 200_000.0;

/// With more different numbers than this, the ways cannot be that few: even the ways to choose two are too many.
const MAX_DIFFERENT: usize = 1_000;

/// How many ways are drawn if they are too many to count.
const DRAWS: u32 = 9_999;

/// Up to how many cases are assigned by drawing. With more, the difference is so close to normal that Student's t gives
/// the same result.
const MAX_DRAWN: usize = 200;

/// The largest variance that counts as rounding, if the largest number is 1.
const ROUNDING: f64 = 1e-14;

/// The largest difference of such numbers that counts as rounding.
const NO_DIFFERENCE: f64 = 1e-12;

/// A squared distance counts as equal to the observed one if it is less by at most this part.
const SHORT: f64 = 1e-9;

/// The errors to compare: differences within cases, and the errors of cases on one side only. A stratum with fewer than
/// two of a kind is empty.
pub(super) struct Strata {
    pairs: Vec<f64>,
    group: Vec<f64>,
    others: Vec<f64>,
}

/// A difference and its variance.
#[derive(Clone, Copy)]
pub(super) struct Standing {
    pub(super) difference: f64,
    variance: f64,
}

impl Standing {
    /// The standard error.
    pub(super) fn error(&self) -> f64 {
        self.variance.sqrt()
    }

    /// The square of the difference in standard errors. If nothing varies within groups, any difference is infinite.
    fn far(&self, rounding: f64) -> f64 {
        match self.variance <= rounding {
            _ if self.difference.abs() <= NO_DIFFERENCE => 0.0,
            true => f64::INFINITY,
            false => self.difference.powi(2) / self.variance,
        }
    }
}

impl Strata {
    /// The strata of these numbers; `None` if both are empty.
    pub(super) fn of(pairs: Vec<f64>, group: Vec<f64>, others: Vec<f64>) -> Option<Strata> {
        let mut strata = Strata { pairs, group, others };
        if strata.pairs.len() < 2 {
            strata.pairs.clear();
        }
        if strata.group.len() < 2 || strata.others.len() < 2 {
            (strata.group, strata.others) = (Vec::new(), Vec::new());
        }
        // This makes draws independent of the order of the cases.
        strata.pairs.sort_by(|a, b| a.abs().total_cmp(&b.abs()).then(a.total_cmp(b)));
        strata.group.sort_by(f64::total_cmp);
        strata.others.sort_by(f64::total_cmp);
        (!strata.pairs.is_empty() || !strata.group.is_empty()).then_some(strata)
    }

    /// The same with 0 in the middle of the errors and 1 as the number farthest from it, so that no square overflows,
    /// and the value that 1 represents; `None` if all numbers are equal.
    pub(super) fn in_units(self) -> Option<(Strata, f64)> {
        let Strata { mut pairs, mut group, mut others } = self;
        let mut divide = |middle: f64, unit: f64| {
            let scaled = |number: &mut f64| *number /= unit;
            pairs.iter_mut().for_each(scaled);
            group.iter_mut().chain(&mut others).for_each(|it| *it = (*it - middle) / unit);
            let all = pairs.iter().chain(&group).chain(&others);
            let (mut mean, mut largest) = (Mean::default(), 0.0_f64);
            group.iter().chain(&others).for_each(|number| mean.add(*number));
            all.for_each(|number| largest = largest.max(number.abs()));
            (mean.get().unwrap_or(0.0), largest)
        };
        let (_, first) = divide(0.0, 1.0);
        if first == 0.0 {
            return None;
        }
        let (middle, _) = divide(0.0, first);
        let (_, second) = divide(middle, 1.0);
        if second <= ROUNDING {
            return None;
        }
        divide(0.0, second);
        Some((Strata { pairs, group, others }, first * second))
    }

    /// The weight of the first stratum.
    fn share(&self) -> f64 {
        let (k, l) = (self.group.len() as f64, self.others.len() as f64);
        let pairs = self.pairs.len() as f64 / 2.0;
        let single = if k > 0.0 { k * l / (k + l) } else { 0.0 };
        pairs / (pairs + single)
    }

    /// The largest variance that may be rounding alone.
    fn rounding(&self) -> f64 {
        let sizes = [self.pairs.len(), self.group.len(), self.others.len()];
        let least = sizes.into_iter().filter(|size| *size > 0).min();
        ROUNDING / least.unwrap_or(1) as f64
    }

    fn join(&self, pairs: Standing, single: Standing) -> Standing {
        let (share, rest) = (self.share(), 1.0 - self.share());
        Standing {
            difference: share * pairs.difference + rest * single.difference,
            variance: share.powi(2) * pairs.variance + rest.powi(2) * single.variance,
        }
    }

    /// The observed groups.
    pub(super) fn observed(&self) -> Standing {
        let (total, of) = (self.pairs.iter().sum(), self.single());
        let in_group = Sums::of(&self.group);
        self.join(self.of_pairs(total), of.standing(in_group))
    }

    /// Whether the numbers of each part vary.
    pub(super) fn vary(&self) -> bool {
        let varies = |numbers: &[f64]| numbers.first() != numbers.last();
        let pairs_vary = self.pairs.iter().any(|it| Some(it) != self.pairs.first());
        (self.pairs.is_empty() || pairs_vary)
            && (self.group.is_empty() || varies(&self.group) && varies(&self.others))
    }

    /// The variances whose sum is the variance of the difference, with their degrees of freedom.
    pub(super) fn parts(&self) -> Vec<(f64, f64)> {
        let (share, rest) = (self.share().powi(2), (1.0 - self.share()).powi(2));
        let mut parts = Vec::new();
        if !self.pairs.is_empty() {
            let (variance, freedom) = variance_of_mean(&self.pairs);
            parts.push((share * variance, freedom));
        }
        if !self.group.is_empty() {
            let sides = [&self.group, &self.others].map(|side| (side, variance_of_mean(side)));
            let squares = sides.iter().map(|(side, (it, free))| it * free * side.len() as f64);
            let freedom = sides.iter().map(|(_, (_, freedom))| freedom).sum::<f64>();
            let together = squares.sum::<f64>() / freedom;
            if sides.iter().all(|(_, (variance, _))| *variance > 0.0) {
                parts.extend(sides.map(|(_, (variance, freedom))| (rest * variance, freedom)));
            } else {
                let of_sizes = sides.iter().map(|(side, _)| 1.0 / side.len() as f64).sum::<f64>();
                parts.push((rest * together * of_sizes, freedom));
            }
        }
        parts
    }

    /// The mean difference within cases, if the differences have this sum: their squares do not depend on the signs.
    fn of_pairs(&self, total: f64) -> Standing {
        let count = self.pairs.len() as f64;
        if self.pairs.is_empty() {
            return Standing { difference: 0.0, variance: 0.0 };
        }
        let squares: f64 = self.pairs.iter().map(|it| it * it).sum();
        Standing {
            difference: total / count,
            variance: (squares - total * total / count).max(0.0) / (count - 1.0) / count,
        }
    }

    fn single(&self) -> Single {
        let (group, others) = (Sums::of(&self.group), Sums::of(&self.others));
        let all = Sums { sum: group.sum + others.sum, squares: group.squares + others.squares };
        Single { all, group: self.group.len() as f64, others: self.others.len() as f64 }
    }
}

/// The variance of the mean of these numbers, and its degrees of freedom.
fn variance_of_mean(numbers: &[f64]) -> (f64, f64) {
    let mut mean = Mean::default();
    numbers.iter().for_each(|number| mean.add(*number));
    let variance = mean.sample_stddev().unwrap_or(0.0).powi(2);
    (variance / numbers.len() as f64, numbers.len() as f64 - 1.0)
}

/// The sum of numbers and the sum of their squares.
#[derive(Clone, Copy, Default)]
struct Sums {
    sum: f64,
    squares: f64,
}

impl Sums {
    fn of(numbers: &[f64]) -> Sums {
        numbers.iter().fold(Sums::default(), |sums, number| sums.with(*number, 1.0))
    }

    fn with(self, number: f64, times: f64) -> Sums {
        Sums { sum: self.sum + times * number, squares: self.squares + times * number * number }
    }
}

/// Cases on one side only.
struct Single {
    all: Sums,
    group: f64,
    others: f64,
}

impl Single {
    /// The sums of the errors in the group, if the smaller side has these sums.
    fn of_smaller(&self, sums: Sums) -> Sums {
        match self.group <= self.others {
            true => sums,
            false => {
                let squares = self.all.squares - sums.squares;
                Sums { sum: self.all.sum - sums.sum, squares }
            }
        }
    }

    /// The difference if the errors in the group have these sums.
    fn standing(&self, group: Sums) -> Standing {
        if self.group == 0.0 {
            return Standing { difference: 0.0, variance: 0.0 };
        }
        let sum = self.all.sum - group.sum;
        let others = Sums { sum, squares: self.all.squares - group.squares };
        let variance = |sums: Sums, count: f64| {
            (sums.squares - sums.sum * sums.sum / count).max(0.0) / (count - 1.0) / count
        };
        Standing {
            difference: group.sum / self.group - others.sum / self.others,
            variance: variance(group, self.group) + variance(others, self.others),
        }
    }
}

/// How far from 0 the difference is in each way, squared and in standard errors, and how likely that way is.
pub(super) struct Regrouped {
    ways: Vec<(f64, f64)>,
    rounding: f64,
    pub(super) method: TestMethod,
}

impl Regrouped {
    /// The probability of a way that is at least as far from 0.
    pub(super) fn p(&self, observed: &Standing) -> f64 {
        let far = observed.far(self.rounding) * (1.0 - SHORT);
        let ways = self.ways.iter().take_while(|(way, _)| *way >= far);
        ways.map(|(_, weight)| weight).sum::<f64>().min(1.0)
    }

    /// The largest number of standard errors that is not rejected; `None` if it is infinite.
    pub(super) fn quantile(&self) -> Option<f64> {
        let mut beyond = 0.0;
        let rejected = 1.0 - CONFIDENCE - SHORT;
        let first = self.ways.iter().find(|(_, weight)| {
            beyond += weight;
            beyond >= rejected
        });
        first.map(|(far, _)| far.sqrt()).filter(|far| far.is_finite())
    }
}

/// All ways to assign the cases to groups, or some of them; `None` if there are too many cases for both.
pub(super) fn regrouped(strata: &Strata) -> Option<Regrouped> {
    let rounding = strata.rounding();
    let (mut ways, method) = match counted(strata) {
        Some(ways) => (ways, TestMethod::Exact),
        None => (drawn(strata)?, TestMethod::Seeded),
    };
    // The farthest first; among equally far ones the likeliest first, so that sums are the same every time.
    ways.sort_by(|(a, of_a), (b, of_b)| b.total_cmp(a).then(of_b.total_cmp(of_a)));
    Some(Regrouped { ways, rounding, method })
}

/// Numbers, each once, with how often each occurs; the most frequent first.
fn multiplicities(numbers: impl Iterator<Item = f64>) -> Vec<(f64, usize)> {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    let mut found: Vec<(f64, usize)> =
        numbers.chunk_by(|a, b| a == b).map(|equals| (equals[0], equals.len())).collect();
    found.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.total_cmp(&b.0)));
    found
}

/// All ways, if there are few.
fn counted(strata: &Strata) -> Option<Vec<(f64, f64)>> {
    let distances = strata.pairs.iter().map(|it| it.abs()).filter(|it| *it > 0.0);
    let distances = multiplicities(distances);
    let of_pairs: f64 = distances.iter().map(|(_, times)| *times as f64 + 1.0).product();
    let single = strata.single();
    let all = multiplicities(strata.group.iter().chain(&strata.others).copied());
    let chosen = strata.group.len().min(strata.others.len());
    if of_pairs > MAX_COUNTED || of_pairs * choices(&all, chosen) > MAX_COUNTED {
        return None;
    }
    let signed = signed_sums(&distances);
    let mut choosing = Choosing::of(&all);
    choosing.choose(0, chosen, Sums::default(), 0.0);
    let most = choosing.found.iter().fold(f64::NEG_INFINITY, |most, (_, log)| most.max(*log));
    let mut ways = Vec::with_capacity(signed.len() * choosing.found.len());
    for (sums, log) in choosing.found {
        let standing = single.standing(single.of_smaller(sums));
        for (total, weight) in &signed {
            let way = strata.join(strata.of_pairs(*total), standing);
            ways.push((way.far(strata.rounding()), weight * (log - most).exp()));
        }
    }
    let total: f64 = ways.iter().map(|(_, weight)| weight).sum();
    ways.iter_mut().for_each(|(_, weight)| *weight /= total);
    Some(ways)
}

/// Sums of these numbers, each repeated by its count, with all signs, and how likely each sum is.
fn signed_sums(distances: &[(f64, usize)]) -> Vec<(f64, f64)> {
    let mut sums = vec![(0.0, 1.0)];
    for (distance, times) in distances {
        let (all, half) = (*times as u64, *times as f64 * std::f64::consts::LN_2);
        let ups: Vec<(f64, f64)> = (0..=all)
            .map(|up| {
                let sum = distance * (2.0 * up as f64 - *times as f64);
                (sum, (log_ways(all, up) - half).exp())
            })
            .collect();
        let with = |(sum, weight): &(f64, f64)| {
            let (sum, weight) = (*sum, *weight);
            ups.iter().map(move |(more, of_it)| (sum + more, weight * of_it)).collect::<Vec<_>>()
        };
        sums = sums.iter().flat_map(with).collect();
    }
    sums
}

/// The number of ways to choose `chosen` numbers; ways with the same numbers count as one. Infinite if there are too
/// many to count.
fn choices(numbers: &[(f64, usize)], chosen: usize) -> f64 {
    if numbers.len() > MAX_DIFFERENT {
        return f64::INFINITY;
    }
    let mut ways = vec![0.0; chosen + 1];
    ways[0] = 1.0;
    for (_, times) in numbers {
        // For each size of the choice, the ways with at most this many copies of this number.
        let mut window = 0.0;
        let before = ways.clone();
        for (count, way) in ways.iter_mut().enumerate() {
            window += before[count];
            if count > *times {
                window -= before[count - times - 1];
            }
            *way = window;
        }
        if ways[chosen] > MAX_COUNTED {
            return f64::INFINITY;
        }
    }
    ways[chosen]
}

/// Enumerates all ways to choose numbers.
struct Choosing<'a> {
    numbers: &'a [(f64, usize)],
    /// How many numbers there are from each index on.
    left: Vec<usize>,
    /// The sums of the chosen numbers, with the logarithm of the number of ways to choose them.
    found: Vec<(Sums, f64)>,
}

impl Choosing<'_> {
    fn of(numbers: &[(f64, usize)]) -> Choosing<'_> {
        let mut left = vec![0; numbers.len() + 1];
        for index in (0..numbers.len()).rev() {
            left[index] = left[index + 1] + numbers[index].1;
        }
        Choosing { numbers, left, found: Vec::new() }
    }

    fn choose(&mut self, from: usize, chosen: usize, sums: Sums, log: f64) {
        if chosen == 0 {
            self.found.push((sums, log));
            return;
        }
        let Some((number, times)) = self.numbers.get(from).copied() else { return };
        let least = chosen.saturating_sub(self.left[from + 1]);
        for some in least..=times.min(chosen) {
            let log = log + log_ways(times as u64, some as u64);
            self.choose(from + 1, chosen - some, sums.with(number, some as f64), log);
        }
    }
}

/// Ways that are drawn, and the observed one, which counts as drawn too; `None` if there are too many cases.
fn drawn(strata: &Strata) -> Option<Vec<(f64, f64)>> {
    let single = strata.single();
    let pairs: Vec<f64> = strata.pairs.iter().copied().filter(|it| *it != 0.0).collect();
    let chosen = strata.group.len().min(strata.others.len());
    if pairs.len() + chosen > MAX_DRAWN {
        return None;
    }
    let mut all: Vec<f64> = strata.group.iter().chain(&strata.others).copied().collect();
    all.sort_by(f64::total_cmp);
    let mut random = Random::new(SEED);
    let (weight, rounding) = (1.0 / f64::from(DRAWS + 1), strata.rounding());
    let mut ways = vec![(strata.observed().far(rounding), weight)];
    for _ in 0..DRAWS {
        let mut total = 0.0;
        for some in pairs.chunks(64) {
            let signs = random.bits();
            for (place, difference) in some.iter().enumerate() {
                total += if signs >> place & 1 == 0 { *difference } else { -difference };
            }
        }
        let mut sums = Sums::default();
        for place in 0..chosen {
            let other = place + random.below((all.len() - place) as u64) as usize;
            all.swap(place, other);
            sums = sums.with(all[place], 1.0);
        }
        let way = single.standing(single.of_smaller(sums));
        ways.push((strata.join(strata.of_pairs(total), way).far(rounding), weight));
    }
    Some(ways)
}
