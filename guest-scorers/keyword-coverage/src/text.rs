//! The texts that keywords are from and looked for in. It extracts no keywords.

use std::borrow::Cow;
use std::collections::BTreeSet;

use scorebox_sdk::{Part, ScoreError};
use serde::Deserialize;

use crate::keywords::words;

/// An output in which keywords are looked for.
pub(crate) struct Text<'t> {
    text: &'t str,
    words: BTreeSet<&'t str>,
    /// All words, with a line break before and after each.
    joined: String,
}

impl<'t> Text<'t> {
    pub(crate) fn new(text: &'t str, words: &'t [String]) -> Self {
        let joined = format!("\n{}\n", words.join("\n"));
        Self { text, words: words.iter().map(String::as_str).collect(), joined }
    }

    /// Whether the words of `keyword` follow each other somewhere.
    pub(crate) fn has(&self, keyword: &str) -> bool {
        match words(keyword).as_slice() {
            [] => self.text.contains(keyword.trim()),
            [word] => self.words.contains(word.as_str()),
            several => self.joined.contains(&format!("\n{}\n", several.join("\n"))),
        }
    }
}

/// A text, or what a list of chat messages says; any other value as its JSON text.
pub(crate) fn messages<'p>(part: &'p Part<'_>) -> Result<Cow<'p, str>, ScoreError> {
    #[derive(Deserialize)]
    struct Message {
        content: String,
    }
    if part.is_array()
        && let Ok(messages) = serde_json::from_str::<Vec<Message>>(part.json())
    {
        let contents: Vec<_> = messages.into_iter().map(|message| message.content).collect();
        return Ok(Cow::Owned(contents.join(", ")));
    }
    part.text()
}
