//! Counts the labels in the meta of scores. Reading a case's label is left to `lib.rs`.

use std::{cmp::Ordering, collections::BTreeMap};

use scorebox_sdk::{ScoreError, Scored, equal};
use serde_json::{Map, Number, Value, json};

/// One label, in one notation.
struct Group<'s> {
    label: Value,
    count: usize,
    /// Its first position, and the case there.
    first: (usize, &'s str),
}

/// The distribution of the labels of all scores.
pub(crate) fn summarize(scores: &[Scored]) -> Result<Value, ScoreError> {
    let mut groups = groups(scores)?;
    let total: usize = groups.iter().map(|group| group.count).sum();
    groups.sort_by_key(|group| group.first);
    refuse_several_kinds(&groups)?;
    // Equal labels stay in the order of the cases, so that the first one represents them all.
    groups.sort_by(|left, right| order(&left.label, &right.label));
    let mut counts = Map::new();
    let (mut labels, mut fractions) = (Vec::new(), Vec::new());
    for of_one_label in groups.chunk_by(|left, right| equal(&left.label, &right.label)) {
        let label = &of_one_label[0].label;
        let count: usize = of_one_label.iter().map(|group| group.count).sum();
        counts.insert(text(label), count.into());
        fractions.push(count as f64 / total as f64);
        labels.push(label);
    }
    let most = fractions.iter().copied().fold(0.0, f64::max);
    let skew = most - fractions.iter().copied().fold(most, f64::min);
    let mut summary =
        json!({ "labels": labels, "fractions": fractions, "counts": counts, "skew": skew });
    if total < scores.len() {
        summary["unlabelled"] = (scores.len() - total).into();
    }
    Ok(summary)
}

/// The labels as they are written, grouped. A run has many scores but few labels, so each is parsed only once.
fn groups(scores: &[Scored]) -> Result<Vec<Group<'_>>, ScoreError> {
    let mut by_text: BTreeMap<String, Group<'_>> = BTreeMap::new();
    for (index, scored) in scores.iter().enumerate() {
        let meta = scored.meta().ok_or("a score of this scorer has no meta")?;
        if let Some(group) = by_text.get_mut(meta.json()) {
            group.count += 1;
            continue;
        }
        let label = meta.value()?["label"].take();
        let group = Group { label, count: 1, first: (index, &scored.case_id) };
        by_text.insert(meta.json().to_owned(), group);
    }
    Ok(by_text.into_values().filter(|group| !group.label.is_null()).collect())
}

/// A label as text: the content of a string, else its JSON.
pub(crate) fn text(label: &Value) -> String {
    label.as_str().map_or_else(|| label.to_string(), str::to_owned)
}

/// Labels of several kinds have no order, and `1` next to `"1"` is a mistake in the data.
fn refuse_several_kinds(groups: &[Group<'_>]) -> Result<(), ScoreError> {
    let Some(first) = groups.first() else { return Ok(()) };
    let other = groups.iter().find(|group| kind(&group.label) != kind(&first.label));
    other.map_or(Ok(()), |other| {
        Err(ScoreError::invalid_input(format!(
            "the labels are of several kinds: {} in case `{}`, {} in case `{}`; write all of them \
             as strings",
            kind(&first.label),
            first.first.1,
            kind(&other.label),
            other.first.1
        )))
    })
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

/// Distinguishes large integers that round to the same double.
fn whole(number: &Number) -> i128 {
    let integer = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from));
    integer.unwrap_or(double(number) as i128)
}
