//! Whether text from a guest is JSON that every later reader can read. It keeps nothing of the text.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};

/// Accepts one document: nested at most 127 deep, with numbers that fit a double, and strings that are Unicode.
///
/// # Errors
/// What is wrong, with line and column.
pub(super) fn check(text: &str) -> Result<(), serde_json::Error> {
    serde_json::from_str::<Checked>(text).map(drop)
}

/// Any value. Unlike `serde::de::IgnoredAny`, which skips values, it makes serde_json parse all of them, so that
/// serde_json's own bound on nesting applies.
struct Checked;

impl<'de> Deserialize<'de> for Checked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Checked, D::Error> {
        deserializer.deserialize_any(Checked)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = Checked;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Checked, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Checked, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Checked, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Checked, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Checked, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Checked, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Checked, A::Error> {
        while items.next_element::<Checked>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Checked, A::Error> {
        while members.next_entry::<Checked, Checked>()?.is_some() {}
        Ok(self)
    }
}
