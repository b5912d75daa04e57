//! The attempts at a case in two runs: parts of them, and whether some are missing in one. Reads no database.

use super::side_by_side::OneCase;

/// A part of the attempts at a case.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) count: u64,
    pub(super) attempts: u64,
}

impl Part {
    pub(super) fn is_larger_than(self, other: Part) -> bool {
        self.count * other.attempts > other.count * self.attempts
    }
}

impl OneCase {
    /// So many of its attempts.
    pub(super) fn part(&self, count: u64) -> Part {
        Part { count, attempts: self.attempts }
    }
}

/// How many attempts both runs have at the cases that both have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ComparedAttempts {
    fewer_in_b: u64,
    /// Those of the second run at its first case.
    first_of_b: Option<u64>,
    is_uneven_in_b: bool,
}

impl ComparedAttempts {
    pub(super) fn add(&mut self, a: u64, b: u64) {
        self.fewer_in_b += u64::from(b < a);
        self.is_uneven_in_b |= *self.first_of_b.get_or_insert(b) != b;
    }

    /// Cases of which attempts are missing in the second run, unless it has equally many everywhere: that is a choice,
    /// and leaves out none because of its outcome.
    pub(super) fn fewer_in_b(self) -> u64 {
        if self.is_uneven_in_b { self.fewer_in_b } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_different_numbers_of_attempts_are_compared_as_parts() {
        let part = |count, attempts| Part { count, attempts };
        assert!(part(1, 1).is_larger_than(part(0, 1)));
        assert!(part(2, 4).is_larger_than(part(1, 4)));
        assert!(!part(1, 4).is_larger_than(part(1, 4)));
        assert!(!part(2, 8).is_larger_than(part(1, 4)));
        assert!(!part(0, 4).is_larger_than(part(1, 4)));
    }

    #[test]
    fn attempts_are_missing_if_some_cases_have_fewer_than_others() {
        let fewer = |attempts: &[[u64; 2]]| {
            let mut compared = ComparedAttempts::default();
            attempts.iter().for_each(|[a, b]| compared.add(*a, *b));
            compared.fewer_in_b()
        };
        assert_eq!(fewer(&[[3, 3], [3, 1], [3, 2]]), 2);
        assert_eq!(fewer(&[[10, 3], [10, 3], [11, 3]]), 0);
        assert_eq!(fewer(&[[1, 3], [1, 2]]), 0);
    }
}
