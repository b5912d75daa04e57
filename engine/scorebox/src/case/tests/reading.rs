//! Reading lines from sources: ends of lines, blank lines, order, limits, and what ends the reading.

use std::{fs, io, io::Read};

use crate::advice::{Advice, Advised as _, Form};

use super::*;

#[test]
fn lines_are_cases_whatever_their_ends() {
    let text = "{\"output\":1}\r\n\n  \t\r\n{\"output\":2}\n\n{\"output\":3}";
    assert_eq!(all(reader(text)), ["1", "2", "3"]);
    let lines: Vec<u64> = reader(text).map(|case| case.unwrap().line()).collect();
    assert_eq!(lines, [1, 4, 6]);
}

#[test]
fn a_byte_order_mark_is_taken_off_the_start_and_nothing_else() {
    assert_eq!(all(reader("\u{feff}{\"output\":1}\n")), ["1"]);
    assert_eq!(all(reader("\u{feff}\n{\"output\":1}\n")), ["1"]);
    let later = all(reader("{\"output\":1}\n\u{feff}{\"output\":2}\n"));
    assert_eq!(later[1], "cases.jsonl:2:1: not valid JSON: there is a byte order mark (U+FEFF)");
}

#[test]
fn a_bad_line_does_not_end_the_reading_and_counts() {
    let mut reader = reader("{\"output\":1}\nnope\n\n{\"output\":2}\n");
    assert_eq!(reader.next_case().unwrap().unwrap().ordinal(), 0);
    match reader.next_case().unwrap().unwrap_err() {
        ReadError::BadCase(bad) => assert_eq!((bad.ordinal, bad.line), (1, 2)),
        ReadError::Source(error) => panic!("{error}"),
    }
    let last = reader.next_case().unwrap().unwrap();
    assert_eq!((last.ordinal(), last.line(), last.id()), (2, 4, "case-3"));
    assert!(reader.next_case().is_none());
    assert!(reader.next_case().is_none());
    assert_eq!(reader.cases_read(), 3);
}

#[test]
fn invalid_utf_8_is_placed_at_its_character() {
    let mut text = "{\"output\":\"é".as_bytes().to_vec();
    text.extend_from_slice(b"\xff\"}\n{\"output\":2}\n");
    assert_eq!(all(reader(text)), ["cases.jsonl:1:13: not valid UTF-8", "2"]);
    let cut = b"{\"output\":\"\xe2\x82\"}".to_vec();
    assert_eq!(all(reader(cut)), ["cases.jsonl:1:12: not valid UTF-8"]);
}

#[test]
fn a_line_that_is_too_long_is_a_bad_case_and_is_not_held() {
    let endless = io::repeat(b'x').take(32 << 20);
    let text = endless.chain(&b"\n{\"output\":2}\n"[..]);
    let sources = vec![Source::reader("big", Box::new(text))];
    let mut reader = CaseReader::open(sources, Mapping::NONE).unwrap().with_max_line_bytes(1 << 20);
    let first = reader.next_case().unwrap().unwrap_err();
    assert_eq!(first.to_string(), "big:1: the line is longer than 1048576 bytes");
    assert_eq!(first.advice(), Some(Advice::Write(Form::LineEnds)));
    let second = reader.next_case().unwrap().unwrap();
    assert_eq!((second.output(), second.ordinal(), second.line()), ("2", 1, 2));
}

#[test]
fn an_empty_source_is_an_error_that_names_it_alone_or_beside_others() {
    for empty in ["", "\n", "\u{feff}\n \r\n"] {
        let mut reader = reader(empty);
        let error = reader.next_case().unwrap().unwrap_err();
        assert_eq!(error.to_string(), "cases.jsonl: there are no cases in it");
        assert_eq!(error.advice(), Some(Advice::NameOthers));
        assert!(reader.next_case().is_none());
        assert_eq!(reader.cases_read(), 0);
        let sources = ["{\"output\":1}", empty, "{\"output\":2}"];
        let sources = sources.map(|text| source("f", text));
        let read = all(CaseReader::open(sources.into(), Mapping::NONE).unwrap());
        assert_eq!(read, ["1", "f: there are no cases in it"]);
    }
    // A bad line also counts as a line with a case.
    assert_eq!(all(reader("{}\n")).len(), 1);
    let mut none = CaseReader::open(Vec::new(), Mapping::NONE).unwrap();
    assert!(none.next_case().is_none());
}

#[test]
fn an_empty_file_is_known_before_the_first_case() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.jsonl");
    fs::write(&path, "").unwrap();
    let sources = vec![source("f", "{\"output\":1}"), Source::path(&path)];
    let error = CaseReader::open(sources, Mapping::NONE).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: there are no cases in it", path.display()));
}

#[test]
fn sources_follow_each_other_and_cases_are_counted_over_all_of_them() {
    let sources =
        vec![source("a", "{\"output\":1}"), source("c", "\n{\"output\":2}\n{\"output\":3}")];
    let reader = CaseReader::open(sources, Mapping::NONE).unwrap();
    let places: Vec<String> = reader
        .map(|case| case.unwrap())
        .map(|case| format!("{} {} {}", case.location(), case.ordinal(), case.id()))
        .collect();
    assert_eq!(places, ["a:1 0 case-1", "c:2 1 case-2", "c:3 2 case-3"]);
}

#[test]
fn files_are_read_and_their_bytes_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cases.jsonl");
    fs::write(&path, "{\"output\":1}\n{\"output\":2}\n").unwrap();
    let sources = vec![Source::path(&path), Source::path(&path)];
    let mut reader = CaseReader::open(sources, Mapping::NONE).unwrap();
    assert_eq!((reader.bytes_read(), reader.total_bytes()), (0, Some(52)));
    let first = reader.next_case().unwrap().unwrap();
    assert_eq!(first.source(), path.display().to_string());
    assert_eq!(reader.by_ref().count(), 3);
    assert_eq!(reader.bytes_read(), 52);

    let sources = vec![Source::path(&path), source("b", "")];
    assert_eq!(CaseReader::open(sources, Mapping::NONE).unwrap().total_bytes(), None);
}

#[test]
fn what_cannot_be_opened_is_known_before_the_first_case() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().display().to_string();
    let open = |path: &str| {
        let sources = vec![source("a", "{\"output\":1}"), Source::path(path)];
        CaseReader::open(sources, Mapping::NONE).unwrap_err()
    };
    let missing = format!("{name}/none.jsonl");
    assert_eq!(open(&missing).to_string(), format!("{missing}: no such file"));
    let directory = open(&name);
    assert_eq!(directory.to_string(), format!("{name}: this is a folder, not a file of cases"));
    assert_eq!(directory.advice(), Some(Advice::NameFilesIn(name.clone())));
    let under_a_file = folder.path().join("file");
    fs::write(&under_a_file, "").unwrap();
    let error = open(&format!("{}/x", under_a_file.display()));
    assert!(matches!(error, SourceError::CannotOpen { .. }), "{error}");

    let twice = CaseReader::open(vec![Source::stdin(), Source::stdin()], Mapping::NONE);
    assert!(matches!(twice, Err(SourceError::StdinTwice)));
    assert_eq!(Source::stdin().name(), "<stdin>");
}

#[test]
fn permission_is_an_error_of_its_own() {
    let denied = io::Error::from(io::ErrorKind::PermissionDenied);
    let error = SourceError::opening("cases.jsonl", denied.into());
    assert_eq!(error.to_string(), "cases.jsonl: no permission to read it");
}

#[test]
fn a_file_that_goes_away_ends_the_reading_when_its_turn_comes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.jsonl");
    fs::write(&path, "{\"output\":2}").unwrap();
    let sources = vec![source("a", "{\"output\":1}"), Source::path(&path), source("c", "x")];
    let mut reader = CaseReader::open(sources, Mapping::NONE).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(reader.next_case().unwrap().is_ok());
    let error = reader.next_case().unwrap().unwrap_err();
    assert!(matches!(error, ReadError::Source(SourceError::NotFound { .. })));
    assert!(reader.next_case().is_none());
}

/// A reader that yields each text, or fails, one after the other.
struct Steps(Vec<io::Result<&'static [u8]>>);

impl Read for Steps {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            return Ok(0);
        }
        let mut text = self.0.remove(0)?;
        let count = text.read(buffer)?;
        if !text.is_empty() {
            self.0.insert(0, Ok(text));
        }
        Ok(count)
    }
}

#[test]
fn a_failing_read_ends_the_reading_and_an_interrupted_one_does_not() {
    let steps = vec![
        Ok(&b"{\"output\":"[..]),
        Err(io::Error::from(io::ErrorKind::Interrupted)),
        Ok(&b"2}\n{\"output"[..]),
        Err(io::Error::other("the cable is out")),
        Ok(&b"{\"output\":3}\n"[..]),
    ];
    let sources = vec![Source::reader("net", Box::new(Steps(steps))), source("b", "x")];
    let cases = all(CaseReader::open(sources, Mapping::NONE).unwrap());
    assert_eq!(cases, ["2", "net: reading failed after line 1: the cable is out"]);
}

#[test]
fn only_a_reader_that_gives_reasons_says_why_there_is_no_case() {
    let text = "\u{18}the row is short\n{\"output\":2}\n";
    let reasons = Source::reader_with_reasons("t.csv", Box::new(Cursor::new(text)));
    let cases = CaseReader::open(vec![reasons], Mapping::NONE).unwrap();
    assert_eq!(all(cases), ["t.csv:1: the row is short", "2"]);
    assert_eq!(all(reader(text))[0], "cases.jsonl:1:1: not valid JSON: expected value");
}

#[test]
fn a_finding_in_a_row_of_a_table_names_the_row_and_the_column() {
    let rows = [
        format!("{}{{\"output\":1}}\n", row_mark(Some(3))),
        format!("{}{{\"output\":1,\"latencyMs\":\"x\"}}\n", row_mark(Some(5))),
        format!("{}\u{18}the row is short\n", row_mark(Some(9))),
        format!("{}{{\"output\":1,\"latencyMs\":\"x\"}}\n", row_mark(None)),
    ]
    .concat();
    let table = Source::reader_with_reasons("t.csv", Box::new(Cursor::new(rows.clone())));
    let number = "`latencyMs` must be a finite number of 0 or more; found the string \"x\"";
    let mut cases = CaseReader::open(vec![table], Mapping::NONE).unwrap();
    assert_eq!(cases.next().unwrap().unwrap().location().to_string(), "t.csv:3");
    assert_eq!(
        all(cases),
        [
            format!("t.csv:5: row 2, column `latencyMs`: {number}"),
            "t.csv:9: row 3: the row is short".to_owned(),
            format!("t.csv: row 4, column `latencyMs`: {number}"),
        ]
    );
    // Lines of any other reader have no mark.
    assert_eq!(all(reader(rows))[0], "cases.jsonl:1:1: not valid JSON: expected value");
}

#[test]
fn the_mapping_is_used_for_every_line() {
    let mapping = Mapping::parse(["output=/a"]).unwrap();
    let sources = vec![source("f", "{\"a\":1}\n{\"b\":1}\n{\"a\":3}")];
    let cases = all(CaseReader::open(sources, mapping).unwrap());
    assert_eq!(cases, ["1", "f:2: no output: nothing at `/a`; found the keys `b`", "3"]);
}
