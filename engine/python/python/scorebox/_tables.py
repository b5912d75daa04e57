"""Tables of scores in the library that the scored table is of. Scores nothing."""

from __future__ import annotations

import sys
from typing import Any

from ._scorebox import Table


def like(table: Any, scored: Table) -> Any:
    """The scores as a table of the same library, which is imported, for the caller has such a table."""
    kind = type(table).__module__.partition(".")[0]
    if kind == "pandas":
        pandas = sys.modules["pandas"]
        # pandas 2 has no way of its own.
        has_own = hasattr(pandas.DataFrame, "from_arrow")
        frame = pandas.DataFrame.from_arrow(scored) if has_own else _of_pyarrow(scored)
        return frame.set_axis(table.index, axis="index")
    if kind == "polars":
        return sys.modules["polars"].DataFrame(scored)
    if kind == "pyarrow":
        return sys.modules["pyarrow"].table(scored)
    return scored


def _of_pyarrow(scored: Table) -> Any:
    import pyarrow  # type: ignore[import-untyped,unused-ignore]

    return pyarrow.table(scored).to_pandas()
