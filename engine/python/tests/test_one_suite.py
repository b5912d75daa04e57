"""A suite is one suite for as long as it is there: in another folder, in another process, and when its files change."""

from __future__ import annotations

import multiprocessing
import os
import pickle

import pytest
from conftest import printed_by
from test_scorer import refused

import scorebox

CASE = {"id": "a", "output": "x"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a suite whose script says 1, and another one where the same names say 0."""
    for name, score in (("here", 1), ("there", 0)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "grade.js").write_text(f"export default () => {score};")
        (tmp_path / name / "suite.toml").write_text('[scorers.grade]\nuse = "./grade.js"\n')
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def edit(folder):
    (folder / "here/grade.js").write_text("export default () => 0;")


def made(kind: str) -> scorebox.Suite:
    return scorebox.Suite("suite.toml") if kind == "file" else scorebox.Suite(text='[scorers.grade]\nuse = "./grade.js"\n')


def scores(suite: scorebox.Suite) -> list[float | None]:
    return [row.score for row in suite.iter([CASE])]


def scores_of(pickled: bytes) -> list[float | None]:
    return scores(pickle.loads(pickled))


def test_a_suite_is_the_same_however_its_path_is_written(folder):
    spelled = ["suite.toml", "./suite.toml", "../here/suite.toml", str(folder / "here/suite.toml")]
    suites = [scorebox.Suite(path) for path in spelled]
    assert len({suite.digest for suite in suites}) == len({suite.default_run_id for suite in suites}) == 1


@pytest.mark.parametrize("kind", ["file", "text"])
def test_the_files_of_a_suite_are_where_they_were_when_it_was_made(folder, kind):
    suite = made(kind)
    os.chdir(folder / "there")
    assert scores(suite) == [1.0] and suite.scorer("grade").score("x").score == 1.0
    assert scores_of(pickle.dumps(suite)) == [1.0]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(scores_of, (pickle.dumps(suite),)) == [1.0]


def test_the_folders_of_configure_are_where_they_were_when_it_was_called(tmp_path):
    printed = printed_by(
        """
        import os
        import scorebox
        scorebox.configure(cache_dir="compiled")
        os.mkdir("other")
        os.chdir("other")
        scorebox.Scorer("exact-match")
        print(os.listdir(), os.listdir("../compiled") != [])
        """,
        folder=tmp_path,
    )
    assert printed == "[] True\n"


@pytest.mark.parametrize("kind", ["file", "text"])
def test_a_script_that_was_edited_makes_no_other_suite_of_a_pickled_one(folder, kind):
    never_loaded, loaded = made(kind), made(kind)
    scores(loaded)
    pickled = [pickle.dumps(suite) for suite in (never_loaded, loaded)]
    edit(folder)
    for one in pickled:
        error = refused(pickle.loads, one)
        assert error.kind == "changed" and "`grade`" in error.message
    assert refused(scores, never_loaded).kind == "changed", "what was pickled is what it is"


def test_what_is_loaded_goes_on_and_whatever_loads_it_again_is_refused(folder):
    pyarrow = pytest.importorskip("pyarrow")
    suite = made("file")
    assert scores(suite) == [1.0]
    edit(folder)
    assert scores(suite) == [1.0]
    (folder / "cases.jsonl").write_text('{"output": "x"}\n')
    table = pyarrow.table({"id": ["a"], "output": ["x"]})
    for again in (
        lambda: suite.scorer("grade"),
        lambda: suite.score_table(table),
        lambda: scorebox.run(suite, folder / "cases.jsonl", db=folder / "scorebox.db", progress=False),
    ):
        assert refused(again).kind == "changed"
    assert scores(made("file")) == [0.0]


def test_a_forked_process_refuses_a_suite_that_changed(folder):
    printed = printed_by(
        """
        import os
        import scorebox
        suite = scorebox.Suite("suite.toml")
        cases = [{"output": "x"}]
        print([row.score for row in suite.iter(cases)], flush=True)
        open("grade.js", "w").write("export default () => 0;")
        child = os.fork()
        if child == 0:
            try:
                print([row.score for row in suite.iter(cases)], flush=True)
            except scorebox.ScoreboxError as error:
                print(error.kind, flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        print([row.score for row in suite.iter(cases)])
        """,
        folder=folder / "here",
    )
    assert printed.splitlines() == ["[1.0]", "changed", "[1.0]"]
