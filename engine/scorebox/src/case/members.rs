//! One pass over the members of a JSON object, or the elements of an array, as slices of the text. It builds nothing;
//! the caller interprets the members.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// Why a pass ended early.
#[derive(Debug)]
pub(super) enum Stopped<F> {
    /// The text is not valid.
    Json(serde_json::Error),
    /// The caller stopped it.
    Caller(F),
}

/// Calls `visit` with the unescaped key and the raw value of each member of `text`, which must be one JSON object.
pub(super) fn each_member<'t, F>(
    text: &'t str,
    visit: impl FnMut(Cow<'t, str>, &'t str) -> Result<(), F>,
) -> Result<(), Stopped<F>> {
    let mut stop = None;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer
        .deserialize_map(Members { visit, stop: &mut stop, text: PhantomData })
        .and_then(|()| deserializer.end())
        .map_err(|error| stop.map_or(Stopped::Json(error), Stopped::Caller))
}

/// The raw element `index` (from 0) of the JSON array `text`.
pub(super) fn element(text: &str, index: usize) -> Option<&str> {
    serde_json::Deserializer::from_str(text).deserialize_seq(Element { index }).ok().flatten()
}

/// The document without the space around it, if `text` is one JSON document.
pub(super) fn document(text: &str) -> Result<&str, serde_json::Error> {
    serde_json::from_str::<&RawValue>(text).map(RawValue::get)
}

/// The byte offset of `part`, a slice of `whole`.
pub(super) fn offset_of(whole: &str, part: &str) -> usize {
    part.as_ptr().addr().saturating_sub(whole.as_ptr().addr())
}

/// The visitor of [`each_member`].
struct Members<'s, 't, V, F> {
    visit: V,
    stop: &'s mut Option<F>,
    text: PhantomData<&'t str>,
}

impl<'t, V, F> Visitor<'t> for Members<'_, 't, V, F>
where
    V: FnMut(Cow<'t, str>, &'t str) -> Result<(), F>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(mut self, mut members: A) -> Result<(), A::Error> {
        while let Some(key) = members.next_key_seed(MemberKey)? {
            let value = members.next_value::<&'t RawValue>()?;
            if let Err(stop) = (self.visit)(key, value.get()) {
                *self.stop = Some(stop);
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

/// A key: borrowed if it has no escapes.
struct MemberKey;

impl<'t> DeserializeSeed<'t> for MemberKey {
    type Value = Cow<'t, str>;

    fn deserialize<D: Deserializer<'t>>(self, deserializer: D) -> Result<Cow<'t, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'t> Visitor<'t> for MemberKey {
    type Value = Cow<'t, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'t str) -> Result<Cow<'t, str>, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E>(self, key: &str) -> Result<Cow<'t, str>, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

/// The visitor of [`element`].
struct Element {
    index: usize,
}

impl<'t> Visitor<'t> for Element {
    type Value = Option<&'t str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut elements: A) -> Result<Option<&'t str>, A::Error> {
        for _ in 0..self.index {
            if elements.next_element::<IgnoredAny>()?.is_none() {
                return Ok(None);
            }
        }
        let found = elements.next_element::<&'t RawValue>()?.map(RawValue::get);
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(found)
    }
}
