//! Chooses the dictionary against which all components of a gallery are compressed, from what they have in common. It
//! stores nothing.
//!
//! Components of one gallery share most of their code: the standard library, the SDK, crates that several use. A
//! dictionary consists of whole components, so that a chosen component is itself stored only once: those that cover the
//! most bytes of the others for their size, as long as they save more than uncompressing them costs. Two components are
//! more likely one scorer that is built in two ways, with differences everywhere, and only compressing them shows
//! whether a dictionary helps.

use std::{collections::HashMap, io};

use crate::{digest::Digest, packing::pack};

/// The largest dictionary, in bytes: every process that wants a component uncompresses it, in a few milliseconds.
const MAX_BYTES: usize = 4 << 20;
/// The smallest chunk, in bytes; on average it has [`BOUNDARY`] more.
const LEAST_CHUNK_BYTES: usize = 8;
/// One in this many positions is the end of a chunk. A power of two.
const BOUNDARY: u32 = 32;

/// The chunks of a component: the name and the length of each.
type Chunks = HashMap<u64, usize>;

/// The dictionary for these components; empty if they have too little in common.
///
/// # Errors
/// An error of zstd.
pub(super) fn dictionary(components: &[&[u8]]) -> io::Result<Vec<u8>> {
    match components {
        [one, other] => of_two(one, other),
        several => Ok(of_several(several)),
    }
}

/// The first of two components, if the other one takes less than half as much space with it as without.
fn of_two(one: &[u8], other: &[u8]) -> io::Result<Vec<u8>> {
    let fits = one.len() <= MAX_BYTES;
    let saves = fits && 2 * pack(other, one)?.len() < pack(other, b"")?.len();
    Ok(if saves { one.to_vec() } else { Vec::new() })
}

fn of_several(components: &[&[u8]]) -> Vec<u8> {
    let chunks: Vec<Chunks> = components.iter().map(|bytes| chunks(bytes)).collect();
    let mut uncovered: Vec<Chunks> = chunks.clone();
    let mut chosen = Vec::new();
    let mut room = MAX_BYTES;
    while let Some(best) = best(components, &chunks, &uncovered, room) {
        room -= components[best].len();
        chosen.push(best);
        for (index, left) in uncovered.iter_mut().enumerate() {
            left.retain(|chunk, _| index != best && !chunks[best].contains_key(chunk));
        }
    }
    chosen.iter().flat_map(|index| components[*index]).copied().collect()
}

/// The component that fits and covers the most bytes of the others for its size; `None` if it covers fewer than it has.
fn best(
    components: &[&[u8]],
    chunks: &[Chunks],
    uncovered: &[Chunks],
    room: usize,
) -> Option<usize> {
    let fits = components.iter().enumerate().filter(|(_, bytes)| bytes.len() <= room);
    let covered = fits.map(|(index, bytes)| {
        let others = uncovered.iter().enumerate().filter(|(other, _)| *other != index);
        let shared = others
            .flat_map(|(_, left)| left)
            .filter(|(chunk, _)| chunks[index].contains_key(chunk))
            .map(|(_, bytes)| bytes)
            .sum::<usize>();
        (index, shared, bytes.len().max(1))
    });
    // Products instead of quotients are exact, and therefore the same everywhere.
    let best = covered.filter(|(_, shared, own)| shared > own).reduce(|best, next| {
        match next.1 as u128 * best.2 as u128 > best.1 as u128 * next.2 as u128 {
            true => next,
            false => best,
        }
    })?;
    Some(best.0)
}

/// Cuts where the last 32 bytes decide, so that equal ranges are cut equally wherever they are.
fn chunks(bytes: &[u8]) -> Chunks {
    let mut chunks = Chunks::new();
    let gears: Vec<u32> = (0..=u8::MAX).map(|byte| name(&[byte]) as u32).collect();
    let (mut start, mut rolling) = (0, 0_u32);
    for (offset, byte) in bytes.iter().enumerate() {
        rolling = (rolling << 1).wrapping_add(gears[usize::from(*byte)]);
        let end = offset + 1;
        let is_boundary = rolling >> (u32::BITS - BOUNDARY.trailing_zeros()) == 0;
        if (is_boundary && end - start > LEAST_CHUNK_BYTES) || end == bytes.len() {
            chunks.insert(name(&bytes[start..end]), end - start);
            start = end;
        }
    }
    chunks
}

/// The first bytes of a digest, as a number.
fn name(chunk: &[u8]) -> u64 {
    let digest = Digest::of(chunk);
    digest.as_bytes().iter().take(8).fold(0, |name, byte| name << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes without a pattern, the same for the same seed.
    fn noise(seed: u8, bytes: usize) -> Vec<u8> {
        let block = |number: usize| {
            *Digest::of(&[[seed].as_slice(), &number.to_le_bytes()].concat()).as_bytes()
        };
        (0..bytes.div_ceil(32)).flat_map(block).take(bytes).collect()
    }

    #[test]
    fn the_dictionary_is_the_components_that_others_have_most_in_common_with() {
        let (library, parser) = (noise(1, 20_000), noise(2, 60_000));
        let small = [library.clone(), noise(3, 500)].concat();
        let larger = [noise(4, 900), library.clone(), noise(5, 4000)].concat();
        let parses = [library.clone(), parser.clone(), noise(6, 100)].concat();
        let parses_too = [noise(7, 3000), parser.clone(), library].concat();
        let parses_as_well = [parser, noise(8, 5000)].concat();
        let all = [&larger, &parses_too, &small, &parses, &parses_as_well].map(Vec::as_slice);
        assert_eq!(dictionary(&all).unwrap(), [small, parses_as_well].concat());
    }

    #[test]
    fn components_that_share_nothing_have_no_dictionary() {
        let (one, other) = (noise(1, 9000), noise(2, 9000));
        assert_eq!(dictionary(&[&one, &other]).unwrap(), b"");
        assert_eq!(dictionary(&[&one]).unwrap(), b"");
        assert_eq!(dictionary(&[]).unwrap(), b"");
    }

    #[test]
    fn of_two_components_one_is_the_dictionary_if_the_other_is_much_like_it() {
        let one = noise(1, 20_000);
        let other: Vec<u8> = one.chunks(40).flat_map(|chunk| [chunk, b"!"].concat()).collect();
        assert_eq!(dictionary(&[&one, &other]).unwrap(), one);
        let half = [&one[..9000], &noise(2, 11_000)].concat();
        assert_eq!(dictionary(&[&one, &half]).unwrap(), b"");
    }

    #[test]
    fn a_dictionary_has_a_bounded_size() {
        let large = noise(1, MAX_BYTES + 1);
        assert_eq!(dictionary(&[&large, &large]).unwrap(), b"");
        assert_eq!(dictionary(&[&large, &large, &large]).unwrap(), b"");
    }
}
