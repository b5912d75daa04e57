"""Datasets of Ray, on a local Ray: actors and drivers that are killed. Left out unless Ray is installed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

if os.environ.get("SCOREBOX_FRAMEWORKS") != "all":
    pytest.importorskip("ray.data")
from conftest import Program
from test_many_machines import scorebox_command

CASES = 4000
SUITE = '[scorers.same]\nuse = "exact-match"\n[scorers.words]\nuse = "token-f1"\n'

#: What a user's program does: cases of Parquet files, scored by two actors, written as Parquet.
PROGRAM = """
import os, sys
import ray
import scorebox.ray
{before}
ray.init(num_cpus=4, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
cases = ray.data.read_parquet("cases", override_num_blocks=16)
scored = scorebox.ray.score(
    cases, "suite.toml", run_id="r", columns={{"output": "answer"}}, actors=2, batch_size=50
)
scored.write_parquet("scores")
print("written")
"""


def with_cases(folder: Path) -> Path:
    import pyarrow
    from pyarrow import parquet

    (folder / "suite.toml").write_text(SUITE)
    (folder / "cases").mkdir()
    for part in range(8):
        numbers = range(part * CASES // 8, (part + 1) * CASES // 8)
        table = pyarrow.table(
            {
                "id": [f"c{number}" for number in numbers],
                "answer": [f"the answer is {number % 7}" for number in numbers],
                "expected": [f"the answer is {number % 5}" for number in numbers],
            }
        )
        parquet.write_table(table, folder / f"cases/part-{part}.parquet")
    return folder


def merged(folder: Path) -> list[tuple[str, str]]:
    """The scores of the run, as (case, scorer)."""
    import sqlite3

    said = scorebox_command("merge", "scores", "--db", "m.db", folder=folder)
    assert f"run r with {CASES:,} cases" in said
    with sqlite3.connect(folder / "m.db") as database:
        return database.execute("SELECT case_id, scorer_id FROM scores WHERE status = 'scored'").fetchall()


def each_once(rows: list[tuple[str, str]]) -> None:
    counts = Counter(rows)
    assert set(counts.values()) == {1}
    assert set(counts) == {(f"c{number}", scorer) for number in range(CASES) for scorer in ("same", "words")}


def test_an_actor_that_is_killed_within_a_batch_loses_and_repeats_nothing(tmp_path):
    folder = with_cases(tmp_path)
    # The first actor that scores a tenth batch dies within it, once.
    before = '''
score_table = scorebox.Suite.score_table
def dying(self, table, **options):
    self.calls = getattr(self, "calls", 0) + 1
    if self.calls == 10:
        try:
            os.close(os.open("died", os.O_CREAT | os.O_EXCL))
            os._exit(1)
        except FileExistsError:
            pass
    return score_table(self, table, **options)
def actor(self, batch):
    return dying(self._suite, batch, columns=self._columns, run_id=self._run_id, jobs=self._jobs)
scorebox.ray._Actor.__call__ = actor
import ray.cloudpickle
ray.cloudpickle.register_pickle_by_value(scorebox.ray)
os.chdir(sys.argv[1])
'''.replace('"died"', repr(str(folder / "died")))
    code, printed, complained = Program(PROGRAM.format(before=before), str(folder), folder=folder).end()
    assert code == 0 and "written" in printed, complained
    assert (folder / "died").exists()
    each_once(merged(folder))


def test_a_driver_that_is_killed_and_run_again_scores_each_case_once(tmp_path):
    folder = with_cases(tmp_path)
    program = [sys.executable, "-c", PROGRAM.format(before="")]
    killed = subprocess.Popen(program, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    scores = folder / "scores"
    while not (scores.is_dir() and any(path.suffix == ".parquet" for path in scores.iterdir())):
        try:
            killed.wait(timeout=0.02)
            pytest.fail("it ended before it was killed")
        except subprocess.TimeoutExpired:
            pass
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    before = len(list(scores.glob("*.parquet")))
    code, printed, complained = Program(PROGRAM.format(before=""), folder=folder).end()
    assert code == 0 and "written" in printed, complained
    assert len(list(scores.glob("*.parquet"))) > before >= 1
    each_once(merged(folder))
    said = scorebox_command("merge", "scores", "-o", "all.parquet", folder=folder)
    assert "rows are of cases that another shard has" in said
