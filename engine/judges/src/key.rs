//! The secret that a server requires, which is never shown. It comes from the caller, not from the environment.

use std::{borrow::Cow, fmt};

use reqwest::header::HeaderValue;
use zeroize::Zeroizing;

/// The shortest key that counts as a secret. Local servers accept any word, and an ordinary word must not be replaced
/// in answers.
const SHORTEST_SECRET: usize = 8;

/// A server's key. Its memory is wiped when it is dropped.
#[derive(Clone)]
pub struct Key(Zeroizing<String>);

impl Key {
    /// Makes a key; white space around it, such as the line end of a file, is left out.
    pub fn new(text: impl Into<String>) -> Key {
        let text = Zeroizing::new(text.into());
        Key(Zeroizing::new(text.trim().to_owned()))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A header value with the key, which is not logged; `None` if it contains characters that a header cannot contain.
    pub(crate) fn header(&self, before: &str) -> Option<HeaderValue> {
        let text = Zeroizing::new(format!("{before}{}", self.0.as_str()));
        let mut value = HeaderValue::from_str(&text).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// The text without the key, which a server may repeat: as it is, or within a JSON string, where some characters
    /// are escaped, or within a JSON string that is quoted in another one, or as a part of an address.
    pub(crate) fn conceal<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.0.len() < SHORTEST_SECRET {
            return Cow::Borrowed(text);
        }
        let (key, bytes) = (self.0.as_bytes(), text.as_bytes());
        let (mut concealed, mut copied, mut offset) = (String::new(), 0, 0);
        while offset < bytes.len() {
            let is_start = bytes[offset] == key[0] || matches!(bytes[offset], b'\\' | b'%');
            match is_start.then(|| end_of(key, bytes, offset)).flatten() {
                // Both ends are next to ASCII characters, or to characters of the key itself.
                Some(end) => {
                    concealed.push_str(text.get(copied..offset).unwrap_or_default());
                    concealed.push_str("[key]");
                    (copied, offset) = (end, end);
                }
                None => offset += 1,
            }
        }
        match copied {
            0 => Cow::Borrowed(text),
            _ => Cow::Owned(concealed + text.get(copied..).unwrap_or_default()),
        }
    }

    /// The same for the beginning of a longer text, which may end within the key: also leaves out what may be part of
    /// the key.
    pub(crate) fn conceal_cut(&self, text: &str) -> String {
        let concealed = self.conceal(text);
        if self.0.len() < SHORTEST_SECRET {
            return concealed.into_owned();
        }
        let (key, bytes) = (self.0.as_bytes(), concealed.as_bytes());
        let longest = bytes.len().saturating_sub(key.len() * MAX_BYTES_OF_ONE);
        let within = (longest..bytes.len()).find(|offset| begins(key, bytes, *offset));
        let whole = concealed.get(..within.unwrap_or(bytes.len()));
        whole.unwrap_or_default().to_owned()
    }
}

/// How many levels of JSON strings within JSON strings are searched.
const MAX_QUOTATIONS: u32 = 3;

/// The most bytes of one character of a key: an escape whose backslash is quoted this often.
const MAX_BYTES_OF_ONE: usize = (1 << MAX_QUOTATIONS) + 5;

/// A way in which a key may be written.
#[derive(Clone, Copy)]
enum Written {
    /// In a JSON string within so many others.
    InJson(u32),
    /// In an address or a form: `%2F` for `/`, and `+` for a space.
    InPercents,
}

impl Written {
    fn all() -> impl Iterator<Item = Written> {
        (0..=MAX_QUOTATIONS).map(Written::InJson).chain([Written::InPercents])
    }

    /// The character of ASCII that is written at this offset, and where the next one begins; `None` at the end.
    fn character_at(self, text: &[u8], offset: usize) -> Option<(u8, usize)> {
        match self {
            Written::InJson(quotations) => character_at(text, offset, quotations),
            Written::InPercents => match *text.get(offset)? {
                b'+' => Some((b' ', offset + 1)),
                b'%' => Some(of_percents(text, offset + 1).unwrap_or((b'%', offset + 1))),
                plain => Some((plain, offset + 1)),
            },
        }
    }

    /// Whether what is at this offset may be an escape that the end of the text cuts.
    fn is_cut(self, text: &[u8], offset: usize) -> bool {
        let left = text.len() - offset;
        match self {
            Written::InJson(_) => text[offset] == b'\\' && left < MAX_BYTES_OF_ONE,
            Written::InPercents => text[offset] == b'%' && left < "%2F".len(),
        }
    }
}

/// The character that two hexadecimal digits name, and where the next one begins.
fn of_percents(text: &[u8], offset: usize) -> Option<(u8, usize)> {
    let digit = |at: usize| char::from(*text.get(at)?).to_digit(16);
    let number = digit(offset)? * 16 + digit(offset + 1)?;
    Some((u8::try_from(number).ok()?, offset + 2))
}

/// The end of the key in a text that it begins in at this offset, in one of the ways in which it may be written.
fn end_of(key: &[u8], text: &[u8], offset: usize) -> Option<usize> {
    Written::all().find_map(|written| {
        key.iter().try_fold(offset, |offset, character| {
            let (read, next) = written.character_at(text, offset)?;
            (read == *character).then_some(next)
        })
    })
}

/// Whether the text from this offset to its end is the beginning of the key, or of an escape.
fn begins(key: &[u8], text: &[u8], offset: usize) -> bool {
    Written::all().any(|written| {
        let mut offset = offset;
        for character in key {
            match written.character_at(text, offset) {
                None => return true,
                Some((read, next)) if read == *character => offset = next,
                Some(_) => return written.is_cut(text, offset),
            }
        }
        false
    })
}

/// The ASCII character at this offset, in a JSON string within this many others, and where the next one begins; `None`
/// at the end.
fn character_at(text: &[u8], offset: usize, quotations: u32) -> Option<(u8, usize)> {
    let Some(within) = quotations.checked_sub(1) else {
        return Some((*text.get(offset)?, offset + 1));
    };
    let (read, next) = character_at(text, offset, within)?;
    if read != b'\\' {
        return Some((read, next));
    }
    match character_at(text, next, within) {
        Some((escaped @ (b'"' | b'\\' | b'/'), next)) => Some((escaped, next)),
        Some((b'u', next)) => Some(hexadecimal(text, next, within).unwrap_or((read, next))),
        _ => Some((read, next)),
    }
}

/// The character that four hexadecimal digits name, and where the next one begins.
fn hexadecimal(text: &[u8], mut offset: usize, within: u32) -> Option<(u8, usize)> {
    let mut number = 0;
    for _ in 0..4 {
        let (digit, next) = character_at(text, offset, within)?;
        number = number * 16 + char::from(digit).to_digit(16)?;
        offset = next;
    }
    Some((u8::try_from(number).ok()?, offset))
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
    fn a_key_is_taken_out_whichever_of_its_characters_are_escaped_by_their_numbers() {
        let key = Key::new("sk-SECRET/a=b");
        for written in [
            r"\u0073k-SECRET/a=b",
            r"sk\u002dSECRET\u002Fa\u003Db",
            r"sk\u002DSECRET\/a\u003db",
            r"sk\\u002dSECRET\\/a=b",
            r"\\\\u0073k\\\\u002dSECRET/a=b",
        ] {
            let concealed = key.conceal(&format!("é {written} é")).replace('\\', "");
            assert_eq!(concealed, "é [key] é", "{written}");
        }
        let whole: String =
            "sk-SECRET/a=b".chars().map(|it| format!("\\u{:04x}", it as u32)).collect();
        assert_eq!(key.conceal(&format!("{whole}{whole}")), "[key][key]");
        for other in [r"sk\u002eSECRET/a=b", r"sk\u012dSECRET/a=b", r"sk\u2dSECRET/a=b", r"sk\u00"]
        {
            assert_eq!(key.conceal(other), other);
        }
    }

    #[test]
    fn a_key_is_taken_out_of_addresses_and_forms_too() {
        let key = Key::new("sk-SECRET/a b+c=");
        for written in [
            "sk-SECRET%2Fa%20b%2Bc%3D",
            "sk-SECRET%2fa+b%2bc%3d",
            "sk-SECRET/a+b%2Bc=",
            "%73%6B%2DSECRET%2Fa+b%2Bc%3D",
        ] {
            let address = format!("http://a/?key={written}&é=1");
            assert_eq!(key.conceal(&address), "http://a/?key=[key]&é=1", "{written}");
        }
        let percents = Key::new("sk-100%25-SECRET");
        for written in ["sk-100%25-SECRET", "sk-100%2525-SECRET"] {
            assert_eq!(percents.conceal(written), "[key]");
        }
        for other in ["sk-SECRET%2Ea+b%2Bc%3D", "sk-SECRET%2", "%", "100 %é"] {
            assert_eq!(key.conceal(other), other);
        }
        for end in ["%73k-SECRET%2Fa", "sk-SECRET%2", "sk-SECRET%", "sk-SECRET%2Fa+"] {
            assert_eq!(key.conceal_cut(&format!("wrong: {end}")), "wrong: ");
        }
    }

    #[test]
    fn a_text_that_was_cut_has_no_part_of_the_key_at_its_end() {
        let key = Key::new("sk-SECRET-KEY");
        for end in ["", "s", "sk-SECRET-KE", r"sk\u002dSECR", r"\u0073k-\u00", r"sk\", r"\\\u0073k"]
        {
            assert_eq!(key.conceal_cut(&format!("wrong: {end}")).trim_end_matches('\\'), "wrong: ");
        }
        assert_eq!(key.conceal_cut("wrong: sk-SECRET-KEY, sk-SECRET-KE"), "wrong: [key], ");
        assert_eq!(key.conceal_cut("wrong: sk-SECRET?"), "wrong: sk-SECRET?");
        assert_eq!(Key::new("ollama").conceal_cut("I am an olla"), "I am an olla");
    }

    #[test]
    fn a_word_that_a_local_server_takes_as_key_is_not_a_secret() {
        assert_eq!(Key::new("ollama").conceal("I am an ollama."), "I am an ollama.");
    }

    #[test]
    fn a_key_of_two_lines_is_not_sent() {
        assert!(Key::new("one\ntwo").header("").is_none());
    }
}
