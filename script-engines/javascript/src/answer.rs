//! Converts what a script returned into the types of the contract. It checks types and keys; scorebox checks whether a
//! number is on the scale.

use rquickjs::{CatchResultExt as _, Ctx, Object, Value, atom::PredefinedAtom};

use crate::{
    complaint::Complaint,
    contract::types::{Assertion, ScoreResult, Severity},
    text,
    type_name::type_name,
};

const RESULT_KEYS: [&str; 5] = ["score", "reason", "label", "meta", "assertions"];
const ASSERTION_KEYS: [&str; 5] = ["name", "score", "severity", "threshold", "reason"];
const EXPECTED: &str = "a score is a number, true or false, null if the scorer does not apply, or an object with `score`";

/// The result; the error is for the script's author.
pub(crate) fn result<'js>(ctx: &Ctx<'js>, answer: &Value<'js>) -> Result<ScoreResult, String> {
    let mut result =
        ScoreResult { score: None, label: None, reason: None, meta: None, assertions: Vec::new() };
    if answer.is_null() {
        return Ok(result);
    }
    if let Some(score) = score(answer) {
        result.score = Some(score);
        return Ok(result);
    }
    let object = match answer.as_object() {
        Some(object) if type_name(answer) == "an object" => object,
        _ => return Err(format!("the script returned {}; {EXPECTED}", type_name(answer))),
    };
    known_keys(object, "the result", &RESULT_KEYS)?;
    let given: Value<'js> = get(ctx, object, "score")?;
    result.score = match score(&given) {
        Some(score) => Some(score),
        None if given.is_null() => None,
        None if given.is_undefined() => {
            return Err(format!("the script returned an object without `score`; {EXPECTED}"));
        }
        None => {
            let found = type_name(&given);
            return Err(format!(
                "`score` is {found}; it must be a number, true or false, or null if the scorer does not apply"
            ));
        }
    };
    result.reason = text(ctx, object, "reason", "`reason`")?;
    result.label = text(ctx, object, "label", "`label`")?;
    let meta: Value<'js> = get(ctx, object, "meta")?;
    if !meta.is_undefined() {
        let written = text::exact_json(ctx, meta).catch(ctx).map_err(|error| {
            format!("`meta` cannot be written as JSON: {}", Complaint::of(error, None).into_text())
        })?;
        let nothing =
            || "`meta` cannot be written as JSON: it is a function or a symbol".to_owned();
        result.meta = Some(written.ok_or_else(nothing)?);
    }
    let given: Value<'js> = get(ctx, object, "assertions")?;
    if !given.is_undefined() && !given.is_null() {
        let list = given.as_array();
        let list =
            list.ok_or_else(|| format!("`assertions` is {}, not an array", type_name(&given)))?;
        for (index, item) in list.iter::<Value<'js>>().enumerate() {
            let item = item.catch(ctx).map_err(|error| Complaint::of(error, None).into_text())?;
            result.assertions.push(assertion(ctx, &item, &format!("assertions[{index}]"))?);
        }
    }
    Ok(result)
}

fn assertion<'js>(ctx: &Ctx<'js>, item: &Value<'js>, path: &str) -> Result<Assertion, String> {
    let object = match item.as_object() {
        Some(object) if type_name(item) == "an object" => object,
        _ => return Err(format!("`{path}` is {}, not an object", type_name(item))),
    };
    known_keys(object, &format!("`{path}`"), &ASSERTION_KEYS)?;
    let given: Value<'js> = get(ctx, object, "score")?;
    let score = score(&given).ok_or_else(|| {
        format!("`{path}.score` is {}; it must be a number, true or false", type_name(&given))
    })?;
    let threshold: Value<'js> = get(ctx, object, "threshold")?;
    let threshold = match threshold.as_number() {
        Some(number) => Some(number),
        None if threshold.is_undefined() || threshold.is_null() => None,
        None => {
            return Err(format!("`{path}.threshold` is {}, not a number", type_name(&threshold)));
        }
    };
    let severity = text(ctx, object, "severity", &format!("`{path}.severity`"))?;
    let name = text(ctx, object, "name", &format!("`{path}.name`"))?;
    Ok(Assertion {
        name: name.ok_or_else(|| format!("`{path}` has no `name`"))?,
        score,
        severity: severity
            .map(|word| severity_named(&word, &format!("{path}.severity")))
            .transpose()?,
        threshold,
        reason: text(ctx, object, "reason", &format!("`{path}.reason`"))?,
    })
}

/// The severity with that name.
pub(crate) fn severity_named(word: &str, path: &str) -> Result<Severity, String> {
    match word {
        "gate" => Ok(Severity::Gate),
        "soft" => Ok(Severity::Soft),
        other => Err(format!("`{path}` is {other:?}; it must be \"gate\" or \"soft\"")),
    }
}

fn score(value: &Value<'_>) -> Option<f64> {
    value.as_number().or_else(|| value.as_bool().map(|truth| if truth { 1.0 } else { 0.0 }))
}

/// Refuses keys that nothing reads: most are misspelt.
pub(crate) fn known_keys(object: &Object<'_>, what: &str, known: &[&str]) -> Result<(), String> {
    for key in object.keys::<String>() {
        let Ok(key) = key else { continue };
        if !known.contains(&key.as_str()) {
            let known = known.join("`, `");
            return Err(format!("{what} has the unknown key `{key}`; the keys are `{known}`"));
        }
    }
    Ok(())
}

/// Reads a property; what its getter throws is an error.
pub(crate) fn get<'js>(
    ctx: &Ctx<'js>,
    object: &Object<'js>,
    key: &str,
) -> Result<Value<'js>, String> {
    let value = match key {
        "name" => object.get(PredefinedAtom::Name),
        key => object.get(key),
    };
    value.catch(ctx).map_err(|error| Complaint::of(error, None).into_text())
}

/// Reads a property that is a text or absent.
pub(crate) fn text<'js>(
    ctx: &Ctx<'js>,
    object: &Object<'js>,
    key: &str,
    path: &str,
) -> Result<Option<String>, String> {
    let value = get(ctx, object, key)?;
    if value.is_undefined() || value.is_null() {
        return Ok(None);
    }
    let text = value
        .as_string()
        .ok_or_else(|| format!("{path} is {}, not a string", type_name(&value)))?;
    let text = text::of(text.clone()).catch(ctx);
    text.map(Some).map_err(|error| Complaint::of(error, None).into_text())
}
