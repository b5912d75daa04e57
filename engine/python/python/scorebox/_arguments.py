"""What callers pass, looked at before it is used: what is not what a function takes is named by its argument."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ._errors import ScoreboxError

#: The largest whole number that is taken.
_LARGEST = 2**63 - 1


def dictionary(name: str, passed: Any, advice: str) -> dict[str, Any]:
    """An argument that is a dictionary; an empty one if there is none."""
    if passed is None:
        return {}
    if not isinstance(passed, Mapping):
        raise ScoreboxError("invalid-argument", f"`{name}` is a dictionary, not `{type(passed).__name__}`", advice)
    return dict(passed)


def text(name: str, passed: Any) -> str | None:
    """An argument that is a text, if there is one."""
    if passed is not None and not isinstance(passed, str):
        message = f"`{name}` is a text, not `{type(passed).__name__}`"
        raise ScoreboxError("invalid-argument", message, f"such as {name}={str(passed)!r}")
    return passed


def seed_of(passed: Any) -> str | None:
    """The seed of sampling, if there is one; an empty one would give runs that were each to have their own the same cases."""
    seed = text("seed", passed)
    if seed == "":
        message = "`seed` has at least one character; an empty one often comes from a variable without a value"
        raise ScoreboxError("invalid-argument", message, "set the variable, or leave `seed` out")
    return seed


def path(name: str, passed: Any) -> str:
    """An argument that is a path."""
    is_path = isinstance(passed, (str, os.PathLike))
    written = os.fspath(passed) if is_path else passed
    if isinstance(written, str):
        return written
    advice = "`os.fsdecode` makes a text of it" if isinstance(written, bytes) else None
    message = f"`{name}` is a path as a text or a `pathlib.Path`, not `{type(written).__name__}`"
    raise ScoreboxError("invalid-argument", message, advice)


def path_if_any(name: str, passed: Any) -> str | None:
    """An argument that is a path, if there is one."""
    return None if passed is None else path(name, passed)


def whole(name: str, passed: Any, least: int = -_LARGEST) -> int:
    """An argument that is a whole number."""
    try:
        number = operator.index(passed)
    except TypeError:
        message = f"`{name}` is a whole number, not `{type(passed).__name__}`"
        raise ScoreboxError("invalid-argument", message) from None
    if number < least:
        raise ScoreboxError("invalid-argument", f"`{name}` must be at least {least}")
    if number > _LARGEST:
        raise ScoreboxError("invalid-argument", f"`{name}` must be at most {_LARGEST}")
    return number


def whole_if_any(name: str, passed: Any, least: int = -_LARGEST) -> int | None:
    """An argument that is a whole number, if there is one."""
    return None if passed is None else whole(name, passed, least)


def number(name: str, passed: Any) -> float:
    """An argument that is a number."""
    try:
        # `float` reads texts, too.
        if not isinstance(passed, (str, bytes, bytearray)):
            return float(passed)
    except TypeError:
        pass
    except OverflowError:
        raise ScoreboxError("invalid-argument", f"`{name}` is too large a number") from None
    raise ScoreboxError("invalid-argument", f"`{name}` is a number, not `{type(passed).__name__}`")


def number_if_any(name: str, passed: Any) -> float | None:
    """An argument that is a number, if there is one."""
    return None if passed is None else number(name, passed)


def least_means(passed: Any) -> list[tuple[str, float]]:
    """The argument ``fail_below``: means by the names of their scorers."""
    means = dictionary("fail_below", passed, 'such as fail_below={"rouge": 0.5}')
    return [(scorer, number(f"fail_below[{scorer!r}]", mean)) for scorer, mean in means.items()]


def names(named: str | Sequence[str]) -> list[str]:
    """The names of scorers, of which one may be named alone."""
    return [named] if isinstance(named, str) else list(named)
