//! Finds the format of a file from its content. Reads only its beginning, or the directory of a zip archive.

use std::{
    collections::BTreeSet,
    fmt, fs,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use scorebox::{
    case::{Key, Mapping},
    input_file::InputFileError,
};
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use zip::ZipArchive;

use crate::{
    dataset,
    format::Format,
    inspect_archive,
    left_out::LeftOut,
    lenient_json::LenientJson,
    problem::{Problem, ReaderError},
    separated, text,
    walk::ignore_scalars,
};

/// How many bytes of a text are examined.
const MAX_LOOKED_AT: u64 = 1 << 20;

/// The format of the file or folder at `path`. A text of no known format is [`Format::Cases`], so that the reader of
/// cases reports what is wrong with it; so is JSON of any kind if `mapping` defines where the output is, because such
/// rules apply to the lines of the text itself.
///
/// # Errors
/// It could have several formats, it is an archive of something else, or reading it failed.
pub fn detect(path: &Path, mapping: &Mapping) -> Result<Format, ReaderError> {
    let name = || path.display().to_string();
    let unreadable = |error: io::Error| Problem::Io(error).of(&name());
    // The reader of cases refuses a path that does not exist, a device, or a folder of something else; a pipe can be
    // read only once.
    let Ok(metadata) = fs::metadata(path) else { return Ok(Format::Cases) };
    if metadata.is_dir() && dataset::is_one(path).map_err(unreadable)? {
        return Ok(Format::HuggingFace);
    }
    if !metadata.is_file() {
        return Ok(Format::Cases);
    }
    let mut start = Vec::new();
    let Ok(file) = fs::File::open(path) else { return Ok(Format::Cases) };
    file.take(8).read_to_end(&mut start).map_err(unreadable)?;
    match start.as_slice() {
        [b'P', b'K', 3 | 5, 4 | 6, ..] => {
            return match inspect_archive::is_one(path) {
                true => Ok(Format::InspectEval),
                false if is_workbook(path) => {
                    Err(Problem::content("this is a workbook of Excel: save it as CSV").of(&name()))
                }
                false => Err(ReaderError::Unknown {
                    name: name(),
                    found: "this is a zip archive that is damaged or not an Inspect log",
                }),
            };
        }
        [b'P', b'A', b'R', b'1', ..] => return Ok(Format::Parquet),
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] | [0xff, 0xff, 0xff, 0xff, ..] => {
            return Ok(Format::Arrow);
        }
        _ => {}
    }
    let text = match text::text(path).map_err(unreadable) {
        Ok(text) => text,
        Err(encoded @ ReaderError::Unreadable { error: InputFileError::Encoded { .. }, .. }) => {
            return Err(encoded);
        }
        // The reader of cases reports data that cannot be decompressed.
        Err(_) => return Ok(Format::Cases),
    };
    of_text(text, path, mapping).map_err(|unclear| match unclear {
        Unclear::Several(formats) => ReaderError::Ambiguous { name: name(), formats },
        Unclear::Other(what) => Problem::content(format!(
            "this is {what}, which is not read: of promptfoo's results, save those in JSON (`-o results.json`)"
        ))
        .of(&name()),
    })
}

/// Why the format of a text is unclear.
#[derive(Debug, PartialEq, Eq)]
enum Unclear {
    /// It may have one of these formats.
    Several(Vec<Format>),
    /// It is something that is not supported.
    Other(&'static str),
}

/// Whether the zip archive at `path` is an Excel workbook (`.xlsx`).
fn is_workbook(path: &Path) -> bool {
    let Ok(file) = fs::File::open(path) else { return false };
    let archive = ZipArchive::new(BufReader::new(file));
    archive.is_ok_and(|archive| archive.file_names().any(|name| name.starts_with("xl/")))
}

/// The format of a text, or the formats that it may have.
fn of_text(text: impl BufRead, path: &Path, mapping: &Mapping) -> Result<Format, Unclear> {
    let mut beginning = Vec::new();
    let mut text = text.take(MAX_LOOKED_AT);
    // The reader of cases reports a text that cannot be read.
    let _ = text.read_to_end(&mut beginning);
    match beginning.trim_ascii_start().first() {
        Some(b'{' | b'[') if mapping.pointer(Key::Output).is_some() => Ok(Format::Cases),
        Some(b'{' | b'[') => match of_keys(&keys(&beginning)).as_slice() {
            [] => Ok(Format::Cases),
            [format] => Ok(*format),
            several => Err(Unclear::Several(several.to_vec())),
        },
        Some(_) if separated::seems_one(&beginning, path, mapping) => Ok(Format::Csv),
        Some(b'<') => Err(Unclear::Other("HTML or XML")),
        Some(_) if is_named_yaml(path) => Err(Unclear::Other("YAML")),
        _ => Ok(Format::Cases),
    }
}

fn is_named_yaml(path: &Path) -> bool {
    path.extension()
        .is_some_and(|it| it.eq_ignore_ascii_case("yaml") || it.eq_ignore_ascii_case("yml"))
}

/// The formats that are identified by keys of a text's first JSON value.
fn of_keys(keys: &BTreeSet<String>) -> Vec<Format> {
    let has = |all: &[&str]| all.iter().all(|key| keys.contains(*key));
    let any = |some: &[&str]| some.iter().any(|key| keys.contains(*key));
    let marks = [
        (Format::Cases, has(&["output"])),
        (Format::InspectJson, has(&["status", "eval"]) && any(&["eval.task", "eval.run_id"])),
        (
            Format::Promptfoo,
            has(&["promptIdx", "testIdx", "success"])
                || has(&["evalId", "results"])
                || (any(&["results.results"]) && any(&["results.prompts", "results.stats"])),
        ),
        (Format::LmEval, has(&["doc_id", "doc"]) && any(&["resps", "filtered_resps"])),
        (
            Format::OpenAiEvals,
            has(&["spec"]) && any(&["spec.eval_name", "spec.run_id", "spec.completion_fns"])
                || has(&["run_id", "event_id", "sample_id", "type"]),
        ),
        (
            Format::OpenTelemetry,
            has(&["resourceSpans"])
                || (has(&["traceId", "spanId"]) && any(&["startTimeUnixNano", "start_time"]))
                || (has(&["context.trace_id", "context.span_id", "attributes"])),
        ),
    ];
    marks.into_iter().filter_map(|(format, is_marked)| is_marked.then_some(format)).collect()
}

/// The keys of the first JSON object in the examined part of the text at `path`.
pub(crate) fn first_keys(path: &Path) -> io::Result<BTreeSet<String>> {
    let mut beginning = Vec::new();
    text::text(path)?.take(MAX_LOOKED_AT).read_to_end(&mut beginning)?;
    Ok(keys(&beginning))
}

/// The keys of the first object in `beginning`, even in a list, and in the form `key.inner` the keys of the objects in
/// it. The search ends where the text is cut off.
fn keys(beginning: &[u8]) -> BTreeSet<String> {
    let mut found = Keys::default();
    let mut values =
        serde_json::Deserializer::from_reader(LenientJson::new(beginning, LeftOut::default()));
    // If this ends in an error, what was found before still counts.
    let _ = Search { found: &mut found, prefix: None }.deserialize(&mut values);
    found.0
}

#[derive(Debug, Default)]
struct Keys(BTreeSet<String>);

/// More keys than any of these formats has at its beginning.
const MAX_KEYS: usize = 10_000;

struct Search<'a> {
    found: &'a mut Keys,
    prefix: Option<String>,
}

impl<'de> DeserializeSeed<'de> for Search<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Search<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<(), M::Error> {
        while let Some(key) = members.next_key::<String>()? {
            if self.found.0.len() > MAX_KEYS {
                return Err(M::Error::custom("enough"));
            }
            let name = match &self.prefix {
                None => key,
                Some(outer) => format!("{outer}.{key}"),
            };
            self.found.0.insert(name.clone());
            match &self.prefix {
                None => members
                    .next_value_seed(Search { found: &mut *self.found, prefix: Some(name) })?,
                Some(_) => members.next_value::<IgnoredAny>().map(drop)?,
            }
        }
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut elements: S) -> Result<(), S::Error> {
        if self.prefix.is_none() {
            elements.next_element_seed(Search { found: &mut *self.found, prefix: None })?;
            return Err(S::Error::custom("enough"));
        }
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    ignore_scalars!();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Format, Unclear> {
        of_text(text.as_bytes(), Path::new("file"), &Mapping::NONE)
    }

    #[test]
    fn a_text_is_what_its_keys_say() {
        for (text, format) in [
            (r#"{"input": 1, "output": "x", "traceId": "a", "spanId": "b"}"#, Format::Cases),
            (r#"{"anything": 1}"#, Format::Cases),
            ("", Format::Cases),
            (r#"[{"output": 1}]"#, Format::Cases),
            (
                r#"{"version": 2, "status": "success", "eval": {"task": "t", "x": NaN}, "samples": [{"#,
                Format::InspectJson,
            ),
            (r#"{"evalId": "e", "results": {"version": 3, "results": ["#, Format::Promptfoo),
            (r#"{"cost":0,"promptIdx":1,"success":false,"testIdx":0}"#, Format::Promptfoo),
            (
                r#"{"doc_id": 0, "doc": {}, "target": "x", "resps": [], "filtered_resps": []}"#,
                Format::LmEval,
            ),
            (r#"{"spec": {"completion_fns": ["m"], "eval_name": "e"}}"#, Format::OpenAiEvals),
            (r#"{"resourceSpans": []}"#, Format::OpenTelemetry),
            (
                r#"[{"name": "chat", "context": {"trace_id": "0x1", "span_id": "0x2"}, "attributes": {}}]"#,
                Format::OpenTelemetry,
            ),
            ("input,output\n1,2\n", Format::Csv),
            ("just, a text\n", Format::Cases),
        ] {
            assert_eq!(of(text), Ok(format), "{text}");
        }
    }

    #[test]
    fn a_workbook_is_to_be_saved_as_csv() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut archive = zip::ZipWriter::new(file.reopen().unwrap());
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file("xl/workbook.xml", options).unwrap();
        archive.finish().unwrap();
        let refused = detect(file.path(), &Mapping::NONE).unwrap_err();
        assert!(refused.to_string().ends_with(": this is a workbook of Excel: save it as CSV"));
    }

    #[test]
    fn yaml_and_html_are_not_taken_for_lines_of_cases() {
        let named =
            |text: &str, name: &str| of_text(text.as_bytes(), Path::new(name), &Mapping::NONE);
        for name in ["results.yaml", "results.YML"] {
            assert_eq!(named("evalId: x\nresults:\n", name), Err(Unclear::Other("YAML")), "{name}");
        }
        assert_eq!(named("{\"output\": 1}", "cases.yaml"), Ok(Format::Cases), "JSON is YAML");
        assert_eq!(of("\n<!DOCTYPE html>"), Err(Unclear::Other("HTML or XML")));
    }

    #[test]
    fn a_text_with_the_marks_of_two_formats_is_neither() {
        let both = r#"{"output": "x", "doc_id": 1, "doc": {}, "resps": []}"#;
        assert_eq!(of(both), Err(Unclear::Several(vec![Format::Cases, Format::LmEval])));
        let mapping = Mapping::parse(["output=/resps/0"]).unwrap();
        assert_eq!(of_text(both.as_bytes(), Path::new("x"), &mapping), Ok(Format::Cases));
    }
}
