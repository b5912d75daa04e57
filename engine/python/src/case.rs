//! Makes cases of what a caller passes: single parts, a dictionary, or a line. The rules are the library's.

use pyo3::{
    prelude::*,
    types::{PyDict, PyString},
};
use scorebox::{
    case::{Case, Key, Location, Mapping},
    contract::Fields,
};

use crate::{
    error::{self, Kind},
    value,
};

/// The name of a caller's stream of cases, in messages.
const CASES: &str = "<cases>";
/// The most characters of an id that a message shows.
const MAX_ID: usize = 80;

/// The parts of a case, as `Scorer.score` takes them.
pub(crate) const PARTS: [(Key, &str); 11] = [
    (Key::Output, "output"),
    (Key::GroundTruth, "expected"),
    (Key::Input, "input"),
    (Key::Context, "context"),
    (Key::Trace, "trace"),
    (Key::Metadata, "metadata"),
    (Key::Usage, "usage"),
    (Key::LatencyMs, "latency_ms"),
    (Key::OutputSchema, "output_schema"),
    (Key::Baseline, "baseline"),
    (Key::Workspace, "workspace"),
];

/// Makes the case of these parts, in the order of [`PARTS`]. `None` means that a part is missing, except for the
/// output, which may be `None`. Only the parts in `reads`, the output and the folder are looked at: as in tables, what
/// a scorer does not read may be anything.
pub(crate) fn of_parts<'py>(
    py: Python<'py>,
    parts: [Option<Bound<'py, PyAny>>; PARTS.len()],
    reads: Fields,
) -> PyResult<Case> {
    let is_read =
        |key: Key| key == Key::Workspace || reads.iter().any(|field| Key::from(field) == key);
    let mut line = String::from("{\"output\":");
    match &parts[0] {
        Some(output) => value::write(&mut line, "output", output)?,
        None => line.push_str("null"),
    }
    for ((key, name), part) in PARTS.iter().zip(&parts).skip(1) {
        let Some(part) = part.as_ref().filter(|_| is_read(*key)) else { continue };
        line.push_str(",\"");
        line.push_str(key.name());
        line.push_str("\":");
        value::write(&mut line, name, part)?;
    }
    line.push('}');
    Case::from_json(line).map_err(|error| error::of_case(py, &error))
}

/// Makes the case at this position of a stream from the item with this number: a dictionary with the keys of a case
/// line, or such a line.
pub(crate) fn of_item(item: &Bound<'_, PyAny>, number: u64, place: u64) -> PyResult<Case> {
    let py = item.py();
    let mut line = if let Ok(members) = item.cast::<PyDict>() {
        let mut line = String::new();
        let written = value::write(&mut line, "", members.as_any());
        written.map_err(|error| error::within(py, error, |why| at(number, id_of(members), why)))?;
        line
    } else if let Ok(line) = item.cast::<PyString>() {
        line.to_str().map_err(|_| not_a_case(item, number))?.to_owned()
    } else {
        return Err(not_a_case(item, number));
    };
    let location = Location::new(CASES, number);
    // The line break is not part of the text: a mistake there would be reported on the next line.
    line.truncate(line.trim_end_matches(['\n', '\r']).len());
    Case::parse(line, place, &Mapping::NONE, location).map_err(|error| error::of_case(py, &error))
}

/// What is wrong with the item of this number, with its location and, if it is known, its id.
pub(crate) fn at(number: u64, id: Option<String>, why: &str) -> String {
    let id = id.map_or_else(String::new, |id| format!(" (id `{id}`)"));
    format!("{CASES}:{number}{id}: {why}")
}

fn id_of(members: &Bound<'_, PyDict>) -> Option<String> {
    let id: String = members.get_item("id").ok()??.extract().ok()?;
    Some(id.escape_debug().take(MAX_ID).collect())
}

/// Whether an item of a stream is an empty line, which a file of lines may have.
pub(crate) fn is_empty_line(item: &Bound<'_, PyAny>) -> bool {
    item.cast::<PyString>()
        .is_ok_and(|line| line.to_str().is_ok_and(|line| line.trim_ascii().is_empty()))
}

fn not_a_case(item: &Bound<'_, PyAny>, number: u64) -> PyErr {
    let kind = item.get_type().name().map_or_else(|_| "?".to_owned(), |kind| kind.to_string());
    let message = format!("a case is a dictionary or a line of JSON, not `{kind}`");
    error::new(item.py(), Kind::InvalidCase, at(number, None, &message))
}
