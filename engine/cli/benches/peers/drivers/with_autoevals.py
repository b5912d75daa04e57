"""Runs the three scorers with autoevals, which scores one answer at a call and stores nothing.

with_autoevals.py CASES [SCORES]: with a second file, the scores are written there, one JSON array a case: its id and
three numbers. This is for comparing the scores, and is not measured.
"""

import json
import sys

from autoevals import ExactMatch, Levenshtein, Score
from autoevals.partial import ScorerWithPartial

from cases import read


class Contains(ScorerWithPartial):
    """Whether the expected text is in the output: autoevals has no such scorer for texts."""

    def _run_eval_sync(self, output, expected=None, **kwargs):
        return Score(name=self._name(), score=1 if expected in output else 0)


def main(cases, stored=None):
    scorers = [ExactMatch(), Contains(), Levenshtein()]
    scores = [
        [case["id"], *(it.eval(output=case["output"], expected=case["groundTruth"]).score for it in scorers)]
        for case in read(cases)
    ]
    if stored is not None:
        with open(stored, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in scores)


main(*sys.argv[1:])
