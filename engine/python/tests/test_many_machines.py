"""Tables scored by a whole suite, as the shards of a run have them, and what is put together from them."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
from conftest import MISBEHAVE
from test_scorer import refused

import scorebox

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

SUITE = f"""
[scorers.same]
use = "exact-match"
[scorers.some]
use = "length"
config = {{ max = 1 }}
sampling = {{ type = "ratio", rate = 0.5 }}
[scorers.broken]
use = "{MISBEHAVE}"
config = {{ then = "fail" }}
"""


def table(number: int):
    return pyarrow.table(
        {
            "id": [f"c{count}" for count in range(number)],
            "answer": ["ab" if count % 3 else "a" for count in range(number)],
            "expected": ["a"] * number,
            "metadata": ['{"n": 1}'] * number,
            "left_out": list(range(number)),
        }
    )


def scorebox_command(*arguments: str, folder) -> str:
    command = [sys.executable, "-m", "scorebox", *arguments]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout + ended.stderr


def test_all_scorers_of_a_suite_score_a_table():
    suite = scorebox.Suite(text=SUITE)
    scored = suite.score_table(table(100), columns={"output": "answer"}, run_id="r")
    assert scored.column("id").to_pylist() == [f"c{count}" for count in range(100)]
    rows = scored.to_pylist()
    for count, row in enumerate(rows):
        same, some, broken = row["results"]
        assert [same["scorer"], some["scorer"], broken["scorer"]] == suite.scorer_ids
        assert same["score"] == (0.0 if count % 3 else 1.0)
        assert some["status"] in ("scored", "skipped")
        assert (broken["status"], broken["score"], broken["error_kind"]) == ("error", None, "failed")
    assert rows[1]["case"] == '{"id":"c1","output":"ab","groundTruth":"a","metadata":{"n": 1}}'
    taken = {row["results"][1]["status"] for row in rows}
    assert taken == {"scored", "skipped"}
    assert scored.schema.metadata[b"scorebox.schema"] == b"1"


def test_parts_of_a_run_are_the_rows_of_the_whole():
    suite = scorebox.Suite(text=SUITE)
    whole = suite.score_table(table(60), columns={"output": "answer"})
    again = pickle.loads(pickle.dumps(suite))
    parts = [again.score_table(part, columns={"output": "answer"}) for part in (table(60)[:25], table(60)[25:])]

    def lasting(rows):
        times = ("duration_ms", "scored_at_ms", "memory_bytes")
        for row in rows:
            for result in row["results"]:
                for time in times:
                    del result[time]
        return rows

    assert lasting(whole.to_pylist()) == lasting([row for part in parts for row in part.to_pylist()])


def test_tables_that_are_written_as_parquet_make_a_run(tmp_path):
    suite = scorebox.Suite(text=SUITE)
    for number, part in enumerate((table(60)[:40], table(60)[30:])):
        scored = suite.score_table(part, columns={"output": "answer"}, run_id="r")
        parquet.write_table(scored, tmp_path / f"part-{number}.parquet")
    said = scorebox_command("merge", "part-0.parquet", "part-1.parquet", "--db", "m.db", folder=tmp_path)
    assert "run r with 60 cases of 2 shards" in said and "10 rows are of cases that another shard has" in said
    said = scorebox_command("verify", "--db", "m.db", "--sample", "20", folder=tmp_path)
    assert "20 verified, 0 different, 0 not verifiable" in said


def test_rows_that_are_no_cases_are_refused():
    suite = scorebox.Suite(text="[scorers.exact-match]")
    error = refused(suite.score_table, pyarrow.table({"output": ["a"]}))
    assert error.kind == "invalid-argument" and error.message == "the table has no column `id`"
    ids = pyarrow.table({"id": ["a", None], "output": ["x", "y"]})
    error = refused(suite.score_table, ids)
    assert (error.kind, error.message) == ("invalid-case", "<table>:2: the row has no id")
    numbers = pyarrow.table({"id": ["a"], "output": [float("nan")]})
    assert "NaN" in refused(suite.score_table, numbers).message


def test_an_empty_table_has_the_columns_and_no_rows():
    schema = pyarrow.schema([("id", pyarrow.string()), ("output", pyarrow.string())])
    scored = scorebox.Suite(text="[scorers.exact-match]").score_table(schema.empty_table())
    assert scored.num_rows == 0 and "results" in scored.column_names


def test_a_suite_with_a_judge_is_refused():
    judge = '[judges.default]\nprovider = "openai"\nbase_url = "http://127.0.0.1:1/v1"\nmodel = "m"\n'
    text = judge + '[scorers.rubric]\ngrants = ["judge"]\nconfig = { instructions = "Is it good?" }\n'
    rows = pyarrow.table({"id": ["a"], "output": ["x"]})
    assert "asks a judge" in refused(scorebox.Suite(text=text).score_table, rows).message
