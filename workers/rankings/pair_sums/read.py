"""Read the grids of one benchmark as matrices of values, one for each set of axes, for updating pair sums.

One statement reads them, takes them off the list of grids to count, and records which revisions are in the sums. All of
its parts see the same snapshot: a grid that changes meanwhile is listed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, TextClause, Uuid, bindparam, text

from workers.rankings.matrices import MATRICES, GridMatrix, matrix_of


@dataclass(frozen=True)
class BenchmarkChange:
    """Grids of a benchmark: unchanged ones, and the changed ones as they are in the sums and as they are now."""

    unchanged: Sequence[GridMatrix]
    before: Sequence[GridMatrix]
    after: Sequence[GridMatrix]


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


def take_changes(
    connection: Connection, scope: Any, experiments: Sequence[str], names: Sequence[str]
) -> BenchmarkChange:
    """Take the changes of a benchmark, known by `names`, off the list, and record its grids as counted.

    Changes listed under an alias that the experiment has lost are dropped: losing it has reset the scope.
    """
    found: tuple[list[GridMatrix], ...] = ([], [], [])
    for row in connection.execute(_TAKE_CHANGES, _parameters(scope, experiments, names)):
        found[row.part].append(matrix_of(row, with_ids=row.part > 0))
    return BenchmarkChange(*found)


def read_inputs(
    connection: Connection, scope: Any, experiments: Sequence[str], names: Sequence[str]
) -> list[GridMatrix]:
    """The grids of a benchmark, known by `names`, at the revisions that are in the sums."""
    return [
        matrix_of(row, with_ids=True)
        for row in connection.execute(_READ_INPUTS, _parameters(scope, experiments, names))
    ]


def _parameters(scope: Any, experiments: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    return {
        "scope": scope.id,
        "project": scope.project_id,
        "metric": scope.metric,
        "experiments": list(experiments),
        "names": list(names),
    }
