"""Tables of pandas and polars, tidy or wide, known by what they have: neither library is imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from results_registry.data.records import from_mapping, from_records, value_column
from results_registry.data.scalars import Declared
from results_registry.data.table import Table
from results_registry.errors import BadData


def is_pandas(data: Any) -> bool:
    return hasattr(data, "columns") and hasattr(data, "index") and hasattr(data, "itertuples")


def is_series(data: Any) -> bool:
    """A pandas Series: its index holds the coordinates."""
    return hasattr(data, "index") and hasattr(data, "items") and hasattr(data, "tolist") and not callable(data.index)


def is_polars(data: Any) -> bool:
    return hasattr(data, "columns") and hasattr(data, "to_dicts")


def is_arrow(data: Any) -> bool:
    return hasattr(data, "column_names") and hasattr(data, "to_pylist")


def from_series(data: Any, axes: Sequence[Declared], trials: Any, stderr: Any) -> Table:
    names = [str(name) for name in data.index.names if name is not None]
    found = from_mapping(_keyed(data), axes, _keyed(trials), _keyed(stderr))
    return _renamed(found, axes, names if len(names) == len(found.names) else [])


def _keyed(given: Any) -> Any:
    """A Series or a wide frame by coordinates; anything else as it is."""
    if is_series(given):
        return dict(zip(given.index.tolist(), given.tolist(), strict=True))
    return _wide(given) if is_pandas(given) else given


def from_pandas(
    data: Any, axes: Sequence[Declared], names: Mapping[str, str], trials: Any = None, stderr: Any = None
) -> Table:
    """A DataFrame: tidy when it has a column of values (or every axis as a column), else wide.

    Wide: the index is one axis, the columns the other, by their names or by `axes` in that order.
    """
    columns = [str(name) for name in data.columns]
    if _is_tidy(columns, axes, names["metric"]):
        own = [name for name in data.index.names if name is not None and name not in columns]
        return from_records((data.reset_index() if own else data).to_dict("records"), axes, names, trials, stderr)
    found = from_mapping(_wide(data), axes, _keyed(trials), _keyed(stderr))
    labels = [*data.index.names, *data.columns.names]
    return _renamed(found, axes, [str(name) for name in labels] if None not in labels else [])


def _wide(data: Any) -> dict[Any, Any]:
    """By coordinates: those of the index, then those of the columns."""
    columns = [_key(name) for name in data.columns.tolist()]
    rows = zip(data.index.tolist(), data.itertuples(index=False, name=None), strict=True)
    return {(*_key(row), *column): value for row, values in rows for column, value in zip(columns, values, strict=True)}


def _key(name: Any) -> tuple[Any, ...]:
    return name if isinstance(name, tuple) else (name,)


def from_polars(
    data: Any, axes: Sequence[Declared], names: Mapping[str, str], trials: Any = None, stderr: Any = None
) -> Table:
    """A polars DataFrame: tidy like that of pandas, else wide with the rows' levels in the first column."""
    columns = list(data.columns)
    if _is_tidy(columns, axes, names["metric"]):
        return from_records(data.to_dicts(), axes, names, trials, stderr)
    if len(columns) < 2:
        raise BadData("A wide table has a column of levels and then one column for each level of the other axis.")
    rows = axes[0]["name"] if axes and axes[0]["name"] in columns else columns[0]
    across = [name for name in columns if name != rows]
    cells = {(record[rows], name): record[name] for record in data.to_dicts() for name in across}
    found = from_mapping(cells, axes, trials, stderr)
    return _renamed(found, axes, [rows, "columns"])


def from_arrow(data: Any, axes: Sequence[Declared], names: Mapping[str, str], trials: Any, stderr: Any) -> Table:
    return from_records(data.to_pylist(), axes, names, trials, stderr)


def _is_tidy(columns: Sequence[str], axes: Sequence[Declared], metric: str) -> bool:
    if axes and all(axis["name"] in columns for axis in axes):
        return True
    return value_column(columns, metric) is not None


def _renamed(found: Table, axes: Sequence[Declared], names: Sequence[str]) -> Table:
    """The table with the names that the data itself gives, where the caller gave none."""
    return found if axes or not names else found._replace(names=tuple(names))
