"""Bundles in Python: a suite in one file has its scorers with it, and needs nothing of the machine that it was made on."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

import scorebox
from test_locks import folder

CASES = '{"id": "a", "output": "one two", "groundTruth": "one three"}\n'
CASE = {"id": "a", "output": "one two", "groundTruth": "one three"}


@pytest.fixture
def bundle(folder, monkeypatch):
    """A bundle alone in a folder, on a machine where nothing was fetched."""
    there = folder / "there"
    there.mkdir()
    command = [sys.executable, "-m", "scorebox", "bundle", str(folder / "suite.toml"), "-o", str(there / "suite.tar")]
    subprocess.run(command, check=True)
    monkeypatch.setenv("SCOREBOX_DATA_DIR", str(there / "none"))
    return there / "suite.tar"


def test_a_bundle_is_a_suite_that_brings_its_scorers(bundle):
    suite = scorebox.Suite(bundle)
    [row] = list(suite.iter([CASE]))
    assert row.score == 0.5
    assert suite.scorer("words").score(output="one two", expected="one three").score == 0.5
    [row] = list(pickle.loads(pickle.dumps(suite)).iter([CASE]))
    assert row.score == 0.5
    (bundle.parent / "cases.jsonl").write_text(CASES)
    ended = scorebox.run(bundle, bundle.parent / "cases.jsonl", db=bundle.parent / "scorebox.db")
    assert ended.cases == 1


def test_what_is_no_bundle_is_an_exception(bundle):
    bundle.write_bytes(bundle.read_bytes()[:20_000])
    with pytest.raises(scorebox.ScoreboxError, match="is not a valid bundle: it is cut off") as raised:
        scorebox.Suite(bundle)
    assert raised.value.kind == "invalid-suite"
    bundle.write_text("[scorers.contains]")
    with pytest.raises(scorebox.ScoreboxError, match="it is not a tar file"):
        scorebox.Suite(str(bundle))
