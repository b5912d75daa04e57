"""What a type checker sees of the package: each line must be accepted. Checked by mypy, and not run."""

from __future__ import annotations

from typing import Any

import scorebox
from scorebox import Merged, Rows, Run, Score, Scorer, ScorerInfo, Suite


async def awaited(scorer: Scorer) -> Score:
    return await scorer.ascore("a", expected="b", latency_ms=1.5)


def typed() -> None:
    scorer = Scorer("rouge", config={"variant": "L"}, timeout=5.0, fuel=10, memory="1MiB", grants=["wasi"])
    info: ScorerInfo = scorer.info
    threshold: float | None = info.threshold
    result: Score = scorer.score(output="a", expected="b", input={"c": 1}, usage={"totalTokens": 3})
    score: float | None = result.score
    named: list[str] = [assertion["name"] for assertion in result.assertions]
    rows: Rows = Suite("suite.toml").iter([{"output": 1}], db="scorebox.db", in_flight=10)
    cases: list[str | None] = [row.case_id for row in rows]
    with Suite("suite.toml").iter(['{"output": 1}'], on_bad_case="skip") as closed:
        first: Score = next(closed)
    kinds: list[str] = [row.error.kind for row in rows if row.error is not None]
    ended: Run = scorebox.run("suite.toml", ["log.eval"], db="scorebox.db", format="inspect-eval", progress=lambda so_far: None)
    required: Run = scorebox.run(
        "suite.toml", "cases.jsonl", strict=True, fail_below={"rouge": 0.5}, min_pass_rate=0.9, max_errors=3, allow_idle=["gate"], allow_errors=True, seed="5"
    )
    broken: list[str] = list(required.broken)
    scores: Any = Suite("suite.toml").score_table(rows, columns={"output": "answer"}, run_id="r", jobs=2)
    merged: Merged = scorebox.merge(["scores"], db="scorebox.db", suite=Suite("suite.toml"), run_id="r", seed="5", expect_shards=3)
    decided: Merged = scorebox.merge(
        "scores", db="scorebox.db", strict=True, fail_below={"rouge": 0.5}, min_pass_rate=0.9, max_errors=3, allow_idle="gate"
    )
    passed: bool | None = decided.passed
    noted: list[str] = [*decided.broken, *decided.verdict_lines, *decided.warnings, *required.warnings]
    root: str | None = merged.root
    try:
        print(threshold, score, first, named, cases, kinds, broken, scores, root, passed, noted, ended.scorers["rouge"]["mean"], scorebox.scorers()["rouge"])
    except scorebox.ScoreboxError as error:
        print(error.kind, error.message, error.advice)
    scorebox.configure(jobs=2, memory_budget="1GiB")
