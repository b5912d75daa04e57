"""An evaluator for LangSmith: ``evaluate(target, data=…, evaluators=[scorebox_evaluator("rouge")])``.

LangSmith calls an evaluator by the names of its arguments. The output is the key ``output`` of the outputs, or their only
value; the expected output likewise of the reference outputs. A run that failed, or that has no output, has no score, and the
comment says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langsmith.evaluation import EvaluationResult

from .._errors import ScoreboxError
from . import NO_OUTPUT, Source, jsonable, scorer_of


def scorebox_evaluator(
    source: Source,
    *,
    key: str | None = None,
    output: str | None = None,
    expected: str | None = None,
    input: str | None = None,
    **options: Any,
) -> Callable[..., EvaluationResult]:
    """An evaluator.

    Args:
        source: A :class:`scorebox.Scorer`, or a name, path or bytes, with the options of one.
        key: What its scores are called; the scorer's own id unless something else is said.
        output: The key of the outputs that has the output.
        expected: The key of the reference outputs that has the expected output.
        input: The key of the inputs that has the input.
    """
    native = scorer_of(source, options)
    called = key or native.info.id

    def evaluate(
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Any] | None,
        reference_outputs: Mapping[str, Any] | None = None,
        run: Any = None,
    ) -> EvaluationResult:
        failure = failure_of(run)
        answer = part("output", outputs, output, "output") if failure is None else None
        if answer is None:
            return EvaluationResult(key=called, score=None, comment=failure or NO_OUTPUT)
        result = native.score(
            answer,
            part("expected", reference_outputs, expected, "output", "expected", "answer"),
            input=jsonable(part("input", inputs, input, "input")),
        )
        return EvaluationResult(key=called, score=result.score, comment=result.reason, value=result.label)

    evaluate.__name__ = called
    return evaluate


def part(argument: str, values: Mapping[str, Any] | None, named: str | None, *usual: str) -> Any:
    """The value under the key that the argument names, or a usual one; else the only one, else all of them."""
    if not values:
        return None
    if named is not None:
        if named not in values:
            there = ", ".join(f"`{key}`" for key in values)
            message = f"`{argument}` names the key `{named}`, which is not there"
            raise ScoreboxError("invalid-argument", message, f"the keys are {there}")
        return values[named]
    for key in usual:
        if key in values:
            return values[key]
    return next(iter(values.values())) if len(values) == 1 else dict(values)


def failure_of(run: Any) -> str | None:
    """Why the run has no output, if it failed: the first line of its error, which is a traceback."""
    error = getattr(run, "error", None)
    return f"the run failed: {str(error).strip().partition(chr(10))[0]}" if error else None
