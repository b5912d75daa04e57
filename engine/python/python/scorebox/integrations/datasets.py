"""Hugging Face datasets: ``dataset.map(score_batch("rouge", columns={"output": "answer"}), batched=True)``.

``map`` may have several processes (``num_proc``): the scorer is loaded again in each, from the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import Source, scorer_of


def score_batch(
    source: Source, *, columns: Mapping[str, str] | None = None, prefix: str = "score", **options: Any
) -> Callable[[Any], dict[str, list[Any]]]:
    """A function for ``Dataset.map(…, batched=True)`` that adds three columns: ``PREFIX`` (float64, or null), and
    ``PREFIX_reason`` and ``PREFIX_error`` (texts, or null).

    Args:
        source: A :class:`scorebox.Scorer`, or a name, path or bytes, with the options of one.
        columns: As in :meth:`scorebox.Scorer.score_table`.
        prefix: What the columns are called.
    """
    native = scorer_of(source, options)

    def score(batch: Any) -> dict[str, list[Any]]:
        import pyarrow

        # A batch is a dictionary in all but name.
        table = batch if isinstance(batch, pyarrow.Table) else pyarrow.table(dict(batch))
        scored = native.score_table(table, columns=columns, jobs=1)
        added = {
            prefix: scored["score"],
            f"{prefix}_reason": scored["reason"],
            f"{prefix}_error": scored["error_message"],
        }
        if table is batch:
            for name, column in added.items():
                table = table.append_column(name, column)
            return table
        return {name: column.to_pylist() for name, column in added.items()}

    return score
