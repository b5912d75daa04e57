"""How components are compiled: in another process of the same interpreter, which loads the extension module from its file
and nothing else, so that it begins in milliseconds and wherever the package is installed."""

from __future__ import annotations

import sys

_PROGRAM = """
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
name, path = "_scorebox", sys.argv[1]
loader = ExtensionFileLoader(name, path)
module = module_from_spec(spec_from_file_location(name, path, loader=loader))
loader.exec_module(module)
module.compile()
sys.exit("scorebox: nothing was to be compiled")
"""


def command() -> list[str]:
    """The interpreter and its arguments; the request itself comes through its environment."""
    from . import _scorebox

    # Without the user's site and environment: nothing else of theirs runs in the process with its limits.
    return [sys.executable, "-I", "-S", "-c", _PROGRAM, _scorebox.__file__]
