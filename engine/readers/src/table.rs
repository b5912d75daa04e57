//! Turns a row of a table into the line of a case: its columns become the line's keys, and it gets an id and its
//! origin. Knows no table format.

use std::collections::HashSet;

use scorebox::case::{Key, Mapping, NO_CASE};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::MapAccess};
use serde_json::{Value, value::RawValue};

use crate::{
    format::Format,
    problem::{MissingColumn, Problem},
    record::{ORIGIN, Origin, on_one_line},
};

/// The most characters of the reason why a row is not a case.
const MAX_REASON: usize = 200;

/// Keys whose values are numbers, objects or lists, which text columns contain as JSON.
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

/// Whether a text in the column of this key is parsed as JSON.
pub fn has_json(key: Key) -> bool {
    JSON_KEYS.contains(&key)
}

/// The value of a text in the column of such a key: its JSON, with Python's and other spellings of booleans; otherwise
/// the text itself. A `skip` is never a number, a list or an object, so such a text is the reason to skip; `0` means
/// that the case is not skipped.
pub fn json_of_text(key: Key, text: &str) -> Box<RawValue> {
    let raw = |json: &str| serde_json::from_str::<Box<RawValue>>(json).ok();
    let value = match text {
        "True" | "TRUE" => raw("true"),
        "False" | "FALSE" => raw("false"),
        text => raw(text),
    };
    let is_reason =
        |value: &RawValue| key == Key::Skip && !value.get().starts_with(['"', 't', 'f', 'n']);
    match value.filter(|value| !is_reason(value)) {
        Some(value) => on_one_line(value),
        None => raw_text(text),
    }
}

/// A text as JSON.
fn raw_text(text: &str) -> Box<RawValue> {
    // Writing a text cannot fail.
    serde_json::value::to_raw_value(text).unwrap_or_default()
}

/// What is known about a table's columns.
#[derive(Debug)]
pub(crate) struct Columns {
    /// The columns with JSON in texts, each with its key.
    json: Vec<(Key, String)>,
    /// The columns that the mapping names first, each with its key.
    mapped: Vec<(Key, String)>,
    /// The column of the output, which may have no value.
    output: String,
    /// Whether this column is required. It is not if there is a column for errors, because failed tasks may have no
    /// output.
    needs_output: bool,
}

impl Columns {
    /// The columns by the names of keys, and by the mapping.
    pub(crate) fn of(mapping: &Mapping) -> Columns {
        let column = |key: Key| mapping.pointer(key).and_then(column_of);
        let json = JSON_KEYS.into_iter().flat_map(|key| match column(key) {
            Some(column) => vec![(key, column)],
            None => key.spellings().iter().map(|it| (key, (*it).to_owned())).collect(),
        });
        let mapped = Key::ALL.into_iter().filter_map(|key| Some((key, column(key)?))).collect();
        let output = column(Key::Output).unwrap_or_else(|| Key::Output.name().to_owned());
        let needs_output =
            [Key::Output, Key::Error].iter().all(|key| mapping.pointer(*key).is_none());
        Columns { json: json.collect(), mapped, output, needs_output }
    }

    /// Whether a column is a key of a case, by its name or by the mapping.
    pub(crate) fn is_key(&self, column: &str) -> bool {
        let mut spellings = Key::ALL.into_iter().flat_map(Key::spellings);
        self.mapped.iter().any(|(_, mapped)| mapped == column) || spellings.any(|it| *it == column)
    }

    /// Which of these columns are the first with their name: the others are not read.
    ///
    /// # Errors
    /// A key occurs twice, or a column is missing that is required or that the mapping names.
    pub(crate) fn firsts<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<Vec<bool>, Problem> {
        let names: Vec<&str> = names.collect();
        let lacks = |column: &str| !names.contains(&column);
        let needs_output = self.needs_output && lacks(Key::Error.name());
        let output = needs_output.then_some((Key::Output, self.output.as_str()));
        let mapped = self.mapped.iter().map(|(key, column)| (*key, column.as_str()));
        if let Some((key, column)) = output.into_iter().chain(mapped).find(|it| lacks(it.1)) {
            return Err(Problem::NoColumn(MissingColumn::new(key, column, &names)));
        }
        let mut seen = HashSet::new();
        let firsts = names.into_iter().map(|name| match seen.insert(name) {
            false if self.is_key(name) => {
                Err(Problem::content(format!("the table has the column `{name}` twice")))
            }
            is_first => Ok(is_first),
        });
        firsts.collect()
    }

    /// A text in this column as a value: its JSON, if the column contains JSON and the text is valid.
    fn text(&self, column: &str, text: &str) -> Box<RawValue> {
        match self.json_key(column) {
            None => raw_text(text),
            Some(key) => json_of_text(key, text),
        }
    }

    /// The key whose JSON the texts of this column contain.
    fn json_key(&self, column: &str) -> Option<Key> {
        self.json.iter().find(|(_, it)| it == column).map(|(key, _)| *key)
    }
}

/// The column that a pointer enters first.
fn column_of(pointer: &str) -> Option<String> {
    let first = pointer.strip_prefix('/')?.split('/').next()?;
    Some(first.replace("~1", "/").replace("~0", "~"))
}

/// The location of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowLocation<'a> {
    pub format: Format,
    /// The name of the file or folder.
    pub file: &'a str,
    /// The beginning of the id of a row without one.
    pub name: &'a str,
    /// The split of a dataset.
    pub split: Option<&'a str>,
    /// The number of the row, from 1.
    pub row: u64,
}

impl RowLocation<'_> {
    fn origin(&self) -> Origin {
        Origin::new(self.format, self.file, self.row).with("split", self.split)
    }
}

/// The members of an object, in order, as they were written.
#[derive(Debug)]
pub(crate) struct Row(Vec<(String, Box<RawValue>)>);

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

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

/// The line for a row that is already a JSON object.
pub(crate) fn line_of_object(
    object: &[u8],
    columns: &Columns,
    at: RowLocation<'_>,
) -> Result<Vec<u8>, Problem> {
    let wrong = |error: serde_json::Error| Problem::json(&format!("row {}", at.row), &error);
    let Row(members) = serde_json::from_slice(object).map_err(wrong)?;
    let members = members.into_iter().map(|(name, raw)| {
        // A text may contain JSON.
        let value = match columns.json_key(&name).filter(|_| raw.get().starts_with('"')) {
            None => raw,
            Some(key) => json_of_text(key, &serde_json::from_str::<String>(raw.get())?),
        };
        Ok((name, value))
    });
    let members: Vec<_> = members.collect::<Result<_, _>>().map_err(wrong)?;
    line(members, columns, at).map_err(wrong)
}

/// The line for a row of texts. An empty text is no value, but as an output it is an empty text.
pub(crate) fn line_of_texts<'a>(
    cells: impl Iterator<Item = (&'a str, &'a str)>,
    columns: &Columns,
    at: RowLocation<'_>,
) -> Result<Vec<u8>, Problem> {
    let cells = cells.map(|(column, text)| {
        let value = match text.is_empty() && column != columns.output {
            true => Box::default(),
            false => columns.text(column, text),
        };
        (column.to_owned(), value)
    });
    line(cells.collect(), columns, at)
        .map_err(|error| Problem::json(&format!("row {}", at.row), &error))
}

/// The line for a row that is not a case: the case reader reports why.
pub(crate) fn line_of_no_case(why: &str) -> Vec<u8> {
    // The name of a column may be long, and contain line ends.
    let why =
        why.chars().take(MAX_REASON).map(|it| if matches!(it, '\r' | '\n') { ' ' } else { it });
    std::iter::once(NO_CASE).chain(why).collect::<String>().into_bytes()
}

/// Whether a value is that of a cell without one.
fn is_null(value: &RawValue) -> bool {
    value.get() == "null"
}

/// The cells as an object, with an id, and the origin in the metadata.
fn line(
    cells: Vec<(String, Box<RawValue>)>,
    columns: &Columns,
    at: RowLocation<'_>,
) -> Result<Vec<u8>, serde_json::Error> {
    let mut members = Vec::with_capacity(cells.len() + 2);
    if !cells.iter().any(|(name, value)| name == "id" && !is_null(value)) {
        members.push(("id".to_owned(), raw_text(&format!("{}:{}", at.name, at.row))));
    }
    // The case reader prefers `metadata` to its other spelling; the one that exists gets the origin.
    let spelled = Key::Metadata
        .spellings()
        .iter()
        .find(|spelling| cells.iter().any(|(name, value)| name == **spelling && !is_null(value)));
    let spelled = *spelled.unwrap_or(&"metadata");
    let mut metadata = None;
    for (name, value) in cells {
        if name == spelled && !is_null(&value) {
            metadata = Some(value);
        } else if !is_null(&value) || name == columns.output {
            members.push((name, value));
        }
    }
    members.push((spelled.to_owned(), with_origin(metadata, at)?));
    serde_json::to_vec(&Row(members))
}

/// The metadata with the origin, unless it already has one, or is not an object and cannot contain it.
fn with_origin(
    metadata: Option<Box<RawValue>>,
    at: RowLocation<'_>,
) -> Result<Box<RawValue>, serde_json::Error> {
    let mut members = match &metadata {
        None => Vec::new(),
        Some(metadata) => match serde_json::from_str(metadata.get()) {
            Ok(Row(members)) => members,
            Err(_) => return Ok(metadata.clone()),
        },
    };
    if !members.iter().any(|(name, _)| name == ORIGIN) {
        let origin = serde_json::value::to_raw_value(&Value::Object(at.origin().0))?;
        members.insert(0, (ORIGIN.to_owned(), origin));
    }
    serde_json::value::to_raw_value(&Row(members))
}

#[cfg(test)]
mod tests {
    use scorebox::advice::{Advice, Advised as _};

    use super::*;
    use crate::ReaderError;

    const AT: RowLocation<'_> =
        RowLocation { format: Format::Csv, file: "a.csv", name: "a", split: None, row: 7 };

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
                .ends_with(&format!(r#""meta":{{{origin},"topic":1.50}}}}"#))
        );
        assert!(
            object(r#"{"output":1,"metadata":"{\"a\":1}"}"#)
                .ends_with(&format!(r#""metadata":{{{origin},"a":1}}}}"#))
        );
        assert!(object(r#"{"output":1,"metadata":"words"}"#).ends_with(r#""metadata":"words"}"#));
        assert!(
            object(r#"{"output":1,"metadata":{"origin":"theirs","z":2}}"#)
                .ends_with(r#""metadata":{"origin":"theirs","z":2}}"#),
            "what the row says of its origin stays"
        );
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
    fn a_text_that_says_whether_to_skip_is_never_a_number() {
        for (cell, expected) in [
            ("0", r#""0""#),
            ("1", r#""1""#),
            ("[x]", r#""[x]""#),
            ("{}", r#""{}""#),
            ("TRUE", "true"),
            ("false", "false"),
            (r#""a duplicate""#, r#""a duplicate""#),
        ] {
            let line = texts(&[("output", "4"), ("skip", cell)], &[]);
            assert!(line.contains(&format!(r#""skip":{expected},"#)), "{cell}: {line}");
        }
    }

    #[test]
    fn json_in_a_text_keeps_its_digits_and_its_order() {
        let cell = "{\n  \"b\": 1.50, \"a\": 123456789012345678901234567890}";
        let origin = r#""origin":{"file":"a.csv","format":"csv","record":7}"#;
        let expected =
            format!(r#""metadata":{{{origin},"b":1.50,"a":123456789012345678901234567890}}}}"#);
        let line = texts(&[("output", "4"), ("metadata", cell)], &[]);
        assert!(line.ends_with(&expected), "{line}");
    }

    #[test]
    fn only_a_key_may_not_be_there_twice() {
        let firsts = |names: &[&str]| {
            let firsts = Columns::of(&Mapping::NONE).firsts(names.iter().copied());
            firsts.map_err(|problem| problem.to_string())
        };
        assert_eq!(
            firsts(&["output", "", "Status", "", "Status"]),
            Ok(vec![true, true, true, false, false])
        );
        assert_eq!(
            firsts(&["output", "id", "output"]),
            Err("the table has the column `output` twice".to_owned())
        );
    }

    #[test]
    fn a_table_has_the_columns_that_the_mapping_names_and_an_output() {
        let said = |rules: &[&str], names: &[&str]| {
            let columns = Columns::of(&Mapping::parse(rules).unwrap());
            let Err(Problem::NoColumn(missing)) = columns.firsts(names.iter().copied()) else {
                return None;
            };
            let error = ReaderError::NoColumn { name: "t.csv".to_owned(), missing };
            Some((error.to_string(), error.advice()))
        };
        let all = ["id", "output", "lat"];
        assert_eq!(
            said(&["latencyMs=/latt"], &all),
            Some((
                "t.csv: there is no column `latt`, where `latencyMs` is to be; the columns are `id`, \
                 `output`, `lat`"
                    .to_owned(),
                Some(Advice::DidYouMean(vec!["latencyMs=/lat".to_owned()]))
            ))
        );
        assert_eq!(said(&["latencyMs=/lat", "context=/output/0", "input="], &all), None);
        let (message, advice) = said(&[], &["question", "answer"]).unwrap();
        assert_eq!(
            message,
            "t.csv: there is no column `output`; the columns are `question`, `answer`"
        );
        let member = Some("answer".to_owned());
        assert_eq!(advice, Some(Advice::Map { part: "output".to_owned(), member }));
        assert_eq!(said(&["output=/answer"], &["question", "answer"]), None);
        // The whole row, and rows of failed tasks.
        assert_eq!(said(&["output="], &["question", "answer"]), None);
        assert_eq!(said(&[], &["question", "error"]), None);
        assert_eq!(said(&["error=/why"], &["question", "why"]), None);
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
