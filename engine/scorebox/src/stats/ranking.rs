//! Orders and ranks: who comes before whom, and who shares a rank. It knows no entrant and no score.

#![expect(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "a formula has these numbers and no others"
)]

use std::cmp::Ordering;

use super::rounding::difference;

/// The numbers that are ranked; they are finite.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Merit {
    /// The value that decides; merits without a value come last.
    pub value: Option<f64>,
    /// Decides between equal values: the earlier time comes first, and merits without a time come last.
    pub at: Option<f64>,
}

/// Which value is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Best {
    /// The highest.
    Highest,
    /// The lowest.
    Lowest,
}

impl Best {
    /// Which of two comes first; they are equal if both value and time are.
    pub fn compare(self, one: Merit, other: Merit) -> Ordering {
        let by_value = match self {
            Best::Highest => present_first(one.value, other.value, |a, b| b.total_cmp(&a)),
            Best::Lowest => present_first(one.value, other.value, |a, b| a.total_cmp(&b)),
        };
        by_value.then_with(|| present_first(one.at, other.at, |a, b| a.total_cmp(&b)))
    }
}

fn present_first(
    one: Option<f64>,
    other: Option<f64>,
    compare: impl Fn(f64, f64) -> Ordering,
) -> Ordering {
    match (one, other) {
        // Adding 0 makes `-0` an ordinary 0.
        (Some(one), Some(other)) => compare(one + 0.0, other + 0.0),
        (one, other) => other.is_some().cmp(&one.is_some()),
    }
}

/// Makes values equal that differ only by rounding, like means of the same numbers that were added in another order.
pub fn level(merits: &mut [&mut Merit]) {
    merits.sort_by(|one, other| Best::Lowest.compare(**one, **other));
    let mut lowest = None;
    for value in merits.iter_mut().filter_map(|merit| merit.value.as_mut()) {
        match lowest {
            Some(lowest) if difference(lowest, *value) == 0.0 => *value = lowest,
            _ => lowest = Some(*value),
        }
    }
}

/// The rank of a merit, and whether it is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranked {
    /// From 1; equal merits share a rank, and the next rank is higher by their number. `None` without a value.
    pub rank: Option<u64>,
    /// Whether others share it.
    pub is_tied: bool,
}

/// The ranks of sorted merits, the first one first.
pub fn ranks(best: Best, merits: &[Merit]) -> Vec<Ranked> {
    let same = |one: usize, other: usize| match (merits.get(one), merits.get(other)) {
        (Some(one), Some(other)) => best.compare(*one, *other).is_eq(),
        _ => false,
    };
    let mut first_of_equals = 0;
    let rank = |(index, merit): (usize, &Merit)| {
        if index > 0 && !same(index - 1, index) {
            first_of_equals = index;
        }
        let has_rank = merit.value.is_some();
        Ranked {
            rank: has_rank.then_some(first_of_equals as u64 + 1),
            is_tied: has_rank && (first_of_equals < index || same(index, index + 1)),
        }
    };
    merits.iter().enumerate().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merit(value: impl Into<Option<f64>>, at: impl Into<Option<f64>>) -> Merit {
        Merit { value: value.into(), at: at.into() }
    }

    /// The ranks of these merits after sorting; `=` marks shared ranks.
    fn shown(best: Best, mut merits: Vec<Merit>) -> Vec<String> {
        merits.sort_by(|one, other| best.compare(*one, *other));
        let shown = |ranked: Ranked| {
            let rank = ranked.rank.map_or("-".to_owned(), |rank| rank.to_string());
            if ranked.is_tied { rank + "=" } else { rank }
        };
        ranks(best, &merits).into_iter().map(shown).collect()
    }

    #[test]
    fn equals_share_a_rank_and_the_next_comes_after_all_of_them() {
        let merits = [9.0, 7.0, 9.0, 5.0, 7.0].map(|value| merit(value, None));
        assert_eq!(shown(Best::Highest, merits.to_vec()), ["1=", "1=", "3=", "3=", "5"]);
        assert_eq!(shown(Best::Lowest, merits.to_vec()), ["1", "2=", "2=", "4=", "4="]);
        assert_eq!(shown(Best::Lowest, vec![merit(0.0, None), merit(-0.0, None)]), ["1=", "1="]);
    }

    #[test]
    fn values_that_only_rounding_keeps_apart_are_equal() {
        let mut merits = [0.2, (0.1 + 0.2 + 0.3) / 3.0, 0.15, (0.15 + 0.25) / 2.0, 0.2 + 1e-9]
            .map(|value| merit(value, None));
        level(&mut merits.iter_mut().collect::<Vec<_>>());
        assert_eq!(shown(Best::Highest, merits.to_vec()), ["1", "2=", "2=", "2=", "5"]);
        level(&mut []);
    }

    #[test]
    fn the_earlier_one_of_equal_values_comes_first() {
        let merits = vec![merit(9.0, None), merit(9.0, 20.0), merit(9.0, 10.0), merit(9.0, 20.0)];
        assert_eq!(shown(Best::Highest, merits.clone()), ["1", "2=", "2=", "4"]);
        let first = merits.into_iter().min_by(|one, other| Best::Highest.compare(*one, *other));
        assert_eq!(first, Some(merit(9.0, 10.0)));
    }

    #[test]
    fn without_a_value_there_is_no_rank_whichever_is_best() {
        for best in [Best::Highest, Best::Lowest] {
            let merits = vec![merit(None, 1.0), merit(3.0, None), merit(None, 1.0)];
            assert_eq!(shown(best, merits), ["1", "-", "-"]);
            assert_eq!(shown(best, vec![]), [""; 0]);
        }
    }
}
