//! list-contains: how well the items of a list match the expected ones, in any order. Items are compared
//! letter by letter, not by meaning.
//!
//! score = sum of the similarities of the best pairing / number of items of the longer list (or, with
//! `allowExtra`, of the expected one)
//!
//! Similarity is that of levenshtein; the pairing is the one with the largest sum (linear sum assignment), which
//! `assignment` finds. The rule is autoevals' `ListContains`.

mod assignment;

use std::borrow::Cow;

use assignment::best_pairing;
use rapidfuzz::distance::levenshtein::BatchComparator;
use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Negate, Part, Score, ScoreError, Scorer, excerpt,
    schemars,
};
use scorebox_sdk_texts::similarity::of_edits;
use serde::Deserialize;
use serde_json::{Value, json};

/// Scores how well the items of the output match the expected items, in any order.
///
/// Each item of one list is paired with an item of the other so that the similarities (1 - edit
/// distance / length of the longer text) add up to the maximum; the sum is divided by the number of
/// items of the longer list or, with `allowExtra`, of the expected one. Items that are not texts
/// are compared as their compact JSON text, in which `1.0` is `1`. Two empty lists score 1, one
/// empty list 0. The output is a list, or a text that holds one as JSON. The expected list is the
/// case's ground truth or the configured `value`. If all items of a ground truth are lists, each of
/// them is an expected list, too, and the best match counts. Lists that are too long to find the best
/// pairing are refused: two lists of more than 2,200 items always, of more than 1,100 if these have 60
/// characters each, of more than 420 if they have 100, and of more than 640 if many pairs are nearly as good
/// as the best ones.
///
/// Equals autoevals' `ListContains` with `Levenshtein` for texts, except that a list in the ground
/// truth may be one of several expected lists. Its other items are Python's `str` of them there.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// Additional items in the output cost nothing.
    #[serde(default)]
    allow_extra: bool,
    #[serde(default)]
    negate: Negate,
    /// The expected list, in place of the ground truth.
    #[serde(default, deserialize_with = "scorebox_sdk::not_null")]
    value: Option<Vec<Value>>,
    /// Several expected lists, in place of the ground truth; the best match counts.
    #[serde(default)]
    values: Option<Vec<Vec<Value>>>,
}

/// The scorer, made from its [`Config`].
pub struct ListContains {
    allow_extra: bool,
    negate: Negate,
    configured: Option<Vec<Vec<String>>>,
}

impl Scorer for ListContains {
    type Config = Config;

    const INFO: Info = Info::new("list-contains", "List Contains", env!("CARGO_PKG_VERSION"))
        .reads(Fields::GROUND_TRUTH);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { allow_extra, negate, value, values } = config;
        let lists = match (value, values) {
            (Some(_), Some(_)) => {
                let message = "give either `value` or `values`, not both";
                return Err(ConfigError::new("values", message));
            }
            (None, Some(lists)) if lists.is_empty() => {
                let message = "is an empty list; name at least one expected list";
                return Err(ConfigError::new("values", message));
            }
            (Some(list), None) => Some(vec![list]),
            (None, lists) => lists,
        };
        let configured = lists.map(|lists| lists.iter().map(|list| texts(list)).collect());
        Ok(Self { allow_extra, negate, configured })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let output = texts(&list(&case.output())?);
        let expected = match &self.configured {
            Some(lists) => lists.clone(),
            None => expected_lists(
                &case
                    .require_ground_truth()
                    .map_err(|missing| missing.nor_configured("`value`"))?,
            )?,
        };
        let mut steps = STEP_LIMIT;
        let mut best: Option<Match> = None;
        for expected in &expected {
            let found = self.compare(&output, expected, &mut steps)?;
            best = match best {
                Some(best) if best.score >= found.score => Some(best),
                _ => Some(found),
            };
        }
        let best = best.ok_or("no expected list")?;
        Ok(self.negate.score(best.score).reason(best.reason).meta(json!({ "pairs": best.pairs })))
    }
}

/// The most pairs that `meta` lists.
const SHOWN_PAIRS: usize = 100;

/// The most steps of work for one case, of about 65 instructions each: most of the fuel that a score has by default.
const STEP_LIMIT: usize = 150_000_000;

/// How well a list matches one expected list.
struct Match {
    score: f64,
    reason: String,
    pairs: Vec<Value>,
}

impl ListContains {
    fn compare(
        &self,
        output: &[String],
        expected: &[String],
        steps: &mut usize,
    ) -> Result<Match, ScoreError> {
        let pairs = best_pairs(output, expected, steps)?;
        // The sum of no numbers is -0; adding it to 0.0 gives 0.
        let sum = 0.0 + pairs.iter().map(|pair| pair.similarity).sum::<f64>();
        let score = match (output.len(), expected.len()) {
            (0, 0) => 1.0,
            (0, _) | (_, 0) => 0.0,
            (_, wanted) if self.allow_extra => (sum / wanted as f64).clamp(0.0, 1.0),
            (items, wanted) => (sum / items.max(wanted) as f64).clamp(0.0, 1.0),
        };
        let exact = pairs.iter().filter(|pair| pair.similarity == 1.0).count();
        let reason = format!(
            "{exact} of {} expected items found in {} items; the best pairing adds up to {sum:.2}",
            expected.len(),
            output.len()
        );
        let shown = pairs.iter().take(SHOWN_PAIRS).map(|pair| {
            json!({
                "output": excerpt(&output[pair.item], 80),
                "expected": excerpt(&expected[pair.expected], 80),
                "score": pair.similarity,
            })
        });
        Ok(Match { score, reason, pairs: shown.collect() })
    }
}

/// An item of the output and an expected one, by index, and their similarity.
struct Pair {
    item: usize,
    expected: usize,
    similarity: f64,
}

/// The pairs whose similarities have the largest sum, in the order of the output.
///
/// Equal items are not paired first: two items that are each 2/3 similar to a third may have nothing in common (`ab`,
/// `aba`, `ba`), so that two such pairs can be worth more.
fn best_pairs(
    output: &[String],
    expected: &[String],
    steps: &mut usize,
) -> Result<Vec<Pair>, ScoreError> {
    let too_many = || {
        let (items, wanted) = (output.len(), expected.len());
        ScoreError::invalid_input(format!(
            "{items} items and {wanted} expected ones are too many, or too long, to find their best pairing \
             (at most {STEP_LIMIT} steps are done for a case); score shorter lists, or lists of shorter items"
        ))
    };
    // The search starts from the shorter list.
    let turned = output.len() > expected.len();
    let (shorter, longer) = if turned { (expected, output) } else { (output, expected) };
    *steps = steps.checked_sub(comparing(shorter, longer)).ok_or_else(too_many)?;
    let similarity = similarities(shorter, longer);
    let pairs = best_pairing(&similarity, steps).ok_or_else(too_many)?;
    let pair = |(row, column): (usize, usize)| {
        let (item, expected) = if turned { (column, row) } else { (row, column) };
        Pair { item, expected, similarity: similarity[row][column] }
    };
    let mut pairs: Vec<_> = pairs.into_iter().map(pair).collect();
    pairs.sort_unstable_by_key(|pair| pair.item);
    Ok(pairs)
}

/// How many steps of the search it costs to compare each text with each of the others. Measured: a text of up to 64
/// characters is compared character by character of the other text, a longer one block by block.
fn comparing(texts: &[String], others: &[String]) -> usize {
    const PAIR: usize = 30;
    const BLOCK: usize = 64;
    // In half steps per character of the other text.
    let halves = |text: &String| match text.chars().count().div_ceil(BLOCK) {
        0 | 1 => 3,
        blocks => 8 + 4 * blocks,
    };
    // Reading a text that is not ASCII takes longer.
    let length = |text: &String| text.chars().count().midpoint(text.len());
    let halves = texts.iter().map(halves).fold(0, usize::saturating_add);
    let lengths = others.iter().map(length).fold(0, usize::saturating_add);
    let pairs = texts.len().saturating_mul(others.len());
    pairs.saturating_mul(PAIR).saturating_add(halves.saturating_mul(lengths) / 2)
}

/// The similarity of each text with each of the others.
fn similarities(texts: &[String], others: &[String]) -> Vec<Vec<f64>> {
    let row = |text: &String| {
        // Prepared once for all others: for short texts, that is most of the work.
        let prepared = BatchComparator::new(text.chars());
        let alike = |other: &String| of_edits(prepared.distance(other.chars()), text, other);
        others.iter().map(alike).collect()
    };
    texts.iter().map(row).collect()
}

/// A list, or the list that a text contains as JSON.
fn list(part: &Part<'_>) -> Result<Vec<Value>, ScoreError> {
    if part.is_array() {
        return part.read();
    }
    let content = if part.is_string() { serde_json::from_str(&part.text()?).ok() } else { None };
    content.ok_or_else(|| part.should_be("a list, or a text that holds one as JSON"))
}

/// One expected list, or several followed by the list of them.
fn expected_lists(truth: &Part<'_>) -> Result<Vec<Vec<String>>, ScoreError> {
    let items = list(truth)?;
    let lists: Option<Vec<&Vec<Value>>> = items.iter().map(Value::as_array).collect();
    let inner = lists.unwrap_or_default().into_iter().map(|list| texts(list));
    // The whole list comes last: of equal scores, the items of the first one are named.
    Ok(inner.chain([texts(&items)]).collect())
}

fn texts(list: &[Value]) -> Vec<String> {
    list.iter().map(text).collect()
}

/// An item as it is compared: numbers in it by value, however they are written.
fn text(item: &Value) -> String {
    if let Value::String(text) = item {
        return text.clone();
    }
    let json = item.to_string();
    // It fails only for a text with a broken escape, which a `Value` cannot contain.
    Part::new("item", json.as_str()).text().map(Cow::into_owned).unwrap_or(json)
}

scorebox_sdk::export!(ListContains);

#[cfg(test)]
mod tests;
