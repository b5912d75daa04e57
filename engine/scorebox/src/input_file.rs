//! Files that a user names, read within a bound. What is neither a regular file nor a pipe is refused before
//! anything of it is read: a device has no end. Knows no format.

use std::{
    fs::{self, File, Metadata},
    io::{self, Read},
    path::Path,
};

use crate::advice::{Advice, Advised, Conversion, Form, Thing};

/// Bytes of a case, or of a part of one, in a separate file: 64 MiB, as of a line. A receipt has
/// the same bound.
pub const MOST_CASE_BYTES: u64 = 64 << 20;
/// Bytes of a configuration or a suite that stands in a file: 16 MiB.
pub const MOST_CONFIGURATION_BYTES: u64 = 16 << 20;

/// Why a file cannot be read. The message does not name the file: the caller does.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputFileError {
    /// It does not exist.
    #[error("no such file")]
    NotFound,
    /// It is a folder.
    #[error("this is a folder, not a file")]
    Folder,
    /// It is a device, a terminal or a socket.
    #[error("this is a device, not a file")]
    Device,
    /// The user may not read it.
    #[error("no permission to read it")]
    PermissionDenied,
    /// It is larger than what is read.
    #[error("it has more than {} MiB, the most that is read here", most_bytes >> 20)]
    TooLarge {
        /// The most that is read, in bytes.
        most_bytes: u64,
    },
    /// It is text in UTF-16, by its first bytes.
    #[error("it is UTF-16 text, not UTF-8")]
    Utf16,
    /// It is not text.
    #[error("it is not UTF-8 text: see line {line}")]
    NotUtf8 {
        /// The first line that is not, from 1.
        line: usize,
    },
    /// The system fails for another reason.
    #[error("{0}")]
    Failed(io::Error),
}

impl Advised for InputFileError {
    fn advice(&self) -> Option<Advice> {
        match self {
            InputFileError::NotFound => Some(Advice::Write(Form::Path)),
            InputFileError::Folder => Some(Advice::Name(Thing::File)),
            InputFileError::Device => Some(Advice::Name(Thing::FileOrPipe)),
            InputFileError::TooLarge { .. } => Some(Advice::Check(Thing::File)),
            InputFileError::Utf16 => Some(Advice::Convert(Conversion::FromUtf16)),
            InputFileError::NotUtf8 { .. } => Some(Advice::Convert(Conversion::ToUtf8)),
            InputFileError::PermissionDenied | InputFileError::Failed(_) => None,
        }
    }
}

impl From<io::Error> for InputFileError {
    fn from(error: io::Error) -> InputFileError {
        match error.kind() {
            io::ErrorKind::NotFound => InputFileError::NotFound,
            io::ErrorKind::IsADirectory => InputFileError::Folder,
            io::ErrorKind::PermissionDenied => InputFileError::PermissionDenied,
            _ => InputFileError::Failed(error),
        }
    }
}

/// What can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A regular file of so many bytes.
    Regular { bytes: u64 },
    /// A pipe, with a name or of the shell: `<(…)`, `/dev/stdin`.
    #[cfg_attr(not(unix), allow(dead_code))]
    Pipe,
}

impl Kind {
    fn of(metadata: &Metadata) -> Result<Kind, InputFileError> {
        let kind = metadata.file_type();
        if kind.is_dir() {
            return Err(InputFileError::Folder);
        }
        #[cfg(unix)]
        if std::os::unix::fs::FileTypeExt::is_fifo(&kind) {
            return Ok(Kind::Pipe);
        }
        match kind.is_file() {
            true => Ok(Kind::Regular { bytes: metadata.len() }),
            false => Err(InputFileError::Device),
        }
    }
}

/// What is at `path`. Opens nothing: to open a pipe and close it again would break it off.
pub(crate) fn kind(path: &Path) -> Result<Kind, InputFileError> {
    Kind::of(&fs::metadata(path)?)
}

/// Opens what is at `path`, if it can be read; if it is a pipe, waits for a writer.
pub(crate) fn open(path: &Path) -> Result<(File, Kind), InputFileError> {
    let expected = kind(path)?;
    opened(path, expected, options(expected == Kind::Pipe))
}

/// As [`open`], but does not wait for the writer of a pipe: the reader must wait, because its reads do not.
pub(crate) fn open_without_waiting(path: &Path) -> Result<(File, Kind), InputFileError> {
    opened(path, kind(path)?, options(false))
}

fn opened(
    path: &Path,
    expected: Kind,
    options: fs::OpenOptions,
) -> Result<(File, Kind), InputFileError> {
    let file = options.open(path)?;
    // Something else may be there by now.
    let kind = Kind::of(&file.metadata()?)?;
    match matches!(expected, Kind::Pipe) == matches!(kind, Kind::Pipe) {
        true => Ok((file, kind)),
        false => Err(InputFileError::Failed(io::Error::other(
            "it was replaced while it was being opened",
        ))),
    }
}

#[cfg(unix)]
fn options(waits: bool) -> fs::OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::OFlags;

    let mut flags = OFlags::NOCTTY;
    if !waits {
        flags |= OFlags::NONBLOCK;
    }
    let mut options = File::options();
    options.read(true).custom_flags(flags.bits().cast_signed());
    options
}

#[cfg(not(unix))]
fn options(_waits: bool) -> fs::OpenOptions {
    let mut options = File::options();
    options.read(true);
    options
}

/// The text of the file at `path`.
///
/// # Errors
/// If it cannot be read, has more than `most_bytes`, or is not text.
pub fn read_text(path: &Path, most_bytes: u64) -> Result<String, InputFileError> {
    let (file, _) = open(path)?;
    text_of(file, most_bytes)
}

/// The text that `reader` gives, to its end.
///
/// # Errors
/// If it cannot be read, has more than `most_bytes`, or is not text.
pub fn text_of(reader: impl Read, most_bytes: u64) -> Result<String, InputFileError> {
    let mut bytes = Vec::new();
    reader.take(most_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most_bytes {
        return Err(InputFileError::TooLarge { most_bytes });
    }
    utf8(bytes)
}

/// These bytes as text.
pub(crate) fn utf8(bytes: Vec<u8>) -> Result<String, InputFileError> {
    String::from_utf8(bytes).map_err(|error| {
        if is_utf16(error.as_bytes()) {
            return InputFileError::Utf16;
        }
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        InputFileError::NotUtf8 { line: good.iter().filter(|byte| **byte == b'\n').count() + 1 }
    })
}

/// Whether a text that begins like this is UTF-16: it has that encoding's byte order mark, which no text in UTF-8 begins with.
pub fn is_utf16(beginning: &[u8]) -> bool {
    matches!(beginning, [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_up_to_its_bound_and_no_further() {
        assert_eq!(text_of(&b"text"[..], 4).unwrap(), "text");
        let error = text_of(io::repeat(b'x'), 2 << 20).unwrap_err();
        assert_eq!(error.to_string(), "it has more than 2 MiB, the most that is read here");
    }

    #[test]
    fn what_is_not_text_is_reported_with_its_line() {
        let error = text_of(&b"a\nb\n\xff\n"[..], 100).unwrap_err();
        assert_eq!(error.to_string(), "it is not UTF-8 text: see line 3");
    }

    #[test]
    fn utf_16_is_known_by_its_byte_order_mark() {
        for text in [&b"\xff\xfea\0"[..], b"\xfe\xff\0a"] {
            let error = text_of(text, 100).unwrap_err();
            assert_eq!(error.to_string(), "it is UTF-16 text, not UTF-8");
            assert_eq!(error.advice(), Some(Advice::Convert(Conversion::FromUtf16)));
        }
        assert!(matches!(text_of(&b"\xff"[..], 100), Err(InputFileError::NotUtf8 { line: 1 })));
    }

    #[test]
    fn a_regular_file_is_read_and_a_folder_or_nothing_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "text").unwrap();
        assert_eq!(read_text(&path, 4).unwrap(), "text");
        assert_eq!(kind(&path).unwrap(), Kind::Regular { bytes: 4 });
        let refused = |path: &Path| read_text(path, 4).unwrap_err();
        assert!(matches!(refused(folder.path()), InputFileError::Folder));
        assert!(matches!(refused(&folder.path().join("none")), InputFileError::NotFound));
    }

    #[cfg(unix)]
    #[test]
    fn a_device_or_a_socket_is_refused_before_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let _listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for path in [Path::new("/dev/zero"), Path::new("/dev/null"), &socket] {
            let error = read_text(path, 4).unwrap_err();
            assert!(matches!(error, InputFileError::Device), "{}: {error}", path.display());
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let writing = path.clone();
        let writer = std::thread::spawn(move || fs::write(writing, "text"));
        assert_eq!(read_text(&path, 4).unwrap(), "text");
        writer.join().unwrap().unwrap();
    }
}
