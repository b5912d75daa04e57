//! A document as written, in TOML or JSON, with the location of every key and value. It knows no suite: `reading`
//! interprets the keys.

use std::{borrow::Cow, fmt, ops::Range, path::Path};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::{Number, value::RawValue};
use toml::de::{DeTable, DeValue};

/// A value and its position, in bytes of the text.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) span: Range<usize>,
}

/// A value of either format.
#[derive(Debug)]
pub(super) enum Value {
    Null,
    Truth(bool),
    Number(Number),
    /// A number that JSON cannot represent, as written: `nan`, `inf`, an integer of more than 64 bits.
    NotJson(String),
    /// Text, or a date of TOML.
    Text(String),
    List(Vec<Node>),
    Table(Vec<Member>),
}

/// A key with its value.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) key_span: Range<usize>,
    pub(super) node: Node,
}

/// What is not valid, and where.
#[derive(Debug, PartialEq)]
pub(super) struct SyntaxError {
    pub(super) span: Range<usize>,
    pub(super) reason: String,
}

impl Value {
    /// The name of its kind, for people.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Truth(_) => "a boolean",
            Value::Number(_) | Value::NotJson(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// Reads the text of the file at `path`: as JSON according to its name or its first character, otherwise as TOML.
pub(super) fn of(path: &Path, text: &str) -> (Node, Vec<SyntaxError>) {
    let is_json = path.extension().is_some_and(|suffix| suffix == "json")
        || text.trim_start().starts_with('{');
    match is_json {
        false => of_toml(text),
        true => of_json(text),
    }
}

/// What the crate `toml` says about a key that a table has already (`de/parser/document.rs`). It has no type for that.
const DUPLICATE_KEY: &str = "duplicate key";

/// Reads TOML: as much of it as can be read, and everything that is not valid.
fn of_toml(text: &str) -> (Node, Vec<SyntaxError>) {
    let (table, found) = DeTable::parse_recoverable(text);
    let mut errors = Vec::new();
    // The keys of a table that is there twice are read into the first, which may have them.
    let mut repeated = 0..0;
    for error in &found {
        let span = error.span().unwrap_or(0..0);
        let mut reason = error.message().trim().replace('\n', " ");
        if reason == DUPLICATE_KEY {
            if repeated.contains(&span.start) {
                continue;
            }
            repeated = table_begun_at(text, span.start);
            let key = text.get(span.clone()).unwrap_or_default();
            reason = format!("{DUPLICATE_KEY} `{key}`");
        }
        errors.push(SyntaxError { span, reason });
    }
    let span = table.span();
    (Node { value: Value::Table(members_of_toml(table.into_inner())), span }, errors)
}

/// The table whose first line has this place, up to the next one; empty if the line is inside one.
fn table_begun_at(text: &str, at: usize) -> Range<usize> {
    let start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let mut lines = text.get(start..).unwrap_or_default().split_inclusive('\n');
    match lines.next().filter(|line| begins_a_table(line)) {
        Some(first) => {
            let below = lines.take_while(|line| !begins_a_table(line)).map(str::len);
            start..start + first.len() + below.sum::<usize>()
        }
        None => 0..0,
    }
}

/// Whether the line is one of TOML that begins a table: `[scorers.words]`
pub(super) fn begins_a_table(line: &str) -> bool {
    line.trim_start().starts_with('[')
}

fn members_of_toml(table: DeTable<'_>) -> Vec<Member> {
    let mut members: Vec<Member> = table
        .into_iter()
        .map(|(key, value)| Member {
            key_span: key.span(),
            key: key.into_inner().into_owned(),
            node: Node { span: value.span(), value: value_of_toml(value.into_inner()) },
        })
        .collect();
    members.sort_by_key(|member| member.key_span.start);
    members
}

fn value_of_toml(value: DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(written) => match i64::from_str_radix(written.as_str(), written.radix()) {
            Ok(number) => Value::Number(number.into()),
            Err(_) => Value::NotJson(written.to_string()),
        },
        DeValue::Float(written) => {
            let number = written.as_str().parse().ok().and_then(Number::from_f64);
            number.map_or_else(|| Value::NotJson(written.as_str().to_owned()), Value::Number)
        }
        DeValue::Boolean(truth) => Value::Truth(truth),
        DeValue::Datetime(date) => Value::Text(date.to_string()),
        DeValue::Array(items) => {
            let node = |item: toml::Spanned<DeValue<'_>>| Node {
                span: item.span(),
                value: value_of_toml(item.into_inner()),
            };
            Value::List(items.into_iter().map(node).collect())
        }
        DeValue::Table(table) => Value::Table(members_of_toml(table)),
    }
}

/// Reads JSON: all of it, or an empty table and the first syntax error.
fn of_json(text: &str) -> (Node, Vec<SyntaxError>) {
    match json(text) {
        Ok(node) => (node, Vec::new()),
        Err(error) => (Node { value: Value::Table(Vec::new()), span: 0..0 }, vec![error]),
    }
}

fn json(text: &str) -> Result<Node, SyntaxError> {
    let whole: &RawValue = serde_json::from_str(text).map_err(|error| {
        // The reader that skips values has no message for an extra comma.
        let same =
            |it: &serde_json::Error| (it.line(), it.column()) == (error.line(), error.column());
        let error =
            serde_json::from_str::<serde_json::Value>(text).err().filter(same).unwrap_or(error);
        let start = offset(text, error.line(), error.column());
        let reason = error.to_string();
        // The location is reported separately.
        let reason = reason.split(" at line ").next().unwrap_or_default().to_owned();
        SyntaxError { span: start..start, reason }
    })?;
    node_of_json(text, whole)
}

/// The byte at serde_json's line and column: from 1, in bytes.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let lines = text.split_inclusive('\n');
    let before: usize = lines.take(line.saturating_sub(1)).map(str::len).sum();
    (before + column.saturating_sub(1)).min(text.len())
}

/// `raw` must be borrowed from `text`.
fn node_of_json(text: &str, raw: &RawValue) -> Result<Node, SyntaxError> {
    let written = raw.get();
    let start = written.as_ptr().addr() - text.as_ptr().addr();
    let span = start..start + written.len();
    let invalid =
        |error: serde_json::Error| SyntaxError { span: span.clone(), reason: error.to_string() };
    let value = match written.as_bytes().first() {
        Some(b'{') => {
            let Members(members) = serde_json::from_str(written).map_err(invalid)?;
            let mut end = start + 1;
            let mut nodes = Vec::with_capacity(members.len());
            for (key, raw) in members {
                let node = node_of_json(text, raw)?;
                // Between two values are a comma, the key and a colon.
                let between = end..node.span.start;
                let key_start =
                    text[between.clone()].find('"').map_or(between.start, |at| end + at);
                let key_end =
                    text[between.clone()].rfind('"').map_or(between.end, |at| end + at + 1);
                end = node.span.end;
                nodes.push(Member { key: key.into_owned(), key_span: key_start..key_end, node });
            }
            Value::Table(nodes)
        }
        Some(b'[') => {
            let Items(items) = serde_json::from_str(written).map_err(invalid)?;
            let nodes = items.into_iter().map(|raw| node_of_json(text, raw));
            Value::List(nodes.collect::<Result<_, _>>()?)
        }
        Some(b'"') => Value::Text(serde_json::from_str(written).map_err(invalid)?),
        Some(b't' | b'f') => Value::Truth(written == "true"),
        Some(b'n') => Value::Null,
        _ => match serde_json::from_str(written) {
            Ok(number) => Value::Number(number),
            Err(_) => Value::NotJson(written.to_owned()),
        },
    };
    Ok(Node { value, span })
}

/// The members of an object in their order; if a key occurs twice, both.
struct Members<'t>(Vec<(Cow<'t, str>, &'t RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<Key<'de>, &RawValue>()? {
                    members.push((key.0, value));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

#[derive(Deserialize)]
struct Key<'t>(#[serde(borrow)] Cow<'t, str>);

/// The items of an array.
struct Items<'t>(Vec<&'t RawValue>);

impl<'de> Deserialize<'de> for Items<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Items<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut raw = Vec::new();
                while let Some(item) = items.next_element()? {
                    raw.push(item);
                }
                Ok(Items(raw))
            }
        }

        deserializer.deserialize_seq(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys and values with the text at their locations.
    fn locations(text: &str, node: &Node) -> Vec<(String, String)> {
        let Value::Table(members) = &node.value else { return Vec::new() };
        let mut locations = Vec::new();
        for Member { key_span, node, .. } in members {
            locations.push((text[key_span.clone()].to_owned(), text[node.span.clone()].to_owned()));
            locations.extend(locations_below(text, node));
        }
        locations
    }

    fn locations_below(text: &str, node: &Node) -> Vec<(String, String)> {
        match &node.value {
            Value::List(items) => {
                items.iter().flat_map(|item| locations_below(text, item)).collect()
            }
            _ => locations(text, node),
        }
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn every_key_and_value_of_toml_has_its_location() {
        let text = "a = 1\nb = { c = \"x\", d = [true] }\n";
        let (node, errors) = of_toml(text);
        assert_eq!(errors, []);
        let expected =
            [("a", "1"), ("b", "{ c = \"x\", d = [true] }"), ("c", "\"x\""), ("d", "[true]")];
        assert_eq!(locations(text, &node), pairs(&expected));
    }

    #[test]
    fn every_key_and_value_of_json_has_its_location() {
        let text = "{ \"a\": 1,\n  \"b\\u0020\" : {\"c\":\"x,\\\"y\"}, \"d\": [ {\"e\":null} ] }";
        let node = json(text).unwrap();
        let expected = [
            ("\"a\"", "1"),
            ("\"b\\u0020\"", "{\"c\":\"x,\\\"y\"}"),
            ("\"c\"", "\"x,\\\"y\""),
            ("\"d\"", "[ {\"e\":null} ]"),
            ("\"e\"", "null"),
        ];
        assert_eq!(locations(text, &node), pairs(&expected));
    }

    #[test]
    fn all_that_is_not_valid_toml_is_found() {
        let (node, errors) = of_toml("a = \nb = 2\nc = [1\nd = 3\n");
        assert!(errors.len() >= 2, "{errors:?}");
        let Value::Table(members) = node.value else { panic!("no table") };
        assert!(members.iter().any(|member| member.key == "b"));
    }

    #[test]
    fn what_is_not_valid_json_has_a_location() {
        let error = json("{\"a\": 1,\n \"b\": tru }").unwrap_err();
        assert_eq!(&"{\"a\": 1,\n \"b\": tru }"[error.span.start..], " }");
        assert_eq!(error.reason, "expected ident");
    }
}
