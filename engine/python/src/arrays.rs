//! Arrow data that another library passes through the C data interface, as batches of rows. Takes nothing from Python.

use std::{ffi::CStr, sync::Arc};

use arrow_array::{
    Array as _, RecordBatch, RecordBatchOptions, StructArray,
    ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type},
    ffi_stream::FFI_ArrowArrayStream,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

/// Why Arrow data cannot be read as a table.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// It does not consist of rows.
    NoRows,
    /// A column is of a type that only the other library knows.
    Column {
        name: String,
        why: ArrowError,
    },
    Arrow(ArrowError),
}

impl From<ArrowError> for Unreadable {
    fn from(error: ArrowError) -> Unreadable {
        Unreadable::Arrow(error)
    }
}

/// The batches of another library's stream. Replaces `ArrowArrayStreamReader`, which takes the arrays as they are.
#[derive(Debug)]
pub(crate) struct Stream {
    stream: FFI_ArrowArrayStream,
    schema: SchemaRef,
}

impl Stream {
    /// # Errors
    /// The stream was read already, or its schema cannot be read.
    pub(crate) fn new(mut stream: FFI_ArrowArrayStream) -> Result<Stream, Unreadable> {
        let (Some(get_schema), Some(_)) = (stream.get_schema, stream.release) else {
            return Err(read_already("stream").into());
        };
        let mut schema = FFI_ArrowSchema::empty();
        #[expect(unsafe_code, reason = "a function of another library is called")]
        // SAFETY: the stream is not released, and its function fills in a schema that is empty.
        let code = unsafe { get_schema(&raw mut stream, &raw mut schema) };
        if code != 0 {
            return Err(last_error(&mut stream).into());
        }
        let schema = schema_of_rows(&schema)?;
        Ok(Stream { stream, schema })
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The next batch, if there is one.
    ///
    /// # Errors
    /// The error of the other library, or that it returned something other than a batch.
    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let Some(get_next) = self.stream.get_next else { return Ok(None) };
        let mut array = FFI_ArrowArray::empty();
        #[expect(unsafe_code, reason = "a function of another library is called")]
        // SAFETY: the stream is not released, and its function fills in an array that is empty.
        let code = unsafe { get_next(&raw mut self.stream, &raw mut array) };
        match code {
            0 if array.is_released() => Ok(None),
            0 => batch_of(array, &self.schema).map(Some),
            _ => Err(last_error(&mut self.stream)),
        }
    }
}

/// The schema of rows.
///
/// # Errors
/// The data is a column without a name, such as a series, or a column cannot be read.
pub(crate) fn schema_of_rows(schema: &FFI_ArrowSchema) -> Result<SchemaRef, Unreadable> {
    // The interface's format of a structure.
    if schema.format() != "+s" {
        return Err(Unreadable::NoRows);
    }
    for column in schema.children() {
        Field::try_from(column).map_err(|why| {
            let name = column.name().unwrap_or_default().to_owned();
            Unreadable::Column { name, why }
        })?;
    }
    Ok(Arc::new(Schema::try_from(schema)?))
}

/// The error for data that was already taken: another library passes it only once.
pub(crate) fn read_already(what: &str) -> ArrowError {
    ArrowError::CDataInterface(format!("its {what} was read already"))
}

/// The error text of a stream whose last call failed.
fn last_error(stream: &mut FFI_ArrowArrayStream) -> ArrowError {
    #[expect(unsafe_code, reason = "a function of another library is called")]
    // SAFETY: a call of the stream failed, and the text is copied before the next call.
    let said = stream.get_last_error.map(|get| unsafe { get(&raw mut *stream) });
    #[expect(unsafe_code, reason = "a text of another library is read")]
    // SAFETY: as above; a text that is there ends with a zero.
    let said = said.filter(|text| !text.is_null()).map(|text| unsafe { CStr::from_ptr(text) });
    let said = said.map_or_else(|| "it does not say why".into(), CStr::to_string_lossy);
    ArrowError::CDataInterface(said.into_owned())
}

/// The rows of an array of structures.
///
/// # Errors
/// Some of the structures are null, or the array is not of this schema.
pub(crate) fn batch_of(
    mut array: FFI_ArrowArray,
    schema: &SchemaRef,
) -> Result<RecordBatch, ArrowError> {
    let rows = DataType::Struct(schema.fields().clone());
    without_buffers_of_nulls(&mut array, &rows);
    #[expect(unsafe_code, reason = "an array of another library is read")]
    // SAFETY: the other library says that this is an array of this schema, by the C data interface.
    let data = unsafe { from_ffi_and_data_type(array, rows) }?;
    let rows = StructArray::from(data);
    if rows.null_count() > 0 {
        return Err(ArrowError::CDataInterface("some rows are null".to_owned()));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    let (_, columns, _) = rows.into_parts();
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
}

/// Removes the buffers from arrays of the type null. By the interface such an array has no buffers, and `arrow-array`
/// refuses one that has some; Polars gives it a validity.
fn without_buffers_of_nulls(array: &mut FFI_ArrowArray, kind: &DataType) {
    if *kind == DataType::Null {
        array.n_buffers = 0;
    }
    let there = usize::try_from(array.n_children).unwrap_or_default();
    for (index, kind) in kinds_of_children(kind).into_iter().enumerate().take(there) {
        #[expect(unsafe_code, reason = "an array of another library is changed")]
        // SAFETY: `children` are as many pointers as `n_children` says, to arrays that are this one's alone until it is
        // released. Releasing looks at the private data and not at the number of buffers, which a consumer may move.
        let child = unsafe { array.children.add(index).read().as_mut() };
        if let Some(child) = child {
            without_buffers_of_nulls(child, kind);
        }
    }
}

/// The types of the children of an array of this type, as far as they can occur in a column that is JSON.
fn kinds_of_children(kind: &DataType) -> Vec<&DataType> {
    match kind {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => vec![item.data_type()],
        DataType::Struct(members) => members.iter().map(|member| member.data_type()).collect(),
        DataType::RunEndEncoded(ends, values) => vec![ends.data_type(), values.data_type()],
        _ => Vec::new(),
    }
}
