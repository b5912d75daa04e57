//! Defines the columns of a table of scores, each once: its name, the kind of its values, and where they come from. It
//! leaves to the formats how a value is written.

use std::borrow::Cow;

use scorebox::{
    contract::Field,
    reports::{ReportedCase, cell_number, readable_json},
    row::{Json, Status},
    store::{CaseContent, ScoreRecord},
    verdict::Verdict,
};

/// A score with its case.
#[derive(Clone, Copy)]
pub(crate) struct Scored<'a> {
    pub case: &'a ReportedCase<'a>,
    pub content: &'a CaseContent,
    pub record: &'a ScoreRecord,
    /// Whether the run has a scorer that can fail a case.
    pub decides: bool,
}

/// The kind of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// Any JSON.
    Json,
    Integer,
    Number,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Missing,
    Text(Cow<'a, str>),
    Json(Cow<'a, str>),
    Integer(i64),
    Number(f64),
}

impl<'a> Cell<'a> {
    fn text(text: Option<&'a str>) -> Cell<'a> {
        text.map_or(Cell::Missing, |text| Cell::Text(text.into()))
    }

    fn json(json: Option<&'a Json>) -> Cell<'a> {
        json.map_or(Cell::Missing, |json| Cell::Json(json.get().into()))
    }

    fn part(scored: &Scored<'a>, field: Field) -> Cell<'a> {
        let parts = scored.content.parts.iter();
        let mut found = parts.filter(|(of, _)| *of == field);
        found.next().map_or(Cell::Missing, |(_, json)| Cell::Json(json.as_str().into()))
    }

    fn integer(number: Option<u64>) -> Cell<'a> {
        number.map_or(Cell::Missing, |it| Cell::Integer(i64::try_from(it).unwrap_or(i64::MAX)))
    }

    fn number(number: Option<f64>) -> Cell<'a> {
        number.map_or(Cell::Missing, Cell::Number)
    }

    /// The value in a form that every program can read, and how many halves of surrogate pairs were replaced in it.
    fn readable(self) -> (Cell<'a>, u64) {
        match self {
            Cell::Json(json) => {
                let (json, halves) = readable_json(json);
                (Cell::Json(json), halves)
            }
            other => (other, 0),
        }
    }

    /// The value as text; for a JSON string, its content.
    pub(crate) fn to_text(&self) -> Option<Cow<'a, str>> {
        Some(match self {
            Cell::Missing => return None,
            Cell::Json(json) if json == "null" => return None,
            Cell::Text(text) => text.clone(),
            Cell::Json(json) if json.starts_with('"') => match serde_json::from_str::<String>(json)
            {
                Ok(text) => text.into(),
                // Anyone with write access to the database can store anything there.
                Err(_) => json.clone(),
            },
            Cell::Json(json) => json.clone(),
            Cell::Integer(number) => number.to_string().into(),
            Cell::Number(number) => cell_number(*number).into(),
        })
    }
}

/// A column.
pub(crate) struct Column {
    pub name: &'static str,
    pub kind: Kind,
    of: for<'a> fn(&Scored<'a>) -> Cell<'a>,
}

impl Column {
    /// The value for a score; `halves` counts the halves of surrogate pairs that are replaced by U+FFFD.
    pub(crate) fn cell<'a>(&self, scored: &Scored<'a>, halves: &mut u64) -> Cell<'a> {
        let (cell, more) = (self.of)(scored).readable();
        *halves += more;
        cell
    }
}

macro_rules! columns {
    ($($name:literal: $kind:ident = $of:expr;)+) => {
        /// The columns, in their order.
        pub(crate) const COLUMNS: &[Column] = &[$(Column { name: $name, kind: Kind::$kind, of: $of },)+];

        /// The names of the columns, in their order; docs/export.md describes the content of each.
        pub const COLUMN_NAMES: &[&str] = &[$($name),+];
    };
}

columns! {
    "run_id": Text = |it| Cell::Text(it.record.run_id.as_str().into());
    "case_id": Text = |it| Cell::text(Some(&it.record.row.case_id));
    "node_id": Text = |it| Cell::text(it.record.row.node_id.as_deref());
    "iteration": Integer = |it| Cell::Integer(it.record.row.iteration.into());
    "attempt": Integer = |it| Cell::Integer(it.record.row.attempt.into());
    "verdict": Text = |it| Cell::text(it.case.decided.verdict.shown(it.decides).verdict.map(Verdict::as_str));
    "case_score": Number = |it| Cell::number(it.case.decided.verdict.score);
    "scorer_id": Text = |it| Cell::text(Some(&it.record.row.scorer_id));
    "scorer_name": Text = |it| Cell::text(Some(&it.record.scorer_name));
    "status": Text = |it| Cell::text(Some(it.record.row.answer.status.as_str()));
    "score": Number = |it| Cell::number(it.record.row.answer.score);
    "label": Text = |it| Cell::text(it.record.row.answer.label.as_deref());
    "reason": Text = |it| Cell::text(it.record.row.answer.reason.as_deref());
    "error_kind": Text = |it| Cell::text(it.record.row.answer.error.as_ref().map(|it| it.kind.as_str()));
    "error_message": Text = |it| Cell::text(it.record.row.answer.error.as_ref().map(|it| it.message.as_str()));
    "severity": Text = |it| Cell::text(Some(it.record.severity.as_str()));
    "threshold": Number = |it| Cell::number(it.record.threshold);
    "standing": Text = standing;
    "meta": Json = |it| Cell::json(it.record.row.answer.meta.as_ref());
    "assertions": Json = |it| Cell::json(it.record.row.answer.assertions.as_ref());
    "input": Json = |it| Cell::part(it, Field::Input);
    "output": Json = |it| Cell::Json(it.content.output.as_str().into());
    "ground_truth": Json = |it| Cell::part(it, Field::GroundTruth);
    "context": Json = |it| Cell::part(it, Field::Context);
    "metadata": Json = |it| Cell::part(it, Field::Metadata);
    "usage": Json = |it| Cell::part(it, Field::Usage);
    "skip": Json = skip;
    "error": Text = |it| Cell::text(it.content.error.as_deref());
    "latency_ms": Number = |it| Cell::number(it.record.latency_ms);
    "fuel": Integer = |it| Cell::integer(it.record.row.answer.fuel);
    "memory_bytes": Integer = |it| Cell::integer(it.record.row.answer.memory_bytes);
    "duration_ms": Number = |it| Cell::number(it.record.row.answer.duration_ms);
    "scored_at_ms": Integer = |it| Cell::Integer(it.record.row.scored_at_ms);
    "scorer_digest": Text = |it| Cell::Text(it.record.row.scorer_digest.to_string().into());
    "config_digest": Text = |it| Cell::Text(it.record.row.config_digest.to_string().into());
    "input_digest": Text = |it| {
        it.record.row.input_digest.map_or(Cell::Missing, |it| Cell::Text(it.to_string().into()))
    };
    "engine_version": Text = |it| Cell::text(Some(&it.record.engine_version));
    "wasmtime_version": Text = |it| Cell::text(Some(&it.record.wasmtime_version));
    "reused_from": Text = |it| Cell::text(it.record.reused_from.as_deref());
}

/// Why the case is skipped, in the form that a case has: `true` without a reason.
fn skip<'a>(scored: &Scored<'a>) -> Cell<'a> {
    match scored.case.decided.case.skip.as_deref() {
        None => Cell::Missing,
        Some("") => Cell::Json("true".into()),
        // A string as JSON cannot fail.
        Some(why) => Cell::Json(serde_json::to_string(why).unwrap_or_default().into()),
    }
}

/// How the score counts in the verdict of its case.
fn standing<'a>(scored: &Scored<'a>) -> Cell<'a> {
    let row = &scored.record.row;
    let against = &scored.case.decided.against;
    match against.iter().find(|against| against.scorer_id == row.scorer_id) {
        Some(against) => Cell::text(Some(against.standing.as_str())),
        None if row.answer.status == Status::Scored => Cell::text(Some("holds")),
        // Without a score, there is nothing that could hold.
        None => Cell::Missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_that_is_a_string_is_its_text() {
        let text = |cell: Cell<'static>| cell.to_text().map(Cow::into_owned);
        let json = |json: &'static str| text(Cell::Json(json.into()));
        assert_eq!(json(r#""a\n\"b\"""#).as_deref(), Some("a\n\"b\""));
        assert_eq!(json(r#"{"a":1.50}"#).as_deref(), Some(r#"{"a":1.50}"#));
        assert_eq!((text(Cell::Missing), json("null")), (None, None));
        assert_eq!(text(Cell::Number(0.1)).as_deref(), Some("0.1"));
    }

    #[test]
    fn half_of_a_surrogate_pair_is_a_character_in_text_too() {
        let (cell, halves) = Cell::Json(r#""cut \ud83d""#.into()).readable();
        assert_eq!((cell.to_text().as_deref(), halves), (Some("cut \u{fffd}"), 1));
    }

    #[test]
    fn each_column_has_a_name_of_its_own() {
        let mut names = COLUMN_NAMES.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), COLUMNS.len());
    }
}
