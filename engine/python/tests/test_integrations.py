"""The adapters, against the frameworks themselves as far as they are installed; with SCOREBOX_FRAMEWORKS=all, all must be.

Nothing here may connect beyond this machine.
"""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import importlib
import importlib.util
import json
import math
import os
import pickle
import socket
import subprocess
import sys

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


def inspected(folder, solver, scorers, outputs):
    """The log of a sample that Inspect evaluates with these answers of the model."""
    inspect_ai = framework("inspect_ai")
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.log import read_eval_log
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def output(text, tokens):
        output = ModelOutput.from_content("mockllm/model", text)
        output.usage = ModelUsage(input_tokens=tokens, output_tokens=tokens, total_tokens=2 * tokens)
        return output

    model = get_model("mockllm/model", custom_outputs=[output(*of_one) for of_one in outputs])
    dataset = MemoryDataset([Sample(id="a", input="q", target="x")])
    task = inspect_ai.Task(dataset=dataset, solver=solver, scorer=scorers)
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(folder), display="none")
    return read_eval_log(log.location)


def test_inspect_counts_all_calls_of_a_samples_model(tmp_path):
    framework("inspect_ai")
    import anyio
    from inspect_ai.model import ChatMessageUser
    from inspect_ai.solver import solver

    from scorebox.integrations.inspect_ai import scorebox_scorer

    @solver
    def thrice():
        async def solve(state, generate):
            for _ in range(3):
                await anyio.sleep(0.05)
                state.messages.append(ChatMessageUser(content="go on"))
                state = await generate(state)
            return state

        return solve

    (tmp_path / "tell.js").write_text(
        "export default ({ usage, latencyMs }) => ({ score: 1, meta: { usage, latencyMs } });"
    )
    log = inspected(tmp_path, thrice(), scorebox_scorer(tmp_path / "tell.js"), [("a", 500), ("b", 400), ("x", 10)])
    told = log.samples[0].scores["tell"].metadata["meta"]
    assert told["usage"] == {"inputTokens": 910, "outputTokens": 910, "totalTokens": 1820}
    # What is between the calls counts, and nothing that the sample has not.
    assert 100 <= told["latencyMs"] <= log.samples[0].total_time * 1000 + 1


def test_inspect_has_the_tokens_of_a_cache_in_the_trace():
    framework("inspect_ai")
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelName, ModelOutput, ModelUsage
    from inspect_ai.scorer import Target
    from inspect_ai.solver import TaskState

    from scorebox.integrations.inspect_ai import scorebox_scorer

    output = ModelOutput.from_content("mockllm/model", "x")
    output.usage = ModelUsage(
        input_tokens=4, output_tokens=100, total_tokens=2_500_104,
        input_tokens_cache_write=500_000, input_tokens_cache_read=2_000_000,
    )  # fmt: skip
    state = TaskState(
        model=ModelName("mockllm/model"), sample_id="a", epoch=1, input="q",
        messages=[ChatMessageUser(content="q"), ChatMessageAssistant(content="x")], output=output,
    )  # fmt: skip
    prices = {"*": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75}}

    def explained(scorer, config):
        return asyncio.run(scorebox_scorer(scorer, config=config)(state, Target("x"))).explanation

    assert explained("cost-budget", {"maxCost": 1, "prices": prices}) == "$2.4765 of at most $1"
    assert explained("token-budget", {"maxTokens": 1000, "count": "input"}) == "500004 input tokens of at most 1000"


def test_inspect_does_not_take_the_last_of_several_calls_for_all_of_them():
    framework("inspect_ai")
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelName, ModelOutput, ModelUsage
    from inspect_ai.scorer import Target
    from inspect_ai.solver import TaskState

    from scorebox.integrations.inspect_ai import scorebox_scorer

    def tokens_of(answers):
        output = ModelOutput.from_content("mockllm/model", "x")
        output.usage = ModelUsage(input_tokens=10, output_tokens=10, total_tokens=20)
        # As of a log that is scored again, where no sample is running.
        state = TaskState(
            model=ModelName("mockllm/model"), sample_id="a", epoch=1, input="q",
            messages=[ChatMessageUser(content="q")] + [ChatMessageAssistant(content="x")] * answers, output=output,
        )  # fmt: skip
        return asyncio.run(scorebox_scorer("token-budget", config={"maxTokens": 100})(state, Target("x"))).value

    assert tokens_of(1) == 1.0
    try:
        value = tokens_of(3)
    except scorebox.ScoreboxError as error:
        assert error.kind == "invalid-input"
    else:
        assert math.isnan(value)


def test_the_log_of_inspect_says_what_scored(tmp_path):
    framework("inspect_ai")
    from inspect_ai.solver import generate

    from scorebox.integrations.inspect_ai import scorebox_scorer

    (tmp_path / "suite.toml").write_text('[scorers.near]\nuse = "levenshtein"\nconfig = { ignoreCase = true }\n')
    same = scorebox.Scorer("exact-match", config={"ignoreCase": True}, timeout=9.0)
    near = scorebox.Suite(tmp_path / "suite.toml").scorer("near")
    scorers = [scorebox_scorer("exact-match"), scorebox_scorer(same, name="loose"), scorebox_scorer(near)]
    log = inspected(tmp_path, generate(), scorers, [("X", 1)])
    scores = {name: score.value for name, score in log.samples[0].scores.items()}
    assert scores == {"exact-match": 0.0, "loose": 1.0, "levenshtein": 1.0}
    assert [score.name for score in log.results.scores] == list(scores)
    first, second, third = log.eval.scorers
    assert first.options == {"source": "exact-match"}
    assert second.options == {"source": "exact-match", "config": {"ignoreCase": True}, "timeout": 9.0}
    assert third.options["config"] == {"ignoreCase": True} and third.options["suite"] == "suite"
    of_second = {key: second.metadata[key] for key in ("id", "version", "digest")}
    assert of_second == {"id": same.info.id, "version": same.info.version, "digest": same.info.digest}


def test_a_log_of_inspect_is_scored_again_with_what_it_says_of_its_scorers(tmp_path):
    inspect_ai = framework("inspect_ai")
    from inspect_ai.solver import generate

    from scorebox.integrations.inspect_ai import scorebox_scorer

    near = scorebox_scorer("contains", config={"value": "X", "ignoreCase": True}, name="near")
    log = inspected(tmp_path, generate(), [scorebox_scorer("match", config={"value": "y"}), near], [("x", 1)])
    again = [scorebox_scorer(**it.options, name=it.name) for it in log.eval.scorers]
    scored = inspect_ai.score(log, again, action="overwrite", display="none")
    assert {name: score.value for name, score in scored.samples[0].scores.items()} == {"match": 0.0, "near": 1.0}
    assert [it.options for it in scored.eval.scorers] == [it.options for it in log.eval.scorers]


def test_the_command_of_inspect_scores_a_log_again_with_a_scorer_that_it_names(tmp_path):
    framework("inspect_ai")
    from inspect_ai.log import read_eval_log
    from inspect_ai.solver import generate

    from scorebox.integrations.inspect_ai import scorebox_scorer

    log = inspected(tmp_path, generate(), scorebox_scorer("exact-match"), [("x", 1)])
    named = ["--scorer", "scorebox/scorebox", "-S", "source=contains", "-S", "config={value: X, ignoreCase: true}"]
    command = [sys.executable, "-m", "inspect_ai", "score", log.location, *named]
    options = ["--action", "overwrite", "--overwrite", "--display", "none"]
    subprocess.run([*command, *options], cwd=tmp_path, check=True)
    again = read_eval_log(log.location)
    assert {name: score.value for name, score in again.samples[0].scores.items()} == {"scorebox": 1.0}


def test_inspect_makes_a_scorer_again_that_a_function_of_the_task_gives(tmp_path):
    framework("inspect_ai")
    from inspect_ai.log import list_eval_logs, read_eval_log

    (tmp_path / "task.py").write_text(
        "from inspect_ai import Task, task\n"
        "from inspect_ai.dataset import Sample\n"
        "from inspect_ai.model import ModelOutput\n"
        "from inspect_ai.scorer import mean, scorer\n"
        "from inspect_ai.solver import solver\n"
        "from scorebox.integrations.inspect_ai import scorebox_scorer\n"
        "@scorer(metrics=[mean()])\n"
        "def says_x():\n"
        "    return scorebox_scorer('contains', config={'value': 'x'})\n"
        "@solver\n"
        "def say():\n"
        "    async def solve(state, generate):\n"
        "        state.output = ModelOutput.from_content('mockllm/model', 'x')\n"
        "        return state\n"
        "    return solve\n"
        "@task\n"
        "def one():\n"
        "    return Task(dataset=[Sample(input='q', target='x')], solver=say(), scorer=says_x())\n"
    )

    def inspect(*arguments):
        command = [sys.executable, "-m", "inspect_ai", *arguments, "--display", "none"]
        subprocess.run(command, cwd=tmp_path, check=True)

    inspect("eval", "task.py", "--model", "mockllm/model", "--log-dir", "logs")
    (log,) = list_eval_logs(str(tmp_path / "logs"))
    inspect("score", log.name, "--action", "overwrite", "--overwrite")
    scores = read_eval_log(log).samples[0].scores
    assert {name: score.value for name, score in scores.items()} == {"says_x": 1.0}


def test_a_sample_of_inspect_without_an_output_is_unscored():
    framework("inspect_ai")
    from inspect_ai.model import ModelName
    from inspect_ai.scorer import Target
    from inspect_ai.solver import TaskState

    from scorebox.integrations.inspect_ai import scorebox_scorer

    state = TaskState(model=ModelName("mockllm/model"), sample_id="a", epoch=1, input="q", messages=[])
    score = asyncio.run(scorebox_scorer("length", config={"max": 10})(state, Target("x")))
    assert math.isnan(score.value) and score.explanation == "there is no output to score"


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
    none = ScoreboxScorer("length", config={"max": 10})(output=None)
    assert (none.score, none.metadata) == (None, {"reason": "there is no output to score"})


def test_autoevals_takes_braintrusts_reference_for_no_trace():
    framework("autoevals")
    framework("braintrust")
    from braintrust.trace import LocalTrace

    from scorebox.integrations.autoevals import ScoreboxScorer

    async def flushed():
        pass

    reference = LocalTrace(
        object_type="experiment", object_id="x", root_span_id="y", ensure_spans_flushed=flushed, state=None
    )
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    called = ScoreboxScorer("called-tool", config={"name": "f"})
    assert called(output=messages, trace=reference).score == 1.0
    assert called(output="done", trace=messages).score == 1.0


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


@dataclasses.dataclass
class Place:
    name: str
    since: datetime.date


def test_inputs_and_metadata_that_are_not_json_are_text_in_braintrust(tmp_path):
    braintrust = framework("braintrust")
    from scorebox.integrations.braintrust import scorebox_scorer

    (tmp_path / "tell.js").write_text(
        "export default ({ input, metadata }) => ({ score: 1, reason: JSON.stringify([input, metadata]) });"
    )
    told = []

    def tell(**parts):
        told.append(scorebox_scorer(tmp_path / "tell.js")(**parts).metadata["reason"])
        return 1

    ended = braintrust.Eval(
        "scorebox",
        data=lambda: [
            braintrust.EvalCase(
                input=Place("Paris", datetime.date(2024, 1, 2)),
                expected="a",
                metadata={"when": datetime.datetime(2024, 1, 2, 3), "of": {1: float("nan")}, "tags": {"b", "a"}},
            )
        ],
        task=lambda input: "a",
        scores=[scorebox_scorer("exact-match"), tell],
        no_send_logs=True,
    )
    assert ended.results[0].scores["exact-match"] == 1.0
    assert told == [
        '[{"name":"Paris","since":"2024-01-02"},{"when":"2024-01-02T03:00:00","of":{"1":null},"tags":["a","b"]}]'
    ]


def test_a_task_of_braintrust_without_an_output_has_no_score():
    framework("braintrust")
    from scorebox.integrations.braintrust import scorebox_scorer

    none = scorebox_scorer("length", config={"max": 10})(input="?", output=None)
    assert (none.score, none.metadata) == (None, {"reason": "there is no output to score"})


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
    lenient = run_evaluator(scorebox_evaluator("length", config={"max": 10}))
    for outputs, error, comment in [
        (None, "ValueError('the model is down')\n\nTraceback …", "the run failed: ValueError('the model is down')"),
        ({"output": None}, None, "there is no output to score"),
        ({}, None, "there is no output to score"),
    ]:
        failed = run.model_copy(update={"outputs": outputs, "error": error})
        result = lenient.evaluate_run(failed, example)
        assert (result.score, result.comment) == (None, comment)
    wrong = scorebox_evaluator("exact-match", expected="gold")
    with pytest.raises(scorebox.ScoreboxError, match="`expected` names the key `gold`, which is not there") as raised:
        wrong({"question": "?"}, {"output": "a"}, {"answer": "a", "source": "b"})
    assert raised.value.advice == "the keys are `answer`, `source`"


def test_mlflow(tmp_path, monkeypatch):
    framework("mlflow")
    monkeypatch.chdir(tmp_path)
    from scorebox.integrations.mlflow import scorebox_scorer

    scorer = scorebox_scorer("exact-match")
    feedback = scorer.run(inputs={"q": "?"}, outputs="a", expectations={"expected_response": "a"})
    assert (feedback.name, feedback.value, int(feedback.metadata["fuel"]) > 0) == ("exact_match", 1.0, True)
    none = scorebox_scorer(**NOT_APPLICABLE).run(inputs={"q": "?"}, outputs="a")
    assert none.value is None and none.metadata["status"] == "not-applicable"
    # As after a `predict_fn` that failed.
    none = scorebox_scorer("length", config={"max": 10}).run(inputs={"q": "?"}, outputs=None)
    assert (none.value, none.rationale) == (None, "there is no output to score")


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


def test_deepevals_tools_tokens_and_metadata_are_those_of_the_case(tmp_path):
    framework("deepeval")
    from deepeval.test_case import LLMTestCase, ToolCall

    from scorebox.integrations.deepeval import ScoreboxMetric

    (tmp_path / "tell.js").write_text(
        "export default ({ metadata, trace, usage }) => ({ score: 1, reason: JSON.stringify({ metadata, trace, usage }) });"
    )
    tools = [
        ToolCall(name="f", input_parameters={"q": 1}, output="Error: boom"),
        ToolCall(name="g", output={"rows": [1]}),
        ToolCall(name="h"),
    ]
    case = LLMTestCase(
        input="?", actual_output="a", tools_called=tools, metadata={"k": 1},
        input_token_count=900, output_token_count=800, token_cost=0.5,
    )  # fmt: skip
    failed = ScoreboxMetric("no-failed-actions")
    assert failed.measure(case) == 0.0 and "`f` (1): Error: boom" in failed.reason
    assert ScoreboxMetric("token-budget", config={"maxTokens": 100}).measure(case) == 0.0
    tell = ScoreboxMetric(tmp_path / "tell.js")
    tell.measure(case)
    told = json.loads(tell.reason)
    assert told["metadata"] == {"k": 1}
    assert told["usage"] == {"inputTokens": 900, "outputTokens": 800, "costUsd": 0.5}
    assert [message.get("content") for message in told["trace"]] == [None, "Error: boom", '{"rows": [1]}']
    called, *answered = told["trace"]
    assert [call["id"] for call in called["tool_calls"]] == ["call-1", "call-2", "call-3"]
    assert [message["tool_call_id"] for message in answered] == ["call-1", "call-2"]


def test_deepevals_test_case_without_any_call_of_a_tool_has_a_trace():
    framework("deepeval")
    from deepeval.errors import MissingTestCaseParamsError
    from deepeval.test_case import LLMTestCase

    from scorebox.integrations.deepeval import ScoreboxMetric

    none_called = LLMTestCase(input="?", actual_output="a", tools_called=[])
    not_known = LLMTestCase(input="?", actual_output="a")
    for scorer, score in [("not-called-tool", 1.0), ("called-tool", 0.0)]:
        metric = ScoreboxMetric(scorer, config={"name": "rm"})
        assert metric.measure(none_called) == score
        with pytest.raises(MissingTestCaseParamsError, match="'tools_called' cannot be None"):
            metric.measure(not_known)


def test_deepeval_skips_a_test_case_that_lacks_a_parameter(tmp_path, monkeypatch):
    framework("deepeval")
    monkeypatch.chdir(tmp_path)
    from deepeval import evaluate
    from deepeval.errors import MissingTestCaseParamsError
    from deepeval.evaluate.configs import DisplayConfig, ErrorConfig
    from deepeval.test_case import LLMTestCase

    from scorebox.integrations.deepeval import ScoreboxMetric

    whole = LLMTestCase(input="?", actual_output="a", expected_output="a")
    no_expected = LLMTestCase(input="?", actual_output="a")
    no_output = LLMTestCase(input="?", actual_output=None, expected_output="a")
    metric = ScoreboxMetric("exact-match")
    metric.measure(whole)
    with pytest.raises(MissingTestCaseParamsError, match="'expected_output' cannot be None for the 'Exact Match' metric"):
        metric.measure(no_expected)
    # Nothing is left of the test case before.
    assert (metric.score, metric.reason, metric.is_successful()) == (None, None, False)
    with pytest.raises(MissingTestCaseParamsError, match="'actual_output' cannot be None for the 'Length' metric"):
        ScoreboxMetric("length", config={"max": 10}).measure(no_output)
    display = DisplayConfig(show_indicator=False, print_results=False)
    skipping = ErrorConfig(skip_on_missing_params=True)
    cases = [no_expected, whole, no_output]
    ended = evaluate(cases, [metric], error_config=skipping, display_config=display)
    measured = [[it.score for it in result.metrics_data or ()] for result in ended.test_results]
    assert sorted(measured) == [[], [], [1.0]]


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


def test_a_row_of_a_dataset_is_not_scored_as_a_batch_of_letters():
    datasets = framework("datasets")
    from scorebox.integrations.datasets import score_batch

    dataset = datasets.Dataset.from_dict({"output": ["ab", "b"], "expected": ["ab", "x"]})
    for rows in (dataset, dataset.to_iterable_dataset()):
        with pytest.raises(scorebox.ScoreboxError) as raised:
            list(rows.map(score_batch("exact-match")))
        assert raised.value.kind == "invalid-argument" and "batched=True" in raised.value.advice


def test_of_a_dataset_only_columns_that_are_read_are_converted():
    datasets = framework("datasets")
    from scorebox.integrations.datasets import score_batch

    rows = {"output": ["a", "b"], "expected": ["a", "x"], "vector": [[1.0, 2.0], [3.0, 4.0]]}
    dataset = datasets.Dataset.from_dict(rows).with_format("numpy")
    scored = dataset.map(score_batch("exact-match"), batched=True)
    assert scored.with_format(None)["score"] == [1.0, 0.0]
    # An array in each row is one value.
    columns = {"output": "vector", "expected": "vector"}
    scored = dataset.map(score_batch("exact-match", columns=columns), batched=True)
    assert scored.with_format(None)["score"] == [1.0, 1.0]


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
    with pytest.raises(scorebox.ScoreboxError, match="there is no output to score"):
        assertion("length", config={"max": 10})(None, {})


def test_lm_eval():
    from scorebox.integrations.lm_eval import mean, results

    process_results = results("exact-match")
    assert process_results({"answer": "a"}, ["a"]) == {"exact-match": 1.0}
    assert process_results({"answer": "a"}, [["b"]]) == {"exact-match": 0.0}
    assert math.isnan(results("length", config={"max": 10})({}, [None])["length"])
    none = results(**NOT_APPLICABLE, name="x")({}, ["a"])["x"]
    assert math.isnan(none) and mean([1.0, none, 0.0]) == 0.5 and math.isnan(mean([]))


def test_options_go_with_what_a_scorer_is_made_from():
    from scorebox.integrations.promptfoo import assertion

    made = scorebox.Scorer("exact-match", config={"ignoreCase": True})
    assert assertion(made)("A", {"vars": {"expected": "a"}})["pass"] is True
    with pytest.raises(TypeError, match="takes no options: config"):
        assertion(made, config={})
    assert pickle.loads(pickle.dumps(made)).score("A", "a").score == 1.0
