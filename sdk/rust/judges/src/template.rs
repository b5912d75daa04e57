//! A user's prompt with placeholders for the parts of a case: `{{input}}`, `{{output}}`, `{{groundTruth}}`,
//! `{{context}}`, `{{metadata}}`, `{{baseline}}`. There are no conditions and no loops.
//!
//! A placeholder may have a JSON Pointer into the part after its name: `{{output/answer}}`, `{{metadata/tags/0}}`. A
//! slash before the name changes nothing, so that `{{/metadata/x}}` is a pointer into the case.

use scorebox_sdk::{Case, ConfigError, Part, ScoreError, excerpt};

use crate::Prompt;

/// The words of a prompt, and between them the places for data.
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
}

/// What a placeholder may be called; the first name of a field is the one that errors list.
const FIELDS: [(&str, Field); 8] = [
    ("input", Field::Input),
    ("output", Field::Output),
    ("groundTruth", Field::GroundTruth),
    ("context", Field::Context),
    ("metadata", Field::Metadata),
    ("baseline", Field::Baseline),
    ("ground_truth", Field::GroundTruth),
    ("expected", Field::GroundTruth),
];

impl Template {
    /// Reads a template that the configuration has under `key`.
    ///
    /// # Errors
    /// A [`ConfigError`] for a placeholder without end, or with a name that no part of a case has.
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

    /// Whether it has a place for the output; without one there is nothing to judge.
    #[must_use]
    pub fn shows_output(&self) -> bool {
        let shows = |piece: &Piece| matches!(piece, Piece::Place { field: Field::Output, .. });
        self.pieces.iter().any(shows)
    }

    /// The prompt for a case.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if the case lacks a part that has a placeholder, or the part has nothing at the
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
}

impl Field {
    /// The part, and what the prompt calls it.
    fn of(self, case: &Case) -> Result<(&'static str, Part<'_>), ScoreError> {
        Ok(match self {
            Self::Input => ("input", case.require_input()?),
            Self::Output => ("output", case.output()),
            Self::GroundTruth => ("ground-truth", case.require_ground_truth()?),
            Self::Context => ("context", case.require_context()?),
            Self::Metadata => ("metadata", case.require_metadata()?),
            Self::Baseline => ("baseline", case.require_baseline()?),
        })
    }
}

fn placeholder(key: &str, place: &str) -> Result<Piece, ConfigError> {
    let path = place.strip_prefix('/').unwrap_or(place);
    let (name, pointer) = match path.find('/') {
        Some(slash) => path.split_at(slash),
        None => (path, ""),
    };
    let field = FIELDS.iter().find(|(known, _)| *known == name.trim());
    let (_, field) = field.ok_or_else(|| {
        let known: Vec<_> = FIELDS[..6].iter().map(|(name, _)| format!("`{{{{{name}}}}}`")).collect();
        let place = excerpt(place, 40);
        let known = known.join(", ");
        ConfigError::new(
            key,
            format!(
                "`{{{{{place}}}}}` is not a part of a case; there are {known}, each also with a JSON Pointer: \
                 `{{{{output/answer}}}}`"
            ),
        )
    })?;
    Ok(Piece::Place { field: *field, pointer: pointer.to_owned() })
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
