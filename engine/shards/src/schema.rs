//! Defines the columns of a batch of results, each once. It leaves their content to `results`, which writes it, and
//! `reading`, which reads it; docs/many-machines.md describes each column.

use std::{collections::HashMap, sync::Arc};

use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};

/// The version of the schema: it changes if a column is removed or gets another meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// Keys of the schema's metadata: the version, and the plan as JSON.
pub(crate) const VERSION_KEY: &str = "scorebox.schema";
pub(crate) const PLAN_KEY: &str = "scorebox.plan";
/// The key of a file's metadata that contains what the file was made from, as JSON.
pub(crate) const INPUT_KEY: &str = "scorebox.input";
/// What a file says about the program that wrote it, if this one did.
pub(crate) const CREATED_BY: &str = "scorebox";

/// The kind of a column's values.
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

/// Defines the columns of one level: their names, in order, and an enum that names them in code.
macro_rules! columns {
    (
        $(#[$about:meta])*
        $column:ident, $names:ident { $($variant:ident: $name:literal $kind:ident,)+ }
    ) => {
        $(#[$about])*
        pub const $names: [&str; [$($name),+].len()] = [$($name),+];

        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $column {
            $($variant,)+
        }

        impl $column {
            /// All columns, each at its index.
            pub(crate) const ALL: [$column; $names.len()] = [$($column::$variant),+];

            pub(crate) fn name(self) -> &'static str {
                $names[self.index()]
            }

            /// The column's index.
            pub(crate) fn index(self) -> usize {
                self as usize
            }

            pub(crate) fn kind(self) -> Kind {
                match self {
                    $($column::$variant => Kind::$kind,)+
                }
            }
        }
    };
}

columns! {
    /// The columns of a case, which always have a value. `results` comes after them.
    RowColumn, ROW_FIELDS {
        Id: "id" Text,
        NodeId: "node_id" Text,
        Iteration: "iteration" Integer,
        Attempt: "attempt" Integer,
        Case: "case" Text,
        CaseDigest: "case_digest" Text,
        Plan: "plan" Text,
    }
}

columns! {
    /// The fields of each element of `results`: the result of one scorer for the case.
    ResultField, RESULT_FIELDS {
        Scorer: "scorer" Text,
        Status: "status" Text,
        Score: "score" Number,
        Label: "label" Text,
        Reason: "reason" Text,
        Meta: "meta" Text,
        Assertions: "assertions" Text,
        ErrorKind: "error_kind" Text,
        ErrorMessage: "error_message" Text,
        Fuel: "fuel" Integer,
        MemoryBytes: "memory_bytes" Integer,
        DurationMs: "duration_ms" Number,
        ScoredAtMs: "scored_at_ms" Integer,
        Log: "log" Text,
        InputDigest: "input_digest" Text,
    }
}

/// Whether a field has a value in every result.
fn is_always_there(field: ResultField) -> bool {
    matches!(field, ResultField::Scorer | ResultField::Status | ResultField::ScoredAtMs)
}

pub(crate) fn result_fields() -> Fields {
    let field =
        |it: ResultField| Field::new(it.name(), it.kind().data_type(), !is_always_there(it));
    ResultField::ALL.into_iter().map(field).collect()
}

pub(crate) fn element() -> Arc<Field> {
    Arc::new(Field::new("element", DataType::Struct(result_fields()), false))
}

/// The schema of results; its metadata contains the plan that they were scored with, as JSON.
pub(crate) fn schema(plan: String) -> SchemaRef {
    let rows = RowColumn::ALL;
    let rows = rows.into_iter().map(|it| Field::new(it.name(), it.kind().data_type(), false));
    let results = Field::new("results", DataType::List(element()), false);
    let metadata = HashMap::from([
        (VERSION_KEY.to_owned(), SCHEMA_VERSION.to_string()),
        (PLAN_KEY.to_owned(), plan),
    ]);
    let fields: Vec<Field> = rows.chain([results]).collect();
    Arc::new(Schema::new_with_metadata(fields, metadata))
}
