//! The scores of two runs in pairs, and their figures: for one scorer, or for the verdicts. It reads no database.

use super::comparison::{Change, ComparedScores, Finding};
use crate::{
    contract::{Direction, Scale},
    stats::paired::{
        Differences, Passes, WinsAndLosses, cases_needed, difference, fewest_cases,
        smallest_difference,
    },
};

/// The pairs of one scorer, or of the verdicts.
pub(super) struct Pairs {
    direction: Direction,
    scale: Scale,
    pub(super) differences: Differences,
    passes: Passes,
    has_threshold: bool,
    is_repeated: bool,
    only_a: u64,
    only_b: u64,
    pub(super) errors_b: u64,
    pub(super) absent_b: u64,
    pub(super) failed_spared: u64,
    pub(super) failed_errored: u64,
    changes: Vec<Change>,
}

impl Pairs {
    pub(super) fn new(direction: Direction, scale: Scale) -> Pairs {
        Pairs {
            direction,
            scale,
            differences: Differences::default(),
            passes: Passes::default(),
            has_threshold: true,
            is_repeated: false,
            only_a: 0,
            only_b: 0,
            errors_b: 0,
            absent_b: 0,
            failed_spared: 0,
            failed_errored: 0,
            changes: Vec::new(),
        }
    }

    pub(super) fn add(
        &mut self,
        case_id: &str,
        scores: [Option<f64>; 2],
        passes: [Option<bool>; 2],
        is_repeated: bool,
        most_changes: usize,
    ) {
        let (a, b) = match scores {
            [Some(a), Some(b)] => (a, b),
            [Some(_), None] => {
                self.only_a += 1;
                return;
            }
            [None, Some(_)] => {
                self.only_b += 1;
                return;
            }
            [None, None] => return,
        };
        self.is_repeated |= is_repeated;
        self.differences.add(a, b);
        match passes {
            [Some(a), Some(b)] => self.passes.add(a, b),
            _ => self.has_threshold = false,
        }
        let difference = difference(a, b);
        if difference != 0.0 {
            // Cases come in the order of their ids; among equal changes, the first stays first.
            let larger = |it: &Change| it.difference.abs() >= difference.abs();
            let index = self.changes.partition_point(larger);
            if index < most_changes {
                self.changes
                    .insert(index, Change { case_id: case_id.to_owned(), a, b, difference });
                self.changes.truncate(most_changes);
            }
        }
    }

    /// Which scores are the best score, if all are the best or the worst.
    fn best_scores(&self) -> Option<Passes> {
        let ones = self.differences.ones().filter(|_| self.scale == Scale::Unit)?;
        Some(match self.direction {
            Direction::HigherIsBetter => ones,
            Direction::LowerIsBetter => Passes {
                both: ones.neither,
                only_first: ones.only_second,
                only_second: ones.only_first,
                neither: ones.both,
            },
        })
    }

    /// How much better the next pair of scores is: more is better, and 0 is no change or no pair.
    pub(super) fn improvement(&self, scores: [Option<f64>; 2]) -> f64 {
        match (scores, self.direction) {
            ([Some(a), Some(b)], Direction::HigherIsBetter) => difference(a, b),
            ([Some(a), Some(b)], Direction::LowerIsBetter) => difference(b, a),
            _ => 0.0,
        }
    }

    /// Whether a score changed. If none did, no test of them can find anything, whichever scores are swapped.
    pub(super) fn have_changed(&self) -> bool {
        self.differences.up() + self.differences.down() > 0
    }

    /// The largest difference that scores can have.
    pub(super) fn largest(&self) -> f64 {
        match self.scale {
            Scale::Unit => 1.0,
            Scale::Points => f64::MAX,
        }
    }

    /// `tests` is how many of those that are finished together changed.
    pub(super) fn finish(self, asked: Option<f64>, tests: u64) -> ComparedScores {
        // A loss would make it one of them.
        let is_test = self.have_changed() || self.differences.pairs() == 0;
        let tests = if is_test { tests } else { tests + 1 };
        let largest = self.largest();
        let differences = &self.differences;
        let pairs = differences.pairs();
        let (up, down) = (differences.up(), differences.down());
        let (wins, losses) = match self.direction {
            Direction::HigherIsBetter => (up, down),
            Direction::LowerIsBetter => (down, up),
        };
        let wins = WinsAndLosses { wins, losses, ties: pairs - wins - losses };
        let passes = match (pairs > 0 && !self.is_repeated, self.has_threshold) {
            (false, _) => None,
            (true, true) => Some(self.passes),
            (true, false) => self.best_scores(),
        };
        let spread = differences.spread();
        let difference = differences.mean();
        let needed = |spread| {
            let of = asked.or(difference).filter(|it| it.abs() <= largest)?;
            cases_needed(spread, of, tests)
        };
        let smallest = |spread| {
            smallest_difference(spread, pairs, tests).filter(|smallest| *smallest <= largest)
        };
        ComparedScores {
            finding: Finding::NoPairs,
            pairs,
            only_a: self.only_a,
            only_b: self.only_b,
            errors_b: self.errors_b,
            absent_b: self.absent_b,
            failed_spared: self.failed_spared,
            failed_errored: self.failed_errored,
            mean_a: differences.mean_of_first(),
            mean_b: differences.mean_of_second(),
            difference,
            interval: differences.interval(-largest..=largest),
            test: differences.test(),
            p_corrected: None,
            sign_test: (pairs > 0).then(|| wins.sign_test()),
            effect: differences.effect(),
            wins,
            passes,
            mcnemar: passes.map(|passes| passes.mcnemar()),
            smallest_difference: spread.and_then(smallest),
            cases_needed: spread.and_then(needed),
            fewest_cases: fewest_cases(tests),
            changes: self.changes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(direction: Direction, scale: Scale, scores: &[[f64; 2]]) -> Option<Passes> {
        let mut pairs = Pairs::new(direction, scale);
        for [a, b] in scores {
            pairs.add("case", [Some(*a), Some(*b)], [None, None], false, 0);
        }
        pairs.finish(None, 1).passes
    }

    #[test]
    fn without_a_threshold_the_best_score_passes_whichever_end_of_the_scale_it_is() {
        let scores = [[1.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]];
        let higher = Passes { both: 1, only_first: 2, only_second: 1, neither: 1 };
        let lower = Passes { both: 1, only_first: 1, only_second: 2, neither: 1 };
        assert_eq!(passes(Direction::HigherIsBetter, Scale::Unit, &scores), Some(higher));
        assert_eq!(passes(Direction::LowerIsBetter, Scale::Unit, &scores), Some(lower));
    }

    #[test]
    fn so_few_pairs_that_a_loss_of_each_shows_nothing_are_too_few() {
        let of = |count: usize, tests| {
            let mut pairs = Pairs::new(Direction::HigherIsBetter, Scale::Unit);
            for _ in 0..count {
                pairs.add("case", [Some(1.0), Some(0.0)], [None, None], false, 0);
            }
            let scores = pairs.finish(None, tests);
            let p = scores.test.map_or(1.0, |test| test.p * tests as f64);
            assert_eq!(scores.are_too_few(), count > 0 && p >= 0.05, "{count} of {tests} tests");
            scores.fewest_cases
        };
        assert_eq!([of(5, 1), of(6, 1), of(8, 7), of(9, 7), of(0, 1)], [6, 6, 9, 9, 6]);
    }

    #[test]
    fn of_points_without_a_threshold_nothing_says_what_passes() {
        let scores = [[1.0, 1.0], [1.0, 0.0]];
        assert_eq!(passes(Direction::HigherIsBetter, Scale::Points, &scores), None);
    }
}
