"""Runs the three scorers with DeepEval, which writes a JSON file of the run: with_deepeval.py CASES FOLDER."""

import sys

from deepeval import evaluate
from deepeval.evaluate import CacheConfig, DisplayConfig
from deepeval.metrics import BaseMetric, ExactMatchMetric
from deepeval.test_case import LLMTestCase
from polyleven import levenshtein

from cases import read


class TextMetric(BaseMetric):
    """A metric of output and expected output, as DeepEval's page on custom metrics shows it."""

    def __init__(self):
        self.threshold = 0.5

    def measure(self, test_case, *args, **kwargs):
        self.score = self.of_texts(test_case.actual_output, test_case.expected_output)
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, test_case, *args, **kwargs):
        return self.measure(test_case)

    def is_successful(self):
        return self.success

    @property
    def __name__(self):
        return type(self).__name__


class Contains(TextMetric):
    def of_texts(self, output, expected):
        return 1.0 if expected in output else 0.0


class Similarity(TextMetric):
    def of_texts(self, output, expected):
        longer = max(len(output), len(expected))
        return 1 - levenshtein(output, expected) / longer if longer else 1.0


def main(cases, folder):
    evaluate(
        [
            LLMTestCase(
                name=case["id"],
                input=case["input"],
                actual_output=case["output"],
                expected_output=case["groundTruth"],
            )
            for case in read(cases)
        ],
        [ExactMatchMetric(), Contains(), Similarity()],
        display_config=DisplayConfig(
            show_indicator=False, print_results=False, inspect_after_run=False, results_folder=folder
        ),
        # The cache is written as a whole after every case: 200 cases take nine times as long with it.
        cache_config=CacheConfig(write_cache=False),
    )


main(*sys.argv[1:])
