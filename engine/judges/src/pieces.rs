//! Reads parts of answers without keeping the rest: an answer of some megabytes can contain a million empty objects,
//! and only the first one counts. Knows no protocol.

use std::{fmt, marker::PhantomData};

use scorebox::judge::MAX_COST_USD;
use serde::{
    Deserialize, Deserializer,
    de::{
        DeserializeOwned, IgnoredAny, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer,
    },
};
use serde_json::value::RawValue;

/// A JSON object with the members of `T`. Without this, serde would also read `T` from a list, by the order of its
/// members, and no protocol has such lists.
#[derive(Debug, Default)]
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object<T>, D::Error> {
        struct Members<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Object<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(members)).map(Object)
            }
        }

        deserializer.deserialize_map(Members(PhantomData))
    }
}

/// The first item of a list, if there is one.
#[derive(Debug)]
pub(crate) struct First<T>(pub(crate) Option<T>);

impl<T> Default for First<T> {
    fn default() -> First<T> {
        First(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for First<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<First<T>, D::Error> {
        struct Items<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<T> {
            type Value = First<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list")
            }

            fn visit_unit<E>(self) -> Result<First<T>, E> {
                Ok(First(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<First<T>, A::Error> {
                let first = items.next_element()?;
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(First(first))
            }
        }

        deserializer.deserialize_any(Items(PhantomData))
    }
}

/// What a model answers, in parts or in one string.
#[derive(Debug, Default)]
pub(crate) struct Content {
    /// The texts of all parts, one after the other; `None` if there is no text.
    pub(crate) text: Option<String>,
    /// The arguments of tool calls.
    pub(crate) calls: Calls,
    /// Why the model refuses.
    pub(crate) refusal: Option<String>,
}

/// One part, of any type; other types are thoughts, images and future ones.
#[derive(Deserialize)]
struct Part {
    #[serde(default, rename = "type")]
    kind: String,
    text: Option<String>,
    input: Option<Box<RawValue>>,
    refusal: Option<String>,
}

impl Content {
    fn add(&mut self, part: Part) {
        match (part.kind.as_str(), part.text, part.input, part.refusal) {
            ("text" | "output_text", Some(text), ..) => {
                self.text.get_or_insert_default().push_str(&text);
            }
            ("tool_use", _, Some(input), _) => self.calls.add(input.get()),
            ("refusal", .., Some(refusal)) => {
                self.refusal.get_or_insert(refusal);
            }
            _ => {}
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Content, D::Error> {
        struct Parts;

        impl<'de> Visitor<'de> for Parts {
            type Value = Content;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string or a list of parts")
            }

            fn visit_unit<E>(self) -> Result<Content, E> {
                Ok(Content::default())
            }

            fn visit_str<E>(self, text: &str) -> Result<Content, E> {
                Ok(Content { text: Some(text.to_owned()), ..Content::default() })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Content, A::Error> {
                let mut content = Content::default();
                while let Some(Object(part)) = parts.next_element()? {
                    content.add(part);
                }
                Ok(content)
            }
        }

        deserializer.deserialize_any(Parts)
    }
}

/// The arguments of tool calls, as JSON: those of the first call, and below them those of each call with different
/// ones. Which one counts is not decided here.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    first: Option<String>,
    others: String,
}

/// One tool call, in OpenAI's format.
#[derive(Deserialize)]
struct Call {
    function: Option<Object<Called>>,
}

#[derive(Deserialize)]
struct Called {
    arguments: Option<Arguments>,
}

impl Calls {
    fn add(&mut self, arguments: &str) {
        match &self.first {
            None => self.first = Some(arguments.to_owned()),
            Some(first) if first == arguments => {}
            Some(_) => {
                self.others.push('\n');
                self.others.push_str(arguments);
            }
        }
    }

    /// The arguments of all calls; `None` if there was no call.
    pub(crate) fn arguments(self) -> Option<String> {
        self.first.map(|first| first + &self.others)
    }
}

impl<'de> Deserialize<'de> for Calls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Calls, D::Error> {
        struct List;

        impl<'de> Visitor<'de> for List {
            type Value = Calls;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of calls")
            }

            fn visit_unit<E>(self) -> Result<Calls, E> {
                Ok(Calls::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Calls, A::Error> {
                let mut calls = Calls::default();
                while let Some(Object(call)) = items.next_element::<Object<Call>>()? {
                    let arguments = call.function.and_then(|called| called.0.arguments);
                    arguments.iter().for_each(|it| calls.add(&it.0));
                }
                Ok(calls)
            }
        }

        deserializer.deserialize_any(List)
    }
}

/// The arguments of a tool: JSON in a string, as OpenAI sends it, or the object itself, as some servers send it.
#[derive(Debug)]
struct Arguments(String);

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Arguments, D::Error> {
        let raw = <Box<RawValue>>::deserialize(deserializer)?;
        let text = raw.get();
        Ok(Arguments(serde_json::from_str(text).unwrap_or_else(|_| text.to_owned())))
    }
}

/// A number of tokens; anything else counts as not reported.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count(pub(crate) Option<u64>);

/// An amount of money that an answer can cost; anything else counts as not reported.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Amount(pub(crate) Option<f64>);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Count, D::Error> {
        let number = number(<&RawValue>::deserialize(deserializer)?);
        // The range is half-open, because the largest whole number has no exact neighbour in this type.
        let is_whole = |it: &f64| (0.0..9e15).contains(it) && it.fract() == 0.0;
        Ok(Count(number.filter(is_whole).map(|it| it as u64)))
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Amount, D::Error> {
        let number = number(<&RawValue>::deserialize(deserializer)?);
        Ok(Amount(number.filter(|it| (0.0..=MAX_COST_USD).contains(it))))
    }
}

/// The number, if the value is one; infinite if it is too large, which JSON can contain but its reader refuses.
fn number(raw: &RawValue) -> Option<f64> {
    raw.get().parse().ok()
}

/// What an answer reports about its consumption, as far as that can be read, even if the rest cannot.
pub(crate) fn counted<T: Default + DeserializeOwned>(document: &[u8]) -> T {
    #[derive(Deserialize)]
    struct Consuming<'a> {
        #[serde(borrow)]
        usage: Option<&'a RawValue>,
    }

    let consuming: Option<Object<Consuming<'_>>> = serde_json::from_slice(document).ok();
    let usage = consuming.and_then(|it| serde_json::from_str(it.0.usage?.get()).ok());
    usage.map(|Object(usage)| usage).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_a_string_or_parts_of_which_texts_count() {
        let text = |json: &str| serde_json::from_str::<Content>(json).unwrap().text;
        assert_eq!(text(r#""a\nb""#).as_deref(), Some("a\nb"));
        assert_eq!(text("null"), None);
        assert_eq!(text("[]"), None);
        let parts = r#"[{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]"#;
        assert_eq!(text(parts).as_deref(), Some("ab"));
    }

    #[test]
    fn arguments_are_json_in_a_string_or_as_they_are_with_their_keys_in_order() {
        let arguments = |json: &str| serde_json::from_str::<Arguments>(json).unwrap().0;
        assert_eq!(arguments(r#""{\"b\": 1, \"a\": 2}""#), r#"{"b": 1, "a": 2}"#);
        assert_eq!(arguments(r#"{"b": 1, "a": 2}"#), r#"{"b": 1, "a": 2}"#);
    }

    #[test]
    fn calls_with_other_arguments_are_all_kept() {
        let calls = |json: &str| serde_json::from_str::<Calls>(json).unwrap().arguments();
        let call = |arguments: &str| format!(r#"{{"function": {{"arguments": {arguments}}}}}"#);
        let [one, other] = [r#"{"a":1}"#, r#"{"a":2}"#];
        assert_eq!(calls(&format!("[{}]", call(one))).as_deref(), Some(one));
        let list = [one, one, other, one].map(call).join(", ");
        assert_eq!(calls(&format!("[{list}]")).unwrap(), format!("{one}\n{other}"));
        for none in ["null", "[]", "[{}]", r#"[{"function": null}]"#] {
            assert_eq!(calls(none), None, "{none}");
        }
        let parts = [one, other].map(|it| format!(r#"{{"type": "tool_use", "input": {it}}}"#));
        let content: Content = serde_json::from_str(&format!("[{}]", parts.join(","))).unwrap();
        assert_eq!(content.calls.arguments().unwrap(), format!("{one}\n{other}"));
    }

    #[test]
    fn numbers_that_make_no_sense_count_as_not_stated() {
        let count = |json: &str| serde_json::from_str::<Count>(json).unwrap().0;
        let amount = |json: &str| serde_json::from_str::<Amount>(json).unwrap().0;
        assert_eq!((count("12"), count("12.0")), (Some(12), Some(12)));
        assert_eq!((amount("0.25"), amount("0")), (Some(0.25), Some(0.0)));
        assert_eq!((amount("1e9"), amount("1.1e9")), (Some(1e9), None));
        for wrong in ["-1", "1e400", "-1e400", "null", "\"1\"", "[[1]]", "{\"a\": {}}", "true"] {
            assert_eq!((count(wrong), amount(wrong)), (None, None), "{wrong}");
        }
        assert_eq!((count("1.5"), count("1e30")), (None, None));
    }

    #[test]
    fn what_an_answer_consumed_is_read_whatever_the_rest_of_it_is() {
        #[derive(Default, Deserialize)]
        struct Usage {
            tokens: Count,
        }
        let tokens = |json: &str| counted::<Usage>(json.as_bytes()).tokens.0;
        assert_eq!(tokens(r#"{"choices": 7, "usage": {"tokens": 3}}"#), Some(3));
        let lists = [r#"[{"tokens": 3}]"#, r#"{"usage": [3]}"#];
        let others = [r#"{"usage": 3}"#, r#"{"usage": null}"#, "{}", "[]", "{\"usage\"", ""];
        for wrong in lists.into_iter().chain(others) {
            assert_eq!(tokens(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_list_is_no_object_whose_members_stand_in_its_places() {
        let content = |json: &str| serde_json::from_str::<Content>(json).unwrap_err().to_string();
        let refused = "invalid type: sequence, expected an object";
        assert!(content(r#"[["text", "a", null, null]]"#).starts_with(refused));
        let calls = |json: &str| serde_json::from_str::<Calls>(json).unwrap_err().to_string();
        for list in [r#"[[{"arguments": "{}"}]]"#, r#"[{"function": ["{}"]}]"#] {
            assert!(calls(list).starts_with(refused), "{list}");
        }
    }

    #[test]
    fn only_the_first_of_a_list_is_kept() {
        assert_eq!(serde_json::from_str::<First<u8>>("[1, {}, []]").unwrap().0, Some(1));
        assert_eq!(serde_json::from_str::<First<u8>>("[]").unwrap().0, None);
        assert_eq!(serde_json::from_str::<First<u8>>("null").unwrap().0, None);
    }
}
