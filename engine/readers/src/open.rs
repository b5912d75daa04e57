//! Turns a file into a source of cases: selects its format, named or detected, and the reader of that format. Reads no
//! record.

use std::{fs, path::Path};

use scorebox::{
    case::{Mapping, Source},
    input_file::InputFileError,
};

use crate::{
    columns, dataset,
    detect::detect,
    emit::Emit,
    format::Format,
    inspect_archive, inspect_document,
    left_out::LeftOut,
    lm_eval, openai_evals,
    problem::{Problem, ReaderError},
    promptfoo, separated,
    source_file::SourceFile,
    spans,
    stream::{Lines, Produce},
};

/// How files are read.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Settings {
    /// The format, instead of detecting it.
    pub format: Option<Format>,
    /// Where the keys of a case are in a line, or which columns they are in a table.
    pub mapping: Mapping,
}

impl Settings {
    /// Formats are detected, and keys have their usual names.
    pub fn new() -> Settings {
        Settings::default()
    }

    /// The same with this format, for files whose format cannot be detected; `None` detects it.
    #[must_use]
    pub fn with_format(mut self, format: Option<Format>) -> Settings {
        self.format = format;
        self
    }

    /// The same for cases that are read with this mapping.
    #[must_use]
    pub fn with_mapping(mut self, mapping: Mapping) -> Settings {
        self.mapping = mapping;
        self
    }
}

/// A file that is ready to be read.
#[derive(Debug)]
#[non_exhaustive]
pub struct Opened {
    /// The file's lines of cases. For [`Format::Cases`], the file itself.
    pub source: Source,
    /// The file's format.
    pub format: Format,
    /// What is left out of the file; complete once the source was read to its end.
    pub left_out: LeftOut,
}

/// Prepares to read the file at `path`; what makes reading impossible from the start is reported here.
///
/// # Errors
/// The file cannot be opened, its format is unknown or unclear, or it is damaged at its beginning.
pub fn open(path: &Path, settings: &Settings) -> Result<Opened, ReaderError> {
    let name = path.display().to_string();
    let format = match settings.format {
        Some(format) => format,
        None => detect(path, &settings.mapping)?,
    };
    let left_out = LeftOut::default();
    let Some(begin) = reader(format) else {
        return Ok(Opened { source: Source::path(path), format, left_out });
    };
    must_be_a_file(path, &name, format)?;
    let source = SourceFile::of(path, settings.mapping.clone());
    let produce = begin(source).map_err(|problem| problem.of(&name))?;
    let lines = Lines::new(produce, left_out.clone());
    Ok(Opened { source: Source::reader_with_reasons(name, Box::new(lines)), format, left_out })
}

/// A function that writes the lines of a file.
type Read = fn(&SourceFile, &mut Emit) -> Result<(), Problem>;

/// A function that prepares to read files of this format; `None` if they are already lines of cases.
fn reader(format: Format) -> Option<impl FnOnce(SourceFile) -> Result<Produce, Problem>> {
    type Check = fn(&SourceFile) -> Result<(), Problem>;
    let unchecked: Check = |_| Ok(());
    let (check, read): (Check, Read) = match format {
        Format::Cases => return None,
        Format::InspectEval => (inspect_archive::check, inspect_archive::read),
        Format::InspectJson => (unchecked, inspect_document::read),
        Format::Promptfoo => (unchecked, promptfoo::read),
        Format::LmEval => (unchecked, lm_eval::read),
        Format::OpenAiEvals => (unchecked, openai_evals::read),
        Format::OpenTelemetry => (unchecked, spans::read),
        Format::Csv => (separated::check, separated::read),
        Format::Parquet => (columns::check_parquet, columns::read_parquet),
        Format::Arrow => (columns::check_arrow, columns::read_arrow),
        Format::HuggingFace => (dataset::check, dataset::read),
    };
    Some(move |source: SourceFile| {
        check(&source)?;
        Ok(Box::new(move |emit: &mut Emit| read(&source, emit)) as Produce)
    })
}

fn must_be_a_file(path: &Path, name: &str, format: Format) -> Result<(), ReaderError> {
    let name = || name.to_owned();
    let metadata = fs::metadata(path)
        .map_err(|error| ReaderError::Unreadable { name: name(), error: error.into() })?;
    let wants_folder = format == Format::HuggingFace;
    match metadata.file_type() {
        kind if kind.is_dir() && !wants_folder => {
            Err(ReaderError::Unreadable { name: name(), error: InputFileError::Folder })
        }
        kind if kind.is_dir() || (kind.is_file() && !wants_folder) => Ok(()),
        kind if kind.is_file() => Err(ReaderError::Unknown {
            name: name(),
            found: "this is a file, and a Hugging Face dataset is a folder",
        }),
        _ => Err(ReaderError::Pipe { name: name(), format }),
    }
}
