//! label-distribution: how the labels of a run's cases are distributed, reported once at the end of the run. It judges
//! no output, and does not ask whether a label is right.
//!
//! fraction = cases with the label / cases with any label
//! skew     = largest fraction - smallest fraction, 0 if there is no label
//!
//! The formulas are those of Orbiter's `label_distribution`. This is not the skewness of statistics.

mod distribution;

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Part, Score, ScoreError, Scored, Scorer,
    Summarizer, excerpt, schemars,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// The longest label that a score can have, in bytes; a longer one is cut there, but complete in `meta`.
const LABEL_BYTES: usize = 200;

/// Reports how the labels of a run's cases are distributed: which labels there are, how frequent
/// each is, and how skewed they are.
///
/// A case's label is the string, number or boolean at `labelKey` in its input or, failing that, in
/// its metadata. A case gets no score, only its label. The result is the summary at the end of the
/// run: `labels` (sorted), `fractions` (in the same order), `counts` and `skew`, the largest
/// fraction minus the smallest, which is 0 if all labels are equally frequent. Cases without a
/// label are left out of these; `unlabelled` counts them, if there are any.
///
/// Equals Orbiter's `label_distribution`. Deliberate differences: a case has no score, where
/// Orbiter gives it a 0 that means nothing, and the metadata is searched too.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LabelDistribution {
    /// The key of the label; not empty.
    #[serde(default = "default_label_key")]
    label_key: String,
}

fn default_label_key() -> String {
    "label".to_owned()
}

impl Scorer for LabelDistribution {
    type Config = Self;

    const INFO: Info =
        Info::new("label-distribution", "Label Distribution", env!("CARGO_PKG_VERSION"))
            .reads(Fields::INPUT.and(Fields::METADATA));

    fn new(config: Self) -> Result<Self, ConfigError> {
        if config.label_key.is_empty() {
            return Err(ConfigError::new("labelKey", "is empty; give the key of the label"));
        }
        Ok(config)
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        for part in [case.input(), case.metadata()].into_iter().flatten() {
            if let Some(label) = self.label_in(&part)? {
                let text = distribution::text(&label);
                let cut = match text.len() {
                    0..=LABEL_BYTES => text,
                    // A character takes at most four bytes.
                    _ => excerpt(&text, LABEL_BYTES / 4 - 1).into_owned(),
                };
                let reason = format!("the label is {}", excerpt(&label.to_string(), 80));
                return Ok(Score::not_applicable(reason)
                    .label(cut)
                    .meta(json!({ "label": label })));
            }
        }
        let key = excerpt(&self.label_key, 80);
        let reason = format!("no label: neither `input` nor `metadata` has `{key}`");
        Ok(Score::not_applicable(reason).meta(json!({ "label": null })))
    }
}

impl LabelDistribution {
    /// The label in a part of a case, if there is one; `null` does not count.
    fn label_in(&self, part: &Part<'_>) -> Result<Option<Value>, ScoreError> {
        if part.kind() != "an object" {
            return Ok(None);
        }
        let mut value = part.value()?;
        let kind = match value.get_mut(&self.label_key).map(Value::take) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Array(_)) => "an array",
            Some(Value::Object(_)) => "an object",
            Some(label) => return Ok(Some(label)),
        };
        let place = format!("{}.{}", part.name(), self.label_key);
        Err(ScoreError::invalid_input(format!(
            "`{}` should be a label (a string, a number or a boolean), found {kind}",
            excerpt(&place, 80)
        )))
    }
}

impl Summarizer for LabelDistribution {
    fn summarize(&self, scores: &[Scored]) -> Result<Value, ScoreError> {
        distribution::summarize(scores)
    }
}

scorebox_sdk::export!(LabelDistribution, summary);

#[cfg(test)]
mod tests;
