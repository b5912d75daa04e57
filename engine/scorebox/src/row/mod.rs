//! The one shape of a row: a scorer's answer about a case, and what that cost. It stores nothing, scores nothing, and
//! knows neither SQL nor a sandbox.
//!
//! - `answer`: a scorer's answer, and what it cost.
//! - `json`: JSON that is kept as its original text.
//! - here: a row, which is an answer with the names of its case and its scorer.
//!
//! As JSON, the keys are in camelCase, and JSON from a scorer is nested. A key without a value is omitted, except
//! `score` and `fuel`, which are `null` in that case. `docs/rows.md` lists the keys.

mod answer;
mod json;

use serde::Serialize;

use crate::digest::Digest;

pub use answer::{Answer, AnswerError, ScorerAnswer, Status, milliseconds};
pub use json::Json;

/// One scorer's answer about one case, with the names of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Row {
    /// The case's own id.
    pub case_id: String,
    /// The task that the case belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<String>,
    /// The task's iteration.
    pub iteration: u32,
    /// The task's attempt.
    pub attempt: u32,
    /// The suite's key for the scorer.
    pub scorer_id: String,
    /// Its answer, and what that cost.
    #[serde(flatten)]
    pub answer: Answer,
    /// The digest of the component.
    pub scorer_digest: Digest,
    /// The digest of its configuration.
    pub config_digest: Digest,
    /// The digest of the scorer's input; `None` if nothing ran, or if an older scorebox wrote the row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_digest: Option<Digest>,
    /// When it was scored, in milliseconds since 1970 UTC.
    pub scored_at_ms: i64,
}

impl Row {
    /// Its approximate size in memory, in bytes.
    pub fn bytes(&self) -> usize {
        let node = self.node_id.as_ref().map_or(0, String::len);
        let names = self.case_id.len() + self.scorer_id.len() + node;
        size_of::<Row>() + names + self.answer.text_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::ScoreCall;

    fn row(answer: Answer) -> Row {
        Row {
            case_id: "q1".into(),
            node_id: None,
            iteration: 0,
            attempt: 1,
            scorer_id: "same".into(),
            answer,
            scorer_digest: Digest::of(b"component"),
            config_digest: Digest::of(b"{}"),
            input_digest: None,
            scored_at_ms: 1_700_000_000_000,
        }
    }

    fn keys(value: &impl Serialize) -> Vec<String> {
        serde_json::to_value(value).unwrap().as_object().unwrap().keys().cloned().collect()
    }

    #[test]
    fn a_time_is_written_to_the_nanosecond_and_no_further() {
        for (nanoseconds, written) in
            [(399_026, "0.399026"), (1, "1e-6"), (60_000_000_007, "60000.000007")]
        {
            let time = milliseconds(std::time::Duration::from_nanos(nanoseconds));
            assert_eq!(serde_json::to_string(&time).unwrap(), written);
        }
    }

    #[test]
    fn a_key_without_a_value_is_left_out_but_for_score_and_fuel() {
        let empty = row(Answer::new(Status::Skipped));
        let mut expected = vec![
            "caseId",
            "iteration",
            "attempt",
            "scorerId",
            "status",
            "score",
            "fuel",
            "scorerDigest",
            "configDigest",
            "scoredAtMs",
        ];
        expected.sort_unstable();
        let mut found = keys(&empty);
        found.sort_unstable();
        assert_eq!(found, expected);
        let json = serde_json::to_value(&empty).unwrap();
        assert!(json["score"].is_null() && json["fuel"].is_null());
    }

    #[test]
    fn the_answer_of_a_row_has_the_keys_that_it_has_alone() {
        let answer = Answer {
            score: Some(1.0),
            label: Some("a".into()),
            reason: Some("b".into()),
            meta: Some(Json::from("{\"a\":1e400}".to_owned())),
            assertions: Some(Json::from("[]".to_owned())),
            error: Some(AnswerError::new("trap", "c")),
            fuel: Some(u64::MAX),
            memory_bytes: Some(1),
            duration_ms: Some(0.5),
            log: Some(Json::from("[]".to_owned())),
            calls: vec![ScoreCall::new(Digest::of(b"call"), Digest::of(b"reply"), true)],
            ..Answer::new(Status::Scored)
        };
        let alone = ScorerAnswer { scorer_id: "same", answer: &answer };
        let text = serde_json::to_string(&alone).unwrap();
        let body = text.trim_start_matches(r#"{"scorerId":"same","#).trim_end_matches('}');
        let in_a_row = serde_json::to_string(&row(answer.clone())).unwrap();
        assert!(in_a_row.contains(body), "{body}\n{in_a_row}");
        assert!(body.contains(r#""meta":{"a":1e400},"assertions":[],"#), "{body}");
    }
}
