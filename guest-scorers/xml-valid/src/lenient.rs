//! Finds what the parser accepts although it is not well-formed: references to invalid characters, the XML declaration,
//! and names. What the parser itself refuses is not looked for here.

use crate::bounds::attributes;

/// Text that is skipped, because its content is not markup.
const SKIPPED: [(&str, &str); 3] = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];

/// What is wrong with a text that the parser accepts.
pub(crate) fn fault(text: &str) -> Option<&'static str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rest = text;
    if let Some((inside, after)) = declaration(text) {
        if !is_declaration(inside) {
            return Some("the XML declaration is not valid");
        }
        rest = after;
    }
    while let Some(at) = rest.find(['<', '&']) {
        rest = &rest[at..];
        let (fault, length) = match SKIPPED.iter().find(|(begin, _)| rest.starts_with(begin)) {
            Some((begin, end)) => {
                let inside = &rest[begin.len()..];
                let length = inside.find(end).map_or(rest.len(), |at| begin.len() + at + end.len());
                (instruction_fault(&rest[..length]), length)
            }
            None => (reference_fault(rest).or_else(|| tag_fault(rest)), 1),
        };
        if fault.is_some() {
            return fault;
        }
        rest = &rest[length..];
    }
    None
}

/// The content of the XML declaration, and what follows it.
fn declaration(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix("<?xml")?;
    inside.starts_with(|c: char| c.is_ascii_whitespace()).then(|| inside.split_once("?>"))?
}

fn is_declaration(inside: &str) -> bool {
    let pairs: Vec<_> = attributes(inside).collect();
    let [("version", version), rest @ ..] = pairs.as_slice() else { return false };
    let is_version = version
        .strip_prefix("1.")
        .is_some_and(|minor| !minor.is_empty() && minor.bytes().all(|byte| byte.is_ascii_digit()));
    let rest = match rest {
        [("encoding", name), rest @ ..] if is_encoding(name) => rest,
        rest => rest,
    };
    is_version && matches!(rest, [] | [("standalone", "yes" | "no")])
}

fn is_encoding(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// Only the declaration is called `xml`, and no instruction has a namespace prefix.
fn instruction_fault(skipped: &str) -> Option<&'static str> {
    let target =
        skipped.strip_prefix("<?")?.split(|c: char| c.is_whitespace() || c == '?').next()?;
    if target.contains(':') {
        return Some("the name of a processing instruction must not have a colon");
    }
    target
        .eq_ignore_ascii_case("xml")
        .then_some("a processing instruction must not be called `xml`")
}

/// The parser reads a reference to an invalid character as U+FFFD.
fn reference_fault(text: &str) -> Option<&'static str> {
    let (number, _) = text.strip_prefix("&#")?.split_once(';')?;
    let code = match number.strip_prefix('x') {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => number.parse(),
    };
    let is_character = code.is_ok_and(|code| char::from_u32(code).is_some());
    (!is_character).then_some("a character reference is to no character")
}

/// What is wrong with the prefixes of names in a start tag.
fn tag_fault(text: &str) -> Option<&'static str> {
    let tag = text.strip_prefix('<').filter(|tag| !tag.starts_with(['/', '!']))?;
    let tag = tag.find('<').map_or(tag, |end| &tag[..end]);
    let name = tag.split(|c: char| c.is_whitespace() || c == '/' || c == '>').next()?;
    if !is_qualified(name) || attributes(tag).any(|(name, _)| !is_qualified(name)) {
        return Some("a name has an empty part before or after its colon, or several colons");
    }
    let declares = |(name, value): (&str, &str)| {
        name.strip_prefix("xmlns:").is_some_and(|prefix| value.is_empty() || prefix == "xmlns")
    };
    attributes(tag)
        .any(declares)
        .then_some("a namespace prefix must not be declared as empty, nor may `xmlns` be declared")
}

fn is_qualified(name: &str) -> bool {
    let (prefix, local) = name.split_once(':').unwrap_or(("-", name));
    !prefix.is_empty() && !local.is_empty() && !local.contains(':')
}
