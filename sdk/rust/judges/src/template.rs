//! A user's prompt with placeholders for the parts of a case: `{{input}}`, `{{output}}`, `{{groundTruth}}`,
//! `{{context}}`, `{{metadata}}`, `{{baseline}}`, `{{outputSchema}}`, `{{latencyMs}}`. There are no conditions and no
//! loops. A trace and a usage have no placeholder: `transcript` writes down what an agent did, and tokens need no
//! judge.
//!
//! The name may be followed by a JSON Pointer into the part: `{{output/answer}}`, `{{metadata/tags/0}}`. A slash before
//! the name changes nothing, so that `{{/metadata/x}}` is a pointer into the case.

use scorebox_sdk::{Case, ConfigError, Part, ScoreError, excerpt};

use crate::Prompt;

/// The words of a prompt, and the places for data between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Words(String),
    Place { field: Field, pointer: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Input,
    Output,
    GroundTruth,
    Context,
    Metadata,
    Baseline,
    OutputSchema,
    LatencyMs,
}

/// The names of placeholders, which are the keys of cases; errors list them.
const FIELDS: [(&str, Field); 8] = [
    ("input", Field::Input),
    ("output", Field::Output),
    ("groundTruth", Field::GroundTruth),
    ("context", Field::Context),
    ("metadata", Field::Metadata),
    ("baseline", Field::Baseline),
    ("outputSchema", Field::OutputSchema),
    ("latencyMs", Field::LatencyMs),
];

/// Other names for some of them.
const ALIASES: [(&str, Field); 4] = [
    ("ground_truth", Field::GroundTruth),
    ("expected", Field::GroundTruth),
    ("output_schema", Field::OutputSchema),
    ("latency_ms", Field::LatencyMs),
];

impl Template {
    /// Reads the template that the configuration has under `key`.
    ///
    /// # Errors
    /// A [`ConfigError`] for a placeholder that is not closed, or whose name is unknown.
    pub fn parse(key: &str, text: &str) -> Result<Self, ConfigError> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((words, after)) = rest.split_once("{{") {
            let Some((place, after)) = after.split_once("}}") else {
                let start = excerpt(after, 40);
                return Err(ConfigError::new(
                    key,
                    format!("`{{{{{start}` is not closed by `}}}}`"),
                ));
            };
            pieces.push(Piece::Words(words.to_owned()));
            pieces.push(placeholder(key, place.trim())?);
            rest = after;
        }
        pieces.push(Piece::Words(rest.to_owned()));
        pieces.retain(|piece| !matches!(piece, Piece::Words(words) if words.is_empty()));
        Ok(Self { pieces })
    }

    /// Whether it has a place for the output; without that, there is nothing to judge.
    #[must_use]
    pub fn shows_output(&self) -> bool {
        let shows = |piece: &Piece| matches!(piece, Piece::Place { field: Field::Output, .. });
        self.pieces.iter().any(shows)
    }

    /// The prompt for a case.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if the case lacks a part that a placeholder names, or the part has no value at the
    /// pointer.
    pub fn fill<'t>(&'t self, case: &Case) -> Result<Prompt<'t>, ScoreError> {
        let mut prompt = Prompt::new();
        for piece in &self.pieces {
            match piece {
                Piece::Words(words) => prompt.say(words.as_str()),
                Piece::Place { field, pointer } => {
                    let (name, part) = field.of(case)?;
                    prompt.data(name, at(&part, pointer)?)
                }
            };
        }
        Ok(prompt)
    }

    /// The name of the first placeholder in a text that a template would fill. For texts that are not templates: there,
    /// the placeholder would reach the judge as it is.
    #[must_use]
    pub fn place_in(text: &str) -> Option<&str> {
        let mut from = 0;
        text.match_indices("}}").find_map(|(end, closing)| {
            let before = &text[from..end];
            from = end + closing.len();
            let (_, place) = before.rsplit_once("{{")?;
            field(place.trim()).map(|_| place.trim())
        })
    }
}

impl Field {
    /// The part, and its name in the prompt.
    fn of(self, case: &Case) -> Result<(&'static str, Part<'_>), ScoreError> {
        Ok(match self {
            Self::Input => ("input", case.require_input()?),
            Self::Output => ("output", case.output()),
            Self::GroundTruth => ("ground-truth", case.require_ground_truth()?),
            Self::Context => ("context", case.require_context()?),
            Self::Metadata => ("metadata", case.require_metadata()?),
            Self::Baseline => ("baseline", case.require_baseline()?),
            Self::OutputSchema => ("output-schema", case.require_output_schema()?),
            Self::LatencyMs => {
                ("latency-ms", Part::new("latencyMs", case.require_latency_ms()?.to_string()))
            }
        })
    }
}

fn placeholder(key: &str, place: &str) -> Result<Piece, ConfigError> {
    let (field, pointer) = field(place).ok_or_else(|| {
        let known: Vec<_> = FIELDS.iter().map(|(name, _)| format!("`{{{{{name}}}}}`")).collect();
        let place = excerpt(place, 40);
        let known = known.join(", ");
        ConfigError::new(
            key,
            format!(
                "`{{{{{place}}}}}` is not a place that a template can have; there are {known}, each also with a JSON \
                 Pointer: `{{{{output/answer}}}}`"
            ),
        )
    })?;
    Ok(Piece::Place { field, pointer: pointer.to_owned() })
}

/// What a placeholder is filled with, and the pointer into it; `None` if the name is unknown.
fn field(place: &str) -> Option<(Field, &str)> {
    let path = place.strip_prefix('/').unwrap_or(place);
    let (name, pointer) = path.split_at(path.find('/').unwrap_or(path.len()));
    let mut fields = FIELDS.iter().chain(&ALIASES);
    let (_, field) = fields.find(|(known, _)| *known == name.trim())?;
    Some((*field, pointer))
}

/// The text at a pointer into a part.
fn at(part: &Part<'_>, pointer: &str) -> Result<String, ScoreError> {
    if pointer.is_empty() {
        return part.text().map(Into::into);
    }
    match part.value()?.pointer(pointer) {
        Some(serde_json::Value::String(text)) => Ok(text.clone()),
        Some(value) => Ok(value.to_string()),
        None => {
            let name = part.name();
            Err(ScoreError::invalid_input(format!("`{name}` has nothing at `{pointer}`")))
        }
    }
}
