"""docs/python.md: what it shows is what happens."""

from __future__ import annotations

import doctest
import re

import pytest
from conftest import REPOSITORY


def test_the_page_shows_what_happens(tmp_path, monkeypatch):
    pytest.importorskip("polars")
    page = (REPOSITORY / "docs/python.md").read_text()
    monkeypatch.chdir(tmp_path)
    for kind, name in [("js", "grade.js"), ("toml", "suite.toml"), ("jsonl", "cases.jsonl")]:
        (block,) = re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL)
        (tmp_path / name).write_text(block)
    failed, tried = doctest.testfile(str(REPOSITORY / "docs/python.md"), module_relative=False)
    assert tried > 10 and failed == 0
