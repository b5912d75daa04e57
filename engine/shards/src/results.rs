//! Turns rows of scores into batches: one wide row for each case, with a list of the scorers' results inside. The texts
//! of a batch are bounded, because Arrow counts their bytes in 31 bits.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, ListArray, RecordBatch, StructArray,
    builder::{Float64Builder, Int64Builder, StringBuilder},
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, SchemaRef};
use scorebox::{
    digest::Digest,
    row::{Answer, Json, Status},
};

use crate::schema::{Kind, ResultField, RowColumn, element, result_fields};

/// The number of bytes of cases and results after which a batch ends. A single case may have more.
const MAX_BATCH_BYTES: usize = 64 << 20;

/// A case with the results of all scorers, in the suite's order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WideRow {
    pub id: String,
    pub node_id: String,
    pub iteration: u32,
    pub attempt: u32,
    /// The case as a line of JSON.
    pub case: Box<str>,
    pub case_digest: Digest,
    pub results: Vec<ScorerResult>,
}

/// The result of one scorer for a case.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ScorerResult {
    pub scorer: String,
    pub answer: Answer,
    pub scored_at_ms: i64,
    pub input_digest: Option<Digest>,
}

impl WideRow {
    /// Approximately how many bytes of memory its texts take.
    fn bytes(&self) -> usize {
        let json = |json: &Option<Json>| json.as_ref().map_or(0, |json| json.get().len());
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let of = |result: &ScorerResult| {
            let answer = &result.answer;
            let error = answer.error.as_ref().map_or(0, |it| it.kind.len() + it.message.len());
            let said = text(&answer.label) + text(&answer.reason) + json(&answer.meta);
            256 + result.scorer.len() + said + json(&answer.assertions) + json(&answer.log) + error
        };
        self.id.len() * 2 + self.case.len() + 256 + self.results.iter().map(of).sum::<usize>()
    }
}

/// The rows as batches with this schema.
pub(crate) fn batches(
    schema: &SchemaRef,
    plan: Digest,
    rows: &[WideRow],
) -> Result<Vec<RecordBatch>, ArrowError> {
    let (mut batches, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (end, row) in rows.iter().enumerate() {
        let more = row.bytes();
        if end > start && bytes + more > MAX_BATCH_BYTES {
            batches.push(batch(schema, plan, &rows[start..end])?);
            (start, bytes) = (end, 0);
        }
        bytes += more;
    }
    if start < rows.len() {
        batches.push(batch(schema, plan, &rows[start..])?);
    }
    Ok(batches)
}

fn batch(schema: &SchemaRef, plan: Digest, rows: &[WideRow]) -> Result<RecordBatch, ArrowError> {
    let plan = plan.to_string();
    let mut columns: Vec<ArrayRef> = RowColumn::ALL
        .into_iter()
        .map(|it| {
            column(it.kind(), rows.iter(), |row| match it {
                RowColumn::Id => Value::Text(row.id.as_str().into()),
                RowColumn::NodeId => Value::Text(row.node_id.as_str().into()),
                RowColumn::Iteration => Value::Integer(row.iteration.into()),
                RowColumn::Attempt => Value::Integer(row.attempt.into()),
                RowColumn::Case => Value::Text((&*row.case).into()),
                RowColumn::CaseDigest => Value::Text(row.case_digest.to_string().into()),
                RowColumn::Plan => Value::Text(plan.as_str().into()),
            })
        })
        .collect();
    let results = || rows.iter().flat_map(|row| &row.results);
    let field = |field: ResultField| column(field.kind(), results(), |it| value(it, field));
    let fields: Vec<ArrayRef> = ResultField::ALL.into_iter().map(field).collect();
    let mut offsets = vec![0];
    for row in rows {
        let count = i32::try_from(row.results.len()).unwrap_or(i32::MAX);
        offsets.push(offsets.last().copied().unwrap_or_default() + count);
    }
    let values = StructArray::try_new(result_fields(), fields, None)?;
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    columns.push(Arc::new(ListArray::try_new(element(), offsets, Arc::new(values), None)?));
    RecordBatch::try_new(Arc::clone(schema), columns)
}

/// A value of a column.
enum Value<'a> {
    Missing,
    Text(std::borrow::Cow<'a, str>),
    Integer(i64),
    Number(f64),
}

fn column<'a, T: 'a>(
    kind: Kind,
    rows: impl Iterator<Item = &'a T>,
    value: impl Fn(&'a T) -> Value<'a>,
) -> ArrayRef {
    let values = rows.map(value);
    match kind {
        Kind::Text => {
            let mut column = StringBuilder::new();
            values.for_each(|value| match value {
                Value::Text(text) => column.append_value(text),
                _ => column.append_null(),
            });
            Arc::new(column.finish())
        }
        Kind::Integer => {
            let mut column = Int64Builder::new();
            values.for_each(|value| match value {
                Value::Integer(number) => column.append_value(number),
                _ => column.append_null(),
            });
            Arc::new(column.finish())
        }
        Kind::Number => {
            let mut column = Float64Builder::new();
            values.for_each(|value| match value {
                Value::Number(number) => column.append_value(number),
                _ => column.append_null(),
            });
            Arc::new(column.finish())
        }
    }
}

/// The value of a field.
fn value<'a>(result: &'a ScorerResult, field: ResultField) -> Value<'a> {
    let text = |text: Option<&'a str>| text.map_or(Value::Missing, |it| Value::Text(it.into()));
    let json = |json: &'a Option<Json>| text(json.as_ref().map(Json::get));
    let count = |count: Option<u64>| {
        count.map_or(Value::Missing, |it| Value::Integer(i64::try_from(it).unwrap_or(i64::MAX)))
    };
    let number = |number: Option<f64>| number.map_or(Value::Missing, Value::Number);
    let answer = &result.answer;
    match field {
        ResultField::Scorer => text(Some(&result.scorer)),
        ResultField::Status => text(Some(answer.status.as_str())),
        ResultField::Score => number(answer.score.filter(|_| answer.status == Status::Scored)),
        ResultField::Label => text(answer.label.as_deref()),
        ResultField::Reason => text(answer.reason.as_deref()),
        ResultField::Meta => json(&answer.meta),
        ResultField::Assertions => json(&answer.assertions),
        ResultField::ErrorKind => text(answer.error.as_ref().map(|error| error.kind.as_str())),
        ResultField::ErrorMessage => {
            text(answer.error.as_ref().map(|error| error.message.as_str()))
        }
        ResultField::Fuel => count(answer.fuel),
        ResultField::MemoryBytes => count(answer.memory_bytes),
        ResultField::DurationMs => number(answer.duration_ms),
        ResultField::ScoredAtMs => Value::Integer(result.scored_at_ms),
        ResultField::Log => json(&answer.log),
        ResultField::InputDigest => result
            .input_digest
            .map_or(Value::Missing, |digest| Value::Text(digest.to_string().into())),
    }
}
