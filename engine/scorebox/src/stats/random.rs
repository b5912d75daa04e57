//! Random numbers that are the same for the same seed, on every machine. It does not know what they are for.

use chacha20::{
    ChaCha12Rng,
    rand_core::{Rng as _, SeedableRng as _},
};

/// The seed of every computation here that draws: the same data always give the same figures.
pub(super) const SEED: u64 = 0x73_63_6f_72_65;

/// A generator of random numbers.
pub(super) struct Random(ChaCha12Rng);

impl Random {
    /// The generator for this seed.
    pub(super) fn new(seed: u64) -> Random {
        Random(ChaCha12Rng::seed_from_u64(seed))
    }

    /// 64 bits, each 0 or 1 with equal chance.
    pub(super) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `numbers`, which is 1 or more; each is equally likely. (Lemire, "Fast random integer generation
    /// in an interval", ACM Transactions on Modeling and Computer Simulation 29, 2019.)
    pub(super) fn below(&mut self, numbers: u64) -> u64 {
        let mut product = u128::from(self.bits()) * u128::from(numbers);
        if (product as u64) < numbers {
            let uneven = numbers.wrapping_neg() % numbers;
            while (product as u64) < uneven {
                product = u128::from(self.bits()) * u128::from(numbers);
            }
        }
        (product >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_equally_likely() {
        let mut random = Random::new(SEED);
        let mut drawn = [0_u32; 10];
        (0..30_000).for_each(|_| drawn[random.below(10) as usize] += 1);
        // 3000 expected; 250 is more than four standard deviations.
        assert!(drawn.iter().all(|count| count.abs_diff(3000) < 250), "{drawn:?}");
    }

    #[test]
    fn a_seed_has_its_numbers() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            (0..8).map(|_| random.below(1 << 40)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
