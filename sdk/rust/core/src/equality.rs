//! Decides whether two JSON values are the same answer. It normalises nothing but numbers.

use serde_json::{Number, Value};

/// Deep equality: numbers by value (`1` equals `1.0`), strings code point by code point, objects
/// whatever the order of their keys, arrays in order. A string never equals what its content would
/// parse to.
#[must_use]
pub fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => equal_numbers(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| equal(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, value)| right.get(key).is_some_and(|other| equal(value, other)))
        }
        _ => left == right,
    }
}

/// Integers compare exactly, even if they round to the same double.
fn equal_numbers(left: &Number, right: &Number) -> bool {
    match (as_integer(left), as_integer(right)) {
        (Some(left), Some(right)) => left == right,
        _ => left.as_f64() == right.as_f64(),
    }
}

fn as_integer(number: &Number) -> Option<i128> {
    if let Some(integer) = number.as_i64() {
        return Some(integer.into());
    }
    if let Some(integer) = number.as_u64() {
        return Some(integer.into());
    }
    let double = number.as_f64()?;
    // Below 2^127, every whole double converts exactly to an i128.
    (double.fract() == 0.0 && double.abs() < 1.7e38).then_some(double as i128)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::equal;

    #[test]
    fn numbers_compare_by_value() {
        assert!(equal(&json!(1), &json!(1.0)));
        assert!(equal(&json!({"a": [1.0]}), &json!({"a": [1]})));
        assert!(!equal(&json!(9007199254740993_u64), &json!(9007199254740992.0)));
        assert!(!equal(&json!(u64::MAX), &json!(-1)));
    }

    #[test]
    fn kinds_stay_apart() {
        assert!(!equal(&json!("1"), &json!(1)));
        assert!(!equal(&json!("{}"), &json!({})));
        assert!(!equal(&json!(null), &json!(false)));
        assert!(!equal(&json!([1, 2]), &json!([2, 1])));
        assert!(equal(&json!({"a": 1, "b": 2}), &json!({"b": 2, "a": 1})));
        assert!(!equal(&json!({"a": null}), &json!({"b": null})));
    }
}
