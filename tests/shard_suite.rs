//! A suite and cases for the tests of shards and their merging, as lines and as tables, and their stored scores.
//! Asserts nothing.

use std::fs;

use crate::fixture::Folder;

/// A plain scorer, one on a sample, one with a condition, one that fails, and one of results.
pub(crate) const SUITE: &str = r#"
version = 1
name = "parts"

[scorers.same]
use = "exact-match"
meta = ["sure"]

[scorers.some]
use = "length"
config = { max = 3 }
sampling = { type = "ratio", rate = 0.5 }

[scorers.english]
use = "contains"
config = { value = "a" }
when = '.metadata.lang == "en"'

[scorers.broken]
use = "./misbehave.wasm"
config = { then = "fail" }

[scorers.sure]
use = "satisfies"
config = { expression = ".output.score == 1" }
"#;

/// This many cases, as lines and as two tables.
pub(crate) fn with_cases() -> Folder {
    let folder = Folder::new();
    folder.write("suite.toml", SUITE);
    let (mut lines, mut tables) = (String::new(), [Vec::new(), Vec::new()]);
    for number in 0..40 {
        let id = format!("case {number}");
        let output = ["a", "ab", "abcde", "\"\u{1f600}\n"][number % 4];
        let lang = if number % 3 == 0 { "en" } else { "de" };
        let skip = (number == 7).then_some("not today");
        let mut case = serde_json::json!({
            "id": id, "nodeId": format!("n{}", number % 2), "output": output, "groundTruth": "ab",
            "metadata": {"lang": lang}, "attempt": number % 2,
        });
        if let Some(why) = skip {
            case["skip"] = why.into();
        }
        lines.push_str(&format!("{case}\n"));
        tables[number / 20].push((id, format!("n{}", number % 2), output, lang, number % 2, skip));
    }
    folder.write("cases.jsonl", lines);
    for (table, rows) in tables.iter().enumerate() {
        let attempts: Vec<String> = rows.iter().map(|row| row.4.to_string()).collect();
        let languages: Vec<String> =
            rows.iter().map(|row| format!(r#"{{"lang":"{}"}}"#, row.3)).collect();
        write_case_table(&folder.path(&format!("in-{table}.parquet")), rows, &attempts, &languages);
    }
    folder
}

type Row<'a> = (String, String, &'a str, &'a str, usize, Option<&'a str>);

fn write_case_table(
    path: &std::path::Path,
    rows: &[Row<'_>],
    attempts: &[String],
    meta: &[String],
) {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};

    let texts = |of: &dyn Fn(&Row<'_>) -> Option<String>| -> ArrayRef {
        Arc::new(StringArray::from_iter(rows.iter().map(of)))
    };
    let columns: [(&str, ArrayRef); 7] = [
        ("id", texts(&|row| Some(row.0.clone()))),
        ("nodeId", texts(&|row| Some(row.1.clone()))),
        ("answer", texts(&|row| Some(row.2.to_owned()))),
        ("expected", texts(&|_| Some("ab".to_owned()))),
        ("metadata", Arc::new(StringArray::from(meta.to_vec()))),
        (
            "attempt",
            Arc::new(Int32Array::from_iter_values(
                attempts.iter().map(|it| it.parse::<i32>().unwrap()),
            )),
        ),
        ("skip", texts(&|row| row.5.map(str::to_owned))),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, true)),
    )
    .unwrap();
    let file = fs::File::create(path).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

pub(crate) const SHARD: &str = "scorebox shard suite.toml --column output=answer --run-id r";

pub(crate) fn with_shards() -> Folder {
    let folder = with_cases();
    for number in 0..2 {
        folder.sh(&format!("{SHARD} in-{number}.parquet -o out-{number}.parquet")).exits_with(0);
    }
    folder
}

/// All stored columns of the scores of a run except times and memory.
pub(crate) fn stored(folder: &Folder, database: &str) -> Vec<String> {
    let database = folder.database(database);
    let mut query = database
        .prepare(
            "SELECT json_array(case_id, node_id, iteration, attempt, scorer_id, status, score, label, reason,
                 meta_json, assertions_json, error_kind, error_message, fuel, input_digest, scorer_digest)
             FROM scores ORDER BY 1",
        )
        .unwrap();
    let rows = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.map(Result::unwrap).collect()
}
