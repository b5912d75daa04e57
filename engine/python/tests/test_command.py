"""The command that comes with the package."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import scorebox

COMMAND = [sys.executable, "-m", "scorebox"]


def run(*arguments: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, **options)


def test_the_command_is_the_program_scorebox():
    version = run("--version")
    assert version.stdout == f"scorebox {scorebox.__version__}\n"
    scored = run("score", "exact-match", "--output", '"a"', "--expected", '"a"')
    if scored.returncode == 2:
        scored = run("score", "exact-match", "--output", '"a"', "--ground-truth", '"a"')
    assert (scored.returncode, json.loads(scored.stdout)["score"]) == (0, 1.0), scored.stderr


def test_the_command_has_its_exit_codes_and_hints():
    unknown = run("score", "exact-mach", "--output", "1")
    assert unknown.returncode == 2
    assert unknown.stderr.endswith("hint: did you mean `exact-match`?\n")
    assert run("no-such-command").returncode == 2


def test_the_command_compiles_in_another_process(tmp_path):
    scored = run("score", "equals", "--output", "1", "--no-cache", "--allow-errors", "--format", "json")
    assert scored.returncode == 0, scored.stderr


def test_the_package_is_typed_and_its_command_is_installed():
    package = Path(scorebox.__file__).parent
    assert (package / "py.typed").exists() and (package / "_scorebox.pyi").exists()
    installed = Path(sysconfig.get_path("scripts")) / "scorebox"
    if installed.exists():
        printed = subprocess.run([installed, "--version"], capture_output=True, text=True, check=True)
        assert printed.stdout.startswith("scorebox ")


def test_importing_is_fast_and_imports_no_framework():
    program = "import sys, scorebox; print(*(m for m in ('numpy', 'pandas', 'pyarrow', 'asyncio.base_events') if m in sys.modules))"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {"numpy", "pandas", "pyarrow"}.isdisjoint(printed.stdout.split())
