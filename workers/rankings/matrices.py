"""Read grids as matrices of values, one for each benchmark, variant and shape, in PostgreSQL's binary form.

The stored form of revisions is read instead of the view, which divides each packed value by its scale one by one: here
whole arrays are divided.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.scope import Aliases

Floats = NDArray[np.float64]

_HEADER = 20
"""Bytes before the first element of a one-dimensional array that `array_send` wrote."""
_ID = 16
_MISSING = -(2**31)
"""In place of NULL among packed values, which are smaller in size (`registry.storage.rows.MOST`)."""

# The values travel in the binary form, which NumPy reads as one block. NaN, or a number that no value has, for NULL,
# because an element that is NULL has no payload: the arrays of one shape would differ in length. OFFSET 0 and LATERAL
# leave the planner no choice but to look each revision up by its key.
MATRICES = f"""
    SELECT part, benchmark, variant, scale, coalesce(one.axes, shapes.axes)::text AS axes,
        coalesce(one.metric, shapes.metric) AS metric, models, revisions, update_orders, ids, values, numbers
    FROM (
        SELECT part, benchmark, variant, shape_id, axes, metric, scale,
            array_agg(model) AS models, array_agg(read.number) AS revisions, array_agg(update_order) AS update_orders,
            string_agg(uuid_send(read.id), '') AS ids,
            string_agg(array_send(array_replace(values, NULL::float8, 'NaN'::float8)), '') AS values,
            string_agg(array_send(array_replace(numbers, NULL::integer, {_MISSING})), '') AS numbers
        FROM (SELECT *, row_number() OVER (ORDER BY updated_at, id) AS update_order FROM read) AS read
        CROSS JOIN LATERAL (
            SELECT shape_id, axes, metric, scale, values, numbers FROM stored_revisions
            WHERE project_id = :project AND grid_id = read.id AND number = read.number AND derived IS NULL OFFSET 0
        ) AS content
        GROUP BY part, benchmark, variant, shape_id, axes, metric, scale
    ) AS one LEFT JOIN shapes ON shapes.id = one.shape_id"""  # noqa: S608 (a constant)
"""End of a statement that has a parameter `project` and a subquery `read` with part, id, number, updated_at, benchmark,
model and variant."""


@dataclass(frozen=True)
class GridMatrix:
    """Grids of one benchmark and variant over equal axes, as a matrix of values; by the names behind aliases."""

    benchmark: str
    variant: str
    axes: str
    """JSON of the axes."""
    unit: str | None
    direction: str | None
    lower: float | None
    upper: float | None
    models: Sequence[str]
    revisions: Sequence[int]
    order: Sequence[int]
    """Rank of each grid's update among all grids read together: where two cover the same cell, the later one counts."""
    ids: Sequence[uuid.UUID]
    """Empty for unchanged grids."""
    values: Floats
    """Grids x cells, NaN where nothing was measured."""


def matrix_of(row: Any, aliases: Aliases, *, with_ids: bool) -> GridMatrix:
    """Matrix in a row of `MATRICES`."""
    ids = bytes(row.ids) if with_ids else b""
    return GridMatrix(
        benchmark=aliases.get(("benchmark", row.benchmark), row.benchmark),
        variant=aliases.get(("variant", row.variant), row.variant),
        axes=row.axes,
        unit=row.metric.get("unit"),
        direction=row.metric.get("direction"),
        lower=_bound(row.metric, "lower"),
        upper=_bound(row.metric, "upper"),
        models=[aliases.get(("model", model), model) for model in row.models] if aliases else row.models,
        revisions=row.revisions,
        order=row.update_orders,
        ids=[uuid.UUID(bytes=ids[at : at + _ID]) for at in range(0, len(ids), _ID)],
        values=_values(row),
    )


def _bound(metric: dict[str, Any], end: str) -> float | None:
    # Always a float: 0 and 0.0 are the same bound, and kinds of metrics are counted by their text.
    return None if metric.get(end) is None else float(metric[end])


def _values(row: Any) -> Floats:
    if row.numbers is None:
        return _elements(row.values, len(row.models), ">f8")
    numbers = _elements(row.numbers, len(row.models), ">i4")
    # A division of whole numbers as the view makes it: the very double that was posted.
    return np.where(numbers == _MISSING, np.nan, numbers / row.scale)


def _elements(sent: bytes | memoryview, count: int, kind: str) -> Floats:
    """Matrix of `count` rows from as many equally long arrays without NULL, concatenated as `array_send` writes
    them."""
    element = np.dtype([("length", ">i4"), ("value", kind)])
    cells = (len(sent) // count - _HEADER) // element.itemsize
    if cells <= 0:
        return np.empty((count, 0))
    rows = np.frombuffer(sent, dtype=[("header", f"V{_HEADER}"), ("elements", element, (cells,))])
    return rows["elements"]["value"].astype(np.float64)
