"""The command ``scorebox`` that comes with the package: the same program, in this interpreter."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Does what the command line says, and returns its exit code."""
    from . import _scorebox

    # The command line has its own way with Ctrl-C, which ends a run in good order.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _scorebox.command(["scorebox", *sys.argv[1:]])
