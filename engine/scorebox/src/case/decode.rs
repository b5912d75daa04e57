//! Detects from a stream's first bytes how it is compressed, and decompresses it. It trusts no file name, and knows
//! nothing of lines.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use super::{
    gzip::Gzip,
    source_error::{Compression, SourceError},
};
use crate::input_file::Encoding;

/// How much is read from a source at a time, in bytes.
const BUFFER_BYTES: usize = 128 * 1024;

/// How many bytes at the beginning of a source show its format.
const MAGIC_BYTES: usize = 6;

/// A stream that knows which part of it is in memory.
pub(super) trait Buffered: BufRead + Send {
    /// The bytes that are available without reading.
    fn buffered(&self) -> &[u8];
}

impl<R: Read + Send> Buffered for BufReader<R> {
    fn buffered(&self) -> &[u8] {
        self.buffer()
    }
}

/// A stream of text, and how it was compressed.
pub(super) struct Decoded {
    pub text: Box<dyn Buffered>,
    pub compression: Compression,
}

/// Why a stream cannot be decoded.
pub(super) enum NotDecoded {
    /// Reading the first bytes failed, or creating the decoder.
    Failed(io::Error),
    /// Its format is not supported.
    Unread(Unread),
}

/// A format that is not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// A file format.
    Format(&'static str),
    /// A text encoding.
    Encoding(Encoding),
}

impl Unread {
    /// The error of the source with this name.
    pub(super) fn of(self, name: String) -> SourceError {
        match self {
            Unread::Format(format) => SourceError::Unsupported { name, format },
            Unread::Encoding(encoding) => SourceError::Encoded { name, encoding },
        }
    }
}

/// The text of `raw`, whether it is compressed or not.
pub(super) fn decode(mut raw: impl Read + Send + 'static) -> Result<Decoded, NotDecoded> {
    let start = first_bytes(&mut raw).map_err(NotDecoded::Failed)?;
    if let Some(unread) = unread(&start) {
        return Err(NotDecoded::Unread(unread));
    }
    let compression = compression_of(&start);
    let whole = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(start).chain(raw));
    let text: Box<dyn Buffered> = match compression {
        Compression::None => Box::new(whole),
        Compression::Gzip => Box::new(BufReader::with_capacity(BUFFER_BYTES, Gzip::new(whole))),
        Compression::Zstd => {
            let decoder = zstd::stream::read::Decoder::with_buffer(whole);
            let decoder = decoder.map_err(NotDecoded::Failed)?;
            Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder))
        }
    };
    Ok(Decoded { text, compression })
}

/// Refuses a file to be followed, `name`, that starts with `start` and is not plain text in UTF-8.
#[cfg(feature = "store")]
pub(super) fn must_be_plain(name: &str, start: &[u8]) -> Result<(), SourceError> {
    let name = || name.to_owned();
    match (unread(start), compression_of(start)) {
        (Some(unread), _) => Err(unread.of(name())),
        (None, Compression::None) => Ok(()),
        (None, compression) => Err(SourceError::Compressed { name: name(), compression }),
    }
}

/// The first bytes of `raw`: [`MAGIC_BYTES`], or fewer if it is shorter.
fn first_bytes(raw: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(MAGIC_BYTES);
    raw.take(MAGIC_BYTES as u64).read_to_end(&mut start)?;
    Ok(start)
}

/// How a stream that starts with `start` is compressed.
fn compression_of(start: &[u8]) -> Compression {
    match start {
        [0x1f, 0x8b, ..] => Compression::Gzip,
        // A frame, or a skippable frame before the first frame.
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
        _ => Compression::None,
    }
}

/// The format of decompressed data whose first line starts with `start`, if it is a known one that is not supported.
pub(super) fn unread_inside(start: &[u8]) -> Option<Unread> {
    match compression_of(start) {
        Compression::None => unread(start),
        Compression::Gzip | Compression::Zstd => {
            Some(Unread::Format("data that was compressed twice"))
        }
    }
}

/// The format of a stream that starts with `start`, if it is a known one that is not supported.
fn unread(start: &[u8]) -> Option<Unread> {
    let format = match start {
        [b'P', b'K', 3, 4, ..] => "a zip archive",
        [b'P', b'A', b'R', b'1', ..] => "a Parquet file",
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => "bzip2 data",
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => "xz data",
        _ => return Encoding::of(start).map(Unread::Encoding),
    };
    Some(Unread::Format(format))
}
