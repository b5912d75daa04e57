//! A row of a table as the line of a case: its columns are the line's keys, and it has an id and its origin. Knows no format
//! of tables.

use scorebox::case::{Key, Mapping};
use serde::{Deserialize, Deserializer, de::MapAccess};
use serde_json::{Map, Value, value::RawValue};

use crate::{
    format::Format,
    problem::Problem,
    record::{ORIGIN, Origin},
};

/// Keys whose values are numbers, objects or lists, and stand in a text column as JSON.
const JSON_KEYS: [Key; 8] = [
    Key::LatencyMs,
    Key::OutputSchema,
    Key::Trace,
    Key::Usage,
    Key::Metadata,
    Key::Iteration,
    Key::Attempt,
    Key::Skip,
];

/// Whether a text in the column of this key is read as JSON.
pub fn has_json(key: Key) -> bool {
    JSON_KEYS.contains(&key)
}

/// What a text in such a column is: the JSON that it is, with Python's and other spellings of truth; else the text itself.
pub fn json_of_text(text: &str) -> Value {
    match text {
        "True" | "TRUE" => true.into(),
        "False" | "FALSE" => false.into(),
        text => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
    }
}

/// What is known of a table's columns.
#[derive(Debug)]
pub(crate) struct Columns {
    /// Columns of a text that is JSON.
    json: Vec<String>,
    /// The columns that the mapping names first.
    mapped: Vec<String>,
    /// The column of the output, which may have no value.
    output: String,
}

impl Columns {
    /// By the names of the keys, and the mapping.
    pub(crate) fn of(mapping: &Mapping) -> Columns {
        let column = |key: Key| mapping.pointer(key).and_then(column_of);
        let json = JSON_KEYS.into_iter().flat_map(|key| match column(key) {
            Some(column) => vec![column],
            None => key.spellings().iter().map(|it| (*it).to_owned()).collect(),
        });
        let mapped = Key::ALL.into_iter().filter_map(column).collect();
        let output = column(Key::Output).unwrap_or_else(|| Key::Output.name().to_owned());
        Columns { json: json.collect(), mapped, output }
    }

    /// Whether a column is a key of a case, or the mapping says so.
    pub(crate) fn is_key(&self, column: &str) -> bool {
        let mut spellings = Key::ALL.into_iter().flat_map(Key::spellings);
        self.mapped.iter().any(|mapped| mapped == column) || spellings.any(|it| *it == column)
    }

    /// A text in this column: the value that it is, if the column has JSON and it is.
    pub(crate) fn text(&self, column: &str, text: &str) -> Value {
        if !self.json.iter().any(|it| it == column) {
            return text.into();
        }
        json_of_text(text)
    }
}

/// The column that a pointer goes into first.
fn column_of(pointer: &str) -> Option<String> {
    let first = pointer.strip_prefix('/')?.split('/').next()?;
    Some(first.replace("~1", "/").replace("~0", "~"))
}

/// Where a row is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowPlace<'a> {
    pub format: Format,
    /// The name of the file or folder.
    pub file: &'a str,
    /// What stands before the number in the id of a row that has none.
    pub name: &'a str,
    /// The part of a dataset.
    pub split: Option<&'a str>,
    /// From 1.
    pub row: u64,
}

impl RowPlace<'_> {
    fn origin(&self) -> Origin {
        Origin::new(self.format, self.file, self.row).with("split", self.split)
    }
}

/// The members of a row, in order, as JSON.
#[derive(Debug)]
pub(crate) struct Row(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Row, D::Error> {
        struct Members;

        impl<'de> serde::de::Visitor<'de> for Members {
            type Value = Row;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<Row, M::Error> {
                let mut row = Vec::new();
                while let Some(member) = members.next_entry()? {
                    row.push(member);
                }
                Ok(Row(row))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// The line of a row that is a JSON object already.
pub(crate) fn line_of_object(
    object: &[u8],
    columns: &Columns,
    at: RowPlace<'_>,
) -> Result<Vec<u8>, Problem> {
    let wrong = |error: serde_json::Error| Problem::json(&format!("row {}", at.row), &error);
    let Row(members) = serde_json::from_slice(object).map_err(wrong)?;
    let members = members.into_iter().map(|(name, raw)| {
        // A text may be JSON.
        let value = match raw.get().starts_with('"') && columns.json.contains(&name) {
            false => Cell::Raw(raw),
            true => Cell::Value(columns.text(&name, &serde_json::from_str::<String>(raw.get())?)),
        };
        Ok((name, value))
    });
    let members: Vec<(String, Cell)> = members.collect::<Result<_, _>>().map_err(wrong)?;
    line(members, columns, at).map_err(wrong)
}

/// The line of a row of texts. An empty one is no value, but as an output it is an empty text.
pub(crate) fn line_of_texts<'a>(
    cells: impl Iterator<Item = (&'a str, &'a str)>,
    columns: &Columns,
    at: RowPlace<'_>,
) -> Result<Vec<u8>, Problem> {
    let cells = cells.map(|(column, text)| {
        let value = match text.is_empty() && column != columns.output {
            true => Value::Null,
            false => columns.text(column, text),
        };
        (column.to_owned(), Cell::Value(value))
    });
    line(cells.collect(), columns, at)
        .map_err(|error| Problem::json(&format!("row {}", at.row), &error))
}

#[derive(serde::Serialize)]
#[serde(untagged)]
enum Cell {
    Value(Value),
    Raw(Box<RawValue>),
}

impl Cell {
    fn is_null(&self) -> bool {
        match self {
            Cell::Value(value) => value.is_null(),
            Cell::Raw(raw) => raw.get() == "null",
        }
    }
}

/// The cells as an object, with an id, and the origin in the metadata.
fn line(
    cells: Vec<(String, Cell)>,
    columns: &Columns,
    at: RowPlace<'_>,
) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = Vec::with_capacity(256);
    line.push(b'{');
    let mut put = |name: &str, value: &Cell| {
        if line.len() > 1 {
            line.push(b',');
        }
        serde_json::to_writer(&mut line, name)?;
        line.push(b':');
        serde_json::to_writer(&mut line, value)
    };
    let has_id = cells.iter().any(|(name, value)| name == "id" && !value.is_null());
    if !has_id {
        put("id", &Cell::Value(format!("{}:{}", at.name, at.row).into()))?;
    }
    let mut metadata = Cell::Value(Value::Object(Map::new()));
    // The case reader takes `metadata` before its other spelling; which is there gets the origin.
    let spelled = Key::Metadata
        .spellings()
        .iter()
        .find(|spelling| cells.iter().any(|(name, value)| name == **spelling && !value.is_null()));
    let spelled = *spelled.unwrap_or(&"metadata");
    for (name, value) in cells {
        if name == spelled && !value.is_null() {
            metadata = value;
        } else if !value.is_null() || name == columns.output {
            put(&name, &value)?;
        }
    }
    let own: Result<Map<String, Value>, _> = match &metadata {
        Cell::Value(Value::Object(members)) => Ok(members.clone()),
        Cell::Value(_) => Err(()),
        Cell::Raw(raw) => serde_json::from_str(raw.get()).map_err(drop),
    };
    match own {
        Ok(mut members) => {
            members.insert(ORIGIN.to_owned(), Value::Object(at.origin().0));
            put(spelled, &Cell::Value(Value::Object(members)))?;
        }
        // What is no object has no room for it.
        Err(()) => put(spelled, &metadata)?,
    }
    line.push(b'}');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: RowPlace<'_> =
        RowPlace { format: Format::Csv, file: "a.csv", name: "a", split: None, row: 7 };

    fn texts(cells: &[(&str, &str)], rules: &[&str]) -> String {
        let columns = Columns::of(&Mapping::parse(rules).unwrap());
        let line = line_of_texts(cells.iter().copied(), &columns, AT).unwrap();
        String::from_utf8(line).unwrap()
    }

    fn object(text: &str) -> String {
        let line = line_of_object(text.as_bytes(), &Columns::of(&Mapping::NONE), AT).unwrap();
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn a_row_gets_an_id_and_its_origin() {
        assert_eq!(
            texts(&[("output", "x"), ("expected", ""), ("note", "n")], &[]),
            r#"{"id":"a:7","output":"x","note":"n","metadata":{"origin":{"file":"a.csv","format":"csv","record":7}}}"#
        );
        assert!(
            texts(&[("id", "q"), ("output", "x")], &[]).starts_with(r#"{"id":"q","output":"x","#)
        );
    }

    #[test]
    fn what_a_row_has_as_metadata_stays_beside_the_origin() {
        let origin = r#""origin":{"file":"a.csv","format":"csv","record":7}"#;
        assert!(
            object(r#"{"output":1,"meta":{"topic":1.50}}"#)
                .ends_with(&format!(r#""meta":{{{origin},"topic":1.5}}}}"#))
        );
        assert!(
            object(r#"{"output":1,"metadata":"{\"a\":1}"}"#)
                .ends_with(&format!(r#""metadata":{{"a":1,{origin}}}}}"#))
        );
        assert!(object(r#"{"output":1,"metadata":"words"}"#).ends_with(r#""metadata":"words"}"#));
    }

    #[test]
    fn numbers_and_json_are_read_where_a_key_has_them_and_nowhere_else() {
        let line =
            texts(&[("output", "4"), ("latencyMs", "12.5"), ("skip", "True"), ("x", "{}")], &[]);
        assert!(line.contains(r#""output":"4","latencyMs":12.5,"skip":true,"x":"{}""#), "{line}");
        let line =
            texts(&[("output", "4"), ("ms", "12.5"), ("latencyMs", "1")], &["latencyMs=/ms"]);
        assert!(line.contains(r#""ms":12.5,"latencyMs":"1""#), "{line}");
    }

    #[test]
    fn an_output_may_be_empty_or_missing_and_other_cells_are_then_no_keys() {
        assert!(
            texts(&[("input", ""), ("output", "")], &[]).starts_with(r#"{"id":"a:7","output":"","#)
        );
        assert!(
            object(r#"{"input":null,"output":null}"#).starts_with(r#"{"id":"a:7","output":null,"#)
        );
        let line = texts(&[("output", ""), ("answer", "")], &["output=/answer"]);
        assert!(line.starts_with(r#"{"id":"a:7","answer":"","#), "{line}");
    }

    #[test]
    fn values_that_were_read_as_json_are_passed_on_as_they_are() {
        assert!(
            object(r#"{"output":{"b":1.50,"a":[2e0]}}"#)
                .contains(r#""output":{"b":1.50,"a":[2e0]}"#)
        );
    }
}
