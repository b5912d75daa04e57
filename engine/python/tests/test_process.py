"""What must hold in processes as Python has them: other handlers of signals, forks, Ctrl-C, and compiling beside.

Each test is a program in a process of its own.
"""

from __future__ import annotations

import contextlib
import signal
import sqlite3
from collections.abc import Callable

import pytest
from conftest import MISBEHAVE, Program, printed_by

GUEST = str(MISBEHAVE)


def test_a_trap_is_an_error_where_faulthandler_was_enabled_after_the_engine_was_made():
    printed = printed_by(
        """
        import faulthandler, sys
        import scorebox
        scorers = [scorebox.Scorer(sys.argv[1], config={"then": deed}) for deed in ("panic", "recurse")]
        # As `ray.init()` does.
        faulthandler.enable()
        for scorer in scorers:
            try:
                scorer.score(1)
            except scorebox.ScoreboxError as error:
                print(error.kind)
        print(scorebox.Scorer("exact-match").score("a", "a").score)
        """,
        GUEST,
    )
    assert printed.split() == ["trap", "trap", "1.0"]


def test_another_interpreter_of_the_process_is_refused():
    printed = printed_by(
        """
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        # Kept until the end, which threads of it would hold up for ever.
        other = interpreters.create()
        script = "try: import scorebox\\nexcept ImportError as error: print(error)"
        if hasattr(interpreters, "exec"):
            interpreters.exec(other, script)
        else:
            interpreters.run_string(other, script)
        import scorebox
        print(scorebox.Scorer("exact-match").score("a", "a").score)
        """
    )
    refused, score = printed.splitlines()
    assert "subinterpreters" in refused and score == "1.0"


def test_a_forked_process_scores_and_its_time_outs_hold():
    printed = printed_by(
        """
        import os, sys, time
        import scorebox
        same = scorebox.Scorer("exact-match")
        spin = scorebox.Scorer(sys.argv[1], config={"then": "spin"}, timeout=0.5, fuel=2**63)
        suite = scorebox.Suite(text="[scorers.exact-match]")
        cases = [{"output": 1, "expected": 1}] * 3
        assert same.score("a", "a").score == 1.0 and len(list(suite.iter(cases))) == 3
        child = os.fork()
        if child == 0:
            assert same.score("b", "b").score == 1.0
            try:
                spin.score(1)
            except scorebox.ScoreboxError as error:
                print(error.kind, flush=True)
            print([row.score for row in suite.iter(cases)], flush=True)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert status == 0, status
        print(same.score("c", "c").score)
        """,
        GUEST,
    )
    assert printed.split("\n") == ["timed-out", "[1.0, 1.0, 1.0]", "1.0", ""]


def test_a_table_is_scored_in_a_forked_process():
    pytest.importorskip("pyarrow")
    printed = printed_by(
        """
        import multiprocessing, pyarrow
        import scorebox
        same = scorebox.Scorer("exact-match")
        table = pyarrow.table({"output": ["a", "b"], "expected": ["a", "c"]})
        def scored(_):
            return same.score_table(table)["score"].to_pylist()
        print(scored(0))
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(pool.map(scored, range(2)))
        """
    )
    assert printed.split("\n") == ["[1.0, 0.0]", "[[1.0, 0.0], [1.0, 0.0]]", ""]


def test_a_forked_process_refuses_a_scorer_that_changed_and_finds_it_from_another_folder(tmp_path):
    printed = printed_by(
        """
        import os, sys
        import scorebox
        open("grade.js", "w").write("export default () => 1;")
        grade = scorebox.Scorer("./grade.js")
        def scored_in_a_child():
            child = os.fork()
            if child == 0:
                try:
                    print(grade.score(1).score, flush=True)
                except scorebox.ScoreboxError as error:
                    print(error.kind, flush=True)
                os._exit(0)
            os.waitpid(child, 0)
        os.mkdir("other")
        os.chdir("other")
        scored_in_a_child()
        open("../grade.js", "w").write("export default () => 0;")
        scored_in_a_child()
        """,
        folder=tmp_path,
    )
    assert printed.split() == ["1.0", "changed"]


def test_configuring_again_keeps_what_was_set_before(tmp_path):
    printed = printed_by(
        """
        import os, sys
        import scorebox
        scorebox.configure(cache_dir=sys.argv[1])
        scorebox.configure(jobs=1, memory_budget="64MiB")
        scorebox.Scorer("exact-match")
        print(os.listdir(sys.argv[1]) != [])
        """,
        str(tmp_path),
    )
    assert printed == "True\n"


def test_a_component_is_compiled_in_a_forked_process_too(tmp_path):
    printed = printed_by(
        """
        import os, sys
        import scorebox
        scorebox.configure(cache_dir=sys.argv[1])
        assert scorebox.Scorer("exact-match").score("a", "a").score == 1.0
        child = os.fork()
        if child == 0:
            print(scorebox.Scorer("equals").score("b", "b").score, flush=True)
            os._exit(0)
        print(os.waitpid(child, 0)[1])
        """,
        str(tmp_path),
    )
    assert printed.split() == ["1.0", "0"]


def test_a_stream_that_was_begun_before_a_fork_is_refused_in_the_child():
    printed = printed_by(
        """
        import itertools, os
        import scorebox
        suite = scorebox.Suite(text="[scorers.exact-match]")
        rows = suite.iter({"output": 1, "expected": 1} for _ in range(10))
        next(rows)
        child = os.fork()
        if child == 0:
            try:
                next(rows)
            except scorebox.ScoreboxError as error:
                print(error.message, flush=True)
            del rows
            os._exit(0)
        print(os.waitpid(child, 0)[1], len(list(rows)))
        """
    )
    assert printed.split("\n") == ["this process was forked from the one that has the stream", "0 9", ""]


#: Says when the signal came, and how long it took to be seen.
INTERRUPTED = """
import os, signal, sys, threading, time
import scorebox
sent = []
def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
def begun():
    threading.Timer(0.3, interrupt).start()
def seen():
    print("seen", time.monotonic() - sent[0] < 2.0)
"""


def test_ctrl_c_ends_a_score():
    printed = printed_by(
        INTERRUPTED
        + """
spin = scorebox.Scorer(sys.argv[1], config={"then": "spin"}, timeout=600, fuel=2**63)
begun()
try:
    spin.score(1)
except KeyboardInterrupt:
    seen()
print(scorebox.Scorer("exact-match").score("a", "a").score)
""",
        GUEST,
    )
    assert printed.split("\n") == ["seen True", "1.0", ""]


def test_ctrl_c_ends_a_batch():
    pytest.importorskip("pyarrow")
    printed = printed_by(
        INTERRUPTED
        + """
import pyarrow
spin = scorebox.Scorer(sys.argv[1], config={"then": "spin"}, timeout=600, fuel=2**63)
begun()
try:
    spin.score_table(pyarrow.table({"output": list(range(1000))}))
except KeyboardInterrupt:
    seen()
""",
        GUEST,
    )
    assert printed.split("\n") == ["seen True", ""]


def test_ctrl_c_ends_a_stream():
    printed = printed_by(
        INTERRUPTED
        + """
spin = scorebox.Suite(text=f'''
[scorers.spin]
use = "{sys.argv[1]}"
config = {{ then = "spin" }}
limits = {{ timeout = "600s", fuel = 9000000000000000000 }}
''')
begun()
try:
    next(spin.iter([{"output": 1}]))
except KeyboardInterrupt:
    seen()
sys.stdout.flush()
os._exit(0)
""",
        GUEST,
    )
    assert printed.split("\n") == ["seen True", ""]


def test_ctrl_c_ends_a_run_in_good_order_and_it_can_be_resumed(tmp_path):
    (tmp_path / "suite.toml").write_text("[scorers.rouge]\n")
    lines = [f'{{"id": {number}, "output": "{"a b c " * 50}", "expected": "a c"}}\n' for number in range(40_000)]
    (tmp_path / "cases.jsonl").write_text("".join(lines))
    program = Program(
        """
        import sys
        import scorebox
        def progress(so_far):
            if so_far["scoresWritten"]:
                print("under way", flush=True)
        try:
            scorebox.run("suite.toml", "cases.jsonl", run_id="r", progress=progress)
        except KeyboardInterrupt:
            print("interrupted")
        ended = scorebox.run("suite.toml", "cases.jsonl", resume="r")
        print(ended.cases, 0 < ended.scores < 40_000, ended.scorers["rouge"]["count"])
        """,
        folder=tmp_path,
    )
    assert program.line() == "under way"
    program.process.send_signal(signal.SIGINT)
    code, printed, complained = program.end()
    assert code == 0, complained
    words = [line for line in printed.split("\n") if line != "under way"]
    assert words == ["interrupted", "40000 True 40000", ""]


def interrupted_merge(folder, target: str, under_way: Callable[[], bool]) -> Program:
    """A program whose merge Ctrl-C ended when it was under way. It merges again once it is to end."""
    pytest.importorskip("pyarrow")
    program = Program(
        """
        import sys
        import pyarrow, pyarrow.parquet
        import scorebox
        names = [str(number) for number in range(40_000)]
        table = pyarrow.table({"id": names, "output": names, "expected": names})
        scored = scorebox.Suite(text="[scorers.exact-match]").score_table(table, run_id="r")
        pyarrow.parquet.write_table(scored, "part.parquet")
        print("merging", flush=True)
        try:
            scorebox.merge("part.parquet", **{sys.argv[1]: "merged"})
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        sys.stdin.read()
        print(scorebox.merge("part.parquet", **{sys.argv[1]: "merged"}).cases)
        """,
        target,
        folder=folder,
    )
    assert program.line() == "merging"
    while not under_way():
        assert program.process.poll() is None, program.end()
    program.process.send_signal(signal.SIGINT)
    assert program.line() == "interrupted"
    return program


def test_ctrl_c_ends_a_merge_into_a_database_and_the_next_one_continues_it(tmp_path):
    def stored() -> int:
        try:
            with contextlib.closing(sqlite3.connect(f"{(tmp_path / 'merged').as_uri()}?mode=ro", uri=True)) as database:
                return database.execute("SELECT count(*) FROM cases").fetchone()[0]
        except sqlite3.OperationalError:
            return 0

    program = interrupted_merge(tmp_path, "db", lambda: stored() > 0)
    assert 0 < stored() < 40_000
    assert program.end() == (0, "40000\n", "")
    assert stored() == 40_000


def test_ctrl_c_ends_a_merge_into_a_file_and_leaves_none(tmp_path):
    def names() -> list[str]:
        return sorted(path.name for path in tmp_path.iterdir())

    program = interrupted_merge(tmp_path, "output", lambda: len(names()) > 1)
    assert names() == ["part.parquet"]
    assert program.end() == (0, "40000\n", "")
    assert names() == ["merged", "part.parquet"]


def test_other_threads_run_while_one_scores():
    printed = printed_by(
        """
        import sys, threading
        import scorebox
        spin = scorebox.Scorer(sys.argv[1], config={"then": "spin"}, timeout=1.0, fuel=2**63)
        turns, ended = 0, threading.Event()
        def score():
            try:
                spin.score(1)
            except scorebox.ScoreboxError as error:
                print(error.kind)
            ended.set()
        threading.Thread(target=score).start()
        while not ended.is_set():
            turns += 1
        print(turns > 1000)
        """,
        GUEST,
    )
    assert printed.split() == ["timed-out", "True"]


def test_components_are_compiled_in_another_process_within_its_limits(tmp_path):
    """A file that is nested without end overflows the stack of its compiler, and of nothing else."""
    # A section (7) of one type: a component type (0x41) with one declaration, which is a type (1), and so on.
    types = b"\x01" + b"\x41\x01\x01" * 20_000 + b"\x41\x00"
    size, length = b"", len(types)
    while length >= 0x80:
        size, length = size + bytes([length & 0x7F | 0x80]), length >> 7
    bomb = tmp_path / "bomb.wasm"
    bomb.write_bytes(MISBEHAVE.read_bytes() + b"\x07" + size + bytes([length]) + types)
    printed = printed_by(
        """
        import sys
        import scorebox
        scorebox.configure(cache_dir=sys.argv[2])
        try:
            scorebox.Scorer(sys.argv[1])
        except scorebox.ScoreboxError as error:
            print(error.kind)
        print(scorebox.Scorer("exact-match").score("a", "a").score)
        """,
        str(bomb),
        str(tmp_path / "cache"),
    )
    assert printed.split() == ["invalid-component", "1.0"]


def test_a_second_ctrl_c_drops_what_is_in_flight_and_the_run_can_be_resumed_in_the_same_process(tmp_path):
    spin = f'[scorers.spin]\nuse = "{GUEST}"\nlimits = {{ timeout = "600s", fuel = 9000000000000000000 }}\nconfig = {{ then = "spin" }}\n'
    (tmp_path / "suite.toml").write_text(spin)
    (tmp_path / "cases.jsonl").write_text("".join(f'{{"id": "{number}", "output": 1}}\n' for number in range(5000)))
    printed = printed_by(
        """
        import os, signal, threading, time
        import scorebox
        def run(**options):
            for seconds in (1, 2):
                threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()
            began = time.monotonic()
            try:
                scorebox.run("suite.toml", "cases.jsonl", progress=False, **options)
            except KeyboardInterrupt:
                print("interrupted", time.monotonic() - began < 4)
        scorebox.Suite("suite.toml").scorer("spin")
        run(run_id="r")
        run(resume="r")
        before = time.process_time()
        time.sleep(1)
        print("idle", time.process_time() - before < 0.3)
        """,
        folder=tmp_path,
    )
    assert printed == "interrupted True\ninterrupted True\nidle True\n"
