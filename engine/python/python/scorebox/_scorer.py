"""One scorer, for cases one at a time and for tables."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _scorebox
from ._arguments import dictionary, number_if_any, whole_if_any
from ._errors import ScoreboxError
from ._scorebox import Score
from ._tables import like, mapped

if TYPE_CHECKING:
    import asyncio


class ScorerInfo(NamedTuple):
    """What a scorer says about itself.

    Attributes:
        id: Its own id, 1 to 64 of ``a-z``, ``0-9`` and ``-``.
        name: Its name for people.
        description: What it scores, how, and where the formula comes from.
        version: Its own version.
        scale: ``"unit"``: scores are 0 to 1; ``"points"``: any finite number from 0 up.
        direction: ``"higher-is-better"`` or ``"lower-is-better"``.
        reads: The parts of a case that it is given beside the output, as keys of a case line (``"groundTruth"``, …).
        severity: How a score on the wrong side of the threshold counts: ``"gate"`` or ``"soft"``.
        threshold: The score at which a case passes, or ``None``.
        config_schema: A JSON Schema of its configuration, or ``None``.
        digest: SHA-256 of the component, which names its behaviour.
    """

    id: str
    name: str
    description: str
    version: str
    scale: str
    direction: str
    reads: list[str]
    severity: str
    threshold: float | None
    config_schema: Any
    digest: str


class Scorer:
    """A scorer that is loaded and ready. It may be used by many threads at once; each score has its own sandbox.

    A scorer pickles as its recipe (what it was made from, a file by its absolute path) with the digest of its component,
    never as state: it is loaded again where it is unpickled, from the cache of compiled code if that has it. The same
    happens by itself in a process that was forked. If it is another scorer by then, such as a script that was edited, that
    is refused (``"changed"``).

    Args:
        source: The name of a built-in scorer (``"rouge"``, see :func:`scorebox.scorers`), the path of a component
            (``.wasm``) or of a script (``.js``, ``.mjs``, ``.ts``, ``.mts``, and once ``scorebox toolchain add python`` was run
            ``.py``), or the bytes of a component.
        config: Its configuration: what it takes is in ``info.config_schema``.
        timeout: Seconds that one score may compute; 5 unless something else is said.
        fuel: Wasm instructions, roughly, that one score may use; 10 000 000 000 unless something else is said.
        memory: Memory that one score may use, in bytes or as text (``"128MiB"``); 64 MiB unless something else is said,
            at most 4 GiB.
        grants: What it may import that no scorer may by itself: ``["wasi"]``, ``["workspace"]``. A scorer that asks a judge
            is used in a suite, which describes the judge.

    Raises:
        ScoreboxError: It does not exist, cannot be loaded, or refuses its configuration.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | bytes,
        *,
        config: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        fuel: int | None = None,
        memory: int | str | None = None,
        grants: Sequence[str] | None = None,
    ) -> None:
        if isinstance(grants, str):
            message = f"`grants` is a list of words, such as [{grants!r}], and not a text"
            raise ScoreboxError("invalid-argument", message)
        if config is not None:
            config = dictionary("config", config, "such as config={\"max\": 5}; `info.config_schema` says what it takes")
        options = (config, number_if_any("timeout", timeout), fuel, memory, list(grants or ()))
        self._native = _scorebox.Scorer(source, *options)
        self._recipe: tuple[Any, ...] = (self._native.path or source, *options)
        self._score = self._native.score
        self._info: ScorerInfo | None = None

    @classmethod
    def _of_entry(cls, suite: Any, name: str) -> Scorer:
        scorer = cls.__new__(cls)
        scorer._recipe = (suite, name)
        scorer._native = suite._native.scorer(name)
        scorer._score = scorer._native.score
        scorer._info = None
        return scorer

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self._recipe, self._native.digest)

    def __repr__(self) -> str:
        return f"Scorer({self.info.id!r})"

    def _made_from(self) -> tuple[Any, dict[str, Any]]:
        """What it was made from, and with which options; of a suite's scorer its name there, and which suite."""
        if len(self._recipe) == 2:
            suite, name = self._recipe
            return name, {"config": self._native.config, "suite": suite.name, "suite_digest": suite.digest}
        source, *options = self._recipe
        names = ("config", "timeout", "fuel", "memory", "grants")
        return source, {name: option for name, option in zip(names, options) if option}

    @property
    def info(self) -> ScorerInfo:
        """What the scorer says about itself."""
        if self._info is None:
            self._info = ScorerInfo(**self._native.info())
        return self._info

    def score(
        self,
        output: Any,
        expected: Any = None,
        *,
        input: Any = None,
        context: Any = None,
        trace: Any = None,
        metadata: Any = None,
        usage: Mapping[str, Any] | None = None,
        latency_ms: float | None = None,
        output_schema: Any = None,
        baseline: Any = None,
        workspace: str | None = None,
    ) -> Score:
        """Scores one case.

        All parts are JSON: strings, finite numbers, bools, ``None``, and lists, tuples and dictionaries of these. ``None``
        is the same as no such part, except for ``output``. Parts that the scorer does not read (``info.reads``) are not
        looked at.

        Args:
            output: What the task produced.
            expected: The expected output; ``groundTruth`` in a case line.
            input: The task's input or prompt.
            context: What the task was given in addition.
            trace: What an agent did: messages, tool calls.
            metadata: Anything else.
            usage: ``inputTokens``, ``outputTokens``, ``totalTokens`` and ``costUsd`` (US dollars).
            latency_ms: How long the task took, in milliseconds.
            output_schema: A JSON Schema that the output should match.
            baseline: Another output for the same input.
            workspace: The folder with the files that the task left, below ``scorebox.configure(workspace=…)``.

        Returns:
            A result whose ``status`` is ``"scored"``, or ``"not-applicable"`` with the score ``None``: never 0 for a
            score that is not there.

        Raises:
            ScoreboxError: There is no score although there should be (``kind`` says why: ``"timed-out"``,
                ``"out-of-fuel"``, ``"trap"``, ``"invalid-input"``, …), or a part is not JSON (``"invalid-case"``, with
                the path to the value).
            KeyboardInterrupt: Ctrl-C, within a tenth of a second.
        """
        return self._score(
            output, expected, input, context, trace, metadata, usage, latency_ms, output_schema, baseline, workspace
        )

    async def ascore(
        self,
        output: Any,
        expected: Any = None,
        *,
        input: Any = None,
        context: Any = None,
        trace: Any = None,
        metadata: Any = None,
        usage: Mapping[str, Any] | None = None,
        latency_ms: float | None = None,
        output_schema: Any = None,
        baseline: Any = None,
        workspace: str | None = None,
    ) -> Score:
        """Scores one case as :meth:`score` does, without holding up the event loop. Cancelling ends the score."""
        import asyncio

        loop = asyncio.get_running_loop()
        future: asyncio.Future[Score] = loop.create_future()

        def settle(score: Score | None, error: ScoreboxError | None) -> None:
            if future.done():
                return
            if error is not None:
                future.set_exception(error)
            elif score is not None:
                future.set_result(score)

        def done(score: Score | None, error: ScoreboxError | None) -> None:
            try:
                loop.call_soon_threadsafe(settle, score, error)
            except RuntimeError:
                # The loop is closed, so no one waits.
                pass

        pending = self._native.submit(
            done, output, expected, input, context, trace, metadata, usage, latency_ms, output_schema, baseline, workspace
        )
        try:
            return await future
        finally:
            pending.cancel()

    def score_table(
        self, table: Any, *, columns: Mapping[str, str] | None = None, jobs: int | None = None
    ) -> Any:
        """Scores each row of a table, as many at once as there are jobs.

        Args:
            table: A table of pyarrow, polars or pandas, of which only the columns that the scorer reads are looked at; or
                anything with Arrow's ``__arrow_c_stream__``. A stream of batches is read one batch at a time. ``NaN``
                and infinities are null.
            columns: Which column is which part of a case, by the keys of a case line: ``{"output": "answer",
                "expected": "gold"}``. Other columns are found by the key's own names (``output``, ``expected``,
                ``groundTruth``, ``reference``, ``input``, ``id``, …), and the rest are not read. Texts in ``trace``,
                ``metadata``, ``usage`` and ``outputSchema`` are JSON documents.
            jobs: How many scores are computed at once; the number of cores unless something else is said.

        Returns:
            A table with one row for each row, in the same order: of pyarrow, polars or pandas (with the same index) as
            the table that came in, else a :class:`scorebox.Table`. Columns: ``id`` and ``status`` (texts), ``score``
            (float64), ``label``, ``reason``, ``meta``, ``assertions`` (texts; the last two JSON), ``error_kind``,
            ``error_message``, ``error_advice``, ``fuel``, ``memory_bytes``, ``duration_ms`` and ``log``. A row that
            cannot be scored has the status ``"error"``, and no other row is affected.

        Raises:
            ScoreboxError: There is no column for the output, or a column has a type that is not JSON.
            KeyboardInterrupt: Ctrl-C, within a tenth of a second.
        """
        return like(table, self._native.score_table(table, mapped(columns), whole_if_any("jobs", jobs, 1)))


def _rebuilt(recipe: tuple[Any, ...], digest: str) -> Scorer:
    if len(recipe) == 2:
        scorer = Scorer._of_entry(*recipe)
    else:
        source, config, timeout, fuel, memory, grants = recipe
        scorer = Scorer(source, config=config, timeout=timeout, fuel=fuel, memory=memory, grants=grants)
    scorer._native.must_be(digest)
    return scorer
