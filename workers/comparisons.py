"""Comparisons: the difference between two revisions, and the names in which their grids differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, and_, select

from registry.grids.outcomes import HeldItems
from registry.grids.protocol import Rules
from registry.query import ComparisonQuery, sliced_by
from registry.results.codec import to_document
from registry.results.comparison import ComparedGrid, ComparedRevision, Gap
from registry.results.inputs import Warning
from registry.results.protocols import differing_keys
from registry.storage.item_outcomes import held_items, rows_of_items
from registry.storage.keys import of_grid
from registry.storage.rows import grid_of, sliced_row
from registry.storage.tables import grids, revisions
from workers.protocols import protocol_doubts
from workers.statistics import gap
from workers.statistics.matching import NO_ITEMS, Items


def compared_rows(connection: Connection, project_id: Any, query: ComparisonQuery) -> tuple[Any, Any]:
    """Rows of baseline and contender, each a revision with the names of its grid, cut to the query's slice."""
    return (
        sliced_row(revision_row(connection, project_id, query.baseline, query.baseline_revision), query.at),
        sliced_row(revision_row(connection, project_id, query.contender, query.contender_revision), query.at),
    )


def revision_row(connection: Connection, project_id: Any, grid: str, number: int) -> Any:
    """Row of a revision with the names of its grid."""
    names = (grids.c.experiment, grids.c.benchmark, grids.c.model, grids.c.variant)
    statement = (
        select(*names, revisions)
        .join(revisions, and_(of_grid(revisions), revisions.c.number == number))
        .where(grids.c.id == grid, grids.c.project_id == project_id)
    )
    return connection.execute(statement).one()


def compared_items(connection: Connection, query: ComparisonQuery, baseline: Any, contender: Any) -> Items:
    """Outcomes of items in both sides' cells, as far as the query knows them."""
    return (
        _items(connection, query.baseline, baseline, query.baseline_items),
        _items(connection, query.contender, contender, query.contender_items),
    )


def _items(connection: Connection, grid: str, row: Any, mark: int) -> Mapping[int, HeldItems]:
    return held_items(grid_of(row), rows_of_items(connection, grid, row.number, mark)) if mark else {}


def comparison_document(
    query: ComparisonQuery,
    sides: tuple[Any, Any],
    joined: Mapping[tuple[str, str], str],
    rules: Rules,
    items: Items = NO_ITEMS,
) -> dict[str, Any]:
    """Result of a comparison, with its inputs and warnings: equal inputs give equal bytes."""
    baseline, contender = sides
    mine, theirs = (_side(row, joined) for row in sides)
    differs = tuple(_differing(mine, theirs))
    obstacle = None if "experiment" in differs else rules.obstacle(baseline.protocol, contender.protocol)
    found = (
        gap(grid_of(baseline), grid_of(contender), differs, query.alpha, items)
        if obstacle is None
        else Gap("not_comparable", alpha=query.alpha, differs=differs, reason=obstacle)
    )
    found = replace(found, protocol=differing_keys(rules, baseline.protocol, contender.protocol))
    doubts = () if obstacle else protocol_doubts(rules, baseline.protocol, contender.protocol)
    inputs = [ComparedRevision(side.grid, side.revision, side.digest) for side in (mine, theirs)]
    return {
        "baseline": to_document(mine),
        "contender": to_document(theirs),
        "axes": baseline.axes,
        **sliced_by(query),
        **to_document(found),
        "inputs": to_document(inputs),
        "warnings": to_document([*_same(mine, theirs), *_units(baseline, contender), *doubts]),
    }


def _side(row: Any, joined: Mapping[tuple[str, str], str]) -> ComparedGrid:
    """Names, revision and digest of a row, with aliases replaced by the names behind them."""

    def name(kind: str) -> str:
        own: str = getattr(row, kind)
        return joined.get((kind, own), own)

    return ComparedGrid(
        grid=str(row.grid_id),
        revision=row.number,
        digest="sha256:" + bytes(row.digest).hex(),
        experiment=name("experiment"),
        benchmark=name("benchmark"),
        model=name("model"),
        variant=name("variant"),
        metric=row.metric,
    )


def _differing(mine: ComparedGrid, theirs: ComparedGrid) -> Iterator[str]:
    """Names in which two grids differ, in the order in which they are told."""
    pairs = {
        "experiment": (mine.experiment, theirs.experiment),
        "model": (mine.model, theirs.model),
        "benchmark": (mine.benchmark, theirs.benchmark),
        "variant": (mine.variant, theirs.variant),
        "metric": (mine.metric["name"], theirs.metric["name"]),
    }
    return (kind for kind, (one, other) in pairs.items() if one != other)


def _same(first: ComparedGrid, second: ComparedGrid) -> Iterator[Warning]:
    if (first.grid, first.revision) == (second.grid, second.revision):
        yield Warning("same_revision", "Baseline and contender are one revision of one grid.")


def _units(first: Any, second: Any) -> Iterator[Warning]:
    """Warnings about axes with the same name and different units."""
    theirs = {axis["name"]: axis["unit"] for axis in second.axes}
    for axis in first.axes:
        mine, other = axis["unit"], theirs.get(axis["name"])
        if mine and other and mine != other:
            detail = f'The axis "{axis["name"]}" is in {mine} in the baseline and in {other} in the contender.'
            yield Warning("axis_units", detail)
