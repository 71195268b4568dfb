"""The grids of one benchmark of a scope, as sums are made of them: many grids at a time, a matrix of values for each
set of axes.

One statement reads them, takes them from the list of what is to be counted and notes which revisions are in the sums.
All its parts see the same snapshot: what changes later is listed again.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, TextClause, Uuid, bindparam, text

Floats = NDArray[np.float64]

_HEADER = 20
"""Bytes before the first element of a one-dimensional array that `array_send` wrote."""
_ID = 16


@dataclass(frozen=True)
class Sheet:
    """Grids of one benchmark and variant over equal axes."""

    benchmark: str
    variant: str
    axes: str
    """As JSON."""
    unit: str | None
    direction: str | None
    lower: float | None
    upper: float | None
    models: Sequence[str]
    revisions: Sequence[int]
    turns: Sequence[int]
    """The order of the updates among all sheets that were read together: a later grid covers an earlier one."""
    ids: Sequence[uuid.UUID]
    """Empty for grids that stay."""
    values: Floats
    """Grids x cells, NaN where nothing was measured."""


@dataclass(frozen=True)
class Taken:
    """A benchmark's grids: those that stay, those that changed as they were counted, and as they are now."""

    kept: Sequence[Sheet]
    gone: Sequence[Sheet]
    come: Sequence[Sheet]


# Written so that no plan can be a bad one: the statistics of the tables know nothing of an experiment that began a
# minute ago, and rows are then compared with each other that an index would have found.
_HERE = """
    SELECT id, benchmark, model, variant FROM grids
    WHERE project_id = :project AND experiment = ANY(:experiments) AND metric = :metric AND benchmark = ANY(:names)"""
_COUNTED = f"""
    SELECT here.id, was.revision AS number, was.updated_at, benchmark, model, variant
    FROM ({_HERE} OFFSET 0) AS here CROSS JOIN LATERAL (
        SELECT revision, updated_at FROM counted WHERE scope_id = :scope AND grid_id = here.id OFFSET 0) AS was"""  # noqa: S608 (a constant)
_TAKEN = f"""
WITH listed AS (
    DELETE FROM uncounted WHERE scope_id = :scope AND benchmark = ANY(:names) RETURNING grid_id
), taken AS MATERIALIZED (
    SELECT grid_id FROM listed WHERE grid_id IS NOT NULL
    UNION
    SELECT id FROM ({_HERE} OFFSET 0) AS here WHERE EXISTS (SELECT FROM listed WHERE grid_id IS NULL)
), before AS ("""  # noqa: S608 (a constant)
_NOTED = """
), read AS MATERIALIZED (
    SELECT CASE WHEN before.id IN (SELECT grid_id FROM taken) THEN 1 ELSE 0 END AS part, before.* FROM before
    UNION ALL
    SELECT 2, grid_id, revision, updated_at, benchmark, model, variant
    FROM taken CROSS JOIN LATERAL (SELECT * FROM grids WHERE id = grid_id OFFSET 0) AS now
    WHERE deleted_at IS NULL AND experiment = ANY(:experiments)
), forgotten AS (
    DELETE FROM counted WHERE scope_id = :scope AND grid_id = ANY(ARRAY(
        SELECT grid_id FROM taken WHERE grid_id NOT IN (SELECT id FROM read WHERE part = 2)))
), noted AS (
    INSERT INTO counted (scope_id, grid_id, revision, updated_at)
    SELECT :scope, id, number, updated_at FROM read WHERE part = 2
    ON CONFLICT (scope_id, grid_id) DO UPDATE SET revision = excluded.revision, updated_at = excluded.updated_at
)"""
_SHEETS = """
    SELECT part, benchmark, variant, axes::text, metric->>'unit' AS unit, metric->>'direction' AS direction,
        (metric->>'lower')::float8 AS lower, (metric->>'upper')::float8 AS upper,
        array_agg(model) AS models, array_agg(read.number) AS revisions, array_agg(turn) AS turns,
        string_agg(uuid_send(read.id), '') AS ids,
        string_agg(array_send(array_replace(values, NULL::float8, 'NaN'::float8)), '') AS values
    FROM (SELECT *, row_number() OVER (ORDER BY updated_at, id) AS turn FROM read) AS read CROSS JOIN LATERAL (
        SELECT axes, metric, values FROM revisions
        WHERE grid_id = read.id AND number = read.number AND derived IS NULL OFFSET 0) AS content
    GROUP BY part, benchmark, variant, axes, unit, direction, lower, upper"""


def _statement(*parts: str) -> TextClause:
    return text("".join(parts)).bindparams(bindparam("project", type_=Uuid), bindparam("scope", type_=Uuid))


_READ = _statement("WITH before AS (", _COUNTED, "), read AS (SELECT 2 AS part, before.* FROM before)", _SHEETS)
_TAKE = _statement(_TAKEN, _COUNTED, _NOTED, _SHEETS)


def take(connection: Connection, scope: Any, experiments: Sequence[str], names: Sequence[str]) -> Taken:
    """The grids of a benchmark of these names; what was listed of them is listed no longer, and noted as counted.

    What was listed under an alias that the experiment has lost is dropped: then everything will be counted anew.
    """
    found: tuple[list[Sheet], ...] = ([], [], [])
    for row in connection.execute(_TAKE, _asked(scope, experiments, names)):
        found[row.part].append(_sheet(row))
    return Taken(*found)


def as_counted(connection: Connection, scope: Any, experiments: Sequence[str], names: Sequence[str]) -> list[Sheet]:
    """The grids of a benchmark of these names at the revisions that are in the sums."""
    return [_sheet(row) for row in connection.execute(_READ, _asked(scope, experiments, names))]


def _asked(scope: Any, experiments: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    return {
        "scope": scope.id,
        "project": scope.project_id,
        "metric": scope.metric,
        "experiments": list(experiments),
        "names": list(names),
    }


def _sheet(row: Any) -> Sheet:
    ids = bytes(row.ids)
    # Nobody asks which grids stay.
    found = [uuid.UUID(bytes=ids[at : at + _ID]) for at in range(0, len(ids), _ID)] if row.part else []
    kind = (row.unit, row.direction, row.lower, row.upper)
    values = _values(row.values, len(row.models))
    return Sheet(row.benchmark, row.variant, row.axes, *kind, row.models, row.revisions, row.turns, found, values)


def _values(sent: bytes | memoryview, count: int) -> Floats:
    """The numbers of `count` arrays without NULL of equal length, one after the other as `array_send` writes them."""
    element = np.dtype([("length", ">i4"), ("value", ">f8")])
    cells = (len(sent) // count - _HEADER) // element.itemsize
    if cells <= 0:
        return np.empty((count, 0))
    rows = np.frombuffer(sent, dtype=[("header", f"V{_HEADER}"), ("elements", element, (cells,))])
    return rows["elements"]["value"].astype(np.float64)
