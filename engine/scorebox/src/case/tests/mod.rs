//! Tests of cases: keys, mappings, bad cases, readers.

mod bad;
mod compressed;
mod digest;
mod keys;
mod mapped;
mod properties;
mod reading;
mod values;

use std::io::Cursor;

use super::*;

/// The case in `line`.
fn case(line: &str) -> Case {
    Case::from_json(line).unwrap_or_else(|bad| panic!("{bad}"))
}

/// What is wrong with `line`, the seventh of `cases.jsonl`.
fn bad(line: &str) -> BadCase {
    let location = Location::new("cases.jsonl", 7);
    match Case::parse(line, 6, &Mapping::NONE, location) {
        Ok(case) => panic!("a case: {case:?}"),
        Err(bad) => bad,
    }
}

/// A source with the content `bytes`.
fn source(name: &str, bytes: impl Into<Vec<u8>>) -> Source {
    Source::reader(name, Box::new(Cursor::new(bytes.into())))
}

/// The reader of one source with the content `bytes`.
fn reader(bytes: impl Into<Vec<u8>>) -> CaseReader {
    CaseReader::open(vec![source("cases.jsonl", bytes)], Mapping::NONE).unwrap()
}

/// Everything that `reader` yields: outputs, or the messages of errors.
fn all(reader: CaseReader) -> Vec<String> {
    let word = |item: Result<Case, ReadError>| match item {
        Ok(case) => case.output().to_owned(),
        Err(error) => error.to_string(),
    };
    reader.map(word).collect()
}
