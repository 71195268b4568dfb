"""Series of which the cells are put on their own line: what a trend test takes as true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from registry.claims.claim import Trend
from registry.grids.slices import kept_levels
from workers.claims.facts import Facts
from workers.claims.scene import Scene
from workers.statistics.table import abscissa_of

_DECIMALS = 9


def on_lines(facts: Facts, scene: Scene, says: Trend) -> Facts:
    """The facts with the cells of a series on the least-squares line through them, or on one on each side of the turn.
    Only the values of their grids change."""
    order = scene.series(says.along)
    if not order:
        return facts
    codes = facts.column(says.along)[order]
    x = abscissa_of(facts.axes[says.along])[0][codes]
    turns = set() if says.turn is None else kept_levels(facts.levels[says.along], [says.turn])
    turn = next((place for place, code in enumerate(codes.tolist()) if code in turns), len(order) - 1)
    y = np.array([float(facts.value(cell)) for cell in order])
    fitted = y.copy()
    for part in (slice(0, turn + 1), slice(turn, len(order))):
        if len(y[part]) > 1:
            fitted[part] = np.polyval(np.polyfit(x[part], y[part], 1), x[part])
    metric = facts.metric(order[0])
    fitted = np.clip(np.round(fitted, _DECIMALS), metric.lower, metric.upper)
    return _with_values(facts, order, fitted.tolist())


def _with_values(facts: Facts, cells: Sequence[int], values: Sequence[float]) -> Facts:
    owner = int(facts.owner[cells[0]])
    source = facts.sources[owner]
    given = list(source.grid.values)
    for cell, value in zip(cells, values, strict=True):
        given[int(facts.index[cell])] = value
    sources = list(facts.sources)
    sources[owner] = source._replace(grid=replace(source.grid, values=tuple(given)))
    return replace(facts, sources=sources)
