"""Published scorers in Python: they are what the `scorebox.lock` beside a suite says, and nothing is fetched."""

from __future__ import annotations

import hashlib
import shutil

import pytest

import scorebox
from conftest import REPOSITORY

WORD_F1 = REPOSITORY / "tests/guests/dist/word-f1.wasm"
ADDRESS = "registry.example.com/team/word-f1:0.1.0"
SUITE = f'[scorers.words]\nuse = "oci://{ADDRESS}"\n'


def lock(reads: str) -> str:
    digest = hashlib.sha256(WORD_F1.read_bytes()).hexdigest()
    return f"""version = 1

[scorer."{ADDRESS}"]
component = "sha256:{digest}"
manifest = "sha256:{digest}"
contract = "0.1.0"
reads = [{reads}]
imports = ["scorebox:scorer/log@0.1.0", "scorebox:scorer/types@0.1.0"]
grants = []
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A suite with its lock, and the component in the user's folder."""
    monkeypatch.setenv("SCOREBOX_DATA_DIR", str(tmp_path / "data"))
    components = tmp_path / "data/components"
    components.mkdir(parents=True)
    digest = hashlib.sha256(WORD_F1.read_bytes()).hexdigest()
    shutil.copy(WORD_F1, components / f"{digest}.wasm")
    (tmp_path / "suite.toml").write_text(SUITE)
    (tmp_path / "scorebox.lock").write_text(lock('"groundTruth"'))
    return tmp_path


def test_a_published_scorer_is_the_component_that_its_lock_names(folder, monkeypatch):
    suite = scorebox.Suite(folder / "suite.toml")
    case = {"id": "a", "output": "one two", "groundTruth": "one three"}
    [row] = list(suite.iter([case]))
    assert row.score == 0.5
    monkeypatch.chdir(folder)
    scorer = scorebox.Scorer(f"oci://{ADDRESS}")
    assert scorer.score(output="one two", expected="one three").score == 0.5


def test_without_its_lock_or_its_component_it_is_refused(folder):
    (component,) = (folder / "data/components").iterdir()
    component.write_bytes(b"another component")
    with pytest.raises(scorebox.ScoreboxError, match="is damaged"):
        list(scorebox.Suite(folder / "suite.toml").iter([{"output": "one"}]))
    component.unlink()
    with pytest.raises(scorebox.ScoreboxError, match="is not on this machine"):
        list(scorebox.Suite(folder / "suite.toml").iter([{"output": "one"}]))
    (folder / "scorebox.lock").unlink()
    with pytest.raises(scorebox.ScoreboxError, match="is not locked to a component"):
        list(scorebox.Suite(folder / "suite.toml").iter([{"output": "one"}]))


def test_a_lock_that_was_edited_by_hand_is_refused(folder):
    (folder / "scorebox.lock").write_text(lock(""))
    with pytest.raises(scorebox.ScoreboxError, match="is not what it is locked as") as raised:
        list(scorebox.Suite(folder / "suite.toml").iter([{"output": "one"}]))
    assert raised.value.kind == "invalid-suite"
    (folder / "scorebox.lock").write_text("version = 1\n<<<<<<< HEAD\n")
    (folder / "cases.jsonl").write_text('{"id": "a", "output": "one"}\n')
    with pytest.raises(scorebox.ScoreboxError, match="is not a valid lock: line 2"):
        scorebox.run(folder / "suite.toml", folder / "cases.jsonl", db=folder / "scorebox.db")
