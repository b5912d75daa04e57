//! What an answer says: its text without the draft that reasoning models put before it, and the JSON in it. Which part
//! is a verdict is decided elsewhere.

use serde_json::Value;

use super::{MAX_ANSWER_BYTES, SEVERAL, values::Values};
use crate::Answer;

/// The tags between which a model drafts its answer.
const DRAFTS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];
/// The start of a tag that is left if the draft cannot be separated from the answer.
const TAGS: [&str; 2] = ["<think", "</think"];
const NO_JSON: &str = "it has no JSON in it";
const INVALID: &str = "what looks like JSON in it is not valid JSON";
const FENCED: &str = "its code fence has no JSON object in it";
const UNFINISHED: &str = "its JSON is not closed";
const DRAFT: &str = "it is a draft without a verdict after it";
const REPEATED: &str = "a key stands in its JSON twice";
const QUOTED: &str = "its JSON stands within or between other words, as a quotation does";

/// What an answer says.
#[derive(Debug)]
pub(super) struct Said<'a> {
    text: &'a str,
    values: Values,
    is_whole: bool,
    quotations: &'a [String],
}

/// What the JSON of an answer says.
#[derive(Debug)]
pub(super) enum InJson<T> {
    /// The judge's verdict.
    Own(T),
    /// A verdict within or between sentences, or one that also occurs in a text of the case: it may be a quotation.
    Quoted(T),
    /// There is no verdict; what is wrong.
    None(String),
}

/// Why a value is not a verdict.
#[derive(Debug)]
pub(super) enum NoVerdict {
    /// The value has no verdict.
    Missing(String),
    /// The value has a verdict that is not allowed.
    Wrong(String),
}

impl<'a> Said<'a> {
    /// # Errors
    /// What is wrong with the answer: it is too long, or all of it is a draft.
    pub(super) fn of(answer: &'a Answer) -> Result<Self, String> {
        let bytes = answer.text.len();
        if bytes > MAX_ANSWER_BYTES {
            return Err(format!("it has {bytes} bytes; the limit is {MAX_ANSWER_BYTES}"));
        }
        let text = after_draft(&answer.text).ok_or(DRAFT)?;
        let is_whole = !answer.truncated;
        let mut values = Values::of(text, is_whole);
        let quotations = &answer.quotations;
        for found in &mut values.found {
            found.stands_apart &= !quotations.iter().any(|it| *it == text[found.bytes.clone()]);
        }
        let has_tag = |words: &str| TAGS.iter().any(|tag| words.contains(tag));
        // JSON may contain the tags as text.
        if has_tag(text) && has_tag(&values.left_out(text)) {
            return Err(DRAFT.to_owned());
        }
        Ok(Self { text, values, is_whole, quotations })
    }

    /// The text with `{}` in place of objects, if its words may be a verdict, because nothing of it is cut off.
    pub(super) fn words(&self) -> Option<String> {
        (self.is_whole && !self.values.is_open).then(|| self.outside_json())
    }

    /// The text with `{}` in place of objects, even if it is cut off.
    pub(super) fn outside_json(&self) -> String {
        self.values.left_out(self.text)
    }

    /// The parts of the text that also occur in a text of the case.
    pub(super) fn quotations(&self) -> &'a [String] {
        self.quotations
    }

    /// Whether some JSON in it is not closed.
    pub(super) fn is_open(&self) -> bool {
        self.values.is_open
    }

    /// Whether no JSON was found in it.
    pub(super) fn has_no_json(&self) -> bool {
        self.values.found.is_empty()
    }

    /// The text, even if it is cut off.
    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    /// The verdict in JSON; `read` turns a value into a verdict, or says what is wrong with it.
    ///
    /// # Errors
    /// If verdicts differ, if it is unclear which one is meant, or if the judge's own is not allowed.
    pub(super) fn in_json<T: PartialEq>(
        &self,
        read: impl Fn(&Value) -> Result<T, NoVerdict>,
    ) -> Result<InJson<T>, String> {
        let (mut verdict, mut is_own, mut wrong) = (None, false, None);
        for found in &self.values.found {
            match (read(&found.value), &verdict) {
                (Ok(_), _) if found.has_key_twice => return Err(REPEATED.to_owned()),
                (Ok(other), Some(verdict)) if other != *verdict => return Err(SEVERAL.to_owned()),
                (Ok(same), _) => {
                    verdict = Some(same);
                    is_own |= found.stands_apart;
                }
                (Err(NoVerdict::Wrong(why)), _) if found.stands_apart => return Err(why),
                (Err(NoVerdict::Missing(why) | NoVerdict::Wrong(why)), _) => wrong = Some(why),
            }
        }
        let missing = match self.text {
            _ if self.values.is_open => UNFINISHED,
            text if text.contains('{') => INVALID,
            text if text.contains("```") => FENCED,
            _ => NO_JSON,
        };
        Ok(match verdict {
            Some(verdict) if is_own => InJson::Own(verdict),
            Some(verdict) => InJson::Quoted(verdict),
            None => InJson::None(wrong.unwrap_or_else(|| missing.to_owned())),
        })
    }
}

impl<T: PartialEq + Copy> InJson<T> {
    /// The verdict, whether it is the judge's or a quotation.
    pub(super) fn verdict(&self) -> Option<T> {
        match self {
            Self::Own(verdict) | Self::Quoted(verdict) => Some(*verdict),
            Self::None(_) => None,
        }
    }
}

impl<T: PartialEq> InJson<T> {
    /// The verdict, in JSON or in words.
    ///
    /// # Errors
    /// What is wrong with the answer: it has no verdict, or two that differ.
    pub(super) fn or_in_words(self, in_words: Option<T>) -> Result<T, String> {
        match (self, in_words) {
            (Self::Own(verdict) | Self::Quoted(verdict), Some(other)) if verdict != other => {
                Err(SEVERAL.to_owned())
            }
            (Self::Own(verdict), _) | (_, Some(verdict)) => Ok(verdict),
            (Self::Quoted(_), None) => Err(QUOTED.to_owned()),
            (Self::None(wrong), None) => Err(wrong),
        }
    }
}

/// The text after the draft of an answer, if there is one. Some servers leave out the opening tag.
pub(super) fn after_draft(answer: &str) -> Option<&str> {
    let mut text = answer.trim();
    let mut has_draft = false;
    while let Some((open, close)) = DRAFTS.iter().find(|(open, _)| text.starts_with(open)) {
        text = text[open.len()..].split_once(close)?.1.trim_start();
        has_draft = true;
    }
    // JSON may contain the tags as text.
    if has_draft || text.starts_with(['{', '[', '`']) {
        return Some(text);
    }
    let rest = DRAFTS.iter().find_map(|(_, close)| text.split_once(close));
    Some(rest.map_or(text, |(_, rest)| rest.trim_start()))
}
