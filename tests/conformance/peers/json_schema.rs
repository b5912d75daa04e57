//! JSON Schema: whether a value matches a schema.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::{super::trial::Trial, Vector};
use crate::conformance::vector::document;

/// The parameters of the tools, by name.
static TOOLS: LazyLock<Value> = LazyLock::new(|| document("jsonschema-tools.schemas.json"));

/// What the schemas of the test suite refer to, by URL.
static REMOTES: LazyLock<Value> = LazyLock::new(|| document("json-schema-test-suite.remotes.json"));

/// The same of draft 7.
static REMOTES_OF_DRAFT_7: LazyLock<Value> =
    LazyLock::new(|| document("json-schema-test-suite-draft7.remotes.json"));

/// A tool call's arguments, as the model wrote them.
pub(super) fn tools(row: &Vector) -> Trial {
    let tool = row.config["schemaRef"].as_str().unwrap();
    row.by("schema-adherence", json!({"parse": "always"})).with_schema(&TOOLS[tool])
}

/// A value and a schema.
pub(super) fn suite(row: &Vector) -> Trial {
    with_documents(row, &REMOTES)
}

/// A value and a schema of draft 7.
pub(super) fn suite_of_draft_7(row: &Vector) -> Trial {
    with_documents(row, &REMOTES_OF_DRAFT_7)
}

fn with_documents(row: &Vector, documents: &Value) -> Trial {
    let config = json!({"parse": "always", "documents": documents});
    row.by("schema-adherence", config).with_schema(&row.config["schema"])
}
