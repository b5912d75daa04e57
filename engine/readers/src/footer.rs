//! The footer of a Parquet file, walked before it is read: it says how many elements its lists have, and the reader makes
//! room for as many. Understands the encoding (Thrift's compact protocol), and nothing of what it says.

use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
};

/// The most bytes of a footer: 32 MiB.
const MOST_BYTES: u64 = 32 << 20;
/// Nesting of a footer; Parquet's own has 6.
const MOST_DEPTH: usize = 24;
/// Elements of a list that may be of any size, and the fewest bytes of one in a longer list of structures.
const FEW: usize = 1024;
const STRUCTURE_BYTES: usize = 4;

/// Refuses a Parquet file whose footer is larger than 32 MiB, or claims to hold more than it does.
///
/// # Errors
/// Why, within a sentence about the file.
pub fn check_footer(mut file: &File) -> Result<(), String> {
    let io = |error: std::io::Error| error.to_string();
    let length = file.metadata().map_err(io)?.len();
    if length < 12 {
        return Err("it is empty or cut off".to_owned());
    }
    let mut end = [0; 8];
    file.seek(SeekFrom::Start(length - 8)).map_err(io)?;
    file.read_exact(&mut end).map_err(io)?;
    if end[4..] == *b"PARE" {
        return Err("it is encrypted".to_owned());
    }
    if end[4..] != *b"PAR1" {
        return Err("it is cut off, or not Parquet: the mark at its end is missing".to_owned());
    }
    let bytes = u64::from(u32::from_le_bytes([end[0], end[1], end[2], end[3]]));
    if bytes > length - 12 {
        return Err("its footer is longer than the file".to_owned());
    }
    if bytes > MOST_BYTES {
        return Err(format!(
            "its footer has {bytes} bytes, and {MOST_BYTES} are read: write fewer, larger groups of rows"
        ));
    }
    let mut footer = Vec::new();
    file.seek(SeekFrom::Start(length - 8 - bytes)).map_err(io)?;
    file.take(bytes).read_to_end(&mut footer).map_err(io)?;
    file.rewind().map_err(io)?;
    let mut walk = Walk { rest: &footer };
    walk.structure(0).ok_or_else(|| "its footer is damaged".to_owned())
}

/// Bytes that are walked.
struct Walk<'a> {
    rest: &'a [u8],
}

impl Walk<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.rest = self.rest.get(bytes..)?;
        Some(())
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn structure(&mut self, depth: usize) -> Option<()> {
        if depth > MOST_DEPTH {
            return None;
        }
        loop {
            let header = self.byte()?;
            if header == 0 {
                return Some(());
            }
            if header >> 4 == 0 {
                self.number()?;
            }
            match header & 0xf {
                // A field's truth is in its header.
                1 | 2 => {}
                kind => self.value(kind, depth)?,
            }
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            1..=3 => self.skip(1),
            4..=6 => self.number().map(drop),
            7 => self.skip(8),
            8 => {
                let length = usize::try_from(self.number()?).ok()?;
                self.skip(length)
            }
            9 | 10 => self.list(depth),
            12 => self.structure(depth + 1),
            13 => self.skip(16),
            _ => None,
        }
    }

    fn list(&mut self, depth: usize) -> Option<()> {
        if depth > MOST_DEPTH {
            return None;
        }
        let header = self.byte()?;
        let (count, kind) = (header >> 4, header & 0xf);
        let count = match count {
            15 => usize::try_from(self.number()?).ok()?,
            count => count.into(),
        };
        let least = if kind == 12 && count > FEW { STRUCTURE_BYTES } else { 1 };
        if count.checked_mul(least)? > self.rest.len() {
            return None;
        }
        (0..count).try_for_each(|_| self.value(kind, depth + 1))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn said_of(footer: &[u8]) -> Result<(), String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"PAR1").unwrap();
        file.write_all(footer).unwrap();
        file.write_all(&u32::try_from(footer.len()).unwrap().to_le_bytes()).unwrap();
        file.write_all(b"PAR1").unwrap();
        check_footer(&file)
    }

    #[test]
    fn a_list_that_claims_more_elements_than_there_are_bytes_is_refused() {
        // A field 2 with a list of structures, of 2^31 - 1 elements.
        let claims = [0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0, 0, 0, 0];
        assert_eq!(said_of(&claims).unwrap_err(), "its footer is damaged");
        // Three empty structures, and the end.
        assert_eq!(said_of(&[0x29, 0x3c, 0, 0, 0, 0]), Ok(()));
    }

    #[test]
    fn what_nests_without_end_is_refused() {
        assert_eq!(said_of(&[0x1c; 100_000]).unwrap_err(), "its footer is damaged");
        assert_eq!(said_of(&[0x19; 100_000]).unwrap_err(), "its footer is damaged");
    }

    #[test]
    fn a_file_that_is_cut_off_is_refused_in_words() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"PAR1 and a part of the rows").unwrap();
        let said = check_footer(&file).unwrap_err();
        assert_eq!(said, "it is cut off, or not Parquet: the mark at its end is missing");
    }
}
