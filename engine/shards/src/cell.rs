//! Which columns of Arrow have cells that are JSON, the texts and numbers of cells, and those of JSON. Cells are written
//! as JSON where other tables' are: in `scorebox_readers`.

use arrow_array::{
    Array, ArrayRef, Int32Array, Int64Array, cast::AsArray as _, types::Float64Type,
};
use arrow_schema::DataType;

/// Why a column of this type is refused, if its cells cannot become JSON whatever they contain.
pub(crate) fn refusal(kind: &DataType) -> Option<String> {
    match kind {
        DataType::Null
        | DataType::Boolean
        | DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32
        | DataType::UInt64
        | DataType::Float16
        | DataType::Float32
        | DataType::Float64
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        // Bytes count as text; bytes that are not UTF-8 are reported with their row.
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_)
        | DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => None,
        kind if kind.is_temporal() => None,
        DataType::List(field) | DataType::LargeList(field) | DataType::FixedSizeList(field, _) => {
            refusal(field.data_type())
        }
        DataType::Struct(fields) => fields.iter().find_map(|field| refusal(field.data_type())),
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) if fields.len() == 2 => match fields[0].data_type() {
                DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                    refusal(fields[1].data_type())
                }
                other => Some(format!("a map with keys of type {other}")),
            },
            other => Some(format!("a map of {other}")),
        },
        DataType::Dictionary(_, values) => refusal(values),
        other => Some(format!("the type {other}")),
    }
}

/// The text of a cell in a text column.
pub(crate) fn text(array: &dyn Array, row: usize) -> &str {
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row),
        DataType::Utf8View => array.as_string_view().value(row),
        _ => "",
    }
}

/// The text of a cell of results, of the kinds that data engines write texts as.
pub(crate) fn text_at(array: &ArrayRef, row: usize) -> Option<&str> {
    let is_text =
        matches!(array.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    (is_text && array.is_valid(row)).then(|| text(array, row))
}

/// The same of a cell with an integer.
pub(crate) fn integer_at(array: &ArrayRef, row: usize) -> Option<i64> {
    if array.is_null(row) {
        return None;
    }
    let array: &dyn Array = array;
    match array.as_any().downcast_ref::<Int64Array>() {
        Some(numbers) => Some(numbers.value(row)),
        None => Some(array.as_any().downcast_ref::<Int32Array>()?.value(row).into()),
    }
}

/// The same of a cell with a number.
pub(crate) fn number_at(array: &ArrayRef, row: usize) -> Option<f64> {
    let numbers = array.as_primitive_opt::<Float64Type>()?;
    numbers.is_valid(row).then(|| numbers.value(row))
}

/// Appends text as a JSON string.
pub fn push_text(out: &mut String, text: &str) {
    out.push('"');
    let mut clean = 0;
    for (offset, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..0x20 => "",
            _ => continue,
        };
        out.push_str(&text[clean..offset]);
        clean = offset + 1;
        match escape {
            "" => out.push_str(&format!("\\u{byte:04x}")),
            escape => out.push_str(escape),
        }
    }
    out.push_str(&text[clean..]);
    out.push('"');
}

/// Appends a number as JSON; appends nothing and returns false if the number is not finite.
pub fn push_float(out: &mut String, number: f64) -> bool {
    if !number.is_finite() {
        return false;
    }
    // This format is read back as the same number.
    out.push_str(&serde_json::Value::from(number).to_string());
    true
}
