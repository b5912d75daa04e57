//! The answer in a receipt: a format that is stored, in files that anyone may have. It compares nothing.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::row::{Answer, AnswerError, Json, Status};

/// The answer and cost of a score, in the format of receipts since version 1.
///
/// Unlike a row's JSON it has every key, `null` if there is no value, and the error in two keys; it does not have the
/// time that the score took, which does not repeat.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct ReceiptAnswer {
    /// The outcome.
    pub status: Status,
    /// Set in scored answers only.
    #[serde(default, deserialize_with = "exact")]
    pub score: Option<f64>,
    /// A category that goes with it.
    #[serde(default)]
    pub label: Option<String>,
    /// Why, for a person.
    #[serde(default)]
    pub reason: Option<String>,
    /// The scorer's own JSON.
    #[serde(default)]
    pub meta: Option<Box<RawValue>>,
    /// The checks that the score consists of.
    #[serde(default)]
    pub assertions: Option<Box<RawValue>>,
    /// What the scorer logged.
    #[serde(default)]
    pub log: Option<Box<RawValue>>,
    /// The engine's word for the error.
    #[serde(default)]
    pub error_kind: Option<String>,
    /// What happened.
    #[serde(default)]
    pub error_message: Option<String>,
    /// The Wasm fuel that it used, if known.
    #[serde(default)]
    pub fuel: Option<u64>,
    /// The sandbox's peak memory, in bytes.
    #[serde(default)]
    pub memory_bytes: Option<u64>,
}

/// serde_json's default parsing of numbers may be wrong in the last bit.
fn exact<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let written = Option::<Box<RawValue>>::deserialize(deserializer)?;
    let Some(written) = written.filter(|written| written.get() != "null") else { return Ok(None) };
    written.get().parse().map(Some).map_err(serde::de::Error::custom)
}

impl From<Answer> for ReceiptAnswer {
    /// The answer of a row; JSON that is not valid is left out, because no receipt can contain it.
    fn from(answer: Answer) -> ReceiptAnswer {
        let raw = |json: Option<Json>| json.and_then(|json| json.raw().ok().map(ToOwned::to_owned));
        let (error_kind, error_message) =
            answer.error.map(|error| (error.kind, error.message)).unzip();
        ReceiptAnswer {
            status: answer.status,
            score: answer.score,
            label: answer.label,
            reason: answer.reason,
            meta: raw(answer.meta),
            assertions: raw(answer.assertions),
            log: raw(answer.log),
            error_kind,
            error_message,
            fuel: answer.fuel,
            memory_bytes: answer.memory_bytes,
        }
    }
}

impl From<&ReceiptAnswer> for Answer {
    fn from(receipt: &ReceiptAnswer) -> Answer {
        let json = |raw: &Option<Box<RawValue>>| raw.as_deref().map(Json::from);
        let error = match (&receipt.error_kind, &receipt.error_message) {
            (None, None) => None,
            // No scorebox writes half an error, and no computed answer has one.
            (kind, message) => Some(AnswerError::new(
                kind.as_deref().unwrap_or_default(),
                message.as_deref().unwrap_or_default(),
            )),
        };
        Answer {
            score: receipt.score,
            label: receipt.label.clone(),
            reason: receipt.reason.clone(),
            meta: json(&receipt.meta),
            assertions: json(&receipt.assertions),
            error,
            fuel: receipt.fuel,
            memory_bytes: receipt.memory_bytes,
            log: json(&receipt.log),
            ..Answer::new(receipt.status)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As scorebox 0.1.0 wrote it, with terminal control characters as escapes.
    const OF_VERSION_1: &str = r#"{"status":"error","score":null,"label":null,"reason":null,
        "meta":{"say": "\u202e"},"assertions":null,"log":[{"level":"warn","message":"odd"}],
        "errorKind":"trap","errorMessage":"unreachable","fuel":3,"memoryBytes":4}"#;

    #[test]
    fn an_old_receipt_is_read_and_written_key_by_key() {
        let receipt: ReceiptAnswer = serde_json::from_str(OF_VERSION_1).unwrap();
        let answer = Answer::from(&receipt);
        let meta = answer.meta.clone().unwrap();
        assert!(meta.is_same_document_as(&Json::from("{\"say\":\"\u{202e}\"}".to_owned())));
        assert_eq!(answer.error, Some(AnswerError::new("trap", "unreachable")));
        assert_eq!(answer.log().unwrap()[0].message, "odd");
        let written = serde_json::to_string(&ReceiptAnswer::from(answer)).unwrap();
        let document = |text: &str| Json::from(text.to_owned());
        assert!(document(&written).is_same_document_as(&document(OF_VERSION_1)), "{written}");
    }

    #[test]
    fn a_score_is_read_back_to_the_bit() {
        for score in [0.1 + 0.2, 1.0 / 3.0, f64::MIN_POSITIVE, 5e-324, 0.49999999999999994] {
            let answer = Answer { score: Some(score), ..Answer::new(Status::Scored) };
            let written = serde_json::to_string(&ReceiptAnswer::from(answer)).unwrap();
            let read: ReceiptAnswer = serde_json::from_str(&written).unwrap();
            assert_eq!(read.score.map(f64::to_bits), Some(score.to_bits()));
        }
    }
}
