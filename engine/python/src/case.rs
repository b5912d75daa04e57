//! Cases of what a caller hands over: single parts, a dictionary, or a line. The rules are the library's.

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

/// The case of these parts, in the order of [`PARTS`]; `None` is no part, but an output may be `None`. Only of `reads`, with the
/// output and the folder: what a scorer does not read is not looked at, as in tables, and may be anything.
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

/// The case at this index of a stream: a dictionary with the keys of a case line, or such a line.
pub(crate) fn of_item(item: &Bound<'_, PyAny>, index: u64) -> PyResult<Case> {
    let py = item.py();
    let mut line = if let Ok(members) = item.cast::<PyDict>() {
        let mut line = String::new();
        value::write(&mut line, "", members.as_any())?;
        line
    } else if let Ok(line) = item.cast::<PyString>() {
        line.to_str().map_err(|_| not_a_case(item))?.to_owned()
    } else {
        return Err(not_a_case(item));
    };
    let location = Location::new("<cases>", index + 1);
    // The end of a line does not belong to its text, or a mistake there would be reported on the next line.
    line.truncate(line.trim_end_matches(['\n', '\r']).len());
    Case::parse(line, index, &Mapping::NONE, location).map_err(|error| error::of_case(py, &error))
}

/// Whether an item of a stream is an empty line, which a file of lines may have.
pub(crate) fn is_empty_line(item: &Bound<'_, PyAny>) -> bool {
    item.cast::<PyString>()
        .is_ok_and(|line| line.to_str().is_ok_and(|line| line.trim_ascii().is_empty()))
}

fn not_a_case(item: &Bound<'_, PyAny>) -> PyErr {
    let kind = item.get_type().name().map_or_else(|_| "?".to_owned(), |kind| kind.to_string());
    let message = format!("a case is a dictionary or a line of JSON, not `{kind}`");
    error::new(item.py(), Kind::InvalidCase, message)
}
