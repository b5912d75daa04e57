"""A scorer for Inspect: ``Task(…, scorer=scorebox_scorer("rouge"))``.

The output is the completion, the expected output the target, the trace the sample's messages, as they are of a sample in a log
that scorebox reads; time and tokens are those of the whole sample, with all calls of its model. A score that does not apply is
unscored, and left out of the metrics, and so is a sample without an output.

Its scores are called by the scorer's id, and the log has its version, its digest and what it was made from: ``eval.scorers``.
"""

from __future__ import annotations

import asyncio
import os
from functools import partial
from typing import Any

from inspect_ai.scorer import Score, mean, scorer, stderr

from .._scorer import Scorer
from . import NO_OUTPUT, Source, jsonable, scorer_of

_METRICS = [mean(), stderr()]


def scorebox_scorer(source: Source, *, name: str | None = None, **options: Any) -> Any:
    """An Inspect scorer.

    Args:
        source: A :class:`scorebox.Scorer`, or a name, path or bytes, with the options of one.
        name: What its scores are called; the scorer's own id unless something else is said.
    """
    native = scorer_of(source, options)
    info = native.info

    # What it is called with is in the log, as the scorer's options.
    @scorer(metrics=_METRICS, name=name or info.id, id=info.id, version=info.version, digest=info.digest)
    def recorded(**_: Any) -> Any:
        return _scoring(native)

    return recorded(**_recipe(source, native, options))


@scorer(metrics=_METRICS, name="scorebox")
def _of_the_command(source: str, **options: Any) -> Any:
    """What the command ``inspect score --scorer scorebox/scorebox -S source=rouge`` finds."""
    return _scoring(Scorer(source, **options))


def _recipe(source: Source, native: Scorer, options: dict[str, Any]) -> dict[str, Any]:
    """What the scorer was made from, as far as it can be written into a log."""
    if isinstance(source, Scorer):
        source, options = source._made_from()
    return {"source": os.fspath(source) if not isinstance(source, bytes) else "bytes of a component", **options}


def _scoring(native: Scorer) -> Any:
    async def score(state: Any, target: Any) -> Score:
        output = state.output
        if not output.choices and not output.completion:
            return _unscored(NO_OUTPUT, {})
        targets = list(target)
        trace, usage = _trace_and_usage(state)
        result = await _scored(
            native,
            output.completion,
            targets[0] if len(targets) == 1 else targets or None,
            input=state.input_text,
            trace=trace,
            metadata=_metadata(state.metadata),
            latency_ms=_latency_ms(state),
            usage=usage,
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


def _latency_ms(state: Any) -> float | None:
    """How long the sample worked, without what it waited for, and without its scorers."""
    try:
        from inspect_ai.util import sample_limits

        seconds = sample_limits().working.usage
    except (ImportError, RuntimeError):
        # No sample is running, as where a log is scored again, or Inspect is of before such limits.
        seconds = state.output.time if _has_one_answer(state) else None
    return seconds * 1000 if seconds is not None else None


def _trace_and_usage(state: Any) -> tuple[Any, dict[str, Any] | None]:
    """The messages, and what the sample's model consumed.

    A usage has no place for the tokens of a cache: the trace states them, as a sample of a log does.
    """
    messages = [message.model_dump(exclude_none=True, mode="json") for message in state.messages]
    usage = _usage(state)
    if usage is None:
        return messages, None
    trace: Any = messages
    if messages and any(getattr(usage, f"input_tokens_cache_{way}", None) for way in ("read", "write")):
        stated = usage.model_dump(exclude_none=True, mode="json")
        trace = {"messages": messages, "model_usage": {str(state.model): stated}}
    counts = {
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "totalTokens": usage.total_tokens,
        "costUsd": getattr(usage, "total_cost", None),
    }
    return trace, {key: count for key, count in counts.items() if count is not None}


def _usage(state: Any) -> Any:
    """What the sample's model consumed, in all its calls; of a sample with other models, such as graders, only its own."""
    try:
        # Of what is public, nothing has more than the sum of all models.
        from inspect_ai.model._model import sample_model_usage

        by_model = sample_model_usage()
    except ImportError:
        by_model = {}
    usage = by_model.get(str(state.model))
    if usage is None and len(by_model) == 1:
        (usage,) = by_model.values()
    if usage is None and _has_one_answer(state):
        usage = state.output.usage
    return usage


def _has_one_answer(state: Any) -> bool:
    """Whether the output is all that the model said, so that its time and tokens are the sample's."""
    return sum(message.role == "assistant" and message.source != "input" for message in state.messages) <= 1


def _metadata(metadata: Any) -> Any:
    """Metadata as the log has it."""
    from pydantic_core import to_jsonable_python

    return jsonable(to_jsonable_python(metadata, serialize_unknown=True)) if metadata else None
