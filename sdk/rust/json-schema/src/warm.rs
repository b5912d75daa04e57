//! Uses a compiled schema once, so that what its regular expressions set up at their first use is part of the memory
//! that every score starts from. It changes no result; a pattern that it does not reach only makes a score a little
//! slower.

use std::cell::Cell;

use serde_json::{Map, Value};

use super::CompiledSchema;

/// How deep it goes into a schema; references may be circular.
const LEVELS: usize = 12;

/// How many subschemas it visits for one value; references may multiply.
const SUBSCHEMAS: usize = 1000;

/// Lengths of the texts that are tried: a pattern is not run on a text whose length the schema refuses.
const LENGTHS: [usize; 12] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 36];

/// Validates values that reach as many patterns as one value can.
pub(super) fn warm(compiled: &CompiledSchema, schema: &Value) {
    for length in LENGTHS {
        let text = "a".repeat(length);
        let left = Cell::new(SUBSCHEMAS);
        let sample = Sampler { root: schema, text: &text, left }.sample(schema, LEVELS);
        // Whether the sample is valid does not matter.
        let _ = compiled.failure(&sample);
    }
}

struct Sampler<'a> {
    root: &'a Value,
    /// The content of every text.
    text: &'a str,
    /// How many subschemas may still be visited.
    left: Cell<usize>,
}

impl Sampler<'_> {
    /// An object with every property that the schema names, an array with every item, else a text.
    fn sample(&self, schema: &Value, levels: usize) -> Value {
        let mut object = Map::new();
        let mut items = Vec::new();
        self.collect(schema, levels, &mut object, &mut items);
        match (object.is_empty(), items.is_empty()) {
            (false, _) => Value::Object(object),
            (true, false) => Value::Array(items),
            (true, true) => self.text.into(),
        }
    }

    fn collect(
        &self,
        schema: &Value,
        levels: usize,
        object: &mut Map<String, Value>,
        items: &mut Vec<Value>,
    ) {
        let (Some(deeper), Some(left)) = (levels.checked_sub(1), self.left.get().checked_sub(1))
        else {
            return;
        };
        self.left.set(left);
        let members = |key: &str| schema.get(key).and_then(Value::as_object).into_iter().flatten();
        let list = |key: &str| schema.get(key).and_then(Value::as_array).into_iter().flatten();
        for (name, property) in members("properties") {
            object.insert(name.clone(), self.sample(property, deeper));
        }
        for (name, property) in members("patternProperties") {
            // Often the pattern itself matches once its anchors are removed: `^x-`.
            let name = name.trim_start_matches('^').trim_end_matches('$');
            object.insert(name.to_owned(), self.sample(property, deeper));
        }
        items.extend(list("prefixItems").map(|item| self.sample(item, deeper)));
        let all_items = schema.get("items").filter(|items| items.is_object());
        items.extend(all_items.map(|item| self.sample(item, deeper)));
        for keyword in ["allOf", "anyOf", "oneOf"] {
            list(keyword).for_each(|part| self.collect(part, deeper, object, items));
        }
        let reference = schema.get("$ref").and_then(Value::as_str);
        let pointer = reference.and_then(|to| to.strip_prefix('#'));
        if let Some(target) = pointer.and_then(|pointer| self.root.pointer(pointer)) {
            self.collect(target, deeper, object, items);
        }
    }
}
