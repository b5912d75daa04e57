//! Turns a batch of cases into batches of results: the one function that shards, data engines and programs call. It
//! makes no decisions beyond those of a run.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use scorebox::{
    case::{Case, Location},
    digest::Digest,
    row::AnswerError,
    run::{ReadyScorer, score_rows},
    store::RunId,
    suite::Suite,
};

use crate::{
    columns::Columns,
    error::ShardError,
    plan::Plan,
    results::{ScorerResult, WideRow, batches},
};

/// The number of rows, and of bytes of cases, that are scored at a time: enough to keep all jobs busy, but few enough
/// to take little memory.
const MAX_ROWS: usize = 4096;
const MAX_BYTES: usize = 16 << 20;

/// Scores batches with a suite. It is cheap to clone.
#[derive(Clone, Debug)]
pub struct BatchScorer {
    suite: Suite,
    scorers: Arc<[ReadyScorer]>,
    jobs: usize,
    plan: Arc<Plan>,
    plan_digest: Digest,
    schema: SchemaRef,
}

impl BatchScorer {
    /// Prepares the suite with its loaded scorers for the run with this id, with this many jobs.
    ///
    /// # Errors
    /// [`ShardError::AsksJudge`]: answers of judges are recorded in a database, which machines do not share.
    pub fn new(
        suite: Suite,
        scorers: Vec<ReadyScorer>,
        run: &RunId,
        jobs: usize,
    ) -> Result<BatchScorer, ShardError> {
        if let Some(ready) = scorers.iter().find(|ready| ready.scorer.asks_judge()) {
            return Err(ShardError::AsksJudge { scorer: ready.id.to_string() });
        }
        let plan = Plan::new(run, &suite, &scorers);
        let (plan_digest, schema) = (plan.digest(), plan.schema());
        let scorers = scorers.into();
        Ok(BatchScorer { suite, scorers, jobs, plan: Arc::new(plan), plan_digest, schema })
    }

    /// The plan that this scores with.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The schema of the results.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The columns of a table of cases that has this schema; `mapped` contains pairs of a key of a case and a column.
    ///
    /// # Errors
    /// [`ShardError::Table`]: there is no output or id, or the values of a column cannot become JSON.
    pub fn columns(
        &self,
        table: &Schema,
        mapped: &[(String, String)],
    ) -> Result<Columns, ShardError> {
        Ok(Columns::find(table, mapped, None)?.with_ids(table)?)
    }

    /// Scores the cases of a batch and returns all their results, in the order of the cases, as one or more batches
    /// with [`schema`](BatchScorer::schema). `before` is how many rows of the table precede the batch, and `table` is
    /// the table's name in messages.
    ///
    /// # Errors
    /// [`ShardError::BadRow`]: a row is not a case; [`ShardError::Run`].
    pub async fn score(
        &self,
        batch: &RecordBatch,
        columns: &Columns,
        before: u64,
        table: &str,
    ) -> Result<Vec<RecordBatch>, ShardError> {
        let (mut scored, mut scoring) = (Vec::new(), self.scoring(batch, columns, before, table));
        while let Some(results) = scoring.next().await? {
            scored.extend(results);
        }
        Ok(scored)
    }

    /// The same, a part of the batch at a time: its cases may take far more memory than the batch, which stores a text
    /// only once even if many cases contain it.
    pub fn scoring<'a>(
        &'a self,
        batch: &'a RecordBatch,
        columns: &'a Columns,
        before: u64,
        table: &'a str,
    ) -> Scoring<'a> {
        Scoring { scorer: self, batch, columns, before, table, next_row: 0 }
    }

    async fn results(&self, cases: Vec<Case>) -> Result<Vec<RecordBatch>, ShardError> {
        let of_cases = score_rows(&self.suite, &self.scorers, self.jobs, cases.clone()).await?;
        let wide = cases.iter().zip(of_cases).map(|(case, rows)| WideRow {
            id: case.id().to_owned(),
            node_id: case.node_id().to_owned(),
            iteration: case.iteration(),
            attempt: case.attempt(),
            case: case.json().into(),
            case_digest: case.digest(),
            results: rows
                .into_iter()
                .map(|row| ScorerResult {
                    scorer: row.scorer_id,
                    answer: row.answer,
                    scored_at_ms: row.scored_at_ms,
                    input_digest: row.input_digest,
                })
                .collect(),
        });
        Ok(batches(&self.schema, self.plan_digest, &wide.collect::<Vec<_>>())?)
    }
}

/// A batch that is being scored.
#[derive(Debug)]
pub struct Scoring<'a> {
    scorer: &'a BatchScorer,
    batch: &'a RecordBatch,
    columns: &'a Columns,
    before: u64,
    table: &'a str,
    /// The first row that has not been scored.
    next_row: usize,
}

impl Scoring<'_> {
    /// The results of the next cases; `None` after the last ones.
    ///
    /// # Errors
    /// The same as for [`BatchScorer::score`].
    pub async fn next(&mut self) -> Result<Option<Vec<RecordBatch>>, ShardError> {
        let cases = self.cases()?;
        match cases.is_empty() {
            true => Ok(None),
            false => self.scorer.results(cases).await.map(Some),
        }
    }

    /// The next cases.
    fn cases(&mut self) -> Result<Vec<Case>, ShardError> {
        let rows = MAX_ROWS.min(self.batch.num_rows() - self.next_row);
        let rows = self.batch.slice(self.next_row, rows);
        let before = self.before + self.next_row as u64;
        let (mut cases, mut bytes) = (Vec::new(), 0);
        for (number, row) in (1..).zip(self.columns.cases(&rows, before, self.table)) {
            let at = Location::new(self.table, before + number);
            let case = row.case.map_err(|error| bad_row(&at, error))?;
            bytes += case.json().len();
            cases.push(case);
            if bytes >= MAX_BYTES {
                break;
            }
        }
        self.next_row += cases.len();
        Ok(cases)
    }
}

/// Adds the row's position, which the library's messages contain but those about cells do not.
fn bad_row(at: &Location, mut error: AnswerError) -> ShardError {
    // Some have the column as well: `TABLE:ROW:COLUMN: …`.
    if !error.message.starts_with(&format!("{at}:")) {
        error.message.insert_str(0, &format!("{at}: "));
    }
    ShardError::BadRow { error }
}
