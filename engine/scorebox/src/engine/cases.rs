//! Where the cases of a run come from. It reads no cases.

use std::{io::Read, path::PathBuf};

use crate::case::{CaseReader, Mapping, Source, SourceError};

/// The cases of a run: JSON Lines, optionally compressed with gzip or zstd. A [`CaseReader`] has more options.
#[derive(Debug)]
pub struct Cases(CaseReader);

impl Cases {
    /// The cases of one file.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn file(path: impl Into<PathBuf>) -> Result<Cases, SourceError> {
        Cases::files([path])
    }

    /// The cases of some files, one after the other.
    ///
    /// # Errors
    /// If one of them cannot be opened.
    pub fn files(
        paths: impl IntoIterator<Item = impl Into<PathBuf>>,
    ) -> Result<Cases, SourceError> {
        Cases::sources(paths.into_iter().map(Source::path).collect())
    }

    /// Reads from `reader`; messages call it `name`.
    ///
    /// # Errors
    /// None today; it returns a result like the other constructors.
    pub fn reader(
        name: impl Into<String>,
        reader: impl Read + Send + 'static,
    ) -> Result<Cases, SourceError> {
        Cases::sources(vec![Source::reader(name, Box::new(reader))])
    }

    fn sources(sources: Vec<Source>) -> Result<Cases, SourceError> {
        CaseReader::open(sources, Mapping::default()).map(Cases)
    }

    pub(super) fn into_reader(self) -> CaseReader {
        self.0
    }
}

impl From<CaseReader> for Cases {
    fn from(reader: CaseReader) -> Cases {
        Cases(reader)
    }
}
