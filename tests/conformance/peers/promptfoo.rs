//! promptfoo: which assertion is which scorer. What it calls `value` is the ground truth where that can
//! say the same, so that rows share a configuration.

use serde_json::{Map, Value, json};

use super::{super::trial::Trial, Vector, unknown};

pub(super) fn trial(row: &Vector) -> Trial {
    let mut trial = match row.scorer.as_str() {
        "bleu" => row.by("bleu", json!({"ignoreCase": true})),
        "bleu-pass" => Trial {
            threshold: row.config["threshold"].as_f64(),
            ..row.by("bleu", json!({"ignoreCase": true}))
        },
        "contains" => contains(row, json!({})),
        "icontains" => contains(row, json!({"ignoreCase": true})),
        "contains-any" => contains(row, json!({"mode": "any"})),
        "icontains-any" => contains(row, json!({"mode": "any", "ignoreCase": true})),
        "contains-all" => contains(row, json!({"mode": "all"})),
        "icontains-all" => contains(row, json!({"mode": "all", "ignoreCase": true})),
        "starts-with" => contains(row, json!({"at": "start"})),
        "contains-json" => row.by("contains-json", row.schema_in(json!({"formats": true}))),
        "equals" => equals(row),
        "gleu" => row.by("gleu", json!({"ignoreCase": true, "ignoreFullStops": true})),
        "is-json" => row.by("json-valid", row.schema_in(json!({"formats": true, "scalars": true}))),
        "latency" => {
            let most = &row.config["threshold"];
            row.by("latency", json!({"targetMs": most, "maxMs": most}))
        }
        "levenshtein" => row
            .by("levenshtein", json!({"maxDistance": row.config["threshold"]}))
            .against(&row.config["value"]),
        "regex" => row.by("regex", json!({"pattern": row.config["value"]})),
        "word-count" => word_count(row),
        _ => unknown(row),
    };
    if row.is("inverse") {
        trial.config["negate"] = json!(true);
    }
    trial
}

/// A value of `null` stands in the configuration: as a ground truth it counts as none.
fn equals(row: &Vector) -> Trial {
    match row.config.get("value") {
        Some(Value::Null) => row.by("equals", json!({"values": [null]})),
        value => row.by("equals", json!({})).against(value.unwrap_or(&Value::Null)),
    }
}

/// The family of `contains`. For several texts, one text with commas is a list of them.
fn contains(row: &Vector, mut config: Value) -> Trial {
    let value = &row.config["value"];
    if config.get("mode").is_some() && value.is_string() {
        config["values"] = value.clone();
        return row.by("contains", config);
    }
    row.by("contains", config).against(value)
}

/// A number of words, or the least and the most.
fn word_count(row: &Vector) -> Trial {
    let mut config = match &row.config["value"] {
        Value::Object(range) => range.clone(),
        count => Map::from_iter(["min", "max"].map(|key| (key.to_owned(), count.clone()))),
    };
    config.insert("outside".to_owned(), json!("zero"));
    row.by("length", Value::Object(config))
}
