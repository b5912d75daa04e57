"""A scorer for MLflow: ``mlflow.genai.evaluate(data=…, scorers=[scorebox_scorer("rouge")])``.

The expected output is ``expectations["expected_response"]``, as MLflow's own scorers have it.
"""

from __future__ import annotations

from typing import Any

from mlflow.entities import Feedback
from mlflow.genai import scorer

from . import NO_OUTPUT, Source, jsonable, scorer_of


def scorebox_scorer(
    source: Source, *, name: str | None = None, expected: str = "expected_response", **options: Any
) -> Any:
    """An MLflow scorer.

    Args:
        source: A :class:`scorebox.Scorer`, or a name, path or bytes, with the options of one.
        name: What its feedback is called; the scorer's own id unless something else is said.
        expected: The key of the expectations that has the expected output.
    """
    native = scorer_of(source, options)
    called = name or native.info.id.replace("-", "_")

    @scorer(name=called)
    def score(
        *, inputs: Any = None, outputs: Any = None, expectations: dict[str, Any] | None = None
    ) -> Feedback:
        if outputs is None:
            return Feedback(name=called, value=None, rationale=NO_OUTPUT, metadata={"status": "skipped"})
        result = native.score(outputs, (expectations or {}).get(expected), input=jsonable(inputs))
        # Its metadata is texts.
        details = {"label": result.label, "fuel": str(result.fuel), "status": result.status}
        metadata = {key: value for key, value in details.items() if value is not None}
        return Feedback(name=called, value=result.score, rationale=result.reason, metadata=metadata)

    return score
