"""The tables of a mirror: the columns of both, and the current grids, with the part that has the cells of each."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

FORMAT = 1
"""Grows when a reader of the files would have to change."""
NAMED = ("experiment", "benchmark", "model", "variant")
_AT_ONCE = 4_096

Aliases = Mapping[tuple[str, str], str]
"""Kind and alias → the name that it stands for."""
Version = tuple[int, str, datetime]
"""Mark that tells one content of a grid from another: revision, digest, and when it was published or came back."""


class ColumnOfMirror(NamedTuple):
    """A column: name, Arrow type, and a sentence about it, with its unit where it has one."""

    name: str
    kind: pa.DataType
    about: str


_LEVEL = pa.struct([("label", pa.string()), ("number", pa.float64())])
_INSTANT = pa.timestamp("us", tz="UTC")
_AS_POSTED = "As posted; the table of grids has the name that aliases join it to."

CELLS = (
    ColumnOfMirror("part", pa.int64(), "Number of the part; (grid, part) is the key to the table of grids."),
    ColumnOfMirror("grid", pa.string(), "Id of the grid."),
    ColumnOfMirror("revision", pa.int32(), "Revision of the grid."),
    ColumnOfMirror("experiment", pa.string(), _AS_POSTED),
    ColumnOfMirror("benchmark", pa.string(), _AS_POSTED),
    ColumnOfMirror("model", pa.string(), _AS_POSTED),
    ColumnOfMirror("variant", pa.string(), f"{_AS_POSTED} Empty: the default one."),
    ColumnOfMirror("metric", pa.string(), "Name of the metric."),
    ColumnOfMirror("unit", pa.string(), "Unit of value, stderr and sd; null where none is said."),
    ColumnOfMirror(
        "axes",
        pa.map_(pa.string(), _LEVEL),
        "Level on each axis: its label, and on numeric axes its number in the unit of the axis.",
    ),
    ColumnOfMirror(
        "value", pa.float64(), "In the column unit; null: not measured, for the reason in the column reason."
    ),
    ColumnOfMirror("trials", pa.int64(), "Trials behind the value; null: not known."),
    ColumnOfMirror("stderr", pa.float64(), "Standard error as posted, in the column unit."),
    ColumnOfMirror("repeats", pa.int32(), "Measurements whose mean the value is."),
    ColumnOfMirror("sd", pa.float64(), "Standard deviation of the repeats, in the column unit."),
    ColumnOfMirror("reason", pa.string(), "Why the cell has no value: failed, not_applicable or pending."),
    ColumnOfMirror("updated_at", _INSTANT, "When the revision was published, or its grid came back; UTC."),
    ColumnOfMirror("protocol", pa.string(), "How it was measured: JSON with sorted keys; null where nothing is said."),
)

GRIDS = (
    ColumnOfMirror("grid", pa.string(), "Id of the grid."),
    ColumnOfMirror("revision", pa.int32(), "The current revision."),
    ColumnOfMirror("digest", pa.string(), "SHA-256 of its content."),
    ColumnOfMirror("part", pa.int64(), "The part that has its cells; null where it has none."),
    ColumnOfMirror("cells", pa.int64(), "Rows of it in that part."),
    *(
        ColumnOfMirror(name, pa.string(), "The name that aliases join it to, as in rankings.")
        for name in ("experiment", "benchmark", "model", "variant")
    ),
    *(
        ColumnOfMirror(f"{name}_as_sent", pa.string(), "As posted.")
        for name in ("experiment", "benchmark", "model", "variant")
    ),
    ColumnOfMirror("metric", pa.string(), "Name of the metric."),
    ColumnOfMirror("unit", pa.string(), "Its unit; null where none is said."),
    ColumnOfMirror("direction", pa.string(), "Which end is better: higher or lower; null: neither."),
    ColumnOfMirror("lower", pa.float64(), "Lower bound of the metric, in its unit."),
    ColumnOfMirror("upper", pa.float64(), "Upper bound of the metric, in its unit."),
    ColumnOfMirror("updated_at", _INSTANT, "When the revision was published, or its grid came back; UTC."),
)


def schema_of(columns: tuple[ColumnOfMirror, ...]) -> pa.Schema:
    """The Arrow schema of columns."""
    return pa.schema([(one.name, one.kind) for one in columns])


CELLS_SCHEMA, GRIDS_SCHEMA = schema_of(CELLS), schema_of(GRIDS)


def described(columns: tuple[ColumnOfMirror, ...]) -> list[dict[str, str]]:
    """The columns as the manifest tells them."""
    return [{"name": one.name, "type": str(one.kind), "about": one.about} for one in columns]


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
    """Number of current rows by part."""
    found = table.group_by("part").aggregate([("cells", "sum")])
    pairs = zip(found["part"].to_pylist(), found["cells_sum"].to_pylist(), strict=True)
    return {part: rows for part, rows in pairs if part is not None}


def grids_in(table: pa.Table, parts: Sequence[int]) -> pa.Array:
    """The ids of the grids whose cells these parts have."""
    return table.filter(pc.is_in(table["part"], value_set=pa.array(parts, pa.int64())))["grid"].combine_chunks()
