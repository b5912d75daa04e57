//! list-contains: how well the items of a list match the expected ones, in any order. Items are compared
//! letter by letter, not by meaning.
//!
//! score = sum of the likenesses of the best pairing / number of items of the longer list (or, with
//! `allowExtra`, of the expected one)
//!
//! Likeness is that of levenshtein; the pairing is the one of all with the largest sum (linear sum
//! assignment).

mod assignment;

use assignment::best_pairing;
use rapidfuzz::distance::levenshtein;
use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Part, Score, ScoreError, Scorer, excerpt, schemars,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Scores how well the items of the output match the expected items, whatever their order.
///
/// Every item of one list is paired with one of the other, so that the likenesses (1 - edit distance /
/// length of the longer text) add up to the most; the sum is divided by the number of items of the longer
/// list, or with `allowExtra` of the expected one. Items that are no texts are compared as their JSON
/// text. Two empty lists score 1, one empty list 0. The output is a list, or a text that holds one as
/// JSON. The expected list is the case's ground truth or the configured `value`; where all of its items are
/// lists, each of them is an expected list, and the best match counts.
///
/// Equals autoevals' `ListContains` with `Levenshtein`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListContains {
    /// Items of the output that are not expected cost nothing.
    #[serde(default)]
    allow_extra: bool,
    /// Turns the score around: 1 when nothing is alike.
    #[serde(default)]
    negate: bool,
    /// The expected list, in place of the ground truth.
    #[serde(default)]
    value: Option<Vec<Value>>,
    /// Several expected lists, in place of the ground truth; the best match counts.
    #[serde(default)]
    values: Option<Vec<Vec<Value>>>,
    #[serde(skip)]
    configured: Option<Vec<Vec<String>>>,
}

impl Scorer for ListContains {
    const INFO: Info = Info::new("list-contains", "List Contains", env!("CARGO_PKG_VERSION"))
        .reads(Fields::GROUND_TRUTH);

    fn prepare(&mut self) -> Result<(), ConfigError> {
        let lists = match (self.value.take(), self.values.take()) {
            (None, None) => return Ok(()),
            (Some(_), Some(_)) => {
                let message = "give either `value` or `values`, not both";
                return Err(ConfigError::new("values", message));
            }
            (Some(list), None) => vec![list],
            (None, Some(lists)) if lists.is_empty() => {
                let message = "is an empty list; name at least one expected list";
                return Err(ConfigError::new("values", message));
            }
            (None, Some(lists)) => lists,
        };
        self.configured = Some(lists.iter().map(|list| texts(list)).collect());
        Ok(())
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let output = texts(&list(&case.output())?);
        let expected = match &self.configured {
            Some(lists) => lists.clone(),
            None => expected_lists(&case.require_ground_truth()?)?,
        };
        let mut best: Option<Match> = None;
        for expected in &expected {
            let found = self.compare(&output, expected);
            best = match best {
                Some(best) if best.score >= found.score => Some(best),
                _ => Some(found),
            };
        }
        let best = best.ok_or("no expected list")?;
        Ok(Score::new(if self.negate { 1.0 - best.score } else { best.score })
            .reason(best.reason)
            .meta(json!({ "pairs": best.pairs })))
    }
}

/// The most pairs that `meta` lists.
const SHOWN_PAIRS: usize = 100;

/// How well a list matches one expected list.
struct Match {
    score: f64,
    reason: String,
    pairs: Vec<Value>,
}

impl ListContains {
    fn compare(&self, output: &[String], expected: &[String]) -> Match {
        let likeness: Vec<Vec<f64>> = (output.iter())
            .map(|item| expected.iter().map(|expected| alike(item, expected)).collect())
            .collect();
        let pairs = best_pairing(&likeness);
        // The sum of no numbers is -0.
        let sum = 0.0 + pairs.iter().map(|(item, other)| likeness[*item][*other]).sum::<f64>();
        let score = match (output.len(), expected.len()) {
            (0, 0) => 1.0,
            (0, _) | (_, 0) => 0.0,
            (_, wanted) if self.allow_extra => (sum / wanted as f64).clamp(0.0, 1.0),
            (items, wanted) => (sum / items.max(wanted) as f64).clamp(0.0, 1.0),
        };
        let exact = pairs.iter().filter(|(item, other)| likeness[*item][*other] == 1.0).count();
        let reason = format!(
            "{exact} of {} expected items are there, among {} items; the best pairing is worth {sum:.2}",
            expected.len(),
            output.len()
        );
        let shown = pairs.iter().take(SHOWN_PAIRS).map(|(item, other)| {
            json!({
                "output": excerpt(&output[*item], 80),
                "expected": excerpt(&expected[*other], 80),
                "score": likeness[*item][*other],
            })
        });
        Match { score, reason, pairs: shown.collect() }
    }
}

/// 1 - edit distance / length of the longer one, in code points; see the scorer levenshtein.
fn alike(left: &str, right: &str) -> f64 {
    match left.chars().count().max(right.chars().count()) {
        0 => 1.0,
        longest => 1.0 - levenshtein::distance(left.chars(), right.chars()) as f64 / longest as f64,
    }
}

/// A list, or the list that a text holds as JSON.
fn list(part: &Part<'_>) -> Result<Vec<Value>, ScoreError> {
    if part.is_array() {
        return part.read();
    }
    let content = if part.is_string() { serde_json::from_str(&part.text()?).ok() } else { None };
    content.ok_or_else(|| part.should_be("a list, or a text that holds one as JSON"))
}

/// One expected list, or several.
fn expected_lists(truth: &Part<'_>) -> Result<Vec<Vec<String>>, ScoreError> {
    let items = list(truth)?;
    let lists: Option<Vec<&Vec<Value>>> = items.iter().map(Value::as_array).collect();
    Ok(match lists {
        Some(lists) if !lists.is_empty() => lists.into_iter().map(|list| texts(list)).collect(),
        _ => vec![texts(&items)],
    })
}

fn texts(list: &[Value]) -> Vec<String> {
    let text = |item: &Value| item.as_str().map_or_else(|| item.to_string(), str::to_owned);
    list.iter().map(text).collect()
}

scorebox_sdk::export!(ListContains);

#[cfg(test)]
mod tests;
