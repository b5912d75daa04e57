//! Cells of Arrow's columns as JSON, the same for whoever reads a table: what Arrow's own writer makes of them, within a bound for
//! a row. Knows no parts of cases.

use std::{
    fmt,
    sync::{Arc, LazyLock},
};

use arrow_array::{Array, ArrayRef, cast::AsArray as _};
use arrow_json::{Encoder, EncoderFactory, EncoderOptions, writer::NullableEncoder};
use arrow_schema::{ArrowError, DataType, FieldRef};

use crate::record::MOST_RECORD_BYTES;

/// As Arrow's writer, but for what [`Bounded`] and [`DictionaryCells`] are for.
static OPTIONS: LazyLock<EncoderOptions> =
    LazyLock::new(|| PLAIN_OPTIONS.clone().with_encoder_factory(Arc::new(BoundedCells)));
/// As Arrow's writer.
static PLAIN_OPTIONS: LazyLock<EncoderOptions> =
    LazyLock::new(|| EncoderOptions::default().with_explicit_nulls(true));

/// A row that has more bytes as JSON than are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it has more than {} MiB, the most that is read", MOST_RECORD_BYTES >> 20)]
#[non_exhaustive]
pub struct RowTooLarge;

/// The cells of a column.
pub struct Cells<'a>(NullableEncoder<'a>);

impl<'a> Cells<'a> {
    /// The cells of this column.
    ///
    /// # Errors
    /// Why they are not JSON, whatever they hold; or its dictionary lacks a value.
    pub fn of(field: &'a FieldRef, column: &'a ArrayRef) -> Result<Cells<'a>, String> {
        let encoder = arrow_json::writer::make_encoder(field, column, &OPTIONS);
        encoder.map(Cells).map_err(|error| match error {
            ArrowError::JsonError(message) => message,
            other => other.to_string(),
        })
    }

    /// Appends the cell in this row to what is written of the row. One without a value is `null`, and so is a number that
    /// is not finite.
    ///
    /// # Errors
    /// The row is larger than what is read.
    pub fn write(&mut self, out: &mut Vec<u8>, row: usize) -> Result<(), RowTooLarge> {
        match self.0.is_null(row) {
            true => out.extend_from_slice(b"null"),
            false => self.0.encode(row, out),
        }
        match out.len() > MOST_RECORD_BYTES {
            true => Err(RowTooLarge),
            false => Ok(()),
        }
    }
}

impl fmt::Debug for Cells<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cells(..)")
    }
}

/// Makes encoders of what may be in memory once and in a row a thousand times.
#[derive(Debug)]
struct BoundedCells;

impl EncoderFactory for BoundedCells {
    fn make_default_encoder<'a>(
        &self,
        field: &'a FieldRef,
        array: &'a dyn Array,
        _: &'a EncoderOptions,
    ) -> Result<Option<NullableEncoder<'a>>, ArrowError> {
        let plain = || arrow_json::writer::make_encoder(field, array, &PLAIN_OPTIONS);
        let encoder: Box<dyn Encoder + 'a> = match array.data_type() {
            DataType::Utf8View => {
                let texts = array.as_string_view();
                Box::new(Bounded { length: |row| texts.value(row).len(), encoder: plain()? })
            }
            DataType::BinaryView => {
                let bytes = array.as_binary_view();
                Box::new(Bounded { length: |row| bytes.value(row).len(), encoder: plain()? })
            }
            DataType::Dictionary(..) => Box::new(DictionaryCells::of(field, array)?),
            _ => return Ok(None),
        };
        Ok(Some(NullableEncoder::new(encoder, array.logical_nulls())))
    }
}

/// Goes past the bound by a byte where the value would go past it.
fn overflow(out: &mut Vec<u8>) {
    out.resize(out.len().max(MOST_RECORD_BYTES + 1), b' ');
}

/// Values that are written while the row is within its bound.
struct Bounded<'a, L> {
    length: L,
    encoder: NullableEncoder<'a>,
}

impl<L: Fn(usize) -> usize> Encoder for Bounded<'_, L> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        match out.len().saturating_add((self.length)(row)) > MOST_RECORD_BYTES {
            true => overflow(out),
            false => self.encoder.encode(row, out),
        }
    }
}

/// Cells that name values of a dictionary, which may have no value itself.
struct DictionaryCells<'a> {
    keys: Vec<usize>,
    values: NullableEncoder<'a>,
}

impl<'a> DictionaryCells<'a> {
    fn of(field: &'a FieldRef, array: &'a dyn Array) -> Result<DictionaryCells<'a>, ArrowError> {
        // Of a table that another program handed over, no one has looked at the keys.
        array.to_data().validate_full()?;
        let dictionary = array.as_any_dictionary();
        let keys = match dictionary.values().is_empty() {
            true => Vec::new(),
            false => dictionary.normalized_keys(),
        };
        let values =
            arrow_json::writer::make_encoder(field, dictionary.values().as_ref(), &OPTIONS)?;
        Ok(DictionaryCells { keys, values })
    }
}

impl Encoder for DictionaryCells<'_> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        match self.keys.get(row) {
            _ if out.len() > MOST_RECORD_BYTES => {}
            Some(key) if !self.values.is_null(*key) => self.values.encode(*key, out),
            _ => out.extend_from_slice(b"null"),
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        DictionaryArray, Float32Array, Float64Array, Int32Array, ListArray, StringArray,
        StringViewArray, types::Int32Type,
    };
    use arrow_buffer::{OffsetBuffer, ScalarBuffer};
    use arrow_schema::Field;

    use super::*;

    fn written(column: &ArrayRef) -> Vec<String> {
        let field = Arc::new(Field::new("x", column.data_type().clone(), true));
        let mut cells = Cells::of(&field, column).unwrap();
        let cell = |row| {
            let mut out = Vec::new();
            cells.write(&mut out, row).unwrap();
            String::from_utf8(out).unwrap()
        };
        (0..column.len()).map(cell).collect()
    }

    #[test]
    fn numbers_are_written_with_their_own_digits_and_as_null_if_they_are_not_finite() {
        let floats: ArrayRef = Arc::new(Float32Array::from(vec![1e38, 1e-40, 1e16, 0.1, f32::NAN]));
        assert_eq!(written(&floats), ["1.0e38", "1.0e-40", "1.0e16", "0.1", "null"]);
        let doubles: ArrayRef = Arc::new(Float64Array::from(vec![Some(0.1), None, Some(-0.0)]));
        assert_eq!(written(&doubles), ["0.1", "null", "-0.0"]);
    }

    #[test]
    fn a_value_of_a_dictionary_may_be_none() {
        let keys = Int32Array::from(vec![Some(0), Some(1), None]);
        let values = Arc::new(StringArray::from(vec![Some("a"), None]));
        let column: ArrayRef = Arc::new(DictionaryArray::<Int32Type>::new(keys, values));
        assert_eq!(written(&column), ["\"a\"", "null", "null"]);
    }

    #[test]
    fn a_row_ends_at_its_bound_however_often_a_text_is_in_it() {
        let long = "x".repeat(1 << 20);
        // One text, which is named a thousand times.
        let texts = StringViewArray::from_iter_values([long.as_str()]);
        let texts = StringViewArray::new(
            ScalarBuffer::from(vec![texts.views()[0]; 1000]),
            texts.data_buffers().to_vec(),
            None,
        );
        let element = Arc::new(Field::new("element", DataType::Utf8View, true));
        let offsets = OffsetBuffer::from_lengths([2, 998]);
        let lists: ArrayRef = Arc::new(ListArray::new(element, offsets, Arc::new(texts), None));
        let field = Arc::new(Field::new("x", lists.data_type().clone(), true));
        let mut cells = Cells::of(&field, &lists).unwrap();
        let mut out = Vec::new();
        assert_eq!(cells.write(&mut out, 0), Ok(()));
        out.clear();
        assert_eq!(cells.write(&mut out, 1), Err(RowTooLarge));
        assert!(out.len() < MOST_RECORD_BYTES + 2000, "{}", out.len());
    }
}
