"""Arguments of another kind than a function takes: the error names them, and comes before any work."""

from __future__ import annotations

import pyarrow
import pytest
from test_scorer import refused

import scorebox

ONE = "[scorers.exact-match]\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.toml").write_text(ONE)
    (tmp_path / "cases.jsonl").write_text('{"output": "a", "expected": "a"}\n')


@pytest.mark.parametrize(
    ("jobs", "message"),
    [
        (0, "`jobs` must be at least 1"),
        ("2", "`jobs` is a whole number, not `str`"),
        (1.5, "`jobs` is a whole number, not `float`"),
        (2**70, "`jobs` must be at most 9223372036854775807"),
    ],
)
def test_a_number_of_jobs_is_a_whole_number(same, jobs, message):
    table = pyarrow.table({"id": ["a"], "output": ["a"], "expected": ["a"]})
    suite = scorebox.Suite(text=ONE)
    assert refused(same.score_table, table, jobs=jobs).message == message
    assert refused(suite.score_table, table, jobs=jobs).message == message
    assert refused(suite.iter, [], in_flight=jobs).message == message.replace("jobs", "in_flight")
    assert refused(scorebox.configure, jobs=jobs).kind == "invalid-argument"


def test_a_requirement_is_a_number(files):
    for required, message in [
        ({"fail_below": {"exact-match": "1"}}, "`fail_below['exact-match']` is a number, not `str`"),
        ({"min_pass_rate": "1"}, "`min_pass_rate` is a number, not `str`"),
        ({"max_errors": 1.5}, "`max_errors` is a whole number, not `float`"),
        ({"fail_below": {"exact-match": 10**400}}, "`fail_below['exact-match']` is too large a number"),
    ]:
        error = refused(scorebox.run, "suite.toml", "cases.jsonl", progress=False, **required)
        assert (error.kind, error.message) == ("invalid-argument", message)
    assert refused(scorebox.Scorer, "exact-match", timeout="5").message == "`timeout` is a number, not `str`"


def test_a_path_is_a_text_or_a_path(files):
    for function, arguments, options, name in [
        (scorebox.run, ("suite.toml", b"cases.jsonl"), {}, "cases"),
        (scorebox.run, ("suite.toml", ["cases.jsonl", b"more.jsonl"]), {}, "cases"),
        (scorebox.run, ("suite.toml", "cases.jsonl"), {"db": b"scorebox.db"}, "db"),
        (scorebox.Suite, (b"suite.toml",), {}, "path"),
        (scorebox.Suite(text=ONE).iter, ([],), {"db": b"scorebox.db"}, "db"),
        (scorebox.merge, (b"shards",), {"db": "scorebox.db"}, "shards"),
        (scorebox.merge, ("shards",), {"output": b"run.parquet"}, "output"),
    ]:
        error = refused(function, *arguments, **options)
        assert error.message == f"`{name}` is a path as a text or a `pathlib.Path`, not `bytes`"
        assert error.advice == "`os.fsdecode` makes a text of it"


def test_no_files_have_no_cases(files):
    assert refused(scorebox.run, "suite.toml", []).kind == "unreadable"
