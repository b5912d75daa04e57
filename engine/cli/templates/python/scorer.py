# {{title}}: 1 where the output has the expected answer in it, else 0. Put your own formula in its place.

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


def score(case, config):
    # The scorer does not apply to a case that does not say what is expected.
    if "groundTruth" not in case:
        return {"score": None, "reason": "the case has no groundTruth"}
    fold = lambda value: str(value).lower() if config["ignoreCase"] else str(value)
    found = fold(case["groundTruth"]) in fold(case["output"])
    return {"score": found, "reason": f"the output {'has' if found else 'does not have'} {case['groundTruth']!r}"}
