"""A Python assertion of promptfoo, in a file of your own::

    # rouge.py; in promptfooconfig.yaml: {type: python, value: file://rouge.py}
    from scorebox.integrations.promptfoo import assertion
    get_assert = assertion("rouge", expected="reference", threshold=0.5)

promptfoo has no assertion without a score: one that does not apply passes with 1, and says so in its reason. An error raises,
which promptfoo reports, and so does a test without an output.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .._errors import ScoreboxError
from . import NO_OUTPUT, Source, jsonable, scorer_of


def assertion(
    source: Source, *, expected: str | None = "expected", threshold: float | None = None, **options: Any
) -> Callable[[Any, Mapping[str, Any]], dict[str, Any]]:
    """The function ``get_assert`` that promptfoo calls with the output and the test's context.

    Args:
        source: A :class:`scorebox.Scorer`, or a name, path or bytes, with the options of one.
        expected: The variable of the test (``vars``) that has the expected output.
        threshold: The score at which the test passes; the scorer's own, or 1, unless something else is said.
    """
    native = scorer_of(source, options)
    info = native.info
    own = info.threshold if info.threshold is not None else 1.0
    limit = threshold if threshold is not None else own

    def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
        if output is None:
            raise ScoreboxError("invalid-input", NO_OUTPUT)
        variables = context.get("vars") or {}
        result = native.score(
            output,
            variables.get(expected) if expected else None,
            input=context.get("prompt"),
            metadata=jsonable(dict(variables)) or None,
            latency_ms=_latency(context),
        )
        if result.score is None:
            return {"pass": True, "score": 1.0, "reason": f"does not apply: {result.reason or info.id}"}
        passes = result.score <= limit if info.direction == "lower-is-better" else result.score >= limit
        return {"pass": passes, "score": result.score, "reason": result.reason or info.name}

    return get_assert


def _latency(context: Mapping[str, Any]) -> float | None:
    response = context.get("providerResponse")
    return response.get("latencyMs") if isinstance(response, Mapping) else None
