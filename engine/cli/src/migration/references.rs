//! `$ref` in a configuration: promptfoo replaces each reference with what it names before it reads anything else.
//! `config` interprets the configuration.

use serde_json::{Map, Value};

/// The most levels of references, so that the call stack stays bounded.
const MAX_DEPTH: usize = 64;
/// The most bytes that all references together insert, so that a few lines cannot fill the memory.
const MAX_BYTES: usize = 64 << 20;

/// The document with each `$ref` replaced by what it names. A reference stays if it names another file, nothing, or a
/// value that contains it, or if it exceeds the limits.
pub(super) fn resolved(document: Map<String, Value>) -> Map<String, Value> {
    let root = Value::Object(document);
    let mut resolving = Resolving { root: &root, left: MAX_BYTES, within: Vec::new() };
    match resolving.value(&root, 0) {
        Value::Object(document) => document,
        // The whole configuration is a reference to something that is not an object.
        _ => Map::new(),
    }
}

/// The target of an object that is still a reference.
pub(super) fn reference(value: &Value) -> Option<&str> {
    value.get("$ref")?.as_str()
}

/// Why a reference was not replaced.
pub(super) fn why(reference: &str) -> &'static str {
    match reference {
        name if name.starts_with("#/assertionTemplates/") => "there is no template of this name",
        name if name.starts_with('#') => {
            "there is nothing of this name, or it leads back to itself or too far"
        }
        _ => "it is not in this file: put it into this one",
    }
}

struct Resolving<'a> {
    root: &'a Value,
    /// How many more bytes may be inserted.
    left: usize,
    /// The references that contain the value being inserted.
    within: Vec<&'a str>,
}

impl<'a> Resolving<'a> {
    fn value(&mut self, value: &'a Value, depth: usize) -> Value {
        if !self.within.is_empty() {
            let text = value.as_str().map_or(0, str::len);
            self.left = self.left.saturating_sub(size_of::<Value>() + text);
        }
        match value {
            Value::Object(members) => match self.put_in(value, depth) {
                Some(Value::Object(mut named)) => {
                    let beside = members.iter().filter(|(key, _)| *key != "$ref");
                    named.extend(beside.map(|(key, it)| (key.clone(), self.value(it, depth + 1))));
                    Value::Object(named)
                }
                Some(named) => named,
                None => {
                    let members = members.iter();
                    members.map(|(key, it)| (key.clone(), self.value(it, depth + 1))).collect()
                }
            },
            Value::Array(items) => items.iter().map(|it| self.value(it, depth + 1)).collect(),
            scalar => scalar.clone(),
        }
    }

    /// What a reference names, if it can be inserted.
    fn put_in(&mut self, value: &'a Value, depth: usize) -> Option<Value> {
        let name = reference(value)?;
        let named = self.root.pointer(name.strip_prefix('#')?)?;
        if self.within.contains(&name) || depth > MAX_DEPTH || self.left == 0 {
            return None;
        }
        self.within.push(name);
        let named = self.value(named, depth + 1);
        self.within.pop();
        Some(named)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(document: Value) -> Value {
        let Value::Object(document) = document else { panic!() };
        Value::Object(resolved(document))
    }

    #[test]
    fn what_is_beside_a_reference_counts_before_what_it_names() {
        let document = of(json!({
            "a": {"b": [{"x": 1, "y": {"$ref": "#/c~1d"}}]}, "c/d": "text",
            "e": {"$ref": "#/a/b/0", "x": 2}
        }));
        assert_eq!(document["e"], json!({"x": 2, "y": "text"}));
    }

    #[test]
    fn a_reference_that_leads_nowhere_or_back_to_itself_stays() {
        let itself = json!({"$ref": "#/a"});
        assert_eq!(of(json!({"a": itself}))["a"], itself);
        for name in ["#/none", "x.yaml", "#a"] {
            assert_eq!(of(json!({"a": {"$ref": name}}))["a"], json!({"$ref": name}));
        }
        assert!(of(json!({"a": {"b": {"$ref": "#"}}})).to_string().len() < 1000);
    }

    #[test]
    fn references_that_double_what_they_name_end() {
        let double =
            |level: usize| json!([{"$ref": format!("#/{level}")}, {"$ref": format!("#/{level}")}]);
        let mut document = json!({"0": "x".repeat(1000)});
        for level in 1..60 {
            document[level.to_string()] = double(level - 1);
        }
        assert!(of(document).to_string().len() < 4 * MAX_BYTES);
    }
}
