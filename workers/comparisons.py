"""Comparisons: the difference between two revisions, and the names in which their grids differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, and_, select

from registry.query import ComparisonQuery
from registry.storage.rows import grid_of
from registry.storage.tables import grids, revisions
from workers.statistics import gap

FACTORS = ("experiment", "model", "benchmark", "variant", "metric")


def compared_rows(connection: Connection, project_id: Any, query: ComparisonQuery) -> tuple[Any, Any]:
    """Rows of baseline and contender, each a revision with the names of its grid."""
    return (
        _row(connection, project_id, query.baseline, query.baseline_revision),
        _row(connection, project_id, query.contender, query.contender_revision),
    )


def _row(connection: Connection, project_id: Any, grid: str, number: int) -> Any:
    names = (grids.c.experiment, grids.c.benchmark, grids.c.model, grids.c.variant)
    statement = (
        select(*names, revisions)
        .join(revisions, and_(revisions.c.grid_id == grids.c.id, revisions.c.number == number))
        .where(grids.c.id == grid, grids.c.project_id == project_id)
    )
    return connection.execute(statement).one()


def comparison_document(
    query: ComparisonQuery, baseline: Any, contender: Any, joined: Mapping[tuple[str, str], str]
) -> dict[str, Any]:
    """Result of a comparison, with its inputs and warnings: equal inputs give equal bytes."""
    sides = [_side(row, joined) for row in (baseline, contender)]
    mine, theirs = (side | {"metric": side["metric"]["name"]} for side in sides)
    differs = tuple(kind for kind in FACTORS if mine[kind] != theirs[kind])
    return {
        "baseline": sides[0],
        "contender": sides[1],
        "axes": baseline.axes,
        **gap(grid_of(baseline), grid_of(contender), differs, query.alpha),
        "inputs": [{name: side[name] for name in ("grid", "revision", "digest")} for side in sides],
        "warnings": [*_same(*sides), *_units(baseline, contender)],
    }


def _side(row: Any, joined: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """Names, revision and digest of a row, with aliases replaced by the names behind them."""
    kinds = ("experiment", "benchmark", "model", "variant")
    names = {kind: joined.get((kind, getattr(row, kind)), getattr(row, kind)) for kind in kinds}
    digest = "sha256:" + bytes(row.digest).hex()
    return {"grid": str(row.grid_id), "revision": row.number, "digest": digest, **names, "metric": row.metric}


def _same(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    if (first["grid"], first["revision"]) == (second["grid"], second["revision"]):
        yield {"code": "same_revision", "detail": "Baseline and contender are one revision of one grid."}


def _units(first: Any, second: Any) -> Iterator[dict[str, str]]:
    """Warnings about axes with the same name and different units."""
    theirs = {axis["name"]: axis["unit"] for axis in second.axes}
    for axis in first.axes:
        mine, other = axis["unit"], theirs.get(axis["name"])
        if mine and other and mine != other:
            detail = f'The axis "{axis["name"]}" is in {mine} in the baseline and in {other} in the contender.'
            yield {"code": "axis_units", "detail": detail}
