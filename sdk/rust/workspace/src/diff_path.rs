//! Reads the names of files in a unified diff: quoted by git or not, with or without a prefix such as `a/`.

/// The prefixes that git writes before names, including those of `diff.mnemonicPrefix`.
const PREFIXES: [&str; 8] = ["a/", "b/", "i/", "w/", "c/", "o/", "1/", "2/"];

/// At how many positions a line with two names may be split.
const CUTS: usize = 64;

/// The name after `--- ` or `+++ `; `None` for `/dev/null`.
pub(super) fn header_name(text: &str) -> Option<String> {
    let name = match text.strip_prefix('"').and_then(unquote) {
        Some((name, _)) => name,
        // A tab separates the name from a time.
        None => text.split('\t').next().unwrap_or(text).trim_end().to_owned(),
    };
    (name != "/dev/null").then_some(name)
}

/// A name after `rename from ` and the like, which has no prefix.
pub(super) fn bare_name(text: &str) -> String {
    text.strip_prefix('"').and_then(unquote).map_or_else(|| text.to_owned(), |(name, _)| name)
}

/// The two names after `diff --git `.
pub(super) fn git_names(text: &str) -> Option<(String, String)> {
    if let Some((old, rest)) = text.strip_prefix('"').and_then(unquote) {
        return Some((old, bare_name(rest.strip_prefix(' ')?)));
    }
    if text.ends_with('"') {
        let (old, quoted) = text.split_once(" \"")?;
        return Some((old.to_owned(), unquote(quoted)?.0));
    }
    // Names may contain spaces; if no other line names the file, both names have the same length.
    let middle = text.len() / 2;
    let (old, new) = (text.get(..middle)?, text.get(middle..)?.strip_prefix(' ')?);
    (old == new || without_first(old) == without_first(new))
        .then(|| (old.to_owned(), new.to_owned()))
}

/// The two names in `Binary files … and … differ`.
pub(super) fn binary_names(line: &str) -> Option<(Option<String>, Option<String>)> {
    let names = line.strip_prefix("Binary files ")?.strip_suffix(" differ")?;
    let cut = |at: usize| (header_name(&names[..at]), header_name(&names[at + " and ".len()..]));
    let mut cuts = names.match_indices(" and ").map(|(at, _)| at).take(CUTS).peekable();
    let first = *cuts.peek()?;
    let same = cuts.map(cut).find(|(old, new)| match (old, new) {
        (Some(old), Some(new)) => old == new || without_first(old) == without_first(new),
        _ => true,
    });
    Some(same.unwrap_or_else(|| cut(first)))
}

/// The names without their prefixes. `bare`: they have no prefixes.
pub(super) fn without_prefixes(
    old: Option<String>,
    new: Option<String>,
    bare: bool,
) -> (Option<String>, Option<String>) {
    let known = |name: String| {
        let rest = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix));
        rest.filter(|rest| !rest.is_empty()).map(str::to_owned).unwrap_or(name)
    };
    match (&old, &new) {
        _ if bare => (old, new),
        (Some(one), Some(other)) if one == other => (old, new),
        (Some(one), Some(other)) => match (without_first(one), without_first(other)) {
            (Some(one), Some(other)) if one == other => {
                (Some(one.to_owned()), Some(other.to_owned()))
            }
            _ => (old.map(known), new.map(known)),
        },
        _ => (old.map(known), new.map(known)),
    }
}

fn without_first(name: &str) -> Option<&str> {
    name.split_once('/').map(|(_, rest)| rest).filter(|rest| !rest.is_empty())
}

/// Decodes C escapes up to the closing quote; returns the text, and what follows it.
fn unquote(text: &str) -> Option<(String, &str)> {
    let bytes = text.as_bytes();
    let mut name = Vec::new();
    let mut at = 0;
    loop {
        match *bytes.get(at)? {
            b'"' => return Some((String::from_utf8_lossy(&name).into_owned(), &text[at + 1..])),
            b'\\' => {
                at += 1;
                let escape = *bytes.get(at)?;
                name.push(match escape {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'0'..=b'3' => {
                        let digits = text.get(at..at + 3)?;
                        at += 2;
                        u8::from_str_radix(digits, 8).ok()?
                    }
                    other => other,
                });
            }
            byte => name.push(byte),
        }
        at += 1;
    }
}
