//! Parses the seed of sampling as the user types it. It samples nothing.

/// A seed, or why the text is not valid. An empty seed, as from an unset variable, would sample the same cases in all
/// runs.
pub(crate) fn seed(written: &str) -> Result<String, String> {
    match written {
        "" => Err("a seed has at least one character; an empty one often comes from a variable without a value: set it, or leave the option out".to_owned()),
        written => Ok(written.to_owned()),
    }
}
