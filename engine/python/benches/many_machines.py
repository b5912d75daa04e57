"""The same rows of Parquet scored by the command line and by two actors of a local Ray, one after the other in one run.

Needs Ray (`pip install 'ray[data]'`) beside the package, in a release build, and two idle cores:

    python engine/python/benches/many_machines.py [CASES]

The command reads one file, Ray the same rows in 16, because it gives a file to one actor; both write Parquet. Each scores a tenth of the cases
first: the throughput is that of the rest, so that what a process, Ray's workers and the loading of scorers take once is not in it, and is
printed beside it. The best of three rounds counts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow
import ray
from pyarrow import parquet

import scorebox.ray

EXAMPLE = Path(__file__).resolve().parents[3] / "examples/gsm8k"
SUITE = EXAMPLE / "suite.toml"
#: Scorers of the suite.
SCORERS = 4
PARTS = 16
ROUNDS = 3


def write_cases(folder: Path, cases: int) -> None:
    """The answers of the example, over and over, each under an id of its own: in one file and in sixteen."""
    answers = [json.loads(line) for line in (EXAMPLE / "answers.jsonl").read_text().splitlines()]
    chosen = [answers[number % len(answers)] for number in range(cases)]
    table = pyarrow.table(
        {
            "id": [f"c{number}" for number in range(cases)],
            "output": [answer["output"] for answer in chosen],
            "groundTruth": [answer["groundTruth"] for answer in chosen],
        }
    )
    (folder / "cases").mkdir(parents=True)
    parquet.write_table(table, folder / "cases.parquet", row_group_size=10_000)
    part = -(-cases // PARTS)
    for number in range(PARTS):
        parquet.write_table(table.slice(number * part, part), folder / f"cases/{number}.parquet")


def by_command(folder: Path, name: str) -> None:
    shard = [sys.executable, "-m", "scorebox", "shard", "-q", "-j", "2", str(SUITE)]
    subprocess.run([*shard, str(folder / "cases.parquet"), "-o", str(folder / f"{name}.parquet")], check=True)


def by_ray(folder: Path, name: str) -> None:
    dataset = ray.data.read_parquet(str(folder / "cases")).repartition(target_num_rows_per_block=4096)
    scorebox.ray.score(dataset, SUITE, run_id="bench", actors=2).write_parquet(str(folder / name))


def seconds(score: Callable[[Path, str], None], folder: Path) -> float:
    """The time of the best of the rounds."""
    times = []
    for number in range(ROUNDS):
        began = time.perf_counter()
        score(folder, f"{score.__name__}-{number}")
        times.append(time.perf_counter() - began)
    return min(times)


def compare(folder: Path, cases: int) -> None:
    few, many = folder / "few", folder / "many"
    write_cases(few, cases // 10)
    write_cases(many, cases)
    # Two for the actors, which compute; reading and writing are beside them.
    ray.init(num_cpus=4, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    rates = []
    for name, score in (("scorebox shard -j 2", by_command), ("two actors of Ray", by_ray)):
        first, all_of_them = seconds(score, few), seconds(score, many)
        scores = SCORERS * (cases - cases // 10)
        rates.append(scores / (all_of_them - first))
        start = first - SCORERS * (cases // 10) / rates[-1]
        print(f"{name:20} {rates[-1]:9,.0f} scores a second, {start:6.2f} s to start and end")
    print(f"command / Ray        {rates[0] / rates[1]:9.2f}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        compare(Path(temporary), int(sys.argv[1]) if len(sys.argv) > 1 else 200_000)
