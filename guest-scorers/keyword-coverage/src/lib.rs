//! keyword-coverage: how many of the keywords are in the output. It compares words as they are written, and knows
//! neither their inflected forms nor their meaning.
//!
//! score = keywords in the output / keywords
//!
//! Keywords of a text are extracted as the npm package keyword-extractor does it, which the
//! keyword-coverage scorer of Mastra uses.

mod bare;
mod keywords;
mod stop_words;
mod text;

use std::borrow::Cow;
use std::collections::BTreeSet;

use keywords::{extract, without_numbers};
use scorebox_sdk::{
    Accepted, Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Negate,
    Part, Score, ScoreError, Scorer, excerpt, schemars,
};
use serde::Deserialize;
use serde_json::json;
use stop_words::STOP_WORDS;
use text::{Text, said};

/// Scores how many of the keywords occur in the output: keywords found / all keywords.
///
/// The keywords are the configured `value` or `values`, or else a ground truth that is a list of
/// texts and numbers: words, or several words that must follow each other. Otherwise they are the
/// words of a text (any other ground truth, or else the input) without English stop words, each
/// counted once. Numbers of a ground truth are keywords like its words, as they are written: `1969`,
/// `$1,969`, `0.95`, `-3` and `50%`; numbers of an input are not keywords. If an input, output or ground
/// truth is not a text, the texts inside it are read; of chat messages, what they say. Case (`STRASSE` is
/// `straße`), tags of HTML and the punctuation around a word are ignored (`**Paris**`, `«Paris»`), and the sign
/// after or before a number in the output (`3.5%`); punctuation inside a word counts (`3.5` is not `35`).
///
/// Keywords in scripts without spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) are found
/// inside of others, too: `东京` in `我在东京工作`. Name them one by one, as a text of such a script is not cut
/// into words. An accent that is a code point of its own makes another letter.
///
/// A case whose ground truth has no keyword, such as an empty list, is `not-applicable`. An input
/// without one scores 1, and `meta.skipped` says so, as in Mastra.
///
/// With keywords from the input, equals Mastra's `keyword-coverage`, except that a dash alone is not a
/// keyword: of the marks around a word only those of sentences, brackets and quotes are ignored, inside a word
/// too, and everything between `<` and `>` is left out.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// Where the keywords come from; by default from the ground truth or, if the case has none,
    /// from the input.
    #[serde(default)]
    from: Option<Origin>,
    /// Words that are never keywords of a text, in place of the English ones.
    #[serde(default)]
    stop_words: Option<Vec<String>>,
    #[serde(default)]
    negate: Negate,
    /// The only keyword.
    #[serde(default)]
    value: ExpectedValue,
    /// The keywords.
    #[serde(default)]
    values: ExpectedValues,
}

/// Where keywords come from.
#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Origin {
    /// From the task's input: a text, chat messages, or the texts inside another value.
    Input,
    /// From the expected output: a list of keywords, a text, or the texts inside another value.
    GroundTruth,
}

/// The scorer, made from its [`Config`].
pub struct KeywordCoverage {
    from: Option<Origin>,
    not_keywords: BTreeSet<String>,
    negate: Negate,
    accepted: Option<Accepted<'static>>,
}

impl Scorer for KeywordCoverage {
    type Config = Config;

    const INFO: Info = Info::new("keyword-coverage", "Keyword Coverage", env!("CARGO_PKG_VERSION"))
        .reads(Fields::INPUT.and(Fields::GROUND_TRUTH));

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { from, stop_words, negate, value, values } = config;
        let accepted = Accepted::configured(value, values)?;
        if accepted.is_some() && from.is_some() {
            let message = "has no effect with `value` or `values`, which are the keywords";
            return Err(ConfigError::new("from", message));
        }
        let not_keywords = match stop_words {
            Some(words) => words.iter().map(|word| word.to_lowercase()).collect(),
            None => STOP_WORDS.split_whitespace().map(str::to_owned).collect(),
        };
        Ok(Self { from, not_keywords, negate, accepted })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let output = case.output();
        let output = said(&output)?;
        let source = self.source(case)?;
        let is_input = matches!(source, Source::Input(_));
        let (found, missing) = match source {
            Source::Keywords(keywords) => {
                let words = bare::words(&output);
                let text = Text::new(&output, &words);
                keywords.into_iter().partition(|keyword| text.has(keyword))
            }
            Source::Input(text) => {
                let words = without_numbers(keywords::words(&text));
                self.covered(words, &keywords::words(&output))
            }
            Source::GroundTruth(truth) => {
                let words = bare::words(&output);
                let text = Text::new(&output, &words);
                let keywords = extract(bare::words(&truth), &self.not_keywords).into_iter();
                keywords.partition(|keyword| text.has_word(keyword))
            }
        };
        let total = found.len() + missing.len();
        if total == 0 {
            let why = "there are no keywords to cover";
            return Ok(match is_input {
                true => self.negate.score(1.0).reason(why).meta(json!({ "skipped": true })),
                false => Score::not_applicable(why),
            });
        }
        let score = found.len() as f64 / total as f64;
        let mut reason = format!("{} of {total} keywords found", found.len());
        if !missing.is_empty() {
            reason += &format!("; missing {}", excerpt(&missing.join(", "), 80));
        }
        let shown = |words: &[String]| -> Vec<String> {
            let shown = words.iter().take(KEYWORDS_SHOWN);
            shown.map(|word| excerpt(word, KEYWORD_SHOWN).into_owned()).collect()
        };
        Ok(self
            .negate
            .score(score)
            .reason(reason)
            .meta(json!({ "found": shown(&found), "missing": shown(&missing), "total": total })))
    }
}

/// The most keywords in each list of `meta`.
const KEYWORDS_SHOWN: usize = 1000;
/// The longest keyword in `meta`, in characters.
const KEYWORD_SHOWN: usize = 100;

/// The source of keywords.
enum Source {
    Keywords(Vec<String>),
    Input(String),
    GroundTruth(String),
}

impl KeywordCoverage {
    /// Splits the keywords among some words into those in the output and the others.
    fn covered(&self, words: Vec<String>, output: &[String]) -> (Vec<String>, Vec<String>) {
        let output: BTreeSet<&str> = output.iter().map(String::as_str).collect();
        let keywords = extract(words, &self.not_keywords);
        keywords.into_iter().partition(|keyword| output.contains(keyword.as_str()))
    }

    fn source(&self, case: &Case) -> Result<Source, ScoreError> {
        if self.accepted.is_none() && self.reads_input(case)? {
            return Ok(Source::Input(said(&case.require_input()?)?.into_owned()));
        }
        let accepted = Accepted::or_ground_truth(&self.accepted, case)?;
        if self.accepted.is_none() && !is_list_of_keywords(&accepted) {
            return Ok(Source::GroundTruth(said(&case.require_ground_truth()?)?.into_owned()));
        }
        let keywords = accepted.parts().iter();
        let keywords = keywords.map(|part| part.text().map(Cow::into_owned));
        let mut keywords: Vec<String> = keywords.collect::<Result<_, _>>()?;
        keywords.retain(|keyword| !keyword.trim().is_empty());
        Ok(Source::Keywords(keywords))
    }

    fn reads_input(&self, case: &Case) -> Result<bool, ScoreError> {
        match (self.from, case.ground_truth().is_some(), case.input().is_some()) {
            (Some(from), _, _) => Ok(from == Origin::Input),
            (None, false, false) => Err(ScoreError::invalid_input(
                "the case has neither `groundTruth` nor `input`, of which this scorer needs one, and the \
                 configuration has no `value` in their place",
            )),
            (None, has_truth, _) => Ok(!has_truth),
        }
    }
}

/// Whether a ground truth lists keywords; a list that contains objects or lists has chat messages or records instead.
fn is_list_of_keywords(accepted: &Accepted<'_>) -> bool {
    let is_one = |part: &Part<'_>| !part.is_array() && part.kind() != "an object";
    accepted.is_list() && accepted.parts().iter().all(is_one)
}

scorebox_sdk::export!(KeywordCoverage);

#[cfg(test)]
mod tests;
