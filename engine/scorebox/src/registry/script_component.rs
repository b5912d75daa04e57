//! Combines a script and the component that runs scripts into one component: the script becomes a part of the
//! component's initial memory. It reads no files, and does not look into the script.

use crate::contract::SCRIPT_SECTION;

/// Marks a place in the engine's data. After it come the address and the size of the room for a script, four bytes each
/// (`script-engines/javascript/src/slot.rs`).
const MARK: &[u8] = b"scorebox: room for a script (1)\n";
/// The size of the script's length, which precedes the script, in bytes.
const LENGTH_BYTES: usize = 4;
/// The size of magic and version, before the sections of a module or a component, in bytes.
const PREAMBLE_BYTES: usize = 8;
/// The name of the export that a script without a summary must not have.
const SUMMARY: &[u8] = b"scorebox:scorer/summary@";

/// Sections of a component (component model, binary format).
const CUSTOM: u8 = 0;
const CORE_MODULE: u8 = 1;
const INSTANCES: u8 = 5;
const EXPORTS: u8 = 11;
/// Sections of a core module (core specification 5.5).
const DATA: u8 = 11;
const DATA_COUNT: u8 = 12;

/// Why there is no component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotMade {
    /// The script is larger than the engine's room for it.
    TooLarge { max_bytes: usize },
    /// The component does not run scripts.
    NoEngine,
}

/// The component that runs `script`: the engine with the script in its memory, and without the export `summary` unless
/// the script `summarizes`. A custom section records `language`.
pub(super) fn component_of(
    engine: &[u8],
    language: &str,
    script: &[u8],
    summarizes: bool,
) -> Result<Vec<u8>, NotMade> {
    let mut filled = false;
    let mut component = preamble(engine)?.to_vec();
    for section in sections(engine) {
        let (id, content) = section?;
        match id {
            CORE_MODULE if holds(content, MARK) => {
                push_section(&mut component, id, &module_with(content, script)?);
                filled = true;
            }
            EXPORTS if !summarizes && holds(content, SUMMARY) => {
                // An empty instance replaces it, so that the indices after it do not change.
                let (1, _) = number(content).ok_or(NotMade::NoEngine)? else {
                    return Err(NotMade::NoEngine);
                };
                push_section(&mut component, INSTANCES, &[1, 1, 0]);
            }
            id => push_section(&mut component, id, content),
        }
    }
    let mut said = encoded(SCRIPT_SECTION.len() as u64);
    said.extend_from_slice(SCRIPT_SECTION.as_bytes());
    said.extend_from_slice(language.as_bytes());
    push_section(&mut component, CUSTOM, &said);
    if filled { Ok(component) } else { Err(NotMade::NoEngine) }
}

/// A core module with one more data segment: the script, after its length.
fn module_with(module: &[u8], script: &[u8]) -> Result<Vec<u8>, NotMade> {
    let mut bytes = preamble(module)?.to_vec();
    for section in sections(module) {
        let (id, content) = section?;
        match id {
            DATA_COUNT => {
                let (count, _) = number(content).ok_or(NotMade::NoEngine)?;
                push_section(&mut bytes, id, &encoded(count + 1));
            }
            DATA => push_section(&mut bytes, id, &data_with(content, script)?),
            id => push_section(&mut bytes, id, content),
        }
    }
    Ok(bytes)
}

fn data_with(data: &[u8], script: &[u8]) -> Result<Vec<u8>, NotMade> {
    let (address, room) = room(data).ok_or(NotMade::NoEngine)?;
    let max_bytes = room.saturating_sub(LENGTH_BYTES);
    let length = u32::try_from(script.len()).ok().filter(|_| script.len() <= max_bytes);
    let length = length.ok_or(NotMade::TooLarge { max_bytes })?;
    let (count, segments) = number(data).ok_or(NotMade::NoEngine)?;
    let mut bytes = encoded(count + 1);
    bytes.extend_from_slice(segments);
    // An active segment of memory 0, at a constant address.
    bytes.extend_from_slice(&[0, 0x41]);
    bytes.extend(signed(address));
    bytes.push(0x0b);
    bytes.extend(encoded(u64::from(length) + LENGTH_BYTES as u64));
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(script);
    Ok(bytes)
}

/// The address and the size of the room for a script.
fn room(data: &[u8]) -> Option<(u32, usize)> {
    let at = data.windows(MARK.len()).position(|window| window == MARK)?;
    let (_, behind) = data.split_at_checked(at + MARK.len())?;
    let (address, behind) = behind.split_first_chunk()?;
    let (size, _) = behind.split_first_chunk()?;
    Some((u32::from_le_bytes(*address), u32::from_le_bytes(*size).try_into().ok()?))
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn preamble(bytes: &[u8]) -> Result<&[u8], NotMade> {
    bytes.get(..PREAMBLE_BYTES).ok_or(NotMade::NoEngine)
}

/// The sections after the preamble, each with its id and content.
fn sections(bytes: &[u8]) -> impl Iterator<Item = Result<(u8, &[u8]), NotMade>> {
    let mut rest = bytes.get(PREAMBLE_BYTES..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (id, behind) = rest.split_first()?;
        let section = number(behind).and_then(|(length, behind)| {
            let (content, behind) = behind.split_at_checked(usize::try_from(length).ok()?)?;
            rest = behind;
            Some((*id, content))
        });
        if section.is_none() {
            rest = &[];
        }
        Some(section.ok_or(NotMade::NoEngine))
    })
}

fn push_section(bytes: &mut Vec<u8>, id: u8, content: &[u8]) {
    bytes.push(id);
    bytes.extend(encoded(content.len() as u64));
    bytes.extend_from_slice(content);
}

/// An unsigned LEB128 number of at most 32 bits, and the bytes after it.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0;
    for (index, byte) in bytes.iter().enumerate().take(5) {
        number |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((number, bytes.get(index + 1..)?));
        }
    }
    None
}

fn encoded(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// The signed LEB128 of an `i32.const` with the bits of `address`.
fn signed(address: u32) -> Vec<u8> {
    let mut number = address.cast_signed();
    let mut bytes = Vec::new();
    loop {
        let byte = (number & 0x7f) as u8;
        number >>= 7;
        let done = (number == 0 && byte & 0x40 == 0) || (number == -1 && byte & 0x40 != 0);
        bytes.push(if done { byte } else { byte | 0x80 });
        if done {
            return bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A component around a module with room for 12 bytes at the address 70000.
    fn engine() -> Vec<u8> {
        let mark = "scorebox: room for a script (1)\\n";
        let (address, size) = ("\\70\\11\\01\\00", "\\0c\\00\\00\\00");
        wat::parse_str(format!(
            r#"(component
                (core module (memory 2) (data (i32.const 8) "{mark}{address}{size}"))
                (instance $summary) (export "scorebox:scorer/summary@0.1.0" (instance $summary))
                (instance $scoring) (export "scorebox:scorer/scoring@0.1.0" (instance $scoring)))"#
        ))
        .unwrap()
    }

    #[test]
    fn the_script_stands_in_the_memory_behind_its_length() {
        let component = component_of(&engine(), "logo", b"12345678", true).unwrap();
        wasmparser::validate(&component).unwrap();
        let segment = b"\x41\xf0\xa2\x04\x0b\x0c\x08\0\0\x0012345678";
        assert!(holds(&component, segment));
        assert!(holds(&component, SUMMARY));
        assert!(component.ends_with(b"\x0fscorebox:scriptlogo"));
    }

    #[test]
    fn a_script_without_a_summary_does_not_export_one() {
        let component = component_of(&engine(), "logo", b"1", false).unwrap();
        wasmparser::validate(&component).unwrap();
        assert!(!holds(&component, SUMMARY));
        assert!(holds(&component, b"scorebox:scorer/scoring@"));
    }

    #[test]
    fn a_script_that_is_larger_than_the_room_is_refused() {
        let refused = component_of(&engine(), "logo", b"123456789", true);
        assert_eq!(refused, Err(NotMade::TooLarge { max_bytes: 8 }));
    }

    #[test]
    fn what_runs_no_scripts_is_refused_wherever_it_ends() {
        let engine = engine();
        for end in 0..engine.len() {
            match component_of(&engine[..end], "logo", b"1", true) {
                // What follows the module is missing: whether the rest is a component is checked elsewhere.
                Ok(made) => assert!(holds(&made, MARK)),
                Err(error) => assert_eq!(error, NotMade::NoEngine),
            }
        }
    }

    #[test]
    fn addresses_are_written_as_constants() {
        assert_eq!(signed(0), [0]);
        assert_eq!(signed(63), [63]);
        assert_eq!(signed(64), [0xc0, 0]);
        assert_eq!(signed(u32::MAX), [0x7f]);
    }
}
