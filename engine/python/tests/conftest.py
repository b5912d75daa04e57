"""What the tests share: test guests, and programs that run in processes of their own. Asserts nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import scorebox

REPOSITORY = Path(__file__).resolve().parents[3]
#: A scorer that does one bad thing, which its configuration names.
MISBEHAVE = REPOSITORY / "tests/guests/dist/misbehave.wasm"


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """One folder of compiled code for all tests, and for the processes that they start."""
    folder = os.environ.setdefault("SCOREBOX_CACHE_DIR", str(tmp_path_factory.mktemp("compiled")))
    return Path(folder)


@pytest.fixture(scope="session")
def same(cache):
    return scorebox.Scorer("exact-match")


def misbehaving(deed: str, **options) -> scorebox.Scorer:
    return scorebox.Scorer(MISBEHAVE, config={"then": deed}, **options)


class Program:
    """A Python program in a process of its own."""

    def __init__(self, text: str, *arguments: str, folder: Path | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(text), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
        )

    def line(self) -> str:
        """The next line that it prints."""
        return self.process.stdout.readline().rstrip("\n")

    def end(self) -> tuple[int, str, str]:
        """Its exit code, and all else that it printed and complained of."""
        printed, complained = self.process.communicate(timeout=300)
        return self.process.returncode, printed, complained


def printed_by(text: str, *arguments: str, folder: Path | None = None) -> str:
    code, printed, complained = Program(text, *arguments, folder=folder).end()
    assert code == 0, f"exit code {code}\n{printed}\n{complained}"
    return printed
