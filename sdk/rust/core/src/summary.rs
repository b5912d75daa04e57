//! A scorer that also reports on all scores of a run together: the trait that it implements, and what it is given. The
//! code that calls it comes from `export!`.

use serde_json::Value;

use crate::{Meta, Part, Score, ScoreError, Scorer};

/// A scorer that also reports on the run as a whole.
///
/// It is exported with `export!(Name, summary)`. The engine calls it once, after the last case, and
/// stores and shows the answer with the run.
///
/// ```
/// use scorebox_sdk::{
///     Case, ConfigError, Info, JsonSchema, Score, ScoreError, Scored, Scorer, Summarizer, schemars,
///     serde_json,
/// };
/// use serde_json::{Value, json};
///
/// /// Scores 1 if the answer is empty; reports for the run which cases those were.
/// #[derive(serde::Deserialize, JsonSchema)]
/// struct Silence {}
///
/// impl Scorer for Silence {
///     type Config = Self;
///     const INFO: Info = Info::new("silence", "Silence", env!("CARGO_PKG_VERSION"));
///
///     fn new(config: Self) -> Result<Self, ConfigError> {
///         Ok(config)
///     }
///
///     fn score(&self, case: &Case) -> Result<Score, ScoreError> {
///         Ok(Score::pass(case.output().text()?.is_empty()))
///     }
/// }
///
/// impl Summarizer for Silence {
///     fn summarize(&self, scores: &[Scored]) -> Result<Value, ScoreError> {
///         let silent = scores.iter().filter(|scored| scored.score == Some(1.0));
///         Ok(json!({ "silent": silent.map(|scored| &scored.case_id).collect::<Vec<_>>() }))
///     }
/// }
///
/// scorebox_sdk::export!(Silence, summary);
///
/// // In a unit test, on any machine:
/// let scorer: Silence = scorebox_sdk::configure(json!({})).unwrap();
/// let scored = |id: &str, output: &str| {
///     Scored::new(id, scorer.score(&Case::new(json!(output))).unwrap())
/// };
/// let scores = [scored("a", "hello"), scored("b", "")];
/// assert_eq!(scorer.summarize(&scores).unwrap(), json!({ "silent": ["b"] }));
/// ```
pub trait Summarizer: Scorer {
    /// Reports on the run as a whole. It gets the scores in the order of the cases; cases without a score because of an
    /// error are not among them. It runs in its own sandbox: only the scores are available, nothing else that
    /// [`score`](Scorer::score) computed.
    ///
    /// # Errors
    /// A [`ScoreError`] if it cannot report; the user reads its message instead of the summary.
    fn summarize(&self, scores: &[Scored]) -> Result<Value, ScoreError>;
}

/// One score of the run, as this scorer returned it.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The case's id.
    pub case_id: String,
    /// The score; `None` if the scorer did not apply.
    pub score: Option<f64>,
    /// The label, if the score has one.
    pub label: Option<String>,
    /// The meta document as JSON text, parsed only if [`Scored::meta`] is called.
    pub(crate) meta: Option<String>,
}

impl Scored {
    /// For tests: the score of a case, as the engine passes it on.
    #[must_use]
    pub fn new(case_id: impl Into<String>, score: Score) -> Self {
        let Score { score, label, meta, .. } = score;
        let meta = meta.map(Meta::into_json);
        Self { case_id: case_id.into(), score, label, meta }
    }

    /// The meta document, if the score has one.
    #[must_use]
    pub fn meta(&self) -> Option<Part<'_>> {
        self.meta.as_deref().map(|json| Part::new("meta", json))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_score_is_handed_over_with_label_and_meta_and_without_its_reason() {
        let score = Score::new(0.5).label("C").reason("half right").meta(json!({ "right": [1] }));
        let scored = Scored::new("q1", score);
        assert_eq!((scored.case_id.as_str(), scored.score), ("q1", Some(0.5)));
        assert_eq!(scored.label.as_deref(), Some("C"));
        assert_eq!(scored.meta().unwrap().value().unwrap(), json!({ "right": [1] }));
    }

    #[test]
    fn what_a_score_lacks_is_not_there() {
        let scored = Scored::new("q1", Score::new(1.0));
        assert!(scored.label.is_none() && scored.meta().is_none());
    }
}
