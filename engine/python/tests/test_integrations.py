"""The adapters, against the frameworks themselves as far as they are installed; with SCOREBOX_FRAMEWORKS=all, all must be.

Nothing here may connect beyond this machine.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import math
import os
import pickle
import socket

import pytest
from conftest import MISBEHAVE

import scorebox

NOT_APPLICABLE = {"source": MISBEHAVE, "config": {"then": "not-applicable"}}


def framework(name: str):
    """The framework, or the test is left out."""
    if os.environ.get("SCOREBOX_FRAMEWORKS") == "all":
        return importlib.import_module(name)
    return pytest.importorskip(name)


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    connect = socket.socket.connect

    def local(self, address):
        if self.family == socket.AF_UNIX or address[0] in ("127.0.0.1", "::1", "localhost"):
            return connect(self, address)
        raise OSError(f"a test connects to {address}")

    monkeypatch.setattr(socket.socket, "connect", local)


def test_importing_the_package_imports_no_framework():
    import subprocess
    import sys

    program = (
        "import sys, scorebox, scorebox.integrations; "
        "print({'inspect_ai', 'autoevals', 'braintrust', 'langsmith', 'mlflow', 'deepeval', 'datasets'} & set(sys.modules))"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert printed.stdout == "set()\n"


def test_inspect():
    framework("inspect_ai")
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelName, ModelOutput
    from inspect_ai.scorer import Target
    from inspect_ai.solver import TaskState

    from scorebox.integrations.inspect_ai import scorebox_scorer

    output = ModelOutput.from_content(model="mockllm/model", content="Paris")
    output.time = 0.25
    state = TaskState(
        model=ModelName("mockllm/model"),
        sample_id="a",
        epoch=1,
        input="Capital of France?",
        messages=[ChatMessageUser(content="Capital of France?"), ChatMessageAssistant(content="Paris")],
        output=output,
        metadata={"when": float("nan"), "of": object()},
    )
    score = asyncio.run(scorebox_scorer("exact-match")(state, Target("Paris")))
    assert (score.value, score.answer, score.metadata["fuel"] > 0) == (1.0, "Paris", True)
    latency = asyncio.run(scorebox_scorer("latency", config={"targetMs": 250, "maxMs": 500})(state, Target("")))
    assert latency.value == 1.0
    said = asyncio.run(scorebox_scorer("message-includes", config={"value": "Paris"})(state, Target("")))
    assert said.value == 1.0
    trio = importlib.util.find_spec("trio")
    if trio is not None:
        # As with INSPECT_ASYNC_BACKEND=trio.
        score = importlib.import_module("trio").run(scorebox_scorer("exact-match"), state, Target("Paris"))
        assert score.value == 1.0
    none = asyncio.run(scorebox_scorer(**NOT_APPLICABLE)(state, Target("")))
    assert not isinstance(none.value, float) or math.isnan(none.value)
    with pytest.raises(scorebox.ScoreboxError):
        asyncio.run(scorebox_scorer(MISBEHAVE, config={"then": "panic"})(state, Target("")))


def test_autoevals():
    framework("autoevals")
    from scorebox.integrations.autoevals import ScoreboxScorer

    scorer = ScoreboxScorer("exact-match")
    score = scorer(output="a", expected="a", input="?", tags=["x"])
    assert (score.name, score.score, score.metadata["fuel"] > 0) == ("exact-match", 1.0, True)
    assert asyncio.run(scorer.eval_async(output="a", expected="b")).score == 0.0
    assert ScoreboxScorer(**NOT_APPLICABLE)(output="a").score is None
    with pytest.raises(scorebox.ScoreboxError, match="gives points"):
        ScoreboxScorer("weighted")


def test_braintrust():
    braintrust = framework("braintrust")
    from scorebox.integrations.braintrust import scorebox_scorer

    ended = braintrust.Eval(
        "scorebox",
        data=lambda: [braintrust.EvalCase(input="a", expected="a"), braintrust.EvalCase(input="b", expected="c")],
        task=lambda input: input,
        scores=[scorebox_scorer("exact-match"), scorebox_scorer(**NOT_APPLICABLE)],
        no_send_logs=True,
    )
    assert [result.scores["exact-match"] for result in ended.results] == [1.0, 0.0]
    assert {result.scores["misbehave"] for result in ended.results} == {None}


def test_langsmith():
    framework("langsmith")
    from langsmith.evaluation.evaluator import run_evaluator
    from langsmith.schemas import Example, Run
    from uuid import uuid4
    from datetime import datetime, timezone

    from scorebox.integrations.langsmith import scorebox_evaluator

    evaluator = run_evaluator(scorebox_evaluator("exact-match"))
    now = datetime.now(timezone.utc)
    run = Run(
        id=uuid4(), name="r", start_time=now, run_type="chain", inputs={"question": "?"}, outputs={"output": "a"},
        trace_id=uuid4(), dotted_order="1",
    )  # fmt: skip
    example = Example(id=uuid4(), inputs={"question": "?"}, outputs={"answer": "a"}, dataset_id=uuid4(), created_at=now)
    result = evaluator.evaluate_run(run, example)
    assert (result.key, result.score) == ("exact-match", 1.0)
    none = scorebox_evaluator(**NOT_APPLICABLE)({"question": "?"}, {"output": "a"})
    assert none.score is None and none.comment == "was told not to apply"


def test_mlflow(tmp_path, monkeypatch):
    framework("mlflow")
    monkeypatch.chdir(tmp_path)
    from scorebox.integrations.mlflow import scorebox_scorer

    scorer = scorebox_scorer("exact-match")
    feedback = scorer.run(inputs={"q": "?"}, outputs="a", expectations={"expected_response": "a"})
    assert (feedback.name, feedback.value, int(feedback.metadata["fuel"]) > 0) == ("exact_match", 1.0, True)
    none = scorebox_scorer(**NOT_APPLICABLE).run(inputs={"q": "?"}, outputs="a")
    assert none.value is None and none.metadata["status"] == "not-applicable"


def test_deepeval():
    framework("deepeval")
    from deepeval.test_case import LLMTestCase

    from scorebox.integrations.deepeval import ScoreboxMetric

    metric = ScoreboxMetric("token-f1", threshold=0.5)
    case = LLMTestCase(input="?", actual_output="red blue", expected_output="red blue green white")
    assert metric.measure(case) == pytest.approx(2 / 3) and metric.is_successful()
    assert asyncio.run(metric.a_measure(case)) == metric.score and metric.reason
    metric = ScoreboxMetric("exact-match")
    assert metric.measure(case) == 0.0 and not metric.is_successful()
    none = ScoreboxMetric(**NOT_APPLICABLE)
    assert none.measure(case) is None and none.skipped and none.__name__ == "Misbehave"
    with pytest.raises(scorebox.ScoreboxError):
        ScoreboxMetric(MISBEHAVE, config={"then": "fail"}).measure(case)


@pytest.mark.parametrize("run_async", [True, False])
def test_deepeval_runs_copies_of_a_metric(run_async, tmp_path, monkeypatch):
    framework("deepeval")
    monkeypatch.chdir(tmp_path)
    from deepeval import assert_test, evaluate
    from deepeval.evaluate.configs import AsyncConfig, DisplayConfig
    from deepeval.test_case import LLMTestCase

    from scorebox.integrations.deepeval import ScoreboxMetric

    case = LLMTestCase(input="?", actual_output="red blue", expected_output="red blue green white")
    metric = ScoreboxMetric("token-f1", threshold=0.6, name="Words")
    assert_test(case, [metric, ScoreboxMetric(**NOT_APPLICABLE)], run_async=run_async)
    with pytest.raises(AssertionError, match="Words"):
        assert_test(case, [ScoreboxMetric("token-f1", threshold=0.7, name="Words")], run_async=run_async)
    display = DisplayConfig(show_indicator=False, print_results=False)
    ended = evaluate([case], [metric], async_config=AsyncConfig(run_async=run_async), display_config=display)
    (measured,) = ended.test_results[0].metrics_data
    assert (measured.name, measured.threshold, measured.success) == ("Words", 0.6, True)
    assert measured.score == pytest.approx(2 / 3)


def test_datasets():
    datasets = framework("datasets")
    from scorebox.integrations.datasets import score_batch

    rows = {"answer": ["a", "b", "c"] * 20, "expected": ["a", "x", "c"] * 20}
    dataset = datasets.Dataset.from_dict(rows)
    score = score_batch("exact-match", columns={"output": "answer"}, prefix="same")
    for scored in (
        dataset.map(score, batched=True, batch_size=7),
        # The processes are forked.
        dataset.map(score, batched=True, batch_size=7, num_proc=2, load_from_cache_file=False),
        dataset.with_format("arrow").map(score, batched=True, load_from_cache_file=False).with_format(None),
    ):
        assert scored["same"] == [1.0, 0.0, 1.0] * 20
        assert scored.column_names == ["answer", "expected", "same", "same_reason", "same_error"]
    for kind in ("pandas", "polars", "numpy"):
        if importlib.util.find_spec(kind) is not None:
            scored = dataset.with_format(kind).map(score, batched=True, batch_size=7).with_format(None)
            assert scored["same"] == [1.0, 0.0, 1.0] * 20
            assert scored.column_names == ["answer", "expected", "same", "same_reason", "same_error"]


def test_an_error_may_come_late_in_a_dataset():
    datasets = framework("datasets")
    from scorebox.integrations.datasets import score_batch

    dataset = datasets.Dataset.from_dict({"output": ["a"] * 20, "expected": ["a"] * 15 + [None] * 5})
    for kind in ("arrow", "pandas"):
        scored = dataset.with_format(kind).map(score_batch("exact-match"), batched=True, batch_size=5, writer_batch_size=5)
        errors = scored.with_format(None)["score_error"]
        assert [error is None for error in errors] == [True] * 15 + [False] * 5


def test_datasets_compute_again_with_a_script_that_was_edited(tmp_path):
    datasets = framework("datasets")
    from scorebox.integrations.datasets import score_batch

    (tmp_path / "rows.jsonl").write_text('{"output": "a"}\n' * 3)

    def scores(script):
        (tmp_path / "grade.js").write_text(script)
        rows = datasets.load_dataset(
            "json", data_files=str(tmp_path / "rows.jsonl"), split="train", cache_dir=str(tmp_path / "cache")
        )
        return list(rows.map(score_batch(tmp_path / "grade.js"), batched=True)["score"])

    assert scores("export default () => 1;") == [1.0] * 3
    assert scores("export default () => 0;") == [0.0] * 3


def test_pandas():
    pandas = framework("pandas")
    framework("pyarrow")
    from scorebox.integrations.pandas import score_frame

    frame = pandas.DataFrame({"answer": ["a", "b"], "expected": ["a", "c"]}, index=[9, 4])
    scored = score_frame(frame, "exact-match", columns={"output": "answer"})
    frame["same"] = scored["score"]
    assert frame["same"].to_dict() == {9: 1.0, 4: 0.0}


def test_promptfoo():
    from scorebox.integrations.promptfoo import assertion

    get_assert = assertion("token-f1", expected="reference", threshold=0.5)
    context = {"vars": {"reference": "red blue green white"}, "prompt": "?", "providerResponse": {"latencyMs": 5}}
    graded = get_assert("red blue", context)
    assert graded["pass"] is True and graded["score"] == pytest.approx(2 / 3) and graded["reason"]
    assert assertion("exact-match", expected="reference")("a b", context)["pass"] is False
    none = assertion(**NOT_APPLICABLE)("a", {})
    assert none == {"pass": True, "score": 1.0, "reason": "does not apply: was told not to apply"}
    with pytest.raises(scorebox.ScoreboxError):
        assertion(MISBEHAVE, config={"then": "panic"})("a", {})


def test_lm_eval():
    from scorebox.integrations.lm_eval import mean, results

    process_results = results("exact-match")
    assert process_results({"answer": "a"}, ["a"]) == {"exact-match": 1.0}
    assert process_results({"answer": "a"}, [["b"]]) == {"exact-match": 0.0}
    none = results(**NOT_APPLICABLE, name="x")({}, ["a"])["x"]
    assert math.isnan(none) and mean([1.0, none, 0.0]) == 0.5 and math.isnan(mean([]))


def test_options_go_with_what_a_scorer_is_made_from():
    from scorebox.integrations.promptfoo import assertion

    made = scorebox.Scorer("exact-match", config={"ignoreCase": True})
    assert assertion(made)("A", {"vars": {"expected": "a"}})["pass"] is True
    with pytest.raises(TypeError, match="takes no options: config"):
        assertion(made, config={})
    assert pickle.loads(pickle.dumps(made)).score("A", "a").score == 1.0
