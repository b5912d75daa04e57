//! Deserializes a configuration's JSON value into its type, and reports where it does not fit. It does what serde_json
//! and a crate that tracks paths do together, but in less code, because every component carries it.

use std::fmt::{self, Display};

use serde::de::value::StrDeserializer;
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, Expected, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Number, Value};

/// The value as a `T`.
pub(super) fn read<'de, T: Deserialize<'de>>(value: &'de Value) -> Result<T, Misfit> {
    T::deserialize(Typed(value))
}

/// Why a value is not of its type.
#[derive(Debug)]
pub(super) struct Misfit(Box<Found>);

#[derive(Debug)]
pub(super) struct Found {
    /// The key: `limits.max`, `values[2]`; empty for the whole configuration.
    pub(super) path: String,
    pub(super) what: What,
}

/// What is wrong there.
#[derive(Debug)]
pub(super) enum What {
    /// This key is missing.
    Missing(&'static str),
    /// The name is not one of these.
    UnknownName(String, &'static [&'static str]),
    /// Serde's message.
    Other(String),
}

impl Misfit {
    pub(super) fn found(self) -> Found {
        *self.0
    }

    #[inline(never)]
    fn new(what: What) -> Self {
        Self(Box::new(Found { path: String::new(), what }))
    }

    /// Adds a key to the path of an error inside its value.
    #[inline(never)]
    fn at_key(mut self, key: &str) -> Self {
        let path = &mut self.0.path;
        if !path.is_empty() && !path.starts_with('[') {
            path.insert(0, '.');
        }
        path.insert_str(0, key);
        self
    }

    /// Adds an index to the path of an error inside a list.
    #[inline(never)]
    fn at_place(self, place: usize) -> Self {
        self.at_key(&format!("[{place}]"))
    }

    #[inline(never)]
    fn wrong(kind: &str, found: &Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(What::Other(format!("invalid {kind}: {}, expected {expected}", InJson(found))))
    }
}

/// Names what was found in serde_json's words.
struct InJson<'u>(&'u Unexpected<'u>);

impl Display for InJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not serde's own words: its code for formatting a float would be a tenth of a small component.
        f.write_str(match self.0 {
            Unexpected::Bool(value) => return write!(f, "boolean `{value}`"),
            Unexpected::Unsigned(number) => return write!(f, "integer `{number}`"),
            Unexpected::Signed(number) => return write!(f, "integer `{number}`"),
            Unexpected::Float(number) => {
                return match Number::from_f64(*number) {
                    Some(number) => write!(f, "floating point `{number}`"),
                    None => f.write_str("floating point"),
                };
            }
            Unexpected::Char(letter) => return write!(f, "character `{letter}`"),
            Unexpected::Str(text) => return write!(f, "string {text:?}"),
            Unexpected::Bytes(_) => "byte array",
            Unexpected::Unit => "null",
            Unexpected::Option => "Option value",
            Unexpected::NewtypeStruct => "newtype struct",
            Unexpected::Seq => "sequence",
            Unexpected::Map => "map",
            Unexpected::Enum => "enum",
            Unexpected::UnitVariant => "unit variant",
            Unexpected::NewtypeVariant => "newtype variant",
            Unexpected::TupleVariant => "tuple variant",
            Unexpected::StructVariant => "struct variant",
            Unexpected::Other(other) => other,
        })
    }
}

impl Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.what {
            What::Missing(key) => write!(f, "missing field `{key}`"),
            What::UnknownName(name, _) => write!(f, "unknown variant `{name}`"),
            What::Other(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Misfit {}

impl de::Error for Misfit {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(What::Other(message.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::wrong("type", &found, expected)
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::wrong("value", &found, expected)
    }

    fn unknown_variant(name: &str, known: &'static [&'static str]) -> Self {
        Self::new(What::UnknownName(name.to_owned(), known))
    }

    fn missing_field(key: &'static str) -> Self {
        Self::new(What::Missing(key))
    }
}

/// A value that its target type reads.
#[derive(Clone, Copy)]
struct Typed<'de>(&'de Value);

impl<'de> Typed<'de> {
    #[inline(never)]
    fn unexpected(self) -> Unexpected<'de> {
        match self.0 {
            Value::Null => Unexpected::Unit,
            Value::Bool(value) => Unexpected::Bool(*value),
            Value::Number(number) => number_found(number),
            Value::String(text) => Unexpected::Str(text),
            Value::Array(_) => Unexpected::Seq,
            Value::Object(_) => Unexpected::Map,
        }
    }

    #[inline(never)]
    fn misfit(self, expected: &dyn Expected) -> Misfit {
        Misfit::wrong("type", &self.unexpected(), expected)
    }
}

fn number_found(number: &Number) -> Unexpected<'static> {
    match (number.as_u64(), number.as_i64()) {
        (Some(number), _) => Unexpected::Unsigned(number),
        (None, Some(number)) => Unexpected::Signed(number),
        (None, None) => Unexpected::Float(number.as_f64().unwrap_or(f64::NAN)),
    }
}

fn visit_number<'de, V: Visitor<'de>>(number: &Number, visitor: V) -> Result<V::Value, Misfit> {
    match (number.as_u64(), number.as_i64()) {
        (Some(number), _) => visitor.visit_u64(number),
        (None, Some(number)) => visitor.visit_i64(number),
        (None, None) => visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN)),
    }
}

impl<'de> Deserializer<'de> for Typed<'de> {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => visit_number(number, visitor),
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(items) => {
                let mut list = List { items, next: 0 };
                let value = visitor.visit_seq(&mut list)?;
                match list.next == items.len() {
                    true => Ok(value),
                    false => {
                        Err(de::Error::invalid_length(items.len(), &"fewer elements in array"))
                    }
                }
            }
            Value::Object(members) => visitor.visit_map(Members::of(members)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    // The schema says that this is an object, so a list of its fields in order is refused.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        match self.0 {
            Value::Object(members) => visitor.visit_map(Members::of(members)),
            _ => Err(self.misfit(&visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        let (name, content) = match self.0 {
            Value::String(name) => (name.as_str(), None),
            Value::Object(members) => match Members::of(members).only() {
                Some((name, content)) => (name, Some(content)),
                None => {
                    let expected = "map with a single key";
                    return Err(Misfit::wrong("value", &Unexpected::Map, &expected));
                }
            },
            _ => return Err(self.misfit(&"string or map")),
        };
        visitor.visit_enum(Variant { name, content })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_unit()
    }

    // A visitor refuses what it does not expect, with its own message.
    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier
    }
}

/// The items of a list.
struct List<'de> {
    items: &'de [Value],
    next: usize,
}

impl<'de> SeqAccess<'de> for List<'de> {
    type Error = Misfit;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Misfit> {
        let place = self.next;
        let Some(item) = self.items.get(place) else { return Ok(None) };
        self.next += 1;
        seed.deserialize(Typed(item)).map(Some).map_err(|misfit| misfit.at_place(place))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len() - self.next)
    }
}

/// The members of an object.
struct Members<'de> {
    rest: serde_json::map::Iter<'de>,
    read: Option<(&'de str, &'de Value)>,
}

impl<'de> Members<'de> {
    fn of(members: &'de Map<String, Value>) -> Self {
        Self { rest: members.iter(), read: None }
    }

    fn next(&mut self) -> Option<(&'de str, &'de Value)> {
        self.rest.next().map(|(key, value)| (key.as_str(), value))
    }

    fn only(mut self) -> Option<(&'de str, &'de Value)> {
        let first = self.next();
        if self.next().is_some() { None } else { first }
    }
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = Misfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Misfit> {
        self.read = self.next();
        let Some((key, _)) = self.read else { return Ok(None) };
        seed.deserialize(Key(key)).map(Some).map_err(|misfit| misfit.at_key(key))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Misfit> {
        let (key, value) = self.read.unwrap_or(("", &Value::Null));
        seed.deserialize(Typed(value)).map_err(|misfit| misfit.at_key(key))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// A key: a text, or a number or boolean written as text.
struct Key<'de>(&'de str);

impl<'de> Key<'de> {
    fn number<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0.parse() {
            Ok(number) => visit_number(&number, visitor),
            Err(_) => Err(de::Error::invalid_value(
                Unexpected::Other("a key"),
                &"key to be a number in quotes",
            )),
        }
    }
}

macro_rules! number_keys {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            self.number(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_borrowed_str(self.0)
    }

    number_keys! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            other => Err(de::Error::invalid_type(Unexpected::Str(other), &visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_enum(StrDeserializer::new(self.0))
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
        ignored_any
    }
}

/// A variant of an enum, and its content.
struct Variant<'de> {
    name: &'de str,
    content: Option<&'de Value>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Misfit;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Misfit> {
        Ok((seed.deserialize(StrDeserializer::new(self.name))?, self))
    }
}

impl<'de> Variant<'de> {
    /// The content of the variant; an error if it has none.
    fn content(&self, expected: &str) -> Result<Typed<'de>, Misfit> {
        let found = Unexpected::UnitVariant;
        self.content.map(Typed).ok_or_else(|| Misfit::wrong("type", &found, &expected))
    }

    /// Reads the content of the variant, if it is of the right kind.
    fn read<V: Visitor<'de>>(
        &self,
        expected: &str,
        is_right: fn(&Value) -> bool,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        let content = self.content(expected)?;
        let read = match is_right(content.0) {
            true => content.deserialize_any(visitor),
            false => Err(content.misfit(&expected)),
        };
        read.map_err(|misfit| misfit.at_key(self.name))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Misfit;

    fn unit_variant(self) -> Result<(), Misfit> {
        match self.content {
            None => Ok(()),
            Some(content) => {
                <()>::deserialize(Typed(content)).map_err(|misfit| misfit.at_key(self.name))
            }
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Misfit> {
        let content = self.content("newtype variant")?;
        seed.deserialize(content).map_err(|misfit| misfit.at_key(self.name))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Misfit> {
        self.read("tuple variant", Value::is_array, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.read("struct variant", Value::is_object, visitor)
    }
}
