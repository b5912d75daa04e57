//! The seed of sampling as it is typed. Draws nothing.

/// A seed, or why the text is not one. An empty one would sample the same cases in runs that were each to have their own.
pub(crate) fn seed(written: &str) -> Result<String, String> {
    match written {
        "" => Err("a seed has at least one character; an empty one often comes from a variable without a value: set it, or leave the option out".to_owned()),
        written => Ok(written.to_owned()),
    }
}
