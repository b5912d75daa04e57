//! Passes Arrow tables in and out without copies, through the PyCapsule interface: every object that has
//! `__arrow_c_stream__` (tables of pyarrow, polars and pandas) or `__arrow_c_array__` (a batch). Does not look into
//! columns.

use std::ffi::CStr;

use arrow_array::{
    RecordBatch, RecordBatchReader,
    ffi::{FFI_ArrowArray, FFI_ArrowSchema},
    ffi_stream::FFI_ArrowArrayStream,
};
use arrow_schema::SchemaRef;
use pyo3::{
    exceptions::PyException,
    prelude::*,
    types::{PyCapsule, PyTuple},
};

use crate::{
    arrays::{Stream, Unreadable, batch_of, read_already, schema_of_rows},
    error::{self, Kind},
};

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// Advice for a single column that is passed as a table.
const AS_TABLE: &str =
    "give it a name: `series.to_frame(\"output\")`, or `pyarrow.table({\"output\": column})`";
/// Advice for a column of an unknown type.
pub(crate) const CAST: &str = "cast it to text or numbers first";
/// Advice for a table that is not an Arrow table.
const ONE_TYPE: &str = "a column of a table has values of one type; score those of several with `score` or `Suite.iter`, \
     or make them texts: `frame.astype(str)`";

/// The batches of a table, one after another.
pub(crate) enum Batches {
    Stream(Stream),
    One(SchemaRef, Option<RecordBatch>),
}

impl Batches {
    /// The batches of a Python object.
    ///
    /// # Errors
    /// If it is not a table, or returns something other than a table.
    pub(crate) fn of(table: &Bound<'_, PyAny>) -> PyResult<Batches> {
        let py = table.py();
        let broken = |error: Unreadable| broken(table, error);
        if let Some(give) = table.getattr_opt("__arrow_c_stream__")? {
            let capsule = give.call0().map_err(|error| not_arrow(table, error))?;
            let stream = capsule.cast::<PyCapsule>()?.pointer_checked(Some(STREAM))?;
            #[expect(unsafe_code, reason = "a pointer from another library is read")]
            // SAFETY: a capsule of this name holds such a stream, says the interface; it is moved out, and what stays
            // in the capsule says that it is released.
            let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr().cast()) };
            return Stream::new(stream).map(Batches::Stream).map_err(broken);
        }
        if let Some(give) = table.getattr_opt("__arrow_c_array__")? {
            let capsules = give.call0()?;
            let capsules = capsules.cast::<PyTuple>()?;
            let (schema, array) = (capsules.get_item(0)?, capsules.get_item(1)?);
            let schema = schema.cast::<PyCapsule>()?.pointer_checked(Some(SCHEMA))?;
            let array = array.cast::<PyCapsule>()?.pointer_checked(Some(ARRAY))?;
            #[expect(unsafe_code, reason = "pointers from another library are read")]
            // SAFETY: capsules of these names hold a schema and an array of it, says the interface; both are moved out.
            let (schema, array) = unsafe {
                let schema = FFI_ArrowSchema::from_raw(schema.as_ptr().cast());
                (schema, FFI_ArrowArray::from_raw(array.as_ptr().cast()))
            };
            // The schema of such an array was moved out with it, so its format can no longer be read.
            if array.is_released() {
                return Err(broken(read_already("array").into()));
            }
            let schema = schema_of_rows(&schema).map_err(broken)?;
            let batch = batch_of(array, &schema).map_err(|error| broken(error.into()))?;
            return Ok(Batches::One(schema, Some(batch)));
        }
        let kind = table.get_type().fully_qualified_name()?;
        let advice =
            "pass a table of pyarrow, polars or pandas, or anything with `__arrow_c_stream__`";
        let message = format!("`{kind}` is not a table");
        Err(error::advised(py, Kind::InvalidArgument, message, Some(advice.to_owned())))
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        match self {
            Batches::Stream(stream) => stream.schema(),
            Batches::One(schema, _) => schema.clone(),
        }
    }

    /// The next batch.
    ///
    /// # Errors
    /// Any error of the library that has the table.
    pub(crate) fn next(&mut self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        match self {
            // The source of the batches may be Python code, which attaches to the interpreter itself.
            Batches::Stream(stream) => py.detach(|| stream.next()).map_err(|error| {
                error::new(py, Kind::Unreadable, format!("the table cannot be read: {error}"))
            }),
            Batches::One(_, batch) => Ok(batch.take()),
        }
    }
}

/// The exception for a table that returns something unreadable.
fn broken(table: &Bound<'_, PyAny>, error: Unreadable) -> PyErr {
    let (message, advice) = match error {
        Unreadable::NoRows => {
            let kind = table.get_type().fully_qualified_name();
            let kind = kind.map_or_else(|_| "this".to_owned(), |kind| format!("`{kind}`"));
            let why = "it is a single column, not a table with named columns";
            (format!("{kind} is not a table: {why}"), Some(AS_TABLE))
        }
        Unreadable::Column { name, why } => {
            (format!("the column `{name}` cannot be read: {why}"), Some(CAST))
        }
        Unreadable::Arrow(error) => (format!("the table cannot be read: {error}"), None),
    };
    error::advised(table.py(), Kind::InvalidArgument, message, advice.map(str::to_owned))
}

/// The exception for a table that cannot be converted to Arrow. A known library reports such an error about a column,
/// most often because some of its values are texts and others numbers. Errors in a caller's own table type are passed
/// on as they are.
fn not_arrow(table: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    let py = table.py();
    let is_known = py
        .import("scorebox._tables")
        .and_then(|tables| tables.call_method1("column_names", (table,)))
        .is_ok_and(|names| !names.is_none());
    // Ctrl-C is not such an error.
    if !is_known || !error.is_instance_of::<PyException>(py) {
        return error;
    }
    let message = format!("the table cannot be read: {error}");
    let of_pyarrow = |error: &PyErr| {
        let module = error.get_type(py).getattr("__module__");
        module
            .and_then(|name| name.extract::<String>())
            .is_ok_and(|name| name.starts_with("pyarrow"))
    };
    let advice = of_pyarrow(&error).then(|| ONE_TYPE.to_owned());
    let refused = error::advised(py, Kind::InvalidArgument, message, advice);
    refused.set_cause(py, Some(error));
    refused
}

/// A capsule with these batches.
pub(crate) fn stream_of<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}
