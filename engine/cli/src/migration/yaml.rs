//! Reads YAML as js-yaml 4 does, which promptfoo uses: with its default schema, so `no` is a text and `0o17` is 15, and
//! with the values as JSON would represent them. It knows nothing about promptfoo.

use std::{collections::HashMap, fmt, ops::Range};

use granit_parser::{Event, Parser, ScalarStyle};
use jiff::{ToSpan as _, civil};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::{Spanned, options::NonFiniteFloatPolicy};

/// Whole numbers that have fewer digits than this are the same in JavaScript.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Parses the text of a document.
pub(super) fn read(text: &str) -> Result<Value, String> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        underscored_numbers_as_strings: true,
        null_as_string: true,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
    };
    let document: Node = serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| in_words(&error.to_string()))?;
    Ok(document.value(&read_otherwise(text)))
}

/// The parser's message in one line, in terms for authors of configurations, not for callers of the parser.
fn in_words(said: &str) -> String {
    let line = said.lines().next().unwrap_or_default();
    let line = line.strip_prefix("error: ").unwrap_or(line);
    let phrase = PHRASES.iter().find_map(|(theirs, words)| Some((line.find(theirs)?, words)));
    match phrase {
        Some((start, words)) => format!("{}{words}", &line[..start]),
        None => line.to_owned(),
    }
}

/// The beginnings of serde-saphyr's (2.2) phrases about its interface, and what they mean.
const PHRASES: [(&str, &str); 4] = [
    (
        "multiple YAML documents",
        "a second document begins here: a configuration is one, without `---` in it",
    ),
    (", set DuplicateKeyPolicy", ""),
    ("recursive references", "an alias stands within what its anchor names"),
    (
        "budget breached",
        "it is too large: where an alias stands, all that its anchor names is read again",
    ),
];

/// The plain scalars that js-yaml and serde-saphyr read differently, by the byte at which each begins.
fn read_otherwise(text: &str) -> HashMap<u64, String> {
    let events = Parser::new_from_str(text).map_while(Result::ok);
    let plain = events.filter_map(|(event, place)| match event {
        Event::Scalar(text, ScalarStyle::Plain, _, None) => {
            let read = time(&text).or_else(|| is_text(&text).then(|| text.into_owned()))?;
            Some((place.start.byte_offset()? as u64, read))
        }
        _ => None,
    });
    plain.collect()
}

/// Whether it is a number in serde-saphyr and a text in js-yaml: with a sign before a dot, or too large.
fn is_text(scalar: &str) -> bool {
    let begins_with_a_sign = scalar.starts_with("-.") || scalar.starts_with("+.");
    scalar.parse::<f64>().is_ok_and(|number| number.is_infinite() || begins_with_a_sign)
}

/// A value with its position.
struct Node(Spanned<Raw>);

/// A value as serde-saphyr reads it.
enum Raw {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    Members(Vec<(String, Node)>),
}

impl Node {
    fn value(self, read_otherwise: &HashMap<u64, String>) -> Value {
        let Spanned { value: raw, defined, .. } = self.0;
        let begins = defined.span().byte_offset();
        let otherwise = || begins.and_then(|begins| read_otherwise.get(&begins)).cloned();
        match raw {
            Raw::Null => Value::Null,
            Raw::Bool(value) => Value::Bool(value),
            Raw::Number(value) => otherwise().map_or_else(|| number(value), Value::String),
            Raw::Text(text) => Value::String(otherwise().unwrap_or(text)),
            Raw::List(items) => items.into_iter().map(|item| item.value(read_otherwise)).collect(),
            Raw::Members(members) => {
                let member = |(name, value): (String, Node)| (name, value.value(read_otherwise));
                Value::Object(members.into_iter().map(member).collect::<Map<_, _>>())
            }
        }
    }
}

/// A number in JSON as JavaScript writes it: without a fraction if it is whole, and `null` if it is not finite.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() <= MAX_EXACT {
        return Value::from(value as i64);
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// A date or a time as JavaScript writes a `Date` into JSON: `2024-01-01` as `2024-01-01T00:00:00.000Z`. `None` if the
/// text is neither, or if its year does not have four digits.
fn time(text: &str) -> Option<String> {
    let mut rest = Rest(text);
    let year = rest.digits(4..5)?;
    let month = rest.after("-")?.digits(1..3)?;
    let day = rest.after("-")?.digits(1..3)?;
    let mut time = civil::DateTime::from(civil::date(i16::try_from(year).ok()?, 1, 1))
        .checked_add((month - 1).months())
        .and_then(|time| time.checked_add((day - 1).days()))
        .ok()?;
    if rest.0.is_empty() {
        // A date without a time must have all of its digits.
        return (text.len() == 10).then(|| written(time)).flatten();
    }
    rest.after_time_mark()?;
    let hour = rest.digits(1..3)?;
    let minute = rest.after(":")?.digits(2..3)?;
    let second = rest.after(":")?.digits(2..3)?;
    let milliseconds = rest.fraction();
    let east = rest.zone()?;
    let seconds = (hour * 60 + minute - east) * 60 + second;
    time = time.checked_add((seconds * 1000 + milliseconds).milliseconds()).ok()?;
    rest.0.is_empty().then(|| written(time)).flatten()
}

fn written(time: civil::DateTime) -> Option<String> {
    (0..=9999)
        .contains(&time.year())
        .then(|| format!("{}Z", time.strftime("%Y-%m-%dT%H:%M:%S.%3f")))
}

/// The unread rest of a time.
struct Rest<'t>(&'t str);

impl Rest<'_> {
    /// Reads a number of this many digits.
    fn digits(&mut self, count: Range<usize>) -> Option<i64> {
        let digits = self.0.bytes().take(count.end - 1).take_while(u8::is_ascii_digit).count();
        let (number, rest) = self.0.split_at(digits);
        self.0 = rest;
        if count.contains(&digits) { number.parse().ok() } else { None }
    }

    fn after(&mut self, mark: &str) -> Option<&mut Self> {
        self.0 = self.0.strip_prefix(mark)?;
        Some(self)
    }

    fn blanks(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t']);
    }

    /// Skips the separator between a date and a time: a `T`, or spaces.
    fn after_time_mark(&mut self) -> Option<()> {
        match self.0.strip_prefix(['T', 't']) {
            Some(rest) => self.0 = rest,
            None if self.0.starts_with([' ', '\t']) => self.blanks(),
            None => return None,
        }
        Some(())
    }

    /// Reads the milliseconds after a dot, which may be missing.
    fn fraction(&mut self) -> i64 {
        if self.after(".").is_none() {
            return 0;
        }
        let digits = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let (fraction, rest) = self.0.split_at(digits);
        self.0 = rest;
        format!("{fraction:0<3.3}").parse().unwrap_or(0)
    }

    /// Reads the offset from UTC in minutes; without one, it is 0.
    fn zone(&mut self) -> Option<i64> {
        if self.0.is_empty() {
            return Some(0);
        }
        self.blanks();
        if self.after("Z").is_some() {
            return Some(0);
        }
        let sign = if self.after("+").is_some() { 1 } else { self.after("-").map(|_| -1)? };
        let hours = self.digits(1..3)?;
        let minutes = match self.after(":") {
            Some(rest) => rest.digits(2..3)?,
            None => 0,
        };
        Some(sign * (hours * 60 + minutes))
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        Spanned::deserialize(deserializer).map(Node)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Raw, D::Error> {
        deserializer.deserialize_any(Taking)
    }
}

struct Taking;

impl<'de> Visitor<'de> for Taking {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        Ok(Raw::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw::Number(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Text(text.to_owned()))
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut items: S) -> Result<Raw, S::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Raw::List(list))
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<Raw, M::Error> {
        let mut object = Vec::new();
        while let Some(member) = members.next_entry()? {
            object.push(member);
        }
        Ok(Raw::Members(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plain scalar, and what js-yaml 4.3.2 makes of it: `JSON.stringify(yaml.load(TEXT))`.
    const SCALARS: &[(&str, &str)] = &[
        ("no", r#""no""#),
        ("No", r#""No""#),
        ("NO", r#""NO""#),
        ("yes", r#""yes""#),
        ("Yes", r#""Yes""#),
        ("on", r#""on""#),
        ("off", r#""off""#),
        ("y", r#""y""#),
        ("n", r#""n""#),
        ("Y", r#""Y""#),
        ("N", r#""N""#),
        ("true", "true"),
        ("True", "true"),
        ("TRUE", "true"),
        ("tRue", r#""tRue""#),
        ("false", "false"),
        ("null", "null"),
        ("Null", "null"),
        ("NULL", "null"),
        ("~", "null"),
        ("nULL", r#""nULL""#),
        ("1_000", r#""1_000""#),
        ("1_0.5", r#""1_0.5""#),
        ("_1", r#""_1""#),
        ("0777", "777"),
        ("-0777", "-777"),
        ("+12", "12"),
        ("00", "0"),
        ("0", "0"),
        ("-0", "0"),
        ("+0", "0"),
        ("0o17", "15"),
        ("-0o17", "-15"),
        ("0O17", r#""0O17""#),
        ("0x1F", "31"),
        ("0X1F", r#""0X1F""#),
        ("-0x1f", "-31"),
        ("0b101", "5"),
        ("0B1", r#""0B1""#),
        ("12e03", "12000"),
        ("1e3", "1000"),
        ("1.", "1"),
        (".5", "0.5"),
        ("-.5", r#""-.5""#),
        ("+.5", r#""+.5""#),
        ("1.5e+3", "1500"),
        ("01.5", "1.5"),
        ("01e2", "100"),
        ("1e999", r#""1e999""#),
        (".inf", "null"),
        ("-.Inf", "null"),
        ("+.INF", "null"),
        (".iNf", r#"".iNf""#),
        (".nan", "null"),
        (".NaN", "null"),
        ("-.nan", r#""-.nan""#),
        ("inf", r#""inf""#),
        ("nan", r#""nan""#),
        ("Infinity", r#""Infinity""#),
        ("NaN", r#""NaN""#),
        ("2024-01-01", r#""2024-01-01T00:00:00.000Z""#),
        ("2024-1-1", r#""2024-1-1""#),
        ("2024-01-01 10:00:00", r#""2024-01-01T10:00:00.000Z""#),
        ("2024-01-01T10:00:00Z", r#""2024-01-01T10:00:00.000Z""#),
        ("2024-01-01T10:00:00.5+02:00", r#""2024-01-01T08:00:00.500Z""#),
        ("2024-13-45", r#""2025-02-14T00:00:00.000Z""#),
        ("12:30:45", r#""12:30:45""#),
        ("190:20:30", r#""190:20:30""#),
        ("1,000", r#""1,000""#),
        ("18446744073709551615", "18446744073709552000"),
        ("18446744073709551616", "18446744073709552000"),
        ("9007199254740993", "9007199254740992"),
        ("-9223372036854775809", "-9223372036854776000"),
        ("123456789012345678901234567890", "1.2345678901234568e+29"),
        ("0x", r#""0x""#),
        ("0o8", r#""0o8""#),
        ("0b2", r#""0b2""#),
        ("1e", r#""1e""#),
        ("e5", r#""e5""#),
        ("=", r#""=""#),
        ("-1", "-1"),
        ("1.0", "1"),
        ("-1.0", "-1"),
        ("1.0e2", "100"),
        ("100000000000000000000.0", "100000000000000000000"),
        ("2024-1-1 1:02:03", r#""2024-01-01T01:02:03.000Z""#),
        ("2024-01-01T10:00:00.5", r#""2024-01-01T10:00:00.500Z""#),
        ("2024-01-01t10:00:00.123456Z", r#""2024-01-01T10:00:00.123Z""#),
        ("2024-01-01 10:00:00 +5", r#""2024-01-01T05:00:00.000Z""#),
        ("2024-01-01 10:00:00 -05:30", r#""2024-01-01T15:30:00.000Z""#),
        ("2024-01-01T10:00:00.Z", r#""2024-01-01T10:00:00.000Z""#),
        ("2024-01-01T10:00", r#""2024-01-01T10:00""#),
        ("2024-01-01T10:00:00X", r#""2024-01-01T10:00:00X""#),
        ("2024-02-30", r#""2024-03-01T00:00:00.000Z""#),
        ("2024-00-01", r#""2023-12-01T00:00:00.000Z""#),
        ("2024-01-00", r#""2023-12-31T00:00:00.000Z""#),
        ("2024-01-01T25:61:61Z", r#""2024-01-02T02:02:01.000Z""#),
        ("2024-01-01T10:00:00+5:3", r#""2024-01-01T10:00:00+5:3""#),
        ("2024-01-01  10:00:00", r#""2024-01-01T10:00:00.000Z""#),
        ("02024-01-01", r#""02024-01-01""#),
        ("24-01-01", r#""24-01-01""#),
        ("2024-01-01-", r#""2024-01-01-""#),
    ];

    #[test]
    fn scalars_are_what_js_yaml_reads() {
        for (written, is) in SCALARS {
            let is: Value = serde_json::from_str(is).unwrap();
            assert_eq!(read(written).as_ref(), Ok(&is), "{written}");
            // At any position in the document.
            let list = read(&format!("é:\n- {written}\n"));
            assert_eq!(list.map(|it| it["é"][0].clone()), Ok(is), "{written}");
        }
    }

    #[test]
    fn scalars_in_quotes_in_blocks_and_with_a_tag_are_texts() {
        for scalar in ["no", "1_000", "-.5", "1e999", "2024-01-01", "null", "12"] {
            for written in [
                format!("'{scalar}'"),
                format!("\"{scalar}\""),
                format!("|-\n  {scalar}"),
                format!(">-\n  {scalar}"),
                format!("!!str {scalar}"),
            ] {
                assert_eq!(read(&written), Ok(Value::from(scalar)), "{written}");
            }
        }
    }

    #[test]
    fn mistakes_are_told_in_words_with_their_line() {
        let mut large = "a: &a [x]\n".to_owned();
        for (name, of) in ('b'..='h').zip('a'..) {
            let aliases = vec![format!("*{of}"); 9].join(",");
            large.push_str(&format!("{name}: &{name} [{aliases}]\n"));
        }
        for (text, said) in [
            ("a: 1\n---\nb: 2\n", "a second document begins here"),
            ("a: {b: 1, b: 2}\n", "duplicate mapping key: b"),
            ("a: &a [*a]\n", "an alias stands within"),
            (&large, "it is too large"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(said) && error.starts_with("line "), "{error}");
            assert!(!error.contains(['\n', '_', '>']), "{error}");
        }
    }

    #[test]
    fn anchors_and_merge_keys_are_followed() {
        let text = "
            first: &first {says: no, on: 2024-01-01, n: 1}
            again: *first
            more: {<<: *first, n: 2, yes: ~}
            both: {<<: [{n: 3}, *first]}
        ";
        let expected = serde_json::json!({
            "first": {"says": "no", "on": "2024-01-01T00:00:00.000Z", "n": 1},
            "again": {"says": "no", "on": "2024-01-01T00:00:00.000Z", "n": 1},
            "more": {"says": "no", "on": "2024-01-01T00:00:00.000Z", "n": 2, "yes": null},
            "both": {"says": "no", "on": "2024-01-01T00:00:00.000Z", "n": 3},
        });
        assert_eq!(read(text), Ok(expected));
        assert!(read("{a: 1, a: 2}").is_err());
    }
}
