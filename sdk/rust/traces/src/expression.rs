//! Compiles a regular expression from a configuration. What is searched is up to the caller.

use regex_lite::Regex;

use scorebox_sdk::ConfigError;

/// Compiles the expression that a configuration has under `key`.
///
/// # Errors
/// A [`ConfigError`] at `key` if it is not valid, or ignores case and contains a letter that regex-lite cannot fold:
/// with such a letter, `(?i)` would silently not match.
pub(super) fn compile(key: &str, written: &str) -> Result<Regex, ConfigError> {
    let regex = Regex::new(written).map_err(|error| {
        ConfigError::new(key, format!("is not a valid regular expression: {error}"))
    })?;
    match cased_letter(written).filter(|_| ignores_case(written)) {
        Some(letter) => Err(ConfigError::new(
            key,
            format!(
                "ignores case, which the flag `i` does for the letters a to z only, not for \
                 `{letter}`; write both cases without the flag, as in `[Zz][Üü]rich`"
            ),
        )),
        None => Ok(regex),
    }
}

/// Whether a group sets the flag `i`: `(?i)` or `(?i:…)`.
fn ignores_case(written: &str) -> bool {
    let mut rest = written;
    let mut is_class = false;
    while let Some(next) = rest.chars().next() {
        // Parentheses that are escaped or in a class do not open a group.
        if next == '\\' {
            rest = rest.get(1..).unwrap_or_default();
        } else if next == '[' || next == ']' {
            is_class = next == '[';
        } else if let Some(group) = rest.strip_prefix("(?")
            && !is_class
            && sets_i(group)
        {
            return true;
        }
        let mut characters = rest.chars();
        characters.next();
        rest = characters.as_str();
    }
    false
}

/// Whether a group that begins like this has flags, and sets `i`.
fn sets_i(group: &str) -> bool {
    let end = group.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(group.len());
    let (set, rest) = group.split_at(end);
    set.contains('i') && rest.starts_with([')', ':', '-'])
}

/// The first non-ASCII letter that has an upper and a lower case.
fn cased_letter(written: &str) -> Option<char> {
    written.chars().find(|c| !c.is_ascii() && (c.is_lowercase() || c.is_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_that_does_not_work_for_a_letter_is_refused() {
        for written in [
            "(?i)zürich",
            "ü(?i)x",
            "(?mi)É",
            "(?i:ärger)",
            "a(?i-s:Ω)",
            "[(](?i)УДАЛИТЬ",
            "\\((?i)ö",
        ] {
            assert!(compile("text", written).is_err(), "{written}");
        }
        assert_eq!(
            compile("text", "(?i)zürich").unwrap_err().to_string(),
            "`text`: ignores case, which the flag `i` does for the letters a to z only, not for \
             `ü`; write both cases without the flag, as in `[Zz][Üü]rich`"
        );
    }

    #[test]
    fn what_the_flag_does_not_concern_is_not() {
        for written in [
            "(?i)zurich",
            "zürich",
            "(?m)^zürich",
            "(?-i)zürich",
            "(?P<i>ü)",
            "(?<i>ü)",
            "\\(?i ü",
            "[(?i)]ü",
            "(?i)東京",
            "(?i)…",
        ] {
            assert!(compile("text", written).is_ok(), "{written}");
        }
        assert!(compile("text", "[Zz][Üü](?i:RICH)").is_err());
        assert!(compile("text", "[Zz][Üü][Rr]ich").unwrap().is_match("ZÜrich"));
    }
}
