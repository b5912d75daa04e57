//! The table of rows where scorebox differs on purpose. It judges no reason.

use std::{collections::BTreeSet, fs, path::Path};

use serde::Deserialize;

use super::{peers, vector};

/// Some rows of a file with the same reason.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Difference {
    /// The file in `data/`.
    pub file: String,
    /// Line numbers, from 1.
    pub rows: Vec<usize>,
    /// What scorebox answers to all of them, as `Answer` prints it.
    pub ours: String,
    /// Why, for a person.
    pub reason: String,
}

impl Difference {
    pub(super) fn is_of(&self, file: &str, row: usize) -> bool {
        self.file == file && self.rows.contains(&row)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    difference: Vec<Difference>,
}

/// All of them, in the order of the file.
pub(super) fn all() -> Vec<Difference> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance/differences.toml");
    toml::from_str::<Table>(&fs::read_to_string(path).unwrap()).unwrap().difference
}

/// What is listed, but not there; and what is listed twice.
pub(super) fn strays() -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut strays = Vec::new();
    for Difference { file, rows, .. } in all() {
        let known = peers::ALL.iter().any(|peer| peer.files.contains(&file.as_str()));
        let count = if known { vector::read(&file).len() } else { 0 };
        for row in rows {
            if !(1..=count).contains(&row) {
                strays.push(format!("{file} has no row {row}"));
            }
            if !seen.insert((file.clone(), row)) {
                strays.push(format!("row {row} of {file} is listed twice"));
            }
        }
    }
    strays
}
