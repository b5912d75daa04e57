//! What a script is configured with: its interpreter takes values as they are, so their types are those of the script's
//! schema, and what the schema requires is there. What else a value must be, the script checks.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

use crate::contract::ScorerInfo;

use super::{
    Anatomy, ScoreError,
    config_check::{found, wrong},
    scorer_config::ScorerConfig,
};

/// How deep a configuration is checked.
const DEEPEST: usize = 32;

/// What a scorer's `configure` is given of a configuration: of a script's what its schema makes of it, and else all as it is.
///
/// # Errors
/// `invalid-config` for the first value of another type than the schema says, and for a key that is required and has no default.
pub(super) fn given<'c>(
    config: &'c ScorerConfig,
    info: &ScorerInfo,
    anatomy: &Anatomy,
) -> Result<Cow<'c, ScorerConfig>, ScoreError> {
    match &anatomy.script {
        Some(_) => settled(info, config).map(Cow::Owned),
        None => Ok(Cow::Borrowed(config)),
    }
}

/// The configuration with numbers and booleans where it has these as texts, as variables of the environment are.
fn settled(info: &ScorerInfo, config: &ScorerConfig) -> Result<ScorerConfig, ScoreError> {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    let schema = info.config_schema.as_deref().and_then(read);
    let (Some(schema), Some(Value::Object(mut object))) = (schema, read(config.as_str())) else {
        return Ok(config.clone());
    };
    settle_members(&mut object, &schema, "", DEEPEST)?;
    Ok(ScorerConfig::new(&object))
}

fn settle(value: &mut Value, schema: &Value, path: &str, deepest: usize) -> Result<(), ScoreError> {
    let Some(deepest) = deepest.checked_sub(1) else { return Ok(()) };
    let kinds = kinds(schema);
    if let Some(typed) = value.as_str().and_then(|text| typed(text, &kinds)) {
        *value = typed;
    }
    if !kinds.is_empty() && !kinds.iter().any(|kind| is_of(value, kind)) {
        let expected: Vec<&str> = kinds.iter().map(|kind| with_article(kind)).collect();
        let (found, expected) = (found(value), expected.join(" or "));
        return Err(wrong(&format!("`{path}`: invalid type: {found}, expected {expected}")));
    }
    match value {
        Value::Object(object) => settle_members(object, schema, path, deepest),
        Value::Array(items) => {
            let Some(schema) = schema.get("items").filter(|schema| schema.is_object()) else {
                return Ok(());
            };
            let mut places = items.iter_mut().enumerate();
            places
                .try_for_each(|(at, item)| settle(item, schema, &format!("{path}[{at}]"), deepest))
        }
        _ => Ok(()),
    }
}

fn settle_members(
    object: &mut Map<String, Value>,
    schema: &Value,
    path: &str,
    deepest: usize,
) -> Result<(), ScoreError> {
    let place = |key: &str| match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    for (key, schema) in properties.into_iter().flatten() {
        if let Some(value) = object.get_mut(key) {
            settle(value, schema, &place(key), deepest)?;
        }
    }
    let has_default = |key: &str| {
        properties.and_then(|all| all.get(key)).is_some_and(|it| it.get("default").is_some())
    };
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let missing = (required.filter_map(Value::as_str))
        .find(|key| !object.contains_key(*key) && !has_default(key));
    match missing {
        Some(key) => Err(wrong(&format!("`{}` is required", place(key)))),
        None => Ok(()),
    }
}

/// The types that a schema allows; none if it allows all, or says something that is no schema.
fn kinds(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// A text as the number or the boolean that is wanted, if a text is not.
fn typed(text: &str, kinds: &[&str]) -> Option<Value> {
    let wants = |kind: &str| kinds.contains(&kind);
    match text {
        _ if wants("string") => None,
        "true" | "false" if wants("boolean") => Some(Value::Bool(text == "true")),
        _ if wants("number") || wants("integer") => {
            serde_json::from_str::<Number>(text).ok().map(Value::Number)
        }
        _ => None,
    }
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        // Not a type of JSON Schema, so nothing is known.
        _ => true,
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
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        contract::{Direction, Fields, Scale, Severity},
        sandbox::ErrorKind,
    };

    fn settled_by(schema: &Value, config: &Value) -> Result<Value, String> {
        let info = ScorerInfo {
            id: "script".into(),
            name: "Script".into(),
            description: String::new(),
            version: "1.0.0".into(),
            config_schema: Some(schema.to_string()),
            scale: Scale::Unit,
            direction: Direction::HigherIsBetter,
            reads: Fields::default(),
            severity: Severity::Soft,
            threshold: None,
        };
        let settled = settled(&info, &ScorerConfig::new(config.as_object().unwrap()));
        settled.map(|config| serde_json::from_str(config.as_str()).unwrap()).map_err(|error| {
            assert_eq!(error.kind, ErrorKind::InvalidConfig);
            error.message
        })
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "most": {"type": "integer"},
                "share": {"type": ["number", "null"]},
                "strict": {"type": "boolean"},
                "words": {"type": "array", "items": {"type": "string"}},
                "deep": {"type": "object", "properties": {"at": {"type": "number"}}, "required": ["at"]},
                "any": {},
                "style": {"type": "string", "default": "plain"}
            },
            "required": ["most", "style"]
        })
    }

    #[test]
    fn values_are_of_the_types_that_the_schema_says() {
        let good = json!({"most": 3, "share": null, "strict": true, "words": ["a"], "deep": {"at": 0.5}, "any": [1]});
        assert_eq!(settled_by(&schema(), &good), Ok(good));
        for (config, message) in [
            (json!({"most": 1.5}), "`most`: invalid type: number `1.5`, expected a whole number"),
            (json!({"most": null}), "`most`: invalid type: null, expected a whole number"),
            (
                json!({"most": "many"}),
                "`most`: invalid type: string \"many\", expected a whole number",
            ),
            (
                json!({"most": 1, "share": true}),
                "`share`: invalid type: boolean `true`, expected a number or null",
            ),
            (
                json!({"most": 1, "words": "a"}),
                "`words`: invalid type: string \"a\", expected a list",
            ),
            (
                json!({"most": 1, "words": ["a", 2]}),
                "`words[1]`: invalid type: integer `2`, expected a text",
            ),
            (
                json!({"most": 1, "deep": {"at": []}}),
                "`deep.at`: invalid type: array, expected a number",
            ),
        ] {
            assert_eq!(settled_by(&schema(), &config), Err(message.to_owned()));
        }
    }

    #[test]
    fn what_is_required_and_has_no_default_is_there() {
        assert_eq!(settled_by(&schema(), &json!({})), Err("`most` is required".to_owned()));
        let without = settled_by(&schema(), &json!({"most": 1, "deep": {}}));
        assert_eq!(without, Err("`deep.at` is required".to_owned()));
    }

    #[test]
    fn texts_of_variables_are_the_numbers_and_booleans_that_they_are() {
        let texts =
            json!({"most": "3", "share": "0.5", "strict": "true", "words": ["1"], "any": "1"});
        let typed = json!({"most": 3, "share": 0.5, "strict": true, "words": ["1"], "any": "1"});
        assert_eq!(settled_by(&schema(), &texts), Ok(typed));
    }

    #[test]
    fn what_is_no_schema_says_nothing() {
        for schema in [
            json!(true),
            json!({"type": 1}),
            json!({"properties": [1], "required": "most"}),
            json!({"properties": {"most": {"type": "int"}}}),
        ] {
            assert_eq!(settled_by(&schema, &json!({"most": "x"})), Ok(json!({"most": "x"})));
        }
    }
}
