"""The design effect of a grid without a numerical library: what was posted, or else what its repeats show.

The estimate is that of `workers.statistics.design_effects`, whose first lines have its sources.
"""

from __future__ import annotations

import math
from dataclasses import replace

from registry.grids.grid import Grid
from registry.plans.student import normal_quantile, t_quantile

_UPPER = 0.975


def effect_of(grid: Grid) -> float | None:
    """The design effect of a grid; None where none was posted and repeats vary by no more than their trials explain."""
    whole = grid.metric.proportion_of
    if grid.design_effect is not None or whole is None or grid.repeats is None or grid.sd is None:
        return grid.design_effect
    df, ratios = 0, []
    for place, value in enumerate(grid.values):
        trials = grid.trials[place] if isinstance(grid.trials, tuple) else grid.trials
        times, sd = grid.repeats[place], grid.sd[place]
        if value is not None and trials and times is not None and times > 1 and sd is not None:
            smooth = (value / whole * trials + 0.5) / (trials + 1)
            explained = smooth * (1 - smooth) * whole**2 * times / trials
            df += times - 1
            ratios.append((times - 1) * sd**2 / explained)
    ratio = math.fsum(ratios) / df if df else 0.0
    return ratio * (t_quantile(_UPPER, df) / normal_quantile(_UPPER)) ** 2 if ratio > 1 else None


def with_effect(grid: Grid) -> Grid:
    """The grid with its design effect as if that had been posted."""
    effect = effect_of(grid)
    return grid if effect == grid.design_effect else replace(grid, design_effect=effect)
