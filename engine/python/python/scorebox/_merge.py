"""The shards of a run, put together."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from . import _scorebox
from ._arguments import least_means, names, number_if_any, path, path_if_any, seed_of, whole_if_any
from ._suite import Suite


class Merged(NamedTuple):
    """What shards were put together to.

    Attributes:
        run_id: The run that they are parts of.
        cases: How many cases it has, each counted once.
        shards: How many files were read.
        repeated: Rows of cases that another shard has, with the same results.
        timed_out: Results that a time-out ended, and that were taken from another shard.
        root: One digest of all that is stored of the run; ``None`` if the output is a file.
        summarized: The scorers that were asked about all cases of the run; none if the output is a file.
        passed: Whether what is required of the run holds, so that ``scorebox merge`` would end with the exit code 0; ``None`` if
            nothing is required.
        verdict: How many cases passed and failed, as in :class:`scorebox.Run`; ``None`` if nothing is required, or if the scorers
            only measure.
        verdict_lines: The verdict as the command says it.
        broken: What is required and does not hold, as the command says it.
        warnings: Why the verdict may not mean what it seems to, if something is required; and with ``expect_shards``, which of
            the files were merged from shards and count as one each.
    """

    run_id: str
    cases: int
    shards: int
    repeated: int
    timed_out: int
    root: str | None
    summarized: Sequence[str]
    passed: bool | None = None
    verdict: Mapping[str, Any] | None = None
    verdict_lines: Sequence[str] = ()
    broken: Sequence[str] = ()
    warnings: Sequence[str] = ()


def merge(
    shards: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    db: str | os.PathLike[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    suite: Suite | str | os.PathLike[str] | None = None,
    run_id: str | None = None,
    seed: str | None = None,
    replace: bool = False,
    expect_shards: int | None = None,
    strict: bool = False,
    fail_below: Mapping[str, float] | None = None,
    min_pass_rate: float | None = None,
    max_errors: int | None = None,
    allow_idle: str | Sequence[str] = (),
) -> Merged:
    """Puts the shards of a run together, each case once, as the command ``scorebox merge`` does.

    All must be of one run: one suite, the same components, one version of scorebox. A case that several shards have must have
    the same results in each; a result that a time-out ended is taken from another shard.

    Args:
        shards: Parquet files that ``scorebox shard`` or a data engine wrote, or folders of such files.
        db: Stores the run in this database, as if one machine had scored it. A merge that was interrupted is continued by
            the same call.
        output: Writes one Parquet file in place of that, which is a shard of the same run.
        suite: The suite, for files that a data engine wrote without the plan that they were scored with.
        run_id: With ``suite``: the run that the shards are parts of; made of the suite unless something else is said.
        seed: With ``suite``: the seed that the shards were scored with, if it was an option of ``scorebox shard``.
        replace: Whether an ``output`` that exists is replaced.
        expect_shards: How many shards there must be, each with a case that no other one brings: a shard does not know how many
            others there are.
        strict: With ``db``, as the following: whether soft scorers with a threshold count as gates. If any of these is
            named, the verdict of the stored run is in the result, and gates must decide and let pass each case.
        fail_below: The least mean of scorers, by their names in the suite; the most if lower is better.
        min_pass_rate: The least pass rate, 0 to 1, instead of every case to pass.
        max_errors: How many scores may be errors, instead of any number: errors are rows here.
        allow_idle: The names of scorers which can fail a case and may decide none.

    Raises:
        ScoreboxError: A file is not a shard, is damaged or of another run, or there are not ``expect_shards`` of them
            (``"invalid-shard"``); results of one case differ
            (``"different"``; the message names them, and nothing is written); the database has the run already, or
            another merge finished it meanwhile (``"database"``); ``output`` exists, no shard is named, or a number cannot be
            required (``"invalid-argument"``); the run has no such scorer (``"unknown-scorer"``). A requirement that does not
            hold raises nothing: see ``passed`` and ``broken`` of the result.
        KeyboardInterrupt: Ctrl-C. There is no file then, and what a database has is continued by the next merge.
    """
    if (db is None) == (output is None):
        raise TypeError("shards are merged into either a db or an output")
    if run_id is not None and suite is None:
        raise TypeError("run_id goes with a suite: shards name their own run")
    if seed is not None and suite is None:
        raise TypeError("seed goes with a suite: shards name their own seed")
    is_any_required = strict or fail_below or allow_idle or min_pass_rate is not None or max_errors is not None
    if is_any_required and db is None:
        raise TypeError("requirements such as min_pass_rate go with a db: a file of shards has no verdict")
    if suite is not None and not isinstance(suite, Suite):
        suite = Suite(suite)
    named = [shards] if isinstance(shards, (str, bytes, os.PathLike)) else list(shards)
    native = suite._native if suite is not None else None
    merged = _scorebox.merge(
        [path("shards", shard) for shard in named],
        path_if_any("db", db),
        path_if_any("output", output),
        native,
        run_id,
        replace,
        seed_of(seed),
        whole_if_any("expect_shards", expect_shards),
        strict=strict,
        fail_below=least_means(fail_below),
        min_pass_rate=number_if_any("min_pass_rate", min_pass_rate),
        max_errors=whole_if_any("max_errors", max_errors),
        allow_idle=names(allow_idle),
    )
    return Merged(**merged)
