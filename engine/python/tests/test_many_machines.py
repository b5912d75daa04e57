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


def written(folder, *parts, run_id="r", text=SUITE):
    """Shards of the parts, as files of one folder."""
    folder.mkdir(exist_ok=True)
    suite = scorebox.Suite(text=text)
    for number, part in enumerate(parts):
        scored = suite.score_table(part, columns={"output": "answer"}, run_id=run_id)
        parquet.write_table(scored, folder / f"part-{number}.parquet")
    return folder


def test_shards_are_merged_as_the_command_does_it(tmp_path):
    shards = written(tmp_path / "scores", table(60)[:40], table(60)[30:])
    merged = scorebox.merge(shards, db=tmp_path / "m.db")
    assert (merged.run_id, merged.cases, merged.shards, merged.repeated, merged.timed_out) == ("r", 60, 2, 10, 0)
    said = scorebox_command("merge", "scores", "--db", "command.db", folder=tmp_path)
    assert "run r with 60 cases of 2 shards" in said
    assert len(merged.root) == 64 and list(merged.summarized) == []
    again = refused(scorebox.merge, shards, db=tmp_path / "m.db")
    assert again.kind == "database" and "`r`" in again.message
    assert again.advice == "the run is finished; name another database"

    one = tmp_path / "run.parquet"
    as_file = scorebox.merge(sorted(shards.iterdir()), output=one)
    assert (as_file.cases, as_file.root) == (60, None) and parquet.read_table(one).num_rows == 60
    there = refused(scorebox.merge, shards, output=one)
    assert there.kind == "invalid-argument" and "replace=True" in there.advice
    assert scorebox.merge(one, output=one, replace=True).cases == 60
    link = tmp_path / "link.parquet"
    link.symlink_to(one.name)
    assert scorebox.merge(one, output=link, replace=True).cases == 60 and link.is_symlink()
    link.unlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["command.db", "m.db", "run.parquet", "scores"]


def test_shards_without_their_plan_are_merged_with_the_suite(tmp_path):
    shards = written(tmp_path / "scores", table(20))
    part = shards / "part-0.parquet"
    parquet.write_table(parquet.read_table(part).replace_schema_metadata(None), part)
    lacking = refused(scorebox.merge, shards, db=tmp_path / "m.db")
    assert lacking.kind == "invalid-shard" and "suite=" in lacking.advice
    merged = scorebox.merge(shards, db=tmp_path / "m.db", suite=scorebox.Suite(text=SUITE), run_id="r")
    assert (merged.run_id, merged.cases) == ("r", 20)


def test_the_seed_of_shards_without_their_plan_is_named(tmp_path):
    shards = written(tmp_path / "scores", table(20), text='seed = "5"\n' + SUITE)
    part = shards / "part-0.parquet"
    suite = scorebox.Suite(text=SUITE)
    assert scorebox.merge(shards, output=tmp_path / "own.parquet", suite=suite, seed="5").cases == 20
    other = refused(scorebox.merge, shards, output=tmp_path / "no.parquet", suite=suite, seed="6")
    assert other.kind == "invalid-shard" and "the seed is `5`, not `6`" in other.message
    parquet.write_table(parquet.read_table(part).replace_schema_metadata(None), part)
    without = refused(scorebox.merge, shards, db=tmp_path / "m.db", suite=suite, run_id="r")
    assert without.kind == "invalid-shard" and "`seed`" in without.advice
    assert scorebox.merge(shards, db=tmp_path / "m.db", suite=suite, run_id="r", seed="5").cases == 20
    with pytest.raises(TypeError, match="seed goes with a suite"):
        scorebox.merge(shards, db=tmp_path / "m.db", seed="5")


REQUIRED = f"""
[scorers.same]
use = "exact-match"
severity = "gate"
threshold = 1
[scorers.soft]
use = "exact-match"
threshold = 1
[scorers.broken]
use = "{MISBEHAVE}"
config = {{ then = "fail" }}
"""


@pytest.mark.parametrize(
    ("required", "options", "passed"),
    [
        ({"min_pass_rate": 0.3}, ["--min-pass-rate", "0.3"], True),
        ({"min_pass_rate": 0.5}, ["--min-pass-rate", "0.5"], False),
        ({"min_pass_rate": 0, "fail_below": {"soft": 0.5}}, ["--min-pass-rate", "0", "--fail-below", "soft=0.5"], False),
        ({"min_pass_rate": 0, "max_errors": 20}, ["--min-pass-rate", "0", "--max-errors", "20"], True),
        ({"min_pass_rate": 0, "max_errors": 19}, ["--min-pass-rate", "0", "--max-errors", "19"], False),
        ({"strict": True}, ["--strict"], False),
        ({"allow_idle": "same"}, ["--allow-idle", "same"], False),
    ],
)
def test_what_is_required_of_merged_shards_is_what_the_options_of_the_command_require(tmp_path, required, options, passed):
    shards = written(tmp_path / "scores", table(20), text=REQUIRED)
    merged = scorebox.merge(shards, db=tmp_path / "m.db", **required)
    command = [sys.executable, "-m", "scorebox", "merge", "scores", "--db", "command.db", *options]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert merged.passed is passed and ran.returncode == (0 if passed else 3), ran.stderr
    said = [line.removeprefix("error: ") for line in ran.stderr.splitlines() if line.startswith("error: ")]
    assert list(merged.broken) == said and bool(said) is not passed
    assert merged.verdict_lines and all(line in ran.stderr for line in merged.verdict_lines)
    assert merged.verdict["passed"] == 7 and len(merged.root) == 64


def test_merged_shards_of_which_nothing_is_required_are_not_decided(tmp_path):
    shards = written(tmp_path / "scores", table(20), text=REQUIRED)
    merged = scorebox.merge(shards, db=tmp_path / "m.db")
    assert (merged.passed, merged.verdict, merged.broken, merged.warnings) == (None, None, (), ())
    measured = written(tmp_path / "measured", table(20))
    merged = scorebox.merge(measured, db=tmp_path / "measured.db", strict=True)
    assert merged.passed and merged.verdict is None
    assert list(merged.warnings) == ["`strict` changes nothing: no scorer decides whether a case passes"]


def test_what_cannot_be_required_of_shards_is_refused_before_anything_is_written(tmp_path):
    shards = written(tmp_path / "scores", table(20), text=REQUIRED)
    for required, kind, message in [
        ({"fail_below": {"none": 0.5}}, "unknown-scorer", "the run has no scorer `none`"),
        ({"fail_below": {"same": 2}}, "invalid-argument", "`fail_below` of `same` is 2: the scores of `same` are from 0 to 1"),
        ({"min_pass_rate": 2}, "invalid-argument", "`min_pass_rate` is 2: not a number from 0 to 1"),
        ({"expect_shards": 0}, "invalid-argument", "`expect_shards` is 0: not a number from 1 to 10000000"),
        ({"expect_shards": 3}, "invalid-shard", "1 shard is there, and 3 are expected"),
    ]:
        error = refused(scorebox.merge, shards, db=tmp_path / "m.db", **required)
        assert (error.kind, error.message) == (kind, message)
    assert error.advice == "nothing was written; missing: part-1.parquet, part-2.parquet"
    with pytest.raises(TypeError, match="go with a db"):
        scorebox.merge(shards, output=tmp_path / "run.parquet", min_pass_rate=0.5)
    assert [path.name for path in tmp_path.iterdir()] == ["scores"]
    merged = scorebox.merge(shards, output=tmp_path / "run.parquet", expect_shards=1)
    assert (merged.cases, list(merged.warnings)) == (20, [])


def test_a_copy_and_an_old_merge_do_not_stand_for_a_missing_shard(tmp_path):
    shards = written(tmp_path / "scores", table(60)[:40], table(60)[40:])
    old = tmp_path / "old.parquet"
    scorebox.merge(shards, output=old)
    copy = tmp_path / "copy.parquet"
    copy.write_bytes((shards / "part-0.parquet").read_bytes())
    for one in (shards / "part-0.parquet", copy, old):
        error = refused(scorebox.merge, [shards, one], db=tmp_path / "m.db", expect_shards=3)
        assert error.kind == "invalid-shard" and error.message.startswith("2 shards are there, and 3 are expected")
        assert error.advice == "nothing was written; missing: part-2.parquet"
    stands = scorebox.merge([old, shards / "part-1.parquet"], output=tmp_path / "run.parquet", expect_shards=2)
    assert list(stands.warnings) == [f"`{old}` was merged from shards, and counts as one"]


def test_shards_that_do_not_fit_together_are_refused(tmp_path):
    shards = written(tmp_path / "scores", table(20))
    other = written(tmp_path / "other", table(20), run_id="another")
    mixed = refused(scorebox.merge, [shards, other], output=tmp_path / "run.parquet")
    assert mixed.kind == "invalid-shard" and "are not of one run" in mixed.message
    (other / "part-0.parquet").write_bytes((shards / "part-0.parquet").read_bytes()[:-100])
    assert refused(scorebox.merge, [shards, other], output=tmp_path / "run.parquet").kind == "invalid-shard"
    (tmp_path / "empty").mkdir()
    assert refused(scorebox.merge, tmp_path / "empty", db=tmp_path / "m.db").kind == "unreadable"
    assert refused(scorebox.merge, tmp_path / "nowhere", db=tmp_path / "m.db").kind == "unreadable"
    none = refused(scorebox.merge, [], db=tmp_path / "m.db")
    assert (none.kind, none.message) == ("invalid-argument", "no shard is named") and "a folder" in none.advice
    with pytest.raises(TypeError, match="either a db or an output"):
        scorebox.merge(shards)


def test_results_that_differ_are_named_and_nothing_is_written(tmp_path):
    shards = written(tmp_path / "scores", table(3), table(3))
    part = shards / "part-1.parquet"
    rows = parquet.read_table(part)
    changed = rows.to_pylist()
    changed[0]["results"][0]["score"] = 0.75
    parquet.write_table(pyarrow.Table.from_pylist(changed, schema=rows.schema), part)
    differs = refused(scorebox.merge, shards, db=tmp_path / "m.db")
    assert differs.kind == "different" and "nothing was written" in differs.advice
    summary, line = differs.message.splitlines()
    assert summary == "1 result differs between shards of one run"
    assert line.startswith("case `c0`, `same`: 1 (") and ", 0.75 (" in line
    assert not (tmp_path / "m.db").exists()


def test_rows_that_are_no_cases_are_refused():
    suite = scorebox.Suite(text="[scorers.exact-match]")
    error = refused(suite.score_table, pyarrow.table({"output": ["a"]}))
    assert error.kind == "invalid-argument" and error.message == "the table has no column `id`"
    ids = pyarrow.table({"id": ["a", None], "output": ["x", "y"]})
    error = refused(suite.score_table, ids)
    assert (error.kind, error.message) == ("invalid-case", "<table>:2: the row has no id")
    numbers = pyarrow.table({"id": ["a"], "output": [1], "attempt": [-1]})
    message = refused(suite.score_table, numbers).message
    assert "attempt" in message and message.count("<table>") == 1


def test_an_empty_table_has_the_columns_and_no_rows():
    schema = pyarrow.schema([("id", pyarrow.string()), ("output", pyarrow.string())])
    scored = scorebox.Suite(text="[scorers.exact-match]").score_table(schema.empty_table())
    assert scored.num_rows == 0 and "results" in scored.column_names


def test_a_suite_with_a_judge_is_refused():
    judge = '[judges.default]\nprovider = "openai"\nbase_url = "http://127.0.0.1:1/v1"\nmodel = "m"\n'
    text = judge + '[scorers.rubric]\ngrants = ["judge"]\nconfig = { instructions = "Is it good?" }\n'
    rows = pyarrow.table({"id": ["a"], "output": ["x"]})
    assert "asks a judge" in refused(scorebox.Suite(text=text).score_table, rows).message
