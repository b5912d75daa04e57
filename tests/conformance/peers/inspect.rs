//! Inspect: which scorer is which.

use serde_json::json;

use super::{super::trial::Trial, Vector, unknown};

pub(super) fn trial(row: &Vector) -> Trial {
    match row.scorer.as_str() {
        "answer" => row.by("answer", json!({"pattern": row.config["pattern"]})),
        "choice" => row.by("choice", json!({"choices": row.config["choices"]})),
        "exact" => row.by("exact-match", json!({"mode": "words"})),
        "f1" => f1(row),
        "includes" => row.by("contains", json!({"ignoreCase": row.is("ignore_case")})),
        "match" => {
            let location = row.config.get("location").cloned().unwrap_or(json!("end"));
            row.by("match", json!({"location": location, "numeric": row.is("numeric")}))
        }
        "math" => row.by("math", json!({})),
        "pattern" => {
            // Inspect ignores case unless configured.
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

/// The scorer `f1`, which rounds, or the function behind it, which does not (those rows say which words
/// count: `multiset`).
fn f1(row: &Vector) -> Trial {
    if row.config.get("multiset").is_some() {
        return row.by("token-f1", json!({}));
    }
    let config = match row.config.get("stop_words") {
        Some(words) => json!({"stopWords": words}),
        None => json!({}),
    };
    Trial { decimals: Some(2), ..row.by("token-f1", config) }
}
