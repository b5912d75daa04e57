"""Runs the three scorers with Inspect, which writes an .eval log: with_inspect.py CASES FOLDER.

with_inspect.py --stored FOLDER prints the scores in the folder's log, one JSON array a case: its id and three numbers.
"""

import json
import sys

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, includes, match, mean, scorer, value_to_float
from inspect_ai.solver import solver
from polyleven import levenshtein

from cases import read


@solver
def recorded():
    """Takes the answer that is there in place of asking a model."""

    async def solve(state, generate):
        state.output = ModelOutput.from_content("recorded", state.metadata["output"])
        return state

    return solve


@scorer(metrics=[mean()])
def similarity():
    """Inspect has no scorer of edit distance."""

    async def score(state, target):
        output, expected = state.output.completion, target.text
        longer = max(len(output), len(expected))
        return Score(value=1 - levenshtein(output, expected) / longer if longer else 1.0)

    return score


def run(cases, folder):
    samples = [
        Sample(
            id=case["id"],
            input=case["input"],
            target=case["groundTruth"],
            metadata={"output": case["output"]},
        )
        for case in read(cases)
    ]
    task = Task(
        name="peers",
        dataset=samples,
        solver=recorded(),
        scorer=[match(location="exact", ignore_case=False), includes(ignore_case=False), similarity()],
    )
    logs = eval(task, model=None, display="none", log_dir=folder)
    if logs[0].status != "success":
        sys.exit(f"Inspect's run ended as {logs[0].status}: {logs[0].error}")


def stored(folder):
    number = value_to_float()
    for sample in read_eval_log(list_eval_logs(folder)[0]).samples:
        print(json.dumps([sample.id, *(number(sample.scores[it].value) for it in ("match", "includes", "similarity"))]))


if sys.argv[1] == "--stored":
    stored(sys.argv[2])
else:
    run(*sys.argv[1:])
