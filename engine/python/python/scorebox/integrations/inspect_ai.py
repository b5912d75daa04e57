"""A scorer for Inspect: ``Task(…, scorer=scorebox_scorer("rouge"))``.

The output is the completion, the expected output the target, the trace the sample's messages; time and tokens are those of
the model's output. A score that does not apply is unscored, and left out of the metrics.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from inspect_ai.scorer import Score, mean, scorer, stderr

from .._scorer import Scorer
from . import Source, scorer_of


@scorer(metrics=[mean(), stderr()], name="scorebox")
def scorebox_scorer(source: Source, **options: Any) -> Any:
    """An Inspect scorer.

    Args:
        source: A :class:`scorebox.Scorer`, or a name, path or bytes, with the options of one.
    """
    native = scorer_of(source, options)

    async def score(state: Any, target: Any) -> Score:
        output = state.output
        targets = list(target)
        result = await _scored(
            native,
            output.completion,
            targets[0] if len(targets) == 1 else targets or None,
            input=state.input_text,
            trace=[message.model_dump(exclude_none=True, mode="json") for message in state.messages],
            metadata=_json(state.metadata),
            latency_ms=output.time * 1000 if output.time is not None else None,
            usage=_usage(output.usage),
        )
        details = {"fuel": result.fuel, "label": result.label, "meta": result.meta}
        metadata = {key: value for key, value in details.items() if value is not None}
        if result.score is None:
            return _unscored(result.reason, metadata)
        return Score(value=result.score, answer=output.completion, explanation=result.reason, metadata=metadata)

    return score


async def _scored(native: Scorer, *parts: Any, **others: Any) -> Any:
    """The score, on whichever event loop Inspect runs (``INSPECT_ASYNC_BACKEND``)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        from anyio.to_thread import run_sync

        return await run_sync(partial(native.score, *parts, **others))
    return await native.ascore(*parts, **others)


def _unscored(reason: str | None, metadata: dict[str, Any]) -> Score:
    unscored = getattr(Score, "unscored", None)
    if unscored is not None:
        return unscored(explanation=reason or "the scorer does not apply", metadata=metadata)
    return Score(value=float("nan"), explanation=reason, metadata=metadata)


def _usage(usage: Any) -> dict[str, int] | None:
    if usage is None:
        return None
    counts = {
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "totalTokens": usage.total_tokens,
    }
    return {key: count for key, count in counts.items() if count is not None}


def _json(metadata: Any) -> Any:
    """Metadata may hold anything; what is not JSON becomes text, and numbers that are not finite become ``None``."""
    from pydantic_core import to_jsonable_python

    return _finite(to_jsonable_python(metadata, serialize_unknown=True)) if metadata else None


def _finite(value: Any) -> Any:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value
