//! The shared rule for what counts as a correct answer: the configuration keys that state it, or else the case's ground
//! truth. Comparing is left to the scorer.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;

use crate::part::json_text;
use crate::{Case, ConfigError, Part, ScoreError, equal};

/// The configuration key `value`, as a field of that name: it replaces the case's ground truth.
///
/// ```
/// # use scorebox_sdk::{Accepted, Case, ExpectedValue, ExpectedValues, JsonSchema, schemars};
/// #[derive(serde::Deserialize, JsonSchema)]
/// struct Config {
///     #[serde(default)]
///     value: ExpectedValue,
///     #[serde(default)]
///     values: ExpectedValues,
/// }
/// let config: Config = serde_json::from_str(r#"{"values": ["New York", "NYC"]}"#).unwrap();
/// let configured = Accepted::configured(config.value, config.values).unwrap();
/// let case = Case::new("NYC".into());
/// let accepted = Accepted::or_ground_truth(&configured, &case).unwrap();
/// assert_eq!(accepted.at_least_one().unwrap().len(), 2);
/// ```
///
/// A doc comment on the field replaces the key's description. `null` is refused, because the ground truth would
/// silently be used instead.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(
    inline,
    description = "The expected value, in place of the ground truth. For JSON `null`, use `values`."
)]
pub struct ExpectedValue(pub Option<Value>);

impl<'de> Deserialize<'de> for ExpectedValue {
    fn deserialize<D: Deserializer<'de>>(given: D) -> Result<Self, D::Error> {
        match Value::deserialize(given)? {
            // A configuration in TOML cannot contain `null`.
            Value::Null => Err(de::Error::custom(
                "is null; to expect JSON `null`, write `\"values\": [null]`; to use the ground truth, \
                 leave the key out",
            )),
            value => Ok(Self(Some(value))),
        }
    }
}

/// Refuses `null` for an expected value whose field is not an [`ExpectedValue`]: `#[serde(default, deserialize_with =
/// "scorebox_sdk::not_null")]`.
///
/// # Errors
/// If the value is `null` or not a `T`.
pub fn not_null<'de, D, T>(given: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    match Option::deserialize(given)? {
        None => Err(de::Error::custom("is null; to use the ground truth, leave the key out")),
        value => Ok(value),
    }
}

/// The configuration key `values`, next to [`ExpectedValue`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, description = "The expected values, in place of the ground truth.")]
pub struct ExpectedValues(pub Option<Vec<Value>>);

/// What the configuration gives in place of the ground truth.
#[derive(Debug, Clone, PartialEq)]
pub enum Configured {
    /// Its `value`.
    One(Value),
    /// Its `values`; at least one.
    Several(Vec<Value>),
}

impl Configured {
    /// The key that is set, for scorers that interpret the values themselves; `None` if neither is set.
    ///
    /// # Errors
    /// A [`ConfigError`] if both keys are set, or `values` is empty.
    pub fn one_of(
        value: ExpectedValue,
        values: ExpectedValues,
    ) -> Result<Option<Self>, ConfigError> {
        match (value.0, values.0) {
            (None, None) => Ok(None),
            (Some(value), None) => Ok(Some(Self::One(value))),
            (Some(_), Some(_)) => {
                Err(ConfigError::new("values", "give either `value` or `values`, not both"))
            }
            (None, Some(values)) if values.is_empty() => {
                let message = "is an empty list; name at least one accepted value";
                Err(ConfigError::new("values", message))
            }
            (None, Some(values)) => Ok(Some(Self::Several(values))),
        }
    }
}

/// The accepted answers of a case: the ground truth is one value, or a list of values of which the best match counts; a
/// configured `value` or `values` replaces it.
///
/// A list can also be the answer itself: see [`Accepted::is_whole`].
#[derive(Debug, Clone)]
pub struct Accepted<'a> {
    parts: Parts<'a>,
    whole: Option<Part<'a>>,
}

#[derive(Debug, Clone)]
enum Parts<'a> {
    /// The usual case, kept apart because it needs no list that would have to be allocated and freed.
    One(Part<'a>),
    Several(Vec<Part<'a>>),
}

impl Accepted<'static> {
    /// The configured answers, for [`Accepted::or_ground_truth`]; `None` if neither key is set.
    ///
    /// # Errors
    /// A [`ConfigError`] if both keys are set, or `values` is empty.
    pub fn configured(
        value: ExpectedValue,
        values: ExpectedValues,
    ) -> Result<Option<Self>, ConfigError> {
        let parts = match Configured::one_of(value, values)? {
            None => return Ok(None),
            Some(Configured::One(value)) => Parts::One(Part::new("value", json_text(&value))),
            Some(Configured::Several(values)) => {
                let part = |(index, value)| Part::new(format!("values[{index}]"), json_text(value));
                Parts::Several(values.iter().enumerate().map(part).collect())
            }
        };
        Ok(Some(Accepted { parts, whole: None }))
    }
}

impl<'a> Accepted<'a> {
    /// The configured answers, or else the case's ground truth.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if there is neither; it names both keys.
    pub fn or_ground_truth(
        configured: &'a Option<Accepted<'static>>,
        case: &'a Case,
    ) -> Result<Cow<'a, Accepted<'a>>, ScoreError> {
        if let Some(accepted) = configured {
            return Ok(Cow::Borrowed(accepted));
        }
        let truth =
            (case.require_ground_truth()).map_err(|missing| missing.nor_configured("`value`"))?;
        if !truth.is_array() {
            return Ok(Cow::Owned(Self { parts: Parts::One(truth), whole: None }));
        }
        let parts = (items_of(truth.json()).into_iter().enumerate())
            .map(|(index, item)| Part::new(format!("groundTruth[{index}]"), item.to_owned()))
            .collect();
        Ok(Cow::Owned(Self { parts: Parts::Several(parts), whole: Some(truth) }))
    }

    /// The accepted answers; empty only if the ground truth is `[]`.
    #[must_use]
    pub fn parts(&self) -> &[Part<'a>] {
        match &self.parts {
            Parts::One(part) => std::slice::from_ref(part),
            Parts::Several(parts) => parts,
        }
    }

    /// The accepted answers, for a scorer that needs at least one.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if the ground truth is `[]`.
    #[inline]
    pub fn at_least_one(&self) -> Result<&[Part<'a>], ScoreError> {
        let parts = self.parts();
        if parts.is_empty() {
            return Err(ScoreError::invalid_input(
                "`groundTruth` is an empty list; it should name at least one accepted answer",
            ));
        }
        Ok(parts)
    }

    /// Whether the ground truth is a list, and therefore might itself be the answer.
    #[must_use]
    pub fn is_list(&self) -> bool {
        self.whole.is_some()
    }

    /// Whether the output is a list that equals the whole ground-truth list: then the list is the answer itself and not
    /// a choice of answers.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if one of them cannot be read.
    pub fn is_whole(&self, output: &Part<'_>) -> Result<bool, ScoreError> {
        match &self.whole {
            Some(whole) if output.is_array() => Ok(equal(&output.value()?, &whole.value()?)),
            _ => Ok(false),
        }
    }
}

/// The items of a JSON list, as they are written. The engine has checked that the text is JSON, so this only looks for
/// commas.
fn items_of(list: &str) -> Vec<&str> {
    let inner = list.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or_default();
    let mut items = Vec::new();
    let (mut start, mut depth, mut in_text, mut escaped) = (0, 0_usize, false, false);
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                items.push(inner[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = inner[start..].trim();
    if !last.is_empty() {
        items.push(last);
    }
    items
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Config {
        value: ExpectedValue,
        values: ExpectedValues,
    }

    fn configured(keys: Value) -> Option<Accepted<'static>> {
        let Config { value, values } = serde_json::from_value(keys).unwrap();
        Accepted::configured(value, values).unwrap()
    }

    fn texts(case: &Case, keys: Value) -> Vec<String> {
        let configured = configured(keys);
        let accepted = Accepted::or_ground_truth(&configured, case).unwrap();
        let parts = accepted.parts().iter();
        parts.map(|part| part.text().unwrap().into()).collect()
    }

    #[test]
    fn the_ground_truth_is_one_answer_or_a_list_of_them() {
        let one = Case::new(json!("x")).with_ground_truth(json!("Paris"));
        assert_eq!(texts(&one, json!({})), ["Paris"]);
        let list = Case::new(json!("x")).with_ground_truth(json!(["Paris", 75, {"a": 1}]));
        assert_eq!(texts(&list, json!({})), ["Paris", "75", "{\"a\":1}"]);
    }

    #[test]
    fn items_of_a_list_are_what_commas_outside_of_texts_and_of_other_lists_separate() {
        let list = r#"[ "a,\"],", {"b": [1, 2]} ,[], "\\" , 3.50,"é" ]"#;
        let items = [r#""a,\"],""#, r#"{"b": [1, 2]}"#, "[]", r#""\\""#, "3.50", r#""é""#];
        assert_eq!(items_of(list), items);
        assert!(items_of("[]").is_empty() && items_of("[ \n]").is_empty());
        let values: Vec<Value> = serde_json::from_str(list).unwrap();
        assert_eq!(items.map(|item| serde_json::from_str::<Value>(item).unwrap()), *values);
    }

    #[test]
    fn configured_answers_take_the_ground_truths_place() {
        let case = Case::new(json!("x")).with_ground_truth(json!("Paris"));
        assert_eq!(texts(&case, json!({"value": "Rome"})), ["Rome"]);
        assert_eq!(texts(&case, json!({"values": [1, null]})), ["1", "null"]);
    }

    #[test]
    fn a_configured_null_is_refused_and_does_not_mean_the_ground_truth() {
        let refused = serde_json::from_value::<Config>(json!({"value": null})).err().unwrap();
        assert_eq!(
            refused.to_string(),
            "is null; to expect JSON `null`, write `\"values\": [null]`; to use the ground truth, leave \
             the key out"
        );
        assert_eq!(texts(&Case::new(json!("x")), json!({"values": [null]})), ["null"]);
    }

    #[test]
    fn a_configured_list_value_is_one_answer() {
        assert_eq!(texts(&Case::new(json!("x")), json!({"value": [1, 2]})), ["[1,2]"]);
    }

    #[test]
    fn a_list_output_may_be_the_whole_list() {
        let case = Case::new(json!([1, 2.0])).with_ground_truth(json!([1.0, 2]));
        let accepted = Accepted::or_ground_truth(&None, &case).unwrap();
        assert!(accepted.is_whole(&case.output()).unwrap());
        let other = Case::new(json!([1]));
        assert!(!accepted.is_whole(&other.output()).unwrap());
    }

    #[test]
    fn errors_name_the_field() {
        let case = Case::new(json!("x"));
        let error = Accepted::or_ground_truth(&None, &case).unwrap_err();
        assert_eq!(
            error.message(),
            "the case has no `groundTruth`, which this scorer needs, and the configuration has no `value` in its place"
        );
        let value = || ExpectedValue(Some(json!(1)));
        let both = Accepted::configured(value(), ExpectedValues(Some(vec![json!(1)])));
        assert_eq!(both.unwrap_err().key(), Some("values"));
        let none = ExpectedValues(Some(vec![]));
        assert!(Accepted::configured(ExpectedValue::default(), none).is_err());
        let empty = case.with_ground_truth(json!([]));
        let accepted = Accepted::or_ground_truth(&None, &empty).unwrap();
        assert!(accepted.at_least_one().is_err());
    }
}
