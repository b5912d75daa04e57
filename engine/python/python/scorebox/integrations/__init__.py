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
framework's "no score" and never 0, and so is that of what has no output, such as a task that failed; an error raises, which each
framework reports in its own way.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import math
import os
import re
import sys
from collections.abc import Mapping
from typing import Any

from .._errors import ScoreboxError
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


#: Why something has no score that has no output: not even that of the output ``None``.
NO_OUTPUT = "there is no output to score"

#: How deep a value is made JSON: deeper than a case may be, so what is left is refused, also what contains itself.
_DEEPEST = 200


#: The place in memory of an object that has no text of its own, which is another one in each process.
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")


def jsonable(value: Any, depth: int = 0) -> Any:
    """Inputs and metadata, in which frameworks take anything: what is not JSON becomes text, and what is no value ``None``, such as
    numbers that are not finite.

    Outputs and what they are compared with are scored as they are, or refused.
    """
    if value is None or isinstance(value, (str, int)) or depth == _DEEPEST:
        return value
    if _is_no_value(value):
        return None
    if isinstance(value, float):
        return value
    if isinstance(value, Mapping):
        return _members(value, depth)
    if isinstance(value, (set, frozenset)):
        # In an order that is the same in each process.
        value = sorted(value, key=_text)
    if isinstance(value, (list, tuple)):
        return [jsonable(item, depth + 1) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        members = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return jsonable(members, depth + 1)
    # Models of pydantic; numbers and arrays of NumPy.
    for method in ("model_dump", "tolist"):
        if callable(getattr(type(value), method, None)):
            return jsonable(getattr(value, method)(), depth + 1)
    return value.isoformat() if isinstance(value, (datetime.date, datetime.time)) else _text(value)


def _is_no_value(value: Any) -> bool:
    """Whether it stands for a value that is not there, or is a number that is not finite."""
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, decimal.Decimal):
        return not value.is_finite()
    pandas = sys.modules.get("pandas")
    return pandas is not None and (value is pandas.NaT or value is pandas.NA)


def _members(members: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    """A dictionary with texts as keys."""
    written: dict[str, Any] = {}
    for key, item in members.items():
        name = _text(key)
        if name in written:
            message = f"two keys of a dictionary are `{name}` in JSON, where keys are texts: one of them is {key!r}"
            raise ScoreboxError("invalid-case", message, "give one of them another name")
        written[name] = jsonable(item, depth + 1)
    return written


def _text(value: Any) -> str:
    """The text of an object, without its place in memory."""
    text = str(value)
    return _ADDRESS.sub("", text) if text.startswith("<") and text.endswith(">") else text
