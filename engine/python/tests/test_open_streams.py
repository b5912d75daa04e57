"""Streams that stay open: how many a process may have."""

from __future__ import annotations

from conftest import printed_by
from test_streams import ONE

import scorebox


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
