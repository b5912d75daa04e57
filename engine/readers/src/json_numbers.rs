//! NaN and Infinity, which Python writes into JSON, as `null`, while the text is read. Checks nothing else of it.

use std::io::{self, BufRead, Read};

/// A JSON text in which the bare words `NaN`, `Infinity` and `-Infinity` are `null`.
#[derive(Debug)]
pub(crate) struct JsonNumbers<R> {
    text: R,
    inside: Inside,
    /// What is to be handed out before more is read: at most a word.
    ready: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Inside {
    /// Nothing, or a word that has nothing to say here.
    Value,
    /// A string.
    Text,
    /// A string, behind a backslash.
    Escape,
}

/// The words, and no other begins with their first byte, but numbers with `-`.
const WORDS: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];

impl<R: BufRead> JsonNumbers<R> {
    pub(crate) fn new(text: R) -> JsonNumbers<R> {
        JsonNumbers { text, inside: Inside::Value, ready: Vec::new() }
    }

    /// Takes the bytes that can be a word from the text, and has them ready, or `null` if they are one.
    fn take_word(&mut self) -> io::Result<()> {
        let mut word = Vec::with_capacity(WORDS[2].len());
        while let Some(next) = self.text.fill_buf()?.first().copied() {
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
}

impl<R: BufRead> Read for JsonNumbers<R> {
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
            let bytes = self.text.fill_buf()?;
            if bytes.is_empty() {
                return Ok(0);
            }
            let most = bytes.len().min(buffer.len());
            let mut inside = self.inside;
            let plain = bytes[..most].iter().take_while(|byte| {
                inside = match (inside, **byte) {
                    (Inside::Value, b'N' | b'I' | b'-') => return false,
                    (Inside::Value, b'"') => Inside::Text,
                    (Inside::Text, b'"') | (Inside::Value, _) => Inside::Value,
                    (Inside::Text, b'\\') => Inside::Escape,
                    (Inside::Text | Inside::Escape, _) => Inside::Text,
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
            self.take_word()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn read(text: &str, buffered: usize) -> String {
        let mut read = String::new();
        let text = BufReader::with_capacity(buffered, text.as_bytes());
        JsonNumbers::new(text).read_to_string(&mut read).unwrap();
        read
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
    fn what_is_no_such_word_is_left_to_the_parser() {
        for text in ["Nan", "-", "-Inf", "Infinit", "[N,I]", "--1", "-1", ""] {
            assert_eq!(read(text, 3), text);
        }
    }
}
