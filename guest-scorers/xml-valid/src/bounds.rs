//! Limits what the parser is given, because it compares each attribute, and each prefix, with all earlier ones. Whether
//! a text is XML is not checked here.

use std::collections::BTreeSet;

use scorebox_sdk::ScoreError;

/// The most attributes of one element.
const ATTRIBUTES: usize = 256;
/// The most namespace prefixes that a text may declare; an element inherits those of the enclosing elements.
const PREFIXES: usize = 64;

/// # Errors
/// [`ScoreError::InvalidInput`] if an element has more attributes, or the text declares more prefixes,
/// than the parser looks through in reasonable time.
pub(crate) fn check(text: &str) -> Result<(), ScoreError> {
    let mut prefixes = BTreeSet::new();
    // Comments and entities count too: an entity may contain elements, and only the parser knows which text is a
    // comment.
    for tag in text.split('<').skip(1) {
        for (index, (name, _)) in attributes(tag).enumerate() {
            if index >= ATTRIBUTES {
                return Err(ScoreError::invalid_input(format!(
                    "`output` has an element with more than {ATTRIBUTES} attributes, so it is not \
                     parsed"
                )));
            }
            prefixes.extend(name.strip_prefix("xmlns:"));
        }
        if prefixes.len() > PREFIXES {
            return Err(ScoreError::invalid_input(format!(
                "`output` declares more than {PREFIXES} namespace prefixes, so it is not parsed"
            )));
        }
    }
    Ok(())
}

/// The names and values of a tag's attributes, up to its end or a malformed part. A tag contains no further `<`.
pub(crate) fn attributes(tag: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = tag;
    std::iter::from_fn(move || {
        let (before, quoted) = rest.split_at(rest.find(['"', '\''])?);
        let name = before.trim_end().strip_suffix('=')?.trim_end();
        if name.contains('>') {
            return None;
        }
        let quote = quoted.chars().next()?;
        let value;
        (value, rest) = quoted.strip_prefix(quote)?.split_once(quote)?;
        Some((name.rsplit(char::is_whitespace).next()?, value))
    })
}

#[cfg(test)]
mod tests {
    use super::attributes;

    fn names(tag: &str) -> Vec<&str> {
        attributes(tag).map(|(name, _)| name).collect()
    }

    #[test]
    fn attributes_are_read_up_to_the_end_of_the_tag() {
        assert_eq!(names("a b='1' c = \"'2'>\"\n\td='3'/> e='4'"), ["b", "c", "d"]);
        assert_eq!(names("a xmlns:n='urn:n' n:b=''>"), ["xmlns:n", "n:b"]);
        assert!(names("a>b='1'").is_empty());
        assert!(names("/a>").is_empty());
        assert!(names(" 2 and 'it' > 1").is_empty());
        assert_eq!(names("a b='1' c='open"), ["b"]);
        let pairs: Vec<_> = attributes("a b='1\"' c=\"\"/>").collect();
        assert_eq!(pairs, [("b", "1\""), ("c", "")]);
    }
}
