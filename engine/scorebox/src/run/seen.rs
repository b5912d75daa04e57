//! Whether a case's name may have come before: a Bloom filter of fixed size (Bloom 1970), so that memory does not grow
//! with the number of cases. A "no" is always right; whether a "maybe" is right is known only to the database.

use std::hash::{BuildHasher as _, RandomState};

/// The size of the filter in bits: 8 MiB. At ten million cases, one in twenty-five is a false "maybe".
const BITS: u64 = 1 << 26;
/// How many bits a name sets.
const HASHES: u64 = 4;

/// The names that came before.
pub(super) struct Seen {
    bits: Box<[u64]>,
    state: RandomState,
}

impl Seen {
    /// Starts without names.
    pub(super) fn new() -> Seen {
        let words = usize::try_from(BITS / 64).unwrap_or(usize::MAX);
        Seen { bits: vec![0; words].into_boxed_slice(), state: RandomState::new() }
    }

    /// Records a name; returns whether it may have come before.
    pub(super) fn note(&mut self, id: &str, iteration: u32, attempt: u32) -> bool {
        let hash = self.state.hash_one((id, iteration, attempt));
        // Two halves of one hash make as many hashes as needed (Kirsch and Mitzenmacher 2006).
        let (first, step) = (hash, (hash >> 32) | 1);
        let mut all = true;
        for number in 0..HASHES {
            let bit = first.wrapping_add(number.wrapping_mul(step)) % BITS;
            let (word, mask) = ((bit / 64) as usize, 1 << (bit % 64));
            all &= self.bits[word] & mask != 0;
            self.bits[word] |= mask;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_came_before_is_always_known() {
        let mut seen = Seen::new();
        let maybes = (0..100_000).filter(|number| seen.note(&number.to_string(), 0, 0)).count();
        assert!(maybes < 10, "{maybes} of 100 000 new names were taken for old ones");
        assert!((0..100_000).all(|number| seen.note(&number.to_string(), 0, 0)));
        assert!(!seen.note("0", 1, 0));
    }
}
