//! Reads CSV as cases: a header, and a row for each case. It leaves lines to `table`.

use std::{
    io::{BufRead as _, Read},
    path::Path,
};

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder, StringRecord};
use scorebox::case::Mapping;

use crate::{
    emit::Emit,
    format::Format,
    problem::Problem,
    quotes::Quotes,
    source_file::SourceFile,
    table::{Columns, RowLocation, line_of_no_case, line_of_texts},
    text::{Allowance, text},
};

/// The possible separators of cells.
const SEPARATORS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// The reason for leaving out a column.
const NAMED_TWICE: &str = "columns with the name of another column";

/// Whether a text with this beginning is a table of cases: its header contains a key of a case, or a column that the
/// mapping names; or the file name indicates it.
pub(crate) fn seems_one(beginning: &[u8], path: &Path, mapping: &Mapping) -> bool {
    let is_named_so = path.file_name().is_some_and(|name| {
        let name = name.to_string_lossy().to_ascii_lowercase();
        let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
        name.ends_with(".csv") || name.ends_with(".tsv")
    });
    let columns = Columns::of(mapping);
    let Start { skipped, separator } = Start::of(beginning);
    let mut table = reader(&beginning[skipped..], separator);
    let Ok(header) = table.headers() else { return is_named_so };
    is_named_so || (header.len() > 1 && header.iter().any(|column| columns.is_key(column)))
}

/// Checks whether the header can be read, and names each key once.
pub(crate) fn check(source: &SourceFile) -> Result<(), Problem> {
    let mut table = open(source, &Allowance::new())?.table;
    let header = table.headers().map_err(problem)?;
    Columns::of(&source.mapping).firsts(header.iter()).map(drop)
}

pub(crate) fn read(source: &SourceFile, emit: &mut Emit) -> Result<(), Problem> {
    let allowance = Allowance::new();
    let Opened { mut table, lines_before } = open(source, &allowance)?;
    let columns = Columns::of(&source.mapping);
    let header = table.headers().map_err(problem)?.clone();
    // The header also counts as a row.
    table.get_mut().next_row();
    let firsts = columns.firsts(header.iter())?;
    firsts.iter().filter(|is_first| !**is_first).for_each(|_| emit.leave_out(NAMED_TWICE));
    let (mut row, mut number) = (ByteRecord::new(), 0);
    loop {
        let is_there = table.read_byte_record(&mut row).map_err(problem)?;
        if let Some(line) = table.get_ref().unclosed() {
            let line = line + lines_before;
            return Err(Problem::content(format!(
                "line {line}: a cell begins with a quote and never ends"
            )));
        }
        if let Some(line) = table.get_ref().stray() {
            let line = line + lines_before;
            return Err(Problem::content(format!(
                "line {line}: text stands behind the quote that ends a cell: a quote within a cell in quotes is written twice (`\"\"`)"
            )));
        }
        if !is_there {
            return Ok(());
        }
        allowance.renew();
        number += 1;
        let at = RowLocation {
            format: Format::Csv,
            file: &source.file,
            name: source.stem(),
            split: None,
            row: number,
        };
        let begins = table.get_mut().next_row().map(|line| line + lines_before);
        let line = match cells(&row, &header) {
            Err(no_case) => no_case,
            Ok(cells) => {
                let named = header.iter().zip(cells).zip(&firsts);
                let read = named.filter(|(_, is_first)| **is_first).map(|(cell, _)| cell);
                line_of_texts(read, &columns, at)?
            }
        };
        emit.row(begins, &line)?;
    }
}

/// The texts of a row; if it is not a case, its line.
fn cells<'r>(row: &'r ByteRecord, header: &StringRecord) -> Result<Vec<&'r str>, Vec<u8>> {
    if row.len() != header.len() {
        let cells = if row.len() == 1 { "cell" } else { "cells" };
        let why = format!("the row has {} {cells}, the header {}", row.len(), header.len());
        return Err(line_of_no_case(&why));
    }
    let text =
        |(column, cell)| std::str::from_utf8(cell).map_err(|_| line_of_no_text(column, cell));
    header.iter().zip(row).map(text).collect()
}

/// The line for a row with these bytes in a column: the case reader refuses it as text in another encoding.
fn line_of_no_text(column: &str, bytes: &[u8]) -> Vec<u8> {
    let is_kept = |byte: &&u8| !byte.is_ascii_control() && !matches!(byte, b'"' | b'\\');
    let column = serde_json::Value::from(column).to_string();
    let kept = bytes.iter().filter(is_kept).copied();
    [b"{", column.as_bytes(), b":\""].concat().into_iter().chain(kept).chain(*b"\"}").collect()
}

/// A table whose header has not been read.
struct Opened<R> {
    table: Reader<Quotes<R>>,
    /// How many lines are before the header.
    lines_before: u64,
}

fn open(source: &SourceFile, allowance: &Allowance) -> Result<Opened<impl Read + use<>>, Problem> {
    let mut text = text(&source.path)?;
    let Start { skipped, separator } = Start::of(text.fill_buf()?);
    text.consume(skipped);
    let table = reader(allowance.on(text), separator);
    Ok(Opened { table, lines_before: u64::from(skipped > 0) })
}

/// How a table begins.
#[derive(Debug, PartialEq, Eq)]
struct Start {
    /// How many bytes are before the header.
    skipped: usize,
    separator: u8,
}

impl Start {
    /// Excel may name the separator in a line before the header: `sep=;`. Otherwise it is the one that occurs most in
    /// the header.
    fn of(beginning: &[u8]) -> Start {
        let text = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning);
        let end = text.iter().position(|byte| *byte == b'\n');
        let line = end.map_or(text, |end| &text[..end]).trim_ascii_end();
        let said = match line {
            // A tab at the end was trimmed.
            b"sep=" => Some(b'\t'),
            [b's', b'e', b'p', b'=', separator] => Some(*separator),
            _ => None,
        };
        match (said, end) {
            (Some(separator), Some(end)) if SEPARATORS.contains(&separator) => {
                Start { skipped: beginning.len() - text.len() + end + 1, separator }
            }
            _ => Start { skipped: 0, separator: separator(beginning) },
        }
    }
}

fn reader<R: Read>(text: R, separator: u8) -> Reader<Quotes<R>> {
    let mut table = ReaderBuilder::new();
    // `cells` checks the length of rows.
    table.delimiter(separator).flexible(true).from_reader(Quotes::new(text, separator))
}

/// The separator that occurs most in the first line; a comma if there is none.
fn separator(beginning: &[u8]) -> u8 {
    let first = beginning.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    let (mut counts, mut quoted) = ([0; SEPARATORS.len()], false);
    for byte in first {
        match SEPARATORS.iter().position(|separator| separator == byte) {
            _ if *byte == b'"' => quoted = !quoted,
            Some(index) if !quoted => counts[index] += 1,
            _ => {}
        }
    }
    let most = counts.iter().copied().max().unwrap_or_default();
    let index = counts.iter().position(|count| *count == most).unwrap_or_default();
    SEPARATORS[index]
}

/// The message of the parser's error, with its line.
fn problem(error: csv::Error) -> Problem {
    let line = error.position().map(csv::Position::line);
    let at = line.map(|line| format!("line {line}: ")).unwrap_or_default();
    match error.into_kind() {
        ErrorKind::Io(error) => Problem::Io(error),
        ErrorKind::Utf8 { err, .. } => {
            Problem::content(format!("{at}cell {} is not UTF-8 text", err.field() + 1))
        }
        _ => Problem::content(format!("{at}not a row of CSV")),
    }
}

#[cfg(test)]
mod tests {
    use scorebox::case::{Case, CaseReader, ReadError};

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
    fn a_first_line_of_excel_says_the_separator() {
        let start = |text: &str| Start::of(text.as_bytes());
        assert_eq!(start("sep=;\r\na,b;c\n"), Start { skipped: 7, separator: b';' });
        assert_eq!(start("\u{feff}sep=\t\na\tb\n"), Start { skipped: 9, separator: b'\t' });
        assert_eq!(start("sep=|\n").separator, b'|');
        assert_eq!(start("sep,output\n"), Start { skipped: 0, separator: b',' });
        assert_eq!(start("sep=;"), Start { skipped: 0, separator: b';' });
        assert!(seems_one(b"sep=;\nq;output\n", Path::new("answers.txt"), &Mapping::NONE));
    }

    #[test]
    fn a_row_that_does_not_fit_its_header_or_is_not_text_is_not_a_case() {
        let header = StringRecord::from(vec!["x", "y \"z\""]);
        assert_eq!(cells(&ByteRecord::from(vec!["a", "b"]), &header), Ok(vec!["a", "b"]));
        let short = cells(&ByteRecord::from(vec!["a"]), &header).unwrap_err();
        assert_eq!(short, b"\x18the row has 1 cell, the header 2");
        let latin = ByteRecord::from(vec![&b"a"[..], b"\"caf\xe9\n"]);
        assert_eq!(cells(&latin, &header).unwrap_err(), b"{\"y \\\"z\\\"\":\"caf\xe9\"}");
    }

    #[test]
    fn a_row_that_is_not_a_case_ends_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let text = b"sep=;\n;output;Status;Status;\n0;x;p;f;\n1;y\n2;caf\xe9;p;f;\n3;z;p;f;\n";
        std::fs::write(&path, text).unwrap();
        let opened = crate::open(&path, &crate::Settings::new()).unwrap();
        let cases = CaseReader::open(vec![opened.source], Mapping::NONE).unwrap();
        let cases = cases.map(|case| match case {
            Ok(case) => case.json()[..case.json().find(",\"metadata\"").unwrap()].to_owned(),
            Err(error) => error.to_string().rsplit('/').next().unwrap_or_default().to_owned(),
        });
        assert_eq!(
            cases.collect::<Vec<_>>(),
            [
                r#"{"id":"t:1","":"0","output":"x","Status":"p""#,
                "t.csv:4: row 2: the row has 2 cells, the header 5",
                "t.csv:5: row 3, column `output`: not valid UTF-8",
                r#"{"id":"t:4","":"3","output":"z","Status":"p""#,
            ]
        );
        assert_eq!(opened.left_out.counts(), [(NAMED_TWICE, 2)]);
    }

    #[test]
    fn a_finding_names_the_line_the_row_and_the_column_of_the_table() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let said = |text: &str, rules: &[&str]| {
            std::fs::write(&path, text).unwrap();
            let mapping = Mapping::parse(rules).unwrap();
            let settings = crate::Settings::new().with_mapping(mapping.clone());
            let cases =
                CaseReader::open(vec![crate::open(&path, &settings).unwrap().source], mapping);
            let place = |case: Result<Case, ReadError>| match case {
                Ok(case) => case.location().line.to_string(),
                Err(error) => error.to_string().rsplit('/').next().unwrap_or_default().to_owned(),
            };
            cases.unwrap().map(place).collect::<Vec<_>>()
        };
        let number = "must be a finite number of 0 or more; found the string \"abc\"";
        let rows = ["id,output,ms", "1,\"x", "y\",2", "", "2,z,abc", "3,z,4"];
        for end in ["\n", "\r\n"] {
            for last in ["", end] {
                let text = rows.join(end) + last;
                let bad = format!("t.csv:5: row 2, column `ms`: `latencyMs` {number}");
                assert_eq!(said(&text, &["latencyMs=/ms"]), ["2", &bad, "6"], "{text:?}");
            }
        }
        let control = said("id,output\n\"a\nb\",x\n", &[]);
        assert!(control[0].starts_with("t.csv:2: row 1, column `id`: `id` must be"), "{control:?}");
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
