//! How the fuzzer changes components: some bytes of one section, so that the rest stays valid. Most changes that ignore
//! sections break the first length, and nothing after it is reached.

use std::{borrow::Cow, ops::Range};

use wasmparser::Parser;

use crate::{core_module::module_of, guest::assembled};

/// Bytes that have a meaning in many positions: small numbers, ends of LEB128, instructions, types.
const TELLING: [u8; 24] = [
    0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x0b, 0x0d, 0x10, 0x1a, 0x20, 0x21, 0x28, 0x40, 0x41, 0x44,
    0x60, 0x6a, 0x70, 0x7c, 0x7f, 0x80, 0xfe, 0xff,
];

/// Changes the input of `size` bytes in `data`, which may grow to `most` bytes, and returns its new size. Text is
/// assembled first.
pub fn change_component(data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    change(data, size, most, seed, assembled)
}

/// The same for a core module.
pub fn change_module(data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    change(data, size, most, seed, module_of)
}

fn change(
    data: &mut [u8],
    size: usize,
    most: usize,
    seed: u32,
    assembled: impl Fn(&[u8]) -> Option<Cow<'_, [u8]>>,
) -> usize {
    let size = match assembled(&data[..size]) {
        Some(Cow::Owned(bytes)) if bytes.len() <= most => {
            data[..bytes.len()].copy_from_slice(&bytes);
            bytes.len()
        }
        _ => size,
    };
    let mut dice = Dice(u64::from(seed) << 1 | 1);
    let sections = sections(&data[..size]);
    if sections.is_empty() || dice.below(10) == 0 {
        return libfuzzer_sys::fuzzer_mutate(data, size, most);
    }
    let section = sections[dice.below(sections.len())].clone();
    for _ in 0..=dice.below(3) {
        let place = section.start + dice.below(section.len());
        data[place] = match dice.below(4) {
            0 => data[place] ^ 1 << dice.below(8),
            1 => data[place].wrapping_add(1 + 254 * u8::from(dice.below(2) == 0)),
            2 => data[section.start + dice.below(section.len())],
            _ => TELLING[dice.below(TELLING.len())],
        };
    }
    size
}

/// The ranges of the contents of all sections, including those of nested modules and components.
fn sections(bytes: &[u8]) -> Vec<Range<usize>> {
    let payloads = Parser::new(0).parse_all(bytes).map_while(Result::ok);
    let ranges = payloads.filter_map(|payload| payload.as_section().map(|(_, range)| range));
    let ranges = ranges.map(|range| range.start as usize..(range.end as usize).min(bytes.len()));
    ranges.filter(|range| !range.is_empty()).collect()
}

/// A repeatable source of numbers (xorshift64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}
