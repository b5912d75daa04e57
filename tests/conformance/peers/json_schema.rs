//! JSON Schema: whether a value matches a schema.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::{super::trial::Trial, Vector};
use crate::conformance::vector::document;

/// The parameters of the tools, by name.
static TOOLS: LazyLock<Value> = LazyLock::new(|| document("jsonschema-tools.schemas.json"));

/// What the schemas of the test suite refer to, by URL.
static REMOTES: LazyLock<Value> = LazyLock::new(|| document("json-schema-test-suite.remotes.json"));

/// A tool call's arguments, as the model wrote them.
pub(super) fn tools(row: &Vector) -> Trial {
    let tool = row.config["schemaRef"].as_str().unwrap();
    row.by("schema-adherence", json!({"parse": "always"})).with_schema(&TOOLS[tool])
}

/// A value and a schema.
pub(super) fn suite(row: &Vector) -> Trial {
    let config = json!({"parse": "always", "documents": *REMOTES});
    row.by("schema-adherence", config).with_schema(&row.config["schema"])
}
