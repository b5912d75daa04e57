//! A JSON Pointer into a case: the value that a scorer gets as its output. It reads no suite and runs no scorer.

use std::{fmt, str::FromStr};

use super::{
    checks::spellings_of_counter, error::BadCaseReason, key::Key, pointer::Pointer, record::Case,
};
use crate::{contract::Field, suggest::closest};

/// A JSON Pointer (RFC 6901) whose first part is the output, or another part of a case that scorers can read, in any of
/// its spellings: `/output/summary`, `/trace/0/content`, `/expected`. A count in `/usage` may have any of its spellings
/// too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CasePointer {
    key: Key,
    pointer: Pointer,
    /// The same pointer with the other spellings of a count in the usage, the strongest first.
    otherwise: Vec<Pointer>,
}

/// Why a text is not a [`CasePointer`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadCasePointer {
    /// It is not a JSON Pointer.
    #[error("`{0}` is not a JSON Pointer, such as `/output/summary`: {1}")]
    NotAPointer(String, &'static str),
    /// It begins with something else.
    #[error("`{pointer}` is not in a part of a case that a scorer can be on{}; a pointer begins with one of {}",
        did_you_mean(.closest), beginnings())]
    NotAPart {
        /// The pointer.
        pointer: String,
        /// The closest valid beginnings, the best first.
        closest: Vec<String>,
    },
}

impl CasePointer {
    /// The pointer as it was written.
    pub fn as_str(&self) -> &str {
        self.pointer.as_str()
    }

    /// Whether the part at its beginning is a text, in which it cannot find anything.
    pub fn begins_with_text(&self, case: &Case) -> bool {
        let value = match self.key {
            Key::Output => case.output(),
            key => case.raw(key).unwrap_or_default(),
        };
        self.pointer.tokens().len() > 1 && value.trim_start().starts_with('"')
    }

    /// The value there, as the JSON that was read; `None` if the case does not have it.
    ///
    /// # Errors
    /// An object on the way has the same key twice.
    pub fn find<'c>(&self, case: &'c Case) -> Result<Option<&'c str>, BadCaseReason> {
        let value = match self.key {
            Key::Output => Some(case.output()),
            key => case.raw(key),
        };
        match value {
            Some(value) => {
                let spellings = std::iter::once(&self.pointer).chain(&self.otherwise);
                let found = spellings.map(|pointer| pointer.find_below_first(value.trim()));
                let mut found = found.filter_map(Result::transpose);
                found.next().transpose().map_err(|fault| fault.reason)
            }
            None => Ok(None),
        }
    }
}

impl FromStr for CasePointer {
    type Err = BadCasePointer;

    fn from_str(text: &str) -> Result<CasePointer, BadCasePointer> {
        let pointer = Pointer::parse(text)
            .map_err(|why| BadCasePointer::NotAPointer(text.to_owned(), why))?;
        let first = pointer.first().unwrap_or_default();
        let known = parts().find(|key| key.spellings().contains(&first));
        match known {
            Some(key) => Ok(CasePointer { key, otherwise: otherwise(key, &pointer), pointer }),
            None => {
                let closest = closest(first, parts().map(Key::name));
                let pointer = text.to_owned();
                Err(BadCasePointer::NotAPart { pointer, closest })
            }
        }
    }
}

impl fmt::Display for CasePointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The pointer with the other spellings of the count at its end, if it points into the usage.
fn otherwise(key: Key, pointer: &Pointer) -> Vec<Pointer> {
    let Some(count) = pointer.tokens().get(1).filter(|_| key == Key::Usage) else {
        return Vec::new();
    };
    let others = spellings_of_counter(count).iter().filter(|spelling| **spelling != count.as_str());
    others.map(|spelling| pointer.with_second(spelling)).collect()
}

/// The parts that a pointer can begin with. The latency is excluded, because it is stored as a number, and not as it
/// was written.
fn parts() -> impl Iterator<Item = Key> {
    let fields = Field::ALL.into_iter().filter(|field| *field != Field::Latency).map(Key::from);
    std::iter::once(Key::Output).chain(fields)
}

fn beginnings() -> String {
    parts().map(|key| format!("`/{key}`")).collect::<Vec<_>>().join(", ")
}

fn did_you_mean(closest: &[String]) -> String {
    match closest.first() {
        Some(name) => format!(" (did you mean `/{name}`?)"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pointer: &str, case: &str) -> Option<String> {
        let case = Case::from_json(case).unwrap();
        pointer.parse::<CasePointer>().unwrap().find(&case).unwrap().map(str::to_owned)
    }

    #[test]
    fn a_value_of_a_case_is_found_as_it_was_written() {
        let case = r#"{"output": {"summary": "short", "parts": [1.0, null]}, "reference": "long"}"#;
        for (pointer, value) in [
            ("/output/summary", Some(r#""short""#)),
            ("/output/parts/0", Some("1.0")),
            ("/output/parts/1", Some("null")),
            ("/output/parts/2", None),
            ("/expected", Some(r#""long""#)),
            ("/groundTruth", Some(r#""long""#)),
            ("/context/0", None),
        ] {
            assert_eq!(find(pointer, case).as_deref(), value, "{pointer}");
        }
        let whole = find("/output", case);
        assert_eq!(whole.as_deref(), Some(r#"{"summary": "short", "parts": [1.0, null]}"#));
    }

    #[test]
    fn a_count_of_the_usage_is_found_in_any_spelling() {
        let in_usage = |pointer: &str, usage: &str| {
            find(pointer, &format!("{{\"output\": 1, \"usage\": {usage}}}"))
        };
        for (pointer, usage, value) in [
            ("/usage/inputTokens", r#"{"input_tokens": 5}"#, Some("5")),
            ("/usage/prompt_tokens", r#"{"inputTokens": 5}"#, Some("5")),
            ("/usage/costUsd", r#"{"cost_usd": 0.5}"#, Some("0.5")),
            // The spelling in the pointer comes first, and then the strongest spelling.
            ("/usage/promptTokens", r#"{"input_tokens": 5, "promptTokens": 6}"#, Some("6")),
            ("/usage/inputTokens", r#"{"prompt_tokens": 6, "input_tokens": 5}"#, Some("5")),
            ("/usage/inputTokens", r#"{"output_tokens": 5}"#, None),
            ("/usage/cacheReadTokens", r#"{"cache_read_tokens": 5}"#, None),
            ("/usage", r#"{"input_tokens": 5}"#, Some(r#"{"input_tokens": 5}"#)),
        ] {
            assert_eq!(in_usage(pointer, usage).as_deref(), value, "{pointer} {usage}");
        }
        let elsewhere = r#"{"output": {"input_tokens": 5}}"#;
        assert_eq!(find("/output/inputTokens", elsewhere), None);
    }

    #[test]
    fn what_scorers_are_not_given_is_refused() {
        let refused = |text: &str| text.parse::<CasePointer>().unwrap_err().to_string();
        assert_eq!(
            refused("output"),
            "`output` is not a JSON Pointer, such as `/output/summary`: it does not start with `/`"
        );
        assert!(refused("/otput/x").starts_with(
            "`/otput/x` is not in a part of a case that a scorer can be on (did you mean `/output`?); \
             a pointer begins with one of `/output`, `/input`, "
        ));
        for other in ["", "/", "/id", "/turns/0", "/workspace", "/latencyMs"] {
            assert!(refused(other).contains("is not in a part of a case"), "{other}");
        }
    }

    #[test]
    fn a_key_that_is_there_twice_on_the_way_is_an_error() {
        let case = Case::from_json(r#"{"output": {"a": 1, "a": 2}}"#).unwrap();
        assert!("/output/a".parse::<CasePointer>().unwrap().find(&case).is_err());
    }
}
