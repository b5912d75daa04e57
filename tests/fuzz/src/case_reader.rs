//! Cases from bytes: lines, compression, keys, mapping, and the messages about bad lines.
//!
//! The first line of an input sets how the rest is read: rules of a mapping (`output=/response/text`), `limit=N` for
//! the longest line, and `gzip` or `zstd` if the rest is to be compressed first. Input that is already compressed is
//! read as it is.

use std::io::{self, Cursor, Read, Write as _};

use scorebox::case::{
    BadCase, BadCaseReason, Case, CaseReader, Key, Location, MAX_DEPTH, MAX_ID_BYTES, MAX_REPEAT,
    Mapping, ReadError, Source,
};
use scorebox::contract::{Field, Fields};
use serde_json::value::RawValue;

/// The most cases of one input that are looked at; a few compressed bytes can contain very many.
const MAX_CASES: usize = 2000;
/// The longest line, unless the input sets another limit.
const LINE_BYTES: usize = 1 << 20;
/// The longest message about a bad case to which the mapping adds nothing: twelve keys of forty characters, each
/// written as an escape of ten.
const MESSAGE_BYTES: usize = 6000;

/// Reads cases, and checks that they match the input.
pub fn case_reader(data: &[u8]) {
    let (head, text) = first_line(data);
    let settings = Settings::read(&String::from_utf8_lossy(head));
    let stored = settings.compressed(text);
    let whole = settings.read_all(Box::new(Cursor::new(stored.clone())));
    for item in &whole {
        settings.check(item);
    }
    // However the bytes arrive, the cases are the same.
    let dribbled = settings.read_all(Box::new(Dribble { bytes: Cursor::new(stored), turn: 0 }));
    let readings = [&whole, &dribbled].map(|all| (before_damage(all), all));
    if readings.iter().any(|(before, all)| before.len() < all.len()) {
        // How much a decoder returns before it reaches the damage depends on how much it was given at once; but it does
        // reach it, unless so many cases come before it that the reading stops earlier.
        for (before, all) in readings {
            assert!(before.len() < all.len() || all.len() == MAX_CASES);
        }
        let [(whole, _), (dribbled, _)] = readings;
        let common = whole.len().min(dribbled.len());
        assert_eq!(told(&whole[..common]), told(&dribbled[..common]));
        return;
    }
    assert_eq!(told(&whole), told(&dribbled));
    if settings.form != Form::AsItIs || !has_magic(text) {
        assert_eq!(told(&whole), told(&settings.by_hand(text)));
    }
}

/// The cases that were read before an error ended the reading, if one did.
fn before_damage(items: &[Result<Case, ReadError>]) -> &[Result<Case, ReadError>] {
    match items {
        [before @ .., Err(ReadError::Source(_))] => before,
        all => all,
    }
}

/// The first line without its line break, and the rest.
fn first_line(data: &[u8]) -> (&[u8], &[u8]) {
    match data.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&data[..end], &data[end + 1..]),
        None => (data, b""),
    }
}

/// Whether the reader recognizes `text` as something other than lines.
fn has_magic(text: &[u8]) -> bool {
    let skippable = text.len() >= 4 && text[0] & 0xf0 == 0x50 && text[1..4] == [0x2a, 0x4d, 0x18];
    let starts: [&[u8]; 8] = [
        b"\x1f\x8b",
        b"\x28\xb5\x2f\xfd",
        b"PK\x03\x04",
        b"PAR1",
        b"BZh",
        b"\xfd7z",
        b"\xff\xfe",
        b"\xfe\xff",
    ];
    skippable || starts.iter().any(|start| text.starts_with(start))
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    AsItIs,
    Gzip,
    Zstd,
}

struct Settings {
    form: Form,
    limit: usize,
    mapping: Mapping,
    /// Text of the user, which messages may repeat.
    words: String,
}

impl Settings {
    fn read(words: &str) -> Settings {
        let mut settings = Settings {
            form: Form::AsItIs,
            limit: LINE_BYTES,
            mapping: Mapping::NONE,
            words: words.to_owned(),
        };
        let mut rules = Vec::new();
        for word in words.split_whitespace() {
            match word {
                "gzip" => settings.form = Form::Gzip,
                "zstd" => settings.form = Form::Zstd,
                _ => match word.strip_prefix("limit=").and_then(|limit| limit.parse().ok()) {
                    Some(limit) => settings.limit = limit,
                    None => rules.push(word),
                },
            }
        }
        settings.limit = settings.limit.min(LINE_BYTES);
        match Mapping::parse(&rules) {
            Ok(mapping) => settings.mapping = mapping,
            Err(error) => {
                assert!(!error.to_string().is_empty())
            }
        }
        settings
    }

    fn compressed(&self, text: &[u8]) -> Vec<u8> {
        match self.form {
            Form::AsItIs => text.to_vec(),
            Form::Gzip => {
                let mut encoder =
                    flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(text).and_then(|()| encoder.finish()).unwrap()
            }
            Form::Zstd => zstd::encode_all(text, 1).unwrap(),
        }
    }

    fn read_all(&self, bytes: Box<dyn Read + Send>) -> Vec<Result<Case, ReadError>> {
        let sources = vec![Source::reader("cases.jsonl", bytes)];
        let reader = CaseReader::open(sources, self.mapping.clone()).unwrap();
        reader.with_max_line_bytes(self.limit).take(MAX_CASES).collect()
    }

    /// The same cases by the simplest implementation of the rules: splits the lines, and parses each alone.
    fn by_hand(&self, text: &[u8]) -> Vec<Result<Case, ReadError>> {
        let mut items = Vec::new();
        for (index, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let line = line
                .strip_suffix(b"\n")
                .map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
            let too_long = line.len() > self.limit;
            let line = match index {
                0 => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line),
                _ => line,
            };
            if !too_long && line.trim_ascii().is_empty() {
                continue;
            }
            if items.len() == MAX_CASES {
                break;
            }
            let ordinal = items.len() as u64;
            let location = Location::new("cases.jsonl", index as u64 + 1);
            items.push(match std::str::from_utf8(line) {
                Ok(line) if !too_long => {
                    Case::parse(line, ordinal, &self.mapping, location).map_err(ReadError::from)
                }
                other => {
                    let reason = match too_long {
                        true => BadCaseReason::LineTooLong { limit: self.limit },
                        false => BadCaseReason::NotUtf8,
                    };
                    let mut bad = BadCase::new(location, ordinal, reason);
                    bad.column = match other {
                        Err(error) if !too_long => {
                            let start = &line[..error.valid_up_to()];
                            Some(String::from_utf8_lossy(start).chars().count() as u64 + 1)
                        }
                        _ => None,
                    };
                    Err(ReadError::BadCase(bad))
                }
            });
        }
        items
    }

    fn check(&self, item: &Result<Case, ReadError>) {
        match item {
            Ok(case) => self.check_case(case),
            Err(ReadError::BadCase(bad)) => self.check_bad(bad),
            Err(error) => {
                assert!(!error.to_string().is_empty());
            }
        }
    }

    fn check_case(&self, case: &Case) {
        for id in [case.id(), case.node_id()] {
            assert!((1..=MAX_ID_BYTES).contains(&id.len()) && !id.chars().any(char::is_control));
        }
        assert!(case.iteration() <= MAX_REPEAT && case.attempt() <= MAX_REPEAT);
        assert!(case.json().len() <= self.limit);
        assert!(case.latency_ms().is_none_or(is_amount));
        assert!(case.usage().and_then(|usage| usage.cost_usd).is_none_or(is_amount));
        for raw in Key::ALL.into_iter().filter_map(|key| case.raw(key)) {
            check_json(raw);
            let line = case.json().as_bytes().as_ptr_range();
            let value = raw.as_bytes().as_ptr_range();
            assert!(line.start <= value.start && value.end <= line.end, "not a slice of the line");
        }
        let input = case.scorer_input(Fields::ALL);
        assert_eq!(
            (input.output, input.json(Field::Trace)),
            (case.output(), case.field(Field::Trace))
        );
        if let Some(others) = case.other_json() {
            check_json(others);
            assert!(others.starts_with('{') && others.ends_with('}') && others.len() > 2);
        }
        let again =
            Case::parse(case.json(), case.ordinal(), &self.mapping, case.location().clone())
                .unwrap();
        assert_eq!(again.digest(), case.digest());
    }

    fn check_bad(&self, bad: &BadCase) {
        let words = bad.to_string();
        assert!(words.len() <= MESSAGE_BYTES + self.words.len(), "{} bytes", words.len());
        let acts = |text: &str| text.chars().any(char::is_control);
        assert!(!acts(&words) || acts(&self.words), "a terminal would act on {words:?}");
    }
}

/// Checks that `json` is one JSON document that is not too deep for its readers.
fn check_json(json: &str) {
    assert_eq!(serde_json::from_str::<&RawValue>(json).unwrap().get(), json);
    if let Err(error) = serde_json::from_str::<serde_json::Value>(json) {
        // A case may contain any number and any escape; see the rules of `scorebox::case`.
        assert!(!error.to_string().contains("recursion"), "deeper than {MAX_DEPTH}");
    }
}

fn is_amount(number: f64) -> bool {
    number.is_finite() && number.is_sign_positive()
}

/// The parts that must be equal in two readings.
fn told(items: &[Result<Case, ReadError>]) -> Vec<String> {
    let word = |item: &Result<Case, ReadError>| match item {
        Ok(case) => format!(
            "{}: {} of {}, {}, {}: {}",
            case.location(),
            case.id(),
            case.node_id(),
            case.iteration(),
            case.attempt(),
            case.digest()
        ),
        Err(error) => error.to_string(),
    };
    items.iter().map(word).collect()
}

/// A reader that returns a few bytes at a time, and is interrupted now and then.
struct Dribble {
    bytes: Cursor<Vec<u8>>,
    turn: usize,
}

impl Read for Dribble {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.turn += 1;
        if self.turn.is_multiple_of(5) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let most = buffer.len().min(1 + self.turn % 7);
        self.bytes.read(&mut buffer[..most])
    }
}
