//! Compresses the components of a gallery with zstd, against a dictionary of what they have in common. It does not
//! choose the dictionary and reads no files; `build` does.

/// The compression level: zstd's level for files that are written once.
#[cfg(feature = "build")]
const COMPRESSION_LEVEL: i32 = 19;

/// Compresses `bytes` against a dictionary, which may be empty.
///
/// # Errors
/// An error of zstd.
#[cfg(feature = "build")]
pub(crate) fn pack(bytes: &[u8], dictionary: &[u8]) -> std::io::Result<Vec<u8>> {
    zstd::bulk::Compressor::with_dictionary(COMPRESSION_LEVEL, dictionary)?.compress(bytes)
}

/// Unpacks what [`pack`] compressed against this dictionary; `None` if it is anything else, or is not `bytes` long.
pub(crate) fn unpack(packed: &[u8], dictionary: &[u8], bytes: u64) -> Option<Vec<u8>> {
    let most = usize::try_from(bytes).ok()?;
    let mut decompressor = zstd::bulk::Decompressor::with_dictionary(dictionary).ok()?;
    decompressor.decompress(packed, most).ok().filter(|unpacked| unpacked.len() == most)
}

#[cfg(all(test, feature = "build"))]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_is_unpacked_only_with_the_same_dictionary_and_length() {
        let dictionary: Vec<u8> = (0..4000_u32).flat_map(u32::to_le_bytes).collect();
        let component = [&dictionary[..9000], b"its own"].concat();
        let packed = pack(&component, &dictionary).unwrap();
        assert!(packed.len() < 100, "{}", packed.len());
        let bytes = component.len() as u64;
        assert_eq!(unpack(&packed, &dictionary, bytes).unwrap(), component);
        assert_eq!(unpack(&packed, &dictionary, bytes - 1), None);
        assert_eq!(unpack(&packed, &dictionary, bytes + 1), None);
        assert_ne!(unpack(&packed, b"", bytes), Some(component.clone()));
        assert_eq!(unpack(&packed[..packed.len() - 1], &dictionary, bytes), None);
        let plain = pack(&component, b"").unwrap();
        assert_eq!(unpack(&plain, b"", bytes).unwrap(), component);
    }
}
