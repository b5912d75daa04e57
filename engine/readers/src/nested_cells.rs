//! Writes cells that contain many values: lists, maps and runs, and cells without any bytes. A few bytes in memory may
//! become a thousand million values in a row, so writing a cell ends where its row reaches its limit.

use std::ops::Range;

use arrow_array::{
    Array, ArrayRef, ListLikeArray, MapArray, RunArray,
    cast::AsArray as _,
    types::{Int16Type, Int32Type, Int64Type, RunEndIndexType},
};
use arrow_json::{Encoder, EncoderOptions, writer::NullableEncoder};
use arrow_schema::{ArrowError, DataType, FieldRef};

use crate::record::MAX_RECORD_BYTES;

/// The encoder of these cells, with `options` for their content; `None` if each cell is one value.
pub(crate) fn nested<'a>(
    field: &'a FieldRef,
    array: &'a dyn Array,
    options: &'static EncoderOptions,
) -> Result<Option<NullableEncoder<'a>>, ArrowError> {
    let encoder = match array.data_type() {
        DataType::List(_) => list(field, array.as_list::<i32>(), options),
        DataType::LargeList(_) => list(field, array.as_list::<i64>(), options),
        DataType::ListView(_) => list(field, array.as_list_view::<i32>(), options),
        DataType::LargeListView(_) => list(field, array.as_list_view::<i64>(), options),
        DataType::FixedSizeList(..) => list(field, array.as_fixed_size_list(), options),
        DataType::Map(..) => map(field, array.as_map(), options),
        DataType::RunEndEncoded(ends, _) => {
            let runs = match ends.data_type() {
                DataType::Int16 => runs::<Int16Type>(field, array, options),
                DataType::Int32 => runs::<Int32Type>(field, array, options),
                _ => runs::<Int64Type>(field, array, options),
            };
            return runs.map(|encoder| Some(NullableEncoder::new(encoder, None)));
        }
        DataType::Null => return Ok(Some(NullableEncoder::new(Box::new(NoValues), None))),
        _ => return Ok(None),
    };
    encoder.map(|encoder| Some(NullableEncoder::new(encoder, array.nulls().cloned())))
}

/// Cells without a value. They take no bytes in memory, so their null buffer does not list them either.
struct NoValues;

impl Encoder for NoValues {
    fn encode(&mut self, _: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(b"null");
    }
}

/// Writes values as the elements of a list or the members of a map, until the row exceeds its limit.
fn write_each(
    elements: Range<usize>,
    out: &mut Vec<u8>,
    mut write: impl FnMut(usize, &mut Vec<u8>),
) {
    let start = elements.start;
    for element in elements {
        if out.len() > MAX_RECORD_BYTES {
            return;
        }
        if element != start {
            out.push(b',');
        }
        write(element, out);
    }
}

fn write_value(encoder: &mut NullableEncoder<'_>, row: usize, out: &mut Vec<u8>) {
    match encoder.is_null(row) {
        true => out.extend_from_slice(b"null"),
        false => encoder.encode(row, out),
    }
}

struct Lists<'a, L> {
    lists: &'a L,
    elements: NullableEncoder<'a>,
}

fn list<'a, L: ListLikeArray>(
    field: &'a FieldRef,
    lists: &'a L,
    options: &'static EncoderOptions,
) -> Result<Box<dyn Encoder + 'a>, ArrowError> {
    let elements = arrow_json::writer::make_encoder(field, lists.values().as_ref(), options)?;
    Ok(Box::new(Lists { lists, elements }))
}

impl<L: ListLikeArray> Encoder for Lists<'_, L> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        out.push(b'[');
        write_each(self.lists.element_range(row), out, |element, out| {
            write_value(&mut self.elements, element, out);
        });
        out.push(b']');
    }
}

struct Maps<'a> {
    maps: &'a MapArray,
    keys: NullableEncoder<'a>,
    values: NullableEncoder<'a>,
}

/// The encoder of maps; it refuses the maps that Arrow's writer refuses.
fn map<'a>(
    field: &'a FieldRef,
    maps: &'a MapArray,
    options: &'static EncoderOptions,
) -> Result<Box<dyn Encoder + 'a>, ArrowError> {
    let no_members = |why: &str| Err(ArrowError::JsonError(format!("a map has {why}")));
    let of = |column: &'a ArrayRef| arrow_json::writer::make_encoder(field, column, options);
    let kind = maps.keys().data_type();
    if !matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) {
        return no_members(&format!("keys that are not text: {kind}"));
    }
    if maps.keys().null_count() + maps.entries().null_count() > 0 {
        return no_members("members without a key");
    }
    Ok(Box::new(Maps { maps, keys: of(maps.keys())?, values: of(maps.values())? }))
}

impl Encoder for Maps<'_> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        let offset = |row: usize| self.maps.value_offsets()[row] as usize;
        let members = offset(row)..offset(row + 1);
        out.push(b'{');
        write_each(members, out, |member, out| {
            self.keys.encode(member, out);
            out.push(b':');
            write_value(&mut self.values, member, out);
        });
        out.push(b'}');
    }
}

struct Runs<'a, R: RunEndIndexType> {
    runs: &'a RunArray<R>,
    values: NullableEncoder<'a>,
}

/// The runs state which rows have no value: a null buffer would have a bit for each row, and there may be any number of
/// rows.
fn runs<'a, R: RunEndIndexType>(
    field: &'a FieldRef,
    array: &'a dyn Array,
    options: &'static EncoderOptions,
) -> Result<Box<dyn Encoder + 'a>, ArrowError> {
    let runs = array.as_run::<R>();
    let values = arrow_json::writer::make_encoder(field, runs.values().as_ref(), options)?;
    Ok(Box::new(Runs { runs, values }))
}

impl<R: RunEndIndexType> Encoder for Runs<'_, R> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        write_value(&mut self.values, self.runs.get_physical_index(row), out);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        Int32Array, ListArray, ListViewArray, NullArray, StringArray, StructArray,
        builder::{Int32Builder, MapBuilder, StringBuilder},
    };
    use arrow_buffer::{OffsetBuffer, ScalarBuffer};
    use arrow_schema::Field;

    use super::*;
    use crate::cells::{CellError, Cells};

    /// What is written for the first rows, and how it ended.
    fn written(column: impl Array + 'static) -> (Vec<u8>, Result<(), CellError>) {
        let column: ArrayRef = Arc::new(column);
        let field = Arc::new(Field::new("x", column.data_type().clone(), true));
        let mut cells = Cells::of(&field, &column).unwrap();
        let mut out = Vec::new();
        let ended = (0..column.len()).try_for_each(|row| cells.write(&mut out, row));
        (out, ended)
    }

    fn text(column: impl Array + 'static) -> String {
        let (out, ended) = written(column);
        assert_eq!(ended, Ok(()));
        String::from_utf8(out).unwrap()
    }

    fn nulls(count: usize) -> (FieldRef, ArrayRef) {
        (Arc::new(Field::new("element", DataType::Null, true)), Arc::new(NullArray::new(count)))
    }

    #[test]
    fn lists_maps_and_runs_are_as_arrow_writes_them() {
        let numbers = vec![Some(vec![Some(1), None]), None, Some(vec![])];
        let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(numbers);
        assert_eq!(text(lists), "[1,null]null[]");
        let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
        maps.keys().append_value("a\"");
        maps.values().append_value(1);
        maps.keys().append_value("b");
        maps.values().append_null();
        maps.append(true).unwrap();
        maps.append(false).unwrap();
        assert_eq!(text(maps.finish()), "{\"a\\\"\":1,\"b\":null}null");
        let values = StringArray::from(vec![Some("x"), None]);
        let runs = RunArray::<Int32Type>::try_new(&Int32Array::from(vec![2, 3]), &values).unwrap();
        assert_eq!(text(runs), "\"x\"\"x\"null");
        assert_eq!(text(NullArray::new(2)), "nullnull");
    }

    #[test]
    fn a_list_of_nothing_ends_at_the_bound_of_a_row() {
        let (element, values) = nulls(1 << 30);
        let lists = ListArray::new(element, OffsetBuffer::from_lengths([1 << 30]), values, None);
        let (out, ended) = written(lists);
        assert_eq!(ended, Err(CellError::RowTooLarge));
        assert!(out.len() < MAX_RECORD_BYTES + 100, "{}", out.len());
    }

    #[test]
    fn lists_that_share_their_elements_end_at_the_bound_of_a_row() {
        let (element, values) = nulls(1 << 20);
        let rows = 1000;
        let views = ListViewArray::new(
            element,
            ScalarBuffer::from(vec![0; rows]),
            ScalarBuffer::from(vec![1 << 20; rows]),
            values,
            None,
        );
        let member = Arc::new(Field::new("member", views.data_type().clone(), true));
        let structs = StructArray::new(vec![member].into(), vec![Arc::new(views)], None);
        let element = Arc::new(Field::new("element", structs.data_type().clone(), true));
        let offsets = OffsetBuffer::from_lengths([rows]);
        let (out, ended) = written(ListArray::new(element, offsets, Arc::new(structs), None));
        assert_eq!(ended, Err(CellError::RowTooLarge));
        assert!(out.len() < MAX_RECORD_BYTES + 100, "{}", out.len());
    }

    #[test]
    fn rows_of_runs_are_not_counted_out() {
        let values = StringArray::from(vec![Some("x"), None]);
        let ends = arrow_array::Int64Array::from(vec![1, 1 << 50]);
        let runs: ArrayRef = Arc::new(RunArray::<Int64Type>::try_new(&ends, &values).unwrap());
        let field = Arc::new(Field::new("x", runs.data_type().clone(), true));
        let mut cells = Cells::of(&field, &runs).unwrap();
        let mut out = Vec::new();
        assert_eq!(cells.write(&mut out, (1 << 50) - 1), Ok(()));
        assert_eq!(out, b"null");
    }
}
