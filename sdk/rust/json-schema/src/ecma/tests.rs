//! Which patterns are valid in ECMA 262, and what their translations match.

use regex::Regex;

use super::{Refused, check, translate};

#[test]
fn patterns_of_ecma_262_are_valid() {
    let valid = [
        "",
        "a|b",
        "(?:a)*?",
        "(?<n>a)\\k<n>",
        "\\k<n>(?<n>a)",
        "(?<=a+)b",
        "[]",
        "[^]",
        "\\cA",
        "a{2,}b{3}c{2,10}?",
        "[a-z\\d-]",
        "[\\b\\-]",
        "(a)\\1",
        "\\u{1F600}",
        "\\p{Script=Greek}",
        "(?i-m:a)",
        "(?=a)",
        "\\/",
        "[\\w-]",
        "\\ud83d\\ude00",
        "(?<ä$>x)",
    ];
    for pattern in valid {
        assert_eq!(check(pattern), Ok(()), "{pattern}");
    }
}

#[test]
fn other_dialects_and_slips_are_not() {
    let invalid = [
        "\\a",
        "(?P<name>x)",
        "(?P=n)",
        "(?#c)a",
        "(?i)abc",
        "(?ims)a",
        "^(abc]",
        "a)",
        "*a",
        "a**",
        "(?=a)*",
        "\\Z",
        "[b-a]",
        "[\\d-z]",
        "a{2,1}",
        "{",
        "a{",
        "]",
        "\\1",
        "\\k<n>",
        "\\u{110000}",
        "[",
        "\\",
        "(?<n",
        "(?<1>a)",
        "\\p",
        "\\p{}",
        "(?-:a)",
        "(?ii:a)",
        "\\01",
        "\\x4",
    ];
    for pattern in invalid {
        assert!(check(pattern).is_err(), "{pattern}");
    }
}

#[test]
fn a_deep_pattern_needs_no_stack() {
    let deep = "(".repeat(100_000) + &")".repeat(100_000);
    assert_eq!(check(&deep), Ok(()));
}

fn matches(pattern: &str, text: &str) -> bool {
    let translated = translate(pattern).unwrap_or_else(|why| panic!("{pattern}: {why:?}"));
    let regex = Regex::new(&translated).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    regex.is_match(text)
}

#[test]
fn white_space_is_that_of_ecma_262() {
    let spaces = "\t\n\u{b}\u{c}\r \u{a0}\u{1680}\u{2000}\u{2005}\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}";
    assert!(matches(r"^\s+$", spaces) && matches(r"^[\s]+$", spaces));
    assert!(!matches(r"\S", spaces) && !matches(r"[\S]", spaces) && !matches(r"[^\s]", spaces));
    for other in ["\u{85}", "\u{200b}", "\u{180e}", "\u{1c}", "a"] {
        assert!(matches(r"^\S$", other) && !matches(r"\s", other), "{other:?}");
    }
}

#[test]
fn words_and_digits_are_those_of_ascii() {
    assert!(matches(r"\bé", "aé") && !matches(r"\bé", " é") && matches(r"é\B", "é "));
    assert!(matches(r"^\W\D$", "é٣") && !matches(r"[\w\d]", "é٣") && matches(r"^[\W\d]+$", "é1"));
}

#[test]
fn a_dot_stops_at_every_end_of_a_line() {
    for end in ["\n", "\r", "\u{2028}", "\u{2029}"] {
        assert!(!matches("^.$", end) && matches("^(?s:.)$", end) && matches("^[^]$", end));
        assert!(!matches("(?s:(?-s:^.$))", end) && matches("(?s:^(a|.)$)", end), "{end:?}");
    }
    assert!(matches("^.$", "\u{85}") && matches("^.$", "\u{b}"));
    assert!(!matches("a$", "a\n"));
}

#[test]
fn a_class_has_no_operators_in_it() {
    let rows = [
        ("^[a&&b]+$", "a&&b", true),
        ("^[+--]$", "-", true),
        ("^[+--]$", ",", true),
        (r"^[^[\]]+$", "ab", true),
        (r"^[^[\]]+$", "[", false),
        ("^[a~~b]+$", "~", true),
        ("[[:alpha:]]", "b", false),
        ("[[:alpha:]]", "l]", true),
        ("[[:alpha:]]", ":]", true),
        ("[]", "a", false),
        (r"^[\b]$", "\u{8}", true),
        (r"^[\w-.]+$", "a-.", true),
        (r"^[.-\d]+$", "1-.", true),
        ("^[a-]+$", "-a", true),
        (r"^[\d-]+$", "1-2", true),
    ];
    for (pattern, text, expected) in rows {
        assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
    }
}

#[test]
fn escapes_and_groups_are_translated() {
    let rows = [
        (r"^\0$", "\0", true),
        (r"^\cA\x41\u0042$", "\u{1}AB", true),
        (r"^\ud83d\ude00\u{1F600}$", "😀😀", true),
        (r"^(?<jahr$>\d{4})\-\d{2}$", "2026-11", true),
        (r"^(?i:é)x{2,}?$", "Éxx", true),
        (r"^(?i:a(?-i:b))$", "AB", false),
        (r"^\p{Letter}\P{L}[\p{Script=Greek}]$", "a1ω", true),
        ("^a]}#é $", "a]}#é ", true),
        (r"^\@\_\/$", "@_/", true),
    ];
    for (pattern, text, expected) in rows {
        assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
    }
}

#[test]
fn what_is_not_ecma_262_has_no_translation() {
    for pattern in ["(?i)a", r"\A", r"a\z", r"\x{61}", "a++", "(?P<n>a)", r"\a", "a{,5}", "{"] {
        assert!(matches!(translate(pattern), Err(Refused::Invalid(_))), "{pattern}");
    }
    for (pattern, what) in [
        ("(?=a)", "look-around"),
        ("(?<!a)", "look-around"),
        (r"(a)\1", "back references"),
        (r"(?<n>a)\k<n>", "back references"),
        ("(?m:^a)", "the flag `m`"),
    ] {
        assert_eq!(translate(pattern), Err(Refused::Unsupported(what)), "{pattern}");
    }
}
