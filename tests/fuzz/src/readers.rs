//! Files of other tools: text, archives, tables. The first line of an input names the format; `?` lets the reader
//! detect it.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use scorebox::case::{CaseReader, Mapping, ReadError};
use scorebox_readers::{Format, Settings, detect, open};
use tempfile::TempDir;

/// The most cases that are read of one input.
const MAX_CASES: usize = 2000;
/// The message of a reader that panicked. The readers of tables and archives are third-party code, and may panic.
const GAVE_UP: &str = "the file is damaged";

/// Reads the bytes as a file of another tool, and checks that two readings give the same cases, that each case names
/// its origin, and that no parser of this workspace panicked.
pub fn readers(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (first, content) = (&data[..end], data.get(end + 1..).unwrap_or_default());
    let Ok(words) = std::str::from_utf8(first) else { return };
    let mut words = words.split_whitespace();
    let format: Option<Format> = words.next().and_then(|name| name.parse().ok());
    let Ok(mapping) = Mapping::parse(words) else { return };
    if format == Some(Format::HuggingFace) {
        return;
    }
    let path = file();
    fs::write(&path, content).unwrap();
    let settings = Settings::new().with_format(format).with_mapping(mapping);
    let once = read(&path, &settings);
    assert_eq!(once, read(&path, &settings));
    let of_others = [Format::Parquet, Format::Arrow, Format::InspectEval];
    let (format, cases) = once;
    for case in &cases {
        if let Err(message) = case {
            let gave_up = message.ends_with(GAVE_UP);
            assert!(!gave_up || format.is_some_and(|it| of_others.contains(&it)), "{message}");
        }
    }
}

/// The result of one reading: each case, or its error.
fn read(path: &Path, settings: &Settings) -> (Option<Format>, Vec<Result<String, String>>) {
    let opened = match open(path, settings) {
        Ok(opened) => opened,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            let format = settings.format.or_else(|| detect(path, &settings.mapping).ok());
            return (format, vec![Err(error.to_string())]);
        }
    };
    let format = opened.format;
    let reader = match CaseReader::open(vec![opened.source], settings.mapping.clone()) {
        Ok(reader) => reader,
        Err(error) => return (Some(format), vec![Err(error.to_string())]),
    };
    let told = reader.take(MAX_CASES).map(|read| match read {
        Ok(case) => {
            assert!(!case.id().is_empty());
            Ok(case.json().to_owned())
        }
        Err(ReadError::BadCase(bad)) => Err(bad.to_string()),
        Err(error) => Err(error.to_string()),
    });
    let told: Vec<_> = told.collect();
    for line in told.iter().flatten().filter(|_| format != Format::Cases) {
        let case: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        let metadata = case.get("metadata").or_else(|| case.get("meta"));
        // Metadata that is not an object cannot hold the origin, and an origin that the file gives is kept.
        if metadata.is_some_and(serde_json::Value::is_object) {
            assert!(metadata.unwrap().get("origin").is_some(), "{line}");
        }
    }
    (Some(format), told)
}

/// The file that holds the bytes: in memory if there is such a folder, because it is rewritten for every input.
fn file() -> PathBuf {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let in_memory = || tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    FOLDER.get_or_init(|| in_memory().unwrap()).path().join("file")
}

/// Lets the parsers of tables and archives break their own assertions, which the readers catch.
#[cfg(feature = "libfuzzer")]
pub fn let_parsers_panic() {
    let abort = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let of_others = |file: &str| {
            ["arrow", "parquet", "zip-", "flatbuffers"].iter().any(|it| file.contains(it))
        };
        if !panic.location().is_some_and(|place| of_others(place.file())) {
            abort(panic);
        }
    }));
}
