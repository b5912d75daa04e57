//! Whether a scorer's description of its configuration is a valid JSON Schema: a misspelt type would allow everything.

use scorebox_config_keys::{Described, MAX_PARTS};
use serde_json::{Map, Value};

use crate::contract::ScorerInfo;

use super::{
    Anatomy, ErrorKind, ScoreError,
    mistake::Mistake,
    place::Place,
    script_config::{Settling, count},
};

/// The types of JSON Schema.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];
/// The names of these types in other languages.
const OTHER_NAMES: [(&str, &str); 12] = [
    ("bool", "boolean"),
    ("dict", "object"),
    ("double", "number"),
    ("float", "number"),
    ("int", "integer"),
    ("list", "array"),
    ("map", "object"),
    ("none", "null"),
    ("str", "string"),
    ("text", "string"),
    ("tuple", "array"),
    ("undefined", "null"),
];
/// Keywords whose value is a schema; before draft 2020-12, the value of `items` may be a list of schemas.
const SCHEMAS: [&str; 12] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords whose value is a list of schemas.
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value is an object of schemas, under names that the scorer chooses.
const OBJECTS: [&str; 5] =
    ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// Refuses a description whose schema has unknown types, or combines more schemas than are compared. A script's schema
/// checks its configuration, so in it the keywords that are checked must have valid values, and the defaults must match
/// the schema itself.
///
/// # Errors
/// `invalid-component`, for a script `invalid-script`: the first mistake, and where in the schema it is.
pub(super) fn check(info: &ScorerInfo, anatomy: &Anatomy) -> Result<(), ScoreError> {
    let schema = info.config_schema.as_deref();
    let Some(schema) = schema.and_then(|text| serde_json::from_str::<Value>(text).ok()) else {
        return Ok(());
    };
    let is_script = anatomy.script.is_some();
    let kind = if is_script { ErrorKind::InvalidScript } else { ErrorKind::InvalidComponent };
    let mut looking = Looking { is_script, defaults: Settling::of_defaults() };
    let looked = match Described::by(&schema).is_whole() {
        true => looking.at(&schema, &Place::Whole),
        false => {
            let words = format!("it is put together from more than {MAX_PARTS} schemas");
            Err(Mistake::new(&Place::Whole, &words))
        }
    };
    looked.map_err(|mistake| mistake.error(kind, "the configuration schema: "))
}

struct Looking {
    is_script: bool,
    defaults: Settling,
}

impl Looking {
    fn at(&mut self, schema: &Value, place: &Place<'_>) -> Result<(), Mistake> {
        let Some(object) = schema.as_object() else {
            return match schema {
                Value::Bool(_) => Ok(()),
                other => self.must_be(other, place, false, "an object, true or false"),
            };
        };
        if let Some(kinds) = object.get("type") {
            let place = place.member("type");
            match kinds {
                Value::Array(kinds) if !kinds.is_empty() => {
                    let mut kinds = kinds.iter().enumerate();
                    kinds.try_for_each(|(at, kind)| must_be_a_type(kind, &place.item(at)))?;
                }
                kind => must_be_a_type(kind, &place)?,
            }
        }
        self.keywords(object, place)?;
        for (key, value) in object {
            let place = place.member(key);
            match value {
                Value::Object(schemas) if OBJECTS.contains(&key.as_str()) => {
                    let mut schemas = schemas.iter();
                    schemas.try_for_each(|(name, schema)| self.at(schema, &place.member(name)))?;
                }
                Value::Array(schemas) if key == "items" || LISTS.contains(&key.as_str()) => {
                    let mut schemas = schemas.iter().enumerate();
                    schemas.try_for_each(|(at, schema)| self.at(schema, &place.item(at)))?;
                }
                value if SCHEMAS.contains(&key.as_str()) => self.at(value, &place)?,
                _ => {}
            }
        }
        match object.get("default").filter(|_| self.is_script) {
            Some(default) => {
                self.defaults.settle(&mut default.clone(), schema, &place.member("default"))
            }
            None => Ok(()),
        }
    }

    /// Checks the values of the keywords that a configuration is checked with.
    fn keywords(&self, schema: &Map<String, Value>, place: &Place<'_>) -> Result<(), Mistake> {
        let is_text = |value: &Value| value.is_string();
        for (key, value) in schema {
            let (is_right, expected) = match key.as_str() {
                "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                    (value.is_number(), "a number")
                }
                "multipleOf" => {
                    (value.as_f64().is_some_and(|it| it > 0.0), "a number of more than 0")
                }
                "minLength" | "maxLength" | "minItems" | "maxItems" => {
                    (count(value).is_some(), "a whole number of at least 0")
                }
                "enum" => (value.as_array().is_some_and(|all| !all.is_empty()), "a list of values"),
                "required" => {
                    let texts = value.as_array().is_some_and(|all| all.iter().all(is_text));
                    (texts, "a list of texts")
                }
                key if OBJECTS.contains(&key) => (value.is_object(), "an object"),
                key if LISTS.contains(&key) => (value.is_array(), "a list"),
                "type" if matches!(place, Place::Whole) => (
                    value == "object"
                        || value.as_array().is_some_and(|all| all.iter().any(|it| it == "object")),
                    "object, which a configuration is",
                ),
                _ => continue,
            };
            self.must_be(value, &place.member(key), is_right, expected)?;
        }
        Ok(())
    }

    /// Refuses a wrong value, if the schema is a script's.
    fn must_be(
        &self,
        value: &Value,
        place: &Place<'_>,
        is_right: bool,
        expected: &str,
    ) -> Result<(), Mistake> {
        match is_right || !self.is_script {
            true => Ok(()),
            false => Err(Mistake::of_value(place, value, expected)),
        }
    }
}

fn must_be_a_type(kind: &Value, place: &Place<'_>) -> Result<(), Mistake> {
    if kind.as_str().is_some_and(|kind| TYPES.contains(&kind)) {
        return Ok(());
    }
    let mistake = Mistake::not_listed(place, kind, &TYPES.map(Value::from));
    let other = OTHER_NAMES
        .iter()
        .find(|(other, _)| kind.as_str().is_some_and(|kind| kind.eq_ignore_ascii_case(other)));
    Err(match other {
        Some((_, name)) => mistake.meaning(Some(name)),
        None => mistake,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        advice::Advice,
        contract::{Direction, Fields, Scale, Severity},
    };

    fn checked(schema: &Value, script: Option<&str>) -> Result<(), ScoreError> {
        let info = ScorerInfo {
            id: "it".into(),
            name: "It".into(),
            description: String::new(),
            version: "1.0.0".into(),
            config_schema: Some(schema.to_string()),
            scale: Scale::Unit,
            direction: Direction::HigherIsBetter,
            reads: Fields::default(),
            severity: Severity::Soft,
            threshold: None,
        };
        let script = script.map(str::to_owned);
        check(&info, &Anatomy { script, ..Anatomy::default() })
    }

    fn of_a_script(schema: &Value) -> Result<(), String> {
        checked(schema, Some("javascript")).map_err(|error| {
            assert_eq!(error.kind, ErrorKind::InvalidScript);
            error.message
        })
    }

    #[test]
    fn a_misspelt_type_is_found_wherever_a_schema_may_be() {
        for (schema, place) in [
            (json!({"properties": {"n": {"type": "objekt"}}}), "properties.n.type"),
            (json!({"properties": {"n": {"type": ["null", "objekt"]}}}), "properties.n.type[1]"),
            (json!({"items": {"type": "objekt"}}), "items.type"),
            (json!({"items": [{"type": "objekt"}]}), "items[0].type"),
            (json!({"anyOf": [true, {"type": "objekt"}]}), "anyOf[1].type"),
            (json!({"$defs": {"type": {"type": "objekt"}}}), "$defs.type.type"),
            (json!({"additionalProperties": {"type": "objekt"}}), "additionalProperties.type"),
            (json!({"type": "objekt"}), "type"),
        ] {
            for (script, kind) in
                [(None, ErrorKind::InvalidComponent), (Some("python"), ErrorKind::InvalidScript)]
            {
                let error = checked(&schema, script).unwrap_err();
                let types =
                    r#""array", "boolean", "integer", "null", "number", "object", "string""#;
                let message = format!(
                    "the configuration schema: `{place}`: invalid value: string \"objekt\", expected one of {types}"
                );
                assert_eq!((error.kind, error.message), (kind, message));
                assert_eq!(error.advice, Some(Advice::DidYouMean(vec!["object".to_owned()])));
            }
        }
    }

    #[test]
    fn the_words_of_other_languages_are_known() {
        for (word, meant) in [
            ("integr", "integer"),
            ("boolaen", "boolean"),
            ("String", "string"),
            ("int", "integer"),
            ("bool", "boolean"),
            ("str", "string"),
            ("dict", "object"),
            ("None", "null"),
        ] {
            let error = checked(&json!({ "type": word }), None).unwrap_err();
            assert_eq!(error.advice, Some(Advice::DidYouMean(vec![meant.to_owned()])), "{word}");
        }
        for no_word in
            [json!(1), json!([]), json!(null), json!("anything"), json!({"type": "object"})]
        {
            let error = checked(&json!({ "type": no_word }), None).unwrap_err();
            assert_eq!(error.advice, None, "{no_word}");
        }
    }

    #[test]
    fn what_only_looks_like_a_schema_is_not_read_as_one() {
        for schema in [
            json!(true),
            json!({}),
            json!({"type": ["object", "null"]}),
            json!({"properties": {"type": {"enum": ["objekt"]}, "default": {"type": "string"}}}),
            json!({"properties": {"a": {"default": {"type": "objekt"}, "examples": [{"type": "objekt"}]}}}),
            json!({"properties": {"a": {"const": {"type": "objekt"}}}, "description": "", "x-type": "objekt"}),
            json!({"properties": {"a": {"type": "integer", "minimum": 1, "default": 2}}, "required": ["a"]}),
        ] {
            assert_eq!(of_a_script(&schema), Ok(()));
            assert_eq!(checked(&schema, None), Ok(()));
        }
    }

    #[test]
    fn what_checks_the_configuration_of_a_script_is_what_it_should_be() {
        for (schema, message) in [
            (
                json!("object"),
                "the whole: invalid value: string \"object\", expected an object, true or false",
            ),
            (
                json!({"type": "array"}),
                "`type`: invalid value: string \"array\", expected object, which a configuration is",
            ),
            (json!({"properties": []}), "`properties`: invalid value: array, expected an object"),
            (
                json!({"properties": {"a": "integer"}}),
                "`properties.a`: invalid value: string \"integer\", expected an object, true or false",
            ),
            (
                json!({"required": "a"}),
                "`required`: invalid value: string \"a\", expected a list of texts",
            ),
            (
                json!({"items": {"minimum": "1"}}),
                "`items.minimum`: invalid value: string \"1\", expected a number",
            ),
            (
                json!({"items": {"multipleOf": 0}}),
                "`items.multipleOf`: invalid value: integer `0`, expected a number of more than 0",
            ),
            (
                json!({"items": {"maxLength": -1}}),
                "`items.maxLength`: invalid value: integer `-1`, expected a whole number of at least 0",
            ),
            (
                json!({"items": {"enum": "a"}}),
                "`items.enum`: invalid value: string \"a\", expected a list of values",
            ),
        ] {
            assert_eq!(of_a_script(&schema), Err(format!("the configuration schema: {message}")));
            assert_eq!(checked(&schema, None), Ok(()), "a component checks its own configuration");
        }
    }

    #[test]
    fn a_schema_that_is_put_together_from_too_many_is_refused() {
        let link = |at: usize| (at.to_string(), json!({"$ref": format!("#/$defs/{}", at + 1)}));
        let definitions: Map<String, Value> = (0..30_000).map(link).collect();
        let chain = json!({"$ref": "#/$defs/0", "$defs": definitions});
        let message =
            Err("the configuration schema: it is put together from more than 4000 schemas"
                .to_owned());
        assert_eq!(of_a_script(&chain), message);
        assert_eq!(of_a_script(&json!({"anyOf": vec![json!({}); 300_000]})), message);
        assert_eq!(checked(&chain, None).unwrap_err().kind, ErrorKind::InvalidComponent);
    }

    #[test]
    fn a_default_of_a_script_is_as_its_schema_says() {
        for (property, message) in [
            (
                json!({"type": "integer", "default": "2"}),
                "`properties.a.default`: invalid type: string \"2\", expected a whole number",
            ),
            (
                json!({"minimum": 1, "default": 0}),
                "`properties.a.default`: invalid value: integer `0`, expected at least 1",
            ),
            (
                json!({"items": {"type": "string"}, "default": ["x", 1]}),
                "`properties.a.default[1]`: invalid type: integer `1`, expected a text",
            ),
        ] {
            let schema = json!({"properties": { "a": property }});
            assert_eq!(of_a_script(&schema), Err(format!("the configuration schema: {message}")));
            assert_eq!(checked(&schema, None), Ok(()), "a component takes what it takes");
        }
    }
}
