//! autoevals: which scorer is which.

use serde_json::json;

use super::{super::trial::Trial, Vector, unknown};

pub fn trial(row: &Vector) -> Trial {
    match row.scorer.as_str() {
        "ExactMatch" => row.by("exact-match", json!({"parseJson": true})),
        "Levenshtein" => row.by("levenshtein", json!({})),
        _ => unknown(row),
    }
}
