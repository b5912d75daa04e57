//! Finds out which column of a table is which part of a case, and turns the table's rows into cases. It leaves the
//! rules of a case to the library, and scores nothing.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema};
use scorebox::{
    advice::{Advice, Advised as _, Form},
    case::{Case, Key, Location, Mapping},
    contract::Fields,
    row::AnswerError,
};

use scorebox_readers::{Cells, has_json, json_of_text};

use crate::cell::refusal;

/// Why a table does not contain cases.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// A column is named for a key that cases do not have.
    #[error("`{key}` is not a key of a case")]
    UnknownKey {
        /// The name that was given as a key.
        key: String,
    },
    /// The column that is named for a key does not exist.
    #[error("the table has no column `{column}`, which is named for `{key}`")]
    NoColumn {
        /// The key.
        key: String,
        /// The column.
        column: String,
        /// The columns that exist.
        there: Vec<String>,
    },
    /// Two columns are named for one key.
    #[error("two columns are named for `{key}`: `{}` and `{}`", columns[0], columns[1])]
    NamedTwice {
        /// The key.
        key: Key,
        /// The columns.
        columns: [String; 2],
    },
    /// Two columns have the same name.
    #[error("the table has the column `{column}` twice")]
    Twice {
        /// Their name.
        column: String,
    },
    /// The values of a column cannot become JSON.
    #[error("the column `{column}` is not JSON: it has {why}")]
    NotJson {
        /// The column.
        column: String,
        /// What the column contains.
        why: String,
    },
    /// There is no output to score.
    #[error("the table has no column `{key}`")]
    Missing {
        /// The key without a column.
        key: Key,
        /// The columns that exist.
        there: Vec<String>,
    },
}

/// A part of a case, and its columns: in each row, the first one with a value counts.
#[derive(Clone, Debug)]
struct Part {
    key: Key,
    indices: Vec<usize>,
}

/// The columns of a table that are parts of a case.
#[derive(Clone, Debug)]
pub struct Columns {
    parts: Vec<Part>,
    needs_ids: bool,
}

/// A row of a table as a case.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RowCase {
    /// The case's id; for a row that is not a case `case-N`, with N its position from 1.
    pub id: String,
    /// The case, or what is wrong with the row.
    pub case: Result<Case, AnswerError>,
}

impl Columns {
    /// Finds the columns in a table with this schema: those that `mapped` names for the key of a case, and the others
    /// by the spellings of the key. Uses only what `reads` needs of a case, with its id, output, folder and error, or
    /// the whole case.
    ///
    /// # Errors
    /// A name is not a key or a column, a key or a column occurs twice, the values of a column cannot become JSON, or
    /// there is no output.
    pub fn find(
        schema: &Schema,
        mapped: &[(String, String)],
        reads: Option<Fields>,
    ) -> Result<Columns, TableError> {
        let there = || schema.fields().iter().map(|field| field.name().clone()).collect();
        let mut named: Vec<(Key, &str)> = Vec::new();
        for (key, column) in mapped {
            let known = Key::ALL.into_iter().find(|it| it.spellings().contains(&key.as_str()));
            let known = known.ok_or_else(|| TableError::UnknownKey { key: key.clone() })?;
            if schema.index_of(column).is_err() {
                let (key, column) = (key.clone(), column.clone());
                return Err(TableError::NoColumn { key, column, there: there() });
            }
            if let Some((key, before)) = named.iter().find(|(key, _)| *key == known) {
                let columns = [(*before).to_owned(), column.clone()];
                return Err(TableError::NamedTwice { key: *key, columns });
            }
            named.push((known, column.as_str()));
        }
        let wanted = |key: Key| {
            let is_read = |reads: Fields| reads.iter().any(|field| Key::from(field) == key);
            matches!(key, Key::Id | Key::Output | Key::Workspace | Key::Error)
                || reads.is_none_or(is_read)
        };
        let mut parts = Vec::new();
        for key in Key::ALL.into_iter().filter(|key| wanted(*key)) {
            let mapped = named.iter().find(|(mapped, _)| *mapped == key);
            let names = match &mapped {
                Some((_, column)) => std::slice::from_ref(column),
                None => key.spellings(),
            };
            let indices = names.iter().map(|name| index_of(schema, name));
            let indices = indices.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()?;
            if !indices.is_empty() {
                parts.push(Part { key, indices });
            }
        }
        if !parts.iter().any(|part| part.key == Key::Output) {
            return Err(TableError::Missing { key: Key::Output, there: there() });
        }
        Ok(Columns { parts, needs_ids: false })
    }

    /// The same, but each row needs its own id: a case without one is named by its position, which is different on each
    /// machine.
    ///
    /// # Errors
    /// There is no id column.
    pub fn with_ids(mut self, schema: &Schema) -> Result<Columns, TableError> {
        if !self.parts.iter().any(|part| part.key == Key::Id) {
            let there = schema.fields().iter().map(|field| field.name().clone()).collect();
            return Err(TableError::Missing { key: Key::Id, there });
        }
        self.needs_ids = true;
        Ok(self)
    }

    /// The indices of the columns, in ascending order, each once.
    pub fn indices(&self) -> Vec<usize> {
        let mut indices: Vec<usize> =
            self.parts.iter().flat_map(|part| &part.indices).copied().collect();
        indices.sort_unstable();
        indices.dedup();
        indices
    }

    /// The names of the columns of each key, in a table of this schema.
    pub(crate) fn names(&self, schema: &Schema) -> BTreeMap<String, Vec<String>> {
        let name = |index: &usize| schema.field(*index).name().clone();
        let of_part =
            |part: &Part| (part.key.name().to_owned(), part.indices.iter().map(name).collect());
        self.parts.iter().map(of_part).collect()
    }

    /// The same columns in a table that has only those at [`indices`](Columns::indices).
    #[must_use]
    pub fn projected(&self) -> Columns {
        let indices = self.indices();
        let moved = |part: &Part| {
            let moved = |index: &usize| indices.partition_point(|it| it < index);
            Part { key: part.key, indices: part.indices.iter().map(moved).collect() }
        };
        Columns { parts: self.parts.iter().map(moved).collect(), needs_ids: self.needs_ids }
    }

    /// The rows of a batch as cases, one at a time. `before` is how many rows precede the batch, and `table` is the
    /// table's name in messages.
    pub fn cases<'a>(
        &'a self,
        batch: &'a RecordBatch,
        before: u64,
        table: &'a str,
    ) -> impl Iterator<Item = RowCase> + 'a {
        let mut cells = self.cells(batch);
        (0..batch.num_rows()).map(move |row| {
            let ordinal = before + row as u64;
            let location = Location::new(table, ordinal + 1);
            let line = match &mut cells {
                Ok(cells) => line(cells, row),
                Err(why) => Err(AnswerError::new(INVALID, why.clone())),
            };
            let case = line.and_then(|line| {
                let case = Case::parse(line, ordinal, &Mapping::NONE, location.clone());
                case.map_err(|bad| {
                    let mut error = AnswerError::new(INVALID, bad.to_string());
                    error.advice = bad.advice();
                    error
                })
            });
            let case = case.and_then(|case| match self.needs_ids && case.raw(Key::Id).is_none() {
                true => Err(without_id(&location)),
                false => Ok(case),
            });
            let id = case.as_ref().map(|case| case.id().to_owned());
            RowCase { id: id.unwrap_or_else(|_| format!("case-{}", ordinal + 1)), case }
        })
    }

    /// The cells of a batch, or what is wrong with its columns.
    fn cells<'a>(&self, batch: &'a RecordBatch) -> Result<Vec<PartCells<'a>>, String> {
        let fields = batch.schema_ref().fields();
        let of_part = |part: &Part| {
            let cells = part.indices.iter().map(|index| {
                let cells = Cells::of(&fields[*index], batch.column(*index));
                cells.map_err(|why| {
                    format!("the column `{}` cannot be read: {why}", fields[*index].name())
                })
            });
            Ok((part.key, cells.collect::<Result<_, String>>()?))
        };
        self.parts.iter().map(of_part).collect()
    }
}

/// The kind of error of a row that is not a case.
const INVALID: &str = "invalid-case";

/// The index of the column with this name, if there is one.
fn index_of(schema: &Schema, name: &str) -> Result<Option<usize>, TableError> {
    let mut indices = (0..).zip(schema.fields()).filter(|(_, field)| field.name() == name);
    let Some((index, field)) = indices.next() else { return Ok(None) };
    if indices.next().is_some() {
        return Err(TableError::Twice { column: name.to_owned() });
    }
    match refusal_of(field) {
        Some(why) => Err(TableError::NotJson { column: name.to_owned(), why }),
        None => Ok(Some(index)),
    }
}

/// What is wrong with a column. Some have numbers whose meaning is in its metadata alone.
fn refusal_of(field: &Field) -> Option<String> {
    match field.metadata().get(EXTENSION_NAME).map(String::as_str) {
        Some(PERIODS) => Some("periods of pandas, which Arrow has as numbers".to_owned()),
        _ => refusal(field.data_type()),
    }
}

/// Where Arrow names the meaning of a column that is not one of its own types.
const EXTENSION_NAME: &str = "ARROW:extension:name";
/// Spans of time, each as how many such spans came before it.
const PERIODS: &str = "pandas.period";

/// The cells of the columns that a part is in.
type PartCells<'a> = (Key, Vec<Cells<'a>>);

/// The row as a line of JSON.
fn line(parts: &mut [PartCells<'_>], row: usize) -> Result<String, AnswerError> {
    let invalid = |why: String| AnswerError::new(INVALID, why);
    let mut line = Vec::with_capacity(256);
    line.push(b'{');
    for (key, columns) in parts {
        let start = line.len();
        if start > 1 {
            line.push(b',');
        }
        line.extend(format!("\"{}\":", key.name()).bytes());
        let is_there = write_first(&mut line, *key, columns, row)
            .map_err(|why| invalid(format!("`/{key}` cannot be read: {why}")))?;
        match (is_there, *key) {
            (true, _) => {}
            (false, Key::Output) => line.extend_from_slice(b"null"),
            (false, _) => line.truncate(start),
        }
    }
    line.push(b'}');
    String::from_utf8(line).map_err(|error| invalid(error.to_string()))
}

/// Appends the first cell that has a value; returns false if none has.
fn write_first(
    line: &mut Vec<u8>,
    key: Key,
    columns: &mut [Cells<'_>],
    row: usize,
) -> Result<bool, String> {
    let start = line.len();
    for cells in columns {
        cells.write(line, row).map_err(|why| why.to_string())?;
        if has_json(key) && line[start..].starts_with(b"\"") {
            let text = serde_json::from_slice::<String>(&line[start..]);
            let value = json_of_text(key, &text.map_err(|error| error.to_string())?);
            line.truncate(start);
            line.extend_from_slice(value.get().as_bytes());
        }
        if line[start..] != *b"null" {
            return Ok(true);
        }
        line.truncate(start);
    }
    Ok(false)
}

/// The error for a row without an id, which other machines could not distinguish from their rows.
fn without_id(location: &Location) -> AnswerError {
    let mut error = AnswerError::new(INVALID, format!("{location}: the row has no id"));
    error.advice = Some(Advice::Write(Form::RowId));
    error
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        ArrayRef, BinaryArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
        Int64Array, StringArray, TimestampSecondArray,
    };

    use super::*;

    fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, column)| (name, column, true)),
        )
        .unwrap()
    }

    fn texts(values: &[Option<&str>]) -> ArrayRef {
        Arc::new(StringArray::from(values.to_vec()))
    }

    #[test]
    fn a_row_is_a_case_of_the_columns_that_are_keys() {
        let table = batch(vec![
            ("id", texts(&[Some("a"), Some("b")])),
            ("answer", texts(&[Some("x\n"), None])),
            ("other", texts(&[Some("left out"), None])),
            ("metadata", texts(&[Some(r#" {"a":1}"#), None])),
            ("latencyMs", Arc::new(Float64Array::from(vec![Some(1.5), None]))),
        ]);
        let mapped = [("output".to_owned(), "answer".to_owned())];
        let columns = Columns::find(&table.schema(), &mapped, None).unwrap();
        let columns = columns.with_ids(&table.schema()).unwrap();
        let cases: Vec<_> = columns.cases(&table, 0, "t").map(|row| row.case.unwrap()).collect();
        let lines: Vec<_> = cases.iter().map(Case::json).collect();
        assert_eq!(lines.len(), 2);
        assert!(
            lines[0].contains(r#""output":"x\n""#) && lines[0].contains(r#""metadata":{"a":1}"#)
        );
        assert_eq!(lines[1], r#"{"id":"b","output":null}"#);
        // Fewer columns are read, but the cases are the same.
        let few = table.project(&columns.indices()).unwrap();
        let again: Vec<_> = columns.projected().cases(&few, 0, "t").map(|row| row.id).collect();
        assert_eq!(again, ["a", "b"]);
    }

    #[test]
    fn a_row_that_is_not_a_case_says_where_and_why() {
        let table = batch(vec![
            ("id", texts(&[None, None])),
            ("output", Arc::new(Float64Array::from(vec![1.0, f64::NAN]))),
        ]);
        let columns = Columns::find(&table.schema(), &[], None).unwrap();
        let columns = columns.with_ids(&table.schema()).unwrap();
        let wrong: Vec<_> =
            columns.cases(&table, 5, "t").map(|row| row.case.unwrap_err().message).collect();
        assert_eq!(wrong, ["t:6: the row has no id", "t:7: the row has no id"]);
    }

    fn lines(columns: Vec<(&str, ArrayRef)>) -> Vec<String> {
        let table = batch(columns);
        let columns = Columns::find(&table.schema(), &[], None).unwrap();
        columns.cases(&table, 0, "t").map(|row| row.case.unwrap().json().to_owned()).collect()
    }

    #[test]
    fn numbers_are_written_as_other_readers_of_tables_write_them() {
        let numbers: ArrayRef = Arc::new(Float32Array::from(vec![1e38, 1e-40, 0.1, f32::NAN]));
        let outputs: [&str; 4] = ["1e+38", "1e-40", "0.1", "null"];
        let wanted = outputs.map(|output| format!(r#"{{"output":{output}}}"#));
        assert_eq!(lines(vec![("output", numbers)]), wanted);
    }

    #[test]
    fn dates_decimals_and_bytes_are_written_as_other_readers_of_tables_write_them() {
        let decimals = Decimal128Array::from(vec![150]).with_precision_and_scale(5, 2).unwrap();
        let times = TimestampSecondArray::from(vec![0]).with_timezone("UTC");
        let table: Vec<(&str, ArrayRef)> = vec![
            ("output", Arc::new(Date32Array::from(vec![0]))),
            ("input", Arc::new(times)),
            ("expected", Arc::new(decimals)),
            ("id", Arc::new(BinaryArray::from(vec![&b"a"[..]]))),
        ];
        assert_eq!(
            lines(table),
            [
                r#"{"id":"a","input":"1970-01-01T00:00:00Z","output":"1970-01-01","groundTruth":1.50}"#
            ]
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_no_case() {
        let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&b"x"[..], b"\xff"]));
        let table = batch(vec![("output", bytes)]);
        let columns = Columns::find(&table.schema(), &[], None).unwrap();
        let rows: Vec<_> = columns.cases(&table, 0, "t").map(|row| row.case).collect();
        assert_eq!(rows[0].as_ref().unwrap().json(), r#"{"output":"x"}"#);
        let wrong = &rows[1].as_ref().unwrap_err().message;
        assert_eq!(wrong, "`/output` cannot be read: it has bytes that are not UTF-8 text");
    }

    #[test]
    fn texts_are_json_where_a_key_has_json_and_nowhere_else() {
        let skips =
            texts(&[Some("true"), Some("False"), Some("null"), Some("not today"), Some("")]);
        let outputs = texts(&[Some("true"); 5]);
        let attempts = texts(&[Some("1"), Some("2"), None, Some(" 3 "), Some("null")]);
        assert_eq!(
            lines(vec![("output", outputs), ("attempt", attempts), ("skip", skips)]),
            [
                r#"{"output":"true","attempt":1,"skip":true}"#,
                r#"{"output":"true","attempt":2,"skip":false}"#,
                r#"{"output":"true"}"#,
                r#"{"output":"true","attempt":3,"skip":"not today"}"#,
                r#"{"output":"true","skip":""}"#,
            ]
        );
    }

    #[test]
    fn a_key_is_in_the_first_of_its_columns_that_has_a_value_in_the_row() {
        let table = vec![
            ("reference", texts(&[Some("r"), Some("r"), None])),
            ("expected", texts(&[Some("e"), None, None])),
            ("output", texts(&[Some("x"), Some("y"), Some("z")])),
        ];
        assert_eq!(
            lines(table),
            [
                r#"{"output":"x","groundTruth":"e"}"#,
                r#"{"output":"y","groundTruth":"r"}"#,
                r#"{"output":"z"}"#,
            ]
        );
    }

    #[test]
    fn what_is_there_twice_is_refused() {
        let field = |name: &str| arrow_schema::Field::new(name, arrow_schema::DataType::Utf8, true);
        let schema =
            |names: &[&str]| Schema::new(names.iter().map(|it| field(it)).collect::<Vec<_>>());
        let said = |names: &[&str], mapped: &[(&str, &str)]| {
            let mapped: Vec<_> =
                mapped.iter().map(|(key, it)| ((*key).to_owned(), (*it).to_owned())).collect();
            Columns::find(&schema(names), &mapped, None).map(drop).map_err(|it| it.to_string())
        };
        let twice = Err("the table has the column `output` twice".to_owned());
        assert_eq!(said(&["output", "id", "output"], &[]), twice);
        assert_eq!(said(&["output", "note", "note"], &[]), Ok(()), "no one reads it");
        let named = Err("two columns are named for `groundTruth`: `a` and `b`".to_owned());
        let both = [("expected", "a"), ("groundTruth", "b")];
        assert_eq!(said(&["output", "a", "b"], &both), named);
    }

    #[test]
    fn what_is_missing_is_named_with_what_is_there() {
        let table = batch(vec![("answer", Arc::new(Int64Array::from(vec![1])))]);
        let find = |mapped: &[(&str, &str)]| {
            let mapped: Vec<_> =
                mapped.iter().map(|(key, it)| ((*key).to_owned(), (*it).to_owned())).collect();
            let schema = table.schema();
            Columns::find(&schema, &mapped, None).and_then(|it| it.with_ids(&schema))
        };
        let said = |error: TableError| error.to_string();
        assert_eq!(said(find(&[]).unwrap_err()), "the table has no column `output`");
        assert_eq!(
            said(find(&[("output", "answer")]).unwrap_err()),
            "the table has no column `id`"
        );
        assert_eq!(
            said(find(&[("outptu", "answer")]).unwrap_err()),
            "`outptu` is not a key of a case"
        );
        assert_eq!(
            said(find(&[("output", "text")]).unwrap_err()),
            "the table has no column `text`, which is named for `output`"
        );
    }
}
