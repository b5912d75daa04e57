//! Scores a table with one scorer: a case for each row, a row of scores for each case, in the same order. Only one
//! batch of cases is in memory at a time, but all scores are.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use arrow_array::{
    ArrayRef, RecordBatch, RecordBatchIterator,
    builder::{Float64Builder, StringBuilder, UInt64Builder},
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use pyo3::{prelude::*, types::PyCapsule};
use scorebox::{
    case::Key,
    contract::Fields,
    row::{Answer, AnswerError, Json, Status},
    sandbox::LoadedScorer,
};
use scorebox_shards::{Columns, RowCase, TableError};
use tokio::task::JoinSet;

use crate::{
    answer::answer_of,
    capsule::{Batches, CAST, stream_of},
    error::{self, Kind, in_words},
    home::Home,
    selecting::Selected,
    waiting::wait_for,
};

/// Rows that become cases at a time: enough to keep all jobs busy, and few enough to stay small.
const ROWS_AT_ONCE: usize = 4096;
/// Cases that a job takes at a time.
const CASES_OF_A_JOB: usize = 16;
/// Scores of a scorer that can wait that may wait at the same time.
const WAITING: usize = 32;

/// The scores of a table, as a table: an Arrow stream for any library that takes one.
#[pyclass(frozen, module = "scorebox")]
#[derive(Debug)]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Table {
        Table { schema, batches }
    }
}

#[pymethods]
impl Table {
    /// How many rows it has.
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The names of its columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The table by Arrow's PyCapsule interface. A schema that is asked for is not looked at, as the interface allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        stream_of(py, Box::new(reader))
    }

    fn __repr__(&self) -> String {
        format!("Table({} rows: {})", self.__len__(), self.column_names().join(", "))
    }
}

/// Scores a table. `mapped` has pairs of a case key and the column that holds it; the other keys are found by their
/// spellings.
pub(crate) fn score(
    py: Python<'_>,
    home: &Home,
    scorer: &Arc<LoadedScorer>,
    table: &Bound<'_, PyAny>,
    mapped: &[(String, String)],
    jobs: usize,
) -> PyResult<Table> {
    let reads = Some(scorer.info().reads);
    let selected = Selected::of(table, mapped, |names| columns(py, names, mapped, reads))?;
    let mut batches = Batches::of(&selected.table)?;
    let columns = self::columns(py, &batches.schema(), &selected.mapped, reads)?;
    let schema = Arc::new(Schema::new(Column::ALL.map(Column::field).to_vec()));
    let (mut scored, mut before) = (Vec::new(), 0);
    while let Some(batch) = batches.next(py)? {
        for start in (0..batch.num_rows()).step_by(ROWS_AT_ONCE) {
            let rows = batch.slice(start, ROWS_AT_ONCE.min(batch.num_rows() - start));
            let cases: Vec<RowCase> =
                py.detach(|| columns.cases(&rows, before, "<table>").collect());
            before += rows.num_rows() as u64;
            let answered = wait_for(py, home, answers(scorer, cases, jobs))?;
            let written = py.detach(|| written(&schema, &answered));
            scored.push(written.map_err(|error| {
                error::new(py, Kind::Failed, format!("the scores make no table: {error}"))
            })?);
        }
    }
    Ok(Table { schema, batches: scored })
}

/// Finds the columns that hold the parts of a case that the scorer reads.
fn columns(
    py: Python<'_>,
    schema: &Schema,
    mapped: &[(String, String)],
    reads: Option<Fields>,
) -> PyResult<Columns> {
    Columns::find(schema, mapped, reads).map_err(|error| refused(py, &error))
}

/// The exception for a table whose rows are not cases.
pub(crate) fn refused(py: Python<'_>, error: &TableError) -> PyErr {
    let names = |names: &[String]| {
        names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    let advice = match error {
        TableError::UnknownKey { .. } => {
            let keys: Vec<String> = Key::ALL.iter().map(|key| format!("`{key}`")).collect();
            Some(format!("the keys are {}", keys.join(", ")))
        }
        TableError::NoColumn { there, .. } => Some(format!("its columns are {}", names(there))),
        TableError::NotJson { .. } => Some(CAST.to_owned()),
        TableError::Missing { there, .. } if there.is_empty() => {
            Some("it has no columns".to_owned())
        }
        TableError::Missing { key, there } => Some(format!(
            "say which it is: columns={{\"{key}\": …}}; its columns are {}",
            names(there)
        )),
        _ => None,
    };
    let message = match error {
        TableError::UnknownKey { key } => {
            format!("`columns` names `{key}`, which is not a key of a case")
        }
        TableError::NoColumn { key, column, .. } => {
            format!("the table has no column `{column}`, which `columns` names for `{key}`")
        }
        other => other.to_string(),
    };
    error::advised(py, Kind::InvalidArgument, message, advice)
}

/// The answers of the scorer on these cases, in their order.
async fn answers(
    scorer: &Arc<LoadedScorer>,
    cases: Vec<RowCase>,
    jobs: usize,
) -> Vec<(String, Answer)> {
    // A waiting score does not compute, so there are more workers, and each takes one case at a time.
    let (workers, at_once) = match scorer.can_wait() {
        true => (jobs + WAITING, 1),
        false => (jobs, CASES_OF_A_JOB),
    };
    let cases = Arc::new(cases);
    let next = Arc::new(AtomicUsize::new(0));
    let mut working = JoinSet::new();
    for _ in 0..workers.min(cases.len().div_ceil(at_once)) {
        let (scorer, cases, next) = (Arc::clone(scorer), Arc::clone(&cases), Arc::clone(&next));
        working.spawn(async move {
            let mut done = Vec::new();
            loop {
                let start = next.fetch_add(at_once, Ordering::Relaxed);
                let Some(mine) = cases.get(start..).filter(|rest| !rest.is_empty()) else {
                    return done;
                };
                for (index, RowCase { id, case, .. }) in mine.iter().take(at_once).enumerate() {
                    let answer = match case {
                        Ok(case) => answer_of(&scorer, case).await,
                        Err(error) => Answer::of_error(error.clone()),
                    };
                    done.push((start + index, id.clone(), answer));
                }
                // Lets another task run, such as one that ends this one.
                tokio::task::yield_now().await;
            }
        });
    }
    let mut all: Vec<Option<(String, Answer)>> = vec![None; cases.len()];
    while let Some(done) = working.join_next().await {
        for (index, id, answer) in done.into_iter().flatten() {
            all[index] = Some((id, answer));
        }
    }
    let lost = |index: usize| {
        let error =
            AnswerError::new("failed", "a part of the scoring ended by a panic, which is a bug");
        (cases[index].id.clone(), Answer::of_error(error))
    };
    all.into_iter().enumerate().map(|(index, row)| row.unwrap_or_else(|| lost(index))).collect()
}

/// A column of scores.
#[derive(Clone, Copy, Debug)]
enum Column {
    Id,
    Status,
    Score,
    Label,
    Reason,
    Meta,
    Assertions,
    ErrorKind,
    ErrorMessage,
    ErrorAdvice,
    Fuel,
    Memory,
    DurationMs,
    Log,
}

impl Column {
    const ALL: [Column; 14] = [
        Column::Id,
        Column::Status,
        Column::Score,
        Column::Label,
        Column::Reason,
        Column::Meta,
        Column::Assertions,
        Column::ErrorKind,
        Column::ErrorMessage,
        Column::ErrorAdvice,
        Column::Fuel,
        Column::Memory,
        Column::DurationMs,
        Column::Log,
    ];

    fn field(self) -> Field {
        let (name, kind) = match self {
            Column::Id => ("id", DataType::Utf8),
            Column::Status => ("status", DataType::Utf8),
            Column::Score => ("score", DataType::Float64),
            Column::Label => ("label", DataType::Utf8),
            Column::Reason => ("reason", DataType::Utf8),
            Column::Meta => ("meta", DataType::Utf8),
            Column::Assertions => ("assertions", DataType::Utf8),
            Column::ErrorKind => ("error_kind", DataType::Utf8),
            Column::ErrorMessage => ("error_message", DataType::Utf8),
            Column::ErrorAdvice => ("error_advice", DataType::Utf8),
            Column::Fuel => ("fuel", DataType::UInt64),
            Column::Memory => ("memory_bytes", DataType::UInt64),
            Column::DurationMs => ("duration_ms", DataType::Float64),
            Column::Log => ("log", DataType::Utf8),
        };
        Field::new(name, kind, !matches!(self, Column::Id | Column::Status))
    }

    fn array(self, rows: &[(String, Answer)]) -> ArrayRef {
        fn texts<'a>(values: impl Iterator<Item = Option<std::borrow::Cow<'a, str>>>) -> ArrayRef {
            let mut column = StringBuilder::new();
            values.for_each(|value| column.append_option(value));
            Arc::new(column.finish())
        }
        fn floats(values: impl Iterator<Item = Option<f64>>) -> ArrayRef {
            let mut column = Float64Builder::new();
            values.for_each(|value| column.append_option(value));
            Arc::new(column.finish())
        }
        fn counts(values: impl Iterator<Item = Option<u64>>) -> ArrayRef {
            let mut column = UInt64Builder::new();
            values.for_each(|value| column.append_option(value));
            Arc::new(column.finish())
        }
        let answers = rows.iter().map(|(_, answer)| answer);
        let json = |json: &'_ Option<Json>| json.as_ref().map(|json| json.get().to_owned().into());
        match self {
            Column::Id => texts(rows.iter().map(|(id, _)| Some(id.as_str().into()))),
            Column::Status => texts(answers.map(|answer| Some(answer.status.as_str().into()))),
            Column::Score => floats(
                answers.map(|answer| answer.score.filter(|_| answer.status == Status::Scored)),
            ),
            Column::Label => texts(answers.map(|answer| Some(answer.label.as_deref()?.into()))),
            Column::Reason => texts(answers.map(|answer| Some(answer.reason.as_deref()?.into()))),
            Column::Meta => texts(answers.map(|answer| json(&answer.meta))),
            Column::Assertions => texts(answers.map(|answer| json(&answer.assertions))),
            Column::ErrorKind => {
                texts(answers.map(|answer| Some(answer.error.as_ref()?.kind.as_str().into())))
            }
            Column::ErrorMessage => {
                texts(answers.map(|answer| Some(answer.error.as_ref()?.message.as_str().into())))
            }
            Column::ErrorAdvice => texts(
                answers
                    .map(|answer| Some(in_words(answer.error.as_ref()?.advice.as_ref())?.into())),
            ),
            Column::Fuel => counts(answers.map(|answer| answer.fuel)),
            Column::Memory => counts(answers.map(|answer| answer.memory_bytes)),
            Column::DurationMs => floats(answers.map(|answer| answer.duration_ms)),
            Column::Log => texts(answers.map(|answer| json(&answer.log))),
        }
    }
}

fn written(
    schema: &SchemaRef,
    rows: &[(String, Answer)],
) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let columns = Column::ALL.map(|column| column.array(rows)).to_vec();
    RecordBatch::try_new(Arc::clone(schema), columns)
}
