//! CSV as cases: a header, and a row for each case. Rows are lines in `table`.

use std::{io::Read, path::Path};

use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord};
use scorebox::case::Mapping;

use crate::{
    emit::Emit,
    format::Format,
    place::Place,
    problem::Problem,
    quotes::Quotes,
    table::{Columns, RowPlace, line_of_texts},
    text::{Allowance, text},
};

/// What may stand between the cells.
const SEPARATORS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// Whether a text that begins like this is a table with cases: its header has a key of a case, or a column that the mapping
/// names; or its name says so.
pub(crate) fn seems_one(beginning: &[u8], path: &Path, mapping: &Mapping) -> bool {
    let is_named_so = path.file_name().is_some_and(|name| {
        let name = name.to_string_lossy().to_ascii_lowercase();
        let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
        name.ends_with(".csv") || name.ends_with(".tsv")
    });
    let columns = Columns::of(mapping);
    let separator = separator(beginning);
    let mut table = reader(beginning, separator);
    let Ok(header) = table.headers() else { return is_named_so };
    is_named_so || (header.len() > 1 && header.iter().any(|column| columns.is_key(column)))
}

/// Whether the header can be read, and names each column once.
pub(crate) fn check(place: &Place) -> Result<(), Problem> {
    let mut table = open(place, &Allowance::new())?;
    let header = table.headers().map_err(problem)?;
    let again = header
        .iter()
        .enumerate()
        .find(|(index, column)| header.iter().take(*index).any(|earlier| earlier == *column));
    match again {
        None => Ok(()),
        Some((_, column)) => {
            Err(Problem::content(format!("the header has the column `{column}` twice")))
        }
    }
}

pub(crate) fn read(place: &Place, emit: &mut Emit) -> Result<(), Problem> {
    let allowance = Allowance::new();
    let mut table = open(place, &allowance)?;
    let columns = Columns::of(&place.mapping);
    let header = table.headers().map_err(problem)?.clone();
    let (mut row, mut number) = (StringRecord::new(), 0);
    loop {
        let is_there = table.read_record(&mut row).map_err(problem)?;
        if let Some(line) = table.get_ref().unclosed() {
            return Err(Problem::content(format!(
                "line {line}: a cell begins with a quote and never ends"
            )));
        }
        if !is_there {
            return Ok(());
        }
        allowance.renew();
        number += 1;
        let at = RowPlace {
            format: Format::Csv,
            file: &place.file,
            name: place.stem(),
            split: None,
            row: number,
        };
        emit.line(&line_of_texts(header.iter().zip(&row), &columns, at)?)?;
    }
}

fn open(
    place: &Place,
    allowance: &Allowance,
) -> Result<Reader<Quotes<impl Read + use<>>>, Problem> {
    let mut text = text(&place.path)?;
    let separator = separator(text.fill_buf()?);
    Ok(reader(allowance.on(text), separator))
}

fn reader<R: Read>(text: R, separator: u8) -> Reader<Quotes<R>> {
    ReaderBuilder::new().delimiter(separator).from_reader(Quotes::new(text, separator))
}

/// The separator that the first line has most of; a comma if there is none.
fn separator(beginning: &[u8]) -> u8 {
    let first = beginning.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    let (mut counts, mut quoted) = ([0; SEPARATORS.len()], false);
    for byte in first {
        match SEPARATORS.iter().position(|separator| separator == byte) {
            _ if *byte == b'"' => quoted = !quoted,
            Some(place) if !quoted => counts[place] += 1,
            _ => {}
        }
    }
    let most = counts.iter().copied().max().unwrap_or_default();
    let place = counts.iter().position(|count| *count == most).unwrap_or_default();
    SEPARATORS[place]
}

/// The error of the parser in words, with its line.
fn problem(error: csv::Error) -> Problem {
    let line = error.position().map(csv::Position::line);
    let at = line.map(|line| format!("line {line}: ")).unwrap_or_default();
    match error.into_kind() {
        ErrorKind::Io(error) => Problem::Io(error),
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            Problem::content(format!("{at}the header has {expected_len} cells, and this row {len}"))
        }
        ErrorKind::Utf8 { err, .. } => {
            Problem::content(format!("{at}cell {} is not UTF-8 text", err.field() + 1))
        }
        _ => Problem::content(format!("{at}not a row of CSV")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separator_is_what_the_header_has_most_of_outside_quotes() {
        for (text, expected) in
            [("a,b;c,d\n;;;", b','), ("a\tb", b'\t'), ("\"a,b,c\";d", b';'), ("one", b',')]
        {
            assert_eq!(separator(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_table_has_a_key_or_a_name() {
        let seems = |text: &str, name: &str, rules: &[&str]| {
            seems_one(text.as_bytes(), Path::new(name), &Mapping::parse(rules).unwrap())
        };
        assert!(seems("question,output\n", "answers.txt", &[]));
        assert!(seems("question,answer\n", "answers.txt", &["output=/answer"]));
        assert!(!seems("question,answer\n", "answers.txt", &[]));
        assert!(seems("question,answer\n", "answers.CSV.gz", &[]));
        assert!(!seems("output\n", "answers.txt", &[]));
    }
}
