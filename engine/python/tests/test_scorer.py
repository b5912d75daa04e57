"""One scorer: what it is made from, its scores, and what it refuses."""

from __future__ import annotations

import asyncio
import copy
import numbers
import pickle
import subprocess
import sys
import threading
from enum import Enum
from itertools import islice
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from conftest import MISBEHAVE, REPOSITORY, misbehaving

import scorebox


def refused(call, *arguments, **options) -> scorebox.ScoreboxError:
    with pytest.raises(scorebox.ScoreboxError) as raised:
        call(*arguments, **options)
    return raised.value


def test_a_score_has_all_that_the_scorer_says_and_what_it_cost():
    scorer = scorebox.Scorer("rouge", config={"variant": "L"}, timeout=5.0)
    result = scorer.score(output="the cat sat", expected="the cat sat down")
    assert (result.status, round(result.score, 4)) == ("scored", 0.8571)
    assert result.reason == "longest common word sequence: 3 (output 3, reference 4)"
    assert result.meta["precision"] == 1.0 and result.meta["recall"] == 0.75
    assert result.fuel > 0 and result.memory > 0 and 0 < result.elapsed < 5
    assert (result.label, result.assertions, result.log, result.error) == (None, [], [], None)
    assert (result.case_id, result.scorer_id) == (None, None)
    assert result.to_dict()["score"] == result.score


def test_the_same_case_has_the_same_score_and_fuel(same):
    one, other = same.score("Paris", "Paris"), same.score("Paris", "Paris")
    assert (one.score, one.fuel) == (other.score, other.fuel)


def test_a_scorer_that_does_not_apply_gives_none_and_never_0():
    result = misbehaving("not-applicable").score(1)
    assert (result.status, result.score) == ("not-applicable", None)
    assert result.reason == "was told not to apply"


def test_a_score_that_should_be_there_and_is_not_raises(same):
    error = refused(same.score, "Paris")
    assert error.kind == "invalid-input"
    assert error.message == (
        "the case has no `groundTruth`, which this scorer needs, and the configuration has no `value` in its place"
    )
    assert refused(misbehaving("panic").score, 1).kind == "trap"
    assert refused(misbehaving("fail").score, 1).message == "was told to fail"


def test_limits_end_a_score_and_the_error_says_which_to_raise():
    error = refused(misbehaving("spin", timeout=0.2, fuel=2**62).score, 1)
    assert (error.kind, "timeout=…" in error.advice) == ("timed-out", True)
    error = refused(misbehaving("spin", fuel=1_000_000).score, 1)
    assert (error.kind, "fuel=…" in error.advice) == ("out-of-fuel", True)
    greedy = scorebox.Scorer(MISBEHAVE, config={"then": "take-memory", "amount": 50_000_000}, memory="8MiB")
    error = refused(greedy.score, 1)
    assert (error.kind, "memory=" in error.advice) == ("out-of-memory", True)


def test_all_parts_of_a_case_reach_the_scorer():
    tell = misbehaving("tell")
    assert tell.score(1, input={"a": [1, 2.5, None, True]}, metadata="é\n\"").reason == (
        r'Some("{\"a\":[1,2.5,null,true]}") Some("\"é\\n\\\"\"")'
    )
    latency = scorebox.Scorer("latency", config={"targetMs": 100, "maxMs": 200})
    assert latency.score(None, latency_ms=100).score == 1.0


def test_a_scorer_is_a_name_a_path_or_bytes():
    for source in (MISBEHAVE, str(MISBEHAVE), MISBEHAVE.read_bytes()):
        assert scorebox.Scorer(source).score(1).score == 1.0


def test_a_script_is_a_scorer(tmp_path):
    script = tmp_path / "longer.js"
    script.write_text("export default (c, config) => c.output.length > config.than ? 1 : 0;\n")
    scorer = scorebox.Scorer(script, config={"than": 3})
    assert [scorer.score(text).score for text in ("four", "one")] == [1.0, 0.0]


@pytest.mark.parametrize("ending", ["mjs", "ts", "mts"])
def test_every_script_that_the_command_runs_is_a_scorer(tmp_path, ending):
    script = tmp_path / f"longer.{ending}"
    types = (": any", ": { than: number }") if "ts" in ending else ("", "")
    script.write_text("export default (c{}, config{}) => c.output.length > config.than ? 1 : 0;\n".format(*types))
    assert scorebox.Scorer(script, config={"than": 3}).score("four").score == 1.0


GRADE = "def score(case, config):\n    return case['output'] == config['right']\n"


def test_a_script_in_python_says_how_to_have_what_runs_it(tmp_path, monkeypatch):
    monkeypatch.setenv("SCOREBOX_DATA_DIR", str(tmp_path / "none"))
    (tmp_path / "grade.py").write_text(GRADE)
    error = refused(scorebox.Scorer, tmp_path / "grade.py")
    assert error.kind == "unknown-scorer" and "no interpreter for Python" in error.message
    assert error.advice == "make it, once: python -m scorebox toolchain add python"
    suite = scorebox.Suite(text=f'[scorers.grade]\nuse = "{tmp_path}/grade.py"\n')
    assert refused(suite.iter, [{"output": 1}]).advice == error.advice


def test_a_script_in_python_is_a_scorer(tmp_path):
    command = [sys.executable, "-m", "scorebox", "toolchain", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "not installed" in listed:
        pytest.skip("it needs what `scorebox toolchain add python` makes")
    (tmp_path / "grade.py").write_text(GRADE)
    grade = scorebox.Scorer(tmp_path / "grade.py", config={"right": "a"})
    assert [grade.score(output).score for output in "ab"] == [1.0, 0.0]
    assert pickle.loads(pickle.dumps(grade)).score("a").score == 1.0
    suite = tmp_path / "suite.toml"
    suite.write_text('[scorers.grade]\nuse = "grade.py"\nconfig = { right = "b" }\n')
    rows = scorebox.Suite(suite).iter({"id": output, "output": output} for output in "ab")
    assert [(row.case_id, row.score) for row in rows] == [("a", 0.0), ("b", 1.0)]
    cases = tmp_path / "cases.jsonl"
    cases.write_text('{"id": "a", "output": "a"}\n{"id": "b", "output": "b"}\n')
    ended = scorebox.run(suite, cases, db=tmp_path / "scorebox.db", progress=False)
    assert ended.scorers["grade"]["mean"] == 0.5


def test_a_scorer_says_what_it_is(same):
    info = same.info
    assert (info.id, info.scale, info.direction, info.reads) == (
        "exact-match",
        "unit",
        "higher-is-better",
        ["groundTruth"],
    )
    assert info.config_schema["type"] == "object" and len(info.digest) == 64
    assert "exact-match" in scorebox.scorers() and repr(same) == "Scorer('exact-match')"


def test_an_unknown_scorer_or_key_is_refused_with_what_was_meant():
    error = refused(scorebox.Scorer, "exact-mach")
    assert (error.kind, error.advice) == ("unknown-scorer", "did you mean `exact-match`?")
    error = refused(scorebox.Scorer, "exact-match", config={"ignorCase": True})
    assert (error.kind, error.advice) == ("invalid-config", "did you mean `ignoreCase`?")
    assert str(error).endswith("\nhint: did you mean `ignoreCase`?")


@pytest.mark.parametrize(
    "options",
    [
        {"timeout": -1.0},
        {"timeout": float("nan")},
        {"memory": "lots"},
        {"memory": 5 << 30},
        {"grants": ["network"]},
        {"grants": "wasi"},
        {"fuel": -1},
        {"fuel": "much"},
        {"config": {"x": float("nan")}},
    ],
)
def test_an_option_that_is_not_valid_is_refused(options):
    assert refused(scorebox.Scorer, "exact-match", **options).kind in ("invalid-argument", "invalid-case")


def test_a_source_that_is_no_scorer_is_refused(tmp_path):
    assert refused(scorebox.Scorer, 5).kind == "invalid-argument"
    assert refused(scorebox.Scorer, b"\0asm").kind == "invalid-component"
    assert refused(scorebox.Scorer, tmp_path / "none.wasm").kind == "unknown-scorer"


class Colour(str, Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), "`/output` is not JSON: NaN"),
        ({"a": [0, {"b/c": float("-inf")}]}, "`/output/a/1/b~1c` is not JSON: -inf"),
        ("\ud800", "`/output` is not JSON: a text with a lone surrogate, which is not Unicode"),
        ({"\udfff": 1}, "`/output` is not JSON: a text with a lone surrogate, which is not Unicode"),
        ([1, {2}], "`/output/1` is not JSON: a value of type `set`"),
        ({1: 2}, "`/output` is not JSON: the key 1 is not a string"),
        (b"bytes", "`/output` is not JSON: a value of type `bytes`"),
    ],
)
def test_a_value_that_is_not_json_is_refused_with_the_path_to_it(same, value, message):
    error = refused(same.score, value, "x")
    assert (error.kind, error.message) == ("invalid-case", message)


def test_a_value_within_itself_is_refused(same):
    value: list = []
    value.append(value)
    error = refused(same.score, value)
    assert error.kind == "invalid-case" and "nested deeper" in error.message


def test_values_of_other_kinds_that_are_json_are_taken(same):
    assert same.score(Colour.RED, "red").score == 1.0
    assert same.score((1, 2), [1, 2]).score == 1.0
    assert same.score(2**100, 2**100).score == 1.0
    numpy = pytest.importorskip("numpy")
    assert same.score(numpy.int32(7), 7).score == 1.0
    error = refused(same.score, numpy.timedelta64(1, "s"))
    assert error.message == "`/output` is not JSON: a value of type `numpy.timedelta64`"
    assert same.score(numpy.float64(0.5), 0.5).score == 1.0
    assert same.score(numpy.float32(0.1), 0.1).score == 1.0
    assert same.score([numpy.float16(1.5), numpy.bool_(True)], [1.5, True]).score == 1.0
    assert refused(same.score, numpy.float32("nan")).message == "`/output` is not JSON: NaN"
    assert refused(same.score, numpy.array([1, 2])).message == "`/output` is not JSON: a value of type `numpy.ndarray`"


def test_a_part_that_the_scorer_does_not_read_may_be_anything(same):
    assert same.info.reads == ["groundTruth"]
    anything = {"metadata": {"when": object()}, "trace": float("nan"), "usage": "much", "latency_ms": {1}, "input": b"x"}
    assert same.score("a", "a", **anything).score == 1.0
    assert asyncio.run(same.ascore("a", "a", **anything)).score == 1.0
    tell = misbehaving("tell")
    assert refused(tell.score, "a", metadata={"when": {1}}).message == "`/metadata/when` is not JSON: a value of type `set`"


def test_a_mock_is_no_number(same):
    message = refused(same.score, {"a": MagicMock()}).message
    assert message == "`/output/a` is not JSON: a value of type `unittest.mock.MagicMock`"


def integer(does):
    """A value of a type that says that it is an integer."""
    kind = type("Integer", (), {"__index__": lambda self: does()})
    numbers.Integral.register(kind)
    return kind()


def test_what_the_code_of_a_value_raises_is_passed_on(same):
    def broken():
        raise LookupError("the device is gone")

    with pytest.raises(LookupError, match="the device is gone"):
        same.score([1, integer(broken)])


def test_a_dictionary_may_change_while_it_is_written(same):
    changing: dict = {}

    def add():
        changing[str(len(changing))] = 1
        return 1

    changing.update(a=integer(add), b=2)
    assert same.score(changing, {"a": 1, "b": 2}).score == 1.0


def test_scores_are_awaited_without_holding_up_the_loop(same):
    async def many():
        results = await asyncio.gather(*(same.ascore(number, number % 2) for number in range(50)))
        return sum(result.score for result in results)

    assert asyncio.run(many()) == 2.0

    async def none():
        with pytest.raises(scorebox.ScoreboxError) as raised:
            await same.ascore(1)
        return raised.value.kind

    assert asyncio.run(none()) == "invalid-input"


def test_a_score_that_is_cancelled_ends():
    spin = misbehaving("spin", timeout=600, fuel=2**62)

    async def cancelled():
        scoring = asyncio.ensure_future(spin.ascore(1))
        await asyncio.sleep(0)
        scoring.cancel()
        with pytest.raises(asyncio.CancelledError):
            await scoring

    asyncio.run(cancelled())


def test_a_scorer_pickles_as_its_recipe():
    scorer = scorebox.Scorer("exact-match", config={"ignoreCase": True}, timeout=1.0, memory="32MiB")
    pickled = pickle.dumps(scorer)
    assert len(pickled) < 500
    again = pickle.loads(pickled)
    assert again.score("PARIS", "paris").score == 1.0
    assert again.info == scorer.info


def test_a_scorer_of_a_file_unpickles_in_another_folder(tmp_path, monkeypatch):
    (tmp_path / "grade.js").write_text("export default () => 1;\n")
    monkeypatch.chdir(tmp_path)
    pickled = [pickle.dumps(scorebox.Scorer(source)) for source in ("./grade.js", Path("grade.js"))]
    monkeypatch.chdir("/")
    assert [pickle.loads(each).score("x").score for each in pickled] == [1.0, 1.0]


def test_a_scorer_that_changed_is_not_taken_for_the_one_that_was_pickled(tmp_path):
    script = tmp_path / "grade.js"
    script.write_text("export default () => 1;\n")
    (tmp_path / "suite.toml").write_text('[scorers.grade]\nuse = "grade.js"\n')
    scorer, of_suite = scorebox.Scorer(script), scorebox.Suite(tmp_path / "suite.toml").scorer("grade")
    pickled = [pickle.dumps(each) for each in (scorer, of_suite)]
    assert [pickle.loads(each).score("x").score for each in pickled] == [1.0, 1.0]
    script.write_text("export default () => 0;\n")
    for each in pickled:
        error = refused(pickle.loads, each)
        assert error.kind == "changed" and "the scorer changed since it was loaded" in error.message
    # What is loaded stays, and its pickle names what it is: not what the file is now.
    assert scorer.score("x").score == 1.0
    assert refused(pickle.loads, pickle.dumps(scorer)).kind == "changed"
    assert pickle.dumps(scorebox.Scorer(script)) != pickled[0]


def test_a_suite_that_changed_is_not_taken_for_the_one_that_was_pickled(tmp_path, monkeypatch):
    (tmp_path / "suite.toml").write_text("[scorers.exact-match]\n")
    monkeypatch.chdir(tmp_path)
    pickled = pickle.dumps(scorebox.Suite("suite.toml"))
    monkeypatch.chdir("/")
    assert pickle.loads(pickled).scorer_ids == ["exact-match"]
    (tmp_path / "suite.toml").write_text("[scorers.token-f1]\n")
    assert refused(pickle.loads, pickled).kind == "changed"


def test_an_error_pickles():
    error = pickle.loads(pickle.dumps(scorebox.ScoreboxError("trap", "it crashed", "fix it")))
    assert (error.kind, error.message, error.advice) == ("trap", "it crashed", "fix it")


def test_threads_share_a_scorer(same):
    wrong = []

    def score():
        wrong.extend(number for number in range(200) if same.score(number, number).score != 1.0)

    threads = [threading.Thread(target=score) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_configuring_after_the_first_scorer_is_refused(same):
    assert refused(scorebox.configure, jobs=1).kind == "invalid-argument"


def test_a_score_pickles_with_all_that_it_shows():
    cases = [{"id": "a", "output": "x", "groundTruth": "x"}, {"id": "b", "output": "x"}]
    suite = scorebox.Suite(text='[scorers.c]\nuse = "contains"\n[scorers.f]\nuse = "contains"\nlimits = { fuel = 1000 }\n')
    rows = list(suite.iter(cases))
    for row in rows:
        again = pickle.loads(pickle.dumps(row))
        assert again == row and again.to_dict() == row.to_dict()
        assert str(again.error) == str(row.error)
    assert "fuel=…" in pickle.loads(pickle.dumps(rows[1])).error.advice
    one = scorebox.Scorer("contains").score("x", expected="x")
    assert copy.deepcopy(one) == one and one.meta == {"found": ["x"], "missing": []}


def test_a_score_pickles_with_the_calls_of_judges():
    pandalm = REPOSITORY / "examples/pandalm"
    if not (pandalm / "suite.toml").is_file():
        pytest.skip("the example is not there")
    with open(pandalm / "cases.jsonl") as lines:
        rows = list(scorebox.Suite(pandalm / "suite.toml").iter(islice(lines, 2)))
    asked = [row for row in rows if row.to_dict().get("calls")]
    assert asked != []
    for row in asked:
        again = pickle.loads(pickle.dumps(row))
        assert again == row and again.to_dict()["calls"] == row.to_dict()["calls"]


def test_a_scorer_that_asks_a_judge_is_sent_to_a_suite():
    error = refused(scorebox.Scorer, "factuality")
    assert error.kind == "missing-grant" and "only `Suite.iter` and `scorebox.run` have judges" in error.advice


def test_an_argument_of_another_type_is_refused_for_what_it_is(tmp_path):
    suite = scorebox.Suite(text="[scorers.exact-match]")
    cases = tmp_path / "cases.jsonl"
    cases.write_text('{"output": 1, "expected": 1}\n')

    def run(**options):
        return scorebox.run(suite, cases, db=tmp_path / "scorebox.db", progress=False, **options)

    for name, call in [
        ("timeout", lambda: scorebox.Scorer("exact-match", timeout=0)),
        ("timeout", lambda: scorebox.Scorer("exact-match", timeout=-1)),
        ("config", lambda: scorebox.Scorer("exact-match", config="x")),
        ("jobs", lambda: scorebox.configure(jobs=-1)),
        ("in_flight", lambda: suite.iter([], in_flight=-1)),
        ("in_flight", lambda: suite.iter([], in_flight=0)),
        ("fail_below", lambda: run(fail_below=[1])),
        ("mapping", lambda: run(mapping=["output"])),
        ("seed", lambda: run(seed=5)),
        ("seed", lambda: run(seed="")),
        ("seed", lambda: scorebox.merge([], db=tmp_path / "m.db", suite=suite, seed="")),
    ]:
        error = refused(call)
        assert error.kind == "invalid-argument" and f"`{name}`" in error.message, name
