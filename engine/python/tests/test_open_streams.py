"""Streams that stay open: how many a process may have, and that one which nobody has any more ends by itself."""

from __future__ import annotations

import gc
import threading
import weakref

from conftest import printed_by
from test_streams import ONE, how_it_ended

import scorebox


def endless():
    while True:
        yield {"output": "a", "expected": "a"}


class Adaptive:
    """A test whose cases depend on its rows, so that it has the stream and the stream has it."""

    def __init__(self, suite, in_flight=1, **options):
        self.last = None
        self.rows = suite.iter(self.cases(), in_flight=in_flight, **options)

    def cases(self):
        while self.last is None or self.last.score == 1:
            yield {"output": "a", "expected": "a"}


def test_as_many_streams_as_the_limit_are_open_at_once_and_others_are_refused():
    said = printed_by(
        """
        import scorebox
        suite, scorer = scorebox.Suite(text="[scorers.exact-match]"), scorebox.Scorer("exact-match")
        def endless():
            while True:
                yield {"output": "a", "expected": "a"}
        streams = [suite.iter(endless(), in_flight=1) for _ in range(1000)]
        assert all(next(rows).score == 1 for rows in streams)
        assert scorer.score("a", "a").score == 1
        try:
            suite.iter(endless())
        except scorebox.ScoreboxError as error:
            print(error.message)
        streams.pop().close()
        assert next(suite.iter(endless())).score == 1
        """
    )
    assert said == "1000 streams and runs are open in this process, which is the most\n"


def test_a_stream_that_has_ended_leaves_its_place_to_another():
    suite = scorebox.Suite(text=ONE)
    for _ in range(1100):
        assert [row.score for row in suite.iter([{"output": "a", "expected": "a"}])] == [1.0]


def test_a_stream_that_only_its_own_cases_have_is_ended_by_the_collector(tmp_path):
    db = tmp_path / "scorebox.db"
    adaptive = Adaptive(scorebox.Suite(text=ONE), db=db, run_id="left")
    for adaptive.last in adaptive.rows:
        break
    there = weakref.ref(adaptive)
    del adaptive
    gc.collect()
    assert there() is None
    assert how_it_ended(db, "left") == "interrupted"


class Failing(Adaptive):
    """The same with cases that break off: the traceback has the test."""

    def cases(self):
        yield {"output": "a", "expected": "a"}
        raise RuntimeError("the network is gone")


def test_an_exception_that_no_one_takes_is_no_hindrance():
    adaptive = Failing(scorebox.Suite(text=ONE), in_flight=2)
    next(adaptive.rows)
    there = weakref.ref(adaptive)
    del adaptive
    gc.collect()
    assert there() is None


def test_a_stream_that_is_closed_lets_go_of_its_cases():
    adaptive = Adaptive(scorebox.Suite(text=ONE))
    cases = weakref.ref(adaptive)
    with adaptive.rows as rows:
        next(rows)
    del adaptive
    assert cases() is None
    assert list(rows) == []


def test_a_stream_may_be_closed_by_its_own_cases():
    streams = []

    def closing():
        yield {"output": "a", "expected": "a"}
        streams[0].close()
        yield {"output": "b", "expected": "b"}

    streams.append(scorebox.Suite(text=ONE).iter(closing(), in_flight=1))
    ended = threading.Thread(target=lambda: streams.append(list(streams[0])), daemon=True)
    ended.start()
    ended.join(30)
    assert [row.score for row in streams[1]] == [1.0]
