"""Refuses to be loaded by an interpreter that is not its process's first one, whose end would wait for threads for ever."""

from __future__ import annotations

import importlib
from typing import Any


def must_be_first() -> None:
    """Raises ``ImportError`` in another interpreter than the process's first one."""
    # The names of one module in versions of Python; a build may have none, and no other interpreters.
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            interpreters: Any = importlib.import_module(name)
        except ImportError:
            continue
        if interpreters.get_current() != interpreters.get_main():
            raise ImportError("scorebox does not run in subinterpreters; import it in the process's first interpreter")
        return
