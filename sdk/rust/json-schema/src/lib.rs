//! JSON Schema for scorers: compiles a schema, and reports where a value does not match it. It accesses no files and no
//! network, and decides no score.
//!
//! - `drafts`: where the validator interprets older drafts differently
//! - `ecma`: the syntax of ECMA 262's regular expressions, and their translation
//! - `formats`: what `format` asserts
//! - `issue`: one place that does not match, and its wording
//! - `numbers`: exact comparison and division of numbers
//! - `place`: where in a value an error is
//! - `rewrite`: what is changed in a schema before it is compiled
//! - `unusable`: why a schema cannot be compiled
//! - `warm`: what a validator sets up at its first use, done before the first score
//!
//! The validator recurses into schema and value, which takes about 5 KB of stack per level, and JSON may have 127
//! levels. A component that uses it requests a stack of 1 MiB (see `build.rs` of json-valid).

#![deny(missing_docs)]

mod drafts;
mod ecma;
mod formats;
mod issue;
mod numbers;
mod place;
mod rewrite;
mod unusable;
mod warm;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use boon::{
    CompileError, Compiler, Draft, ErrorKind, Format, SchemaIndex, Schemas, UrlLoader,
    ValidationError,
};
use rewrite::{Document, Rewritten};
use serde_json::{Value, json};

pub use issue::Issue;
use scorebox_sdk::{ConfigError, excerpt};

/// The address of the schema itself; relative references start from it.
const ROOT: &str = "schema:///root.json";

/// The base of relative references in a schema without an `$id`.
const ROOT_FOLDER: &str = "schema:///";

/// How deeply JSON that is read may be nested: the limit of `serde_json`.
const DEEPEST: usize = 127;

/// The most issues that one line reports.
const PROBLEM_ISSUES: usize = 5;

/// How much of one issue a line reports, in characters.
const PROBLEM_LENGTH: usize = 240;

/// The formats that draft 7 and older assert unless told otherwise.
const FORMATS: [&str; 20] = [
    formats::REGEX,
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

/// How a schema is compiled. Drafts 4, 6, 7, 2019-09 and 2020-12 are supported; a schema without `$schema` is read as
/// 2020-12, and a document without one as the schema's draft.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// Whether `format` (`date`, `email` …) is checked; otherwise it only describes.
    pub formats: bool,
    /// The `documents` of the scorer's configuration: schemas that `$ref` and `$schema` may refer to, by URL, absolute
    /// or relative to the schema's own `$id`. `None` if the scorer has no such key.
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
    rewritten: Rewritten,
}

impl CompiledSchema {
    /// Compiles a schema that only one score needs, such as a case's `outputSchema`.
    ///
    /// # Errors
    /// Why the schema cannot be used, in one line that can follow the name of its key.
    pub fn compile(schema: &Value, options: Options<'_>) -> Result<Self, String> {
        let mut schema = schema.clone();
        let mut documents = Documents::new(options.documents, &schema);
        let draft = documents.draft(&schema);
        let rewritten = documents.rewrite(&mut schema, draft);
        let mut compiler = Compiler::new();
        compiler.set_default_draft(draft);
        register_formats(&mut compiler, options.formats, &rewritten);
        compiler.use_loader(Box::new(documents));
        let mut schemas = Schemas::new();
        let refuse = |error: CompileError| unusable::explain(&error, &rewritten);
        compiler.add_resource(ROOT, schema).map_err(refuse)?;
        let root = compiler.compile(ROOT, &mut schemas).map_err(refuse)?;
        let compiled = Self { schemas, root, rewritten };
        match compiled.refers_only_to_itself() {
            true => Err("is not a usable JSON Schema: it refers to itself without end".to_owned()),
            false => Ok(compiled),
        }
    }

    /// Compiles a schema of the configuration and uses it once. Call it in [`Scorer::new`](scorebox_sdk::Scorer::new):
    /// what is set up at the first use then becomes part of the memory that every score starts from.
    ///
    /// # Errors
    /// As [`compile`](Self::compile).
    pub fn prepare(schema: &Value, options: Options<'_>) -> Result<Self, String> {
        let compiled = Self::compile(schema, options)?;
        warm::warm(&compiled, schema);
        Ok(compiled)
    }

    /// Prepares the `schema` of a scorer's configuration; `None` if there is none. Remote schemas are not fetched, and
    /// there are no `documents`.
    ///
    /// # Errors
    /// A [`ConfigError`] of the key `schema` if it is not a schema, or cannot be used.
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

    /// The issues of a value, at most 20; empty if it matches.
    #[must_use]
    pub fn issues(&self, value: &Value) -> Vec<Issue> {
        let failure = self.failure(value);
        failure.map_or_else(Vec::new, |error| issue::issues(&error, &self.rewritten))
    }

    /// The validator's error for a value that does not match.
    fn failure<'a>(&'a self, value: &'a Value) -> Option<ValidationError<'a, 'a>> {
        numbers::with(self.rewritten.rules(), || self.schemas.validate(value, self.root).err())
    }

    /// Whether the schema refers only to itself, so that the validator would loop for a value of any kind. A loop
    /// further down, or for values of one kind only, is an issue of the value that gets there.
    fn refers_only_to_itself(&self) -> bool {
        let samples = [json!(null), json!(true), json!(0), json!(""), json!([]), json!({})];
        samples.iter().any(|sample| self.failure(sample).is_some_and(|error| is_circle(&error)))
    }

    /// What does not match in a value, as one line of bounded length; `None` if everything matches.
    #[must_use]
    pub fn problem(&self, value: &Value) -> Option<String> {
        let issues: Vec<_> = (self.issues(value).iter().take(PROBLEM_ISSUES))
            .map(|issue| excerpt(&issue.to_string(), PROBLEM_LENGTH).into_owned())
            .collect();
        (!issues.is_empty()).then(|| issues.join("; "))
    }

    /// What does not match in a text's JSON, as one line of bounded length; `None` if everything matches. A text that
    /// cannot be read does not match either: one that is not JSON, is nested more than 127 deep, or contains a number
    /// beyond the range of `f64` or half a surrogate pair.
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

fn is_circle(error: &ValidationError<'_, '_>) -> bool {
    matches!(error.kind, ErrorKind::RefCycle { .. }) || error.causes.iter().any(is_circle)
}

/// Registers the formats with the compiler, which checks them only if asked to. Rules for numbers are formats too.
fn register_formats(compiler: &mut Compiler, checked: bool, rewritten: &Rewritten) {
    if checked {
        formats::STRICT.into_iter().for_each(|format| compiler.register_format(format));
    } else {
        for name in FORMATS {
            compiler.register_format(Format { name, func: |_: &Value| Ok(()) });
        }
    }
    let rules = &numbers::FORMATS[..rewritten.rules().len()];
    rules.iter().for_each(|format| compiler.register_format(*format));
    if checked || !rules.is_empty() {
        compiler.enable_format_assertions();
    }
}

/// Why a text cannot be read as JSON. The reader reports nesting that is too deep as its own recursion limit.
fn unreadable(error: &serde_json::Error) -> String {
    let message = error.to_string();
    if message.starts_with("recursion limit exceeded") {
        return format!("nested deeper than {DEEPEST} levels");
    }
    message
}

impl fmt::Debug for CompiledSchema {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("CompiledSchema").finish_non_exhaustive()
    }
}

/// The documents that references lead to.
struct Documents {
    /// By URL, as the user wrote them; `None` if the scorer accepts none.
    given: Option<BTreeMap<String, Value>>,
    /// The folder of the schema's `$id`, with its trailing `/`.
    folder: Option<String>,
}

/// How many metaschemas are followed to find a draft, because they may refer to each other in a circle.
const METASCHEMAS: usize = 8;

impl Documents {
    fn new(given: Option<&BTreeMap<String, Value>>, schema: &Value) -> Self {
        let given = given.cloned();
        let id = schema.get("$id").or_else(|| schema.get("id")).and_then(Value::as_str);
        let folder = id.filter(|id| id.contains("://")).and_then(|id| id.rsplit_once('/'));
        Self { given, folder: folder.map(|(folder, _)| format!("{folder}/")) }
    }

    /// Changes the schema, which is of this draft, and all documents so that the validator interprets them as they are
    /// meant.
    fn rewrite(&mut self, schema: &mut Value, draft: Draft) -> Rewritten {
        let documents = self.given.iter().flat_map(BTreeMap::values);
        let mut rewritten = Rewritten::new(documents.chain([&*schema]));
        let dialect = |document: &Value| match document.get("$schema").and_then(Value::as_str) {
            Some(url) => Draft::from_url(url),
            None => Some(draft),
        };
        let of_schema = dialect(schema);
        rewritten.document(schema, Document { name: ROOT, id: None, dialect: of_schema });
        for (name, document) in self.given.iter_mut().flatten() {
            let id = document.get("$id").and_then(Value::as_str).map(str::to_owned);
            let dialect = dialect(document);
            rewritten.document(document, Document { name, id: id.as_deref(), dialect });
        }
        rewritten
    }

    /// The draft that a schema names, directly or through its metaschema; documents that name none have the same draft.
    fn draft(&self, schema: &Value) -> Draft {
        let mut schema = Some(schema);
        for _ in 0..METASCHEMAS {
            let named = schema.and_then(|schema| schema.get("$schema")?.as_str());
            let Some(url) = named else { break };
            if let Some(draft) = Draft::from_url(url) {
                return draft;
            }
            schema = self.find(url);
        }
        Draft::V2020_12
    }

    /// The document of a URL: by its name, relative to the schema, or by its own `$id`.
    fn find(&self, url: &str) -> Option<&Value> {
        let documents = self.given.as_ref()?;
        let url = url.trim_end_matches('#');
        let relative = url.strip_prefix(ROOT_FOLDER);
        let beside = self.folder.as_deref().and_then(|folder| url.strip_prefix(folder));
        let names = [Some(url), relative, beside].into_iter().flatten();
        let named = names.into_iter().find_map(|name| documents.get(name));
        let has_id = |document: &&Value| {
            let id = document.get("$id").and_then(Value::as_str);
            id.is_some_and(|id| id.trim_end_matches('#') == url)
        };
        named.or_else(|| documents.values().find(has_id))
    }
}

impl UrlLoader for Documents {
    fn load(&self, url: &str) -> Result<Value, Box<dyn Error>> {
        if let Some(document) = self.find(url) {
            return Ok(document.clone());
        }
        let name = url.strip_prefix(ROOT_FOLDER).unwrap_or(url);
        let how = match self.given {
            Some(_) => format!("; give it under `documents`, as \"{name}\""),
            None => format!(": \"{name}\""),
        };
        Err(format!("remote schemas are not fetched{how}").into())
    }
}

#[cfg(test)]
mod tests;
