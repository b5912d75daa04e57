//! The secret that a server wants, which shows itself nowhere. Comes from the caller, not from the environment.

use std::{borrow::Cow, fmt};

use reqwest::header::HeaderValue;
use zeroize::Zeroizing;

/// The shortest key that is a secret. Local servers take any word, and what is replaced in an answer should not be one.
const SHORTEST_SECRET: usize = 8;

/// A server's key. Its memory is wiped when it is dropped.
#[derive(Clone)]
pub struct Key(Zeroizing<String>);

impl Key {
    /// This key; white space around it, such as the line break of a file, is left out.
    pub fn new(text: impl Into<String>) -> Key {
        let text = Zeroizing::new(text.into());
        Key(Zeroizing::new(text.trim().to_owned()))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A header's value with it, which is not logged; `None` if it has characters that no header can have.
    pub(crate) fn header(&self, before: &str) -> Option<HeaderValue> {
        let text = Zeroizing::new(format!("{before}{}", self.0.as_str()));
        let mut value = HeaderValue::from_str(&text).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// The text without the key, which a server may repeat: as it is, or within a JSON string, where some characters are
    /// escaped.
    pub(crate) fn conceal<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.0.len() < SHORTEST_SECRET {
            return Cow::Borrowed(text);
        }
        let escaped = self.escaped();
        let with_slashes = Zeroizing::new(escaped.replace('/', "\\/"));
        let mut concealed = Cow::Borrowed(text);
        for written in [self.0.as_str(), &escaped, &with_slashes] {
            if concealed.contains(written) {
                concealed = Cow::Owned(concealed.replace(written, "[key]"));
            }
        }
        concealed
    }

    /// The key within a JSON string.
    fn escaped(&self) -> Zeroizing<String> {
        // A string: writing it as JSON cannot fail.
        let quoted = Zeroizing::new(serde_json::to_string(self.0.as_str()).unwrap_or_default());
        let within = quoted.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        Zeroizing::new(within.unwrap_or_default().to_owned())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_shows_nothing_and_is_taken_out_of_texts() {
        let key = Key::new("sk-0123456789\n");
        let header = key.header("Bearer ").unwrap();
        assert_eq!(header, "Bearer sk-0123456789");
        assert_eq!(format!("{key:?} {header:?}"), "Key Sensitive");
        assert_eq!(key.conceal("wrong: sk-0123456789!"), "wrong: [key]!");
        assert_eq!(key.conceal("sk-012345678"), "sk-012345678");
    }

    #[test]
    fn a_key_is_taken_out_of_json_too_where_some_of_its_characters_are_escaped() {
        let key = Key::new(r#"sk-abc"d\e/f"#);
        for written in [r#"sk-abc"d\e/f"#, r#"sk-abc\"d\\e/f"#, r#"sk-abc\"d\\e\/f"#] {
            assert_eq!(key.conceal(&format!("wrong: {written}!")), "wrong: [key]!");
        }
    }

    #[test]
    fn a_word_that_a_local_server_takes_as_key_is_no_secret() {
        assert_eq!(Key::new("ollama").conceal("I am an ollama."), "I am an ollama.");
    }

    #[test]
    fn a_key_of_two_lines_is_not_sent() {
        assert!(Key::new("one\ntwo").header("").is_none());
    }
}
