//! For each peer, which of its scorers is which of ours, with which configuration. Reads like a table;
//! every peer has its own.

mod autoevals;
mod inspect;
mod json_schema;
mod metrics;
mod promptfoo;
mod rapidfuzz;

use serde_json::{Value, json};

use super::{trial::Trial, vector::Vector};

/// A program whose scores are known.
pub(super) struct Peer {
    pub name: &'static str,
    /// Which version answered, and how.
    pub version: &'static str,
    /// Its rows, in `data/`.
    pub files: &'static [&'static str],
    /// What is asked of scorebox for a row.
    pub trial: fn(&Vector) -> Trial,
}

pub(super) const AUTOEVALS: Peer = Peer {
    name: "autoevals",
    version: "0.4.1 (Python): its own tests, and real answers",
    files: &["autoevals.jsonl", "autoevals-real.jsonl.zst"],
    trial: autoevals::trial,
};

pub(super) const INSPECT: Peer = Peer {
    name: "Inspect",
    version: "its own tests at commit 499e615, and 0.3.285 on real answers",
    files: &["inspect-ai.jsonl", "inspect-ai-gsm8k.jsonl.zst", "inspect-ai-real.jsonl.zst"],
    trial: inspect::trial,
};

pub(super) const PROMPTFOO: Peer = Peer {
    name: "promptfoo",
    version: "its own tests, of several commits",
    files: &["promptfoo.jsonl"],
    trial: promptfoo::trial,
};

pub(super) const RAPIDFUZZ: Peer = Peer {
    name: "rapidfuzz",
    version: "3.14.6, on real answers and on Unicode",
    files: &["rapidfuzz.jsonl.zst", "rapidfuzz-unicode.jsonl"],
    trial: rapidfuzz::trial,
};

pub(super) const ROUGE_SCORE: Peer = Peer {
    name: "rouge-score",
    version: "0.1.2, F-measure, on real answers",
    files: &["rouge-score.jsonl.zst"],
    trial: metrics::rouge_score,
};

pub(super) const SACREBLEU: Peer = Peer {
    name: "sacrebleu",
    version: "2.6.0, sentence scores divided by 100, on real answers",
    files: &["sacrebleu.jsonl.zst"],
    trial: metrics::sacrebleu,
};

pub(super) const NLTK: Peer = Peer {
    name: "NLTK",
    version: "3.10.4, `sentence_gleu` of words between white space, on real answers",
    files: &["nltk-gleu.jsonl.zst"],
    trial: metrics::nltk,
};

pub(super) const JSONSCHEMA: Peer = Peer {
    name: "jsonschema",
    version: "4.26.0 (Python), on real tool calls and mutations of them",
    files: &["jsonschema-tools.jsonl.zst"],
    trial: json_schema::tools,
};

pub(super) const JSON_SCHEMA_TEST_SUITE: Peer = Peer {
    name: "JSON Schema Test Suite",
    version: "all required tests of draft 2020-12, at commit 44401e0",
    files: &["json-schema-test-suite.jsonl.zst"],
    trial: json_schema::suite,
};

pub(super) const JSON_SCHEMA_TEST_SUITE_DRAFT_7: Peer = Peer {
    name: "JSON Schema Test Suite, draft 7",
    version: "all required tests of draft 7, at commit 44401e0",
    files: &["json-schema-test-suite-draft7.jsonl.zst"],
    trial: json_schema::suite_of_draft_7,
};

/// All peers, in the order of the page.
pub(super) const ALL: [&Peer; 10] = [
    &AUTOEVALS,
    &INSPECT,
    &PROMPTFOO,
    &RAPIDFUZZ,
    &ROUGE_SCORE,
    &SACREBLEU,
    &NLTK,
    &JSONSCHEMA,
    &JSON_SCHEMA_TEST_SUITE,
    &JSON_SCHEMA_TEST_SUITE_DRAFT_7,
];

impl Vector {
    /// Whether a key of the peer's configuration is `true`.
    fn is(&self, key: &str) -> bool {
        self.config.get(key) == Some(&Value::Bool(true))
    }

    /// A ground truth of `null`, if the row has one, in a configuration: in a case it counts as none.
    fn null_in(&self, mut config: Value) -> Value {
        if self.ground_truth.as_ref().is_some_and(|truth| truth.get() == "null") {
            config["values"] = json!([null]);
        }
        config
    }

    /// The schema of the row, if it has one, in a configuration.
    fn schema_in(&self, mut config: Value) -> Value {
        if let Some(schema) = self.config.get("schema") {
            config["schema"] = schema.clone();
        }
        config
    }
}

/// A scorer of the peer that the table does not know.
fn unknown(vector: &Vector) -> ! {
    panic!("which scorer is `{}`?", vector.scorer)
}
