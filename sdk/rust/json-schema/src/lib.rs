//! JSON Schema for scorers: compiles a schema, and says what of a value does not match it. It reads no
//! file and no network, and decides no score.
//!
//! - `issue`: one place that does not match, and how it is told
//! - `warm`: what a validator sets up at its first use, done before the first score
//!
//! The validator recurses with schema and value: some 5 KB of stack a level, of which readable JSON has
//! 127. A component that uses it asks for a stack of 1 MiB (see `build.rs` of json-valid).

#![deny(missing_docs)]

mod issue;
mod warm;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use boon::{CompileError, Compiler, Draft, Format, SchemaIndex, Schemas, UrlLoader};
use serde_json::Value;

pub use issue::Issue;
use scorebox_sdk::{ConfigError, excerpt};

/// The address of the schema itself; relative references start from it.
const ROOT: &str = "schema:///root.json";

/// How deep JSON may be nested to be read: the limit of `serde_json`.
const DEEPEST: usize = 127;

/// The most issues that [`CompiledSchema::problem`] tells.
const PROBLEM_ISSUES: usize = 5;

/// The longest that [`CompiledSchema::problem`] tells of one issue, in characters.
const PROBLEM_LENGTH: usize = 240;

/// Formats that draft 7 and older would assert by themselves. (`regex` cannot be turned off there.)
const FORMATS: [&str; 19] = [
    "hostname",
    "idn-hostname",
    "email",
    "idn-email",
    "date",
    "time",
    "date-time",
    "duration",
    "period",
    "json-pointer",
    "relative-json-pointer",
    "uuid",
    "uri",
    "iri",
    "uri-reference",
    "iri-reference",
    "uri-template",
    "ipv4",
    "ipv6",
];

/// How a schema is compiled. Drafts 4, 6, 7, 2019-09 and 2020-12 are known; where `$schema` says
/// nothing, it is 2020-12.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// Whether what `format` says (`date`, `email` …) is checked; otherwise it only describes.
    pub formats: bool,
    /// What the scorer's configuration has under `documents`: schemas that `$ref` and `$schema` may
    /// refer to, by their URL. None where the scorer has no such key.
    pub documents: Option<&'a BTreeMap<String, Value>>,
}

/// A schema that is ready to validate.
///
/// ```
/// # use scorebox_sdk_json_schema::{CompiledSchema, Options};
/// # use serde_json::json;
/// let schema = json!({ "properties": { "age": { "type": "integer" } } });
/// let schema = CompiledSchema::prepare(&schema, Options::default()).unwrap();
/// assert_eq!(schema.problem(&json!({ "age": 36 })), None);
/// let problem = schema.problem(&json!({ "age": "36" }));
/// assert_eq!(problem.as_deref(), Some("age: want integer, but got string"));
/// ```
pub struct CompiledSchema {
    schemas: Schemas,
    root: SchemaIndex,
}

impl CompiledSchema {
    /// Compiles a schema that only one score needs, such as a case's `outputSchema`.
    ///
    /// # Errors
    /// Why it cannot be used, in one line that goes on after the name of its key.
    pub fn compile(schema: &Value, options: Options<'_>) -> Result<Self, String> {
        let mut compiler = Compiler::new();
        compiler.set_default_draft(Draft::V2020_12);
        if options.formats {
            compiler.enable_format_assertions();
        } else {
            for name in FORMATS {
                compiler.register_format(Format { name, func: |_: &Value| Ok(()) });
            }
        }
        compiler.use_loader(Box::new(Documents(options.documents.cloned())));
        let mut schemas = Schemas::new();
        compiler.add_resource(ROOT, schema.clone()).map_err(|error| explain(&error))?;
        let root = compiler.compile(ROOT, &mut schemas).map_err(|error| explain(&error))?;
        Ok(Self { schemas, root })
    }

    /// Compiles a schema of the configuration, and uses it once: for
    /// [`Scorer::new`](scorebox_sdk::Scorer::new), where what is set up at the first use becomes part
    /// of the memory that every score starts from.
    ///
    /// # Errors
    /// As [`compile`](Self::compile).
    pub fn prepare(schema: &Value, options: Options<'_>) -> Result<Self, String> {
        let compiled = Self::compile(schema, options)?;
        warm::warm(&compiled, schema);
        Ok(compiled)
    }

    /// Prepares what a scorer's configuration has under `schema`; none where it has nothing there.
    /// Remote schemas are not fetched, and there are no `documents`.
    ///
    /// # Errors
    /// A [`ConfigError`] of the key `schema` where it is no schema, or one that cannot be used.
    pub fn from_config(schema: Option<&Value>, formats: bool) -> Result<Option<Self>, ConfigError> {
        let Some(schema) = schema else { return Ok(None) };
        if !schema.is_object() && !schema.is_boolean() {
            let message = "should be a JSON Schema: an object, or `true` or `false`";
            return Err(ConfigError::new("schema", message));
        }
        let options = Options { formats, ..Options::default() };
        let compiled = Self::prepare(schema, options);
        compiled.map(Some).map_err(|error| ConfigError::new("schema", error))
    }

    /// The issues of a value, at most 20; none where it matches.
    #[must_use]
    pub fn issues(&self, value: &Value) -> Vec<Issue> {
        match self.schemas.validate(value, self.root) {
            Ok(()) => Vec::new(),
            Err(error) => issue::issues(&error),
        }
    }

    /// What of a value does not match, in one bounded line; none where all does.
    #[must_use]
    pub fn problem(&self, value: &Value) -> Option<String> {
        let told: Vec<_> = (self.issues(value).iter().take(PROBLEM_ISSUES))
            .map(|issue| excerpt(&issue.to_string(), PROBLEM_LENGTH).into_owned())
            .collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    /// What of a text's JSON does not match, in one bounded line; none where all does. A text that
    /// cannot be read does not match either: one that is no JSON, that is nested more than 127 deep,
    /// that has a number beyond the range of `f64` in it, or half of a surrogate pair.
    ///
    /// ```
    /// # use scorebox_sdk_json_schema::{CompiledSchema, Options};
    /// let schema = serde_json::json!({ "type": "array" });
    /// let schema = CompiledSchema::prepare(&schema, Options::default()).unwrap();
    /// assert_eq!(schema.problem_of_text("[1]"), None);
    /// let problem = schema.problem_of_text("[1e999]").unwrap();
    /// assert_eq!(problem, "cannot be read: number out of range at line 1 column 6");
    /// ```
    #[must_use]
    pub fn problem_of_text(&self, json: &str) -> Option<String> {
        match serde_json::from_str(json) {
            Ok(value) => self.problem(&value),
            Err(error) => Some(format!("cannot be read: {}", unreadable(&error))),
        }
    }
}

/// Why a text cannot be read as JSON. Of its depth the reader speaks as of its own recursion.
fn unreadable(error: &serde_json::Error) -> String {
    let told = error.to_string();
    if told.starts_with("recursion limit exceeded") {
        return format!("nested deeper than {DEEPEST} levels");
    }
    told
}

impl fmt::Debug for CompiledSchema {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("CompiledSchema").finish_non_exhaustive()
    }
}

/// Where references lead to; none where nothing can be given.
struct Documents(Option<BTreeMap<String, Value>>);

impl UrlLoader for Documents {
    fn load(&self, url: &str) -> Result<Value, Box<dyn Error>> {
        let relative = url.strip_prefix("schema:///");
        let name = relative.unwrap_or(url);
        let Some(documents) = &self.0 else {
            return Err(format!("remote schemas are not fetched: \"{name}\"").into());
        };
        let document = documents.get(url).or_else(|| documents.get(relative?));
        document.cloned().ok_or_else(|| {
            format!("remote schemas are not fetched; give it under `documents`, as \"{name}\"")
                .into()
        })
    }
}

/// The compiler's words, on one line, without the address that only this file knows.
fn explain(error: &CompileError) -> String {
    let text = format!("{error:#}");
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    format!("is no usable JSON Schema: {}", lines.join("; ").replace(ROOT, "the schema"))
}

#[cfg(test)]
mod tests;
