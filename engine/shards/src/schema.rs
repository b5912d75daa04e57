//! The columns of a batch of results, each once. What is in them is for `results` to write and `reading` to read;
//! docs/many-machines.md says what each has.

use std::{collections::HashMap, sync::Arc};

use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};

/// The version of the schema: another one where a column is taken away or means something else.
pub const SCHEMA_VERSION: u32 = 1;

/// Keys of the schema's metadata: the version, and the plan as JSON.
pub(crate) const VERSION_KEY: &str = "scorebox.schema";
pub(crate) const PLAN_KEY: &str = "scorebox.plan";
/// The key of a file's metadata with what it was made of, as JSON.
pub(crate) const INPUT_KEY: &str = "scorebox.input";

/// What a column has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Integer,
    Number,
}

impl Kind {
    fn data_type(self) -> DataType {
        match self {
            Kind::Text => DataType::Utf8,
            Kind::Integer => DataType::Int64,
            Kind::Number => DataType::Float64,
        }
    }
}

/// The columns of a case, which always have a value. `results` follows them.
pub const ROW_FIELDS: [&str; 7] =
    ["id", "node_id", "iteration", "attempt", "case", "case_digest", "plan"];

/// What is in each element of `results`: what one scorer says about the case.
pub const RESULT_FIELDS: [&str; 15] = [
    "scorer",
    "status",
    "score",
    "label",
    "reason",
    "meta",
    "assertions",
    "error_kind",
    "error_message",
    "fuel",
    "memory_bytes",
    "duration_ms",
    "scored_at_ms",
    "log",
    "input_digest",
];

pub(crate) fn kind_of(name: &str) -> Kind {
    match name {
        "score" | "duration_ms" => Kind::Number,
        "iteration" | "attempt" | "fuel" | "memory_bytes" | "scored_at_ms" => Kind::Integer,
        _ => Kind::Text,
    }
}

/// Whether a field has a value in every result.
fn is_always_there(name: &str) -> bool {
    matches!(name, "scorer" | "status" | "scored_at_ms")
}

pub(crate) fn result_fields() -> Fields {
    let field = |name: &&str| Field::new(*name, kind_of(name).data_type(), !is_always_there(name));
    RESULT_FIELDS.iter().map(field).collect()
}

pub(crate) fn element() -> Arc<Field> {
    Arc::new(Field::new("element", DataType::Struct(result_fields()), false))
}

/// The schema of results, with the plan that they were scored with, as JSON, in its metadata.
pub(crate) fn schema(plan: String) -> SchemaRef {
    let rows = ROW_FIELDS.iter().map(|name| Field::new(*name, kind_of(name).data_type(), false));
    let results = Field::new("results", DataType::List(element()), false);
    let metadata = HashMap::from([
        (VERSION_KEY.to_owned(), SCHEMA_VERSION.to_string()),
        (PLAN_KEY.to_owned(), plan),
    ]);
    let fields: Vec<Field> = rows.chain([results]).collect();
    Arc::new(Schema::new_with_metadata(fields, metadata))
}
