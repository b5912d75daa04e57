//! Inspect's logs that are zip archives (`.eval`): a member for each sample. What a sample is, is `inspect`'s to know.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use flate2::read::DeflateDecoder;
use serde::Deserialize;
use zip::{CompressionMethod, ZipArchive, read::ZipFile};

use crate::{
    emit::Emit,
    format::Format,
    inspect::{Header, MOST_SAMPLE_BYTES, Sample},
    json_numbers::JsonNumbers,
    place::Place,
    problem::Problem,
    text::Allowance,
};

/// The member of a whole log, and of one whose evaluation did not end.
const HEADERS: [&str; 2] = ["header.json", "_journal/start.json"];

type Archive = ZipArchive<BufReader<File>>;

/// Whether the zip archive at `path` is a log.
pub(crate) fn is_one(path: &Path) -> bool {
    opened(path).is_ok_and(|archive| has_header(&archive))
}

/// Whether there is something to read.
pub(crate) fn check(place: &Place) -> Result<(), Problem> {
    match has_header(&opened(&place.path)?) {
        true => Ok(()),
        false => Err(Problem::content("the archive has no `header.json`, which Inspect logs have")),
    }
}

pub(crate) fn read(place: &Place, emit: &mut Emit) -> Result<(), Problem> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Head {
        eval: Header,
    }

    let mut archive = opened(&place.path)?;
    let name = HEADERS.into_iter().find(|name| archive.index_for_name(name).is_some());
    let name = name.ok_or_else(|| Problem::content("the archive has no `header.json`"))?;
    let index = archive.index_for_name(name).unwrap_or_default();
    let head: Head = member(&mut archive, index, name)?;
    let mut record = 0;
    for index in 0..archive.len() {
        let name = archive.name_for_index(index).unwrap_or_default().to_owned();
        if !(name.starts_with("samples/") && name.ends_with(".json")) {
            continue;
        }
        let sample: Sample = member(&mut archive, index, &name)?;
        record += 1;
        emit.case(&sample.case(&head.eval, record, Format::InspectEval, place)?)?;
    }
    Ok(())
}

fn opened(path: &Path) -> Result<Archive, Problem> {
    ZipArchive::new(BufReader::new(File::open(path)?))
        .map_err(|error| Problem::content(format!("the archive is damaged: {error}")))
}

fn has_header(archive: &Archive) -> bool {
    HEADERS.into_iter().any(|name| archive.index_for_name(name).is_some())
}

/// The JSON of a member, of at most 256 MiB.
fn member<T: serde::de::DeserializeOwned>(
    archive: &mut Archive,
    index: usize,
    name: &str,
) -> Result<T, Problem> {
    let damaged = |error: &dyn std::fmt::Display| {
        Problem::content(format!("`{name}` in the archive is damaged: {error}"))
    };
    let file = archive.by_index_raw(index).map_err(|error| damaged(&error))?;
    let text = decompressed(file).map_err(|error| damaged(&error))?;
    let allowance = Allowance::of(MOST_SAMPLE_BYTES);
    let text = allowance.on(JsonNumbers::new(text));
    serde_json::from_reader(text).map_err(|error| damaged(&error))
}

/// What is in a member. Inspect writes zstd; its older versions deflated.
fn decompressed<'a>(file: ZipFile<'a, BufReader<File>>) -> std::io::Result<Box<dyn BufRead + 'a>> {
    const ZSTD: u16 = 93;

    #[expect(
        deprecated,
        reason = "the number says what a method is that the crate was not built for"
    )]
    let (method, encrypted) = (file.compression().to_u16(), file.encrypted());
    if encrypted {
        return Err(std::io::Error::other("it is encrypted"));
    }
    let text: Box<dyn Read + 'a> = match file.compression() {
        CompressionMethod::Stored => Box::new(file),
        CompressionMethod::Deflated => Box::new(DeflateDecoder::new(file)),
        _ if method == ZSTD => Box::new(zstd::stream::read::Decoder::new(file)?),
        other => return Err(std::io::Error::other(format!("{other} is not read"))),
    };
    Ok(Box::new(BufReader::new(text)))
}
