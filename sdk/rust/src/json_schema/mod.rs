//! Compiles a JSON Schema. It reads no file and no network: what a schema refers to has to be given.

use std::collections::BTreeMap;
use std::error::Error;

use boon::{CompileError, Compiler, Draft, Format, SchemaIndex, Schemas, UrlLoader};
use serde_json::Value;

/// The address of the schema itself; relative references start from it.
const ROOT: &str = "schema:///root.json";

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

/// A schema that is ready to validate.
pub(crate) struct CompiledSchema {
    pub(crate) schemas: Schemas,
    pub(crate) root: SchemaIndex,
}

/// Compiles `schema`, with `documents` for what it refers to. The error is one line for the user.
pub(crate) fn compile(
    schema: &Value,
    documents: &BTreeMap<String, Value>,
    formats: bool,
) -> Result<CompiledSchema, String> {
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
    compiler.use_loader(Box::new(Documents(documents.clone())));
    let mut schemas = Schemas::new();
    compiler.add_resource(ROOT, schema.clone()).map_err(|error| explain(&error))?;
    let root = compiler.compile(ROOT, &mut schemas).map_err(|error| explain(&error))?;
    Ok(CompiledSchema { schemas, root })
}

struct Documents(BTreeMap<String, Value>);

impl UrlLoader for Documents {
    fn load(&self, url: &str) -> Result<Value, Box<dyn Error>> {
        let relative = url.strip_prefix("schema:///");
        let document = self.0.get(url).or_else(|| self.0.get(relative?));
        document.cloned().ok_or_else(|| {
            let name = relative.unwrap_or(url);
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
