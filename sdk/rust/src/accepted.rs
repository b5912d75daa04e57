//! The shared rule for what counts as a right answer. Comparing is left to the scorer.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::{Case, ConfigError, Part, ScoreError, equal};

/// The accepted answers of a case: the ground truth is one value, or a list of values of which the
/// best match counts; a configured `value` or `values` takes its place.
///
/// A list can also be the answer itself: see [`Accepted::is_whole`].
///
/// ```
/// # use scorebox_sdk::{Accepted, Case};
/// # use serde_json::json;
/// let case = Case::new(json!("NYC")).with_ground_truth(json!(["New York", "NYC"]));
/// let configured = Accepted::from_config(None, None).unwrap();
/// let accepted = Accepted::or_ground_truth(&configured, &case).unwrap();
/// assert_eq!(accepted.at_least_one().unwrap().len(), 2);
/// ```
#[derive(Debug, Clone)]
pub struct Accepted<'a> {
    parts: Vec<Part<'a>>,
    whole: Option<Part<'a>>,
}

impl Accepted<'static> {
    /// From a configuration's `value` and `values`; none where neither is set. For
    /// [`Scorer::prepare`](crate::Scorer::prepare), into a field marked `#[serde(skip)]`.
    ///
    /// # Errors
    /// A [`ConfigError`] where both are set, or `values` is empty.
    pub fn from_config(
        value: Option<Value>,
        values: Option<Vec<Value>>,
    ) -> Result<Option<Self>, ConfigError> {
        let parts = match (value, values) {
            (None, None) => return Ok(None),
            (Some(_), Some(_)) => {
                let message = "give either `value` or `values`, not both";
                return Err(ConfigError::new("values", message));
            }
            (Some(value), None) => vec![Part::new("value", value.to_string())],
            (None, Some(values)) if values.is_empty() => {
                let message = "is an empty list; name at least one accepted value";
                return Err(ConfigError::new("values", message));
            }
            (None, Some(values)) => (values.iter().enumerate())
                .map(|(index, value)| Part::new(format!("values[{index}]"), value.to_string()))
                .collect(),
        };
        Ok(Some(Self { parts, whole: None }))
    }
}

impl<'a> Accepted<'a> {
    /// The configured answers, or else the case's ground truth.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] where there is neither.
    pub fn or_ground_truth(
        configured: &'a Option<Accepted<'static>>,
        case: &'a Case,
    ) -> Result<Cow<'a, Accepted<'a>>, ScoreError> {
        if let Some(accepted) = configured {
            return Ok(Cow::Borrowed(accepted));
        }
        let truth = case.require_ground_truth()?;
        if !truth.is_array() {
            return Ok(Cow::Owned(Self { parts: vec![truth], whole: None }));
        }
        let items: Vec<Box<RawValue>> = truth.read()?;
        let parts = (items.iter().enumerate())
            .map(|(index, item)| Part::new(format!("groundTruth[{index}]"), item.get().to_owned()))
            .collect();
        Ok(Cow::Owned(Self { parts, whole: Some(truth) }))
    }

    /// The accepted answers; empty only where the ground truth is `[]`.
    #[must_use]
    pub fn parts(&self) -> &[Part<'a>] {
        &self.parts
    }

    /// The accepted answers, for a scorer that cannot do without one.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] where the ground truth is `[]`.
    pub fn at_least_one(&self) -> Result<&[Part<'a>], ScoreError> {
        if self.parts.is_empty() {
            return Err(ScoreError::invalid_input(
                "`groundTruth` is an empty list; it should name at least one accepted answer",
            ));
        }
        Ok(&self.parts)
    }

    /// Whether the ground truth was a list, and so might be the answer itself.
    #[must_use]
    pub fn is_list(&self) -> bool {
        self.whole.is_some()
    }

    /// Whether the output is a list that equals the whole ground-truth list: then the list was the
    /// answer, and not a choice of answers.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] where one of them cannot be read.
    pub fn is_whole(&self, output: &Part<'_>) -> Result<bool, ScoreError> {
        match &self.whole {
            Some(whole) if output.is_array() => Ok(equal(&output.value()?, &whole.value()?)),
            _ => Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts(case: &Case, configured: &Option<Accepted<'static>>) -> Vec<String> {
        let accepted = Accepted::or_ground_truth(configured, case).unwrap();
        let parts = accepted.parts().iter();
        parts.map(|part| part.text().unwrap().into()).collect()
    }

    #[test]
    fn the_ground_truth_is_one_answer_or_a_list_of_them() {
        let one = Case::new(json!("x")).with_ground_truth(json!("Paris"));
        assert_eq!(texts(&one, &None), ["Paris"]);
        let list = Case::new(json!("x")).with_ground_truth(json!(["Paris", 75, {"a": 1}]));
        assert_eq!(texts(&list, &None), ["Paris", "75", "{\"a\":1}"]);
    }

    #[test]
    fn configured_answers_take_the_ground_truths_place() {
        let case = Case::new(json!("x")).with_ground_truth(json!("Paris"));
        let value = Accepted::from_config(Some(json!("Rome")), None).unwrap();
        assert_eq!(texts(&case, &value), ["Rome"]);
        let values = Accepted::from_config(None, Some(vec![json!(1), json!(null)])).unwrap();
        assert_eq!(texts(&case, &values), ["1", "null"]);
    }

    #[test]
    fn a_configured_list_value_is_one_answer() {
        let value = Accepted::from_config(Some(json!([1, 2])), None).unwrap();
        assert_eq!(texts(&Case::new(json!("x")), &value), ["[1,2]"]);
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
        assert!(error.message().contains("`groundTruth`"), "{error}");
        let both = Accepted::from_config(Some(json!(1)), Some(vec![json!(1)])).unwrap_err();
        assert_eq!(both.key(), Some("values"));
        assert!(Accepted::from_config(None, Some(vec![])).is_err());
        let empty = case.with_ground_truth(json!([]));
        let accepted = Accepted::or_ground_truth(&None, &empty).unwrap();
        assert!(accepted.at_least_one().is_err());
    }
}
