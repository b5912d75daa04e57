//! Reads files that a user names, up to a bound. Anything but a regular file or a pipe is refused before anything of it
//! is read, because a device has no end. It knows no formats.

use std::{
    fmt,
    fs::{self, File, Metadata},
    io::{self, Read},
    path::Path,
};

use crate::advice::{Advice, Advised, Conversion, Form, Resource, Thing};

/// The most bytes of a case, or of a part of a case, in a separate file: 64 MiB, as for a line. A receipt has the same
/// bound.
pub const MAX_CASE_BYTES: u64 = 64 << 20;
/// The most bytes of a configuration or a suite in a file: 16 MiB.
pub const MAX_CONFIGURATION_BYTES: u64 = 16 << 20;

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
    /// The user has no permission to read it.
    #[error("no permission to read it")]
    PermissionDenied,
    /// It is larger than the bound.
    #[error("it has more than {} MiB, the most that is read here", max_bytes >> 20)]
    TooLarge {
        /// The most that is read, in bytes.
        max_bytes: u64,
    },
    /// It is text in another encoding of Unicode, by its first bytes.
    #[error("it is {encoding} text, not UTF-8")]
    Encoded {
        /// The encoding.
        encoding: Encoding,
    },
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
            InputFileError::Encoded { encoding } => {
                Some(Advice::Convert(Conversion::FromEncoding { encoding: encoding.to_string() }))
            }
            InputFileError::NotUtf8 { .. } => Some(Advice::Convert(Conversion::ToUtf8)),
            InputFileError::Failed(error) => Resource::lacking(error).map(Advice::GiveMore),
            InputFileError::PermissionDenied => None,
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

/// A kind of file that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A regular file with this many bytes.
    Regular { bytes: u64 },
    /// A pipe, with a name or made by the shell: `<(…)`, `/dev/stdin`.
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

/// The kind of the file at `path`. It does not open the file, because opening and closing a pipe would break it.
pub(crate) fn kind(path: &Path) -> Result<Kind, InputFileError> {
    Kind::of(&fs::metadata(path)?)
}

/// Opens the file at `path`, if it can be read; waits for a writer if it is a pipe.
pub(crate) fn open(path: &Path) -> Result<(File, Kind), InputFileError> {
    let expected = kind(path)?;
    opened(path, expected, options(expected == Kind::Pipe))
}

/// Like [`open`], but does not wait for the writer of a pipe: the reader must wait, because its reads do not block.
pub(crate) fn open_without_waiting(path: &Path) -> Result<(File, Kind), InputFileError> {
    opened(path, kind(path)?, options(false))
}

/// Opens the regular file at `path`, for a file that no user named: anything else, even a pipe, is refused at once.
///
/// # Errors
/// If it is not a regular file, or cannot be read.
pub fn open_regular(path: &Path) -> Result<File, InputFileError> {
    match open_without_waiting(path)? {
        (file, Kind::Regular { .. }) => Ok(file),
        (_, Kind::Pipe) => {
            Err(InputFileError::Failed(io::Error::other("this is a pipe, not a file")))
        }
    }
}

/// Reads the regular file at `path`: see [`open_regular`].
///
/// # Errors
/// If it is not a regular file, cannot be read, or has more than `max_bytes`.
pub fn read_regular(path: &Path, max_bytes: u64) -> Result<Vec<u8>, InputFileError> {
    bounded(open_regular(path)?, max_bytes)
}

fn bounded(reader: impl Read, max_bytes: u64) -> Result<Vec<u8>, InputFileError> {
    let mut bytes = Vec::new();
    reader.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 <= max_bytes {
        true => Ok(bytes),
        false => Err(InputFileError::TooLarge { max_bytes }),
    }
}

fn opened(
    path: &Path,
    expected: Kind,
    options: fs::OpenOptions,
) -> Result<(File, Kind), InputFileError> {
    let file = options.open(path)?;
    // The file may have been replaced since.
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

/// Reads the text of the file at `path`.
///
/// # Errors
/// If it cannot be read, has more than `max_bytes`, or is not text.
pub fn read_text(path: &Path, max_bytes: u64) -> Result<String, InputFileError> {
    let (file, _) = open(path)?;
    text_of(file, max_bytes)
}

/// Reads the text from `reader`, to its end.
///
/// # Errors
/// If it cannot be read, has more than `max_bytes`, or is not text.
pub fn text_of(reader: impl Read, max_bytes: u64) -> Result<String, InputFileError> {
    utf8(bounded(reader, max_bytes)?)
}

/// Converts bytes to text.
pub(crate) fn utf8(bytes: Vec<u8>) -> Result<String, InputFileError> {
    String::from_utf8(bytes).map_err(|error| {
        if let Some(encoding) = Encoding::of(error.as_bytes()) {
            return InputFileError::Encoded { encoding };
        }
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        InputFileError::NotUtf8 { line: good.iter().filter(|byte| **byte == b'\n').count() + 1 }
    })
}

/// An encoding of Unicode that is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// UTF-16 with a byte order mark.
    Utf16,
    /// UTF-16 without a byte order mark, the low byte first.
    Utf16Le,
    /// UTF-16 without a byte order mark, the high byte first.
    Utf16Be,
    /// UTF-32 with a byte order mark.
    Utf32,
    /// UTF-32 without a byte order mark, the low byte first.
    Utf32Le,
    /// UTF-32 without a byte order mark, the high byte first.
    Utf32Be,
}

impl Encoding {
    /// The encoding of a text that begins like this, unless it may be UTF-8. The text either has the encoding's byte
    /// order mark, with which no UTF-8 text begins, or its first characters are ASCII, as in JSON and scripts, with
    /// zeros between them.
    pub fn of(beginning: &[u8]) -> Option<Encoding> {
        const LAST: u8 = 0x7f;

        match beginning {
            [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Some(Encoding::Utf32),
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some(Encoding::Utf16),
            [1..=LAST, 0, 0, 0, ..] => Some(Encoding::Utf32Le),
            [0, 0, 0, 1..=LAST, ..] => Some(Encoding::Utf32Be),
            [1..=LAST, 0, 1..=LAST, 0, ..] => Some(Encoding::Utf16Le),
            [0, 1..=LAST, 0, 1..=LAST, ..] => Some(Encoding::Utf16Be),
            _ => None,
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Encoding::Utf16 => "UTF-16",
            Encoding::Utf16Le => "UTF-16LE",
            Encoding::Utf16Be => "UTF-16BE",
            Encoding::Utf32 => "UTF-32",
            Encoding::Utf32Le => "UTF-32LE",
            Encoding::Utf32Be => "UTF-32BE",
        })
    }
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
            let encoding = "UTF-16".to_owned();
            let advice = Advice::Convert(Conversion::FromEncoding { encoding });
            assert_eq!(error.advice(), Some(advice));
        }
        assert!(matches!(text_of(&b"\xff"[..], 100), Err(InputFileError::NotUtf8 { line: 1 })));
    }

    #[test]
    fn an_encoding_is_known_by_its_mark_or_by_its_zeros() {
        for (text, expected) in [
            (&b"{\"a\"}"[..], None),
            (b"{\"", None),
            (b"a\0", None),
            (b"\xff\xfe{\0", Some(Encoding::Utf16)),
            (b"{\0\"\0", Some(Encoding::Utf16Le)),
            (b"\0{\0\"", Some(Encoding::Utf16Be)),
            (b"\xff\xfe\0\0{\0\0\0", Some(Encoding::Utf32)),
            (b"\0\0\xfe\xff\0\0\0{", Some(Encoding::Utf32)),
            (b"{\0\0\0\"\0\0\0", Some(Encoding::Utf32Le)),
            (b"\0\0\0{\0\0\0\"", Some(Encoding::Utf32Be)),
        ] {
            assert_eq!(Encoding::of(text), expected, "{text:?}");
        }
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
    fn what_no_user_named_is_a_regular_file_within_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        let (path, pipe) = (folder.path().join("file"), folder.path().join("pipe"));
        fs::write(&path, [0xff; 4]).unwrap();
        assert_eq!(read_regular(&path, 4).unwrap(), [0xff; 4]);
        let refused = |path: &Path| read_regular(path, 3).unwrap_err();
        assert!(matches!(refused(&path), InputFileError::TooLarge { max_bytes: 3 }));
        assert!(matches!(refused(folder.path()), InputFileError::Folder));
        // This does not wait for a writer.
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        assert_eq!(refused(&pipe).to_string(), "this is a pipe, not a file");
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
