//! The limit of nesting. It counts brackets outside strings; it expects valid JSON and checks nothing else.

/// How deeply arrays and objects may be nested in a line, including the line's own object: as deeply as serde_json, and
/// therefore most scorers, can parse.
pub const MAX_DEPTH: usize = 127;

/// Where in the valid JSON `text` nesting passes [`MAX_DEPTH`], as a byte offset.
pub(super) fn too_deep(text: &str) -> Option<usize> {
    if count_openings(text.as_bytes()) <= MAX_DEPTH {
        return None;
    }
    let mut depth = 0usize;
    let mut in_string = false;
    let mut bytes = text.bytes().enumerate();
    while let Some((offset, byte)) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => {
                bytes.next();
            }
            b'[' | b'{' if !in_string => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Some(offset);
                }
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// How many bytes open an array or an object, including those in strings. Most lines have so few that the exact count
/// is not needed; this loop runs in vector registers.
fn count_openings(bytes: &[u8]) -> usize {
    // `[` and `{` differ in one bit. A block has at most 255 ones, so that their sum fits into a u8.
    let in_block =
        |block: &[u8]| block.iter().map(|byte| u8::from(byte | 0x20 == b'{')).sum::<u8>();
    bytes.chunks(255).map(|block| usize::from(in_block(block))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(depth: usize) -> String {
        "[".repeat(depth) + &"]".repeat(depth)
    }

    #[test]
    fn the_limit_is_what_serde_json_parses() {
        assert!(serde_json::from_str::<serde_json::Value>(&nested(MAX_DEPTH)).is_ok());
        assert!(serde_json::from_str::<serde_json::Value>(&nested(MAX_DEPTH + 1)).is_err());
        assert_eq!(too_deep(&nested(MAX_DEPTH)), None);
        assert_eq!(too_deep(&nested(MAX_DEPTH + 1)), Some(MAX_DEPTH));
    }

    #[test]
    fn brackets_side_by_side_and_in_strings_are_not_depth() {
        assert_eq!(too_deep(&format!("[{}1]", "[],{},".repeat(500))), None);
        assert_eq!(too_deep(&format!(r#"["\"{}\\", 1]"#, "[{".repeat(500))), None);
        assert_eq!(too_deep(&format!(r#"["\\", {}]"#, nested(MAX_DEPTH))), Some(MAX_DEPTH + 6));
    }

    #[test]
    fn openings_are_counted_across_blocks() {
        assert_eq!(count_openings("[{".repeat(1000).as_bytes()), 2000);
    }
}
