//! Prepares the configuration of a script. The script's interpreter uses values as they are, so this converts them as
//! the script's schema requires and adds its defaults. Whatever else a schema can require, the script checks.

use std::{borrow::Cow, cmp::Ordering};

use scorebox_config_keys::camel_case;
use serde_json::{Map, Number, Value};

use crate::contract::ScorerInfo;

use super::{
    Anatomy, ScoreError,
    config_check::unknown,
    config_spelling::spelled,
    mistake::Mistake,
    place::Place,
    schema_types::{is_closed, is_of, kinds, typed},
    scorer_config::ScorerConfig,
};

/// The most values that are visited, and compared with others, in one configuration or in the defaults of one schema: a
/// second's work.
const MAX_STEPS: usize = 20_000_000;
/// The most bytes of all defaults that are filled in.
const MAX_FILLED_BYTES: usize = 4 << 20;
/// How a number must compare to a bound.
type Holds = fn(Ordering) -> bool;
/// The keywords for bounds of numbers, their wording, and when they hold.
const BOUNDS: [(&str, &str, Holds); 4] = [
    ("minimum", "at least", Ordering::is_ge),
    ("maximum", "at most", Ordering::is_le),
    ("exclusiveMinimum", "more than", Ordering::is_gt),
    ("exclusiveMaximum", "less than", Ordering::is_lt),
];
/// The keywords for the minimum and the maximum length.
const OF_TEXTS: [&str; 2] = ["minLength", "maxLength"];
const OF_LISTS: [&str; 2] = ["minItems", "maxItems"];

/// The configuration that a scorer's `configure` gets. For a script, it is converted by the schema, with defaults; for
/// any other scorer, the values are the same, in the schema's spelling.
///
/// # Errors
/// `invalid-config` for the first value that the schema does not allow, and for a missing key that is required and has
/// no default.
pub(super) fn given<'c>(
    config: &'c ScorerConfig,
    info: &ScorerInfo,
    anatomy: &Anatomy,
) -> Result<Cow<'c, ScorerConfig>, ScoreError> {
    match &anatomy.script {
        Some(_) => settled(info, config).map(Cow::Owned),
        None => Ok(spelled(config, info)),
    }
}

/// The configuration with numbers and booleans instead of texts that spell them, as environment variables do, and with
/// the defaults of missing keys.
fn settled(info: &ScorerInfo, config: &ScorerConfig) -> Result<ScorerConfig, ScoreError> {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    let schema = info.config_schema.as_deref().and_then(read);
    let (Some(schema), Some(mut value)) = (schema, read(config.as_str())) else {
        return Ok(config.clone());
    };
    let mut settling = Settling::of_a_configuration();
    settling.settle(&mut value, &schema, &Place::Whole).map_err(Mistake::of_config)?;
    Ok(value.as_object().map_or_else(|| config.clone(), ScorerConfig::new))
}

/// Converts values as their schemas require, and refuses the first one for which that is impossible. It goes as deep as
/// the schema does.
pub(super) struct Settling {
    /// Whether a text may spell the number or the boolean that is expected.
    reads_texts: bool,
    /// How many more steps are allowed: schema and configuration may both come from a stranger.
    steps: usize,
    fill_bytes: usize,
}

impl Settling {
    fn of_a_configuration() -> Settling {
        Settling { reads_texts: true, steps: MAX_STEPS, fill_bytes: MAX_FILLED_BYTES }
    }

    /// For the defaults of a schema, which already have the right types.
    pub(super) fn of_defaults() -> Settling {
        Settling { reads_texts: false, ..Settling::of_a_configuration() }
    }

    pub(super) fn settle(
        &mut self,
        value: &mut Value,
        schema: &Value,
        place: &Place<'_>,
    ) -> Result<(), Mistake> {
        let listed = schema.get("type").and_then(Value::as_array);
        self.step(1 + listed.map_or(0, Vec::len), place)?;
        let Some(schema) = schema.as_object() else {
            return match schema {
                Value::Bool(false) => Err(Mistake::of_value(place, value, "nothing")),
                _ => Ok(()),
            };
        };
        let kinds = kinds(schema);
        let text = value.as_str().filter(|_| self.reads_texts);
        if let Some(typed) = text.and_then(|text| typed(text, &kinds)) {
            *value = typed;
        }
        if !kinds.is_empty() && !kinds.iter().any(|kind| is_of(value, kind)) {
            let expected: Vec<&str> = kinds.iter().map(|kind| with_article(kind)).collect();
            return Err(Mistake::of_type(place, value, &expected.join(" or ")));
        }
        self.must_be_listed(value, schema, place)?;
        match value {
            Value::Number(number) => must_be_within(number, schema, place),
            Value::String(text) => {
                must_be_as_long(|| text.chars().count(), OF_TEXTS, "character", schema, place)
            }
            Value::Array(items) => {
                must_be_as_long(|| items.len(), OF_LISTS, "item", schema, place)?;
                self.settle_items(items, schema, place)
            }
            Value::Object(object) => self.settle_members(object, schema, place),
            Value::Null | Value::Bool(_) => Ok(()),
        }
    }

    /// Checks a value against `enum` and `const`.
    fn must_be_listed(
        &mut self,
        value: &Value,
        schema: &Map<String, Value>,
        place: &Place<'_>,
    ) -> Result<(), Mistake> {
        let allowed = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice);
        let only = schema.get("const").map(std::slice::from_ref);
        for listed in allowed.into_iter().chain(only) {
            self.step(size(value).saturating_mul(listed.len()), place)?;
            if !listed.iter().any(|other| same(value, other)) {
                return Err(Mistake::not_listed(place, value, listed));
            }
        }
        Ok(())
    }

    fn settle_items(
        &mut self,
        items: &mut [Value],
        schema: &Map<String, Value>,
        place: &Place<'_>,
    ) -> Result<(), Mistake> {
        let prefix = schema.get("prefixItems").and_then(Value::as_array);
        let others = schema.get("items");
        for (at, item) in items.iter_mut().enumerate() {
            if let Some(schema) = prefix.and_then(|prefix| prefix.get(at)).or(others) {
                self.settle(item, schema, &place.item(at))?;
            }
        }
        Ok(())
    }

    fn settle_members(
        &mut self,
        object: &mut Map<String, Value>,
        schema: &Map<String, Value>,
        place: &Place<'_>,
    ) -> Result<(), Mistake> {
        let nothing = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.map_or(&[][..], Vec::as_slice);
        self.step(object.len() + properties.len() + required.len(), place)?;
        if is_closed(schema) {
            must_be_known(object, schema, properties, place)?;
        }
        for (key, schema) in properties {
            let place = place.member(key);
            if let Some(default) = schema.get("default").filter(|_| !object.contains_key(key)) {
                self.fill(default, &place)?;
                object.insert(key.clone(), default.clone());
            }
            if let Some(value) = object.get_mut(key) {
                self.settle(value, schema, &place)?;
            }
        }
        let missing =
            required.iter().filter_map(Value::as_str).find(|it| !object.contains_key(*it));
        if let Some(key) = missing {
            return Err(Mistake::new(place, &format!("`{}` is required", place.member(key))));
        }
        let others = schema.get("additionalProperties").filter(|others| others.is_object());
        let Some(others) = others.filter(|_| !schema.contains_key("patternProperties")) else {
            return Ok(());
        };
        let mut further = object.iter_mut().filter(|(key, _)| !properties.contains_key(*key));
        further.try_for_each(|(key, value)| self.settle(value, others, &place.member(key)))
    }

    fn step(&mut self, steps: usize, place: &Place<'_>) -> Result<(), Mistake> {
        let left = self.steps.checked_sub(steps);
        self.steps = left.ok_or_else(|| Mistake::of_too_large_a_schema(place))?;
        Ok(())
    }

    fn fill(&mut self, default: &Value, place: &Place<'_>) -> Result<(), Mistake> {
        let bytes = default.to_string().len();
        self.fill_bytes = self.fill_bytes.checked_sub(bytes).ok_or_else(|| {
            let most = MAX_FILLED_BYTES >> 20;
            Mistake::new(
                place,
                &format!("`{place}`: the schema's defaults are more than {most} MiB here"),
            )
        })?;
        Ok(())
    }
}

/// Refuses an unknown key, and renames a key in snake_case to the property's name, which all scorers accept.
fn must_be_known(
    object: &mut Map<String, Value>,
    schema: &Map<String, Value>,
    properties: &Map<String, Value>,
    place: &Place<'_>,
) -> Result<(), Mistake> {
    let foreign: Vec<String> =
        object.keys().filter(|key| !properties.contains_key(*key)).cloned().collect();
    for key in foreign {
        let name = camel_case(&key);
        if properties.contains_key(&name) {
            if object.contains_key(&name) {
                let (key, name) = (place.member(&key), place.member(&name));
                let message = format!("`{key}` and `{name}` are the same key; give it once");
                return Err(Mistake::new(place, &message));
            }
            if let Some(value) = object.remove(&key) {
                object.insert(name, value);
            }
        // The keys of these are searched, and refused, together with those of `properties`.
        } else if !["$ref", "allOf", "anyOf", "oneOf"].iter().any(|it| schema.contains_key(*it)) {
            let names: Vec<&str> = properties.keys().map(String::as_str).collect();
            return Err(unknown(place, &key, &names));
        }
    }
    Ok(())
}

fn must_be_within(
    number: &Number,
    schema: &Map<String, Value>,
    place: &Place<'_>,
) -> Result<(), Mistake> {
    let wrong = |words: &str, bound: &Number| {
        Err(Mistake::of_value(place, &Value::Number(number.clone()), &format!("{words} {bound}")))
    };
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_number);
    for (keyword, words, holds) in BOUNDS {
        if let Some(bound) = bound(keyword)
            && !compare(number, bound).is_some_and(holds)
        {
            return wrong(words, bound);
        }
    }
    match bound("multipleOf") {
        Some(of) if !is_multiple(number, of) => wrong("a multiple of", of),
        _ => Ok(()),
    }
}

fn must_be_as_long(
    length: impl Fn() -> usize,
    [least, most]: [&str; 2],
    of: &str,
    schema: &Map<String, Value>,
    place: &Place<'_>,
) -> Result<(), Mistake> {
    let (least, most) = (schema.get(least).and_then(count), schema.get(most).and_then(count));
    if least.is_none() && most.is_none() {
        return Ok(());
    }
    let length = length();
    let wrong = |words: &str, bound: u64| {
        let plural = if bound == 1 { "" } else { "s" };
        Err(Mistake::of_length(place, length, &format!("{words} {bound} {of}{plural}")))
    };
    match (least, most) {
        (Some(least), _) if (length as u64) < least => wrong("at least", least),
        (_, Some(most)) if length as u64 > most => wrong("at most", most),
        _ => Ok(()),
    }
}

/// A whole number from 0 for a length; 3.0 counts too.
pub(super) fn count(value: &Value) -> Option<u64> {
    let whole = |it: f64| (it >= 0.0 && it.fract() == 0.0).then_some(it as u64);
    value.as_u64().or_else(|| value.as_f64().and_then(whole))
}

/// Compares exactly if both are whole.
fn compare(left: &Number, right: &Number) -> Option<Ordering> {
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

/// Whether it is a multiple within the precision of doubles: 0.3 is a multiple of 0.1.
fn is_multiple(number: &Number, of: &Number) -> bool {
    if let (Some(number), Some(of)) = (whole(number), whole(of)) {
        return number.checked_rem(of).is_none_or(|rest| rest == 0);
    }
    let (Some(number), Some(of)) = (number.as_f64(), of.as_f64()) else { return true };
    let times = number / of;
    !times.is_finite() || (times - times.round()).abs() <= 2.0 * f64::EPSILON * times.abs()
}

/// Whether two values are equal in JSON Schema: 1 is 1.0.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            compare(left, right) == Some(Ordering::Equal)
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let is_there = |(key, value): (&String, &Value)| {
                right.get(key).is_some_and(|other| same(value, other))
            };
            left.len() == right.len() && left.iter().all(is_there)
        }
        (left, right) => left == right,
    }
}

/// The number of values in a value.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(object) => 1 + object.values().map(size).sum::<usize>(),
        _ => 1,
    }
}

fn with_article(kind: &str) -> &str {
    match kind {
        "integer" => "a whole number",
        "number" => "a number",
        "string" => "a text",
        "boolean" => "a boolean",
        "array" => "a list",
        "object" => "an object",
        kind => kind,
    }
}

#[cfg(test)]
mod tests;
