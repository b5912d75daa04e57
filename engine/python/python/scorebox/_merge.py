"""The shards of a run, put together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from . import _scorebox
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
    """

    run_id: str
    cases: int
    shards: int
    repeated: int
    timed_out: int
    root: str | None
    summarized: Sequence[str]


def merge(
    shards: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    db: str | os.PathLike[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    suite: Suite | str | os.PathLike[str] | None = None,
    run_id: str | None = None,
    seed: str | None = None,
    replace: bool = False,
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

    Raises:
        ScoreboxError: A file is not a shard, is damaged or of another run (``"invalid-shard"``); results of one case differ
            (``"different"``; the message names them, and nothing is written); the database has the run already, or
            another merge finished it meanwhile (``"database"``); ``output`` exists, or no shard is named
            (``"invalid-argument"``).
        KeyboardInterrupt: Ctrl-C. There is no file then, and what a database has is continued by the next merge.
    """
    if (db is None) == (output is None):
        raise TypeError("shards are merged into either a db or an output")
    if run_id is not None and suite is None:
        raise TypeError("run_id goes with a suite: shards name their own run")
    if seed is not None and suite is None:
        raise TypeError("seed goes with a suite: shards name their own seed")
    if suite is not None and not isinstance(suite, Suite):
        suite = Suite(suite)
    paths = [shards] if isinstance(shards, (str, os.PathLike)) else list(shards)
    native = suite._native if suite is not None else None
    return Merged(**_scorebox.merge(paths, db, output, native, run_id, replace, seed))
