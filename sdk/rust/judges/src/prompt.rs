//! Builds a prompt from words, which are the scorer's, and data, which is the case's and goes inside a fence. It asks
//! nothing.

use std::borrow::Cow;

use scorebox_sdk::{Part, ScoreError};

use crate::{Question, fence};

/// The most bytes of a case in one question. Longer texts are refused rather than cut: a verdict on part of a text is
/// not a verdict on the text.
pub const MAX_DATA_BYTES: usize = 2 << 20;

/// The parts of the user's message in a question.
#[derive(Debug, Clone, Default)]
pub struct Prompt<'p> {
    pieces: Vec<Piece<'p>>,
}

#[derive(Debug, Clone)]
enum Piece<'p> {
    Words(Cow<'p, str>),
    Data { name: &'p str, text: Cow<'p, str> },
}

impl<'p> Prompt<'p> {
    /// An empty prompt.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds words of the scorer or of its configuration, never of a case.
    pub fn say(&mut self, words: impl Into<Cow<'p, str>>) -> &mut Self {
        self.pieces.push(Piece::Words(words.into()));
        self
    }

    /// Adds a text of the case. `name` is its name in the prompt: lower-case letters and hyphens.
    pub fn data(&mut self, name: &'p str, text: impl Into<Cow<'p, str>>) -> &mut Self {
        self.pieces.push(Piece::Data { name, text: text.into() });
        self
    }

    /// Adds a part of the case: the content of a string, or else the JSON.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if its text cannot be read.
    pub fn part(&mut self, name: &'p str, part: &Part<'_>) -> Result<&mut Self, ScoreError> {
        let text = part.text()?.into_owned();
        Ok(self.data(name, text))
    }

    /// The question, without a schema for the answer.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if the case's texts are longer than [`MAX_DATA_BYTES`].
    pub fn question(&self, criteria: &str, form: &str) -> Result<Question, ScoreError> {
        let texts = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Words(_) => None,
            Piece::Data { text, .. } => Some(&**text),
        });
        let bytes: usize = texts.clone().map(str::len).sum();
        if bytes > MAX_DATA_BYTES {
            return Err(ScoreError::invalid_input(format!(
                "the texts for the judge are {bytes} bytes long; the limit is {MAX_DATA_BYTES}"
            )));
        }
        let nonce = fence::nonce(texts);
        let mut message = String::with_capacity(bytes + 1024);
        for piece in &self.pieces {
            if !message.is_empty() && !message.ends_with(char::is_whitespace) {
                message.push_str("\n\n");
            }
            match piece {
                Piece::Words(words) => message.push_str(words),
                Piece::Data { name, text } => fence::fenced(&mut message, name, &nonce, text),
            }
        }
        message.push_str("\n\n");
        message.push_str(form);
        let system = format!("{criteria}\n\n{}", fence::rule(&nonce));
        Ok(Question::new(message).system(system))
    }
}
