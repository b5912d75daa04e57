//! A place in one of the files of a script. It knows no files.

/// A place in one of the files.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The file's name.
    pub(crate) file: String,
    /// Its line, from 1.
    pub(crate) line: usize,
    /// Its column, from 1.
    pub(crate) column: usize,
}

impl Place {
    /// The place at a byte offset in the text of a file.
    pub(crate) fn at(file: &str, text: &str, at: usize) -> Option<Place> {
        let before = text.get(..at)?;
        Some(Place {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1,
        })
    }
}
