//! Reads the text of a file: decompressed, without a byte order mark, and with a limit on how much is read for one
//! record. Knows no format.

use std::{
    cell::Cell,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
    rc::Rc,
};

use scorebox::{
    case::Gzip,
    input_file::{Encoding, InputFileError},
};

use crate::{problem::Problem, record::MAX_RECORD_BYTES};

/// How much is read at a time, in bytes.
const BUFFER_BYTES: usize = 128 << 10;

/// The byte order mark that some editors write at the start of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text of the file at `path`, decompressed if it is compressed with gzip or zstd. Refuses text in UTF-16 or
/// UTF-32, and data that was compressed twice.
pub(crate) fn text(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let mut whole = BufReader::with_capacity(BUFFER_BYTES, File::open(path)?);
    let packing = Packing::of(whole.fill_buf()?);
    let mut text: Box<dyn BufRead> = match packing {
        Packing::None => Box::new(whole),
        Packing::Gzip => Box::new(BufReader::with_capacity(BUFFER_BYTES, Gzip::new(whole))),
        Packing::Zstd => {
            let decoder = zstd::stream::read::Decoder::with_buffer(whole)?;
            Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder))
        }
    };
    let beginning = text.fill_buf()?;
    if packing != Packing::None && Packing::of(beginning) != Packing::None {
        let why = "it was compressed twice: decompress it once";
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    if let Some(encoding) = Encoding::of(beginning) {
        return Err(io::Error::other(InputFileError::Encoded { encoding }));
    }
    if beginning.starts_with(BYTE_ORDER_MARK) {
        text.consume(BYTE_ORDER_MARK.len());
    }
    Ok(text)
}

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    None,
    Gzip,
    Zstd,
}

impl Packing {
    /// Detects the compression from the first bytes.
    fn of(beginning: &[u8]) -> Packing {
        match beginning {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Packing::Zstd,
            _ => Packing::None,
        }
    }
}

/// How much may still be read for the current record.
#[derive(Clone, Debug)]
pub(crate) struct Allowance {
    left: Rc<Cell<usize>>,
    most: usize,
}

impl Allowance {
    /// Allows records of at most 64 MiB.
    pub(crate) fn new() -> Allowance {
        Allowance::of(MAX_RECORD_BYTES)
    }

    /// Allows records of at most this many bytes.
    pub(crate) fn of(most: usize) -> Allowance {
        // What is read ahead for the next record counts for this one.
        Allowance { left: Rc::new(Cell::new(most + BUFFER_BYTES)), most }
    }

    /// Begins the next record.
    pub(crate) fn renew(&self) {
        self.left.set(self.most + BUFFER_BYTES);
    }

    /// Whether a record was longer than allowed, if reading failed.
    pub(crate) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// Limits `reader` by this allowance.
    pub(crate) fn on<R: Read>(&self, reader: R) -> Allowed<R> {
        Allowed { reader, allowance: self.clone() }
    }
}

/// A reader that fails if a record is longer than allowed.
#[derive(Debug)]
pub(crate) struct Allowed<R> {
    reader: R,
    allowance: Allowance,
}

impl<R: Read> Read for Allowed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.allowance.left.get();
        if left == 0 && !buffer.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, too_long(self.allowance.most)));
        }
        let most = buffer.len().min(left);
        let count = self.reader.read(&mut buffer[..most])?;
        self.allowance.left.set(left - count);
        Ok(count)
    }
}

pub(crate) fn too_long(most: usize) -> String {
    format!("a record has more than {} MiB, the most that is read", most >> 20)
}

/// Reads the next line that is not blank into `line`, without its end; returns whether there is one. `number` counts
/// all lines.
pub(crate) fn next_line(
    text: &mut dyn BufRead,
    line: &mut Vec<u8>,
    number: &mut u64,
) -> Result<bool, Problem> {
    loop {
        line.clear();
        if text.take(MAX_RECORD_BYTES as u64 + 1).read_until(b'\n', line)? == 0 {
            return Ok(false);
        }
        *number += 1;
        if line.len() > MAX_RECORD_BYTES {
            return Err(Problem::content(format!("line {number}: {}", too_long(MAX_RECORD_BYTES))));
        }
        if !line.trim_ascii().is_empty() {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn written(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn all(bytes: &[u8]) -> String {
        let mut read = String::new();
        text(written(bytes).path()).unwrap().read_to_string(&mut read).unwrap();
        read
    }

    #[test]
    fn a_text_is_decompressed_and_its_mark_is_dropped() {
        assert_eq!(all(b"plain"), "plain");
        assert_eq!(all(b"\xef\xbb\xbfmarked"), "marked");
        assert_eq!(all(&zstd::encode_all(&b"\xef\xbb\xbfzstd"[..], 1).unwrap()), "zstd");
        assert_eq!(all(&gzip(b"gzip")), "gzip");
    }

    #[test]
    fn what_was_compressed_twice_is_refused() {
        let refused = |bytes: &[u8]| text(written(bytes).path()).map(drop).unwrap_err().to_string();
        let said = "it was compressed twice: decompress it once";
        assert_eq!(refused(&gzip(&gzip(b"output,id\n"))), said);
        assert_eq!(refused(&zstd::encode_all(&gzip(b"output,id\n")[..], 1).unwrap()), said);
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text).unwrap();
        gzip.finish().unwrap()
    }

    #[test]
    fn a_record_is_read_up_to_its_bound_and_then_the_next() {
        let allowance = Allowance::of(10);
        let mut reader = allowance.on(io::repeat(b'x'));
        let mut record = vec![0; 10 + BUFFER_BYTES];
        reader.read_exact(&mut record).unwrap();
        assert!(reader.read(&mut [0; 1]).is_err());
        allowance.renew();
        reader.read_exact(&mut record).unwrap();
    }

    #[test]
    fn blank_lines_count_and_are_passed_over() {
        let (mut text, mut line, mut number) = (&b"\n  \r\na\nb"[..], Vec::new(), 0);
        assert!(next_line(&mut text, &mut line, &mut number).unwrap());
        assert_eq!((line.as_slice(), number), (&b"a\n"[..], 3));
        assert!(next_line(&mut text, &mut line, &mut number).unwrap());
        assert!(!next_line(&mut text, &mut line, &mut number).unwrap());
    }
}
