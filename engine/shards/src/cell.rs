//! A cell of an Arrow column as JSON text, and the texts and numbers of JSON. Knows types of columns, and no parts of cases.

use arrow_array::{Array, ArrayRef, cast::AsArray as _, types::*};
use arrow_schema::DataType;

/// Why a cell is not JSON: the steps to it, from the inside, and what it is.
#[derive(Debug)]
pub(crate) struct NotJson {
    steps: Vec<String>,
    what: String,
}

impl NotJson {
    fn new(what: impl Into<String>) -> NotJson {
        NotJson { steps: Vec::new(), what: what.into() }
    }

    fn within(mut self, step: impl ToString) -> NotJson {
        self.steps.push(step.to_string());
        self
    }

    /// A sentence about the cell of this column.
    pub(crate) fn in_words(&self, column: &str) -> String {
        let steps: String = self.steps.iter().rev().map(|step| format!("/{step}")).collect();
        format!("`/{column}{steps}` is not JSON: {}", self.what)
    }
}

/// What is wrong with a type of column, if its cells are not JSON whatever they hold.
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
        | DataType::Utf8View => None,
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

/// Appends the cell in this row; one without a value is `null`.
///
/// # Errors
/// The cell, or a part of it, is not JSON.
pub(crate) fn write(out: &mut String, array: &dyn Array, row: usize) -> Result<(), NotJson> {
    if array.is_null(row) {
        out.push_str("null");
        return Ok(());
    }
    macro_rules! number {
        ($type:ty) => {
            out.push_str(&array.as_primitive::<$type>().value(row).to_string())
        };
    }
    match array.data_type() {
        DataType::Utf8 => push_text(out, array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => push_text(out, array.as_string::<i64>().value(row)),
        DataType::Utf8View => push_text(out, array.as_string_view().value(row)),
        DataType::Null => out.push_str("null"),
        DataType::Boolean => {
            out.push_str(if array.as_boolean().value(row) { "true" } else { "false" });
        }
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float16 => float(out, array.as_primitive::<Float16Type>().value(row).to_f64())?,
        DataType::Float32 => {
            let number = array.as_primitive::<Float32Type>().value(row);
            // Its own digits, not those of the double that it is, too.
            match number.is_finite() {
                true => out.push_str(&number.to_string()),
                false => return Err(not_finite(number.into())),
            }
        }
        DataType::Float64 => float(out, array.as_primitive::<Float64Type>().value(row))?,
        DataType::List(_) => items(out, &array.as_list::<i32>().value(row))?,
        DataType::LargeList(_) => items(out, &array.as_list::<i64>().value(row))?,
        DataType::FixedSizeList(..) => items(out, &array.as_fixed_size_list().value(row))?,
        DataType::Struct(fields) => {
            let columns = array.as_struct();
            let members = fields.iter().zip(columns.columns());
            object(out, members.map(|(field, column)| (field.name().as_str(), column, row)))?;
        }
        DataType::Map(..) => {
            let entries = array.as_map().value(row);
            let (keys, values) = (entries.column(0), entries.column(1));
            let members = (0..entries.len()).map(|place| (text(keys, place), values, place));
            object(out, members)?;
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            match key(dictionary.keys(), row) {
                Some(key) if key < dictionary.values().len() => {
                    write(out, dictionary.values(), key)?;
                }
                _ => return Err(NotJson::new("a key that its dictionary does not have")),
            }
        }
        other => return Err(NotJson::new(format!("the type {other}"))),
    }
    Ok(())
}

fn float(out: &mut String, number: f64) -> Result<(), NotJson> {
    match push_float(out, number) {
        true => Ok(()),
        false => Err(not_finite(number)),
    }
}

fn not_finite(number: f64) -> NotJson {
    NotJson::new(format!("{number}"))
}

fn items(out: &mut String, items: &ArrayRef) -> Result<(), NotJson> {
    out.push('[');
    for place in 0..items.len() {
        if place > 0 {
            out.push(',');
        }
        write(out, items, place).map_err(|refused| refused.within(place))?;
    }
    out.push(']');
    Ok(())
}

fn object<'a>(
    out: &mut String,
    members: impl Iterator<Item = (&'a str, &'a ArrayRef, usize)>,
) -> Result<(), NotJson> {
    out.push('{');
    for (place, (name, values, row)) in members.enumerate() {
        if place > 0 {
            out.push(',');
        }
        push_text(out, name);
        out.push(':');
        write(out, values, row).map_err(|refused| refused.within(name))?;
    }
    out.push('}');
    Ok(())
}

/// The text of a column of texts.
pub(crate) fn text(array: &dyn Array, row: usize) -> &str {
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row),
        DataType::Utf8View => array.as_string_view().value(row),
        _ => "",
    }
}

/// Which value of its dictionary a cell is.
fn key(keys: &dyn Array, row: usize) -> Option<usize> {
    macro_rules! of {
        ($type:ty) => {
            usize::try_from(keys.as_primitive::<$type>().value(row)).ok()
        };
    }
    match keys.data_type() {
        DataType::Int8 => of!(Int8Type),
        DataType::Int16 => of!(Int16Type),
        DataType::Int32 => of!(Int32Type),
        DataType::Int64 => of!(Int64Type),
        DataType::UInt8 => of!(UInt8Type),
        DataType::UInt16 => of!(UInt16Type),
        DataType::UInt32 => of!(UInt32Type),
        DataType::UInt64 => of!(UInt64Type),
        _ => None,
    }
}

/// Appends text as a JSON string.
pub fn push_text(out: &mut String, text: &str) {
    out.push('"');
    let mut clean = 0;
    for (place, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..0x20 => "",
            _ => continue,
        };
        out.push_str(&text[clean..place]);
        clean = place + 1;
        match escape {
            "" => out.push_str(&format!("\\u{byte:04x}")),
            escape => out.push_str(escape),
        }
    }
    out.push_str(&text[clean..]);
    out.push('"');
}

/// Appends a number as JSON writes it; nothing, and false, if it is not finite.
pub fn push_float(out: &mut String, number: f64) -> bool {
    if !number.is_finite() {
        return false;
    }
    // Numbers are written so that they are read as the same.
    out.push_str(&serde_json::Value::from(number).to_string());
    true
}
