# {{title}}: 1 where the output has the expected answer in it, else 0. Put your own formula in its place.

import json

info = {
    "name": "{{title}}",
    "description": "Scores 1 where the output has the expected answer in it, else 0.",
    "reads": ["groundTruth"],
    "configSchema": {
        "type": "object",
        "properties": {
            "ignoreCase": {"type": "boolean", "default": True, "description": "Whether A and a are the same."},
        },
        "additionalProperties": False,
    },
}


def text_of(value):
    """The text itself; of what is not a text, its JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def score(case, config):
    # The scorer does not apply to a case that does not say what is expected.
    if "groundTruth" not in case:
        return {"score": None, "reason": "the case has no groundTruth"}
    fold = lambda text: text.lower() if config["ignoreCase"] else text
    found = fold(text_of(case["groundTruth"])) in fold(text_of(case["output"]))
    return {"score": found, "reason": f"the output {'has' if found else 'does not have'} {case['groundTruth']!r}"}
