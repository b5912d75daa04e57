//! What a JSON Schema says about the keys of a configuration, and which name a wrong key probably stands for. The
//! engine and the SDK share it, so that both refuse the same keys; the words and the checks of values are theirs.

use serde_json::{Map, Value};

/// A schema that is an object.
pub type Schema = Map<String, Value>;

/// All schemas that describe one value: references are followed, and alternatives count together.
///
/// ```
/// # use scorebox_config_keys::Described;
/// # use serde_json::json;
/// let schema = json!({
///     "properties": {"rules": {"items": {"$ref": "#/$defs/Rule"}}},
///     "$defs": {"Rule": {"properties": {"min": {}, "max": {}}}},
/// });
/// let rules = Described::by(&schema).member("rules").unwrap();
/// assert_eq!(rules.item(0).names(), ["max", "min"]);
/// ```
#[derive(Debug)]
pub struct Described<'s> {
    /// What references start from.
    root: &'s Value,
    schemas: Vec<&'s Schema>,
}

impl<'s> Described<'s> {
    /// What the whole schema describes.
    #[must_use]
    pub fn by(schema: &'s Value) -> Self {
        Self::from_parts(schema, [schema])
    }

    fn from_parts(root: &'s Value, parts: impl IntoIterator<Item = &'s Value>) -> Self {
        let mut described = Self { root, schemas: Vec::new() };
        for part in parts {
            described.add(part);
        }
        described
    }

    /// Adds a schema, and those that it is put together from.
    fn add(&mut self, schema: &'s Value) {
        let Some(object) = schema.as_object() else { return };
        // A recursive type refers to itself.
        if self.schemas.iter().any(|seen| std::ptr::eq(*seen, object)) {
            return;
        }
        self.schemas.push(object);
        if let Some(reference) = object.get("$ref").and_then(Value::as_str)
            && let Some(target) = self.root.pointer(reference.trim_start_matches('#'))
        {
            self.add(target);
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for part in object.get(keyword).and_then(Value::as_array).into_iter().flatten() {
                self.add(part);
            }
        }
    }

    /// The schemas; empty if nothing is known of the value.
    #[must_use]
    pub fn schemas(&self) -> &[&'s Schema] {
        &self.schemas
    }

    /// The item of a list, at an index from 0.
    #[must_use]
    pub fn item(&self, index: usize) -> Self {
        let item = |schema: &&'s Schema| {
            let prefix = schema.get("prefixItems").and_then(|prefix| prefix.get(index));
            prefix.or_else(|| schema.get("items"))
        };
        Self::from_parts(self.root, self.schemas.iter().filter_map(item))
    }

    /// The member of an object with this key; `None` if no schema lists the key.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<Self> {
        let member = |schema: &&'s Schema| schema.get("properties")?.get(key);
        let mut members = self.schemas.iter().filter_map(member).peekable();
        members.peek()?;
        Some(Self::from_parts(self.root, members))
    }

    /// Whether an object may have any key: maps and free values have keys that no schema can list.
    #[must_use]
    pub fn takes_any_key(&self) -> bool {
        self.schemas.is_empty() || self.schemas.iter().any(|schema| takes_any_key(schema))
    }

    /// All keys that the schemas list for an object, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<&'s str> {
        let properties = |schema: &&'s Schema| schema.get("properties")?.as_object();
        let mut names = Vec::new();
        // There are few, and inserting them one by one is less code than sorting a list: every component has it.
        for name in self.schemas.iter().filter_map(properties).flat_map(Map::keys) {
            if let Err(place) = names.binary_search(&name.as_str()) {
                names.insert(place, name.as_str());
            }
        }
        names
    }
}

fn takes_any_key(schema: &Schema) -> bool {
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

/// `ignore_case` as `ignoreCase`: a key may be written either way.
#[must_use]
pub fn camel_case(key: &str) -> String {
    let mut words = key.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        let mut letters = word.chars();
        name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        name.push_str(letters.as_str());
        name
    })
}

/// The name that was probably meant, whatever its case and its separators: the closest of those that differ in
/// at most two of five letters.
#[must_use]
pub fn nearest<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let given = bare(given);
    let mut best: Option<(usize, usize, &str)> = None;
    for name in names {
        let bare = bare(name);
        let longer = given.len().max(bare.len());
        let is_close = |edits: usize| 5 * edits <= 2 * longer;
        // At least as many edits as the lengths differ by: a very long key is not compared letter by letter.
        if !is_close(given.len().abs_diff(bare.len())) {
            continue;
        }
        let edits = edits(&given, &bare);
        // As fractions edits / longer; of equal ones the last.
        if is_close(edits) && best.is_none_or(|(least, of, _)| edits * of <= least * longer) {
            best = Some((edits, longer, name));
        }
    }
    best.map(|(_, _, name)| name)
}

fn bare(name: &str) -> Vec<u8> {
    let letters = name.bytes().filter(|letter| !matches!(letter, b'_' | b'-' | b' '));
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

/// The fewest insertions, deletions, substitutions and swaps of neighbours that turn one name into the other
/// (optimal string alignment).
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
mod tests;
