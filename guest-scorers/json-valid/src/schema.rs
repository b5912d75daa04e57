//! Compiles a JSON Schema, and says what does not match it. It reads no file and no network.

use std::error::Error;

use boon::{
    CompileError, Compiler, Draft, Format, SchemaIndex, Schemas, UrlLoader, ValidationError,
};
use scorebox_sdk::excerpt;
use serde_json::Value;

/// The address of the schema itself.
const ROOT: &str = "schema:///root.json";

/// The most problems that are told of one value.
const SHOWN_PROBLEMS: usize = 5;

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

/// A JSON Schema that is ready to validate.
pub(crate) struct Schema {
    schemas: Schemas,
    root: SchemaIndex,
}

impl Schema {
    /// The error is one line for the user.
    pub(crate) fn compile(schema: Value, formats: bool) -> Result<Self, String> {
        let mut compiler = Compiler::new();
        compiler.set_default_draft(Draft::V2020_12);
        if formats {
            compiler.enable_format_assertions();
        } else {
            for name in FORMATS {
                let func = |_: &Value| Ok(());
                compiler.register_format(Format { name, func });
            }
        }
        compiler.use_loader(Box::new(Nowhere));
        let mut schemas = Schemas::new();
        compiler.add_resource(ROOT, schema).map_err(|error| explain(&error))?;
        let root = compiler.compile(ROOT, &mut schemas).map_err(|error| explain(&error))?;
        let compiled = Self { schemas, root };
        // What the validator sets up at its first use becomes part of what every score starts from.
        let _ = compiled.problem(&Value::Null);
        Ok(compiled)
    }

    /// What does not match, in a few words; none where all does.
    pub(crate) fn problem(&self, value: &Value) -> Option<String> {
        let error = self.schemas.validate(value, self.root).err()?;
        let mut problems = Vec::new();
        collect(&error, &mut problems);
        Some(problems.join("; "))
    }
}

/// The compiler's words, on one line, without the address that only this file knows.
fn explain(error: &CompileError) -> String {
    let text = format!("{error:#}");
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    format!("is no usable JSON Schema: {}", lines.join("; ").replace(ROOT, "the schema"))
}

struct Nowhere;

impl UrlLoader for Nowhere {
    fn load(&self, _url: &str) -> Result<Value, Box<dyn Error>> {
        Err("other schemas are not fetched; the scorer schema-adherence takes them under `documents`".into())
    }
}

/// The leaves of the validator's tree, each with its place.
fn collect(error: &ValidationError<'_, '_>, into: &mut Vec<String>) {
    if error.causes.is_empty() && into.len() < SHOWN_PROBLEMS {
        let place = error.instance_location.to_string();
        let place = if place.is_empty() { "the whole" } else { place.as_str() };
        let (place, message) = (excerpt(place, 120), error.kind.to_string());
        into.push(format!("{place}: {}", excerpt(&message, 200)));
    }
    for cause in error.causes.iter().take(SHOWN_PROBLEMS) {
        collect(cause, into);
    }
}
