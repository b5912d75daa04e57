//! autoevals: which scorer is which.

use serde_json::json;

use super::{super::trial::Trial, Vector, unknown};

pub(super) fn trial(row: &Vector) -> Trial {
    match row.scorer.as_str() {
        "ExactMatch" => row.by("exact-match", row.null_in(json!({"parseJson": true}))),
        // `numberScorer` names what it does anyway.
        "JSONDiff" => row.by("json-diff", row.null_in(json!({}))),
        "Levenshtein" => row.by("levenshtein", json!({})),
        // `pairwise` is always `Levenshtein`.
        "ListContains" => {
            row.by("list-contains", json!({"allowExtra": row.config["allowExtraEntities"]}))
        }
        "NumericDiff" => row.by("numeric-diff", json!({})),
        "ValidJSON" => row.by("json-valid", row.schema_in(json!({}))),
        _ => unknown(row),
    }
}
