"""Runs anyone's scorer on anyone's evaluation data, safely: each score in its own WebAssembly sandbox.

>>> import scorebox
>>> scorer = scorebox.Scorer("exact-match", config={"ignoreCase": True})
>>> scorer.score(output="Paris", expected="paris").score
1.0

- :class:`Scorer`: one scorer, for cases one at a time and for tables.
- :class:`Suite`: a suite file, over a stream of cases.
- :func:`run`: a suite over files of cases, stored in a database, as the command ``scorebox run`` does it.
- :func:`merge`: the shards of a run, which many machines scored, put together.
- :class:`Score`: what a scorer says about a case.
- :class:`ScoreboxError`: what went wrong.
- :func:`scorers`: the built-in scorers.
- :func:`configure`: jobs, cache and memory of this process.
- ``scorebox.ray``: the scores of a Ray Data dataset, on many machines.
- ``scorebox.integrations``: scorers for Inspect, Braintrust, LangSmith, MLflow, DeepEval and others.
"""

from __future__ import annotations

from . import _interpreters

_interpreters.must_be_first()

from ._errors import ScoreboxError
from ._merge import Merged, merge
from ._run import Run, run
from ._scorebox import Score, Table, __version__, configure, scorers
from ._scorer import Scorer, ScorerInfo
from ._suite import Rows, Suite

__all__ = [
    "Merged",
    "Rows",
    "Run",
    "Score",
    "ScoreboxError",
    "Scorer",
    "ScorerInfo",
    "Suite",
    "Table",
    "__version__",
    "configure",
    "merge",
    "run",
    "scorers",
]
