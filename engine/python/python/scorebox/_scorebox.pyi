"""The extension module: what the package's Python code wraps. Only `Score`, `Table`, `scorers` and `configure` are public, from
the package itself."""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Literal, final

from ._errors import ScoreboxError

__version__: str

_Status = Literal["scored", "not-applicable", "skipped", "error"]

@final
class Score:
    """What a scorer says about a case, and what that cost. It cannot be changed; only scorers make it."""

    #: Two scores may be compared, and not be keys.
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __eq__(self, other: object, /) -> bool: ...

    @property
    def status(self) -> _Status:
        """The outcome: ``"scored"``, ``"not-applicable"``, or in rows of many cases ``"error"``."""

    @property
    def score(self) -> float | None:
        """On the scorer's scale; ``None`` unless the status is ``"scored"``, and never 0 instead of a missing score."""

    @property
    def label(self) -> str | None:
        """A category that goes with the score."""

    @property
    def reason(self) -> str | None:
        """Why, for a person."""

    @property
    def meta(self) -> Any:
        """The scorer's own JSON as Python's values, parsed at each call; ``None`` if there is none."""

    @property
    def assertions(self) -> list[dict[str, Any]]:
        """The checks that the score is made of: ``name``, ``score`` (0 to 1), and maybe ``severity``, ``threshold``, ``reason``."""

    @property
    def log(self) -> list[dict[str, str]]:
        """What the scorer logged: ``level`` (``"debug"``, ``"info"``, ``"warn"``, ``"error"``) and ``message``."""

    @property
    def fuel(self) -> int | None:
        """Wasm instructions, roughly: the same for the same case on any machine; ``None`` if the time-out ended it."""

    @property
    def memory(self) -> int | None:
        """The sandbox's peak memory, in bytes."""

    @property
    def elapsed(self) -> float | None:
        """How long the scorer took, in seconds, waiting for judges included."""

    @property
    def error(self) -> ScoreboxError | None:
        """Why there is no score, of a row whose status is ``"error"``."""

    @property
    def case_id(self) -> str | None:
        """The case's id, of a row of many."""

    @property
    def scorer_id(self) -> str | None:
        """The scorer's name in its suite, of a row of many."""

    def to_dict(self) -> dict[str, Any]:
        """The row as ``docs/rows.md`` describes it: keys in camelCase, those without a value left out."""

@final
class Table:
    """Scores as a table: an Arrow stream for any library that takes one, such as ``polars.DataFrame(table)``."""

    @property
    def column_names(self) -> list[str]:
        """The names of its columns; :meth:`scorebox.Scorer.score_table` lists them."""

    def __len__(self) -> int:
        """How many rows it has."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table by Arrow's PyCapsule interface, as often as it is asked for."""

@final
class Scorer:
    def __new__(
        cls,
        source: str | os.PathLike[str] | bytes,
        config: dict[str, Any] | None = None,
        timeout: float | None = None,
        fuel: int | None = None,
        memory: int | str | None = None,
        grants: Sequence[str] | None = None,
    ) -> Scorer: ...
    @property
    def path(self) -> str | None: ...
    @property
    def config(self) -> dict[str, Any]: ...
    @property
    def digest(self) -> str: ...
    def must_be(self, digest: str) -> None: ...
    def info(self) -> dict[str, Any]: ...
    def score(self, *parts: Any) -> Score: ...
    def submit(self, done: Callable[[Score | None, Any], None], *parts: Any) -> Pending: ...
    def score_table(self, table: Any, columns: Sequence[tuple[str, str]], jobs: int | None = None) -> Table: ...

@final
class Pending:
    def cancel(self) -> None: ...

@final
class Suite:
    def __new__(
        cls,
        path: str | os.PathLike[str] | None = None,
        text: str | None = None,
        workspace: str | os.PathLike[str] | None = None,
        folder: str | None = None,
    ) -> Suite: ...
    @property
    def name(self) -> str: ...
    @property
    def scorer_ids(self) -> list[str]: ...
    @property
    def digest(self) -> str: ...
    def scorer(self, name: str) -> Scorer: ...
    def default_run_id(self) -> str: ...
    def components_now(self) -> dict[str, str]: ...
    def must_have(self, components: dict[str, str]) -> None: ...
    def score_table(
        self, table: Any, columns: Sequence[tuple[str, str]], run_id: str | None = None, jobs: int | None = None
    ) -> Table: ...
    def iter(
        self,
        cases: Iterable[Any],
        database: str | os.PathLike[str] | None = None,
        run_id: str | None = None,
        in_flight: int = 1024,
        skip_bad_cases: bool = False,
    ) -> Rows: ...

@final
class Rows:
    run_id: str
    def __iter__(self) -> Rows: ...
    def __next__(self) -> Score: ...
    def let_go(self) -> None: ...
    def end_of(self) -> EndOfRows: ...

@final
class EndOfRows:
    def close(self) -> None: ...

@final
class Running:
    run_id: str
    def __new__(
        cls,
        suite: Suite,
        cases: Sequence[str | os.PathLike[str]],
        database: str | os.PathLike[str],
        mapping: Sequence[str],
        run_id: str | None = None,
        resume: str | None = None,
        reuse: bool = False,
        skip_bad_cases: bool = False,
        format: str | None = None,
        strict: bool = False,
        fail_below: Sequence[tuple[str, float]] = ...,
        min_pass_rate: float | None = None,
        max_errors: int | None = None,
        allow_idle: Sequence[str] = ...,
        allow_errors: bool = False,
        seed: str | None = None,
    ) -> Running: ...
    def abort(self) -> None: ...
    def must_have_found(self) -> None: ...
    def wait(self, seconds: float) -> bool: ...
    def stop(self) -> None: ...
    def progress(self) -> dict[str, Any]: ...
    def report(self) -> dict[str, Any] | None: ...

def scorers() -> dict[str, str | None]:
    """The names of the built-in scorers, with a sentence about each."""

def configure(
    *,
    jobs: int | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    memory_budget: int | str | None = None,
    workspace: str | os.PathLike[str] | None = None,
) -> None:
    """Says how this process scores, and those that are forked from it. Call it before the first scorer is made; of several
    calls each sets what it names.

    Args:
        jobs: How many scores are computed at once; the number of cores unless something else is said.
        cache_dir: The folder for compiled code; that of the environment variable ``SCOREBOX_CACHE_DIR``, or ``scorebox`` in the
            user's cache folder, unless something else is said.
        memory_budget: Memory of all sandboxes together, in bytes or as text; 4 GiB unless something else is said.
        workspace: The folder below which cases name theirs, for scorers that read files.

    Raises:
        ScoreboxError: A value is not valid, or this process has scorers already.
    """

def merge(
    shards: Sequence[str | os.PathLike[str]],
    database: str | os.PathLike[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    suite: Suite | None = None,
    run_id: str | None = None,
    replace: bool = False,
    seed: str | None = None,
    expect_shards: int | None = None,
    strict: bool = False,
    fail_below: Sequence[tuple[str, float]] = ...,
    min_pass_rate: float | None = None,
    max_errors: int | None = None,
    allow_idle: Sequence[str] = ...,
) -> dict[str, Any]: ...
def command(arguments: Sequence[str]) -> int: ...
def compile() -> None: ...
def finish() -> None: ...
