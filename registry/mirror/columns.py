"""The columns of a mirror: types for Arrow, and for the manifest what each of them holds."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

FORMAT = 1
"""Grows when a reader of the files would have to change."""


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
