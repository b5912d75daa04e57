"""A metric for DeepEval: ``assert_test(test_case, [ScoreboxMetric("rouge", threshold=0.5)])``.

A score that does not apply is left out of DeepEval's results. In a run that is not asynchronous DeepEval leaves out nothing that
was measured: there it passes, without a score. A test case that lacks its output, or what the scorer compares it with, lacks a
parameter in DeepEval's sense, too.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics import BaseMetric

from .._errors import ScoreboxError
from . import Source, jsonable, scorer_of

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What a test case calls the parts of a case; the first that has a value counts.
_PARAMETERS = {
    "groundTruth": ("expected_output",),
    "input": ("input",),
    "context": ("retrieval_context", "context"),
    "trace": ("tools_called",),
    "metadata": ("metadata",),
    "latencyMs": ("completion_time",),
    "usage": ("input_token_count", "output_token_count", "token_cost"),
}


class ScoreboxMetric(BaseMetric):
    """A DeepEval metric.

    Args:
        source: A :class:`scorebox.Scorer`, or a name, path or bytes, with the options of one.
        threshold: The score at which a test case passes; the scorer's own, or 0.5, unless something else is said.
        name: What the metric is called; the scorer's own name unless something else is said.
    """

    def __init__(self, source: Source, *, threshold: float | None = None, name: str | None = None, **options: Any) -> None:
        self._native = scorer_of(source, options)
        # DeepEval copies a metric by the attributes that are called as the arguments of its class.
        self.source = self._native
        self.name = name
        info = self._native.info
        own = info.threshold if info.threshold is not None else 0.5
        self.threshold = threshold if threshold is not None else own
        self._lower_is_better = info.direction == "lower-is-better"
        self._called = name or info.name
        self.async_mode = True
        self.strict_mode = False
        self.include_reason = True
        self.evaluation_model = None
        self.evaluation_cost = None
        self.score = None
        self.reason = None
        self.success = None
        self.skipped = False
        self.error = None

    def measure(self, test_case: Any, *_: Any, **__: Any) -> float | None:
        """Scores a test case; ``None``, and skipped, if the scorer does not apply."""
        with self._measuring(test_case):
            self._take(self._native.score(**_parts(test_case)))
        return self.score

    async def a_measure(self, test_case: Any, *_: Any, **__: Any) -> float | None:
        """The same without holding up the event loop."""
        with self._measuring(test_case):
            self._take(await self._native.ascore(**_parts(test_case)))
        return self.score

    def is_successful(self) -> bool:
        """Whether the score is on the right side of the threshold, or the scorer does not apply."""
        return self.skipped or bool(self.success)

    @contextmanager
    def _measuring(self, test_case: Any) -> Iterator[None]:
        """Forgets the test case before, and reports what this one lacks as DeepEval does."""
        self.score = self.reason = self.success = self.error = None
        self.skipped = False
        if test_case.actual_output is None:
            raise self._lacks("actual_output")
        try:
            yield
        except ScoreboxError as error:
            for part, parameters in _PARAMETERS.items():
                is_named = error.kind == "invalid-input" and f"`{part}`" in error.message
                if is_named and _first(test_case, parameters) is None:
                    raise self._lacks(parameters[0]) from error
            raise

    def _lacks(self, parameter: str) -> MissingTestCaseParamsError:
        return MissingTestCaseParamsError(f"'{parameter}' cannot be None for the '{self._called}' metric")

    def _take(self, result: Any) -> None:
        self.score = result.score
        self.reason = result.reason
        self.skipped = result.score is None
        if result.score is not None:
            self.success = result.score <= self.threshold if self._lower_is_better else result.score >= self.threshold

    @property
    def __name__(self) -> str:
        return self._called


def _first(test_case: Any, parameters: tuple[str, ...]) -> Any:
    """The first of these parameters that has a value; DeepEval's versions have more or fewer of them."""
    return next((value for name in parameters if (value := getattr(test_case, name, None)) is not None), None)


def _parts(test_case: Any) -> dict[str, Any]:
    """A test case's parameters as the parts of a case."""

    def of(part: str) -> Any:
        return _first(test_case, _PARAMETERS[part])

    seconds, tools = of("latencyMs"), of("trace")
    return {
        "output": test_case.actual_output,
        "expected": of("groundTruth"),
        "input": of("input"),
        "context": jsonable(of("context")),
        "trace": _messages(tools) if tools is not None else None,
        "metadata": jsonable(of("metadata") if hasattr(test_case, "metadata") else test_case.additional_metadata),
        "latency_ms": seconds * 1000 if seconds is not None else None,
        "usage": _usage(test_case),
    }


def _messages(tools: Any) -> list[dict[str, Any]]:
    """Calls of tools, with what they answered, as messages of a chat; no message if no tool was called."""
    calls, answers = [], []
    for place, tool in enumerate(tools):
        identity = f"call-{place + 1}"
        arguments = jsonable(getattr(tool, "input_parameters", None) or {})
        calls.append({"id": identity, "type": "function", "function": {"name": tool.name, "arguments": arguments}})
        output = getattr(tool, "output", None)
        if output is not None:
            text = output if isinstance(output, str) else json.dumps(jsonable(output), ensure_ascii=False)
            answers.append({"role": "tool", "tool_call_id": identity, "content": text})
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *answers] if calls else []


def _usage(test_case: Any) -> dict[str, Any] | None:
    counts = {"inputTokens": "input_token_count", "outputTokens": "output_token_count", "costUsd": "token_cost"}
    usage = {key: getattr(test_case, name, None) for key, name in counts.items()}
    return {key: count for key, count in usage.items() if count is not None} or None
