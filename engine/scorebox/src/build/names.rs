//! Shortens the names of functions in a module, which a trap's backtrace shows, for a person: demangled, and without
//! generic parameters. That halves their size. Nothing else in the module changes.

use std::ops::Range;

use wasmparser::{KnownCustom, Name, Parser, Payload};

use super::{
    BuildError,
    section::{push_length, push_section},
};

/// The longest name that stays complete, in bytes: more than a line of a backtrace has.
const LONGEST: usize = 120;

/// The module with short names of its functions, and without other names.
pub(super) fn shorten(module: &[u8]) -> Result<Vec<u8>, BuildError> {
    let broken = |error: wasmparser::BinaryReaderError| BuildError::Component(error.to_string());
    let mut short = Vec::with_capacity(module.len());
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload.map_err(broken)?;
        if let Payload::Version { range, .. } = &payload {
            short.extend_from_slice(bytes_of(module, range)?);
        }
        let Some((id, range)) = payload.as_section() else { continue };
        let names = match &payload {
            Payload::CustomSection(section) => match section.as_known() {
                KnownCustom::Name(names) => Some(names),
                _ => None,
            },
            _ => None,
        };
        let Some(names) = names else {
            push_section(&mut short, id, bytes_of(module, &range)?);
            continue;
        };
        let mut functions = Vec::new();
        for name in names {
            if let Name::Function(map) = name.map_err(broken)? {
                for naming in map {
                    let naming = naming.map_err(broken)?;
                    functions.push((naming.index, readable(naming.name)));
                }
            }
        }
        push_section(&mut short, id, &name_section(&functions));
    }
    Ok(short)
}

/// The bytes of a section; the parser reports the range of some sections before it has seen their end.
fn bytes_of<'m>(module: &'m [u8], range: &Range<usize>) -> Result<&'m [u8], BuildError> {
    let beyond = || BuildError::Component("the module has a section beyond its end".to_owned());
    module.get(range.clone()).ok_or_else(beyond)
}

/// The content of a custom section `name` that has only the names of functions (subsection 1).
fn name_section(functions: &[(u32, String)]) -> Vec<u8> {
    let mut map = Vec::new();
    push_length(&mut map, functions.len());
    for (index, name) in functions {
        push_length(&mut map, *index as usize);
        push_length(&mut map, name.len());
        map.extend_from_slice(name.as_bytes());
    }
    let mut content = Vec::new();
    push_length(&mut content, "name".len());
    content.extend_from_slice(b"name");
    push_section(&mut content, 1, &map);
    content
}

/// A function's name for a person: `<serde_json::de::Deserializer as serde::Deserializer>::next`.
fn readable(name: &str) -> String {
    let Ok(demangled) = rustc_demangle::try_demangle(name) else { return name.to_owned() };
    let mut readable = without_generics(&format!("{demangled:#}"));
    if readable.len() > LONGEST {
        readable.truncate(readable.floor_char_boundary(LONGEST - '…'.len_utf8()));
        readable.push('…');
    }
    readable
}

/// Removes the lists of types after a name or `::`. A list in any other place stays: it shows which type or trait the
/// function belongs to (`<T as Trait>::f`).
fn without_generics(name: &str) -> String {
    let mut kept = String::with_capacity(name.len());
    // The depth inside lists that are removed.
    let mut depth = 0_usize;
    let mut before = None;
    for letter in name.chars() {
        match letter {
            '<' if depth > 0 => depth += 1,
            '<' if before.is_some_and(|before: char| before.is_alphanumeric() || before == ':') => {
                depth = 1;
                kept.truncate(kept.trim_end_matches("::").len());
            }
            '>' if depth > 0 && before != Some('-') => depth -= 1,
            letter if depth == 0 => kept.push(letter),
            _ => {}
        }
        before = Some(letter);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_whose_the_function_is_and_not_what_it_is_generic_over() {
        for (name, expected) in [
            ("<a::Map<alloc::String, b::Value>>::insert", "<a::Map>::insert"),
            ("core::ptr::drop_in_place::<[u8; 3]>", "core::ptr::drop_in_place"),
            (
                "<a::B<C> as d::E<fn(u8) -> u16>>::f::<G>::{closure#0}",
                "<a::B as d::E>::f::{closure#0}",
            ),
            ("plain", "plain"),
        ] {
            assert_eq!(without_generics(name), expected);
        }
    }

    #[test]
    fn names_are_shortened_and_nothing_else_changes() {
        let long = "_RNvNtCs1234_7mycrate3foo3bar";
        let text = format!(
            r#"(module (func $given (@name "{long}") (result i32) (i32.const 7)) (export "f" (func $given)))"#
        );
        let module = wat::parse_str(&text).unwrap();
        let short = shorten(&module).unwrap();
        wasmparser::validate(&short).unwrap();
        let text = String::from_utf8_lossy(&short);
        assert!(text.contains("mycrate::foo::bar") && !text.contains(long), "{text:?}");
        // Unmangled names stay.
        assert_eq!(shorten(&short).unwrap(), short);
    }
}
