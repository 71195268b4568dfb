"""Read grids as matrices, for large rankings, one a benchmark, variant and shape, in PostgreSQL's binary form.

The stored form of revisions is read instead of the view, which divides each packed value by its scale one by one: here
whole arrays are divided.

Read the grids of one benchmark that changed, as matrices of values, and what they change of the pair sums.

One statement reads them, takes them off the list of grids to count, and records which revisions are in the sums. All of
its parts see the same snapshot: a grid that changes meanwhile is listed again.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray
from sqlalchemy import Connection, TextClause, Uuid, bindparam, text

from workers.rankings.slots import Slots
from workers.scope import Aliases, names_of
from workers.statistics.pair_sums import MOST_TICKS, Side, all_meetings, empty, meeting

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
    ) AS one LEFT JOIN shapes ON shapes.project_id = :project AND shapes.id = one.shape_id"""  # noqa: S608 (a constant)
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


Integers = NDArray[np.int64]


@dataclass(frozen=True)
class BenchmarkChange:
    """Grids of a benchmark: unchanged ones, and the changed ones as they are in the sums and as they are now."""

    unchanged: Sequence[GridMatrix]
    before: Sequence[GridMatrix]
    after: Sequence[GridMatrix]
    joined: bool
    """True if aliases may have put several grids on one cell."""


# Written so that the planner has no bad plan to choose: its statistics know nothing of an experiment that began a
# minute ago, and it would then join whole tables instead of using an index. OFFSET 0 keeps a subquery from being merged
# into the query around it, and LATERAL looks each of its rows up by key.
_HERE = """
    SELECT id, benchmark, model, variant FROM grids
    WHERE project_id = :project AND experiment = ANY(:experiments) AND metric = :metric AND benchmark = ANY(:names)"""
_INPUTS = f"""
    SELECT here.id, was.revision AS number, was.updated_at, benchmark, model, variant
    FROM ({_HERE} OFFSET 0) AS here CROSS JOIN LATERAL (
        SELECT revision, updated_at FROM pair_sum_inputs WHERE scope_id = :scope AND grid_id = here.id OFFSET 0) AS was
    """  # noqa: S608 (a constant)
# Data-modifying CTEs see one snapshot. A change that commits meanwhile keeps its row in `pair_sum_queue` for the next
# time; in `listed`, a NULL grid stands for every grid of the benchmark.
_QUEUE_TAKEN = f"""
WITH listed AS (
    DELETE FROM pair_sum_queue WHERE scope_id = :scope AND benchmark = ANY(:names) RETURNING grid_id
), taken AS MATERIALIZED (
    SELECT grid_id FROM listed WHERE grid_id IS NOT NULL
    UNION
    SELECT id FROM ({_HERE} OFFSET 0) AS here WHERE EXISTS (SELECT FROM listed WHERE grid_id IS NULL)
), before AS ("""  # noqa: S608 (a constant)
# `part` 0: unchanged; 1: the changed grids as they are in the sums; 2: the same as they are now. A deleted grid, or one
# that an alias no longer brings here, has no part 2, and its row in `pair_sum_inputs` is deleted.
_RECORDED = """
), read AS MATERIALIZED (
    SELECT CASE WHEN before.id IN (SELECT grid_id FROM taken) THEN 1 ELSE 0 END AS part, before.* FROM before
    UNION ALL
    SELECT 2, grid_id, revision, updated_at, benchmark, model, variant
    FROM taken CROSS JOIN LATERAL (SELECT * FROM grids WHERE id = grid_id OFFSET 0) AS now
    WHERE deleted_at IS NULL AND experiment = ANY(:experiments)
), removed AS (
    DELETE FROM pair_sum_inputs WHERE scope_id = :scope AND grid_id = ANY(ARRAY(
        SELECT grid_id FROM taken WHERE grid_id NOT IN (SELECT id FROM read WHERE part = 2)))
), recorded AS (
    INSERT INTO pair_sum_inputs (scope_id, grid_id, revision, updated_at)
    SELECT :scope, id, number, updated_at FROM read WHERE part = 2
    ON CONFLICT (scope_id, grid_id) DO UPDATE SET revision = excluded.revision, updated_at = excluded.updated_at
)"""


def _statement(*parts: str) -> TextClause:
    return text("".join(parts)).bindparams(bindparam("project", type_=Uuid), bindparam("scope", type_=Uuid))


_READ_INPUTS = _statement("WITH before AS (", _INPUTS, "), read AS (SELECT 2 AS part, before.* FROM before)", MATRICES)
_TAKE_CHANGES = _statement(_QUEUE_TAKEN, _INPUTS, _RECORDED, MATRICES)


def take_changes(connection: Connection, scope: Any, aliases: Aliases, names: Sequence[str]) -> BenchmarkChange:
    """Take the changes of a benchmark, known by `names`, off the list, and record its grids as counted.

    Changes listed under an alias that the experiment has lost are dropped: losing it has reset the scope.
    """
    found: tuple[list[GridMatrix], list[GridMatrix], list[GridMatrix]] = ([], [], [])
    for row in connection.execute(_TAKE_CHANGES, _parameters(scope, aliases, names)):
        found[row.part].append(matrix_of(row, aliases, with_ids=row.part > 0))
    return BenchmarkChange(*found, bool(aliases))


def read_inputs(connection: Connection, scope: Any, aliases: Aliases, names: Sequence[str]) -> list[GridMatrix]:
    """The grids of a benchmark, known by `names`, at the revisions that are in the sums."""
    rows = connection.execute(_READ_INPUTS, _parameters(scope, aliases, names))
    return [matrix_of(row, aliases, with_ids=True) for row in rows]


def _parameters(scope: Any, aliases: Aliases, names: Sequence[str]) -> dict[str, Any]:
    return {
        "scope": scope.id,
        "project": scope.project_id,
        "metric": scope.metric,
        "experiments": names_of(aliases, "experiment", scope.experiment),
        "names": list(names),
    }


class TooLarge(Exception):
    """Raised when a value has more ticks than the sums can hold; `largest` is its size."""

    def __init__(self, largest: float) -> None:
        super().__init__(f"{largest} does not fit into the sums")
        self.largest = largest


@dataclass
class SumsDelta:
    """Change of a scope by one benchmark: for each name its sums with every name of `names`, its cells; slots."""

    names: list[str]
    sums: dict[str, Integers] = field(default_factory=dict)
    cells: dict[str, int] = field(default_factory=dict)
    slots: int = 0
    compared: int = 0


@dataclass(frozen=True)
class Block:
    """Values of grids over the same slots, with the row of each among the names and the order of its update."""

    rows: Integers
    slots: Integers
    order: Integers
    values: Floats

    def at(self, picked: NDArray[Any]) -> "Block":
        """Some of the rows."""
        return Block(self.rows[picked], self.slots, self.order[picked], self.values[picked])


def sums_delta(change: BenchmarkChange, exponent: int) -> SumsDelta:
    """Delta from replacing the grids `before` by those `after`, in units of 10^-exponent.

    Exact: the deltas from A to B and from B to C add up to that from A to C. Raises `TooLarge`.
    """
    affected = {name for matrix in chain(change.before, change.after) for name in matrix.models}
    names = sorted(affected.union(*(matrix.models for matrix in change.unchanged)))
    places, slots = {name: i for i, name in enumerate(names)}, Slots()
    unchanged, removed, added = (
        [_block_of(matrix, places, slots) for matrix in matrices]
        for matrices in (change.unchanged, change.before, change.after)
    )
    before = np.full((len(names), slots.size), np.nan)
    scatter(before, [*unchanged, *removed], in_order=change.joined)
    after, touched = before.copy(), np.array(sorted(places[name] for name in affected), dtype=np.int64)
    # Emptied and written again with the unchanged grids of these names: where aliases put several grids on one cell,
    # the removed one may have covered a value that now counts.
    after[touched] = np.nan
    scatter(after, [*(one.at(np.isin(one.rows, touched)) for one in unchanged), *added], in_order=change.joined)
    old, new, rivals = (_side(values, exponent) for values in (before, after, before))
    delta = SumsDelta(names)
    delta.slots, delta.compared = (
        int(np.count_nonzero(new.present.sum(axis=0) > least) - np.count_nonzero(old.present.sum(axis=0) > least))
        for least in (0, 1)
    )
    if not change.before and not change.unchanged and (every := all_meetings(new)) is not None:
        for i in touched.tolist():
            if new.present[i].any():
                delta.sums[names[i]], delta.cells[names[i]] = every[:, i], int(new.present[i].sum())
        return delta
    # The rivals turn from old to new row by row. So a pair of two changed names is counted in two steps that add up to
    # its whole change: the first name moves against the old values of the second, the second against the new of the
    # first.
    for i in touched.tolist():
        if np.array_equal(old.present[i], new.present[i]) and np.array_equal(old.values[i], new.values[i]):
            continue
        delta.sums[names[i]] = _sums_with_rivals(rivals, new, i) - _sums_with_rivals(rivals, old, i)
        delta.cells[names[i]] = int(new.present[i].sum() - old.present[i].sum())
        rivals.ticks[i], rivals.values[i], rivals.present[i] = new.ticks[i], new.values[i], new.present[i]
    return delta


def _sums_with_rivals(rivals: Side, side: Side, i: int) -> Integers:
    """Sums of row i of a side with every rival except itself."""
    total = empty(len(rivals.ticks))
    others = np.asarray(rivals.present.any(axis=1), dtype=np.bool_)
    others[i] = False
    if others.any() and side.present[i].any():
        total[:, others] = meeting(rivals.rows(others), side.rows(slice(i, i + 1)))
    return total


def _block_of(matrix: GridMatrix, places: Mapping[str, int], slots: Slots) -> Block:
    numbers = slots.numbers(matrix.benchmark, (matrix.variant,), orjson.loads(matrix.axes))
    rows = np.array([places[name] for name in matrix.models], dtype=np.int64)
    return Block(rows, numbers, np.array(matrix.order, dtype=np.int64), matrix.values)


def scatter(values: Floats, blocks: Iterable[Block], *, in_order: bool) -> None:
    """Write the values into their rows and slots; of several for one slot of a name the last update counts, where they
    are written `in_order`."""
    if in_order:
        single = (one.at(np.array([i])) for one in blocks for i in range(len(one.rows)))
        blocks = sorted(single, key=lambda one: int(one.order[0]))
    for one in blocks:
        at = np.ix_(one.rows, one.slots)
        values[at] = np.where(np.isfinite(one.values), one.values, values[at])


def _side(values: Floats, exponent: int) -> Side:
    """Values and their ticks; 0 where absent."""
    present = np.isfinite(values)
    held = np.where(present, values, 0.0)
    ticks = held * 10.0**exponent
    if np.max(np.abs(ticks), initial=0.0) > MOST_TICKS:
        raise TooLarge(float(np.max(np.abs(held))))
    return Side(np.rint(ticks).astype(np.int64), held, present)
