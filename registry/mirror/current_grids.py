"""The table of a project's current grids: which part has the cells of each, and the names that aliases join them to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from registry.mirror.columns import GRIDS_SCHEMA

NAMED = ("experiment", "benchmark", "model", "variant")
_AT_ONCE = 4_096

Aliases = Mapping[tuple[str, str], str]
"""Kind and alias → the name that it stands for."""
Version = tuple[int, str, datetime]
"""What tells one content of a grid from another: revision, digest, and when it was published or came back."""


def version_of(grid: Mapping[str, Any]) -> Version:
    """The version of a grid as the API has it."""
    return grid["revision"], grid["digest"], datetime.fromisoformat(grid["updated_at"]).astimezone(UTC)


def current_row(grid: Mapping[str, Any], part: int | None, cells: int) -> tuple[Any, ...]:
    """The row of a grid, under its own names."""
    names, metric = [grid[name] for name in NAMED], grid["metric"]
    revision, digest, instant = version_of(grid)
    bounds = (metric.get(name) for name in ("direction", "lower", "upper"))
    who = (grid["id"], revision, digest, part, cells, *names, *names)
    return (*who, metric["name"], metric.get("unit") or None, *bounds, instant)


class GridRows:
    """Rows of grids that become a table, packed as they come."""

    def __init__(self) -> None:
        self._tables: list[pa.Table] = []
        self._rows: list[tuple[Any, ...]] = []

    def add(self, row: tuple[Any, ...]) -> None:
        self._rows.append(row)
        if len(self._rows) >= _AT_ONCE:
            self._pack()

    def table(self) -> pa.Table:
        """All of them."""
        self._pack()
        return pa.concat_tables([GRIDS_SCHEMA.empty_table(), *self._tables])

    def _pack(self) -> None:
        if self._rows:
            columns = zip(GRIDS_SCHEMA, zip(*self._rows, strict=True), strict=True)
            self._tables.append(pa.table([pa.array(one, kind.type) for kind, one in columns], schema=GRIDS_SCHEMA))
            self._rows.clear()


def without(table: pa.Table, grids: Collection[str]) -> pa.Table:
    """The table without these grids."""
    gone = pc.is_in(table["grid"], value_set=pa.array(grids, pa.string()))
    return table.filter(pc.invert(gone))


def versions(table: pa.Table, grids: Collection[str]) -> dict[str, Version]:
    """The versions of those of the grids that the table has."""
    found = table.filter(pc.is_in(table["grid"], value_set=pa.array(grids, pa.string())))
    columns = [found[name].to_pylist() for name in ("grid", "revision", "digest", "updated_at")]
    return {grid: (revision, digest, instant) for grid, revision, digest, instant in zip(*columns, strict=True)}


def joined(table: pa.Table, aliases: Aliases) -> pa.Table:
    """The table with the names that these aliases join."""
    for kind in NAMED:
        sent = table[f"{kind}_as_sent"].combine_chunks().dictionary_encode()
        names = pa.array([aliases.get((kind, name), name) for name in sent.dictionary.to_pylist()], pa.string())
        column = pa.DictionaryArray.from_arrays(sent.indices, names).cast(pa.string())
        table = table.set_column(table.schema.get_field_index(kind), kind, column)
    return table


def moved(table: pa.Table, parts: Mapping[int, int]) -> pa.Table:
    """The table after the rows of some parts went into others, by number."""
    if not parts:
        return table
    column = pa.array([parts.get(one, one) for one in table["part"].to_pylist()], pa.int64())
    return table.set_column(table.schema.get_field_index("part"), "part", column)


def rows_by_part(table: pa.Table) -> dict[int, int]:
    """How many rows of each part are current."""
    found = table.group_by("part").aggregate([("cells", "sum")])
    pairs = zip(found["part"].to_pylist(), found["cells_sum"].to_pylist(), strict=True)
    return {part: rows for part, rows in pairs if part is not None}


def grids_in(table: pa.Table, parts: Sequence[int]) -> pa.Array:
    """The ids of the grids whose cells these parts have."""
    return table.filter(pc.is_in(table["part"], value_set=pa.array(parts, pa.int64())))["grid"].combine_chunks()
