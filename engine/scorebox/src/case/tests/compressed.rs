//! Compressed sources: recognized by their first bytes, in one piece or in many, complete or damaged.

use std::io::Write;

use flate2::{Compression as Level, write::GzEncoder};

use crate::advice::{Advice, Advised as _, Conversion};

use super::*;

fn gzip(text: &(impl AsRef<[u8]> + ?Sized)) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Level::default());
    encoder.write_all(text.as_ref()).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &(impl AsRef<[u8]> + ?Sized)) -> Vec<u8> {
    zstd::encode_all(text.as_ref(), 3).unwrap()
}

/// Lines with `count` outputs from 0, hard to compress.
fn text(count: usize) -> String {
    let noise = |index: usize| crate::digest::Digest::of(&index.to_le_bytes());
    (0..count).map(|index| format!("{{\"output\":{index},\"x\":\"{}\"}}\n", noise(index))).collect()
}

#[test]
fn the_first_bytes_decide_and_not_the_name() {
    let text = text(1000);
    let plain = all(reader(text.as_str()));
    assert_eq!(plain.len(), 1000);
    assert_eq!(all(reader(gzip(&text))), plain);
    assert_eq!(all(reader(zstd(&text))), plain);
    let sources = vec![source("cases.jsonl.gz", text)];
    assert_eq!(all(CaseReader::open(sources, Mapping::NONE).unwrap()), plain);
}

#[test]
fn members_and_frames_are_one_text() {
    let (head, tail) = ("{\"output\":1}\n{\"out", "put\":2}\n");
    assert_eq!(all(reader([gzip(head), gzip(""), gzip(tail)].concat())), ["1", "2"]);
    assert_eq!(all(reader([zstd(head), zstd(""), zstd(tail)].concat())), ["1", "2"]);
    let skippable = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc".to_vec();
    let frames = [skippable.clone(), zstd(head), skippable, zstd(tail)].concat();
    assert_eq!(all(reader(frames)), ["1", "2"]);
}

#[test]
fn a_mark_inside_is_removed_and_an_empty_file_has_no_cases() {
    assert_eq!(all(reader(gzip("\u{feff}{\"output\":1}"))), ["1"]);
    for empty in [gzip(""), zstd(""), gzip("\n\n")] {
        assert_eq!(all(reader(empty)), ["cases.jsonl: there are no cases in it"]);
    }
}

#[test]
fn bytes_are_counted_as_they_lie_in_the_file() {
    let packed = gzip(&text(5000));
    let size = packed.len() as u64;
    let mut reader = reader(packed);
    assert_eq!(reader.by_ref().count(), 5000);
    assert_eq!(reader.bytes_read(), size);
}

#[test]
fn data_that_ends_too_early_ends_the_reading_after_the_lines_that_are_whole() {
    for (name, packed) in [("gzip", gzip(&text(6_000))), ("zstd", zstd(&text(6_000)))] {
        for cut in [packed.len() - 1, packed.len() / 2, 7] {
            let items: Vec<_> = reader(&packed[..cut]).collect();
            let (last, cases) = items.split_last().unwrap();
            assert!(cases.iter().all(Result::is_ok), "{name} {cut}");
            let error = last.as_ref().unwrap_err();
            let message =
                format!("cases.jsonl: the {name} data ends too early, after line {}", cases.len());
            assert_eq!(error.to_string(), message, "{cut}");
            let again = Advice::FetchAgain { name: Some("cases.jsonl".into()), compression: None };
            assert_eq!(error.advice(), Some(again));
        }
    }
}

#[test]
fn damaged_data_is_named_as_such() {
    for (name, mut packed) in [("gzip", gzip(&text(6_000))), ("zstd", zstd(&text(6_000)))] {
        let middle = packed.len() / 2;
        packed[middle..middle + 64].fill(0xa5);
        let last = reader(packed).last().unwrap().unwrap_err();
        assert!(matches!(last, ReadError::Source(SourceError::Corrupt { .. })), "{last}");
        let again =
            Advice::FetchAgain { name: Some("cases.jsonl".into()), compression: Some(name) };
        assert_eq!(last.advice(), Some(again));
    }
    let trailing = [gzip("{\"output\":1}\n"), b"garbage garbage".to_vec()].concat();
    let items = all(reader(trailing));
    assert_eq!(items[0], "1");
    assert!(items[1].contains("the gzip data is damaged after line 1"), "{}", items[1]);
}

#[test]
fn forms_that_are_not_read_are_named() {
    for (start, format) in [
        (&b"PK\x03\x04xxxx"[..], "a zip archive"),
        (b"PAR1xxxx", "a Parquet file"),
        (b"BZh91AY", "bzip2 data"),
        (b"\xfd7zXZ\x00xx", "xz data"),
    ] {
        let items = all(reader(start));
        assert_eq!(items, [format!("cases.jsonl: this is {format}, not JSON Lines")]);
        let items = all(reader(zstd(start)));
        assert_eq!(items, [format!("cases.jsonl: this is {format}, not JSON Lines")]);
    }
    for twice in [gzip(&gzip("{\"output\":1}\n")), zstd(&gzip("{\"output\":1}\n"))] {
        let said = "cases.jsonl: this is data that was compressed twice, not JSON Lines";
        assert_eq!(all(reader(twice)), [said]);
    }
}

#[test]
fn another_encoding_is_named_with_what_converts_it() {
    let line = "{\"output\":1}\n";
    let wide: Vec<u8> = line.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let wider: Vec<u8> = line.chars().flat_map(|it| u32::from(it).to_be_bytes()).collect();
    for (text, expected) in [
        ([&b"\xff\xfe"[..], &wide].concat(), "UTF-16"),
        (wide.clone(), "UTF-16LE"),
        ([&[0, 0, 0xfe, 0xff][..], &wider].concat(), "UTF-32"),
        (wider, "UTF-32BE"),
        (gzip(&wide), "UTF-16LE"),
    ] {
        let error = reader(text).last().unwrap().unwrap_err();
        let said = format!("cases.jsonl: this is {expected} text, not UTF-8");
        assert_eq!(error.to_string(), said);
        let encoding = expected.to_owned();
        assert_eq!(error.advice(), Some(Advice::Convert(Conversion::FromEncoding { encoding })));
    }
}

#[test]
fn a_failing_read_under_a_decoder_is_not_called_damage() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the cable is out"))
        }
    }
    let packed = gzip(&text(100));
    let half = std::io::Cursor::new(packed[..packed.len() / 2].to_vec());
    let broken: Box<dyn std::io::Read + Send> = Box::new(std::io::Read::chain(half, Broken));
    let sources = vec![Source::reader("net", broken)];
    let last = CaseReader::open(sources, Mapping::NONE).unwrap().last().unwrap().unwrap_err();
    assert!(matches!(last, ReadError::Source(SourceError::Read { .. })), "{last}");
}

#[test]
fn a_million_blank_lines_in_a_row_are_read_and_no_more() {
    let blank = |count: usize| "\n".repeat(count);
    let case = "{\"output\":1}\n";
    let packed = |parts: &[&str]| gzip(&parts.concat());
    let most = blank(1_000_000);
    let all_of_it = all(reader(packed(&[&most, case, &most, case])));
    assert_eq!(all_of_it, ["1", "1"]);

    let mut reader = reader(packed(&[case, &most, " \n", case]));
    assert!(reader.next_case().unwrap().is_ok());
    let error = reader.next_case().unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "cases.jsonl: nothing but blank lines from line 2 to line 1000002"
    );
    assert_eq!(error.advice(), Some(Advice::Convert(Conversion::WithoutBlankLines)));
    assert!(reader.next_case().is_none());
}
