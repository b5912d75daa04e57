"""A scorer for Braintrust's ``Eval`` that needs nothing but Braintrust: ``Eval(…, scores=[scorebox_scorer("rouge")])``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from braintrust import Score

from . import NO_OUTPUT, Source, jsonable, scorer_of


def scorebox_scorer(source: Source, *, name: str | None = None, **options: Any) -> Callable[..., Score]:
    """A function that Braintrust calls with ``input``, ``output``, ``expected`` and ``metadata``.

    Args:
        source: A :class:`scorebox.Scorer`, or a name, path or bytes, with the options of one. Its scores must be 0 to 1.
        name: What its scores are called; the scorer's own id unless something else is said.
    """
    native = scorer_of(source, options)
    if native.info.scale != "unit":
        raise ValueError(f"`{native.info.id}` gives points, and Braintrust takes scores from 0 to 1")
    called = name or native.info.id

    def score(input: Any = None, output: Any = None, expected: Any = None, metadata: Any = None, **_: Any) -> Score:
        if output is None:
            return Score(name=called, score=None, metadata={"reason": NO_OUTPUT})
        result = native.score(output, expected, input=jsonable(input), metadata=jsonable(metadata or None))
        details = {"reason": result.reason, "label": result.label, "meta": result.meta, "fuel": result.fuel}
        details = {key: value for key, value in details.items() if value is not None}
        return Score(name=called, score=result.score, metadata=details)

    score.__name__ = called
    return score
