"""Read arrays and data frames: numpy and its like, xarray, nested lists; pandas and polars, tidy or wide.

All are known by what they have: no library is imported.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from results_registry.data.records import from_mapping, from_records, value_column
from results_registry.data.table import Cell, Declared, Table, label_of, table
from results_registry.data.values import Level, level, measured, quantity, whole
from results_registry.errors import BadData


def is_labelled(data: Any) -> bool:
    """An xarray DataArray, by what it has."""
    return hasattr(data, "dims") and hasattr(data, "coords") and hasattr(data, "values") and not callable(data.values)


def is_array(data: Any) -> bool:
    """numpy, torch, jax and others: something with a shape that turns into lists."""
    return (hasattr(data, "tolist") or hasattr(data, "to_list")) and hasattr(data, "shape")


def from_labelled(data: Any, axes: Sequence[Declared], trials: Any, stderr: Any) -> Table:
    """A DataArray: its dimensions are the axes, its coordinates the levels."""
    names = [str(name) for name in data.dims]
    given = [
        [level(one) for one in data.coords[name].values.tolist()] if name in data.coords else None for name in data.dims
    ]
    if wrong := [axis["name"] for axis in axes if axis["name"] not in names]:
        raise BadData(f"The data has no dimension {wrong[0]!r}; it has {', '.join(names)}.")
    return _block(data.values.tolist(), names, given, trials, stderr)


def from_block(data: Any, axes: Sequence[Declared], trials: Any, stderr: Any) -> Table:
    """An array or nested lists: `axes` name the directions and their levels; without levels they count from 0."""
    block = _lists(data)
    depth = _depth(block)
    if axes and len(axes) != depth:
        raise BadData(f"The data has {depth} dimensions, but there are {len(axes)} axes.")
    names = [axis["name"] for axis in axes] or [f"dim_{place}" for place in range(depth)]
    given = [[label_of(one) for one in axis["levels"]] if "levels" in axis else None for axis in axes]
    return _block(block, names, given or [None] * depth, trials, stderr)


def _block(block: Any, names: Sequence[str], given: Sequence[Any], trials: Any, stderr: Any) -> Table:
    sizes = _sizes(block, len(names))
    levels: list[Sequence[Level]] = []
    for name, own, size in zip(names, given, sizes, strict=True):
        if own is not None and len(own) != size:
            raise BadData(f'The axis "{name}" has {len(own)} levels, but the data has {size} there.')
        levels.append(list(range(size)) if own is None else own)
    leaves = _leaves(block, sizes, "The data")
    if trials is None and stderr is None:
        measurements = map(measured, leaves)
        return table(names, map(Cell, itertools.product(*levels), measurements), levels)
    beside = [_beside(trials, sizes, "trials"), _beside(stderr, sizes, "stderr")]
    cells = []
    for at, leaf, count, error in zip(itertools.product(*levels), leaves, *beside, strict=False):
        value = measured(leaf)
        gap = value is None or isinstance(value, str)
        mine = (None, None) if gap else (whole(count, "trials"), quantity(error, "stderr"))
        cells.append(Cell(tuple(at), value, *mine))
    return table(names, cells, levels)


def _beside(given: Any, sizes: Sequence[int], name: str) -> Iterator[Any]:
    """`trials` or `stderr`: one for all, or as many as there are values, in the same order."""
    block = _lists(given)
    return _leaves(block, sizes, name) if isinstance(block, list) else itertools.repeat(block)


def _lists(data: Any) -> Any:
    if hasattr(data, "detach"):
        data = data.detach()
    for name in ("tolist", "to_list"):
        if hasattr(data, name):
            return getattr(data, name)()
    if isinstance(data, (list, tuple)):
        return [_lists(one) for one in data]
    return data


def _depth(block: Any) -> int:
    depth = 0
    while isinstance(block, list):
        depth += 1
        block = block[0] if block else None
    return depth


def _sizes(block: Any, depth: int) -> list[int]:
    sizes = []
    for _ in range(depth):
        sizes.append(len(block) if isinstance(block, list) else 0)
        block = block[0] if isinstance(block, list) and block else None
    return sizes


def _leaves(block: Any, sizes: Sequence[int], name: str) -> Iterator[Any]:
    if not sizes:
        yield block
        return
    if not isinstance(block, list) or len(block) != sizes[0]:
        raise BadData(f"{name} has rows of different lengths; use None for what was not measured.")
    for row in block:
        yield from _leaves(row, sizes[1:], name)


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
