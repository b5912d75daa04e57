//! rouge-score, sacrebleu and NLTK: metrics of similarity between texts.

use serde_json::json;

use super::{super::trial::Trial, Vector, unknown};

pub(super) fn rouge_score(row: &Vector) -> Trial {
    let variant = match row.scorer.as_str() {
        "rouge1" => "1",
        "rouge2" => "2",
        "rougeL" => "L",
        _ => unknown(row),
    };
    let stemmer = if row.config["use_stemmer"] == true { "porter" } else { "none" };
    row.by("rouge", json!({"variant": variant, "stemmer": stemmer}))
}

/// Divided by 100, with the defaults of its sentence scores.
pub(super) fn sacrebleu(row: &Vector) -> Trial {
    match row.scorer.as_str() {
        "bleu" => row.by("bleu", json!({})),
        "chrf" => row.by("chrf", json!({})),
        _ => unknown(row),
    }
}

pub(super) fn nltk(row: &Vector) -> Trial {
    match row.scorer.as_str() {
        "gleu" => row.by("gleu", json!({})),
        _ => unknown(row),
    }
}
