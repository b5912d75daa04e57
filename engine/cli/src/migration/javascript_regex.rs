//! Finds patterns that JavaScript and the scorer `regex` read in different ways. The scorer itself refuses patterns
//! that it cannot read.

/// Why a JavaScript pattern has another meaning in `regex`; `None` if no difference is known.
pub(super) fn differs(pattern: &str) -> Option<String> {
    reads_otherwise(pattern).or_else(|| repeats_no_atom(pattern))
}

/// The part that `regex` accepts, and JavaScript reads in another way.
fn reads_otherwise(pattern: &str) -> Option<String> {
    let mut rest = pattern;
    let mut in_class = false;
    while let Some(first) = rest.chars().next() {
        let behind = &rest[first.len_utf8()..];
        if first == '\\' {
            let escaped = behind.chars().next()?;
            let parameters = &behind[escaped.len_utf8()..];
            if is_other_escape(escaped, parameters) {
                let shown = if parameters.starts_with('{') { "{" } else { "" };
                return Some(format!(
                    "JavaScript takes `\\{escaped}{shown}` literally, and `regex` does not"
                ));
            }
            rest = parameters;
            continue;
        }
        if in_class {
            if first == '[' {
                return Some(
                    "a `[` in `[…]` opens another class for `regex`: write `\\[`".to_owned(),
                );
            }
            if let Some(operator) = ["&&", "--", "~~"].iter().find(|it| rest.starts_with(**it)) {
                return Some(format!("`{operator}` in `[…]` is an operator for `regex`"));
            }
            in_class = first != ']';
        } else if first == '[' {
            if behind.starts_with("^]") {
                return Some("`[^]` is any character in JavaScript: write `[\\s\\S]`".to_owned());
            }
            if behind.starts_with(']') {
                return Some("`[]` matches nothing in JavaScript".to_owned());
            }
            in_class = true;
        } else if first == '{' && !is_repetition(behind) {
            return Some(
                "JavaScript takes a `{` that begins no repetition literally: write `\\{`"
                    .to_owned(),
            );
        } else if first == '(' && behind.starts_with("?P<") {
            return Some("JavaScript has no `(?P<…>`".to_owned());
        } else if first == '(' && has_flags(behind) {
            return Some("JavaScript has no flags in a pattern but `i`, `m` and `s`, and those for one group: `(?i:…)`".to_owned());
        }
        rest = behind;
    }
    None
}

/// What precedes a position in a pattern.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    /// Anything else; it counts as repeatable.
    Other,
    /// A repetition, which a `?` makes lazy.
    Repetition,
    /// A lazy repetition, or an assertion such as `^`.
    NotRepeatable,
}

/// A repetition of a repetition, such as `x*+`, or of an assertion: `regex` takes it as `(x*)+`, and JavaScript refuses
/// the pattern. In the pattern, each `{` outside of `[…]` begins a repetition, and `[…]` contains no `[`.
fn repeats_no_atom(pattern: &str) -> Option<String> {
    let mut before = Before::Other;
    let mut in_class = false;
    let mut characters = pattern.char_indices();
    while let Some((start, first)) = characters.next() {
        before = match first {
            '\\' => match characters.next() {
                Some((_, 'b' | 'B')) if !in_class => Before::NotRepeatable,
                _ => Before::Other,
            },
            '^' | '$' if !in_class => Before::NotRepeatable,
            '?' if !in_class && before == Before::Repetition => Before::NotRepeatable,
            '*' | '+' | '?' | '{' if !in_class => {
                if before != Before::Other {
                    return Some(format!(
                        "JavaScript refuses a `{first}` with nothing before it to repeat"
                    ));
                }
                if first == '{' {
                    characters.find(|(_, it)| *it == '}');
                }
                Before::Repetition
            }
            _ => {
                if first == '(' && !in_class && pattern[start..].starts_with("(?") {
                    // This `?` repeats nothing.
                    characters.next();
                }
                in_class = first == '[' || in_class && first != ']';
                Before::Other
            }
        };
    }
    None
}

/// Whether the text after a `{` makes it a repetition in JavaScript: `2}`, `2,}` or `2,3}`.
fn is_repetition(behind: &str) -> bool {
    let Some((counts, _)) = behind.split_once('}') else { return false };
    let (least, most) = counts.split_once(',').unwrap_or((counts, ""));
    let is_count = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    !least.is_empty() && is_count(least) && is_count(most)
}

/// Whether a group begins with flags that only `regex` knows, such as `?x:` or `?U:`, or sets them for what follows it,
/// as `?i)` does: JavaScript knows `i`, `m` and `s`, and those for one group.
fn has_flags(behind: &str) -> bool {
    let Some(flags) = behind.strip_prefix('?') else { return false };
    let Some(end) = flags.find([')', ':', '<', '=', '!']) else { return false };
    let (flags, rest) = flags.split_at(end);
    let is_flags = flags.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
    let is_of_one_group = rest.starts_with(':');
    is_flags && !flags.is_empty() && (!is_of_one_group || flags.contains(['x', 'U', 'R', 'u']))
}

/// Whether an escape has a meaning in `regex`, but is only its letter in JavaScript without the flag `u`.
fn is_other_escape(escaped: char, parameters: &str) -> bool {
    match escaped {
        'A' | 'a' | 'p' | 'P' | 'U' | 'z' | '<' | '>' => true,
        'b' | 'u' | 'x' => parameters.starts_with('{'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_else_is_found() {
        for pattern in [
            r"\Astart",
            r"end\z",
            r"\p{L}",
            r"\x{41}",
            r"\u{41}",
            r"\b{start}",
            r"\<a",
            r"\a",
            r"[[]x",
            r"[[:alpha:]]",
            r"[a&&b]",
            r"[+--]",
            r"[]a]",
            r"[^]",
            r"a{,3}",
            r"x{2, 3}",
            r"x{2 }",
            r"{x}",
            r"(?x) a",
            r"(?iu:a)",
            r"(?i)a",
            r"a(?s-m)b",
            r"(?P<n>a)",
            r"[\p{L}]",
            r"x*+",
            r"x++",
            r"x?+",
            r"x{2}+",
            r"x**",
            r"x+{2}",
            r"x{2}{3}",
            r"x*??",
            r"(?:a|\])*+",
            r"[*+]++",
            r"^*a",
            r"a\b+",
            r"a$?",
        ] {
            assert!(differs(pattern).is_some(), "{pattern}");
        }
    }

    #[test]
    fn what_means_the_same_passes() {
        for pattern in [
            r"^The\s",
            r"\d{3}-\d{2}",
            r"[\[\]]",
            r"a{2,3}",
            r"a{2}b{3,}",
            r"(?<ux>a)(?i:b)",
            r"\x41\u0041",
            r"[^a-z]",
            r"(?:a|b)*?",
            r"x+?y??z{2,}?",
            r"(?:x*)+\*+",
            r"a*(?:b+)?[*+?]+[$^]?",
            r"[\b]+",
            r"a\{,",
            r"\\A",
            r"\bword\b",
            "",
            "\\",
            "é[è]",
            r"a && b -- [&-]",
        ] {
            assert_eq!(differs(pattern), None, "{pattern}");
        }
    }
}
