//! Turns batches of results into rows and checks them against the plan, because any program may have written the file.
//! It leaves to `checking` what an answer must be.

use arrow_array::{Array as _, ArrayRef, RecordBatch, StructArray, cast::AsArray as _};
use arrow_schema::DataType;
use scorebox::{
    case::{Case, Location, Mapping},
    digest::Digest,
    row::{Answer, AnswerError, Json, Status},
};

use crate::{
    cell::{integer_at as integer, number_at as number, text_at as text},
    checking::check,
    plan::Plan,
    results::{ScorerResult, WideRow},
    schema::{ResultField, RowColumn},
};

/// A row that follows its plan, with its case.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    pub row: WideRow,
    /// The case, split into its parts.
    pub case: Case,
}

/// The columns of a batch of results.
pub(crate) struct Batch<'a> {
    /// The columns, each at the index of its [`RowColumn`].
    rows: Vec<&'a ArrayRef>,
    results: &'a ArrayRef,
    plan: &'a Plan,
    plan_digest: String,
}

impl<'a> Batch<'a> {
    /// Finds the columns; the error is what is wrong with them if they are not columns of results.
    pub(crate) fn of(
        batch: &'a RecordBatch,
        plan: &'a Plan,
        plan_digest: Digest,
    ) -> Result<Batch<'a>, String> {
        let named = |name: &str| {
            batch.column_by_name(name).ok_or_else(|| format!("there is no column `{name}`"))
        };
        let rows = RowColumn::ALL.into_iter().map(|it| named(it.name()));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let results = named("results")?;
        let is_list = matches!(results.data_type(), DataType::List(_) | DataType::LargeList(_));
        if !is_list {
            return Err(format!("`results` is not a list but {}", results.data_type()));
        }
        Ok(Batch { rows, results, plan, plan_digest: plan_digest.to_string() })
    }

    fn column(&self, column: RowColumn) -> &'a ArrayRef {
        self.rows[column.index()]
    }

    /// How the plan of the row at this index differs from the suite that the caller names, as text.
    pub(crate) fn difference_of_plan(&self, index: usize) -> Option<String> {
        let named =
            text(self.column(RowColumn::Plan), index).filter(|named| *named != self.plan_digest)?;
        let [named, plan] = [named, &self.plan_digest].map(short);
        Some(format!("it was scored with the plan {named}…, and that of the suite is {plan}…"))
    }

    /// The row at this index of the batch; messages use `location`.
    pub(crate) fn row(&self, index: usize, location: Location) -> Result<Checked, String> {
        let text = |column: RowColumn| {
            text(self.column(column), index)
                .ok_or_else(|| format!("`{}` is not text, or has no value", column.name()))
        };
        let count = |column: RowColumn| {
            let number = integer(self.column(column), index);
            let count = number.and_then(|number| u32::try_from(number).ok());
            count.ok_or_else(|| format!("`{}` is not a count", column.name()))
        };
        let named = text(RowColumn::Plan)?;
        if named != self.plan_digest {
            let [named, plan] = [named, &self.plan_digest].map(short);
            return Err(format!(
                "it was scored with the plan {named}…, and the shard's is {plan}…"
            ));
        }
        let line = text(RowColumn::Case)?;
        let case = Case::parse(line, 0, &Mapping::NONE, location).map_err(|bad| bad.to_string())?;
        let row = WideRow {
            id: text(RowColumn::Id)?.to_owned(),
            node_id: text(RowColumn::NodeId)?.to_owned(),
            iteration: count(RowColumn::Iteration)?,
            attempt: count(RowColumn::Attempt)?,
            case: line.into(),
            case_digest: digest(text(RowColumn::CaseDigest)?)
                .ok_or("`case_digest` is not a digest")?,
            results: self.results(index)?,
        };
        let is_of_its_case = row.id == case.id()
            && row.node_id == case.node_id()
            && row.iteration == case.iteration()
            && row.attempt == case.attempt()
            && row.case_digest == case.digest();
        if !is_of_its_case {
            return Err("its columns are not those of its `case`".to_owned());
        }
        Ok(Checked { row, case })
    }

    fn results(&self, row: usize) -> Result<Vec<ScorerResult>, String> {
        if self.results.is_null(row) {
            return Err("`results` has no value".to_owned());
        }
        let list = match self.results.data_type() {
            DataType::List(_) => self.results.as_list::<i32>().value(row),
            _ => self.results.as_list::<i64>().value(row),
        };
        let list = list.as_struct_opt().ok_or("`results` is not a list of structures")?;
        let wanted = &self.plan.scorers;
        if list.len() != wanted.len() {
            return Err(format!("it has results of {} scorers, not {}", list.len(), wanted.len()));
        }
        let fields = fields(list)?;
        let results = wanted.iter().enumerate().map(|(at, spec)| {
            let result = result(&fields, at)?;
            if result.scorer != spec.scorer_id {
                return Err(format!(
                    "a result of `{}` stands where one of `{}` should be",
                    result.scorer, spec.scorer_id
                ));
            }
            check(&result.answer, spec)
                .map_err(|why| format!("the result of `{}`: {why}", spec.scorer_id))?;
            Ok(result)
        });
        results.collect()
    }
}

/// The fields of the structures, each at the index of its [`ResultField`].
fn fields(list: &StructArray) -> Result<Vec<&ArrayRef>, String> {
    let array = |field: ResultField| {
        let name = field.name();
        list.column_by_name(name).ok_or_else(|| format!("`results` has no field `{name}`"))
    };
    ResultField::ALL.into_iter().map(array).collect()
}

fn result(fields: &[&ArrayRef], at: usize) -> Result<ScorerResult, String> {
    let array = |field: ResultField| fields[field.index()];
    let said = |field| text(array(field), at).map(str::to_owned);
    let json = |field| said(field).map(Json::from);
    let number = |field| number(array(field), at);
    let count = |field: ResultField| count(array(field), at, field.name());
    let word = said(ResultField::Status).ok_or("a result has no status")?;
    let known = [Status::Scored, Status::NotApplicable, Status::Skipped, Status::Error];
    let status = known.into_iter().find(|status| status.as_str() == word);
    let status = status.ok_or_else(|| format!("`{word}` is not a status"))?;
    let mut answer = Answer::new(status);
    answer.score = number(ResultField::Score);
    let is_score = answer.score.is_some_and(|score| score.is_finite() && score >= 0.0);
    if is_score != (status == Status::Scored) {
        return Err(match answer.score {
            Some(score) => format!("a result with the status `{word}` has the score {score}"),
            None => format!("a result with the status `{word}` has no score"),
        });
    }
    answer.label = said(ResultField::Label);
    answer.reason = said(ResultField::Reason);
    answer.meta = json(ResultField::Meta);
    answer.assertions = json(ResultField::Assertions);
    answer.error = said(ResultField::ErrorKind)
        .map(|kind| AnswerError::new(kind, said(ResultField::ErrorMessage).unwrap_or_default()));
    if answer.error.is_some() != (status == Status::Error) {
        let error = answer.error.as_ref().map_or("no error", |_| "an error");
        return Err(format!("a result with the status `{word}` has {error}"));
    }
    answer.fuel = count(ResultField::Fuel)?;
    answer.memory_bytes = count(ResultField::MemoryBytes)?;
    answer.duration_ms = number(ResultField::DurationMs);
    if let Some(duration) = answer.duration_ms.filter(|it| !it.is_finite() || *it < 0.0) {
        return Err(format!("`duration_ms` is {duration}, and must be finite and 0 or more"));
    }
    answer.log = json(ResultField::Log);
    let input_digest = match said(ResultField::InputDigest) {
        Some(text) => Some(digest(&text).ok_or("`input_digest` is not a digest")?),
        None => None,
    };
    Ok(ScorerResult {
        scorer: said(ResultField::Scorer).ok_or("a result has no scorer")?,
        answer,
        scored_at_ms: integer(array(ResultField::ScoredAtMs), at).ok_or("a result has no time")?,
        input_digest,
    })
}

/// A count that may be missing.
fn count(array: &ArrayRef, at: usize, name: &str) -> Result<Option<u64>, String> {
    let number = integer(array, at);
    let count = number.map(u64::try_from).transpose();
    count.map_err(|_| format!("`{name}` is {}, and must be 0 or more", number.unwrap_or_default()))
}

fn digest(text: &str) -> Option<Digest> {
    text.parse().ok()
}

/// The beginning of a digest; the text may not be a digest.
fn short(digest: &str) -> String {
    digest.chars().take(12).collect()
}
