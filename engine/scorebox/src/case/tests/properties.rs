//! Properties of every line, key, mapping and id, tested with random ones.

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::Value;

use super::*;

/// Any JSON value, nested a few levels deep.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((text(), inner), 0..4).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// Any text, often with characters that are special in JSON and in pointers.
fn text() -> impl Strategy<Value = String> {
    const SPECIAL: &[&str] =
        &["~", "~0", "~1", "/", "\"", "\\", "0", "1", "a", "é", "\u{1f600}", "\n"];
    prop_oneof![3 => vec(select(SPECIAL), 0..4).prop_map(|parts| parts.concat()), 1 => any::<String>()]
}

/// One of the many ways to write JSON: bytes that choose, over and over, the spaces and escapes.
#[derive(Clone, Debug)]
struct Hand {
    whims: Vec<u8>,
    next: usize,
}

fn hand() -> impl Strategy<Value = Hand> {
    vec(any::<u8>(), 1..20).prop_map(|whims| Hand { whims, next: 0 })
}

impl Hand {
    fn whim(&mut self, choices: u8) -> u8 {
        self.next += 1;
        self.whims[self.next % self.whims.len()] % choices
    }

    fn space(&mut self) -> &'static str {
        ["", "", "", " ", "\t", " \r "][usize::from(self.whim(6))]
    }

    fn string(&mut self, text: &str) -> String {
        let mut written = String::from("\"");
        for character in text.chars() {
            let must = character < ' ' || character == '"' || character == '\\';
            if !must && self.whim(4) > 0 {
                written.push(character);
            } else if must && character > ' ' && self.whim(2) > 0 {
                written.extend(['\\', character]);
            } else {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    written.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
        written + "\""
    }

    fn list(&mut self, items: Vec<String>) -> String {
        let spaced: Vec<String> =
            items.into_iter().map(|item| self.space().to_owned() + &item + self.space()).collect();
        spaced.join(",")
    }

    fn member(&mut self, key: &str, json: &str) -> String {
        self.string(key) + self.space() + ":" + self.space() + json
    }

    fn json(&mut self, value: &Value) -> String {
        match value {
            Value::String(text) => self.string(text),
            Value::Array(items) => {
                let items = items.iter().map(|item| self.json(item)).collect();
                format!("[{}]", self.list(items))
            }
            Value::Object(members) => {
                let members = members.iter().map(|(key, value)| {
                    let json = self.json(value);
                    self.member(key, &json)
                });
                let members = members.collect();
                format!("{{{}}}", self.list(members))
            }
            plain => plain.to_string(),
        }
    }
}

/// A spelling of a key whose value may be anything.
fn free_spelling() -> impl Strategy<Value = &'static str> {
    let free = [
        Key::Input,
        Key::Output,
        Key::GroundTruth,
        Key::Context,
        Key::OutputSchema,
        Key::Trace,
        Key::Metadata,
        Key::Baseline,
    ];
    let spellings: Vec<_> = free.iter().flat_map(|key| key.spellings()).copied().collect();
    select(spellings)
}

/// `tokens` as a JSON Pointer.
fn pointer(tokens: &[String]) -> String {
    tokens.iter().map(|token| format!("/{}", token.replace('~', "~0").replace('/', "~1"))).collect()
}

/// The tokens of a path into `value`, valid or almost valid.
fn way_into(value: &Value, turns: &[u8]) -> Vec<String> {
    let (mut tokens, mut here) = (Vec::new(), value);
    for turn in turns {
        let turn = usize::from(*turn);
        let (token, next) = match here {
            Value::Object(members) if !members.is_empty() => {
                let (key, value) = members.iter().nth(turn % members.len()).unwrap();
                (key.clone(), value)
            }
            Value::Array(items) if !items.is_empty() => {
                let index = turn % items.len();
                let token = match turn / items.len() % 8 {
                    0 => format!("0{index}"),
                    1 => format!("+{index}"),
                    2 => items.len().to_string(),
                    _ => index.to_string(),
                };
                (token, &items[index])
            }
            _ => (["0", "-", "a", ""][turn % 4].to_owned(), here),
        };
        tokens.push(token);
        here = next;
    }
    tokens
}

fn read(line: &str, mapping: &Mapping) -> Result<Case, BadCase> {
    Case::parse(line, 41, mapping, Location::new("cases.jsonl", 7))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_value_comes_out_byte_for_byte_as_it_was_written(
        named in vec((free_spelling(), value()), 0..6),
        other in vec((text(), value()), 0..3),
        output in value(),
        mut hand in hand(),
    ) {
        let mut written: Vec<(String, String)> = Vec::new();
        let named = named.into_iter().map(|(spelling, value)| (spelling.to_owned(), value));
        for (key, value) in [("output".to_owned(), output)].into_iter().chain(named).chain(other) {
            let checked = ["id", "nodeId", "node_id", "iteration", "attempt", "usage", "latencyMs", "latency_ms"];
            if !written.iter().any(|(taken, _)| *taken == key) && !checked.contains(&key.as_str()) {
                written.push((key, hand.json(&value)));
            }
        }
        let turn = usize::from(hand.whim(9)) % written.len();
        written.rotate_left(turn);
        let members = written.iter().map(|(key, json)| hand.member(key, json)).collect();
        let line = format!("{{{}}}", hand.list(members));

        let case = read(&line, &Mapping::NONE).unwrap();
        for key in Key::ALL {
            let strongest = key.spellings().iter().find_map(|spelling| {
                let (_, json) = written.iter().find(|(key, _)| key == spelling)?;
                (json != "null" || key == Key::Output).then_some(json.as_str())
            });
            prop_assert_eq!(case.raw(key), strongest, "{} of {}", key, line);
        }
        prop_assert_eq!(case.json(), line);

        let is_value = |key: &str| {
            let known = Key::ALL.into_iter().find(|it| it.spellings().contains(&key));
            let rank = |spelling: &&str| *spelling == key;
            known.map(|known| {
                let rank = known.spellings().iter().position(rank);
                let there = |spelling: &&str| {
                    written.iter().any(|(key, json)| key == spelling && (json != "null" || known == Key::Output))
                };
                rank == known.spellings().iter().position(there)
            })
        };
        let others = written.iter().filter(|(key, json)| match is_value(key) {
            Some(is_value) => !is_value && json != "null",
            None => true,
        });
        let others: Vec<String> =
            others.map(|(key, json)| format!("{}:{json}", Value::from(key.as_str()))).collect();
        let others = (!others.is_empty()).then(|| format!("{{{}}}", others.join(",")));
        prop_assert_eq!(case.other_json(), others.as_deref());
    }

    #[test]
    fn a_case_that_is_built_is_the_case_that_its_line_is(
        values in vec((select(Key::ALL.to_vec()), value()), 0..8),
        output in prop::option::of(value()),
        deep in prop_oneof![9 => 0..3_usize, 1 => 120..130_usize],
        mut hand in hand(),
    ) {
        let mut builder = Case::builder().ordinal(41);
        let mut given = std::collections::BTreeMap::new();
        for (key, value) in values.into_iter().chain(output.map(|value| (Key::Output, value))) {
            let json = format!("{}{}{}", "[".repeat(deep), hand.json(&value), "]".repeat(deep));
            builder = builder.json(key, json.as_str());
            given.insert(key, json);
        }
        let members = given.iter().map(|(key, json)| format!("\"{key}\":{json}"));
        let line = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
        let read = Case::parse(line, 41, &Mapping::NONE, Location::new("<case>", 0));
        prop_assert_eq!(format!("{:?}", builder.build()), format!("{read:?}"));
    }

    #[test]
    fn a_mapped_key_is_what_the_json_pointer_finds(
        document in vec((text(), value()), 1..5),
        turns in vec(any::<u8>(), 0..5),
        mut hand in hand(),
    ) {
        let document: Value = document.into_iter().collect();
        let pointer = pointer(&way_into(&document, &turns));
        let mapping = Mapping::parse([format!("output={pointer}")]).unwrap();
        let line = hand.json(&document);
        let found = match read(&line, &mapping) {
            Ok(case) => Some(serde_json::from_str::<Value>(case.output()).unwrap()),
            Err(BadCase { reason: BadCaseReason::MissingOutput { .. }, .. }) => None,
            // The random keys may include `id`, `usage` and the like.
            Err(BadCase { reason: BadCaseReason::BadField { .. }, .. }) => return Ok(()),
            Err(bad) => return Err(TestCaseError::fail(bad.to_string())),
        };
        prop_assert_eq!(found.as_ref(), document.pointer(&pointer), "{} in {}", pointer, line);
    }

    #[test]
    fn any_key_can_be_pointed_at(key in text(), mut hand in hand()) {
        let line = format!("{{{}}}", hand.member("a", &format!("{{{}}}", hand.clone().member(&key, "[7]"))));
        let mapping = Mapping::parse([format!("output={}", pointer(&["a".into(), key]))]).unwrap();
        let case = read(&line, &mapping).unwrap();
        prop_assert_eq!(case.output(), "[7]");
    }

    #[test]
    fn a_key_that_is_there_twice_is_refused_however_it_is_written(
        keys in vec(text(), 1..6),
        twice in any::<prop::sample::Index>(),
        mut hand in hand(),
    ) {
        let twice = twice.get(&keys).clone();
        let written: Vec<String> = keys.iter().map(|key| hand.member(key, "0")).collect();
        let second = hand.member(&twice, "1");
        let line = format!("{{{}}}", hand.list([written, vec![second]].concat()));
        let bad = read(&line, &Mapping::NONE).unwrap_err();
        prop_assert!(matches!(bad.reason, BadCaseReason::DuplicateKey { .. }), "{}: {}", line, bad);
        prop_assert!(bad.column.is_some_and(|column| column <= line.chars().count() as u64));
    }

    #[test]
    fn whatever_the_line_and_the_rules_are_there_is_a_case_or_a_reason(
        line in prop_oneof![
            any::<String>(),
            "[{}\\[\\]\",:\\\\a-cu0-9 ]{0,60}",
            (value(), hand()).prop_map(|(value, mut hand)| hand.json(&value)),
        ],
        rules in vec(prop_oneof![any::<String>(), "(output|id|usage|input)=(/[a-c0-2~]{0,2}){0,3}"], 0..3),
    ) {
        let mapping = Mapping::parse(&rules).unwrap_or_else(|error| {
            assert!(!error.to_string().is_empty());
            Mapping::NONE
        });
        match read(&line, &mapping) {
            Ok(case) => {
                prop_assert!(serde_json::from_str::<Value>(case.output()).is_ok());
                let others = case.other_json().map(serde_json::from_str::<Value>);
                prop_assert!(others.is_none_or(|json| json.is_ok_and(|json| json.is_object())));
            }
            Err(bad) => {
                prop_assert!(!bad.to_string().is_empty());
                let furthest = line.split('\n').map(|line| line.chars().count() as u64 + 1).max();
                prop_assert!(bad.column <= furthest.or(Some(1)), "{} in {:?}", bad, line);
            }
        }
    }

    #[test]
    fn an_id_is_text_of_1_to_512_bytes_without_control_characters(
        id in prop_oneof![any::<String>(), "[a-zé]{0,20}", "a{500,530}", "é{250,260}", "[a-c\u{7f}-\u{a0}]{1,4}"],
        mut hand in hand(),
    ) {
        let allowed = (1..=MAX_ID_BYTES).contains(&id.len()) && !id.chars().any(char::is_control);
        for key in ["id", "nodeId"] {
            let line = format!("{{\"output\":0,{}}}", hand.member(key, &hand.clone().string(&id)));
            match read(&line, &Mapping::NONE) {
                Ok(case) => {
                    prop_assert!(allowed);
                    prop_assert_eq!(case.node_id(), &id);
                    prop_assert_eq!(case.id(), if key == "id" { &id } else { "case-42" });
                }
                Err(bad) => prop_assert!(!allowed, "{}", bad),
            }
        }
    }

    #[test]
    fn a_whole_number_is_an_id_digit_for_digit_and_no_other_number_is(number in "-?(0|[1-9][0-9]{0,30})") {
        let case = case(&format!(r#"{{"output":0,"id":{number}}}"#));
        prop_assert_eq!(case.id(), &number);
        for other in [format!("{number}.0"), format!("{number}e1"), format!("[{number}]"), "true".into()] {
            let line = format!(r#"{{"output":0,"id":{other}}}"#);
            prop_assert!(read(&line, &Mapping::NONE).is_err(), "{}", other);
        }
    }

    #[test]
    fn counts_are_whole_numbers_up_to_their_limit(
        number in prop_oneof![any::<i64>(), -2..3i64, (1i64 << 31) - 2..(1 << 31) + 3],
    ) {
        let read = read(&format!(r#"{{"output":0,"iteration":{number}}}"#), &Mapping::NONE);
        let expected = u32::try_from(number).ok().filter(|number| *number <= MAX_REPEAT);
        prop_assert_eq!(read.ok().map(|case| case.iteration()), expected);
    }

    #[test]
    fn a_latency_is_any_finite_number_of_0_or_more_to_the_bit(latency in any::<f64>()) {
        // serde_json writes infinity and NaN as `null`, which is not a latency.
        let line = format!(r#"{{"output":0,"latencyMs":{}}}"#, Value::from(latency));
        let read = read(&line, &Mapping::NONE).map(|case| case.latency_ms().map(f64::to_bits));
        let expected = match latency.is_finite() {
            true if latency >= 0.0 => Ok(Some((latency + 0.0).to_bits())),
            true => Err(()),
            false => Ok(None),
        };
        prop_assert_eq!(read.map_err(|_| ()), expected);
    }
}
