//! The seal of a shard: a digest in its footer of all that its rows and its plan say, in the order of the rows. A file
//! that a machine, a disk or a network changed on its way does not have it. It is no signature: who changes a shard can
//! change the seal as well.

use std::io::Write as _;

use arrow_array::{Array as _, ArrayRef, RecordBatch, cast::AsArray as _};
use arrow_schema::DataType;
use parquet::file::metadata::{FileMetaData, KeyValue};
use scorebox::digest::{Digest, Digesting};
use serde::{Deserialize, Serialize};

use crate::{
    cell,
    schema::{CREATED_BY, INPUT_KEY, Kind, ResultField, RowColumn},
};

/// The key of a file's metadata with its seal, as JSON.
const SEAL_KEY: &str = "scorebox.seal";
/// The version of what the digest is of: another one where a column comes or goes.
const SEAL_VERSION: u32 = 1;

/// A seal as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seal {
    version: u32,
    digest: Digest,
}

impl Seal {
    /// The seal of a file; `None` if it has none of this version. Another program that reads a shard and writes other
    /// rows may copy the metadata, so a seal counts only in a file that scorebox wrote.
    pub(crate) fn of(file: &FileMetaData) -> Option<Seal> {
        file.created_by().filter(|writer| *writer == CREATED_BY)?;
        let seal: Seal = serde_json::from_str(stored(file, SEAL_KEY)?).ok()?;
        (seal.version == SEAL_VERSION).then_some(seal)
    }

    /// The same as a pair of a file's metadata.
    pub(crate) fn pair(self) -> KeyValue {
        // Made of numbers and texts, which cannot fail.
        KeyValue::new(SEAL_KEY.to_owned(), serde_json::to_string(&self).unwrap_or_default())
    }
}

/// The input that a file says it was made of, as JSON.
pub(crate) fn input_of(file: &FileMetaData) -> Option<&str> {
    stored(file, INPUT_KEY)
}

fn stored<'f>(file: &'f FileMetaData, key: &str) -> Option<&'f str> {
    let pair = file.key_value_metadata()?.iter().find(|pair| pair.key == key)?;
    pair.value.as_deref()
}

/// A seal in the making, while rows are written or read.
#[derive(Debug)]
pub(crate) struct Sealing {
    digesting: Digesting,
    /// The bytes of a row, which is digested as a whole.
    row: Vec<u8>,
}

impl Sealing {
    /// That of a file with this plan, made of this input.
    pub(crate) fn begin(plan: &str, input: Option<&str>) -> Sealing {
        let mut sealing = Sealing { digesting: Digesting::default(), row: Vec::new() };
        sealing.put_text(Some(plan));
        sealing.put_text(input);
        sealing.end_row();
        sealing
    }

    /// Adds the rows of a batch; columns that results do not have do not count.
    ///
    /// # Errors
    /// What is missing, in words.
    pub(crate) fn add(&mut self, batch: &RecordBatch) -> Result<(), String> {
        let named = |name: &str| {
            batch.column_by_name(name).ok_or_else(|| format!("there is no column `{name}`"))
        };
        let columns = RowColumn::ALL.map(|it| named(it.name()).map(|column| (it.kind(), column)));
        let columns = columns.into_iter().collect::<Result<Vec<_>, _>>()?;
        let (results, offsets) = elements(named("results")?)?;
        for (row, bounds) in offsets.windows(2).enumerate() {
            let of_row = bounds[0]..bounds[1];
            columns.iter().for_each(|(kind, column)| self.put(*kind, column, row));
            self.row.extend_from_slice(&(of_row.len() as u64).to_le_bytes());
            for at in of_row {
                results.iter().for_each(|(kind, column)| self.put(*kind, column, at));
            }
            self.end_row();
        }
        Ok(())
    }

    /// The seal of all that was added.
    pub(crate) fn finish(self) -> Seal {
        Seal { version: SEAL_VERSION, digest: self.digesting.finish() }
    }

    /// A cell, as the reading of rows has it.
    fn put(&mut self, kind: Kind, column: &ArrayRef, row: usize) {
        match kind {
            Kind::Text => self.put_text(cell::text_at(column, row)),
            Kind::Integer => self.put_number(cell::integer_at(column, row).map(i64::to_le_bytes)),
            Kind::Number => self.put_number(cell::number_at(column, row).map(f64::to_le_bytes)),
        }
    }

    fn put_text(&mut self, text: Option<&str>) {
        self.row.push(u8::from(text.is_some()));
        if let Some(text) = text {
            self.row.extend_from_slice(&(text.len() as u64).to_le_bytes());
            self.row.extend_from_slice(text.as_bytes());
        }
    }

    fn put_number(&mut self, number: Option<[u8; 8]>) {
        self.row.push(u8::from(number.is_some()));
        self.row.extend(number.into_iter().flatten());
    }

    fn end_row(&mut self) {
        // Never fails.
        let _ = self.digesting.write_all(&self.row);
        self.row.clear();
    }
}

/// The fields of all results of a batch.
type Fields<'a> = Vec<(Kind, &'a ArrayRef)>;

/// The fields of all results of a batch, and where those of each row begin and end among them.
fn elements(results: &ArrayRef) -> Result<(Fields<'_>, Vec<usize>), String> {
    let place = |offset: i64| usize::try_from(offset).unwrap_or_default();
    let (values, offsets): (&ArrayRef, Vec<usize>) = match results.data_type() {
        DataType::List(_) => {
            let list = results.as_list::<i32>();
            (list.values(), list.value_offsets().iter().map(|it| place((*it).into())).collect())
        }
        DataType::LargeList(_) => {
            let list = results.as_list::<i64>();
            (list.values(), list.value_offsets().iter().map(|it| place(*it)).collect())
        }
        other => return Err(format!("`results` is not a list but {other}")),
    };
    let all = values.as_struct_opt().ok_or("`results` is not a list of structures")?;
    let field = |field: ResultField| {
        let name = field.name();
        let column = all.column_by_name(name);
        Ok((field.kind(), column.ok_or_else(|| format!("`results` has no field `{name}`"))?))
    };
    let fields = ResultField::ALL.into_iter().map(field).collect::<Result<_, String>>()?;
    Ok((fields, offsets))
}
