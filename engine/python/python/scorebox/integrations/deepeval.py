"""A metric for DeepEval: ``assert_test(test_case, [ScoreboxMetric("rouge", threshold=0.5)])``.

A score that does not apply is left out of DeepEval's results. In a run that is not asynchronous DeepEval leaves out nothing that
was measured: there it passes, without a score.
"""

from __future__ import annotations

from typing import Any

from deepeval.metrics import BaseMetric

from . import Source, scorer_of


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
        return self._take(self._native.score(**_parts(test_case)))

    async def a_measure(self, test_case: Any, *_: Any, **__: Any) -> float | None:
        """The same without holding up the event loop."""
        return self._take(await self._native.ascore(**_parts(test_case)))

    def is_successful(self) -> bool:
        """Whether the score is on the right side of the threshold, or the scorer does not apply."""
        return self.skipped or bool(self.success)

    def _take(self, result: Any) -> float | None:
        self.score = result.score
        self.reason = result.reason
        self.skipped = result.score is None
        self.error = None
        if result.score is None:
            self.success = None
        else:
            self.success = result.score <= self.threshold if self._lower_is_better else result.score >= self.threshold
        return self.score

    @property
    def __name__(self) -> str:
        return self._called


def _parts(test_case: Any) -> dict[str, Any]:
    """A test case's parts as those of a case; DeepEval's versions have more or fewer of them."""

    def of(*names: str) -> Any:
        return next((value for name in names if (value := getattr(test_case, name, None)) is not None), None)

    seconds, cost, tools = of("completion_time"), of("token_cost"), of("tools_called")
    calls = [
        {"type": "function", "function": {"name": tool.name, "arguments": getattr(tool, "input_parameters", None) or {}}}
        for tool in tools or ()
    ]
    return {
        "output": test_case.actual_output,
        "expected": of("expected_output"),
        "input": of("input"),
        "context": of("retrieval_context", "context"),
        "trace": [{"role": "assistant", "content": None, "tool_calls": calls}] if calls else None,
        "latency_ms": seconds * 1000 if seconds is not None else None,
        "usage": {"costUsd": cost} if cost is not None else None,
    }
