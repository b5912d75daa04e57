# Word-overlap F1 of the output and the ground truth: twice the words that both have, over the words of both.

import json
import re
from collections import Counter

info = {
    "id": "word-f1",
    "name": "Word F1",
    "description": "How many words output and ground truth share: 2 * shared / (words of both).",
    "configSchema": {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "ignoreCase": {"type": "boolean", "default": True},
            "minimum": {"type": "number", "minimum": 0, "maximum": 1, "default": 0},
        },
    },
    "reads": ["groundTruth"],
}

WORD = re.compile("[A-Za-z0-9]+")


def words_of(value, ignore_case):
    text = value if isinstance(value, str) else json.dumps(value)
    return WORD.findall(text.lower() if ignore_case else text)


def score(case, config):
    if "groundTruth" not in case:
        raise InvalidInput("the case has no groundTruth")
    truth = words_of(case["groundTruth"], config["ignoreCase"])
    output = words_of(case["output"], config["ignoreCase"])
    shared = (Counter(truth) & Counter(output)).total()
    total = len(truth) + len(output)
    f1 = 1 if total == 0 else 2 * shared / total
    return {
        "score": 0 if f1 < config["minimum"] else f1,
        "reason": f"{shared} words shared, of {len(output)} in the output and {len(truth)} in the ground truth",
        "meta": {"output": len(output), "shared": shared, "truth": len(truth)},
    }
