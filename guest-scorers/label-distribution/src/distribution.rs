//! Counts labels. It finds none itself: they are in the scores' meta.

use std::cmp::Ordering;

use scorebox_sdk::{ScoreError, Scored, equal};
use serde::Deserialize;
use serde_json::{Map, Number, Value, json};

/// The meta of a score.
#[derive(Deserialize)]
struct Noted {
    label: Value,
}

/// The distribution of the labels that scores have.
pub(crate) fn summarize(scores: &[Scored]) -> Result<Value, ScoreError> {
    let mut labels = Vec::new();
    for scored in scores {
        let meta = scored.meta().ok_or("a score of this scorer has no meta")?;
        let Noted { label } = meta.read()?;
        if !label.is_null() {
            labels.push((label, scored.case_id.as_str()));
        }
    }
    refuse_several_kinds(&labels)?;
    let unlabelled = scores.len() - labels.len();
    let total = labels.len() as f64;
    // Equal labels stay in the order of the cases, so that the first stands for all.
    labels.sort_by(|(left, _), (right, _)| order(left, right));
    let mut counts = Map::new();
    let (mut names, mut fractions) = (Vec::new(), Vec::new());
    for of_one_label in labels.chunk_by(|(left, _), (right, _)| equal(left, right)) {
        let label = &of_one_label[0].0;
        counts.insert(text(label), of_one_label.len().into());
        fractions.push(of_one_label.len() as f64 / total);
        names.push(label);
    }
    let most = fractions.iter().copied().fold(0.0, f64::max);
    let skew = most - fractions.iter().copied().fold(most, f64::min);
    let mut summary =
        json!({ "labels": names, "fractions": fractions, "counts": counts, "skew": skew });
    if unlabelled > 0 {
        summary["unlabelled"] = unlabelled.into();
    }
    Ok(summary)
}

/// A label in words: a string's content, else its JSON.
pub(crate) fn text(label: &Value) -> String {
    label.as_str().map_or_else(|| label.to_string(), str::to_owned)
}

/// Labels of several kinds have no order, and `1` beside `"1"` is a mistake in the data.
fn refuse_several_kinds(labels: &[(Value, &str)]) -> Result<(), ScoreError> {
    let Some((first, of_first)) = labels.first() else { return Ok(()) };
    match labels.iter().find(|(label, _)| kind(label) != kind(first)) {
        None => Ok(()),
        Some((other, of_other)) => Err(ScoreError::invalid_input(format!(
            "the labels are of several kinds: {} in case `{of_first}`, {} in case `{of_other}`; \
             write all of them as strings",
            kind(first),
            kind(other)
        ))),
    }
}

fn kind(label: &Value) -> &'static str {
    match label {
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        _ => "a string",
    }
}

/// Strings by their code points, numbers by their value, `false` before `true`.
fn order(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            let (left_double, right_double) = (double(left), double(right));
            let by_double = left_double.partial_cmp(&right_double).unwrap_or(Ordering::Equal);
            by_double.then_with(|| whole(left).cmp(&whole(right)))
        }
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (left, right) => left.as_str().cmp(&right.as_str()),
    }
}

fn double(number: &Number) -> f64 {
    number.as_f64().unwrap_or(0.0)
}

/// What tells large integers apart that are one double.
fn whole(number: &Number) -> i128 {
    let integer = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from));
    integer.unwrap_or(double(number) as i128)
}
