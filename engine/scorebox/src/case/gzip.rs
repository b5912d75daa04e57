//! Decompresses gzip data, member by member. It distinguishes a missing end from data after the end.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// The first byte of a member.
const FIRST_BYTE: u8 = 0x1f;

/// The content of all members of gzip data: reading it returns what was compressed, and an error if the end is missing
/// or something follows it.
#[derive(Debug)]
pub struct Gzip<R> {
    /// `None` after the last member.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Gzip<R> {
    /// Starts with the compressed bytes.
    pub fn new(compressed: R) -> Gzip<R> {
        Gzip { member: Some(GzDecoder::new(compressed)) }
    }
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let count = member.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let Some(mut rest) = self.member.take().map(GzDecoder::into_inner) else { break };
            match rest.fill_buf()?.first() {
                None => break,
                Some(&FIRST_BYTE) => self.member = Some(GzDecoder::new(rest)),
                Some(_) => {
                    let why = "there is something behind the end of the gzip data";
                    return Err(io::Error::new(io::ErrorKind::InvalidData, why));
                }
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn member(text: &str) -> Vec<u8> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        gzip.finish().unwrap()
    }

    fn read(compressed: &[u8]) -> (String, Option<io::Error>) {
        let mut text = Vec::new();
        let ended = Gzip::new(compressed).read_to_end(&mut text);
        (String::from_utf8(text).unwrap(), ended.err())
    }

    #[test]
    fn members_are_one_text() {
        let (text, error) = read(&[member("one "), member(""), member("two")].concat());
        assert_eq!((text.as_str(), error.is_none()), ("one two", true));
    }

    #[test]
    fn an_end_that_is_missing_is_something_else_than_bytes_behind_it() {
        let whole = member("text");
        let (_, error) = read(&whole[..whole.len() - 1]);
        assert_eq!(error.unwrap().kind(), io::ErrorKind::UnexpectedEof);
        for behind in ["x", "a whole line behind the end\n"] {
            let (text, error) = read(&[&whole, behind.as_bytes()].concat());
            assert_eq!(text, "text");
            assert_eq!(
                error.unwrap().to_string(),
                "there is something behind the end of the gzip data"
            );
        }
    }
}
