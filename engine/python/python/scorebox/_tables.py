"""Tables of pyarrow, polars and pandas, and columns by name: choosing which are read, and scores as a table of the same library.
Scores nothing."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from ._errors import ScoreboxError
from ._scorebox import Table


def mapped(columns: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Keys of a case with the columns that have them. A frame without a header has numbers for names."""
    if columns is None:
        return []
    if not isinstance(columns, Mapping):
        message = f"`columns` is a dictionary of keys of a case and names of columns, not `{type(columns).__name__}`"
        raise ScoreboxError("invalid-argument", message, 'such as columns={"output": "answer", "expected": "gold"}')
    return [(str(key), str(column)) for key, column in columns.items()]


class ColumnsByName:
    """Columns in a dictionary, of which only those that are read are asked for and become Arrow."""

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self.columns = columns

    def selected(self, names: list[str]) -> Any:
        """A table of these columns."""
        import pyarrow  # type: ignore[import-untyped,unused-ignore]

        return pyarrow.table({name: _rows(name, self.columns[name]) for name in names})


def _rows(name: str, column: Any) -> Any:
    """A column as Arrow takes it: one value for each row, which may be an array itself."""
    dimensions = getattr(column, "ndim", 1 if isinstance(column, (list, tuple)) else 0)
    if dimensions == 0:
        message = f"`{name}` is not a column: it is one value, of the type `{type(column).__name__}`"
        raise ScoreboxError("invalid-argument", message, "pass a batch of rows, as `Dataset.map` does with `batched=True`")
    return column.tolist() if dimensions > 1 else column


def column_names(table: Any) -> list[str] | None:
    """The names of a table's columns, as Arrow has them; ``None`` if columns of such a table cannot be chosen."""
    if isinstance(table, ColumnsByName):
        return [str(name) for name in table.columns]
    if _is(table, "pandas", "DataFrame"):
        columns = [str(name) for name in table.columns]
        return columns + _names_of_index(table.index, columns)
    if _is(table, "polars", "DataFrame"):
        return list(table.columns)
    if _is(table, "polars", "LazyFrame"):
        message = "`polars.LazyFrame` is not a table: its rows are not computed yet"
        raise ScoreboxError("invalid-argument", message, "compute them first: `frame.collect()`")
    if _is(table, "pyarrow", "Table", "RecordBatch"):
        return list(table.schema.names)
    return None


def selected(table: Any, places: list[int]) -> Any:
    """The table with the columns at these places among its names alone."""
    if isinstance(table, ColumnsByName):
        names = list(table.columns)
        return table.selected([names[place] for place in places])
    if _is(table, "pandas", "DataFrame"):
        width = len(table.columns)
        frame = table.iloc[:, [place for place in places if place < width]]
        # An index that is not read is no column, whatever it has.
        return frame if any(place >= width for place in places) else frame.reset_index(drop=True)
    if _is(table, "polars", "DataFrame"):
        chosen = table.select([table.columns[place] for place in places])
        # In Arrow they are addresses in memory.
        for name, kind in chosen.schema.items():
            if kind == sys.modules["polars"].Object:
                message = f"the column `{name}` is not JSON: it has objects of Python"
                advice = "cast it to text or numbers first, or score its rows with `score` or `Suite.iter`"
                raise ScoreboxError("invalid-argument", message, advice)
        return chosen
    return table.select(places)


def _is(table: Any, library: str, *classes: str) -> bool:
    """Whether it is of one of these classes of a library, which then is imported."""
    module = sys.modules.get(library)
    return module is not None and isinstance(table, tuple(getattr(module, name) for name in classes))


def _names_of_index(index: Any, columns: list[str]) -> list[str]:
    """The columns that an index becomes in Arrow: a level is called by its name, unless a column is."""
    if _is(index, "pandas", "RangeIndex"):
        return []
    names = [str(name) if name is not None else None for name in index.names]
    return [
        name if name is not None and name not in columns else f"__index_level_{level}__"
        for level, name in enumerate(names)
    ]


def like(table: Any, scored: Table) -> Any:
    """The scores as a table of the same library, which is imported, for the caller has such a table."""
    # A program may have its own kind of frame.
    kinds = {kind.__module__.partition(".")[0] for kind in type(table).__mro__}
    if "pandas" in kinds:
        pandas = sys.modules["pandas"]
        # pandas 2 has no way of its own.
        has_own = hasattr(pandas.DataFrame, "from_arrow")
        frame = pandas.DataFrame.from_arrow(scored) if has_own else _of_pyarrow(scored)
        return frame.set_axis(table.index, axis="index")
    if "polars" in kinds:
        return sys.modules["polars"].DataFrame(scored)
    if "pyarrow" in kinds:
        return sys.modules["pyarrow"].table(scored)
    return scored


def _of_pyarrow(scored: Table) -> Any:
    import pyarrow  # type: ignore[import-untyped,unused-ignore]

    return pyarrow.table(scored).to_pandas()
