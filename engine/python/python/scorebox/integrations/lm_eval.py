"""A metric for tasks of lm-evaluation-harness: in the task's YAML ``process_results: !function utils.process_results``, and in
its ``utils.py``::

    from scorebox.integrations.lm_eval import results
    process_results = results("rouge")

and in the YAML ``metric_list: [{metric: rouge, aggregation: !function utils.mean, higher_is_better: true}]`` with
``from scorebox.integrations.lm_eval import mean``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import Source, jsonable, scorer_of


def results(
    source: Source, *, name: str | None = None, expected: str = "answer", input: str | None = None, **options: Any
) -> Callable[[Mapping[str, Any], Sequence[Any]], dict[str, float]]:
    """The function ``process_results`` that lm-eval calls with a document and the model's responses.

    Args:
        source: A :class:`scorebox.Scorer`, or a name, path or bytes, with the options of one.
        name: What the metric is called; the scorer's own id unless something else is said.
        expected: The key of the document that has the expected output.
        input: The key of the document that has the input.
    """
    native = scorer_of(source, options)
    called = name or native.info.id

    def process_results(document: Mapping[str, Any], responses: Sequence[Any]) -> dict[str, float]:
        response = responses[0]
        # With `repeats`, or a filter that keeps all, it is a list.
        output = response[0] if isinstance(response, (list, tuple)) else response
        # `mean` leaves out what does not apply; lm-eval has no other word for it.
        if output is None:
            return {called: math.nan}
        result = native.score(output, document.get(expected), input=jsonable(document.get(input)) if input else None)
        return {called: math.nan if result.score is None else result.score}

    return process_results


def mean(scores: Sequence[float]) -> float:
    """The mean of the scores that are there; NaN if there are none."""
    there = [score for score in scores if not math.isnan(score)]
    return math.fsum(there) / len(there) if there else math.nan
