//! rapidfuzz: its normalized similarity.

use serde_json::json;

use super::{super::trial::Trial, Vector, unknown};

pub(super) fn trial(row: &Vector) -> Trial {
    match row.scorer.as_str() {
        "levenshtein" => row.by("levenshtein", json!({})),
        _ => unknown(row),
    }
}
