"""Hugging Face datasets: ``dataset.map(score_batch("rouge", columns={"output": "answer"}), batched=True)``.

``map`` may have several processes (``num_proc``): the scorer is loaded again in each, from the cache. ``map`` computes again what it
had computed if the scorer is another, such as a script that was edited.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .._errors import ScoreboxError
from .._tables import ColumnsByName
from . import Source, scorer_of


def score_batch(
    source: Source, *, columns: Mapping[str, str] | None = None, prefix: str = "score", **options: Any
) -> Callable[[Any], Any]:
    """A function for ``Dataset.map(…, batched=True)`` that adds three columns: ``PREFIX`` (float64, or null), and
    ``PREFIX_reason`` and ``PREFIX_error`` (texts, or null).

    A dataset in the format of Arrow, Polars or pandas (``dataset.with_format("arrow")``) gets columns of these types. In any other
    format ``map`` takes the type from the first batch: a column of which that has nothing, as errors often are, is of the type
    null, and ``map`` ends with an error once a value comes. Its argument ``features`` names the types then.

    Of other columns than those that are read, nothing is asked for, so that they may have what no case can, such as images.

    Args:
        source: A :class:`scorebox.Scorer`, or a name, path or bytes, with the options of one.
        columns: As in :meth:`scorebox.Scorer.score_table`.
        prefix: What the columns are called.
    """
    native = scorer_of(source, options)

    def score(batch: Any) -> Any:
        import pyarrow

        library = type(batch).__module__.partition(".")[0]
        # A batch of another format is a dictionary in all but name.
        is_table = library in ("pandas", "polars", "pyarrow")
        if not is_table:
            must_be_batch(batch)
        scored = native.score_table(batch if is_table else ColumnsByName(batch), columns=columns, jobs=1)
        if not is_table:
            scored = pyarrow.table(scored)
        added = {
            prefix: scored["score"],
            f"{prefix}_reason": scored["reason"],
            f"{prefix}_error": scored["error_message"],
        }
        # A table in place of a batch has all columns, and not only those that are added.
        if library == "pandas":
            # A column of objects would be of the type null where nothing is in it.
            texts = {name: column.astype("string") for name, column in added.items() if name != prefix}
            return batch.assign(**{**added, **texts})
        if library == "polars":
            return batch.with_columns(**added)
        if library == "pyarrow":
            for name, column in added.items():
                batch = batch.append_column(name, column)
            return batch
        return {name: column.to_pylist() for name, column in added.items()}

    return score


def must_be_batch(passed: Any) -> None:
    """Refuses a single row: a text in it could be taken for a column of letters."""
    if type(passed).__name__ == "LazyRow":
        message = "`score_batch` takes a batch of rows, and `map` gave it a single row"
        raise ScoreboxError("invalid-argument", message, "pass `batched=True` to `map`")
