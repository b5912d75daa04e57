"""Runs the same three scorers over the same answers with scorebox and its peers, compares their scores case by case, and
prints a Markdown table of what each run took. `run` installs the peers and calls it; measure.py measures, tools.py knows
the programs.
"""

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import measure
from tools import HERE, PEERS, Scorebox

ANSWERS = HERE / "../../../../examples/gsm8k/answers.jsonl"
SCORERS = ["exact", "contains", "similarity"]

# One answer of so many is cut to what follows its mark, so that some answers match exactly.
SHORT_EVERY = 10
MARK = "\nA: "

# Runs of one case, of which the median counts: a single run of some milliseconds is a matter of luck.
ONE_CASE_RUNS = 5

# All compute 1 - distance / length in doubles, but not all in the same order.
TOLERANCE = 1e-9
DISAGREEMENTS_SHOWN = 10

DISAGREE, SKIPPED = 1, 2

# The columns of the table, as `row` fills them.
FIGURES = [
    "cases a second",
    "scores a second",
    "whole run",
    "first run",
    "processor time",
    "peak memory",
    "one case",
]


@dataclass
class Outcome:
    """Of one tool: its first run, the medians of the others, one case, and the bytes that a run adds to what is stored."""

    first_s: float
    median: measure.Measured
    one_case_s: float
    stored_bytes: int


def write_cases(file, count):
    """The shipped answers, again and again under other ids."""
    answers = [json.loads(line) for line in ANSWERS.read_text(encoding="utf-8").splitlines()]
    with open(file, "w", encoding="utf-8") as lines:
        for number in range(count):
            answer = answers[number % len(answers)]
            output = answer["output"]
            if number % SHORT_EVERY == SHORT_EVERY - 1:
                output = output.rsplit(MARK, 1)[-1]
            case = {
                "id": f"{answer['id']}-{number // len(answers)}",
                "input": answer["input"],
                "output": output,
                "groundTruth": answer["groundTruth"],
            }
            lines.write(json.dumps(case) + "\n")


def bytes_below(folder):
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def run_once(tool, cases, folder):
    stored = folder / "stored"
    stored.mkdir(parents=True, exist_ok=True)
    return measure.run(tool.command(cases, folder), tool.environment, stored, folder / "words.log")


def measured(tool, cases, one_case, folder, runs):
    first = run_once(tool, cases, folder / "all")
    before_bytes = bytes_below(folder / "all/stored")
    results = [run_once(tool, cases, folder / "all") for _ in range(runs)]
    stored_bytes = (bytes_below(folder / "all/stored") - before_bytes) // runs
    run_once(tool, one_case, folder / "one")
    starts = [run_once(tool, one_case, folder / "one").wall_s for _ in range(ONE_CASE_RUNS)]
    median = measure.Measured(
        wall_s=statistics.median(it.wall_s for it in results),
        cpu_s=statistics.median(it.cpu_s for it in results),
        peak_bytes=statistics.median_low(it.peak_bytes for it in results),
    )
    return Outcome(first.wall_s, median, statistics.median(starts), stored_bytes)


def disagreements(expected, found):
    """What differs, a text each: a case that is not in both, or a score."""
    for case in sorted(expected.keys() | found.keys()):
        ours, theirs = expected.get(case), found.get(case)
        if ours is None or theirs is None:
            yield f"{case}: scored only by {'the other tool' if ours is None else 'scorebox'}"
            continue
        if len(theirs) != len(SCORERS):
            yield f"{case}: {len(theirs)} scores, not {len(SCORERS)}"
            continue
        for scorer, our, their in zip(SCORERS, ours, theirs):
            if our is None or their is None or abs(our - their) > TOLERANCE:
                yield f"{case}: {scorer} is {our} for scorebox and {their} for the other tool"


def short_bytes(count):
    return f"{count / 1e6:,.1f} MB" if count >= 1e5 else f"{count / 1e3:,.1f} kB"


def short_seconds(seconds):
    return f"{seconds:,.2f} s" if seconds >= 1 else f"{seconds * 1e3:,.0f} ms"


def row(tool, outcome, cases):
    stores = tool.stores
    if outcome.stored_bytes > 0:
        stores += f" ({short_bytes(outcome.stored_bytes)})"
    median = outcome.median
    return [
        f"{tool.name} {tool.version()}",
        f"{cases / median.wall_s:,.0f}",
        f"{cases * len(SCORERS) / median.wall_s:,.0f}",
        short_seconds(median.wall_s),
        short_seconds(outcome.first_s),
        short_seconds(median.cpu_s),
        short_bytes(median.peak_bytes),
        short_seconds(outcome.one_case_s),
        stores,
    ]


def print_table(rows, tools, cases, runs):
    print(
        f"Measured on {datetime.date.today()} on {os.cpu_count()} cores ({platform.system()} {platform.release()}, "
        f"{platform.machine()}) with Python {platform.python_version()}: {cases:,} cases, {len(SCORERS)} scorers, "
        f"{f'medians of {runs} runs' if runs > 1 else 'one run'} after the first.\n"
    )
    print(f"| tool | {' | '.join(FIGURES)} | what a run stores |")
    print(f"|---|{'--:|' * len(FIGURES)}---|")
    for columns in rows:
        print(f"| {' | '.join(columns)} |")
    functions = [f"{it.name}: {it.custom}" for it in tools if it.custom]
    if functions:
        print(f"\nScorers that are a function of the bench, because the tool has none: {'; '.join(functions)}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="with the installations; results go there too")
    parser.add_argument("--scorebox", type=Path, required=True, help="the binary")
    parser.add_argument("--cases", type=int, required=True)
    parser.add_argument("--runs", type=int, required=True, help="that are measured, after a first one")
    parser.add_argument("peers", nargs="+", choices=PEERS)
    arguments = parser.parse_args()

    # Each invocation in a folder of its own, so that nothing is stored or cached when it begins.
    work = arguments.folder / f"work-{os.getpid()}"
    home = work / "home"
    home.mkdir(parents=True)
    # Nothing of the user: no configuration, no keys.
    environment = {
        "HOME": str(home),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    cases, one_case = work / "cases.jsonl", work / "one-case.jsonl"
    write_cases(cases, arguments.cases)
    write_cases(one_case, 1)

    scorebox = Scorebox(arguments.folder, environment, str(arguments.scorebox))
    peers = [PEERS[peer](arguments.folder, environment) for peer in PEERS if peer in arguments.peers]
    tools, rows, expected, wrong, skipped = [], [], {}, [], []
    for tool in [scorebox, *peers]:
        if tool is not scorebox and not (arguments.folder / f"{tool.name.lower()}.installed").exists():
            skipped.append(f"{tool.name} could not be installed")
            continue
        print(f"running {tool.name} …", file=sys.stderr)
        folder = work / tool.name.lower()
        try:
            outcome = measured(tool, cases, one_case, folder, arguments.runs)
            found = tool.scores(cases, folder / "all")
        except (measure.Failed, subprocess.CalledProcessError, OSError) as error:
            if tool is scorebox:
                sys.exit(f"scorebox: {error}")
            skipped.append(f"{tool.name} could not be run: {error}")
            continue
        tools.append(tool)
        rows.append(row(tool, outcome, arguments.cases))
        if tool is scorebox:
            expected = found
            # The others are compared with it, so it must be whole.
            wrong += [f"scorebox: no score of {arguments.cases - len(found)} cases"] * (len(found) != arguments.cases)
            continue
        differing = list(disagreements(expected, found))
        wrong += [f"{tool.name}: {it}" for it in differing[:DISAGREEMENTS_SHOWN]]
        if len(differing) > DISAGREEMENTS_SHOWN:
            wrong.append(f"{tool.name}: {len(differing)} disagreements in all")

    print_table(rows, tools, arguments.cases, arguments.runs)
    print()
    for line in wrong:
        print(f"DISAGREES: {line}")
    for line in skipped:
        print(f"SKIPPED: {line}")
    if not wrong and len(tools) > 1:
        print(f"All scores of {', '.join(it.name for it in tools)} agree, case by case.")
    return DISAGREE if wrong else SKIPPED if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
