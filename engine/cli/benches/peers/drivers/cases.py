"""Reads the cases, for the drivers of the Python tools; each of them makes what its tool wants of them."""

import json


def read(path):
    """The cases of a file of JSON Lines: objects with `id`, `input`, `output` and `groundTruth`, all texts."""
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
