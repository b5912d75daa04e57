//! What a score said and cost, as it is stored and as it is computed, and how two of them differ.
//! Computes nothing.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::{
    contract::LogLine,
    sandbox::{ErrorKind, Outcome, Summary, cut},
    store::{ScoreRecord, Status, SummaryRecord},
    terminal::printable_json,
};

/// Bytes of each side of a difference that are told.
const SHOWN_BYTES: usize = 200;

/// What a score said and cost. JSON is kept as the bytes that it was.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Answer {
    /// What came of it.
    pub status: Status,
    /// In every scored answer and in no other.
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
    /// The checks that the score is made of.
    #[serde(default)]
    pub assertions: Option<Box<RawValue>>,
    /// What the scorer logged.
    #[serde(default)]
    pub log: Option<Box<RawValue>>,
    /// The engine's word for what went wrong.
    #[serde(default)]
    pub error_kind: Option<String>,
    /// What the user is told of it.
    #[serde(default)]
    pub error_message: Option<String>,
    /// Wasm fuel that it used, where that is known.
    #[serde(default)]
    pub fuel: Option<u64>,
    /// The sandbox's peak memory, in bytes.
    #[serde(default)]
    pub memory_bytes: Option<u64>,
}

/// serde_json's own reading of numbers may be off by the last bit.
fn exact<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let written = Option::<Box<RawValue>>::deserialize(deserializer)?;
    let Some(written) = written.filter(|written| written.get() != "null") else { return Ok(None) };
    written.get().parse().map(Some).map_err(serde::de::Error::custom)
}

/// Something that is not as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// What: `score`, `reason`, `component` …
    pub what: String,
    /// What is stored, cut to 200 bytes; none where nothing is.
    pub stored: Option<String>,
    /// What was found instead, cut likewise; none where it is absent.
    pub computed: Option<String>,
}

impl Difference {
    pub(super) fn new(
        what: impl Into<String>,
        stored: impl Into<String>,
        computed: impl Into<String>,
    ) -> Difference {
        Difference::of(what, Some(stored.into()), Some(computed.into()))
    }

    pub(super) fn of(
        what: impl Into<String>,
        stored: Option<String>,
        computed: Option<String>,
    ) -> Difference {
        let shown = |text: Option<String>| text.map(|text| cut(&text, SHOWN_BYTES));
        Difference { what: what.into(), stored: shown(stored), computed: shown(computed) }
    }
}

impl Answer {
    /// The answer that is stored in a row; the reason why not where its JSON is none.
    pub(super) fn stored(record: &ScoreRecord) -> Result<Answer, String> {
        Ok(Answer {
            status: record.status,
            score: record.score,
            label: record.label.clone(),
            reason: record.reason.clone(),
            meta: stored_json("meta", &record.meta_json)?,
            assertions: stored_json("assertions", &record.assertions_json)?,
            log: stored_json("log", &record.log_json)?,
            error_kind: record.error_kind.clone(),
            error_message: record.error_message.clone(),
            fuel: record.fuel,
            memory_bytes: record.memory_bytes,
        })
    }

    /// What a scorer said of a run, as it is stored: its JSON stands as meta.
    pub(super) fn stored_summary(record: &SummaryRecord) -> Result<Answer, String> {
        Ok(Answer {
            status: if record.error_kind.is_some() { Status::Error } else { Status::NotApplicable },
            meta: stored_json("summary", &record.summary_json)?,
            log: stored_json("log", &record.log_json)?,
            error_kind: record.error_kind.clone(),
            error_message: record.error_message.clone(),
            fuel: record.fuel,
            ..Answer::none()
        })
    }

    /// What a scorer said of a run, as it was computed.
    pub(super) fn computed_summary(summary: Summary) -> Answer {
        let mut answer =
            Answer { log: raw_list(&summary.log), fuel: summary.fuel, ..Answer::none() };
        match summary.result {
            Err(error) => {
                answer.error_kind = Some(error.kind.as_str().to_owned());
                answer.error_message = Some(error.message);
            }
            Ok(json) => {
                answer.status = Status::NotApplicable;
                answer.meta = RawValue::from_string(json).ok();
            }
        }
        answer
    }

    /// An error that says nothing.
    fn none() -> Answer {
        Answer {
            status: Status::Error,
            score: None,
            label: None,
            reason: None,
            meta: None,
            assertions: None,
            log: None,
            error_kind: None,
            error_message: None,
            fuel: None,
            memory_bytes: None,
        }
    }

    /// The answer that was computed.
    pub(super) fn computed(outcome: Outcome) -> Answer {
        let log: &[LogLine] = &outcome.log;
        let mut answer = Answer {
            log: raw_list(log),
            fuel: outcome.fuel,
            memory_bytes: Some(outcome.memory_bytes),
            ..Answer::none()
        };
        match outcome.result {
            Err(error) => {
                answer.error_kind = Some(error.kind.as_str().to_owned());
                answer.error_message = Some(error.message);
            }
            Ok(result) => {
                answer.status = match result.score {
                    Some(_) => Status::Scored,
                    None => Status::NotApplicable,
                };
                answer.score = result.score;
                answer.label = result.label;
                answer.reason = result.reason;
                // Checked when it came over the wall.
                answer.meta = result.meta.and_then(|meta| RawValue::from_string(meta).ok());
                if result.score.is_some() {
                    answer.assertions = raw_list(&result.assertions);
                }
            }
        }
        answer
    }

    /// The answer with its JSON as a receipt shows it.
    pub(super) fn in_a_receipt(self) -> Answer {
        let shown = |json: Option<Box<RawValue>>| {
            json.and_then(|json| RawValue::from_string(printable_json(json.get()).into()).ok())
        };
        Answer {
            meta: shown(self.meta),
            assertions: shown(self.assertions),
            log: shown(self.log),
            ..self
        }
    }

    /// Whether this is the time-out, which is the machine's and not the scorer's.
    pub(super) fn is_a_time_out(&self) -> bool {
        self.error_kind.as_deref() == Some(ErrorKind::TimedOut.as_str())
    }

    /// What of `computed` is not what this stored answer says. Fuel, memory and messages are compared
    /// only where both are of one version of wasmtime.
    pub(super) fn differences(&self, computed: &Answer, same_wasmtime: bool) -> Vec<Difference> {
        let bits = |score: Option<f64>| score.map(f64::to_bits);
        let raw = |json: &Option<Box<RawValue>>| json.as_ref().map(|json| json.get().to_owned());
        let number = |number: Option<u64>| number.map(|number| number.to_string());
        let score = |score: Option<f64>| score.map(|score| score.to_string());
        let mut found = Vec::new();
        let mut compare = |what: &str, stored: Option<String>, computed: Option<String>| {
            if stored != computed {
                found.push(Difference::of(what, stored, computed));
            }
        };
        let word = |status: Status| Some(status.as_str().to_owned());
        compare("status", word(self.status), word(computed.status));
        if bits(self.score) != bits(computed.score) {
            compare("score", score(self.score), score(computed.score));
        }
        compare("label", self.label.clone(), computed.label.clone());
        compare("reason", self.reason.clone(), computed.reason.clone());
        compare("meta", raw(&self.meta), raw(&computed.meta));
        compare("assertions", raw(&self.assertions), raw(&computed.assertions));
        compare("log", raw(&self.log), raw(&computed.log));
        compare("error kind", self.error_kind.clone(), computed.error_kind.clone());
        if same_wasmtime {
            let (stored, again) = (self.error_message.clone(), computed.error_message.clone());
            compare("error message", stored, again);
            compare("fuel", number(self.fuel), number(computed.fuel));
            compare("memory", number(self.memory_bytes), number(computed.memory_bytes));
        }
        found
    }
}

fn stored_json(what: &str, text: &Option<String>) -> Result<Option<Box<RawValue>>, String> {
    let raw = text.clone().map(RawValue::from_string).transpose();
    raw.map_err(|error| format!("the stored {what} is not JSON: {error}"))
}

/// As the store writes them: none where the list is empty.
fn raw_list<T: Serialize>(items: &[T]) -> Option<Box<RawValue>> {
    (!items.is_empty()).then(|| serde_json::value::to_raw_value(items).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(json: &str) -> Answer {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn everything_that_an_answer_says_is_compared() {
        let one = r#"{"status":"scored","score":0.1,"label":"a","reason":"b","meta":{"c":1},
            "assertions":[1],"log":[2],"errorKind":"d","errorMessage":"e","fuel":3,"memoryBytes":4}"#;
        let other = r#"{"status":"error","score":0.2,"label":"A","reason":"B","meta":{"c": 1},
            "assertions":[],"log":[],"errorKind":"D","errorMessage":"E","fuel":30,"memoryBytes":40}"#;
        let (one, other) = (answer(one), answer(other));
        let all = one.differences(&other, true);
        let whats: Vec<&str> = all.iter().map(|difference| difference.what.as_str()).collect();
        assert_eq!(
            whats,
            [
                "status",
                "score",
                "label",
                "reason",
                "meta",
                "assertions",
                "log",
                "error kind",
                "error message",
                "fuel",
                "memory"
            ]
        );
        assert_eq!(one.differences(&other, false).len(), 8);
        assert_eq!(one.differences(&one.clone(), true), []);
    }

    #[test]
    fn what_is_absent_is_not_a_text_that_says_so() {
        let none = r#"{"status":"scored","score":1,"label":"none","reason":"none","meta":"none",
            "errorKind":"none","errorMessage":"none"}"#;
        let absent = r#"{"status":"scored","score":1}"#;
        for (stored, computed) in [(none, absent), (absent, none)] {
            let differences = answer(stored).differences(&answer(computed), true);
            let whats: Vec<&str> = differences.iter().map(|it| it.what.as_str()).collect();
            assert_eq!(whats, ["label", "reason", "meta", "error kind", "error message"]);
            assert!(differences.iter().all(|it| it.stored.is_none() != it.computed.is_none()));
        }
    }

    #[test]
    fn scores_that_differ_in_their_last_bit_differ() {
        let with = |score| Answer { score: Some(score), ..answer(r#"{"status":"scored"}"#) };
        assert_eq!(with(0.5).differences(&with(0.5f64.next_up()), true).len(), 1);
    }

    #[test]
    fn a_score_is_read_back_to_the_bit() {
        for score in [0.1 + 0.2, 1.0 / 3.0, f64::MIN_POSITIVE, 5e-324, 0.49999999999999994] {
            let written = Answer { score: Some(score), ..answer(r#"{"status":"scored"}"#) };
            let read = answer(&serde_json::to_string(&written).unwrap());
            assert_eq!(read.score.map(f64::to_bits), Some(score.to_bits()));
        }
    }
}
