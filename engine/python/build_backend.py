"""What pip calls to build the package: maturin, with the wheel compressed as far as deflate goes, which maturin takes as an argument only.

The wheel is 3 % smaller for three seconds more.
"""

from __future__ import annotations

import os
import shlex

import maturin
from maturin import *  # noqa: F403


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """As maturin does; arguments of the caller, by pip's ``-C build-args=…`` or by maturin's variable, come after its own."""
    settings = dict(config_settings or {})
    name = "build-args" if "build-args" in settings else "maturin.build-args"
    given = settings.get(name, os.getenv("MATURIN_PEP517_ARGS", ""))
    given = shlex.split(given) if isinstance(given, str) else list(given)
    if not any(argument.startswith("--compression-") for argument in given):
        given.insert(0, "--compression-level=9")
    return maturin.build_wheel(wheel_directory, {**settings, name: given}, metadata_directory)
