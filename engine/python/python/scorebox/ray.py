"""Scores of a Ray Data dataset, on as many machines as Ray has. Importing this imports Ray."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import ray.data  # type: ignore[import-not-found,import-untyped,unused-ignore]

from ._suite import Suite

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped,unused-ignore]


def score(
    dataset: ray.data.Dataset,
    suite: Suite | str | os.PathLike[str],
    *,
    run_id: str | None = None,
    columns: Mapping[str, str] | None = None,
    actors: int | tuple[int, int] = (1, 1024),
    jobs: int = 1,
    batch_size: int = 1024,
    **options: Any,
) -> ray.data.Dataset:
    """Scores each row of a dataset with all scorers of a suite, in actors that load the scorers once.

    The result is lazy, as every dataset: ``scored.write_parquet(folder)`` computes it, with Ray's progress bars. Ray repeats a
    batch whose actor died, and a program that is run again scores again what it had scored; ``scorebox merge FOLDER`` then has
    each case once, and says where two results of one case differ.

    Args:
        dataset: Rows with an ``id`` of their own and what the scorers read, such as the output of ``ray.data.llm``.
        suite: A suite, or the path of its file. The actors read the file again, so it must be at the same path on each
            machine, as must the components that are files; an actor that finds another suite there is refused
            (``"changed"``). A suite that was made of a text brings the text with it.
        run_id: The run that the scores belong to: the same whenever the program is run again. Made of the suite's name
            and digest unless something else is said.
        columns: Which column is which part of a case, by the keys of a case line: ``{"output": "generated_text"}``.
        actors: How many actors there are, or at least and at most.
        jobs: Scores that each actor computes at once, and the cores that Ray reserves for it.
        batch_size: Rows that an actor is given at once.
        options: What else ``Dataset.map_batches`` takes, such as ``memory`` or ``ray_remote_args``.

    Returns:
        A dataset with a wide row for each row; :meth:`scorebox.Suite.score_table` says what it has.

    Raises:
        ScoreboxError: The suite is not valid, or asks a judge. What is wrong with a row ends the dataset when it is computed.
    """
    if not isinstance(suite, Suite):
        suite = Suite(suite)
    least, most = actors if isinstance(actors, tuple) else (actors, actors)
    mapped = dict(columns) if columns is not None else None
    return dataset.map_batches(
        _Actor,
        fn_constructor_args=(suite, run_id or suite.default_run_id, mapped, jobs),
        batch_format="pyarrow",
        batch_size=batch_size,
        compute=ray.data.ActorPoolStrategy(min_size=least, max_size=most),
        num_cpus=jobs,
        **options,
    )


class _Actor:
    """A suite whose scorers are loaded, in a process of its own."""

    def __init__(self, suite: Suite, run_id: str, columns: Mapping[str, str] | None, jobs: int) -> None:
        self._suite = suite
        self._run_id = run_id
        self._columns = columns
        self._jobs = jobs

    def __call__(self, batch: pyarrow.Table) -> pyarrow.Table:
        return self._suite.score_table(batch, columns=self._columns, run_id=self._run_id, jobs=self._jobs)
