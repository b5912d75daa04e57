//! Compiles the schema of a tool, and says what is wrong with arguments. It fetches nothing.

use std::error::Error;

use boon::{
    CompileError, Compiler, Draft, ErrorKind, Format, InstanceToken, SchemaIndex, Schemas,
    UrlLoader, ValidationError,
};
use scorebox_sdk::excerpt;
use serde_json::Value;

/// The address of the schema itself; relative references start from it.
const ROOT: &str = "schema:///tool.json";

/// The longest message of one issue, in characters.
const MESSAGE_LIMIT: usize = 160;

/// The most issues that one message lists.
const ISSUE_LIMIT: usize = 3;

/// Formats that draft 7 and older would assert by themselves.
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

/// A schema that is ready to validate.
pub(crate) struct Compiled {
    schemas: Schemas,
    root: SchemaIndex,
}

/// Compiles a schema. The error goes on after "the schema of `tool`".
pub(crate) fn compile(schema: &Value) -> Result<Compiled, String> {
    let mut compiler = Compiler::new();
    compiler.set_default_draft(Draft::V2020_12);
    for name in FORMATS {
        compiler.register_format(Format { name, func: |_: &Value| Ok(()) });
    }
    compiler.use_loader(Box::new(Nowhere));
    let mut schemas = Schemas::new();
    compiler.add_resource(ROOT, schema.clone()).map_err(|error| explain(&error))?;
    let root = compiler.compile(ROOT, &mut schemas).map_err(|error| explain(&error))?;
    Ok(Compiled { schemas, root })
}

struct Nowhere;

impl UrlLoader for Nowhere {
    fn load(&self, url: &str) -> Result<Value, Box<dyn Error>> {
        Err(format!("remote schemas are not fetched: \"{url}\"").into())
    }
}

fn explain(error: &CompileError) -> String {
    let text = format!("{error:#}");
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    format!("is no usable JSON Schema: {}", lines.join("; ").replace(ROOT, "the schema"))
}

/// What is wrong with a value, in one line; none where it matches.
pub(crate) fn issue(schema: &Compiled, value: &Value) -> Option<String> {
    let error = schema.schemas.validate(value, schema.root).err()?;
    let mut issues = Vec::new();
    collect(&error, &mut issues);
    Some(issues.join("; "))
}

/// The leaves of the validator's tree; of alternatives, the whole.
fn collect(error: &ValidationError<'_, '_>, into: &mut Vec<String>) {
    if into.len() >= ISSUE_LIMIT {
        return;
    }
    let alternatives = matches!(error.kind, ErrorKind::AnyOf | ErrorKind::OneOf(None));
    if !error.causes.is_empty() && !alternatives {
        error.causes.iter().for_each(|cause| collect(cause, into));
        return;
    }
    let token = |token: &InstanceToken<'_>| match token {
        InstanceToken::Prop(key) => key.to_string(),
        InstanceToken::Item(index) => index.to_string(),
    };
    let path: Vec<_> = error.instance_location.tokens.iter().map(token).collect();
    let message = error.kind.to_string();
    let message = excerpt(&message, MESSAGE_LIMIT);
    into.push(match path.join(".") {
        path if path.is_empty() => message.into_owned(),
        path => format!("{}: {message}", excerpt(&path, 80)),
    });
}
