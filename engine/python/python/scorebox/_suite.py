"""A suite, over a stream of cases."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from . import _scorebox
from ._arguments import path_if_any, whole, whole_if_any
from ._errors import ScoreboxError
from ._scorebox import Score
from ._scorer import Scorer
from ._tables import column_names, like, mapped


class Suite:
    """A suite of scorers, read from a file.

    It is one suite for as long as it is there. Its files are where they were when it was made, whatever folder becomes the current
    one. What was loaded first is what its scorers are: where they are loaded again, as in a process that was forked or for
    :func:`scorebox.run`, and a script was edited meanwhile, that is refused (``"changed"``).

    It pickles as what it was made from, with its digest and those of its components: the files are read again where it is
    unpickled, by their absolute paths, and refused (``"changed"``) if it is another suite by then.

    Args:
        path: The suite file (TOML or JSON), in which ``${NAME}`` is a variable of the environment; or a bundle
            (``.tar``), which has the values.
        text: In place of a file, the text of one. It is read without the environment: ``${NAME}`` has no value in it. Paths in it
            start in the current folder.
        workspace: The folder below which cases name theirs, for scorers that read files.

    Raises:
        ScoreboxError: The file cannot be read, or is not a valid suite: all mistakes, with line and column.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        text: str | None = None,
        workspace: str | os.PathLike[str] | None = None,
    ) -> None:
        if (path is None) == (text is None):
            raise TypeError("a suite has either a path or a text")
        self._make(path_if_any("path", path), text, path_if_any("workspace", workspace), None)

    def _make(self, path: Any, text: str | None, workspace: Any, folder: str | None) -> None:
        self._native = _scorebox.Suite(path, text, workspace, folder)
        self._recipe = (_absolute(path), text, _absolute(workspace), folder or _current_folder())

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (*self._recipe, self.digest, self._native.components_now())

    def __repr__(self) -> str:
        return f"Suite({self.name!r}: {', '.join(self.scorer_ids)})"

    @property
    def name(self) -> str:
        """What the suite is called."""
        return self._native.name

    @property
    def scorer_ids(self) -> list[str]:
        """The names of its scorers, in its order."""
        return self._native.scorer_ids

    @property
    def digest(self) -> str:
        """SHA-256 of what the suite resolves to, as runs are stored with it."""
        return self._native.digest

    @property
    def default_run_id(self) -> str:
        """The id of a run that is given none, made of name and digest: the same on each machine that has the suite."""
        return self._native.default_run_id()

    def scorer(self, name: str) -> Scorer:
        """One of its scorers alone, with its configuration, limits and grants; without its judge, and for all cases.

        Raises:
            ScoreboxError: There is no such scorer, or it is ``on`` one value of a case, which only the suite knows.
        """
        return Scorer._of_entry(self, name)

    def score_table(
        self,
        table: Any,
        *,
        columns: Mapping[str, str] | None = None,
        run_id: str | None = None,
        jobs: int | None = None,
    ) -> Any:
        """Scores each row of a table with all scorers of the suite: a part of a run that many machines may share.

        The rows are what ``scorebox shard`` writes: ``scorebox merge`` puts tables of many machines together, once they are
        Parquet files.

        Args:
            table: A table of pyarrow, polars or pandas, or anything with Arrow's ``__arrow_c_stream__``. Each row needs an
                ``id`` of its own.
            columns: Which column is which part of a case, as in :meth:`Scorer.score_table`. All other columns that are keys of
                a case are read, too, for they are stored with the results.
            run_id: The run that the rows belong to; made of the suite's name and digest unless something else is said.
            jobs: How many scores are computed at once; the number of cores unless something else is said.

        Returns:
            A table with one row for each row, in the same order: of pyarrow, polars or pandas (with the same index) as the
            table that came in, else a :class:`scorebox.Table`. Columns: ``id``, ``node_id``, ``iteration``, ``attempt``,
            ``case`` (the case as a line of JSON), ``case_digest``, ``plan`` and ``results``, a list of structures, one for each
            scorer in the suite's order: ``scorer``, ``status``, ``score`` and more; docs/many-machines.md lists them.

        Raises:
            ScoreboxError: There is no column for the output or the id; a row is not a case (``"invalid-case"``); a scorer
                asks a judge (``"invalid-argument"``).
            KeyboardInterrupt: Ctrl-C, within a tenth of a second.
        """
        return like(table, self._native.score_table(table, mapped(columns), run_id, whole_if_any("jobs", jobs, 1)))

    def iter(
        self,
        cases: Iterable[Mapping[str, Any] | str],
        *,
        db: str | os.PathLike[str] | None = None,
        run_id: str | None = None,
        in_flight: int = 1024,
        on_bad_case: str = "stop",
    ) -> Rows:
        """Scores a stream of cases, and yields rows as they are computed.

        Cases are taken in the thread that asks for a row, as many as may be in flight, before it waits for one: a row that is
        ready while ``cases`` takes its time comes after its next case. Where the next case depends on the row of the one before,
        say ``in_flight=1``.

        A loop that is left early ends the scoring, and so does an exception such as ``KeyboardInterrupt``: what waits is not
        scored, and no judge is asked about it. Where rows are stored, the scores that were begun are finished and stored, and
        the run is ``interrupted``, or ``stopped`` where the cases are at fault. Use ``with suite.iter(…) as rows:`` or :meth:`Rows.close` where that must
        have happened before the program continues.

        Args:
            cases: Dictionaries with the keys of a case line (``output``, ``expected``, ``input``, ``id``, …), or such
                lines as text, such as an open file has. They are taken one by one, as many as may be in flight, so a stream
                of millions takes no more memory than these. Empty lines are passed over.
            db: A database that the rows are stored in, too; each call is a run.
            run_id: The id of that run; made from the time unless something else is said.
            in_flight: How many cases may be taken that have not been handed out, at least 1.
            on_bad_case: What happens at an item that is not a valid case: ``"stop"`` takes no more cases, and raises after the
                rows of those before it; ``"skip"`` passes over it.

        Yields:
            A row for each case and scorer: cases in their order, scorers in the suite's. ``row.case_id`` and
            ``row.scorer_id`` say whose it is; errors are rows with the status ``"error"`` and an ``error``. A scorer that
            skips a case has no row. A case without an id is called ``case-1``, ``case-2``, … by its place among all items but
            empty lines, as in a file.

        Raises:
            ScoreboxError: A scorer cannot be loaded, an item is not a case, or the database cannot store the rows.
            Exception: What ``cases`` raised, after the rows of the cases before. The stream has ended then.
        """
        if on_bad_case not in ("stop", "skip"):
            raise ValueError(f"on_bad_case is 'stop' or 'skip', not {on_bad_case!r}")
        most = whole("in_flight", in_flight, 1)
        database = path_if_any("db", db)
        _must_be_cases(cases)
        items = (dict(case) if isinstance(case, Mapping) and not isinstance(case, dict) else case for case in cases)
        rows = Rows(self._native.iter(items, database, run_id, most, on_bad_case == "skip"))
        if db is not None:
            _stored.add(rows)
        return rows


class Rows(Iterator[Score]):
    """The rows of a stream of cases; see :meth:`Suite.iter`. Threads may share it: each row goes to one of them."""

    def __init__(self, native: _scorebox.Rows) -> None:
        self._native = native
        self._end = native.end_of()
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._inside: int | None = None

    def __iter__(self) -> Rows:
        return self

    def __next__(self) -> Score:
        # A thread that had the lock is not in a process that was forked, where the stream is refused.
        if os.getpid() != self._process:
            return next(self._native)
        thread = threading.get_ident()
        if self._inside == thread:
            advice = "give the cases without waiting for rows of them, or take rows in another loop"
            raise ScoreboxError("invalid-argument", "the cases ask for a row of their own stream", advice)
        with self._lock:
            self._inside = thread
            try:
                return next(self._native)
            finally:
                self._inside = None

    def close(self) -> None:
        """Ends the stream, and waits for the end of its run: no more is scored, and what is computed at the moment is stored
        if a database was named. After the last row it changes nothing. Any thread may call it: one that waits for a row gets none,
        and one that waits for the next of ``cases`` is not waited for."""
        self._end.close()
        # A thread that is inside lets go of the cases itself.
        if self._lock.acquire(blocking=False):
            try:
                self._native.let_go()
            finally:
                self._lock.release()

    def __enter__(self) -> Rows:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def run_id(self) -> str:
        """The id of the run."""
        return self._native.run_id


def _must_be_cases(cases: Any) -> None:
    """Refuses what can be gone through, but not case by case."""
    if isinstance(cases, (str, bytes, Mapping)):
        advice = "pass a list of cases, or the lines of an open file; `scorebox.run` takes the paths of files"
        raise ScoreboxError("invalid-argument", f"`cases` is a stream of cases, not one `{type(cases).__name__}`", advice)
    if column_names(cases) is not None:
        kind = f"{type(cases).__module__.partition('.')[0]}.{type(cases).__name__}"
        advice = "`Suite.score_table` scores it; here, pass its rows as dictionaries"
        raise ScoreboxError("invalid-argument", f"`cases` is a stream of cases, not a table, `{kind}`", advice)


def _absolute(path: str | os.PathLike[str] | None) -> str | None:
    """The path for a process that is in another folder."""
    return os.path.abspath(path) if path is not None else None


def _current_folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        # It was removed.
        return None


def _rebuilt(path: Any, text: Any, workspace: Any, folder: Any, digest: str, components: dict[str, str]) -> Suite:
    suite = Suite.__new__(Suite)
    suite._make(path, text, workspace, folder)
    if suite.digest != digest:
        advice = "pickle the suite again, from the file as it is now; variables of the environment count, too"
        raise ScoreboxError("changed", "the suite changed since it was read: it has another digest", advice)
    suite._native.must_have(components)
    return suite


#: Streams that are stored, of which some may not have ended.
_stored: weakref.WeakSet[Rows] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    """Has the end of each run stored before the interpreter ends."""
    for rows in list(_stored):
        with contextlib.suppress(ScoreboxError):
            rows.close()
    _scorebox.finish()
