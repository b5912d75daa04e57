//! Checks the footer of a Parquet file before it is read: it states how many elements its lists have, and the reader
//! allocates memory for that many. Does not interpret the content.

use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
};

use crate::thrift::Walk;

/// The most bytes of a footer: 32 MiB.
const MAX_BYTES: u64 = 32 << 20;

/// Refuses a Parquet file whose footer is larger than 32 MiB, or claims to hold more than it does.
///
/// # Errors
/// The reason, as a part of a sentence about the file.
pub(crate) fn check_footer(mut file: &File) -> Result<(), String> {
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
    if bytes > MAX_BYTES {
        return Err(format!(
            "its footer has {bytes} bytes, and {MAX_BYTES} are read: write fewer, larger groups of rows"
        ));
    }
    let mut footer = Vec::new();
    file.seek(SeekFrom::Start(length - 8 - bytes)).map_err(io)?;
    file.take(bytes).read_to_end(&mut footer).map_err(io)?;
    file.rewind().map_err(io)?;
    Walk::of(&footer).structure(|_, _| {}).ok_or_else(|| "its footer is damaged".to_owned())
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
        // Field 2 contains a list of structures with 2^31 - 1 elements.
        let claims = [0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0, 0, 0, 0];
        assert_eq!(said_of(&claims).unwrap_err(), "its footer is damaged");
        // Three empty structures, and the end of the footer.
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
