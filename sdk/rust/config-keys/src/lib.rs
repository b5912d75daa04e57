//! What a JSON Schema says about the keys of a configuration, and which known name a wrong key probably means. The
//! engine and the SDK share it, so that both refuse the same keys. The wording of errors and the checks of values are
//! left to them.

use serde_json::{Map, Value};

/// A schema that is an object.
pub type Schema = Map<String, Value>;

/// The most schemas that may describe one value together, and the most keys that they may list for it. The schema of an
/// untrusted scorer may chain references as long as it has bytes, so the work must be bounded.
pub const MAX_PARTS: usize = 4000;

/// All schemas that describe one value: references are followed, and alternatives are combined.
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
    /// The document in which references are resolved.
    root: &'s Value,
    schemas: Vec<&'s Schema>,
    is_whole: bool,
}

impl<'s> Described<'s> {
    /// What the whole schema describes.
    #[must_use]
    pub fn by(schema: &'s Value) -> Self {
        Self::from_parts(schema, [schema])
    }

    /// The first [`MAX_PARTS`] schemas, including those that they are composed of.
    fn from_parts(root: &'s Value, parts: impl IntoIterator<Item = &'s Value>) -> Self {
        let mut described = Self { root, schemas: Vec::new(), is_whole: true };
        // The addresses of the schemas, sorted: a recursive type refers to itself, so each schema is visited once.
        let mut seen: Vec<*const Schema> = Vec::new();
        let mut waiting: Vec<&Value> = Vec::new();
        let mut looked_at = 0;
        for part in parts {
            waiting.push(part);
            while let Some(part) = waiting.pop() {
                if looked_at == MAX_PARTS {
                    described.is_whole = false;
                    return described;
                }
                looked_at += 1;
                if let Some(object) = part.as_object()
                    && let Err(place) = seen.binary_search(&std::ptr::from_ref(object))
                {
                    seen.insert(place, object);
                    described.schemas.push(object);
                    described.composed_of(object, &mut waiting);
                }
            }
        }
        described
    }

    /// Appends the schemas that this one is composed of, in reverse order.
    fn composed_of(&self, object: &'s Schema, waiting: &mut Vec<&'s Value>) {
        for keyword in ["oneOf", "anyOf", "allOf"] {
            let parts = object.get(keyword).and_then(Value::as_array);
            waiting.extend(parts.into_iter().flatten().rev());
        }
        if let Some(reference) = object.get("$ref").and_then(Value::as_str)
            && let Some(target) = self.root.pointer(reference.trim_start_matches('#'))
        {
            waiting.push(target);
        }
    }

    /// Whether these are all schemas that describe the value, because there are no more than [`MAX_PARTS`].
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The schemas; empty if nothing is known about the value.
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

    /// The member of an object with this key: as it is listed, or else as maps and free values describe it; `None` if
    /// no schema knows the key.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<Self> {
        let mut parts = Vec::new();
        for schema in &self.schemas {
            let before = parts.len();
            if let Some(listed) = listed(schema, key) {
                parts.push(listed);
            } else if takes_any_key(schema) {
                parts.extend(unlisted(schema));
                if parts.len() == before {
                    // The value is free, whatever the other schemas say.
                    return Some(Self::from_parts(self.root, []));
                }
            }
        }
        let is_known = self.schemas.is_empty() || !parts.is_empty();
        is_known.then(|| Self::from_parts(self.root, parts))
    }

    /// The camelCase form of a key, if the schemas list that form and not the key itself: a key may be written either
    /// way.
    #[must_use]
    pub fn renamed(&self, key: &str) -> Option<String> {
        let lists = |key: &str| self.schemas.iter().any(|schema| listed(schema, key).is_some());
        let name = camel_case(key);
        (!lists(key) && lists(&name)).then_some(name)
    }

    /// Whether an object may have any key: maps and free values have keys that no schema can list.
    #[must_use]
    pub fn takes_any_key(&self) -> bool {
        self.schemas.is_empty() || self.schemas.iter().any(|schema| takes_any_key(schema))
    }

    /// The keys that the schemas list for an object, sorted: the first [`MAX_PARTS`] of them.
    #[must_use]
    pub fn names(&self) -> Vec<&'s str> {
        let properties = |schema: &&'s Schema| schema.get("properties")?.as_object();
        let mut names = Vec::new();
        // Inserted one by one: there are few, and that is less code than sorting a list, which every component would
        // carry.
        let listed = self.schemas.iter().filter_map(properties).flat_map(Map::keys);
        for name in listed.take(MAX_PARTS) {
            if let Err(place) = names.binary_search(&name.as_str()) {
                names.insert(place, name.as_str());
            }
        }
        names
    }
}

/// What a schema lists for a key.
fn listed<'s>(schema: &'s Schema, key: &str) -> Option<&'s Value> {
    schema.get("properties")?.get(key)
}

/// What a schema that takes any key says about keys that it does not list; empty if they are free. Patterns are not
/// matched: a key may have what any of them describes.
fn unlisted(schema: &Schema) -> impl Iterator<Item = &Value> {
    let others = schema.get("additionalProperties");
    let patterns = schema.get("patternProperties").and_then(Value::as_object);
    // Keys that match no pattern may be free as well.
    let patterns =
        patterns.filter(|_| matches!(others, Some(Value::Bool(false) | Value::Object(_))));
    let others = others.filter(|others| others.is_object());
    patterns.into_iter().flat_map(Map::values).chain(others)
}

fn takes_any_key(schema: &Schema) -> bool {
    let describes_an_object = schema.get("type").is_none_or(|kind| match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "object"),
        kind => kind == "object",
    });
    let composed = ["$ref", "allOf", "anyOf", "oneOf", "enum", "const", "properties"];
    // A map whose keys are numbers has patterns, and allows no keys that match none of them.
    schema.contains_key("patternProperties")
        || match schema.get("additionalProperties") {
            Some(Value::Bool(allowed)) => *allowed,
            Some(_) => true,
            None => {
                describes_an_object && !composed.iter().any(|keyword| schema.contains_key(*keyword))
            }
        }
}

/// The camelCase form of a key, such as `ignoreCase` for `ignore_case`: a key may be written either way.
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

/// The name that was probably meant, regardless of case and separators: the closest of those that differ in at most two
/// of five letters.
#[must_use]
pub fn nearest<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let given = bare(given);
    let mut best: Option<(usize, usize, &str)> = None;
    for name in names {
        let bare = bare(name);
        let longer = given.len().max(bare.len());
        let is_close = |edits: usize| 5 * edits <= 2 * longer;
        // The difference in length is a lower bound of the edits, so a very long key is not compared letter by letter.
        if !is_close(given.len().abs_diff(bare.len())) {
            continue;
        }
        let edits = edits(&given, &bare);
        // Compares the fractions edits / length of the longer name; of equal ones, the last wins.
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

/// The smallest number of insertions, deletions, substitutions and swaps of neighbours that turns one name into the
/// other (optimal string alignment).
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
