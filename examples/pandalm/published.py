"""A judge that answers one question as the data set says that the model did. With the argument `tidy`: drops from
recordings what differs from run to run, such as the time at which this program answered."""

import json
import re
import sys

MEASURED = ("callDigest", "isRecorded", "latencyMs", "attempts", "answeredAtMs")
# A part of a case stands between tags with the same nonce, see docs/judges.md.
PART = re.compile(r"<(input|output|baseline)-([0-9a-f]+)>\n(.*?)\n</\1-\2>", re.DOTALL)


def lines(file):
    return [json.loads(line) for line in open(file, encoding="utf-8")]


def answer(question):
    parts = {name: text for name, _, text in PART.findall(question["messages"][0]["text"])}
    ids = {case["id"] for case in lines("cases.jsonl") if all(case[name] == parts[name] for name in parts)}
    [verdict] = {json.dumps(row[question["model"]]) for row in lines("published.jsonl") if row["id"] in ids}
    verdict = json.loads(verdict)
    choice = {"0": "tie", "Tie": "tie"}.get(str(verdict["result"]), str(verdict["result"]))
    # What the authors could not read is published as this word.
    if choice == "garbage":
        return "garbage"
    return json.dumps({"reason": verdict["reason"], "choice": choice}, ensure_ascii=False)


if sys.argv[1:] == ["tidy"]:
    for line in sys.stdin:
        call = {key: value for key, value in json.loads(line).items() if key not in MEASURED}
        print(json.dumps(call, ensure_ascii=False))
else:
    print(json.dumps({"text": answer(json.load(sys.stdin))}))
