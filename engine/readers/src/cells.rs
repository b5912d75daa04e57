//! Writes cells of Arrow columns as JSON, in the same way for all readers of tables: like Arrow's own writer, within a
//! limit for each row, except for bytes, times and fractions. Knows nothing of the parts of cases.

use std::{
    fmt,
    sync::{Arc, LazyLock},
};

use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType,
    cast::AsArray as _,
    temporal_conversions::as_datetime,
    timezone::Tz,
    types::{
        Float16Type, Float32Type, Float64Type, TimestampMicrosecondType, TimestampMillisecondType,
        TimestampNanosecondType, TimestampSecondType,
    },
};
use arrow_json::{Encoder, EncoderFactory, EncoderOptions, writer::NullableEncoder};
use arrow_schema::{ArrowError, DataType, FieldRef, TimeUnit};

use crate::{nested_cells::nested, record::MAX_RECORD_BYTES};

/// The options of Arrow's writer, with the encoders of [`OwnCells`].
static OPTIONS: LazyLock<EncoderOptions> =
    LazyLock::new(|| PLAIN_OPTIONS.clone().with_encoder_factory(Arc::new(OwnCells)));
/// The options of Arrow's writer, with every null written.
static PLAIN_OPTIONS: LazyLock<EncoderOptions> =
    LazyLock::new(|| EncoderOptions::default().with_explicit_nulls(true));

/// Replaces the first byte of `null` for bytes that are not text. JSON never contains this byte.
const NO_TEXT: u8 = 0xff;

/// Why a cell cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CellError {
    /// The row as JSON has more bytes than are read.
    #[error("it has more than {} MiB, the most that is read", MAX_RECORD_BYTES >> 20)]
    RowTooLarge,
    /// The cell contains bytes that are not UTF-8. They are written as `null`.
    #[error("it has bytes that are not UTF-8 text")]
    NoText,
}

/// The cells of a column.
pub struct Cells<'a>(NullableEncoder<'a>);

impl<'a> Cells<'a> {
    /// Prepares the cells of this column.
    ///
    /// # Errors
    /// Why they cannot become JSON whatever they contain; or that the column's dictionary lacks a value.
    pub fn of(field: &'a FieldRef, column: &'a ArrayRef) -> Result<Cells<'a>, String> {
        let encoder = arrow_json::writer::make_encoder(field, column, &OPTIONS);
        encoder.map(Cells).map_err(|error| match error {
            ArrowError::JsonError(message) => message,
            other => other.to_string(),
        })
    }

    /// Appends the cell of this row. A cell without a value becomes `null`, and so does a number that is not finite, or
    /// a time that is not in any calendar.
    ///
    /// # Errors
    /// The row is larger than what is read, or it contains bytes that are not text.
    pub fn write(&mut self, out: &mut Vec<u8>, row: usize) -> Result<(), CellError> {
        let start = out.len();
        match self.0.is_null(row) {
            true => out.extend_from_slice(b"null"),
            false => self.0.encode(row, out),
        }
        if out.len() > MAX_RECORD_BYTES {
            return Err(CellError::RowTooLarge);
        }
        if !out[start..].contains(&NO_TEXT) {
            return Ok(());
        }
        out[start..].iter_mut().filter(|byte| **byte == NO_TEXT).for_each(|byte| *byte = b'n');
        Err(CellError::NoText)
    }
}

impl fmt::Debug for Cells<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cells(..)")
    }
}

/// Makes the encoders for values that may be in memory once but in a row a thousand times or not at all, and for values
/// that Arrow writes in another way.
#[derive(Debug)]
struct OwnCells;

impl EncoderFactory for OwnCells {
    fn make_default_encoder<'a>(
        &self,
        field: &'a FieldRef,
        array: &'a dyn Array,
        _: &'a EncoderOptions,
    ) -> Result<Option<NullableEncoder<'a>>, ArrowError> {
        let plain = || arrow_json::writer::make_encoder(field, array, &PLAIN_OPTIONS);
        if let Some(nested) = nested(field, array, &OPTIONS)? {
            return Ok(Some(nested));
        }
        let encoder: Box<dyn Encoder + 'a> = match array.data_type() {
            DataType::Utf8 => {
                let texts = array.as_string::<i32>();
                Box::new(Bounded { length: |row| texts.value(row).len(), encoder: plain()? })
            }
            DataType::LargeUtf8 => {
                let texts = array.as_string::<i64>();
                Box::new(Bounded { length: |row| texts.value(row).len(), encoder: plain()? })
            }
            DataType::Utf8View => {
                let texts = array.as_string_view();
                Box::new(Bounded { length: |row| texts.value(row).len(), encoder: plain()? })
            }
            DataType::Binary => Box::new(BytesAsText(|row| array.as_binary::<i32>().value(row))),
            DataType::LargeBinary => {
                Box::new(BytesAsText(|row| array.as_binary::<i64>().value(row)))
            }
            DataType::BinaryView => Box::new(BytesAsText(|row| array.as_binary_view().value(row))),
            DataType::FixedSizeBinary(_) => {
                Box::new(BytesAsText(|row| array.as_fixed_size_binary().value(row)))
            }
            DataType::Float16 => {
                let numbers = array.as_primitive::<Float16Type>();
                Box::new(Numbers(|row| widened(numbers.value(row).to_f32())))
            }
            DataType::Float32 => {
                let numbers = array.as_primitive::<Float32Type>();
                Box::new(Numbers(|row| widened(numbers.value(row))))
            }
            DataType::Float64 => {
                let numbers = array.as_primitive::<Float64Type>();
                Box::new(Numbers(|row| numbers.value(row)))
            }
            DataType::Dictionary(..) => Box::new(DictionaryCells::of(field, array)?),
            DataType::Timestamp(unit, Some(zone)) if zone.parse::<Tz>().is_err() => {
                Box::new(UtcTimes(utc_times(array, *unit)))
            }
            kind if kind.is_temporal() => Box::new(Times(plain()?)),
            _ => return Ok(None),
        };
        Ok(Some(NullableEncoder::new(encoder, array.logical_nulls())))
    }
}

/// Exceeds the limit by one byte, where the value would exceed it.
fn overflow(out: &mut Vec<u8>) {
    out.resize(out.len().max(MAX_RECORD_BYTES + 1), b' ');
}

/// Values that are written only while the row is within its limit.
struct Bounded<'a, L> {
    length: L,
    encoder: NullableEncoder<'a>,
}

impl<L: Fn(usize) -> usize> Encoder for Bounded<'_, L> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        match out.len().saturating_add((self.length)(row)) > MAX_RECORD_BYTES {
            true => overflow(out),
            false => self.encoder.encode(row, out),
        }
    }
}

/// Bytes, written as text if they are UTF-8.
struct BytesAsText<B>(B);

impl<'a, B: Fn(usize) -> &'a [u8]> Encoder for BytesAsText<B> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        let bytes = (self.0)(row);
        if out.len().saturating_add(bytes.len()) > MAX_RECORD_BYTES {
            return overflow(out);
        }
        let text = std::str::from_utf8(bytes).ok();
        let written = text.and_then(|text| serde_json::to_vec(text).ok());
        match written {
            Some(text) => out.extend_from_slice(&text),
            None => out.extend_from_slice(&[NO_TEXT, b'u', b'l', b'l']),
        }
    }
}

/// Numbers that may have a fraction, written as everywhere else here: a case has the same text, whatever it was read
/// from.
struct Numbers<N>(N);

impl<N: Fn(usize) -> f64> Encoder for Numbers<N> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        // A number that is not finite becomes `null`. Writing into a vector cannot fail.
        let _ = serde_json::to_writer(out, &(self.0)(row));
    }
}

/// The 64-bit number with the shortest digits that identify the 32-bit one.
fn widened(number: f32) -> f64 {
    number.to_string().parse().unwrap_or_else(|_| f64::from(number))
}

/// The output of Arrow's writer for a time, date or duration that is not in any calendar: `ValueFormatter::fmt`, and
/// the `DisplayIndexState` of durations, in arrow-cast's `display.rs`. No other output begins like this.
const NO_TIMES: [&[u8]; 2] = [b"\"ERROR: ", b"\"<invalid>"];

/// Times, dates and durations, which become `null` if they are not in any calendar.
struct Times<'a>(NullableEncoder<'a>);

impl Encoder for Times<'_> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        let start = out.len();
        self.0.encode(row, out);
        if NO_TIMES.iter().any(|words| out[start..].starts_with(words)) {
            out.truncate(start);
            out.extend_from_slice(b"null");
        }
    }
}

/// Times in a named zone. They are written in UTC, because local time would need a table of all zones.
struct UtcTimes<T>(T);

impl<T: Fn(usize) -> Option<String>> Encoder for UtcTimes<T> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        match (self.0)(row) {
            Some(time) => out.extend_from_slice(format!("\"{time}\"").as_bytes()),
            None => out.extend_from_slice(b"null"),
        }
    }
}

/// The time of a row in ISO 8601; `None` if it is not in any calendar.
fn utc_times(array: &dyn Array, unit: TimeUnit) -> Box<dyn Fn(usize) -> Option<String> + '_> {
    fn of<T: ArrowPrimitiveType<Native = i64>>(
        array: &dyn Array,
    ) -> Box<dyn Fn(usize) -> Option<String> + '_> {
        let times = array.as_primitive::<T>();
        Box::new(|row| as_datetime::<T>(times.value(row)).map(|time| format!("{time:?}Z")))
    }
    match unit {
        TimeUnit::Second => of::<TimestampSecondType>(array),
        TimeUnit::Millisecond => of::<TimestampMillisecondType>(array),
        TimeUnit::Microsecond => of::<TimestampMicrosecondType>(array),
        TimeUnit::Nanosecond => of::<TimestampNanosecondType>(array),
    }
}

/// Cells that refer to values of a dictionary, which may itself lack a value.
struct DictionaryCells<'a> {
    keys: Vec<usize>,
    values: NullableEncoder<'a>,
}

impl<'a> DictionaryCells<'a> {
    fn of(field: &'a FieldRef, array: &'a dyn Array) -> Result<DictionaryCells<'a>, ArrowError> {
        // In a table from another program, the keys have not been checked.
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
            _ if out.len() > MAX_RECORD_BYTES => {}
            Some(key) if !self.values.is_null(*key) => self.values.encode(*key, out),
            _ => out.extend_from_slice(b"null"),
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        BinaryArray, BinaryViewArray, Date32Array, Date64Array, DictionaryArray,
        DurationSecondArray, FixedSizeBinaryArray, Float32Array, Float64Array, Int32Array,
        LargeBinaryArray, ListArray, StringArray, StringViewArray, Time32SecondArray,
        TimestampMillisecondArray, TimestampSecondArray, types::Int32Type,
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
        assert_eq!(written(&floats), ["1e+38", "1e-40", "1e+16", "0.1", "null"]);
        let doubles: ArrayRef = Arc::new(Float64Array::from(vec![Some(0.1), None, Some(-0.0)]));
        assert_eq!(written(&doubles), ["0.1", "null", "-0.0"]);
    }

    #[test]
    fn a_number_has_the_text_that_it_has_in_lines_of_json() {
        let numbers = [
            1e10,
            1_234_567_890_123.0,
            1e15,
            1e16,
            1.234_567_890_123_456_8e17,
            1e20,
            1e-5,
            1e-7,
            5e-324,
        ];
        let doubles: ArrayRef = Arc::new(Float64Array::from(numbers.to_vec()));
        assert_eq!(written(&doubles), numbers.map(|number| serde_json::json!(number).to_string()));
        let element = Arc::new(Field::new("element", DataType::Float64, true));
        let offsets = OffsetBuffer::from_lengths([numbers.len()]);
        let lists: ArrayRef = Arc::new(ListArray::new(element, offsets, doubles, None));
        assert_eq!(written(&lists), [serde_json::json!(numbers).to_string()]);
    }

    #[test]
    fn a_value_of_a_dictionary_may_be_none() {
        let keys = Int32Array::from(vec![Some(0), Some(1), None]);
        let values = Arc::new(StringArray::from(vec![Some("a"), None]));
        let column: ArrayRef = Arc::new(DictionaryArray::<Int32Type>::new(keys, values));
        assert_eq!(written(&column), ["\"a\"", "null", "null"]);
    }

    #[test]
    fn bytes_are_a_text_if_they_are_one() {
        let bytes: [&[u8]; 2] = [b"a\"b", "é".as_bytes()];
        let texts = ["\"a\\\"b\"", "\"é\""];
        let columns: [ArrayRef; 3] = [
            Arc::new(BinaryArray::from(bytes.to_vec())),
            Arc::new(LargeBinaryArray::from(bytes.to_vec())),
            Arc::new(BinaryViewArray::from(bytes.to_vec())),
        ];
        for column in columns {
            assert_eq!(written(&column), texts, "{}", column.data_type());
        }
        let fixed = FixedSizeBinaryArray::try_from_iter([b"ab", b"cd"].into_iter()).unwrap();
        assert_eq!(written(&(Arc::new(fixed) as ArrayRef)), ["\"ab\"", "\"cd\""]);
    }

    #[test]
    fn bytes_that_are_no_text_are_null_and_an_error() {
        let bytes: [&[u8]; 3] = [b"a", b"\xff\xfe", b"b"];
        let element = Arc::new(Field::new("element", DataType::Binary, true));
        let bytes = Arc::new(BinaryArray::from(bytes.to_vec()));
        let offsets = OffsetBuffer::from_lengths([3]);
        let lists: ArrayRef = Arc::new(ListArray::new(element, offsets, bytes, None));
        let field = Arc::new(Field::new("x", lists.data_type().clone(), true));
        let mut out = b"before:".to_vec();
        let ended = Cells::of(&field, &lists).unwrap().write(&mut out, 0);
        assert_eq!(ended, Err(CellError::NoText));
        assert_eq!(String::from_utf8(out).unwrap(), r#"before:["a",null,"b"]"#);
    }

    #[test]
    fn times_in_a_zone_with_a_name_are_in_utc() {
        for (zone, written_as) in [
            (None, "\"1970-01-01T00:00:01.500\""),
            (Some("UTC"), "\"1970-01-01T00:00:01.500Z\""),
            (Some("Etc/UTC"), "\"1970-01-01T00:00:01.500Z\""),
            (Some("Europe/Berlin"), "\"1970-01-01T00:00:01.500Z\""),
            (Some("+00:00"), "\"1970-01-01T00:00:01.500Z\""),
            (Some("+02:00"), "\"1970-01-01T02:00:01.500+02:00\""),
        ] {
            let times = TimestampMillisecondArray::from(vec![Some(1500), None]);
            let times: ArrayRef = Arc::new(times.with_timezone_opt(zone));
            assert_eq!(written(&times), [written_as, "null"], "{zone:?}");
        }
    }

    #[test]
    fn times_that_no_calendar_has_are_null() {
        let seconds = || TimestampSecondArray::from(vec![i64::MAX]);
        let columns: [ArrayRef; 7] = [
            Arc::new(seconds()),
            Arc::new(seconds().with_timezone("Europe/Berlin")),
            Arc::new(seconds().with_timezone("+02:00")),
            Arc::new(Date32Array::from(vec![i32::MAX])),
            Arc::new(Date64Array::from(vec![i64::MAX])),
            Arc::new(Time32SecondArray::from(vec![100_000])),
            Arc::new(DurationSecondArray::from(vec![i64::MAX])),
        ];
        for column in columns {
            assert_eq!(written(&column), ["null"], "{}", column.data_type());
        }
    }

    #[test]
    fn a_row_ends_at_its_bound_however_often_a_text_is_in_it() {
        let long = "x".repeat(1 << 20);
        // One text, which is referred to a thousand times.
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
        assert_eq!(cells.write(&mut out, 1), Err(CellError::RowTooLarge));
        assert!(out.len() < MAX_RECORD_BYTES + 2000, "{}", out.len());
    }
}
