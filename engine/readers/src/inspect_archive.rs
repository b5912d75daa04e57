//! Reads Inspect's logs that are zip archives (`.eval`) with a member for each sample. It leaves samples to `inspect`.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use flate2::{Crc, read::DeflateDecoder};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use zip::{CompressionMethod, ZipArchive, read::ZipFile};

use crate::{
    emit::Emit,
    format::Format,
    inspect::{Header, MAX_SAMPLE_BYTES, Sample},
    left_out::LeftOut,
    lenient_json::LenientJson,
    problem::Problem,
    source_file::SourceFile,
    text::{Allowance, too_long},
};

/// The header's member in a complete log, and in one whose evaluation did not end.
const HEADERS: [&str; 2] = ["header.json", "_journal/start.json"];

/// The member that lists the samples of a log whose evaluation ended.
const SUMMARIES: &str = "summaries.json";

type Archive = ZipArchive<BufReader<File>>;

/// Whether the zip archive at `path` is a log.
pub(crate) fn is_one(path: &Path) -> bool {
    opened(path).is_ok_and(|archive| has_header(&archive))
}

/// Checks whether there is something to read.
pub(crate) fn check(source: &SourceFile) -> Result<(), Problem> {
    let mut start = Vec::new();
    File::open(&source.path)?.take(2).read_to_end(&mut start)?;
    if start != b"PK" {
        return Err(Problem::content("this is not a zip archive, which an Inspect log (.eval) is"));
    }
    match has_header(&opened(&source.path)?) {
        true => Ok(()),
        false => Err(Problem::content("the archive has no `header.json`, which Inspect logs have")),
    }
}

pub(crate) fn read(source: &SourceFile, emit: &mut Emit) -> Result<(), Problem> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Head {
        eval: Header,
    }

    let mut archive = opened(&source.path)?;
    let name = HEADERS.into_iter().find(|name| archive.index_for_name(name).is_some());
    let name = name.ok_or_else(|| Problem::content("the archive has no `header.json`"))?;
    let index = archive.index_for_name(name).unwrap_or_default();
    let head: Head = member(&mut archive, index, name, emit.left_out())?;
    let mut record = 0;
    for index in 0..archive.len() {
        let name = archive.name_for_index(index).unwrap_or_default().to_owned();
        if !(name.starts_with("samples/") && name.ends_with(".json")) {
            continue;
        }
        let sample: Sample = member(&mut archive, index, &name, emit.left_out())?;
        record += 1;
        emit.case(&sample.case(&head.eval, record, Format::InspectEval, source)?)?;
    }
    for _missing in record..listed(&mut archive, emit) {
        emit.leave_out("samples that the log lists and does not have");
    }
    Ok(())
}

/// How many samples the log lists; 0 if it lists none.
fn listed(archive: &mut Archive, emit: &Emit) -> u64 {
    let Some(index) = archive.index_for_name(SUMMARIES) else { return 0 };
    match member(archive, index, SUMMARIES, LeftOut::default()) {
        Ok(Count(count)) => count,
        Err(_) => {
            // The samples themselves may still be readable.
            emit.leave_out("lists of samples that cannot be read");
            0
        }
    }
}

/// Counts the elements of a list without keeping any.
struct Count(u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Count, D::Error> {
        struct Elements;

        impl<'de> Visitor<'de> for Elements {
            type Value = Count;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Count, A::Error> {
                let mut count = 0;
                while elements.next_element::<IgnoredAny>()?.is_some() {
                    count += 1;
                }
                Ok(Count(count))
            }
        }

        deserializer.deserialize_seq(Elements)
    }
}

fn opened(path: &Path) -> Result<Archive, Problem> {
    ZipArchive::new(BufReader::new(File::open(path)?))
        .map_err(|error| Problem::content(format!("the archive is damaged: {error}")))
}

fn has_header(archive: &Archive) -> bool {
    HEADERS.into_iter().any(|name| archive.index_for_name(name).is_some())
}

/// The JSON of a member of at most 256 MiB.
fn member<T: serde::de::DeserializeOwned>(
    archive: &mut Archive,
    index: usize,
    name: &str,
    left_out: LeftOut,
) -> Result<T, Problem> {
    member_within(MAX_SAMPLE_BYTES, archive, index, name, left_out)
}

/// The JSON of a member of at most `most` bytes and what is read ahead.
fn member_within<T: serde::de::DeserializeOwned>(
    most: usize,
    archive: &mut Archive,
    index: usize,
    name: &str,
    left_out: LeftOut,
) -> Result<T, Problem> {
    let damaged = |error: &dyn std::fmt::Display| {
        Problem::content(format!("`{name}` in the archive is damaged: {error}"))
    };
    let file = archive.by_index_raw(index).map_err(|error| damaged(&error))?;
    let text = decompressed(file).map_err(|error| damaged(&error))?;
    let allowance = Allowance::of(most);
    let text = allowance.on(LenientJson::new(text, left_out));
    serde_json::from_reader(text).map_err(|error| match allowance.is_spent() {
        true => Problem::content(format!("`{name}` in the archive: {}", too_long(most))),
        false => damaged(&error),
    })
}

/// The content of a member. Inspect compresses with zstd; its older versions used deflate.
fn decompressed<'a>(file: ZipFile<'a, BufReader<File>>) -> std::io::Result<Box<dyn BufRead + 'a>> {
    const ZSTD: u16 = 93;

    #[expect(
        deprecated,
        reason = "the number says what a method is that the crate was not built for"
    )]
    let (method, encrypted) = (file.compression().to_u16(), file.encrypted());
    let expected = file.crc32();
    if encrypted {
        return Err(std::io::Error::other("it is encrypted"));
    }
    let text: Box<dyn Read + 'a> = match file.compression() {
        CompressionMethod::Stored => Box::new(file),
        CompressionMethod::Deflated => Box::new(DeflateDecoder::new(file)),
        _ if method == ZSTD => Box::new(zstd::stream::read::Decoder::new(file)?),
        other => return Err(std::io::Error::other(format!("{other} is not read"))),
    };
    Ok(Box::new(BufReader::new(Summed { text, sum: Crc::new(), expected })))
}

/// The content of a member, whose checksum must match the one in the archive.
struct Summed<'a> {
    text: Box<dyn Read + 'a>,
    sum: Crc,
    expected: u32,
}

impl Read for Summed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.text.read(buffer)?;
        self.sum.update(&buffer[..count]);
        let has_ended = count == 0 && !buffer.is_empty();
        if has_ended && self.sum.sum() != self.expected {
            let why = "its content does not have its checksum";
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, why));
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write as _};

    use scorebox::case::{CaseReader, Mapping};
    use zip::{ZipWriter, write::SimpleFileOptions};

    use super::*;
    use crate::{Settings, open};

    const HEADER: (&str, &str) = ("header.json", r#"{"eval": {"task": "t", "model": "m"}}"#);
    const LIMA: (&str, &str) =
        ("samples/a_epoch_1.json", r#"{"id": "lima", "epoch": 1, "input": "?", "target": "Lima"}"#);

    fn archive(members: &[(&str, &str)]) -> Vec<u8> {
        let mut archive = ZipWriter::new(std::io::Cursor::new(Vec::new()));
        let stored =
            SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        for (name, content) in members {
            archive.start_file(*name, stored).unwrap();
            archive.write_all(content.as_bytes()).unwrap();
        }
        archive.finish().unwrap().into_inner()
    }

    /// The ids of an archive's cases, or what is wrong with it.
    fn ids(archive: &[u8]) -> Result<Vec<String>, String> {
        read(archive).map(|(ids, _)| ids)
    }

    /// The ids of an archive's cases, and how much was left out, by reason.
    type Read = (Vec<String>, Vec<(&'static str, u64)>);

    fn read(archive: &[u8]) -> Result<Read, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.eval");
        fs::write(&path, archive).unwrap();
        let opened = open(&path, &Settings::new()).map_err(|error| error.to_string())?;
        let cases = CaseReader::open(vec![opened.source], Mapping::default()).unwrap();
        let ids = cases
            .map(|case| Ok(case.map_err(|error| error.to_string())?.id().to_owned()))
            .collect::<Result<_, String>>()?;
        Ok((ids, opened.left_out.counts()))
    }

    #[test]
    fn samples_that_the_log_lists_and_does_not_have_are_counted() {
        let summaries = |text| archive(&[HEADER, LIMA, ("summaries.json", text)]);
        let lima = || vec!["lima".to_owned()];
        let whole = summaries(r#"[{"id": "lima", "epoch": 1, "input": "?"}]"#);
        assert_eq!(read(&whole), Ok((lima(), vec![])));
        let damaged = summaries(
            r#"[{"id": 2, "epoch": 1}, {"id": "lima", "epoch": 1}, {"id": "lima", "epoch": 2}]"#,
        );
        let why = "samples that the log lists and does not have";
        assert_eq!(read(&damaged), Ok((lima(), vec![(why, 2)])));
        let unreadable = summaries("[{");
        let why = "lists of samples that cannot be read";
        assert_eq!(read(&unreadable), Ok((lima(), vec![(why, 1)])));
    }

    #[test]
    fn a_sample_with_half_of_a_surrogate_pair_is_read() {
        let sample = r#"{"id": "lima \ud83d", "epoch": 1, "input": "?"}"#;
        let why = "halves of surrogate pairs, for which U+FFFD stands";
        assert_eq!(
            read(&archive(&[HEADER, ("samples/a_epoch_1.json", sample)])),
            Ok((vec!["lima \u{fffd}".to_owned()], vec![(why, 1)]))
        );
    }

    #[test]
    fn a_member_that_is_too_large_is_not_called_damaged() {
        let long = format!("\"{}\"", "x".repeat(2 << 20));
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&archive(&[("long.json", &long)])).unwrap();
        let said = |most| {
            let mut archive = opened(file.path()).unwrap();
            let read = member_within(most, &mut archive, 0, "long.json", LeftOut::default());
            read.map(|text: String| text.len()).map_err(|problem| problem.to_string())
        };
        assert_eq!(said(2 << 20), Ok(2 << 20));
        assert_eq!(
            said(1 << 20),
            Err("`long.json` in the archive: a record has more than 1 MiB, the most that is read"
                .to_owned())
        );
    }

    #[test]
    fn a_member_that_does_not_have_its_checksum_is_damaged() {
        let archive = archive(&[HEADER, LIMA]);
        assert_eq!(ids(&archive), Ok(vec!["lima".to_owned()]));
        let at = archive.windows(4).position(|bytes| bytes == b"Lima").unwrap();
        let mut damaged = archive.clone();
        damaged[at + 3] = b'e';
        let error = ids(&damaged).unwrap_err();
        let expected = "`samples/a_epoch_1.json` in the archive is damaged: its content does not have its checksum";
        assert!(error.contains(expected), "{error}");
    }
}
