//! Replaces what other tools write into JSON although its readers refuse it, while the text is read: NaN and Infinity
//! become `null`, and half of a surrogate pair becomes U+FFFD. Checks nothing else.

use std::io::{self, BufRead, Read};

use crate::left_out::LeftOut;

/// A JSON text in which the bare words `NaN`, `Infinity` and `-Infinity` become `null`, and halves of surrogate pairs
/// become U+FFFD.
#[derive(Debug)]
pub(crate) struct LenientJson<R> {
    text: R,
    inside: Inside,
    /// What is returned before more is read: at most a word, or the escapes of a pair.
    ready: Vec<u8>,
    left_out: LeftOut,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Inside {
    /// Outside a string.
    Value,
    /// In a string.
    Text,
    /// In a string, after a backslash.
    Escape,
    /// In a string, after `\uXXXX` with these digits, the first half of a pair. Only its backslash was returned.
    FirstHalf([u8; DIGITS]),
}

/// The hexadecimal digits of `\uXXXX`.
const DIGITS: usize = 4;

/// Replaces half of a pair, after its backslash.
const REPLACEMENT: &[u8] = b"ufffd";

/// The words. Only numbers with `-` can begin with the same byte as one of them.
const WORDS: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];

impl<R: BufRead> LenientJson<R> {
    /// Reads `text`, and counts the halves of pairs in `left_out`.
    pub(crate) fn new(text: R, left_out: LeftOut) -> LenientJson<R> {
        LenientJson { text, inside: Inside::Value, ready: Vec::new(), left_out }
    }

    fn next(&mut self) -> io::Result<Option<u8>> {
        Ok(self.text.fill_buf()?.first().copied())
    }

    /// Takes the bytes that may be a word from the text, and prepares them, or `null` if they are one.
    fn take_word(&mut self) -> io::Result<()> {
        let mut word = Vec::with_capacity(WORDS[2].len());
        while let Some(next) = self.next()? {
            word.push(next);
            if !WORDS.iter().any(|whole| whole.starts_with(&word)) {
                word.pop();
                break;
            }
            self.text.consume(1);
        }
        self.ready = match WORDS.contains(&word.as_slice()) {
            true => b"null".to_vec(),
            false => word,
        };
        Ok(())
    }

    /// Takes `uXXXX` after a backslash from the text, and prepares it, unless it is the first half of a pair.
    fn take_escape(&mut self) -> io::Result<()> {
        let digits = self.take_digits()?;
        self.put_escape(&digits);
        Ok(())
    }

    /// Takes `u` and the digits after it, at most four, from the text.
    fn take_digits(&mut self) -> io::Result<Vec<u8>> {
        self.text.consume(1);
        let mut digits = Vec::with_capacity(DIGITS);
        while digits.len() < DIGITS
            && let Some(digit) = self.next()?.filter(u8::is_ascii_hexdigit)
        {
            digits.push(digit);
            self.text.consume(1);
        }
        Ok(digits)
    }

    fn put_escape(&mut self, digits: &[u8]) {
        self.inside = Inside::Text;
        match half(digits) {
            Some(Half::First(first)) => self.inside = Inside::FirstHalf(first),
            Some(Half::Second) => self.put_replacement(),
            None => self.put_unit(digits),
        }
    }

    fn put_unit(&mut self, digits: &[u8]) {
        self.ready.push(b'u');
        self.ready.extend_from_slice(digits);
    }

    fn put_replacement(&mut self) {
        self.left_out.note("halves of surrogate pairs, for which U+FFFD stands");
        self.ready.extend_from_slice(REPLACEMENT);
    }

    /// Takes what follows the first half of a pair: the second half, or something else if the first half is alone.
    fn take_second_half(&mut self, first: [u8; DIGITS]) -> io::Result<()> {
        if self.next()? != Some(b'\\') {
            self.put_replacement();
            self.inside = Inside::Text;
            return Ok(());
        }
        self.text.consume(1);
        if self.next()? != Some(b'u') {
            self.put_replacement();
            self.ready.push(b'\\');
            self.inside = Inside::Escape;
            return Ok(());
        }
        let digits = self.take_digits()?;
        if half(&digits) == Some(Half::Second) {
            self.put_unit(&first);
            self.ready.push(b'\\');
            self.put_unit(&digits);
            self.inside = Inside::Text;
        } else {
            self.put_replacement();
            self.ready.push(b'\\');
            self.put_escape(&digits);
        }
        Ok(())
    }
}

#[derive(Debug, PartialEq)]
enum Half {
    First([u8; DIGITS]),
    Second,
}

/// Which half of a surrogate pair the digits of an escape are, if any.
fn half(digits: &[u8]) -> Option<Half> {
    let digits: [u8; DIGITS] = digits.try_into().ok()?;
    match (digits[0], digits[1]) {
        (b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B') => Some(Half::First(digits)),
        (b'd' | b'D', b'c'..=b'f' | b'C'..=b'F') => Some(Half::Second),
        _ => None,
    }
}

/// Whether an escape before this byte, if it was already read, may be half of a pair.
fn may_be_half(after: Option<&u8>) -> bool {
    matches!(after, None | Some(b'd' | b'D'))
}

impl<R: BufRead> Read for LenientJson<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.ready.is_empty() {
                let count = self.ready.len().min(buffer.len());
                buffer[..count].copy_from_slice(&self.ready[..count]);
                self.ready.drain(..count);
                return Ok(count);
            }
            if let Inside::FirstHalf(first) = self.inside {
                self.take_second_half(first)?;
                continue;
            }
            let bytes = self.text.fill_buf()?;
            if bytes.is_empty() {
                return Ok(0);
            }
            let most = bytes.len().min(buffer.len());
            let mut inside = self.inside;
            let plain = bytes[..most].iter().enumerate().take_while(|(index, byte)| {
                inside = match (inside, **byte) {
                    (Inside::Value, b'N' | b'I' | b'-') => return false,
                    (Inside::Escape, b'u') if may_be_half(bytes.get(index + 1)) => return false,
                    (Inside::Value, b'"') => Inside::Text,
                    (Inside::Text, b'"') | (Inside::Value, _) => Inside::Value,
                    (Inside::Text, b'\\') => Inside::Escape,
                    (_, _) => Inside::Text,
                };
                true
            });
            let count = plain.count();
            buffer[..count].copy_from_slice(&bytes[..count]);
            self.text.consume(count);
            self.inside = inside;
            if count > 0 {
                return Ok(count);
            }
            match self.inside {
                Inside::Escape => self.take_escape()?,
                _ => self.take_word()?,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    /// The text as it is read, and how many halves of pairs it contains.
    fn read_and_counted(text: &str, buffered: usize) -> (String, u64) {
        let (mut read, left_out) = (String::new(), LeftOut::default());
        let text = BufReader::with_capacity(buffered, text.as_bytes());
        LenientJson::new(text, left_out.clone()).read_to_string(&mut read).unwrap();
        (read, left_out.counts().iter().map(|(_, count)| count).sum())
    }

    fn read(text: &str, buffered: usize) -> String {
        read_and_counted(text, buffered).0
    }

    #[test]
    fn words_that_json_lacks_are_null_and_strings_stay() {
        let text = r#"{"a": NaN, "b": [-Infinity,Infinity, -1.5], "NaN": "say \"NaN\\", "c": "-Infinity"}"#;
        let expected =
            r#"{"a": null, "b": [null,null, -1.5], "NaN": "say \"NaN\\", "c": "-Infinity"}"#;
        for buffered in [1, 2, 3, 7, 1000] {
            assert_eq!(read(text, buffered), expected);
        }
    }

    #[test]
    fn half_of_a_surrogate_pair_is_a_replacement_character_and_counted() {
        for (text, expected, count) in [
            (r#""\ud83d""#, r#""\ufffd""#, 1),
            (r#""\uDE00 a""#, r#""\ufffd a""#, 1),
            (r#""\ud83d\n\ud83d\\ud83d""#, r#""\ufffd\n\ufffd\\ud83d""#, 2),
            (r#""\ud83d\u0041""#, r#""\ufffd\u0041""#, 1),
            (r#""\ud83d\ud83d\ude00\ude00""#, r#""\ufffd\ud83d\ude00\ufffd""#, 2),
            (r#"{"\uDBFF": NaN}"#, r#"{"\ufffd": null}"#, 1),
            (r#""\ud83d\""#, r#""\ufffd\""#, 1),
            (r#""\ud83d"#, r#""\ufffd"#, 1),
        ] {
            for buffered in [1, 2, 3, 7, 1000] {
                assert_eq!(read_and_counted(text, buffered), (expected.to_owned(), count));
            }
        }
    }

    #[test]
    fn other_escapes_stay() {
        for text in [
            r#""\ud83d\uDE00 \u00e9\uD7FF\ue000 \\ud83d \"\/""#,
            r#"\ud83d outside"#,
            r#""\ud8""#,
            r#""\ud8zz \u""#,
            r#""\ud"#,
            r#""\"#,
        ] {
            for buffered in [1, 2, 3, 7, 1000] {
                assert_eq!(read_and_counted(text, buffered), (text.to_owned(), 0));
            }
        }
    }

    #[test]
    fn other_words_are_left_to_the_parser() {
        for text in ["Nan", "-", "-Inf", "Infinit", "[N,I]", "--1", "-1", ""] {
            assert_eq!(read(text, 3), text);
        }
    }
}
