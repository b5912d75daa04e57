//! Converts assertions about texts: what the output contains, how far it is from an expected text, how long it is.
//! `tabled_assertions` has those that a table describes fully.

use serde_json::Value;

use super::{
    javascript_regex,
    making::{Made, Making},
};

/// Converts an assertion about texts; `None` for any other.
pub(super) fn of_texts(making: &mut Making<'_>, kind: &str) -> Option<Made> {
    Some(match kind {
        "equals" => equals(making),
        "contains-any" | "icontains-any" | "contains-all" | "icontains-all" => {
            contains_several(making, kind)
        }
        "regex" => regex(making),
        "levenshtein" => levenshtein(making),
        "word-count" => length(making, "words"),
        _ => return None,
    })
}

fn equals(making: &mut Making<'_>) -> Made {
    let value = making.value()?;
    making.set("value", value);
    Ok(("equals", None))
}

fn contains_several(making: &mut Making<'_>, kind: &str) -> Made {
    if kind.starts_with('i') {
        making.set("ignoreCase", true);
    }
    making.set("mode", if kind.ends_with("-all") { "all" } else { "any" });
    let values = making.value_with_numbers_as_texts()?;
    making.set("values", values);
    Ok(("contains", None))
}

fn regex(making: &mut Making<'_>) -> Made {
    let pattern = making.one_text()?;
    if let Some(why) = javascript_regex::differs(&pattern) {
        return Err(why);
    }
    making.set("pattern", pattern);
    making.set("compare", false);
    Ok(("regex", None))
}

fn levenshtein(making: &mut Making<'_>) -> Made {
    const USUAL: f64 = 5.0;
    let most = making.threshold().unwrap_or(USUAL);
    making.set("maxDistance", most.max(0.0).floor() as u64);
    making.expecting("levenshtein", None)
}

fn length(making: &mut Making<'_>, unit: &str) -> Made {
    making.set("unit", unit);
    making.set("outside", "zero");
    let bounds = match making.value()? {
        Value::Object(bounds) => (bounds.get("min").cloned(), bounds.get("max").cloned()),
        exact => (Some(exact.clone()), Some(exact)),
    };
    let bound = |bound: Option<Value>| match bound {
        None => Ok(None),
        Some(Value::String(text)) => {
            text.trim().parse::<u64>().map(Some).map_err(|_| "its value is not a number".to_owned())
        }
        Some(other) => {
            other.as_u64().map(Some).ok_or_else(|| "its value is not a whole number".to_owned())
        }
    };
    for (key, value) in [("min", bound(bounds.0)?), ("max", bound(bounds.1)?)] {
        if let Some(value) = value {
            making.set(key, value);
        }
    }
    match making.config.contains_key("min") || making.config.contains_key("max") {
        true => Ok(("length", None)),
        false => Err("it has neither `min` nor `max`".to_owned()),
    }
}
