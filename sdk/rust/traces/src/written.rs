//! The texts of arguments with their keys in the order of the trace, which a [`Value`] does not keep. It matches no
//! patterns.

use std::cell::OnceCell;
use std::fmt;

use scorebox_sdk::{Case, Part};
use serde_json::{Map, Value};

use crate::Trace;

/// How deeply JSON that is read may be nested.
const DEPTH: usize = 127;

/// The arguments of the calls in a case's trace, as they are written there. They are searched for only when one is
/// needed.
pub struct Written<'c> {
    case: &'c Case,
    trace: &'c Trace,
    /// For each text with sorted keys, the other texts that the trace has for it: each once, however many calls have
    /// it.
    texts: OnceCell<Map<String, Value>>,
}

impl<'c> Written<'c> {
    /// For the trace that [`Trace::of`] reads from the case.
    #[must_use]
    pub fn new(case: &'c Case, trace: &'c Trace) -> Self {
        Self { case, trace, texts: OnceCell::new() }
    }

    /// The other texts of the arguments, or of a value in them, whose text with sorted keys is this one.
    pub(super) fn texts(&self, sorted: &str) -> impl Iterator<Item = &str> {
        let texts = self.texts.get_or_init(|| self.find()).get(sorted);
        texts.and_then(Value::as_object).into_iter().flat_map(Map::keys).map(String::as_str)
    }

    fn find(&self) -> Map<String, Value> {
        let mut search = Search::default();
        self.trace.calls_and_results().for_each(|call| search.want(&call.arguments));
        let part = self.case.trace().unwrap_or_else(|| self.case.output());
        search.through(part.json());
        search.texts
    }
}

impl fmt::Debug for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Written").finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Search {
    texts: Map<String, Value>,
    /// The keys that an object may begin with, so that only candidates are parsed.
    keys: Map<String, Value>,
}

impl Search {
    /// Searches for a value, and for those inside it.
    fn want(&mut self, value: &Value) {
        match value {
            Value::Object(object) => {
                for (key, inner) in object {
                    self.keys.insert(key.clone(), Value::Null);
                    self.want(inner);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.want(item)),
            _ => return,
        }
        self.texts.insert(value.to_string(), Value::Object(Map::new()));
    }

    /// Searches a JSON text, and the texts in it that may be JSON themselves.
    fn through(&mut self, json: &str) {
        for (start, _) in json.match_indices(['{', '[', '"']) {
            let rest = &json[start..];
            let opens_text = rest.starts_with("\"{") || rest.starts_with("\"[");
            if opens_text && !json[..start].ends_with('\\') {
                if let Some((Value::String(inner), _)) = first(rest) {
                    self.through(&inner);
                }
            } else if self.may_begin(rest) {
                self.found(rest);
            }
        }
    }

    /// Records how the value at the beginning of a text is written, if it is searched for.
    fn found(&mut self, json: &str) {
        if let Some((value, written)) = first(json)
            && let sorted = value.to_string()
            && let Some(Value::Object(texts)) = self.texts.get_mut(&sorted)
            && let Ok(text) = Part::new("trace", written).text()
            && text != sorted
        {
            texts.insert(text.into_owned(), Value::Null);
        }
    }

    /// Whether the text begins with an object, possibly inside as many lists as JSON may nest, whose first key is a
    /// wanted one.
    fn may_begin(&self, json: &str) -> bool {
        let mut rest = json;
        for _ in 0..DEPTH {
            let Some(inner) = rest.strip_prefix('[') else { break };
            rest = inner.trim_start();
        }
        let key = rest.strip_prefix('{').and_then(|rest| rest.trim_start().strip_prefix('"'));
        let key = key.and_then(|rest| rest.split_once('"'));
        key.is_some_and(|(key, _)| self.keys.contains_key(key))
    }
}

/// The value at the beginning of a text, and its text.
fn first(json: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, json.get(..values.byte_offset())?))
}
