//! Builds a case from single values, for library users and the command line. It writes the line with these values and
//! notes where each of them is, instead of reading the line again; the rules are those of a line that was read.

use crate::advice::{Advice, Form};

use super::{
    error::{BadCase, BadCaseReason, Location},
    excerpt::excerpt,
    fault::Fault,
    key::Key,
    line::{Sliced, join},
    members::document,
    record::Case,
};

/// A case that is being built; see [`Case::builder`].
#[derive(Clone, Debug, Default)]
pub struct CaseBuilder {
    values: [Option<String>; Key::COUNT],
    ordinal: u64,
}

impl Case {
    /// Builds a case from its values.
    pub fn builder() -> CaseBuilder {
        CaseBuilder::default()
    }
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

    /// Sets the case's index among all cases, from 0; the default is 0.
    #[must_use]
    pub fn ordinal(self, ordinal: u64) -> CaseBuilder {
        CaseBuilder { ordinal, ..self }
    }

    /// Builds the case.
    ///
    /// # Errors
    /// A value is not one JSON document, or the values are not a valid case, as in [`Case::parse`]; the source is named
    /// `<case>`, and there is no line.
    pub fn build(self) -> Result<Case, BadCase> {
        let location = Location::new("<case>", 0);
        let given = Key::ALL.into_iter().zip(&self.values);
        let values = given.filter_map(|(key, value)| Some((key, value.as_deref()?)));
        let values: Result<Vec<_>, Fault> = values
            .map(|(key, value)| match document(value) {
                Ok(value) => Ok((key, value)),
                Err(_) => Err(not_a_document(key, value)),
            })
            .collect();
        let values = values.map_err(|fault| fault.into_bad_case(b"", &location, self.ordinal))?;
        let (line, slots) = join(&values);
        let slots =
            slots.map_err(|fault| fault.into_bad_case(line.as_bytes(), &location, self.ordinal))?;
        let sliced = Sliced { slots, others: None };
        Case::of_slices(line.into(), sliced, self.ordinal, location)
    }
}

/// The fault of a value that is not one JSON document.
fn not_a_document(key: Key, value: &str) -> Fault {
    let found = format!("the text {}", excerpt(value)).into();
    Fault::whole(BadCaseReason::BadField { key: key.name(), expected: "one JSON document", found })
        .with_advice(Advice::Write(Form::QuotedText))
}
