//! Where cases come from: files, standard input, any reader. This opens sources and counts bytes; `decode`
//! decompresses, and `reader` reads lines.

use std::{
    fmt,
    io::{self, Read},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use crate::input_file::{self, Kind};

use super::{
    source_error::SourceError,
    stop::{StopSign, Waiting},
};

/// A stream of case lines, plain or compressed with gzip or zstd.
pub struct Source {
    origin: Origin,
}

enum Origin {
    Path(PathBuf),
    Stdin,
    Reader { name: String, reader: Box<dyn Read + Send>, gives_reasons: bool },
}

/// The beginning of a line that is not a case but the reason why there is none, in a [`Source::reader_with_reasons`].
pub const NO_CASE: char = '\u{18}';

impl Source {
    /// The file at `path`. `-` is an ordinary file name here: see [`Source::stdin`].
    pub fn path(path: impl Into<PathBuf>) -> Source {
        Source { origin: Origin::Path(path.into()) }
    }

    /// The process's standard input, named `<stdin>`. It is not read before the first case is requested.
    pub fn stdin() -> Source {
        Source { origin: Origin::Stdin }
    }

    /// Reads from `reader`; messages call it `name`.
    pub fn reader(name: impl Into<String>, reader: Box<dyn Read + Send>) -> Source {
        Source { origin: Origin::Reader { name: name.into(), reader, gives_reasons: false } }
    }

    /// Lines that `reader` makes from something that has no case lines itself: a line that begins with [`NO_CASE`]
    /// states why there is no case, and a line that begins with a [`row_mark`](super::row_mark) was made from a row of
    /// a table.
    pub fn reader_with_reasons(name: impl Into<String>, reader: Box<dyn Read + Send>) -> Source {
        Source { origin: Origin::Reader { name: name.into(), reader, gives_reasons: true } }
    }

    /// Whether it is a [`Source::reader_with_reasons`].
    pub(super) fn gives_reasons(&self) -> bool {
        matches!(self.origin, Origin::Reader { gives_reasons: true, .. })
    }

    /// Its name in messages and in [`Case::source`](super::Case::source).
    pub fn name(&self) -> String {
        match &self.origin {
            Origin::Path(path) => path.display().to_string(),
            Origin::Stdin => "<stdin>".to_owned(),
            Origin::Reader { name, .. } => name.clone(),
        }
    }

    /// Whether it is [`Source::stdin`].
    pub(super) fn is_stdin(&self) -> bool {
        matches!(self.origin, Origin::Stdin)
    }

    /// Checks that it can be opened and is not empty, without consuming anything, and returns its size in bytes; `None`
    /// if that is unknown before the end.
    pub(super) fn check(&self) -> Result<Option<u64>, SourceError> {
        let Origin::Path(path) = &self.origin else { return Ok(None) };
        let failed = |error| SourceError::opening(&self.name(), error);
        match input_file::kind(path).map_err(failed)? {
            // Opening and closing a pipe would break it.
            Kind::Pipe => Ok(None),
            Kind::Regular { bytes } => {
                let (mut file, _) = input_file::open(path).map_err(failed)?;
                // The system's own files, in /proc for example, report a size of 0.
                match bytes == 0 && matches!(file.read(&mut [0]), Ok(0)) {
                    true => Err(SourceError::Empty { name: self.name() }),
                    false => Ok(Some(bytes)),
                }
            }
        }
    }

    /// Opens it; `tally` counts what is read, and reading ends when `stop` is set.
    pub(super) fn open(self, tally: Arc<Tally>, stop: StopSign) -> Result<Counted, SourceError> {
        let name = self.name();
        let failed = |error| SourceError::opening(&name, error);
        let reader: Box<dyn Read + Send> = match self.origin {
            Origin::Path(path) => {
                let (file, kind) = input_file::open_without_waiting(&path).map_err(failed)?;
                match kind {
                    Kind::Regular { .. } => Box::new(file),
                    Kind::Pipe => Box::new(Waiting::named_pipe(file, stop.clone())),
                }
            }
            Origin::Stdin => Waiting::stdin(stop.clone()).map_err(|error| failed(error.into()))?,
            Origin::Reader { reader, .. } => reader,
        };
        Ok(Counted { reader, tally, stop })
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Source").field(&self.name()).finish()
    }
}

/// The counts of what was read from sources, outside the decoders that read.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    bytes: AtomicU64,
    failed: AtomicBool,
}

impl Tally {
    /// How many bytes were read, before decompression.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Whether a read failed, which means that a decoder's error is not caused by the data.
    pub(crate) fn failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }
}

/// A reader that updates a [`Tally`], and ends when it should stop.
pub(super) struct Counted {
    reader: Box<dyn Read + Send>,
    tally: Arc<Tally>,
    stop: StopSign,
}

impl Counted {
    /// Reads from another reader, until `stop` is set.
    #[cfg(feature = "store")]
    pub(super) fn new(
        reader: impl Read + Send + 'static,
        tally: Arc<Tally>,
        stop: StopSign,
    ) -> Counted {
        Counted { reader: Box::new(reader), tally, stop }
    }
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.stop.check().and_then(|()| self.reader.read(buffer));
        match &result {
            Ok(count) => {
                self.tally.bytes.fetch_add(*count as u64, Ordering::Relaxed);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.tally.failed.store(true, Ordering::Relaxed),
        }
        result
    }
}
