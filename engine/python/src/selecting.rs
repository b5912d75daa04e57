//! Selects the columns of a table that are read, before the table becomes Arrow: the other columns may have values that
//! Arrow or JSON cannot represent. The Python code knows how a table names and returns its columns.

use arrow_schema::{DataType, Field, Schema};
use pyo3::prelude::*;
use scorebox_shards::Columns;

/// A table with only the columns that are read, and the part of a case that each of them is.
pub(crate) struct Selected<'py> {
    pub(crate) table: Bound<'py, PyAny>,
    pub(crate) mapped: Vec<(String, String)>,
}

impl<'py> Selected<'py> {
    /// Selects the columns that `find` needs, by their names. A table of an unknown library stays as it is.
    ///
    /// # Errors
    /// Any error of `find`, which sees names but no types.
    pub(crate) fn of(
        table: &Bound<'py, PyAny>,
        mapped: &[(String, String)],
        find: impl FnOnce(&Schema) -> PyResult<Columns>,
    ) -> PyResult<Selected<'py>> {
        let tables = table.py().import("scorebox._tables")?;
        let names = tables.call_method1("column_names", (table,))?;
        let Some(names) = names.extract::<Option<Vec<String>>>()? else {
            return Ok(Selected { table: table.clone(), mapped: mapped.to_vec() });
        };
        // The types are checked later, when they are known.
        let fields = names.iter().map(|name| Field::new(name, DataType::Utf8, true));
        let indices = find(&Schema::new(fields.collect::<Vec<_>>()))?.indices();
        let is_there = |column: &str| indices.iter().any(|index| names[*index] == column);
        let mapped = mapped.iter().filter(|(_, column)| is_there(column)).cloned().collect();
        Ok(Selected { table: tables.call_method1("selected", (table, indices))?, mapped })
    }
}
