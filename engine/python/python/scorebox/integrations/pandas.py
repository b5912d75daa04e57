"""Data frames of pandas: ``frame.assign(rouge=score_frame(frame, "rouge", columns={"output": "answer"})["score"])``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import Source, scorer_of


def score_frame(frame: Any, source: Source, *, columns: Mapping[str, str] | None = None, **options: Any) -> Any:
    """The scores of a frame's rows, as a frame with the same index: for ``frame.assign(…)`` or ``pandas.concat(…, axis=1)``.
    ``frame.join(…)`` would repeat rows whose label is there more than once.

    Args:
        frame: A ``pandas.DataFrame``.
        source: A :class:`scorebox.Scorer`, or a name, path or bytes, with the options of one.
        columns: As in :meth:`scorebox.Scorer.score_table`, which lists the columns of the result.
    """
    return scorer_of(source, options).score_table(frame, columns=columns)
