"""A scorer for autoevals, which Braintrust's ``Eval`` takes too: ``Eval(…, scores=[ScoreboxScorer("rouge")])``.

Scores must be 0 to 1 there, so a scorer that gives points is refused when it is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autoevals import Score, Scorer

from .._errors import ScoreboxError
from . import NO_OUTPUT, Source, jsonable, scorer_of


class ScoreboxScorer(Scorer):
    """An autoevals scorer.

    Args:
        source: A :class:`scorebox.Scorer`, or a name, path or bytes, with the options of one.
        name: What its scores are called; the scorer's own id unless something else is said.
    """

    def __init__(self, source: Source, *, name: str | None = None, **options: Any) -> None:
        self._native = scorer_of(source, options)
        must_be_unit(self._native.info.id, self._native.info.scale)
        self._called = name or self._native.info.id

    def _name(self) -> str:
        return self._called

    def _run_eval_sync(self, output: Any, expected: Any = None, **parts: Any) -> Score:
        if output is None:
            return self._no_output()
        return self._of(self._native.score(output, expected, **known(parts)))

    async def _run_eval_async(self, output: Any, expected: Any = None, **parts: Any) -> Score:
        if output is None:
            return self._no_output()
        return self._of(await self._native.ascore(output, expected, **known(parts)))

    def _no_output(self) -> Score:
        return Score(name=self._called, score=None, metadata={"reason": NO_OUTPUT})

    def _of(self, result: Any) -> Score:
        metadata = {"reason": result.reason, "label": result.label, "meta": result.meta, "fuel": result.fuel}
        return Score(
            name=self._called,
            score=result.score,
            metadata={key: value for key, value in metadata.items() if value is not None},
        )


#: What autoevals and Braintrust pass on beside output and expected, as parts of a case.
_PARTS = ("input", "context", "trace", "metadata", "usage", "latency_ms", "output_schema", "baseline")


#: Those in which the frameworks take anything.
_ANYTHING = ("input", "metadata")


def known(parts: dict[str, Any]) -> dict[str, Any]:
    """Those that are parts of a case; frameworks pass more than these."""
    return {
        name: jsonable(value) if name in _ANYTHING else value
        for name, value in parts.items()
        if name in _PARTS and not _is_reference(value)
    }


def _is_reference(value: Any) -> bool:
    """Whether it is where Braintrust's service has a trace, in place of one."""
    return isinstance(value, Mapping) and "trace_ref" in value


def must_be_unit(scorer_id: str, scale: str) -> None:
    """Refuses a scorer whose scores may be more than 1."""
    if scale != "unit":
        advice = "take a scorer whose scale is `unit`, or divide its points in a function of your own"
        raise ScoreboxError("invalid-argument", f"`{scorer_id}` gives points, and a score must be 0 to 1 here", advice)
