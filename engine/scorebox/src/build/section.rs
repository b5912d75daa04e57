//! WebAssembly sections as bytes. It does not interpret sections.

/// Adds a section.
pub(super) fn push_section(module: &mut Vec<u8>, id: u8, content: &[u8]) {
    module.push(id);
    push_length(module, content.len());
    module.extend_from_slice(content);
}

/// Adds a length as unsigned LEB128.
pub(super) fn push_length(bytes: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        bytes.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
}
