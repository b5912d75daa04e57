//! The columns of a case, in one table, and the SQL that is built from it. Their order is that of the run's root, so a
//! new column comes last.

use std::sync::LazyLock;

use rusqlite::types::ToSqlOutput;

use super::{
    NewCase,
    column::{integer, optional},
};
use crate::contract::Field;

/// A column of the table `cases` that is not one of its keys.
struct Column {
    name: &'static str,
    holds: Holds,
    counts: Counts,
}

/// Which value of a case a column has.
#[derive(Clone, Copy)]
enum Holds {
    Ordinal,
    CaseId,
    NodeId,
    Iteration,
    Attempt,
    SourceName,
    SourceLine,
    LatencyMs,
    Digest,
    Output,
    /// The JSON of an optional part.
    Part(Field),
    Other,
    Workspace,
    Skip,
    Error,
}

/// How a column counts in the run's root.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counts {
    /// By its value.
    ByValue,
    /// By whether it exists: the digest of the case's content covers the value.
    ByPresence,
}

const fn column(name: &'static str, holds: Holds) -> Column {
    Column { name, holds, counts: Counts::ByValue }
}

/// JSON that the digest of the case's content covers.
const fn content(name: &'static str, holds: Holds) -> Column {
    Column { name, holds, counts: Counts::ByPresence }
}

/// How many columns there are.
pub(super) const CASE_VALUES: usize = 22;

const COLUMNS: [Column; CASE_VALUES] = [
    column("ordinal", Holds::Ordinal),
    column("case_id", Holds::CaseId),
    column("node_id", Holds::NodeId),
    column("iteration", Holds::Iteration),
    column("attempt", Holds::Attempt),
    column("source_name", Holds::SourceName),
    column("source_line", Holds::SourceLine),
    column("latency_ms", Holds::LatencyMs),
    column("digest", Holds::Digest),
    content("input", Holds::Part(Field::Input)),
    content("output", Holds::Output),
    content("ground_truth", Holds::Part(Field::GroundTruth)),
    content("context", Holds::Part(Field::Context)),
    content("output_schema", Holds::Part(Field::OutputSchema)),
    content("trace", Holds::Part(Field::Trace)),
    // The digest of the content covers only the numbers in it.
    column("usage", Holds::Part(Field::Usage)),
    content("metadata", Holds::Part(Field::Metadata)),
    content("baseline", Holds::Part(Field::Baseline)),
    column("other_json", Holds::Other),
    column("workspace", Holds::Workspace),
    column("skip_reason", Holds::Skip),
    column("error", Holds::Error),
];

/// How many of the columns the first version of the root covers.
pub(super) const CASE_VALUES_OF_ROOT_1: usize = 20;

/// How many of the columns later versions of the root cover. The columns after them count if they have a value.
pub(super) const CASE_VALUES_OF_ROOT: usize = 21;

/// Which column is the digest of the case's content.
pub(super) const CASE_DIGEST: usize = 8;

/// Whether the root covers the value of this column, not only its presence.
pub(super) fn counts_by_value(index: usize) -> bool {
    COLUMNS.get(index).is_none_or(|column| column.counts == Counts::ByValue)
}

/// The names of all columns, in their order.
fn names() -> String {
    all().collect::<Vec<_>>().join(", ")
}

/// The names of all columns, in the order of the table.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().map(|column| column.name)
}

/// The columns of optional parts.
pub(super) fn parts() -> impl Iterator<Item = (&'static str, Field)> {
    COLUMNS.iter().filter_map(|column| match column.holds {
        Holds::Part(field) => Some((column.name, field)),
        _ => None,
    })
}

/// Inserts a case: its key, its run, and its values.
pub(super) static INSERT: LazyLock<String> = LazyLock::new(|| {
    let parameters: Vec<String> =
        (1..=CASE_VALUES + 2).map(|number| format!("?{number}")).collect();
    format!(
        "INSERT INTO cases (case_key, run, {}) VALUES ({}) ON CONFLICT DO NOTHING",
        names(),
        parameters.join(", ")
    )
});

/// The parts of a case that scorers can be given, by its key.
pub(super) static CONTENT: LazyLock<String> = LazyLock::new(|| {
    let parts: Vec<&str> = parts().map(|(name, _)| name).collect();
    format!(
        "SELECT case_id, digest, latency_ms, output, workspace, skip_reason, error, {} FROM cases WHERE case_key = ?1",
        parts.join(", ")
    )
});

/// The cases of a run: each with its key, then its values. A case that claims to be of another run is read as a case of
/// that run, whatever its key, and so is not part of this one. The `+` keeps SQLite from using the index on runs,
/// because it would then have to sort.
pub(super) static OF_A_RUN: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT case_key, {} FROM cases
         WHERE case_key BETWEEN ?1 AND ?2 AND +run = ?3 ORDER BY case_key",
        names()
    )
});

/// The values of a case, in the order of its columns.
pub(super) fn values<'a>(case: &'a NewCase<'_>) -> [ToSqlOutput<'a>; CASE_VALUES] {
    COLUMNS.each_ref().map(|column| match column.holds {
        Holds::Ordinal => integer(case.ordinal).into(),
        Holds::CaseId => case.case_id.into(),
        Holds::NodeId => optional(case.node_id),
        Holds::Iteration => case.iteration.into(),
        Holds::Attempt => case.attempt.into(),
        Holds::SourceName => case.source_name.into(),
        Holds::SourceLine => integer(case.source_line).into(),
        Holds::LatencyMs => optional(case.latency_ms),
        Holds::Digest => case.digest.as_bytes().as_slice().into(),
        Holds::Output => case.output.into(),
        Holds::Part(field) => optional(case.parts.get(field).copied()),
        Holds::Other => optional(case.other),
        Holds::Workspace => optional(case.workspace),
        Holds::Skip => optional(case.skip),
        Holds::Error => optional(case.error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_a_column_but_the_latency_which_is_a_number() {
        let mut stored: Vec<Field> = parts().map(|(_, field)| field).collect();
        stored.push(Field::Latency);
        stored.sort_unstable();
        assert_eq!(stored, Field::ALL);
        assert_eq!(COLUMNS[CASE_DIGEST].name, "digest");
    }
}
