//! Puts a case together from single values, for library users and the command line. Writes a line and
//! reads it as any other, so that no case comes into being by a second way.

use crate::advice::{Advice, Form};

use super::{
    error::{BadCase, BadCaseReason, Location},
    excerpt::excerpt,
    fault::Fault,
    key::Key,
    mapping::Mapping,
    members::document,
    record::Case,
};

/// A case in the making; see [`Case::builder`].
#[derive(Clone, Debug, Default)]
pub struct CaseBuilder {
    values: [Option<String>; Key::COUNT],
    ordinal: u64,
}

impl CaseBuilder {
    /// Sets `key` to one JSON document, byte for byte; it is checked in [`build`](Self::build).
    #[must_use]
    pub fn json(mut self, key: Key, json: impl Into<String>) -> CaseBuilder {
        self.values[key as usize] = Some(json.into());
        self
    }

    /// Sets `key` to a JSON string with the content `text`.
    #[must_use]
    pub fn text(self, key: Key, text: &str) -> CaseBuilder {
        self.json(key, serde_json::Value::from(text).to_string())
    }

    /// Sets the case's place among all cases, from 0; 0 where it is not set.
    #[must_use]
    pub fn ordinal(self, ordinal: u64) -> CaseBuilder {
        CaseBuilder { ordinal, ..self }
    }

    /// The case.
    ///
    /// # Errors
    /// A value is not one JSON document, or the values make no case, as in [`Case::parse`]; the
    /// source is named `<case>`, and there is no line.
    pub fn build(self) -> Result<Case, BadCase> {
        let location = Location::new("<case>", 0);
        let mut line = String::from("{");
        for (key, value) in Key::ALL.into_iter().zip(&self.values) {
            let Some(value) = value else { continue };
            let value = document(value).map_err(|_| {
                not_a_document(key, value).into_bad_case(b"", &location, self.ordinal)
            })?;
            if line.len() > 1 {
                line.push(',');
            }
            line.extend(["\"", key.name(), "\":", value]);
        }
        line.push('}');
        Case::parse(line, self.ordinal, &Mapping::NONE, location)
    }
}

/// The fault of a value that is not one JSON document.
fn not_a_document(key: Key, value: &str) -> Fault {
    let found = format!("the text {}", excerpt(value)).into();
    Fault::whole(BadCaseReason::BadField { key: key.name(), expected: "one JSON document", found })
        .with_advice(Advice::Write(Form::QuotedText))
}
