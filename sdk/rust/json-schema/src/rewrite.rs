//! Rewrites a schema so that the validator interprets it as JSON Schema defines: patterns of ECMA 262 in the syntax of
//! its engine, exact rules for numbers, its own name for the format `regex`, and the changes of `drafts`. It records
//! what it changed, so that users read messages in the terms of their schema. It checks no schema.

use boon::Draft;
use regex::Regex;
use scorebox_sdk::excerpt;
use serde_json::{Map, Value, json};

use super::drafts;
use super::ecma::{self, Refused};
use super::formats;
use super::numbers::{self, Keyword, Rule};

/// How much of a pattern is quoted, in characters.
const PATTERN_LENGTH: usize = 80;

/// What was changed in a schema and its documents.
#[derive(Default)]
pub(super) struct Rewritten {
    /// Translated patterns, and the originals.
    patterns: Vec<(String, String)>,
    /// Messages about patterns that cannot be translated, indexed by the number of their stand-in.
    refused: Vec<String>,
    /// Indexed by the number in the name of their format.
    rules: Vec<Rule>,
    /// Where the first items of an array have their own schemas: the document, the pointer, and how many.
    prefixes: Vec<(String, String, usize)>,
    /// Whether the keys of `patternProperties` stay as they are.
    keep_keys: bool,
}

/// What matters about a document besides its text.
#[derive(Clone, Copy)]
pub(super) struct Document<'a> {
    /// Its address, or the end of it.
    pub(super) name: &'a str,
    /// The address that it states itself.
    pub(super) id: Option<&'a str>,
    /// Its draft; `None` if its metaschema is the user's own, which may leave out keywords.
    pub(super) dialect: Option<Draft>,
}

impl Rewritten {
    /// The record for this schema and these documents, before any change.
    pub(super) fn new<'a>(mut all: impl Iterator<Item = &'a Value>) -> Self {
        Self { keep_keys: all.any(refers_to_patterns), ..Self::default() }
    }

    /// Rewrites a document.
    pub(super) fn document(&mut self, schema: &mut Value, document: Document<'_>) {
        Walk { rewritten: self, document }.schema(schema, &mut String::new());
    }

    /// The rules to apply while a value is validated.
    pub(super) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// A pattern as the user wrote it.
    pub(super) fn pattern<'a>(&'a self, translated: &'a str) -> &'a str {
        let known = self.patterns.iter().find(|(known, _)| known == translated);
        known.map_or(translated, |(_, pattern)| pattern)
    }

    /// The rule that a format stands for.
    pub(super) fn rule(&self, format: &str) -> Option<&Rule> {
        let place = numbers::FORMATS.iter().position(|known| known.name == format)?;
        self.rules.get(place)
    }

    /// How many items of an array have their own schemas, for a schema at `url#pointer`.
    pub(super) fn prefix(&self, location: &str) -> usize {
        let Some((url, pointer)) = location.split_once('#') else { return 0 };
        let is_named = |name: &str| {
            url.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let mut found = self.prefixes.iter();
        found
            .find(|(name, at, _)| at == pointer && is_named(name.trim_end_matches('#')))
            .map_or(0, |(_, _, count)| *count)
    }

    /// What is wrong with the patterns, if they are the reason why the validator refuses the schema.
    pub(super) fn blame(&self, error: &str) -> Option<String> {
        let mut refused = self.refused.iter().enumerate();
        if let Some((_, said)) = refused.find(|(place, _)| error.contains(&stand_in(*place))) {
            return Some(said.clone());
        }
        self.patterns.iter().find_map(|(translated, pattern)| {
            Some(match Regex::new(translated).err()? {
                regex::Error::CompiledTooBig(_) => said(pattern, "is too large"),
                error => {
                    let text = error.to_string();
                    let why = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
                    said(pattern, &format!("cannot be used: {why}"))
                }
            })
        })
    }

    fn translate(&mut self, pattern: &str) -> String {
        let why = match ecma::translate(pattern) {
            Ok(translated) => {
                self.patterns.push((translated.clone(), pattern.to_owned()));
                return translated;
            }
            Err(Refused::Invalid(why)) => format!("is not valid: {why}"),
            Err(Refused::Unsupported(what)) => format!("cannot be used: {what} is not supported"),
        };
        self.refused.push(said(pattern, &why));
        stand_in(self.refused.len() - 1)
    }
}

fn said(pattern: &str, why: &str) -> String {
    format!("the regex \"{}\" {why}", excerpt(pattern, PATTERN_LENGTH))
}

/// A pattern that the validator refuses only if it uses it as one: not everything that looks like a pattern is one.
fn stand_in(place: usize) -> String {
    format!("[regex {place} of the schema(")
}

/// Whether a reference leads through `patternProperties`, whose keys must then stay.
fn refers_to_patterns(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(key, member)| {
            let reference = member.as_str().filter(|_| key == "$ref");
            reference.is_some_and(|to| to.contains("/patternProperties/"))
                || refers_to_patterns(member)
        }),
        Value::Array(items) => items.iter().any(refers_to_patterns),
        _ => false,
    }
}

struct Walk<'a> {
    rewritten: &'a mut Rewritten,
    document: Document<'a>,
}

impl Walk<'_> {
    /// Rewrites a schema, or what may be one: a reference can lead anywhere.
    fn schema(&mut self, schema: &mut Value, pointer: &mut String) {
        match schema {
            Value::Object(members) => {
                for (key, member) in members.iter_mut() {
                    below(pointer, key, |pointer| self.member(key, member, pointer));
                }
                self.note_prefix(members, pointer);
                if let Some(draft) = self.document.dialect {
                    drafts::fit(members, draft);
                    self.numbers(members, draft);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    below(pointer, &index.to_string(), |pointer| self.schema(item, pointer));
                }
            }
            _ => {}
        }
    }

    fn member(&mut self, key: &str, member: &mut Value, pointer: &mut String) {
        match (key, member) {
            ("format", Value::String(name)) if name == "regex" => {
                *name = formats::REGEX.to_owned();
            }
            ("pattern", Value::String(pattern)) => *pattern = self.rewritten.translate(pattern),
            // These hold values, not schemas.
            ("const" | "enum" | "default" | "examples", _) => {}
            ("patternProperties", Value::Object(schemas)) if !self.rewritten.keep_keys => {
                *schemas = self.with_translated_keys(std::mem::take(schemas), pointer);
            }
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
                | "dependencies",
                Value::Object(schemas),
            ) => {
                for (name, schema) in schemas {
                    below(pointer, name, |pointer| self.schema(schema, pointer));
                }
            }
            (_, member) => self.schema(member, pointer),
        }
    }

    /// The members of `patternProperties`.
    fn with_translated_keys(
        &mut self,
        schemas: Map<String, Value>,
        pointer: &mut String,
    ) -> Map<String, Value> {
        let mut translated = Map::new();
        for (pattern, mut schema) in schemas {
            let mut key = self.rewritten.translate(&pattern);
            // Two patterns may have the same translation.
            while translated.contains_key(&key) {
                key.push_str("(?:)");
            }
            below(pointer, &key, |pointer| self.schema(&mut schema, pointer));
            translated.insert(key, schema);
        }
        translated
    }

    fn note_prefix(&mut self, members: &Map<String, Value>, pointer: &str) {
        let prefix = match members.get("prefixItems") {
            Some(prefix) => prefix,
            None => members.get("items").unwrap_or(&Value::Null),
        };
        if let Some(items) = prefix.as_array() {
            for name in [Some(self.document.name), self.document.id].into_iter().flatten() {
                let prefix = (name.to_owned(), pointer.to_owned(), items.len());
                self.rewritten.prefixes.push(prefix);
            }
        }
    }

    /// Replaces keywords with rules if the validator would compare their numbers as doubles.
    fn numbers(&mut self, members: &mut Map<String, Value>, draft: Draft) {
        for keyword in Keyword::ALL {
            // In draft 4 these keywords change the meaning of another one; in other drafts they are not valid.
            let flag = match keyword {
                Keyword::Maximum => Some("exclusiveMaximum"),
                Keyword::Minimum => Some("exclusiveMinimum"),
                Keyword::ExclusiveMaximum | Keyword::ExclusiveMinimum if draft == Draft::V4 => {
                    continue;
                }
                _ => None,
            };
            if flag.and_then(|flag| members.get(flag)).is_some_and(Value::is_boolean) {
                continue;
            }
            let Some(Value::Number(limit)) = members.get(keyword.name()) else { continue };
            let Some(rule) = Rule::new(keyword, limit) else { continue };
            let Some(format) = self.format_of(rule) else { continue };
            let parts = members.entry("allOf").or_insert_with(|| json!([]));
            if let Some(parts) = parts.as_array_mut() {
                parts.push(json!({ "format": format }));
                members.remove(keyword.name());
            }
        }
    }

    /// The name of a rule's format; `None` if the schema has too many rules.
    fn format_of(&mut self, rule: Rule) -> Option<&'static str> {
        let rules = &mut self.rewritten.rules;
        let known = rules.iter().position(|known| *known == rule);
        let place = known.unwrap_or(rules.len());
        let format = numbers::FORMATS.get(place)?;
        if known.is_none() {
            rules.push(rule);
        }
        Some(format.name)
    }
}

/// Calls a function with the pointer to a member.
fn below(pointer: &mut String, key: &str, with: impl FnOnce(&mut String)) {
    let length = pointer.len();
    pointer.push('/');
    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
    with(pointer);
    pointer.truncate(length);
}
