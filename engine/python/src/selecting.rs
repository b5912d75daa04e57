//! The columns of a table that are read, chosen before the table becomes Arrow: the others may have what Arrow or JSON
//! cannot have. How a table names and gives its columns is the Python code's to know.

use arrow_schema::{DataType, Field, Schema};
use pyo3::prelude::*;
use scorebox_shards::Columns;

/// A table with the columns that are read, and which of them is which part of a case.
pub(crate) struct Selected<'py> {
    pub(crate) table: Bound<'py, PyAny>,
    pub(crate) mapped: Vec<(String, String)>,
}

impl<'py> Selected<'py> {
    /// The columns that `find` needs, by their names, of a table. A table of an unknown library stays as it is.
    ///
    /// # Errors
    /// What `find` says; it sees names and no types.
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
        // The types are looked at where they are known.
        let fields = names.iter().map(|name| Field::new(name, DataType::Utf8, true));
        let indices = find(&Schema::new(fields.collect::<Vec<_>>()))?.indices();
        let is_there = |column: &str| indices.iter().any(|index| names[*index] == column);
        let mapped = mapped.iter().filter(|(_, column)| is_there(column)).cloned().collect();
        Ok(Selected { table: tables.call_method1("selected", (table, indices))?, mapped })
    }
}
