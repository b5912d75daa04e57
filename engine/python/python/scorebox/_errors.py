"""The exception of the package. Raised by the extension module; written here so that it can be pickled."""

from __future__ import annotations


class ScoreboxError(Exception):
    """Something went wrong, and why.

    Attributes:
        kind: A word for programs, such as ``"timed-out"``, ``"invalid-config"``, ``"invalid-case"`` or
            ``"unknown-scorer"``; ``docs/limits-and-errors.md`` and ``docs/python.md`` list them.
        message: What happened and where, for a person; may have several lines.
        advice: What to do about it, or ``None``.
    """

    def __init__(self, kind: str, message: str, advice: str | None = None) -> None:
        super().__init__(kind, message, advice)
        self.kind = kind
        self.message = message
        self.advice = advice

    def __str__(self) -> str:
        text = f"{self.kind}: {self.message}"
        return f"{text}\nhint: {self.advice}" if self.advice else text
