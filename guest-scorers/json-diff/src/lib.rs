//! json-diff: how similar two JSON values are, part by part. It reads no meaning into keys or order: lists are compared
//! position by position.
//!
//! Two objects: the mean over the keys of either; two lists: the mean over the positions of the longer one; two texts
//! as in levenshtein, two numbers as in numeric-diff; anything else as in levenshtein, by their compact JSON
//!
//! The rule is autoevals' `JSONDiff`.

mod compact;
mod diff;

use diff::{Alike, Diff};
use scorebox_sdk::{
    Accepted, Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Negate,
    Part, Score, ScoreError, Scorer, excerpt, schemars,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Scores how similar the output and the expected value are, 0 to 1, part by part.
///
/// - Two objects: the mean over the keys of either; a missing key counts as `null`.
/// - Two lists: the mean over the positions of the longer one; nothing is moved.
/// - Two texts: 1 - edit distance / length of the longer one. A text that holds an object or a list
///   as JSON is compared as that, unless `preserveStrings` is set.
/// - Two numbers: 1 - |expected - output| / (|expected| + |output|), two zeros 1; `true` counts as
///   1 and `false` as 0.
/// - `null` equals `null` and nothing else.
/// - Anything else: both as compact JSON with sorted keys and ASCII only, compared as texts.
///
/// The expected value is the case's ground truth or the configured `value`. A ground truth that is
/// a list is the expected list; those of its items that are of the output's kind count as expected
/// values too, and the most similar one counts. A ground truth of `null` counts as absent: if
/// `null` is right, list it in `values`.
///
/// Equals autoevals' `JSONDiff` (Python) with its defaults, except that a text with `NaN` or
/// `Infinity` in it is not JSON, and that an item of a ground-truth list may count in place of the
/// whole list.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// Compares a text as a text even if it holds JSON.
    #[serde(default)]
    preserve_strings: bool,
    #[serde(default)]
    negate: Negate,
    #[serde(default)]
    value: ExpectedValue,
    #[serde(default)]
    values: ExpectedValues,
}

/// The scorer, made from its [`Config`].
pub struct JsonDiff {
    preserve_strings: bool,
    negate: Negate,
    accepted: Option<Accepted<'static>>,
}

impl Scorer for JsonDiff {
    type Config = Config;

    const INFO: Info =
        Info::new("json-diff", "JSON Diff", env!("CARGO_PKG_VERSION")).reads(Fields::GROUND_TRUTH);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { preserve_strings, negate, value, values } = config;
        Ok(Self { preserve_strings, negate, accepted: Accepted::configured(value, values)? })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let accepted = Accepted::or_ground_truth(&self.accepted, case)?;
        let diff = Diff { preserve_strings: self.preserve_strings };
        let output = diff.read(&case.output().value()?).into_owned();
        let mut expected =
            (accepted.parts().iter()).map(Part::value).collect::<Result<Vec<_>, _>>()?;
        if accepted.is_list() {
            let whole = Value::Array(expected.clone());
            expected.retain(|item| same_kind(&diff.read(item), &output));
            expected.insert(0, whole);
        }
        let mut best: Option<Alike> = None;
        for expected in expected {
            let alike = diff.alike(&output, &expected);
            best = match best {
                Some(best) if best.score >= alike.score => Some(best),
                _ => Some(alike),
            };
        }
        // There is at least one value: the whole list, or a configured one.
        let Alike { score, parts } = best.ok_or("no expected value")?;
        let shown: Vec<_> = parts.iter().take(SHOWN_PARTS).collect();
        Ok(self.negate.score(score).reason(reason(score, &parts)).meta(json!({ "parts": shown })))
    }
}

/// The most parts that `meta` lists.
const SHOWN_PARTS: usize = 100;

fn same_kind(left: &Value, right: &Value) -> bool {
    let kind = |value: &Value| match value {
        Value::Null => 0,
        Value::Bool(_) | Value::Number(_) => 1,
        Value::String(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
    };
    kind(left) == kind(right)
}

/// The reason; names the least similar part, if there are parts.
fn reason(alike: f64, parts: &[(String, f64)]) -> String {
    let differing = parts.iter().filter(|(_, alike)| *alike < 1.0);
    let least = differing.clone().min_by(|left, right| left.1.total_cmp(&right.1));
    match least {
        Some((name, least)) => format!(
            "{} of {} parts differ, most of all `{}` ({least:.2})",
            differing.count(),
            parts.len(),
            excerpt(name, 80)
        ),
        None if alike == 1.0 => "equal to the expected value".to_owned(),
        None => format!("similarity {alike:.2}"),
    }
}

scorebox_sdk::export!(JsonDiff);

#[cfg(test)]
mod tests;
