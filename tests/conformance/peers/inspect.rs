//! Inspect: which scorer is which.

use serde_json::json;

use super::{super::trial::Trial, Vector, unknown};

pub fn trial(row: &Vector) -> Trial {
    match row.scorer.as_str() {
        "answer" => row.by("answer", json!({"pattern": row.config["pattern"]})),
        "choice" => row.by("choice", json!({"choices": row.config["choices"]})),
        "exact" => row.by("exact-match", json!({"mode": "words"})),
        "includes" => row.by("contains", json!({"ignoreCase": row.is("ignore_case")})),
        "match" => {
            let location = row.config.get("location").cloned().unwrap_or(json!("end"));
            row.by("match", json!({"location": location, "numeric": row.is("numeric")}))
        }
        "math" => row.by("math", json!({})),
        "pattern" => {
            // Inspect ignores case unless told.
            let ignore_case = row.config.get("ignore_case").is_none() || row.is("ignore_case");
            let config = json!({
                "pattern": row.config["pattern"],
                "ignoreCase": ignore_case,
                "matchAll": row.is("match_all"),
            });
            row.by("regex", config)
        }
        _ => unknown(row),
    }
}
