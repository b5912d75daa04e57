"""Scorers for the frameworks that people evaluate with, a module each. A framework is imported by its module and by nothing
else, and installing it is the user's.

- ``inspect_ai``: ``@scorer`` of Inspect.
- ``autoevals``: a ``Scorer`` of autoevals, which Braintrust's ``Eval`` takes.
- ``braintrust``: a function for Braintrust's ``Eval``, without autoevals.
- ``langsmith``: an evaluator for ``evaluate``.
- ``mlflow``: a scorer for ``mlflow.genai.evaluate``.
- ``deepeval``: a metric.
- ``datasets``: ``Dataset.map`` of Hugging Face.
- ``pandas``: columns for a data frame.
- ``promptfoo``: ``get_assert``.
- ``lm_eval``: a metric for lm-evaluation-harness's tasks.

Each takes a :class:`scorebox.Scorer`, or what one is made from, with the same options. A score that does not apply is the
framework's "no score" and never 0; an error raises, which each framework reports in its own way.
"""

from __future__ import annotations

import os
from typing import Any

from .._scorer import Scorer

#: A scorer, or what one is made from.
Source = Scorer | str | os.PathLike | bytes


def scorer_of(source: Source, options: dict[str, Any]) -> Scorer:
    """The scorer; options go with what one is made from."""
    if isinstance(source, Scorer):
        if options:
            raise TypeError(f"a scorer that is made already takes no options: {', '.join(options)}")
        return source
    return Scorer(source, **options)
