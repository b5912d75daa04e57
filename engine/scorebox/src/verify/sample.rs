//! Draws the rows of a random sample. It reads no row.

use std::collections::BTreeSet;

use chacha20::{
    ChaCha12Rng,
    rand_core::{Rng as _, SeedableRng as _},
};

/// Draws `count` different indices of `0..total`, ascending; all if there are fewer. Every set of indices is equally
/// likely (Floyd's algorithm: Bentley and Floyd, CACM 30(9), 1987), and the same seed draws the same set on every
/// machine.
pub(super) fn draw(total: u64, count: u64, seed: u64) -> Vec<u64> {
    if count >= total {
        return (0..total).collect();
    }
    let mut random = ChaCha12Rng::seed_from_u64(seed);
    let mut indices = BTreeSet::new();
    for last in total - count..total {
        let index = up_to(&mut random, last);
        if !indices.insert(index) {
            indices.insert(last);
        }
    }
    indices.into_iter().collect()
}

/// A number in `0..=last`, each equally likely: a number beyond the last whole round is drawn again.
fn up_to(random: &mut ChaCha12Rng, last: u64) -> u64 {
    let Some(numbers) = last.checked_add(1) else { return random.next_u64() };
    let rounds = u64::MAX - u64::MAX % numbers;
    loop {
        let number = random.next_u64();
        if number < rounds {
            return number % numbers;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_different_within_range_and_the_same_for_a_seed() {
        let indices = draw(1000, 100, 7);
        assert_eq!(indices.len(), 100);
        assert!(indices.is_sorted_by(|a, b| a < b) && indices.iter().all(|index| *index < 1000));
        assert_eq!(indices, draw(1000, 100, 7));
        assert_ne!(indices, draw(1000, 100, 8));
        assert_eq!(draw(3, 9, 0), [0, 1, 2]);
    }

    #[test]
    fn every_index_is_equally_likely() {
        let mut drawn = [0_u32; 10];
        for seed in 0..10_000 {
            draw(10, 3, seed).iter().for_each(|index| drawn[*index as usize] += 1);
        }
        // 3000 expected; 200 is more than four standard deviations.
        assert!(drawn.iter().all(|count| count.abs_diff(3000) < 200), "{drawn:?}");
    }
}
