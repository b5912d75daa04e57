"""Writes the tables beside it, once: pip install datasets pandas polars pyarrow. The rows are made up."""
import datetime

import datasets
import pandas
import polars
import pyarrow

rows = pandas.DataFrame(
    {
        "question": ["2+2?", "3+3?", "What is in \"the box\"?\nSay it."],
        "output": ["4", "the answer is 7", None],
        "expected": ["4", "6", "nothing"],
        "latencyMs": [12.5, float("nan"), 3.0],
        "metadata": ['{"topic": "sums"}', '{"topic": "sums"}', None],
    }
)
rows.to_csv("answers.csv", index=False)
rows["documents"] = [["sums.txt"], [], None]
rows.to_parquet("answers.parquet", index=False)
table = pyarrow.Table.from_pandas(rows, preserve_index=False)
for name, make, compression in [
    ("answers.arrow", pyarrow.ipc.new_file, None),
    ("answers.arrows", pyarrow.ipc.new_stream, None),
    ("compressed.arrow", pyarrow.ipc.new_file, "lz4"),
]:
    options = pyarrow.ipc.IpcWriteOptions(compression=compression)
    with pyarrow.OSFile(name, "wb") as out, make(out, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=2)
data = datasets.Dataset.from_pandas(rows, preserve_index=False)
datasets.DatasetDict({"train": data.select([0, 1]), "test": data.select([2])}).save_to_disk("dataset")
at = datetime.datetime(2026, 11, 24, tzinfo=datetime.timezone.utc)
polars.DataFrame(
    {"output": ["4", "7", "5"], "expected": ["4", "6", "5"], "at": [at, at, at]}
).write_ipc("polars.arrow")
