"""Streams of cases that end before their last case: what is raised and when, how the run is stored, and that nothing goes on."""

from __future__ import annotations

import concurrent.futures
import contextlib
import io
import itertools
import json
import sqlite3
import subprocess
import sys
import threading
import time

import pytest
from conftest import MISBEHAVE, printed_by
from test_scorer import refused

import scorebox

ONE = "[scorers.exact-match]\n"


def cases(number: int):
    return [{"id": str(count), "output": "a", "expected": "a"} for count in range(number)]


def ids_and_error(rows) -> tuple[list[str], BaseException]:
    """The ids of the rows that come before what is raised; after that the stream has ended."""
    ids = []
    with pytest.raises(Exception) as raised:
        for row in rows:
            ids.append(row.case_id)
    assert list(rows) == []
    return ids, raised.value


def how_it_ended(db, run_id: str) -> str:
    """The state of the run, as the command lists it, once it has one that stays."""
    command = [sys.executable, "-m", "scorebox", "runs", "--db", db, "--format", "json"]
    for _ in range(100):
        runs = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        [state] = [run["state"] for run in runs if run["runId"] == run_id]
        if state != "running":
            return state
        time.sleep(0.1)
    return "running"


def failing(number: int):
    yield from cases(number)
    raise RuntimeError("the network is gone")


@pytest.mark.parametrize("bad", [5, {"id": "x"}, "{"])
def test_the_rows_before_an_item_that_is_not_a_case_come_first_and_none_after_it(bad):
    taken = iter([*cases(3), bad, *cases(2)])
    ids, error = ids_and_error(scorebox.Suite(text=ONE).iter(taken))
    assert (ids, error.kind, len(list(taken))) == (["0", "1", "2"], "invalid-case", 2)


def test_what_the_cases_raise_comes_after_the_rows_of_those_before():
    ids, error = ids_and_error(scorebox.Suite(text=ONE).iter(failing(3)))
    assert (ids, repr(error)) == (["0", "1", "2"], "RuntimeError('the network is gone')")


def test_the_first_case_of_an_id_is_scored_and_the_second_ends_a_stream_that_is_stored(tmp_path):
    db = tmp_path / "scorebox.db"
    items = [*cases(3), cases(2)[1], *cases(9)[3:]]
    ids, error = ids_and_error(scorebox.Suite(text=ONE).iter(items, db=db, run_id="twice"))
    assert ids == ["0", "1", "2"]
    assert error.message == "<cases>:4: duplicate id `1`, first used at <program>"
    assert how_it_ended(db, "twice") == "stopped"


def test_a_run_whose_cases_are_at_fault_is_stored_as_stopped(tmp_path):
    db, suite = tmp_path / "scorebox.db", scorebox.Suite(text=ONE)
    ids_and_error(suite.iter([*cases(3), 5], db=db, run_id="item"))
    ids_and_error(suite.iter(failing(3), db=db, run_id="source"))
    assert [how_it_ended(db, run_id) for run_id in ("item", "source")] == ["stopped", "stopped"]


def test_a_run_whose_loop_is_left_is_stored_as_interrupted_and_one_whose_rows_all_came_as_finished(tmp_path):
    db, suite = tmp_path / "scorebox.db", scorebox.Suite(text=ONE)
    for row in suite.iter(cases(3000), db=db, run_id="left", in_flight=10):
        break
    rows = suite.iter(cases(3), db=db, run_id="counted")
    assert [next(rows).case_id for _ in range(3)] == ["0", "1", "2"]
    del rows
    assert [how_it_ended(db, run_id) for run_id in ("left", "counted")] == ["interrupted", "finished"]


def test_a_stream_that_is_closed_has_stored_what_was_computed(tmp_path):
    db = tmp_path / "scorebox.db"
    with scorebox.Suite(text=ONE).iter(cases(3000), db=db, run_id="closed", in_flight=10) as rows:
        next(rows)
    runs = [sys.executable, "-m", "scorebox", "runs", "--db", db, "--format", "json"]
    [run] = json.loads(subprocess.run(runs, check=True, capture_output=True, text=True).stdout)
    assert run["state"] == "interrupted"
    assert list(rows) == []
    rows.close()


@pytest.mark.parametrize("last", ["", "del rows"])
def test_the_end_of_a_run_is_stored_though_the_program_ends_after_it_left_the_loop(tmp_path, last):
    printed_by(
        f"""
        import scorebox
        cases = [{{"id": str(number), "output": "a", "expected": "a"}} for number in range(3000)]
        rows = scorebox.Suite(text="[scorers.exact-match]").iter(cases, db="scorebox.db", run_id="left")
        next(rows)
        {last}
        """,
        folder=tmp_path,
    )
    assert how_it_ended(tmp_path / "scorebox.db", "left") == "interrupted"


def judging(folder) -> str:
    """A suite whose judge notes each question, and takes a while for the answer."""
    judge = folder / "judge.py"
    judge.write_text(
        "import sys, time\n"
        "sys.stdin.read()\n"
        f"open({str(folder / 'asked')!r}, 'a').write('x')\n"
        "time.sleep(0.1)\n"
        """print('{"text": "{\\\\"choice\\\\": \\\\"A\\\\"}"}')\n"""
    )
    return f"""
[judges.default]
provider = "command"
command = ["{sys.executable}", "{judge}"]
model = "m"
concurrency = 2
[scorers.rubric]
grants = ["judge"]
[scorers.rubric.config]
instructions = "Which?"
promptTemplate = "{{{{output}}}}"
choices = {{ "1" = 1.0, "2" = 0.0 }}
"""


def test_no_judge_is_asked_after_the_loop_is_left(tmp_path):
    asked = tmp_path / "asked"
    for row in scorebox.Suite(text=judging(tmp_path)).iter({"output": str(count), "input": "q"} for count in range(200)):
        break
    del row
    time.sleep(0.5)
    before = asked.stat().st_size
    time.sleep(1.5)
    assert asked.stat().st_size == before


SPINNING = f"""
import os, signal, sys, threading, time
import scorebox
suite = scorebox.Suite(text='''
[scorers.spin]
use = "{MISBEHAVE}"
config = {{ then = "spin" }}
limits = {{ timeout = "600s", fuel = 9000000000000000000 }}
''')
cases = [{{"output": 1}}] * 100
def is_idle():
    time.sleep(0.5)
    before = time.process_time()
    time.sleep(1)
    return time.process_time() - before < 0.3
"""


def test_ctrl_c_ends_what_a_stream_computes():
    printed = printed_by(
        SPINNING
        + """
rows = suite.iter(cases)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    next(rows)
except KeyboardInterrupt:
    print(is_idle(), list(rows))
"""
    )
    assert printed == "True []\n"


def test_ctrl_c_ends_what_a_table_computes():
    pytest.importorskip("pyarrow")
    printed = printed_by(
        SPINNING
        + """
import pyarrow
suite.score_table(pyarrow.table({"id": ["a"], "output": ["a"]}).slice(0, 0))
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    suite.score_table(pyarrow.table({"id": [str(n) for n in range(100)], "output": [1] * 100}))
except KeyboardInterrupt:
    print(is_idle())
"""
    )
    assert printed == "True\n"


def test_threads_share_a_stream():
    rows = scorebox.Suite(text=ONE).iter(cases(300))
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        ids = itertools.chain(*pool.map(lambda _: [row.case_id for row in rows], range(3)))
    assert sorted(ids, key=int) == [str(count) for count in range(300)]


def test_cases_that_ask_for_a_row_of_their_own_stream_are_refused():
    def asking():
        yield cases(1)[0]
        next(rows)

    rows = scorebox.Suite(text=ONE).iter(asking())
    ids, error = ids_and_error(rows)
    assert (ids, error.kind) == (["0"], "invalid-argument")
    assert error.message == "the cases ask for a row of their own stream"


def test_an_open_file_is_a_stream_whose_empty_lines_are_passed_over():
    line = '{"output": 1, "expected": 1}\n'
    suite = scorebox.Suite(text=ONE)
    rows = suite.iter(io.StringIO(f"{line}\n  \r\n{line}"))
    assert [row.case_id for row in rows] == ["case-1", "case-2"]
    ids, error = ids_and_error(suite.iter(io.StringIO(f'{line}\n{{"output": 1\n{line}')))
    assert len(ids) == 1 and error.message.startswith("<cases>:3:12: not valid JSON")


def test_a_bound_of_one_takes_a_case_at_a_time():
    taken = iter(cases(5))
    rows = scorebox.Suite(text=ONE).iter(taken, in_flight=1)
    assert [row.case_id for row in itertools.islice(rows, 2)] == ["0", "1"]
    assert len(list(taken)) == 3
    assert refused(next, scorebox.Suite(text=ONE).iter([5])).kind == "invalid-case"


def test_an_item_that_is_no_case_is_named_by_its_number_and_its_id():
    for item, place in [
        ({"id": "x", "output": float("nan")}, "<cases>:3 (id `x`): `/output` is not JSON: NaN"),
        ({"output": {1}}, "<cases>:3: `/output` is not JSON"),
        (5, "<cases>:3: a case is a dictionary or a line of JSON, not `int`"),
        ({"id": "x"}, "<cases>:3: "),
    ]:
        _, error = ids_and_error(scorebox.Suite(text=ONE).iter([*cases(2), item]))
        assert error.message.startswith(place)


def test_a_case_without_an_id_is_called_as_in_a_run_over_the_file(tmp_path):
    lines = ['{"output": 1, "expected": 1}\n', "5\n", "\n", '{"x": 1}\n', '{"output": 2, "expected": 2}\n']
    file, db, suite = tmp_path / "cases.jsonl", tmp_path / "scorebox.db", scorebox.Suite(text=ONE)
    file.write_text("".join(lines))
    streamed = [row.case_id for row in suite.iter(lines, db=db, run_id="stream", on_bad_case="skip")]
    scorebox.run(suite, file, db=db, run_id="file", on_bad_case="skip", progress=False)

    def stored(run_id):
        with contextlib.closing(sqlite3.connect(db)) as database:
            return [row[0] for row in database.execute("SELECT case_id FROM scores WHERE run_id = ? ORDER BY 1", [run_id])]

    assert streamed == stored("stream") == stored("file") == ["case-1", "case-4"]


def test_rows_of_a_slow_stream_come_before_its_next_case():
    said = []

    def slow():
        for case in cases(4):
            said.append(f"case {case['id']}")
            time.sleep(0.5)
            yield case

    suite = scorebox.Suite(text=ONE)
    list(suite.iter(cases(1)))
    for row in suite.iter(slow()):
        said.append(f"row {row.case_id}")
    assert said == [f"{what} {number}" for number in range(4) for what in ("case", "row")]


def test_with_one_case_in_flight_a_case_may_depend_on_the_row_before():
    answers = [{"id": "0", "output": "0", "expected": "2"}]
    scores = []
    for row in scorebox.Suite(text=ONE).iter(iter(lambda: answers.pop() if answers else None, None), in_flight=1):
        scores.append(row.score)
        if row.score == 0.0:
            answers.append({"id": str(len(scores)), "output": str(len(scores)), "expected": "2"})
    assert scores == [0.0, 0.0, 1.0]


def test_a_stream_is_closed_while_another_thread_waits_for_its_next_case(tmp_path):
    db, never, began = tmp_path / "scorebox.db", threading.Event(), threading.Event()

    def stuck():
        yield from cases(2)
        began.set()
        never.wait()

    rows = scorebox.Suite(text=ONE).iter(stuck(), db=db, run_id="stuck")
    got = []
    reader = threading.Thread(target=lambda: got.extend(row.case_id for row in rows), daemon=True)
    reader.start()
    assert began.wait(60)
    before = time.monotonic()
    rows.close()
    assert time.monotonic() - before < 10 and how_it_ended(db, "stuck") == "interrupted"
    never.set()
    reader.join(60)
    assert not reader.is_alive() and len(got) <= 2 and list(rows) == []


def test_a_stream_is_closed_while_another_thread_waits_for_a_row():
    printed = printed_by(
        SPINNING
        + """
rows, ended = suite.iter(cases), []
reader = threading.Thread(target=lambda: ended.append(list(rows)))
reader.start()
time.sleep(0.5)
rows.close()
reader.join(60)
print(ended, is_idle())
"""
    )
    assert printed == "[[]] True\n"


@pytest.mark.parametrize("db", ["", "db='scorebox.db', run_id='stuck'"])
def test_a_program_ends_though_its_stream_never_does(tmp_path, db):
    printed_by(
        f"""
        import threading
        import scorebox
        began = threading.Event()
        def stuck():
            yield {{"output": "a", "expected": "a"}}
            began.set()
            threading.Event().wait()
        rows = scorebox.Suite(text="[scorers.exact-match]").iter(stuck(), {db})
        threading.Thread(target=lambda: list(rows), daemon=True).start()
        began.wait()
        """,
        folder=tmp_path,
    )
    if db:
        assert how_it_ended(tmp_path / "scorebox.db", "stuck") == "interrupted"
