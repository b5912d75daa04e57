//! Which column of a table is which part of a case, and the rows of the table as cases. The rules of a case are the
//! library's; nothing is scored.

use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::Schema;
use scorebox::{
    advice::Advised as _,
    case::{Case, Key, Location, Mapping},
    contract::Fields,
    row::AnswerError,
};

use crate::cell::{self, push_text, refusal};

/// Why a table does not hold cases.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// What is to be found in a column is not a key of a case.
    #[error("`{key}` is not a key of a case")]
    UnknownKey {
        /// What was named.
        key: String,
    },
    /// The column that is named for a key is not there.
    #[error("the table has no column `{column}`, which is named for `{key}`")]
    NoColumn {
        /// The key.
        key: String,
        /// The column.
        column: String,
        /// The columns that there are.
        there: Vec<String>,
    },
    /// A column has values that are not JSON, whatever they are.
    #[error("the column `{column}` is not JSON: it has {why}")]
    NotJson {
        /// The column.
        column: String,
        /// What it has.
        why: String,
    },
    /// There is no output to score.
    #[error("the table has no column `{key}`")]
    Missing {
        /// The key without a column.
        key: Key,
        /// The columns that there are.
        there: Vec<String>,
    },
}

/// A part of a case, and where it is.
#[derive(Clone, Debug)]
struct Part {
    key: Key,
    place: usize,
    name: String,
    /// Whether its texts are JSON already: of parts that no text alone can be.
    is_document: bool,
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
    /// The case's id; of a row that is no case `case-N`, with N its place, from 1.
    pub id: String,
    /// The case, or what is wrong with the row.
    pub case: Result<Case, AnswerError>,
}

impl Columns {
    /// Finds the columns in a table of this schema: those that `mapped` names for the key of a case, and the others by the
    /// key's spellings. Only `reads` of a case, with its id, output and folder, or the whole of it.
    ///
    /// # Errors
    /// A name is not a key or a column, a column is not JSON, or there is no output.
    pub fn find(
        schema: &Schema,
        mapped: &[(String, String)],
        reads: Option<Fields>,
    ) -> Result<Columns, TableError> {
        let there = || schema.fields().iter().map(|field| field.name().clone()).collect();
        let mut named = Vec::new();
        for (key, column) in mapped {
            let known = Key::ALL.into_iter().find(|it| it.spellings().contains(&key.as_str()));
            let known = known.ok_or_else(|| TableError::UnknownKey { key: key.clone() })?;
            if schema.index_of(column).is_err() {
                let (key, column) = (key.clone(), column.clone());
                return Err(TableError::NoColumn { key, column, there: there() });
            }
            named.push((known, column.as_str()));
        }
        let wanted = |key: Key| {
            let is_read = |reads: Fields| reads.iter().any(|field| Key::from(field) == key);
            matches!(key, Key::Id | Key::Output | Key::Workspace) || reads.is_none_or(is_read)
        };
        let mut parts = Vec::new();
        for key in Key::ALL.into_iter().filter(|key| wanted(*key)) {
            let mapped = named.iter().find(|(mapped, _)| *mapped == key).map(|(_, column)| *column);
            let spelled =
                || key.spellings().iter().copied().find(|name| schema.index_of(name).is_ok());
            let Some(name) = mapped.or_else(spelled) else { continue };
            let Ok(place) = schema.index_of(name) else { continue };
            if let Some(why) = refusal(schema.field(place).data_type()) {
                return Err(TableError::NotJson { column: name.to_owned(), why });
            }
            let is_document =
                matches!(key, Key::Trace | Key::Metadata | Key::Usage | Key::OutputSchema);
            parts.push(Part { key, place, name: name.to_owned(), is_document });
        }
        if !parts.iter().any(|part| part.key == Key::Output) {
            return Err(TableError::Missing { key: Key::Output, there: there() });
        }
        Ok(Columns { parts, needs_ids: false })
    }

    /// The same, in which each row needs an id of its own. The order of reading, which names a case without one, is
    /// another on each machine.
    ///
    /// # Errors
    /// There is no column of ids.
    pub fn with_ids(mut self, schema: &Schema) -> Result<Columns, TableError> {
        if !self.parts.iter().any(|part| part.key == Key::Id) {
            let there = schema.fields().iter().map(|field| field.name().clone()).collect();
            return Err(TableError::Missing { key: Key::Id, there });
        }
        self.needs_ids = true;
        Ok(self)
    }

    /// The places of the columns, in ascending order, each once.
    pub fn places(&self) -> Vec<usize> {
        let mut places: Vec<usize> = self.parts.iter().map(|part| part.place).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The same columns in a table that has only those at [`places`](Columns::places).
    #[must_use]
    pub fn projected(&self) -> Columns {
        let places = self.places();
        let moved = |part: &Part| {
            let place = places.iter().position(|place| *place == part.place);
            Part { place: place.unwrap_or_default(), ..part.clone() }
        };
        Columns { parts: self.parts.iter().map(moved).collect(), needs_ids: self.needs_ids }
    }

    /// The rows of a batch as cases, one at a time. `before` is how many rows came before it, and `table` what messages call
    /// the table.
    pub fn cases<'a>(
        &'a self,
        batch: &'a RecordBatch,
        before: u64,
        table: &'a str,
    ) -> impl Iterator<Item = RowCase> + 'a {
        let columns: Vec<(&Part, &ArrayRef)> =
            self.parts.iter().map(|part| (part, batch.column(part.place))).collect();
        let mut line = String::new();
        (0..batch.num_rows()).map(move |row| {
            let ordinal = before + row as u64;
            line.clear();
            let location = Location::new(table, ordinal + 1);
            let case = write_line(&mut line, &columns, row).and_then(|()| {
                let case = Case::parse(line.as_str(), ordinal, &Mapping::NONE, location.clone());
                case.map_err(|bad| {
                    let mut error = AnswerError::new(INVALID, bad.to_string());
                    error.advice = bad.advice();
                    error
                })
            });
            let case = case.and_then(|case| match self.needs_ids && case.raw(Key::Id).is_none() {
                true => Err(AnswerError::new(INVALID, format!("{location}: the row has no id"))),
                false => Ok(case),
            });
            let id = case.as_ref().map(|case| case.id().to_owned());
            RowCase { id: id.unwrap_or_else(|_| format!("case-{}", ordinal + 1)), case }
        })
    }
}

/// The kind of error of a row that is not a case.
const INVALID: &str = "invalid-case";

fn write_line(
    line: &mut String,
    columns: &[(&Part, &ArrayRef)],
    row: usize,
) -> Result<(), AnswerError> {
    line.push('{');
    for (part, column) in columns {
        // Only an output may be null.
        if column.is_null(row) && part.key != Key::Output {
            continue;
        }
        if line.len() > 1 {
            line.push(',');
        }
        push_text(line, part.key.name());
        line.push(':');
        let document = part.is_document.then(|| cell::text(column, row)).map(str::trim_start);
        match document.filter(|text| text.starts_with(['{', '['])) {
            Some(text) => line.push_str(text),
            None => cell::write(line, column, row)
                .map_err(|refused| AnswerError::new(INVALID, refused.in_words(&part.name)))?,
        }
    }
    line.push('}');
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Float64Array, Int64Array, StringArray};

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
        // Fewer columns are read, and the cases stay the same.
        let few = table.project(&columns.places()).unwrap();
        let again: Vec<_> = columns.projected().cases(&few, 0, "t").map(|row| row.id).collect();
        assert_eq!(again, ["a", "b"]);
    }

    #[test]
    fn a_row_that_is_no_case_says_where_and_why() {
        let table = batch(vec![
            ("id", texts(&[None, Some("b")])),
            ("output", Arc::new(Float64Array::from(vec![1.0, f64::NAN]))),
        ]);
        let columns = Columns::find(&table.schema(), &[], None).unwrap();
        let columns = columns.with_ids(&table.schema()).unwrap();
        let wrong: Vec<_> =
            columns.cases(&table, 5, "t").map(|row| row.case.unwrap_err().message).collect();
        assert_eq!(wrong, ["t:6: the row has no id", "`/output` is not JSON: NaN"]);
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
