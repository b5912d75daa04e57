"""Suites over streams of cases, and over files."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import pytest
from conftest import MISBEHAVE, REPOSITORY
from test_scorer import refused

import scorebox

TWO = "[scorers.exact-match]\n[scorers.rouge]\n"


def cases(number: int):
    return ({"output": str(count), "expected": "3"} for count in range(number))


def test_rows_come_in_the_order_of_cases_and_of_the_suite():
    suite = scorebox.Suite(text=TWO)
    rows = list(suite.iter(cases(500), in_flight=50))
    names = [(f"case-{number}", scorer) for number in range(1, 501) for scorer in ("exact-match", "rouge")]
    assert [(row.case_id, row.scorer_id) for row in rows] == names
    assert [row.case_id for row in rows if row.score == 1.0] == ["case-4", "case-4"]


def test_rows_come_before_the_stream_ends():
    taken = []

    def endless():
        while True:
            taken.append(1)
            yield {"output": "a", "expected": "a"}

    rows = scorebox.Suite(text=TWO).iter(endless(), in_flight=8)
    assert [next(rows).score for _ in range(100)] == [1.0] * 100
    # 50 cases were handed out, and no more than 8 others were taken.
    assert 50 <= len(taken) <= 58


def test_memory_does_not_grow_with_the_number_of_cases():
    program = """
import resource, sys
import scorebox
suite = scorebox.Suite(text="[scorers.exact-match]")
def cases(number):
    for count in range(number):
        yield {"output": "x" * 1000, "expected": str(count)}
def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
assert sum(1 for _ in suite.iter(cases(3000))) == 3000
before = most()
assert sum(1 for _ in suite.iter(cases(30000))) == 30000
print(most() - before)
"""
    grown = int(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)
    # 30 000 cases are 30 MB.
    assert grown < 15, f"{grown} MiB"


def test_errors_are_rows():
    suite = scorebox.Suite(text=f'[scorers.exact-match]\n[scorers.bad]\nuse = "{MISBEHAVE}"\nconfig = {{ then = "panic" }}')
    rows = list(suite.iter([{"output": 1, "expected": 1}, {"output": 1}]))
    assert [row.status for row in rows] == ["scored", "error", "error", "error"]
    assert [row.error.kind for row in rows[1:]] == ["trap", "invalid-input", "trap"]
    assert rows[0].error is None and "error" in repr(rows[1])


def test_a_task_that_failed_is_a_row_with_an_error():
    suite = scorebox.Suite(text="[scorers.exact-match]")
    rows = list(suite.iter([{"error": "Timeout", "expected": 1}, {"output": 1, "expected": 1, "error": None}]))
    assert [row.status for row in rows] == ["error", "scored"]
    assert (rows[0].error.kind, rows[0].error.message) == ("task-failed", "the task failed: Timeout")


def test_a_case_that_is_not_one_ends_the_stream_or_is_passed_over():
    suite = scorebox.Suite(text=TWO)
    items = [{"output": 1, "expected": 1}, {"output": float("nan")}, {"answer": 1}, 5, {"output": 2, "expected": 2}]
    for place, message in [
        (1, "`/output` is not JSON: NaN"),
        (2, "<cases>:3: the key `output` is missing"),
        (3, "a case is a dictionary or a line of JSON, not `int`"),
    ]:
        error = refused(list, suite.iter([items[0]] * place + [items[place]]))
        assert error.kind == "invalid-case"
        assert message.partition(":")[0] in error.message or message in error.message
    rows = list(suite.iter(items, on_bad_case="skip"))
    assert [row.score for row in rows] == [1.0] * 4


def test_a_line_of_json_is_a_case():
    rows = list(scorebox.Suite(text=TWO).iter(['{"id": "a", "output": 1, "groundTruth": 1}']))
    assert [(row.case_id, row.score) for row in rows] == [("a", 1.0), ("a", 1.0)]


def test_a_stream_is_stored_where_a_database_is_named(tmp_path):
    db = tmp_path / "scorebox.db"
    rows = scorebox.Suite(text=TWO).iter(cases(20), db=db, run_id="mine")
    assert rows.run_id == "mine" and len(list(rows)) == 40
    twice = scorebox.Suite(text=TWO).iter([{"id": "a", "output": 1, "expected": 1}] * 2, db=db)
    assert "duplicate id `a`" in refused(list, twice).message
    assert refused(scorebox.Suite(text=TWO).iter, cases(1), db=db, run_id="mine").kind == "database"


def test_a_suite_is_a_file_or_a_text_and_all_mistakes_are_named(tmp_path):
    file = tmp_path / "suite.toml"
    file.write_text("[scorers.exact-match]\nconfg = 1\n[scorers.rouge]\nlimits = { fuel = 'x' }\n")
    error = refused(scorebox.Suite, file)
    assert error.kind == "invalid-suite"
    assert "suite.toml:2:1" in error.message and "suite.toml:4" in error.message
    assert "did you mean `config`?" in error.advice
    assert refused(scorebox.Suite, tmp_path / "none.toml").kind == "unreadable"
    with pytest.raises(TypeError):
        scorebox.Suite()


def test_a_suite_has_a_name_scorers_and_a_digest():
    suite = scorebox.Suite(text='name = "mine"\n' + TWO)
    assert (suite.name, suite.scorer_ids, len(suite.digest)) == ("mine", ["exact-match", "rouge"], 64)
    assert repr(suite) == "Suite('mine': exact-match, rouge)"
    again = pickle.loads(pickle.dumps(suite))
    assert again.digest == suite.digest and len(list(again.iter(cases(2)))) == 4


def test_an_entry_of_a_suite_is_a_scorer():
    suite = scorebox.Suite(text="[scorers.same]\nuse = 'exact-match'\nconfig = { ignoreCase = true }\n")
    scorer = suite.scorer("same")
    assert scorer.score("A", "a").score == 1.0
    assert pickle.loads(pickle.dumps(scorer)).score("A", "a").score == 1.0
    error = refused(suite.scorer, "sme")
    assert (error.kind, error.advice) == ("unknown-scorer", "did you mean `same`?")


def test_an_entry_that_is_on_one_value_is_scored_by_its_suite_only():
    suite = scorebox.Suite(text="[scorers.title]\nuse = 'exact-match'\non = '/output/title'\n")
    case = {"output": {"title": "a", "text": "b"}, "expected": "a"}
    assert [row.score for row in suite.iter([case])] == [1.0]
    error = refused(suite.scorer, "title")
    assert (error.kind, "is on `/output/title`" in str(error)) == ("invalid-argument", True)
    assert error.advice.startswith("score with the suite")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.toml").write_text(TWO)
    lines = [json.dumps({"id": str(count), "output": str(count), "expected": "3"}) for count in range(100)]
    (tmp_path / "cases.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_a_run_is_stored_and_says_how_it_went(files):
    seen = []
    ended = scorebox.run("suite.toml", "cases.jsonl", db="scorebox.db", run_id="r", progress=seen.append)
    assert (ended.id, ended.cases, ended.scores, ended.errors, ended.bad_cases) == ("r", 100, 200, 0, 0)
    assert ended.scorers["exact-match"]["mean"] == 0.01 and ended.scorers["exact-match"]["count"] == 100
    assert len(ended.root) == 64 and ended.stopped is None and ended.db == "scorebox.db"
    assert "mean 0.0100" in str(ended)
    listed = subprocess.run(
        [sys.executable, "-m", "scorebox", "runs", "--format", "json"], check=True, capture_output=True, text=True
    )
    assert json.loads(listed.stdout)[0]["runId"] == "r"


def test_a_run_says_whether_it_passed_as_the_command_does(files):
    (files / "gate.js").write_text(
        'export default ({ output }) => { if (output === "boom") throw new Error("x"); return output === "good" ? 1 : 0; };\n'
        'export const info = { reads: [], severity: "gate", threshold: 1 };\n'
    )
    (files / "gate.toml").write_text('[scorers.gate]\nuse = "./gate.js"\n')
    for outputs, passed, verdict in [
        (["good", "good"], True, "verdict: 2 of 2 cases passed"),
        (["good", "bad"], False, "verdict: 1 of 2 cases passed"),
        (["boom", "boom"], False, "verdict: 0 of 2 cases passed"),
    ]:
        (files / "gated.jsonl").write_text("".join(json.dumps({"output": output}) + "\n" for output in outputs))
        ended = scorebox.run("gate.toml", "gated.jsonl", progress=False)
        assert ended.passed is passed and verdict in str(ended)
        command = [sys.executable, "-m", "scorebox", "run", "gate.toml", "gated.jsonl", "--db", "other.db"]
        ran = subprocess.run(command, check=False, capture_output=True, text=True)
        assert (ran.returncode == 0) is passed
        assert all(line in ran.stderr for line in ended.verdict_lines)
    # What only measures cannot fail.
    measured = scorebox.run("suite.toml", "cases.jsonl", progress=False)
    assert measured.passed and measured.verdict_lines == () and "verdict" not in str(measured)


GATES = """
export default ({ output }) => { if (output === "boom") throw new Error("x"); return output === "good" ? 1 : 0.5; };
export const info = { reads: [], severity: "gate", threshold: 1 };
"""


@pytest.fixture
def gated(files):
    """A suite with a gate for all cases, one for none, and a soft threshold; and cases, of which one in three fails."""
    (files / "gate.js").write_text(GATES)
    (files / "gated.toml").write_text(
        '[scorers.gate]\nuse = "./gate.js"\n'
        "[scorers.never]\nuse = './gate.js'\nwhen = '.metadata.kind == \"none\"'\n"
        "[scorers.exact-match]\nthreshold = 1\n"
    )
    outputs = ["good", "good", "bad"]
    lines = [json.dumps({"output": output, "expected": "good", "metadata": {"kind": "x"}}) for output in outputs]
    (files / "gated.jsonl").write_text("\n".join(lines) + "\n")
    return files


@pytest.mark.parametrize(
    ("required", "options", "passed"),
    [
        ({}, [], False),
        ({"allow_idle": "never"}, ["--allow-idle", "never"], False),
        ({"min_pass_rate": 0.6}, ["--min-pass-rate", "0.6"], False),
        ({"min_pass_rate": 0.6, "allow_idle": ["never"]}, ["--min-pass-rate", "0.6", "--allow-idle", "never"], True),
        ({"min_pass_rate": 0.7, "allow_idle": ["never"]}, ["--min-pass-rate", "0.7", "--allow-idle", "never"], False),
        ({"min_pass_rate": 0}, ["--min-pass-rate", "0"], True),
        ({"min_pass_rate": 0, "fail_below": {"gate": 0.8}}, ["--min-pass-rate", "0", "--fail-below", "gate=0.8"], True),
        ({"min_pass_rate": 0, "fail_below": {"gate": 0.9}}, ["--min-pass-rate", "0", "--fail-below", "gate=0.9"], False),
    ],
)
def test_what_is_required_of_a_run_is_what_the_options_of_the_command_require(gated, required, options, passed):
    ended = scorebox.run("gated.toml", "gated.jsonl", progress=False, **required)
    command = [sys.executable, "-m", "scorebox", "run", "gated.toml", "gated.jsonl", "--db", "other.db", *options]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.passed is passed and ran.returncode == (0 if passed else 3), ran.stderr
    said = [line.removeprefix("error: ") for line in ran.stderr.splitlines() if line.startswith("error: ")]
    assert list(ended.broken) == said
    assert all(f"error: {requirement}" in str(ended) for requirement in said)
    assert all(line in ran.stderr for line in ended.verdict_lines)


@pytest.mark.parametrize("strict", [False, True])
def test_a_threshold_that_only_measures_decides_if_it_is_strict(gated, strict):
    (gated / "soft.toml").write_text("[scorers.exact-match]\nthreshold = 1\n")
    ended = scorebox.run("soft.toml", "gated.jsonl", progress=False, strict=strict)
    command = [sys.executable, "-m", "scorebox", "run", "soft.toml", "gated.jsonl", "--db", "other.db"]
    ran = subprocess.run([*command, *["--strict"] * strict], check=False, capture_output=True, text=True)
    assert ended.passed is not strict and ran.returncode == (3 if strict else 0), ran.stderr
    said = [line.removeprefix("error: ") for line in ran.stderr.splitlines() if line.startswith("error: ")]
    assert list(ended.broken) == said and bool(said) is strict


def warned(stderr: str) -> list[str]:
    """What the command warned of."""
    return [line.removeprefix("warning: ") for line in stderr.splitlines() if line.startswith("warning: ")]


def test_what_the_command_warns_of_is_in_the_result(gated):
    when = "when = '.metadata.kind == \"none\"'\n"
    (gated / "measures.toml").write_text(
        f"[scorers.exact-match]\n[scorers.idle]\nuse = 'exact-match'\n{when}[scorers.never]\nuse = './never.js'\n"
    )
    (gated / "never.js").write_text('export default () => null;\nexport const info = { reads: [], severity: "soft" };\n')
    (gated / "gate.toml").write_text('[scorers.gate]\nuse = "./gate.js"\n')
    (gated / "skipped.jsonl").write_text('{"output": "good", "skip": "later"}\n')
    for suite, cases, strict, number in [
        ("measures.toml", "gated.jsonl", True, 3),
        ("measures.toml", "gated.jsonl", False, 2),
        ("gate.toml", "skipped.jsonl", False, 1),
    ]:
        ended = scorebox.run(suite, cases, progress=False, strict=strict)
        command = [sys.executable, "-m", "scorebox", "run", suite, cases, "--db", "other.db", *["--strict"] * strict]
        ran = subprocess.run(command, check=False, capture_output=True, text=True)
        said = [warning.replace("--strict", "`strict`") for warning in warned(ran.stderr)]
        assert list(ended.warnings) == said and len(said) == number, ran.stderr
        assert all(f"warning: {warning}" in str(ended) for warning in said)
    assert scorebox.run("suite.toml", "cases.jsonl", progress=False).warnings == ()


def test_a_run_samples_with_the_seed_that_is_named(files):
    (files / "sampled.toml").write_text("[scorers.exact-match]\nsampling = { type = 'ratio', rate = 0.5 }\n")

    def taken(run_id: str) -> list[str]:
        command = [sys.executable, "-m", "scorebox", "scores", run_id, "--format", "json", "--limit", "0"]
        rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        return [row["caseId"] for row in rows if row["status"] == "scored"]

    for run_id, seed in [("own", None), ("one", "1"), ("two", "2")]:
        scorebox.run("sampled.toml", "cases.jsonl", run_id=run_id, seed=seed, progress=False)
        command = [sys.executable, "-m", "scorebox", "run", "sampled.toml", "cases.jsonl", "--run-id", f"{run_id}-command"]
        subprocess.run([*command, *(["--seed", seed] if seed else [])], check=True, capture_output=True)
        assert taken(run_id) == taken(f"{run_id}-command")
    assert taken("one") != taken("two") and taken("one") != taken("own")


@pytest.mark.parametrize(
    ("required", "options", "code"),
    [
        ({}, [], 1),
        ({"allow_errors": True}, ["--allow-errors"], 0),
        ({"max_errors": 1}, ["--max-errors", "1"], 0),
        ({"max_errors": 0}, ["--max-errors", "0"], 3),
    ],
)
def test_errors_may_be_allowed_or_counted(files, required, options, code):
    (files / "one.jsonl").write_text('{"output": "a", "expected": "a"}\n{"output": "a"}\n')
    (files / "one.toml").write_text("[scorers.exact-match]\n")
    ended = scorebox.run("one.toml", "one.jsonl", progress=False, **required)
    command = [sys.executable, "-m", "scorebox", "run", "one.toml", "one.jsonl", "--db", "other.db", *options]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (ended.passed, ran.returncode) == (code == 0, code), ran.stderr
    assert all(f"error: {requirement}\n" in ran.stderr for requirement in ended.broken) and bool(ended.broken) is (code == 3)


@pytest.mark.parametrize(
    ("required", "kind", "message"),
    [
        ({"allow_idle": ["nevr"]}, "unknown-scorer", "`nevr`"),
        ({"fail_below": {"rouge": 0.5}}, "unknown-scorer", "`rouge`"),
        ({"fail_below": {"gate": -1}}, "invalid-argument", "`fail_below` of `gate` is -1: not a number of 0 or more"),
        ({"fail_below": {"gate": 2}}, "invalid-argument", "`fail_below` of `gate` is 2: the scores of `gate` are from 0 to 1"),
        ({"min_pass_rate": 60}, "invalid-argument", "`min_pass_rate` is 60: not a number from 0 to 1"),
        ({"min_pass_rate": float("nan")}, "invalid-argument", "`min_pass_rate` is NaN: not a number from 0 to 1"),
        ({"max_errors": -1}, "invalid-argument", "`max_errors` is -1: not a number of 0 or more"),
    ],
)
def test_what_cannot_be_required_is_refused_before_anything_is_scored(gated, required, kind, message):
    error = refused(scorebox.run, "gated.toml", "gated.jsonl", progress=False, **required)
    assert error.kind == kind and message in error.message
    assert not (gated / "scorebox.db").exists()


def test_a_mapping_that_finds_nothing_is_an_error_as_it_is_for_the_command(files):
    (files / "timed.jsonl").write_text('{"output": "a", "expected": "a", "timing": {"ms": 5}}\n')
    error = refused(scorebox.run, "suite.toml", "timed.jsonl", run_id="r", mapping={"latencyMs": "/timing/msec"})
    command = [sys.executable, "-m", "scorebox", "run", "suite.toml", "timed.jsonl", "--db", "other.db"]
    ran = subprocess.run([*command, "--map", "latencyMs=/timing/msec"], check=False, capture_output=True, text=True)
    assert error.kind == "invalid-argument" and ran.returncode == 2
    message = "`latencyMs=/timing/msec` finds nothing in any case; `/timing` of the first has the key"
    assert f"`mapping`: {message}" in error.message and f"error: --map {message}" in ran.stderr
    assert error.advice == "did you mean `latencyMs=/timing/ms`?\nwhat was scored is stored, as the run `r`"
    assert scorebox.run("suite.toml", "timed.jsonl", run_id="s", mapping={"latencyMs": "/timing/ms"}).cases == 1


def test_a_judge_without_its_key_is_named_as_the_command_names_it(files, monkeypatch):
    monkeypatch.setenv("NO_KEY", " ")
    judge = '[judges.default]\nprovider = "openai"\nbase_url = "http://127.0.0.1:1/v1"\nmodel = "m"\nkey_env = "NO_KEY"\n'
    (files / "judged.toml").write_text(judge + '[scorers.rubric]\ngrants = ["judge"]\nconfig = { instructions = "Good?" }\n')
    error = refused(scorebox.run, "judged.toml", "cases.jsonl", progress=False)
    command = [sys.executable, "-m", "scorebox", "run", "judged.toml", "cases.jsonl"]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert error.message == "judge `default`: it needs a key: the environment variable `NO_KEY` has no value"
    assert error.message in ran.stderr and "set it, " in ran.stderr
    assert error.advice == "set it, or name another with `key_env`"


def test_what_is_no_file_of_cases_is_refused(files):
    error = refused(scorebox.run, "suite.toml", [{"output": "a"}])
    assert error.message == "`cases` is the path of a file or a list of paths, not of `dict`"
    assert "`Suite.iter(…, db=…)`" in error.advice


def test_what_is_no_stream_of_cases_is_refused():
    suite = scorebox.Suite(text=TWO)
    for cases in ({"output": "a"}, '{"output": "a"}', b"x"):
        error = refused(suite.iter, cases)
        assert (error.kind, error.message) == (
            "invalid-argument", f"`cases` is a stream of cases, not one `{type(cases).__name__}`",
        )  # fmt: skip
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"output": ["a"], "expected": ["a"]})
    error = refused(suite.iter, table)
    assert error.message == "`cases` is a stream of cases, not a table, `pyarrow.Table`" and "score_table" in error.advice
    assert [row.score for row in suite.iter(table.to_pylist())] == [1.0, 1.0]


def test_a_suite_without_scorers_is_refused_in_words_of_the_package():
    assert "[scorers.rouge]" in refused(scorebox.Suite, text="").advice


def test_a_run_that_stops_at_a_bad_line_says_where_and_how_to_go_on(files):
    with open("cases.jsonl", "a") as file:
        file.write('{"output": NaN}\n')
    error = refused(scorebox.run, "suite.toml", "cases.jsonl", run_id="r")
    assert error.kind == "bad-case" and "cases.jsonl:101" in error.message
    assert error.advice == "scores so far are kept; continue with `resume='r'`"
    ended = scorebox.run("suite.toml", "cases.jsonl", resume="r", on_bad_case="skip")
    assert (ended.cases, ended.scores, ended.bad_cases) == (100, 0, 1)


def test_a_run_that_cannot_begin_is_refused(files):
    assert refused(scorebox.run, "suite.toml", "none.jsonl").kind == "unreadable"
    (files / "empty.jsonl").write_text("")
    assert refused(scorebox.run, "suite.toml", "empty.jsonl").kind == "unreadable"
    assert refused(scorebox.run, "suite.toml", "cases.jsonl", run_id="a b").kind == "invalid-argument"
    assert refused(scorebox.run, "suite.toml", "cases.jsonl", resume="x").kind == "database"
    scorebox.run("suite.toml", "cases.jsonl", run_id="r")
    assert refused(scorebox.run, "suite.toml", "cases.jsonl", run_id="r").kind == "database"


def test_parts_are_found_by_pointers(files):
    (files / "nested.jsonl").write_text('{"response": {"text": "a"}, "gold": "a"}\n')
    mapping = {"output": "/response/text", "groundTruth": "/gold"}
    ended = scorebox.run("suite.toml", ["nested.jsonl"], mapping=mapping)
    assert ended.scorers["exact-match"]["mean"] == 1.0


def test_progress_is_one_line_on_standard_error(files, capsys):
    scorebox.run("suite.toml", "cases.jsonl", progress=True)
    shown = capsys.readouterr().err
    assert "\n" not in shown
    scorebox.run("suite.toml", "cases.jsonl", progress=False)
    assert capsys.readouterr().err == ""


def test_what_is_called_with_the_progress_gets_the_final_figures_and_must_be_callable(files):
    seen = []
    scorebox.run("suite.toml", "cases.jsonl", progress=seen.append)
    assert (seen[-1]["casesDone"], seen[-1]["scoresWritten"]) == (100, 200)
    with pytest.raises(TypeError, match="not 5"):
        scorebox.run("suite.toml", "cases.jsonl", run_id="none", progress=5)


def test_a_program_without_standard_error_runs_a_suite(files, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert scorebox.run("suite.toml", "cases.jsonl").cases == 100
    assert scorebox.run("suite.toml", "cases.jsonl", progress=True).cases == 100


def test_a_run_reads_what_other_tools_write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = REPOSITORY / "tests/readers"
    (tmp_path / "suite.toml").write_text("[scorers.exact-match]\n")
    ended = scorebox.run("suite.toml", [files / "inspect.eval", files / "promptfoo.json"], run_id="r", progress=False)
    assert ended.cases > 6 and ended.bad_cases == 0
    (tmp_path / "answers.csv").write_text("id,answer,expected\na,Paris,Paris\n")
    mapping = {"output": "/answer"}
    of_csv = scorebox.run("suite.toml", "answers.csv", mapping=mapping, format="csv", run_id="c", progress=False)
    assert of_csv.scorers["exact-match"]["mean"] == 1.0 and of_csv.left_out == {}
    error = refused(scorebox.run, "suite.toml", "answers.csv", format="xml", progress=False)
    assert error.kind == "invalid-argument" and "there is no format `xml`" in error.message and "`parquet`" in error.advice
