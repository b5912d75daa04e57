//! Parquet files for the tests of shards: tables of texts, and shards that are changed by hand. Knows no command.

use std::{fs::File, path::Path, sync::Arc};

use arrow_array::{
    Array as _, ArrayRef, Float64Array, Int64Array, ListArray, RecordBatch, StringArray,
    StructArray,
    cast::AsArray as _,
    types::{Float64Type, Int64Type},
};
use arrow_schema::{Field, Schema};
use parquet::{
    arrow::{ArrowWriter, arrow_reader::ParquetRecordBatchReaderBuilder},
    file::{metadata::KeyValue, properties::WriterProperties},
};
use scorebox::digest::Digest;
use scorebox_shards::Plan;

/// A table of texts, column by column.
pub(crate) fn write_texts(path: &Path, columns: &[(&str, &[Option<&str>])]) {
    let columns = columns.iter().map(|(name, texts)| {
        (*name, Arc::new(StringArray::from(texts.to_vec())) as ArrayRef, true)
    });
    write(path, &RecordBatch::try_from_iter_with_nullable(columns).unwrap(), &[]);
}

/// A table of ids and a column of numbers.
pub(crate) fn write_numbers(path: &Path, ids: &[&str], numbers: &[f64]) {
    let columns: [(&str, ArrayRef); 2] = [
        ("id", Arc::new(StringArray::from(ids.to_vec()))),
        ("output", Arc::new(Float64Array::from(numbers.to_vec()))),
    ];
    write(path, &RecordBatch::try_from_iter(columns).unwrap(), &[]);
}

fn write(path: &Path, batch: &RecordBatch, metadata: &[KeyValue]) {
    let properties = WriterProperties::builder()
        .set_key_value_metadata((!metadata.is_empty()).then(|| metadata.to_vec()))
        .build();
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

/// A small shard, in memory.
pub(crate) struct Shard {
    pub batch: RecordBatch,
    pub metadata: Vec<KeyValue>,
}

impl Shard {
    pub(crate) fn read(path: &Path) -> Shard {
        let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
        let metadata = builder.metadata().file_metadata().key_value_metadata().unwrap().clone();
        let batches: Vec<RecordBatch> = builder.build().unwrap().map(Result::unwrap).collect();
        let [batch] = &batches[..] else { panic!("one batch") };
        Shard { batch: batch.clone(), metadata }
    }

    /// The value of a key of the file's metadata.
    pub(crate) fn metadata(&mut self, key: &str) -> &mut String {
        let pair = self.metadata.iter_mut().find(|pair| pair.key == key).unwrap();
        pair.value.as_mut().unwrap()
    }

    /// The same with this change to its suite.
    pub(crate) fn of_suite(mut self, change: impl Fn(&str) -> String) -> Shard {
        let plan = self.metadata("scorebox.plan");
        let mut changed: Plan = serde_json::from_str(plan).unwrap();
        changed.suite_json = change(&changed.suite_json);
        changed.suite_digest = Digest::of(changed.suite_json.as_bytes());
        *plan = serde_json::to_string(&changed).unwrap();
        let named = vec![changed.digest().to_string(); self.batch.num_rows()];
        let mut columns = self.batch.columns().to_vec();
        columns[self.batch.schema().index_of("plan").unwrap()] = Arc::new(StringArray::from(named));
        let batch = RecordBatch::try_new(self.batch.schema(), columns).unwrap();
        Shard { batch, metadata: self.metadata }
    }

    /// The same without scorebox's metadata.
    pub(crate) fn without_metadata(self) -> Shard {
        let schema = self.batch.schema().as_ref().clone().with_metadata(Default::default());
        let batch = RecordBatch::try_new(Arc::new(schema), self.batch.columns().to_vec()).unwrap();
        Shard { batch, metadata: Vec::new() }
    }

    pub(crate) fn write(&self, path: &Path) {
        let metadata: Vec<KeyValue> =
            self.metadata.iter().filter(|pair| pair.key != "ARROW:schema").cloned().collect();
        let mut schema = self.batch.schema().metadata().clone();
        for pair in &metadata {
            schema.insert(pair.key.clone(), pair.value.clone().unwrap_or_default());
        }
        let schema = self.batch.schema().as_ref().clone().with_metadata(schema);
        let batch = RecordBatch::try_new(Arc::new(schema), self.batch.columns().to_vec()).unwrap();
        write(path, &batch, &metadata);
    }

    fn results(&self) -> (&ListArray, &StructArray) {
        let list = self.batch.column_by_name("results").unwrap().as_list::<i32>();
        (list, list.values().as_struct())
    }

    fn with_results(&self, fields: Vec<ArrayRef>) -> Shard {
        let (list, results) = self.results();
        let results = StructArray::new(results.fields().clone(), fields, None);
        let Some(element) = element(list) else { panic!("a list") };
        let changed = ListArray::new(element, list.offsets().clone(), Arc::new(results), None);
        let place = self.batch.schema().index_of("results").unwrap();
        let mut columns = self.batch.columns().to_vec();
        columns[place] = Arc::new(changed);
        let batch = RecordBatch::try_new(self.batch.schema(), columns).unwrap();
        Shard { batch, metadata: self.metadata.clone() }
    }

    fn with_field(&self, name: &str, change: impl Fn(&ArrayRef) -> ArrayRef) -> Shard {
        let (_, results) = self.results();
        let of = |(field, column): (&Arc<Field>, &ArrayRef)| match field.name() == name {
            true => change(column),
            false => column.clone(),
        };
        self.with_results(results.fields().iter().zip(results.columns()).map(of).collect())
    }

    /// The same with another score at this index among all results.
    pub(crate) fn with_score(&self, place: usize, score: Option<f64>) -> Shard {
        self.with_field("score", |column| {
            let mut scores: Vec<Option<f64>> =
                column.as_primitive::<Float64Type>().iter().collect();
            scores[place] = score;
            Arc::new(Float64Array::from(scores))
        })
    }

    /// The same with another text in a field of the result at this index.
    pub(crate) fn with_text(&self, name: &str, place: usize, text: &str) -> Shard {
        self.with_field(name, |column| {
            let mut texts: Vec<Option<&str>> = column.as_string::<i32>().iter().collect();
            texts[place] = Some(text);
            Arc::new(StringArray::from(texts))
        })
    }

    /// The same with another number of instructions of the result at this index.
    pub(crate) fn with_fuel(&self, place: usize, fuel: i64) -> Shard {
        self.with_field("fuel", |column| {
            let mut counts: Vec<Option<i64>> = column.as_primitive::<Int64Type>().iter().collect();
            counts[place] = Some(fuel);
            Arc::new(Int64Array::from(counts))
        })
    }

    /// The same with another duration of the result at this index.
    pub(crate) fn with_duration(&self, place: usize, duration: f64) -> Shard {
        self.with_field("duration_ms", |column| {
            let mut times: Vec<Option<f64>> = column.as_primitive::<Float64Type>().iter().collect();
            times[place] = Some(duration);
            Arc::new(Float64Array::from(times))
        })
    }

    /// The same without rows.
    pub(crate) fn without_rows(&self) -> Shard {
        Shard { batch: self.batch.slice(0, 0), metadata: self.metadata.clone() }
    }

    /// The same as if a time-out had ended the result at this index.
    pub(crate) fn timed_out(&self, place: usize) -> Shard {
        let shard = self.with_score(place, None).with_text("status", place, "error");
        shard.with_text("error_kind", place, "timed-out").with_text("error_message", place, "slow")
    }

    /// The same without what depends on the machine: every value of a field of times becomes the same number.
    pub(crate) fn without_times(&self) -> RecordBatch {
        let zero = |column: &ArrayRef| -> ArrayRef {
            match column.as_primitive_opt::<Float64Type>() {
                Some(numbers) => Arc::new(Float64Array::from(vec![0.0; numbers.len()])),
                None => Arc::new(Int64Array::from(vec![0; column.len()])),
            }
        };
        let shard = self.with_field("duration_ms", zero).with_field("scored_at_ms", zero);
        shard.with_field("memory_bytes", zero).batch
    }
}

fn element(list: &ListArray) -> Option<Arc<Field>> {
    match list.data_type() {
        arrow_schema::DataType::List(element) => Some(element.clone()),
        _ => None,
    }
}

/// The Arrow schema of a Parquet file.
pub(crate) fn schema(path: &Path) -> Schema {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    builder.schema().as_ref().clone()
}
