"""Single scores that are asked for at once: however many, each has its own time-out to compute."""

from __future__ import annotations

from conftest import printed_by

#: A scorer that computes for a quarter of its time-out, as many as would be over together.
BUSY = """
import asyncio, collections, concurrent.futures, pathlib, sys, time
import scorebox
path = pathlib.Path(sys.argv[1]) / "busy.js"
path.write_text('''export default ({ output }) => {
  let x = 0;
  for (let i = 0; i < output; i++) x = (x * 31 + i) % 1000003;
  return x >= 0 ? 1 : 0;
};''')
scorebox.configure(jobs=2)
def seconds(scorer, work):
    began = time.monotonic()
    scorer.score(work)
    return time.monotonic() - began
patient = scorebox.Scorer(path, timeout=60)
seconds(patient, 1)
work = 1000
while (took := seconds(patient, work)) < 0.1:
    work *= 2
busy = scorebox.Scorer(path, timeout=8 * took)
def status(_):
    try:
        return busy.score(work).status
    except scorebox.ScoreboxError as error:
        return error.kind
"""


def test_threads_that_score_at_once_wait_for_each_other(tmp_path):
    printed = printed_by(
        BUSY
        + """
with concurrent.futures.ThreadPoolExecutor(40) as pool:
    print(dict(collections.Counter(pool.map(status, range(40)))))
""",
        str(tmp_path),
    )
    assert printed == "{'scored': 40}\n"


def test_scores_that_are_awaited_at_once_wait_for_each_other(tmp_path):
    printed = printed_by(
        BUSY
        + """
async def all_at_once():
    scores = await asyncio.gather(*(busy.ascore(work) for _ in range(40)), return_exceptions=True)
    return [getattr(score, "status", None) or score.kind for score in scores]
print(dict(collections.Counter(asyncio.run(all_at_once()))))
""",
        str(tmp_path),
    )
    assert printed == "{'scored': 40}\n"


def test_a_score_that_is_cancelled_while_it_waits_lets_the_others_go_on():
    printed = printed_by(
        """
        import asyncio
        import scorebox
        scorebox.configure(jobs=1)
        same = scorebox.Scorer("exact-match")
        async def some_cancelled():
            scores = [asyncio.ensure_future(same.ascore("a", "a")) for _ in range(20)]
            await asyncio.sleep(0)
            for score in scores[::2]:
                score.cancel()
            await asyncio.gather(*scores, return_exceptions=True)
            return (await same.ascore("b", "b")).score, [score.result().score for score in scores[1::2]]
        print(asyncio.run(some_cancelled()))
        """
    )
    assert printed == f"(1.0, {[1.0] * 10})\n"
