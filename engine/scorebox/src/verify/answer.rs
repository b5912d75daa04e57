//! The answer and the cost of a score, as stored and as computed, and how two of them differ. The room `row` defines
//! the parts of an answer. This file computes nothing.

use serde::Serialize;

use crate::{
    cut::cut,
    row::{Answer, AnswerError, Json, Status},
    sandbox::{ErrorKind, Summary},
    store::{ScoreRecord, SummaryRecord},
};

/// How many bytes of each side of a difference are reported.
const SHOWN_BYTES: usize = 200;

/// Something that differs from the stored value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Difference {
    /// Its name: `score`, `reason`, `component` …
    pub what: String,
    /// The stored value, cut to 200 bytes; `None` if nothing is stored.
    pub stored: Option<String>,
    /// The value that was found instead, cut likewise; `None` if it is absent.
    pub computed: Option<String>,
}

impl Difference {
    /// How the name of a component's difference begins, as that of a run as a whole.
    pub(super) const COMPONENT: &str = "component of ";
    /// The same of a question to a judge.
    pub(super) const QUESTION: &str = "question of call ";
    /// The same of a judge's answer.
    pub(super) const ANSWER: &str = "answer to call ";

    /// Whether it is of what a root has only the digest of: a component, or a question or an answer of a judge. If it
    /// was changed, the root of what is stored stays what it was.
    pub fn is_of_what_a_root_names(&self) -> bool {
        let named = [Difference::COMPONENT, Difference::QUESTION, Difference::ANSWER];
        named.iter().any(|name| self.what.starts_with(name))
    }

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

/// How JSON is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonAs {
    /// Byte by byte, for JSON in the database.
    Text,
    /// As a JSON document, because a receipt may have been reformatted on its way.
    Document,
}

/// The answer in a stored row; as an error, why its JSON is not valid.
pub(super) fn stored(record: &ScoreRecord) -> Result<Answer, String> {
    let answer = record.row.answer.clone();
    let all = [("meta", &answer.meta), ("assertions", &answer.assertions), ("log", &answer.log)];
    all.into_iter().try_for_each(|(what, json)| must_be_json(what, json.as_ref()))?;
    Ok(answer)
}

/// A scorer's stored summary of a run, as an answer: its JSON is the meta.
pub(super) fn stored_summary(record: &SummaryRecord) -> Result<Answer, String> {
    let mut answer = Answer::new(Status::NotApplicable);
    answer.meta = record.summary_json.clone().map(Json::from);
    answer.log = record.log_json.clone().map(Json::from);
    must_be_json("summary", answer.meta.as_ref())?;
    must_be_json("log", answer.log.as_ref())?;
    if let Some(kind) = &record.error_kind {
        answer.status = Status::Error;
        let message = record.error_message.clone().unwrap_or_default();
        answer.error = Some(AnswerError::new(kind, message));
    }
    answer.fuel = record.fuel;
    Ok(answer)
}

/// A scorer's computed summary of a run, as an answer.
pub(super) fn computed_summary(summary: Summary) -> Answer {
    let mut answer = match summary.result {
        Err(error) => Answer { error: Some(error.into()), ..Answer::new(Status::Error) },
        Ok(json) => Answer { meta: Some(json.into()), ..Answer::new(Status::NotApplicable) },
    };
    answer.log = Json::of_list(&summary.log);
    answer.fuel = summary.fuel;
    answer
}

/// Whether this is the time-out, which depends on the machine and not only on the scorer.
pub(super) fn is_a_time_out(answer: &Answer) -> bool {
    answer.error.as_ref().is_some_and(|error| error.kind == ErrorKind::TimedOut.as_str())
}

/// Why what was computed again says nothing about the score: the machine ended it.
pub(super) fn not_computed(answer: &Answer) -> Option<&'static str> {
    let kind = answer.error.as_ref()?.kind.as_str();
    match kind {
        _ if is_a_time_out(answer) => Some("computing it again timed out"),
        _ if kind == ErrorKind::OutOfResources.as_str() => {
            Some("the system has no room to compute it again")
        }
        _ => None,
    }
}

/// Whether it is an error because a judge had no answer.
pub(super) fn is_without_a_judge(answer: &Answer) -> bool {
    const KINDS: [ErrorKind; 7] = [
        ErrorKind::JudgeOverBudget,
        ErrorKind::JudgeRefused,
        ErrorKind::JudgeUnavailable,
        ErrorKind::JudgeTimedOut,
        ErrorKind::JudgeNotRecorded,
        ErrorKind::JudgeLimited,
        ErrorKind::JudgeStopped,
    ];
    let kind = answer.error.as_ref().map(|error| error.kind.as_str());
    KINDS.iter().any(|known| kind == Some(known.as_str()))
}

/// How `computed` differs from `stored`. Fuel, memory and messages are compared only if both come from one version of
/// wasmtime; the time that it took is never compared.
pub(super) fn differences(
    stored: &Answer,
    computed: &Answer,
    json_as: JsonAs,
    same_wasmtime: bool,
) -> Vec<Difference> {
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    let mut found = Vec::new();
    let mut compare = |what: &str, stored: Option<String>, computed: Option<String>| {
        if stored != computed {
            found.push(Difference::of(what, stored, computed));
        }
    };
    let word = |answer: &Answer| Some(answer.status.as_str().to_owned());
    compare("status", word(stored), word(computed));
    if stored.score.map(f64::to_bits) != computed.score.map(f64::to_bits) {
        let score = |answer: &Answer| answer.score.map(|score| score.to_string());
        compare("score", score(stored), score(computed));
    }
    compare("label", stored.label.clone(), computed.label.clone());
    compare("reason", stored.reason.clone(), computed.reason.clone());
    for (what, stored, computed) in [
        ("meta", &stored.meta, &computed.meta),
        ("assertions", &stored.assertions, &computed.assertions),
        ("log", &stored.log, &computed.log),
    ] {
        let same = match (stored, computed, json_as) {
            (Some(stored), Some(computed), JsonAs::Document) => {
                stored.is_same_document_as(computed)
            }
            _ => stored == computed,
        };
        if !same {
            let text = |json: &Option<Json>| json.as_ref().map(|json| json.get().to_owned());
            compare(what, text(stored), text(computed));
        }
    }
    let kind = |answer: &Answer| answer.error.as_ref().map(|error| error.kind.clone());
    compare("error kind", kind(stored), kind(computed));
    if same_wasmtime {
        let message = |answer: &Answer| answer.error.as_ref().map(|error| error.message.clone());
        compare("error message", message(stored), message(computed));
        compare("fuel", number(stored.fuel), number(computed.fuel));
        compare("memory", number(stored.memory_bytes), number(computed.memory_bytes));
    }
    found
}

fn must_be_json(what: &str, json: Option<&Json>) -> Result<(), String> {
    match json.map(Json::raw) {
        Some(Err(error)) => Err(format!("the stored {what} is not JSON: {error}")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_said(mark: &str, number: u64) -> Answer {
        Answer {
            score: Some(number as f64),
            label: Some(mark.into()),
            reason: Some(mark.into()),
            meta: Some(Json::from(format!("{{\"{mark}\":1}}"))),
            assertions: Some(Json::from(format!("[{number}]"))),
            error: Some(AnswerError::new(mark, mark)),
            fuel: Some(number),
            memory_bytes: Some(number),
            log: Some(Json::from(format!("[{number}]"))),
            ..Answer::new(if number == 0 { Status::Scored } else { Status::Error })
        }
    }

    fn whats(stored: &Answer, computed: &Answer, same_wasmtime: bool) -> Vec<String> {
        let found = differences(stored, computed, JsonAs::Text, same_wasmtime);
        found.into_iter().map(|difference| difference.what).collect()
    }

    #[test]
    fn everything_that_an_answer_says_is_compared() {
        let (one, other) = (all_said("a", 0), all_said("b", 1));
        let all = [
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
            "memory",
        ];
        assert_eq!(whats(&one, &other, true), all);
        assert_eq!(whats(&one, &other, false), all[..8]);
        assert_eq!(whats(&one, &one.clone(), true), [""; 0]);
    }

    #[test]
    fn what_is_absent_is_not_a_text_that_says_so() {
        let none = Answer {
            label: Some("none".into()),
            reason: Some("none".into()),
            meta: Some(Json::from("\"none\"".to_owned())),
            error: Some(AnswerError::new("none", "none")),
            ..Answer::new(Status::Scored)
        };
        let absent = Answer::new(Status::Scored);
        for (stored, computed) in [(&none, &absent), (&absent, &none)] {
            let found = differences(stored, computed, JsonAs::Document, true);
            let whats: Vec<&str> = found.iter().map(|it| it.what.as_str()).collect();
            assert_eq!(whats, ["label", "reason", "meta", "error kind", "error message"]);
            assert!(found.iter().all(|it| it.stored.is_none() != it.computed.is_none()));
        }
    }

    #[test]
    fn scores_that_differ_in_their_last_bit_differ() {
        let with = |score| Answer { score: Some(score), ..Answer::new(Status::Scored) };
        assert_eq!(whats(&with(0.5), &with(0.5f64.next_up()), true), ["score"]);
    }

    #[test]
    fn the_json_of_a_row_is_compared_as_text_and_that_of_a_receipt_as_a_document() {
        let with = |meta: &str| Answer {
            meta: Some(Json::from(meta.to_owned())),
            ..Answer::new(Status::Scored)
        };
        let (row, shown) = (with("[\"\u{202e}\",1.0]"), with(r#"[ "\u202e", 1.0 ]"#));
        assert_eq!(differences(&row, &shown, JsonAs::Text, true).len(), 1);
        assert_eq!(differences(&row, &shown, JsonAs::Document, true), []);
        let other = with(r#"["\u202e", 1]"#);
        assert_eq!(differences(&row, &other, JsonAs::Document, true).len(), 1);
    }
}
