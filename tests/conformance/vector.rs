//! A row of a peer: what its scorer was given, and what it answered. It knows no scorer of scorebox.

use std::{fs, path::PathBuf};

use serde::{Deserialize, Deserializer};
use serde_json::{Value, value::RawValue};

/// Scores that are this near to each other are equal, where the peer says nothing else.
const TOLERANCE: f64 = 1e-6;

/// One row.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Vector {
    /// What the peer calls its scorer.
    pub scorer: String,
    /// As it is written: the order of keys may matter.
    pub output: Box<RawValue>,
    #[serde(default, deserialize_with = "present")]
    pub ground_truth: Option<Box<RawValue>>,
    /// In the peer's words.
    #[serde(default)]
    pub config: Value,
    pub latency_ms: Option<f64>,
    /// The peer's score, if it gave one.
    expected: Option<f64>,
    /// Where only a range of its score is known.
    expected_range: Option<[f64; 2]>,
    /// The peer ends with an error.
    #[serde(default)]
    throws: bool,
    tolerance: Option<f64>,
    /// Where the row is from.
    #[serde(rename = "source")]
    _source: String,
}

/// A value that is there, also if it is `null`.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Box<RawValue>>, D::Error> {
    <Box<RawValue>>::deserialize(value).map(Some)
}

/// What a peer answered.
#[derive(Clone, Copy)]
pub(super) enum Expected {
    Score {
        score: f64,
        tolerance: f64,
    },
    Range {
        least: f64,
        most: f64,
    },
    /// None: it fails, or says that it cannot judge the case.
    NoScore,
}

impl Vector {
    pub(super) fn expected(&self) -> Expected {
        match (self.expected, self.expected_range) {
            (Some(score), None) if !self.throws => {
                Expected::Score { score, tolerance: self.tolerance.unwrap_or(TOLERANCE) }
            }
            (None, Some([least, most])) if !self.throws => Expected::Range { least, most },
            (None, None) => Expected::NoScore,
            _ => panic!("a row of {} expects two things", self.scorer),
        }
    }
}

/// The path of a file of `data/`.
fn path(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance/data").join(file)
}

/// The rows of a file, in order.
pub(super) fn read(file: &str) -> Vec<Vector> {
    let bytes = fs::read(path(file)).unwrap();
    let bytes = if file.ends_with(".zst") { zstd::decode_all(&bytes[..]).unwrap() } else { bytes };
    let text = String::from_utf8(bytes).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A file that is one JSON document.
pub(super) fn document(file: &str) -> Value {
    serde_json::from_slice(&fs::read(path(file)).unwrap()).unwrap()
}
