//! The keys of a configuration: each has to be one that the schema lists, and one in snake_case gets
//! the name that the schema has for it. It checks no values: deserializing does.

use serde_json::{Map, Value};

use crate::ConfigError;

/// Gives every key the name that the schema has for it, or refuses the first that has none.
pub(crate) fn settle(config: &mut Value, schema: &Value) -> Result<(), ConfigError> {
    let search = Search { root: schema };
    search.settle(config, &[schema], "")
}

struct Search<'s> {
    root: &'s Value,
}

impl<'s> Search<'s> {
    /// `schemas` are all that describe `value`: alternatives count together.
    fn settle(
        &self,
        value: &mut Value,
        schemas: &[&'s Value],
        path: &str,
    ) -> Result<(), ConfigError> {
        let mut flat = Vec::new();
        schemas.iter().for_each(|schema| self.flatten(schema, &mut flat));
        match value {
            Value::Object(object) => self.settle_object(object, &flat, path),
            Value::Array(items) => items.iter_mut().enumerate().try_for_each(|(index, item)| {
                let schemas = item_schemas(&flat, index);
                self.settle(item, &schemas, &format!("{path}[{index}]"))
            }),
            _ => Ok(()),
        }
    }

    fn settle_object(
        &self,
        object: &mut Map<String, Value>,
        schemas: &[&'s Map<String, Value>],
        path: &str,
    ) -> Result<(), ConfigError> {
        if schemas.iter().any(|schema| takes_any_key(schema)) || schemas.is_empty() {
            return Ok(());
        }
        let of = |key: &str| -> Vec<&'s Value> {
            (schemas.iter()).filter_map(|schema| schema.get("properties")?.get(key)).collect()
        };
        let written: Vec<String> = object.keys().cloned().collect();
        for mut key in written {
            let mut known = of(&key);
            if known.is_empty() {
                let name = camel_case(&key);
                known = of(&name);
                if known.is_empty() {
                    return Err(unknown(&key, path, &names(schemas)));
                }
                if object.contains_key(&name) {
                    let (key, name) = (join(path, &key), join(path, &name));
                    return Err(ConfigError::whole(format!(
                        "`{key}` and `{name}` are the same key; give it once"
                    )));
                }
                if let Some(value) = object.remove(&key) {
                    object.insert(name.clone(), value);
                }
                key = name;
            }
            if let Some(value) = object.get_mut(&key) {
                self.settle(value, &known, &join(path, &key))?;
            }
        }
        Ok(())
    }

    /// The schema objects that a schema is put together from, references followed.
    fn flatten(&self, schema: &'s Value, into: &mut Vec<&'s Map<String, Value>>) {
        let Some(object) = schema.as_object() else {
            return;
        };
        // A recursive type refers to itself.
        if into.iter().any(|seen| std::ptr::eq(*seen, object)) {
            return;
        }
        into.push(object);
        if let Some(reference) = object.get("$ref").and_then(Value::as_str)
            && let Some(target) = self.root.pointer(reference.trim_start_matches('#'))
        {
            self.flatten(target, into);
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for part in object.get(keyword).and_then(Value::as_array).into_iter().flatten() {
                self.flatten(part, into);
            }
        }
    }
}

/// Maps and free values have keys that no schema can list.
fn takes_any_key(schema: &Map<String, Value>) -> bool {
    let describes_an_object = schema.get("type").is_none_or(|kind| match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "object"),
        kind => kind == "object",
    });
    let composed = ["$ref", "allOf", "anyOf", "oneOf", "enum", "const", "properties"];
    match schema.get("additionalProperties") {
        Some(Value::Bool(allowed)) => *allowed,
        Some(_) => true,
        None => {
            schema.contains_key("patternProperties")
                || describes_an_object
                    && !composed.iter().any(|keyword| schema.contains_key(*keyword))
        }
    }
}

fn item_schemas<'s>(schemas: &[&'s Map<String, Value>], index: usize) -> Vec<&'s Value> {
    let item = |schema: &&'s Map<String, Value>| {
        let prefix = schema.get("prefixItems").and_then(|prefix| prefix.get(index));
        prefix.or_else(|| schema.get("items"))
    };
    schemas.iter().filter_map(item).collect()
}

/// All names that the schemas list, sorted.
fn names<'s>(schemas: &[&'s Map<String, Value>]) -> Vec<&'s str> {
    let properties = schemas.iter().filter_map(|schema| schema.get("properties")?.as_object());
    let mut names = Vec::new();
    // Few, so that sorting them one by one is quicker to do, and to compile, than to sort a list.
    for name in properties.flat_map(Map::keys) {
        if let Err(place) = names.binary_search(&name.as_str()) {
            names.insert(place, name.as_str());
        }
    }
    names
}

/// `ignore_case` as `ignoreCase`.
fn camel_case(key: &str) -> String {
    let mut words = key.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        let mut letters = word.chars();
        name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        name.push_str(letters.as_str());
        name
    })
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn unknown(key: &str, path: &str, names: &[&str]) -> ConfigError {
    let whole = join(path, key);
    let known = || names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let hint = match nearest(key, names.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None if names.is_empty() => "no keys are known here".to_owned(),
        None => format!("known here: {}", known()),
    };
    ConfigError::whole(format!("unknown key `{whole}`; {hint}"))
}

/// The name that was probably meant, whatever its case and its separators: the most alike of those that
/// differ in two of five letters at most.
pub(crate) fn nearest<'n>(given: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let given = bare(given);
    let mut best: Option<(usize, usize, &str)> = None;
    for name in names {
        let bare = bare(name);
        let (edits, longer) = (edits(&given, &bare), given.len().max(bare.len()));
        let is_alike = 5 * edits <= 2 * longer;
        // As fractions edits / longer; of equal ones the last.
        if is_alike && best.is_none_or(|(least, of, _)| edits * of <= least * longer) {
            best = Some((edits, longer, name));
        }
    }
    best.map(|(_, _, name)| name)
}

fn bare(name: &str) -> Vec<u8> {
    let letters = name.bytes().filter(|letter| !matches!(letter, b'_' | b'-' | b' '));
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

/// The fewest insertions, deletions, substitutions and swaps of neighbours that make one of two names
/// the other (optimal string alignment).
fn edits(left: &[u8], right: &[u8]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for row in 1..=left.len() {
        let mut line = vec![row];
        for column in 1..=right.len() {
            let same = left[row - 1] == right[column - 1];
            let mut least = above[column - 1] + usize::from(!same);
            least = least.min(above[column] + 1).min(line[column - 1] + 1);
            let swapped = row > 1
                && column > 1
                && left[row - 1] == right[column - 2]
                && left[row - 2] == right[column - 1];
            if swapped {
                least = least.min(before[column - 2] + 1);
            }
            line.push(least);
        }
        before = std::mem::replace(&mut above, line);
    }
    above[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_that_was_meant_differs_in_few_letters() {
        let meant = |given| nearest(given, ["ignoreCase", "max", "min", "targetMs"].into_iter());
        assert_eq!(meant("ignore-case"), Some("ignoreCase"));
        assert_eq!(meant("ingoreCase"), Some("ignoreCase"));
        assert_eq!(meant("mxa"), Some("max"));
        assert_eq!(meant("target"), Some("targetMs"));
        assert_eq!(meant("colour"), None);
        assert_eq!(meant(""), None);
    }

    #[test]
    fn edits_count_a_swap_once() {
        assert_eq!(edits(b"abc", b"acb"), 1);
        assert_eq!(edits(b"", b"ab"), 2);
        assert_eq!(edits(b"sitting", b"kitten"), 3);
    }

    #[test]
    fn snake_case_becomes_camel_case() {
        assert_eq!(camel_case("ignore_case"), "ignoreCase");
        assert_eq!(camel_case("max"), "max");
        assert_eq!(camel_case("_x"), "X");
    }
}
