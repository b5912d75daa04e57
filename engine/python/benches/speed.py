"""What a score costs from Python: one call and a table, in one run on the case and scorer that the engine's own bench has.

Compare numeric-answer with the row `isolated_without_signals` of the engine's loop, which is the same engine, measured just before or after on
the same machine:

    cargo bench --profile dist --workspace --bench isolation -- isolated
    python engine/python/benches/speed.py
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path

import pyarrow

import scorebox

ANSWERS = Path(__file__).resolve().parents[3] / "examples/gsm8k/answers.jsonl"
ROUNDS = 15


def microseconds(work, scores: int) -> str:
    """Time and processor time of one score: the median of the rounds."""
    rounds = []
    for _ in range(ROUNDS):
        began = time.perf_counter(), time.process_time()
        work()
        rounds.append(((time.perf_counter() - began[0]) / scores, (time.process_time() - began[1]) / scores))
    wall, processor = (statistics.median(figures) * 1e6 for figures in zip(*rounds, strict=True))
    return f"{wall:8.2f} us, {processor:8.2f} us of processor time"


def main(scores: int) -> None:
    scorebox.configure(jobs=1)
    case = json.loads(ANSWERS.read_text().splitlines()[0])
    output, expected = case["output"], case["groundTruth"]
    table = pyarrow.table({"output": [output] * scores, "expected": [expected] * scores})
    for name in ("numeric-answer", "exact-match"):
        scorer = scorebox.Scorer(name)

        def calls(scorer=scorer):
            for _ in range(scores):
                scorer.score(output, expected)

        print(f"{name}, one call   {microseconds(calls, scores)}")
        print(f"{name}, a table    {microseconds(lambda scorer=scorer: scorer.score_table(table), scores)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
