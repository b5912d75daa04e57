"""A suite over files of cases, stored in a database."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from . import _scorebox
from ._arguments import dictionary, least_means, names, number_if_any, path, seed_of, whole_if_any
from ._errors import ScoreboxError
from ._suite import Suite

#: How often the progress is shown, in seconds.
_SHOW = 0.2


class Run(NamedTuple):
    """How a run went.

    Attributes:
        id: The run's id, by which the command ``scorebox`` finds it in the database.
        db: The database.
        cases: Cases whose scores are stored, those of earlier sessions included.
        scores: Rows that this session stored, errors included, and skips not.
        errors: Those among them that are errors.
        bad_cases: Lines that are not valid cases, which were passed over.
        left_out: By file, what of it is no case, and how often: ``{"log.eval": {"events of no sample": 3}}``.
        seconds: How long it took.
        root: One digest of all that is stored of it; ``None`` if it did not end.
        stopped: Why it ended before its last case (``{"kind": …, "message": …}``), or ``None``.
        scorers: For each scorer, by its name in the suite: ``count``, ``mean``, ``min``, ``max``, ``p50``, ``stddev``,
            ``notApplicable``, ``skipped``, ``errors``, ``meanFuel``, ``meanDurationMs``, ``distribution`` and more.
        verdict: How many cases passed and failed, as ``scorebox run --format json`` has it; ``None`` if the scorers of the
            suite only measure.
        passed: Whether ``scorebox run`` would end with the exit code 0: what is required of the run holds, and no score is an
            error, unless ``allow_errors``. By default no case may fail, and each gate must decide one. For a test:
            ``assert ended.passed, str(ended)``.
        verdict_lines: The verdict as the command says it; none if the scorers only measure.
        broken: What is required and does not hold, as the command says it.
        warnings: What else the command warns of that is stored: scorers that were for no case or applied to none, jurors without a
            vote, and a verdict that may not mean what it seems to.
    """

    id: str
    db: str
    cases: int
    scores: int
    errors: int
    bad_cases: int
    seconds: float
    root: str | None
    stopped: Mapping[str, str] | None
    scorers: Mapping[str, Mapping[str, Any]]
    verdict: Mapping[str, Any] | None
    left_out: Mapping[str, Mapping[str, int]] = {}
    passed: bool = False
    verdict_lines: Sequence[str] = ()
    broken: Sequence[str] = ()
    warnings: Sequence[str] = ()

    def __str__(self) -> str:
        lines = [f"run {self.id}: {self.cases} cases, {self.scores} scores, {self.errors} errors, {self.seconds:.1f} s"]
        width = max((len(name) for name in self.scorers), default=0)
        for name, figures in self.scorers.items():
            mean = figures["mean"]
            shown = "-" if mean is None else f"{mean:.4f}"
            lines.append(f"  {name:{width}}  mean {shown}  n {figures['count']}  errors {figures['errors']}")
        lines.extend(self.verdict_lines)
        lines.extend(f"warning: {warning}" for warning in self.warnings)
        lines.extend(f"error: {requirement}" for requirement in self.broken)
        return "\n".join(lines)


def run(
    suite: Suite | str | os.PathLike[str],
    cases: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    db: str | os.PathLike[str] = "scorebox.db",
    run_id: str | None = None,
    resume: str | None = None,
    seed: str | None = None,
    reuse: bool = False,
    mapping: Mapping[str, str] | None = None,
    format: str | None = None,
    on_bad_case: str = "stop",
    strict: bool = False,
    fail_below: Mapping[str, float] | None = None,
    min_pass_rate: float | None = None,
    max_errors: int | None = None,
    allow_idle: str | Sequence[str] = (),
    allow_errors: bool = False,
    progress: bool | Callable[[Mapping[str, Any]], None] | None = None,
) -> Run:
    """Runs a suite over files of cases and stores the scores, as the command ``scorebox run`` does.

    Args:
        suite: A suite, or the path of its file.
        cases: A file of cases, or several: JSON Lines, also compressed with gzip or zstd, or what other tools write (logs
            of Inspect, results of promptfoo, Parquet, CSV, …), which is found out; docs/readers.md lists the formats.
        db: The database file, which is created if it is missing.
        run_id: The run's id; made from the time unless something else is said.
        resume: The id of a run that was interrupted: only what is missing is scored.
        seed: The random seed of sampling: the same seed samples the same cases; that of the suite, or else its name, unless
            something else is said.
        reuse: Whether scores that an earlier run in the database has are copied.
        mapping: Where to find a part in each line, as JSON Pointers: ``{"output": "/response/text"}``; of a table, its
            column: ``{"output": "/answer"}``.
        format: The format of the files (``"parquet"``, ``"inspect-eval"``, …), instead of detecting it.
        on_bad_case: What happens at a line that is not a valid case: ``"stop"`` or ``"skip"``.
        strict: Whether soft scorers with a threshold count as gates.
        fail_below: The least mean of scorers, by their names in the suite; the most if lower is better.
        min_pass_rate: The least pass rate, 0 to 1, instead of every case to pass.
        max_errors: How many scores may be errors, instead of none.
        allow_idle: The names of scorers which can fail a case and may decide none.
        allow_errors: Whether any number of scores may be errors.
        progress: Whether progress is shown on standard error: on a terminal and in a notebook unless something else is
            said; or what is called with it (``casesDone``, ``scoresWritten``, ``errors``, ``bytesRead``, ``bytesTotal``, …)
            five times a second and, with the final figures, at the end.

    Raises:
        ScoreboxError: The run did not start or did not end: what is stored stays, and the message says how to resume. Or it has
            ended and is stored, and a part of ``mapping`` was found in no case (``"invalid-argument"``). A requirement that
            does not hold raises nothing: see ``passed`` and ``broken`` of the result.
        KeyboardInterrupt: Ctrl-C: what is in flight is finished and stored before; a second Ctrl-C drops it. The run can be
            resumed.
    """
    if on_bad_case not in ("stop", "skip"):
        raise ValueError(f"on_bad_case is 'stop' or 'skip', not {on_bad_case!r}")
    show = _show(progress)
    if not isinstance(suite, Suite):
        suite = Suite(suite)
    files, database = _files(cases), path("db", db)
    mapping = dictionary("mapping", mapping, 'such as mapping={"output": "/response/text"}')
    pointers = [f"{part}={pointer}" for part, pointer in mapping.items()]
    running = _scorebox.Running(
        suite._native,
        files,
        database,
        pointers,
        run_id,
        resume,
        reuse,
        on_bad_case == "skip",
        format,
        strict=strict,
        fail_below=least_means(fail_below),
        min_pass_rate=number_if_any("min_pass_rate", min_pass_rate),
        max_errors=whole_if_any("max_errors", max_errors),
        allow_idle=names(allow_idle),
        allow_errors=allow_errors,
        seed=seed_of(seed),
    )
    try:
        while not running.wait(_SHOW):
            if show is not None:
                show(running.progress())
        if show is not None:
            show(running.progress())
    except BaseException:
        # Also if `show` fails: what is in flight is finished and stored.
        running.stop()
        try:
            while not running.wait(_SHOW):
                pass
        except BaseException:
            running.abort()
            raise
        raise
    finally:
        if isinstance(show, _Shown):
            show.end()
    report = running.report()
    assert report is not None, "a run that has ended has a report"
    scorers = {figures["scorerId"]: figures for figures in report["scorers"]}
    so_far = report["progress"]
    ended = Run(
        id=report["runId"],
        db=database,
        cases=so_far["casesDone"] + so_far["casesFinishedBefore"],
        scores=so_far["scoresWritten"],
        errors=so_far["errors"],
        bad_cases=so_far["casesBad"],
        seconds=report["seconds"],
        root=report["root"],
        stopped=report["stopped"],
        scorers=scorers,
        verdict=report["verdict"] if report["decides"] else None,
        left_out={file: dict(counts) for file, counts in report["leftOut"] if counts},
        passed=report["passed"],
        verdict_lines=tuple(report["verdictLines"]),
        broken=tuple(report["broken"]),
        warnings=tuple(report["warnings"]),
    )
    if ended.stopped is not None:
        advice = f"scores so far are kept; continue with `resume={ended.id!r}`"
        raise ScoreboxError(ended.stopped["kind"], ended.stopped["message"], advice)
    running.must_have_found()
    return ended


def _files(cases: Any) -> list[str]:
    """The paths of files of cases."""
    files = [cases] if isinstance(cases, (str, bytes, os.PathLike)) else list(cases)
    for file in files:
        if not isinstance(file, (str, bytes, os.PathLike)):
            message = f"`cases` is the path of a file or a list of paths, not of `{type(file).__name__}`"
            raise ScoreboxError("invalid-argument", message, "`Suite.iter(…, db=…)` scores and stores cases of a program")
    return [path("cases", file) for file in files]


def _show(progress: bool | Callable[[Mapping[str, Any]], None] | None) -> Callable[[Mapping[str, Any]], None] | None:
    """What the progress is shown to, if anything."""
    if callable(progress):
        return progress
    if progress is not None and not isinstance(progress, bool):
        raise TypeError(f"progress is True, False or what is called with it, not {progress!r}")
    # A program without a console has no standard error.
    if sys.stderr is None or progress is False:
        return None
    return _Shown() if progress or sys.stderr.isatty() or "ipykernel" in sys.modules else None


class _Shown:
    """One line that is written over, on a terminal and below a notebook's cell."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._width = 0

    def __call__(self, progress: Mapping[str, Any]) -> None:
        total, read = progress.get("bytesTotal"), progress["bytesRead"]
        share = f"{min(read / total, 1):4.0%} " if total else ""
        rate = progress["scoresWritten"] / max(time.monotonic() - self._began, 1e-9)
        words = f"{share}{progress['casesDone']:,} cases, {progress['scoresWritten']:,} scores, {rate:,.0f} a second"
        if progress["errors"]:
            words += f", {progress['errors']:,} errors"
        self._write(words)

    def end(self) -> None:
        self._write("")

    def _write(self, words: str) -> None:
        sys.stderr.write(f"\r{words:{self._width}}" + ("" if words else "\r"))
        sys.stderr.flush()
        self._width = max(self._width, len(words))
