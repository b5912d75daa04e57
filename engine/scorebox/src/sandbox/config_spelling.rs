//! Converts a configuration to the spelling in the schema of its scorer. Compiled scorers get this spelling, because
//! few of them convert anything themselves. Mistakes in it were reported before, by `config_check`.

use std::borrow::Cow;

use scorebox_config_keys::Described;
use serde_json::{Map, Number, Value};

use crate::contract::ScorerInfo;

use super::{
    schema_types::{is_closed, kinds, typed},
    scorer_config::ScorerConfig,
};

/// How deeply a configuration is converted, which is how deeply it is checked.
const DEEPEST: usize = 32;
/// The bound up to which floating point represents each whole number exactly.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// The configuration with texts as the numbers and booleans that the schema of `info` expects, `3.0` as `3` where it
/// expects a whole number, and keys of closed objects as it spells them. Rust's SDK treats such keys in the same way,
/// and refuses such texts; so a stored run keeps its scores.
pub(super) fn spelled<'c>(config: &'c ScorerConfig, info: &ScorerInfo) -> Cow<'c, ScorerConfig> {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    let schema = info.config_schema.as_deref().and_then(read);
    let (Some(schema), Some(mut value)) = (schema, read(config.as_str())) else {
        return Cow::Borrowed(config);
    };
    spell(&mut value, &Described::by(&schema), DEEPEST);
    match value.as_object().map(ScorerConfig::new) {
        Some(spelled) if spelled != *config => Cow::Owned(spelled),
        _ => Cow::Borrowed(config),
    }
}

fn spell(value: &mut Value, described: &Described<'_>, deepest: usize) {
    let Some(deepest) = deepest.checked_sub(1) else { return };
    if let [schema] = described.schemas() {
        let kinds = kinds(schema);
        if let Some(typed) = value.as_str().and_then(|text| typed(text, &kinds)) {
            *value = typed;
        }
        if let Some(whole) = whole(value).filter(|_| !kinds.contains(&"number"))
            && kinds.contains(&"integer")
        {
            *value = whole;
        }
    }
    match value {
        Value::Object(object) => spell_members(object, described, deepest),
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                spell(item, &described.item(index), deepest);
            }
        }
        _ => {}
    }
}

fn spell_members(object: &mut Map<String, Value>, described: &Described<'_>, deepest: usize) {
    let is_closed = described.schemas().iter().any(|schema| is_closed(schema));
    for key in object.keys().cloned().collect::<Vec<_>>() {
        // A key that is given in both spellings stays, for the scorer to refuse.
        let name = described.renamed(&key).filter(|name| is_closed && !object.contains_key(name));
        let name = name.unwrap_or_else(|| key.clone());
        if let Some(mut value) = object.remove(&key) {
            if let Some(member) = described.member(&name) {
                spell(&mut value, &member, deepest);
            }
            object.insert(name, value);
        }
    }
}

/// A floating-point number as a whole number, if it is one.
fn whole(value: &Value) -> Option<Value> {
    let number = value.as_f64().filter(|_| value.is_f64())?;
    let is_whole = number.fract() == 0.0 && number.abs() <= MAX_EXACT;
    is_whole.then(|| Value::Number(Number::from(number as i64)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::contract::{Direction, Fields, Scale, Severity};

    /// The configuration that a scorer with this schema gets.
    fn given(schema: &Value, config: &Value) -> Value {
        let info = ScorerInfo {
            id: "compiled".into(),
            name: "Compiled".into(),
            description: String::new(),
            version: "1.0.0".into(),
            config_schema: Some(schema.to_string()),
            scale: Scale::Unit,
            direction: Direction::HigherIsBetter,
            reads: Fields::default(),
            severity: Severity::Soft,
            threshold: None,
        };
        let config = ScorerConfig::new(config.as_object().unwrap());
        serde_json::from_str(spelled(&config, &info).as_str()).unwrap()
    }

    #[test]
    fn texts_are_what_the_schema_wants_and_nothing_is_filled_in() {
        let rule = json!({"type": "object", "properties": {"mostWords": {"type": "integer"}}, "additionalProperties": false});
        let schema = json!({
            "properties": {
                "ignoreCase": {"type": "boolean", "default": true},
                "share": {"type": ["number", "null"]},
                "name": {"type": "string"},
                "either": {"type": ["string", "number"]},
                "rules": {"type": "array", "items": {"$ref": "#/$defs/Rule"}},
                "style": {"default": "plain"}
            },
            "$defs": {"Rule": rule},
            "additionalProperties": false
        });
        let written = json!({
            "ignore_case": "false", "share": "0.5", "name": "1", "either": "1",
            "rules": [{"most_words": "3"}, {"mostWords": 4.0}]
        });
        let taken = json!({
            "ignoreCase": false, "share": 0.5, "name": "1", "either": "1",
            "rules": [{"mostWords": 3}, {"mostWords": 4}]
        });
        assert_eq!(given(&schema, &written), taken);
        assert_eq!(given(&schema, &taken), taken);
    }

    #[test]
    fn what_the_schema_does_not_say_stays_as_it_is() {
        let open = json!({"properties": {"ignoreCase": {"type": "boolean"}}});
        let several = json!({
            "properties": {"it": {"anyOf": [{"type": "boolean"}, {"type": "number"}]}},
            "additionalProperties": false
        });
        for (schema, config) in [
            (json!(true), json!({"it": "true"})),
            (open, json!({"ignore_case": "true"})),
            (several, json!({"it": "true"})),
        ] {
            assert_eq!(given(&schema, &config), config);
        }
    }
}
