"""Single scores that are asked for at once: however many, no more are computed at once than there are jobs."""

from __future__ import annotations

from conftest import printed_by

#: A scorer that computes for a while, and how many scores of it were computed at once, on average. A score's own time does not
#: count what it waits for its turn, so the times of all together are at most the time that passed, for each job.
BUSY = """
import asyncio, concurrent.futures, pathlib, sys, time
import scorebox
path = pathlib.Path(sys.argv[1]) / "busy.js"
path.write_text('''export default ({ output }) => {
  let x = 0;
  for (let i = 0; i < output; i++) x = (x * 31 + i) % 1000003;
  return x >= 0 ? 1 : 0;
};''')
scorebox.configure(jobs=2)
busy = scorebox.Scorer(path, timeout=600)
work = 1000
while busy.score(work).elapsed < 0.05:
    work *= 2
def at_once(scores, began):
    passed = time.monotonic() - began
    return len(scores), sum(score.elapsed for score in scores) / passed
"""


def test_threads_that_score_at_once_wait_for_each_other(tmp_path):
    printed = printed_by(
        BUSY
        + """
with concurrent.futures.ThreadPoolExecutor(40) as pool:
    began = time.monotonic()
    scores = list(pool.map(lambda _: busy.score(work), range(40)))
    print(*at_once(scores, began))
""",
        str(tmp_path),
    )
    scored, at_once = printed.split()
    assert scored == "40" and float(at_once) <= 2


def test_scores_that_are_awaited_at_once_wait_for_each_other(tmp_path):
    printed = printed_by(
        BUSY
        + """
async def all_at_once():
    began = time.monotonic()
    scores = await asyncio.gather(*(busy.ascore(work) for _ in range(40)))
    return at_once(scores, began)
print(*asyncio.run(all_at_once()))
""",
        str(tmp_path),
    )
    scored, at_once = printed.split()
    assert scored == "40" and float(at_once) <= 2


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
