"""Worlds in which the posted numbers are true and every cell has so many times its trials, for plans of trends.

A trend is not one interval: scatter about a line, where more trials show it, makes its test say less and not more. How
often it decides is therefore counted over draws, by the test itself, many worlds at once. A cell has the same draws in
every series that it is in.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from registry.claims.claim import Trend
from workers.claims.courses import curve_of, lines_of, region_of, tested_spans
from workers.claims.worlds import Scene
from workers.statistics.curves import Curves
from workers.statistics.judging import Answer, all_of, judge
from workers.statistics.table import Curve
from workers.statistics.terms import FloatArray, IntArray

_SCATTER = 1e-9
"""Share of the values of a series by which its cells may miss a line."""
Columns = dict[str, FloatArray | IntArray]
"""The values of one cell in all worlds, and what else it has there, by the fields of `Curve`."""


def drawn_answers(says: Trend, scene: Scene, factor: float, draws: int) -> list[Answer]:
    """What the tests of a series say in so many worlds; with no draws, in the one where the posted numbers come out."""
    order = scene.series(says.along) or []
    curve = curve_of(says.along, scene, order)
    if curve.noise_kind == "unknown":
        return ["not_decidable"] * max(1, draws)
    cells = [_drawn(curve, place, cell, factor, draws) for place, cell in enumerate(order)]
    answers = []
    for one, inner, part in lines_of(says, scene, order):
        start = order.index(part[0])
        rows = _rows(curve, slice(start, start + len(part)), cells)
        spans = tested_spans(Curves.of(rows), inner.alpha)
        answers.append([judge(region_of(one), span) for span in spans])
    return [all_of(each) for each in zip(*answers, strict=True)]


def scatters(says: Trend, scene: Scene) -> bool:
    """True if posted cells are not on the lines along which they are tested."""
    order = scene.series(says.along) or []
    for one, inner, part in lines_of(says, scene, order):
        curve = curve_of(one.along, inner, part)
        x, y = curve.x, curve.y
        if np.max(np.abs(y - np.polyval(np.polyfit(x, y, 1), x))) > _SCATTER * np.max(np.abs(y)):
            return True
    return False


def _drawn(curve: Curve, place: int, cell: int, factor: float, draws: int) -> Columns:
    """One cell of a series in all worlds."""
    chance, y, worlds = np.random.default_rng(cell), float(curve.y[place]), max(1, draws)
    if curve.trials is not None and curve.whole is not None:
        trials = max(1, round(int(curve.trials[place]) * factor))
        effective = max(1, round(trials / curve.design_effect))
        share = min(max(y / curve.whole, 0.0), 1.0)
        hits = chance.binomial(effective, share, worlds) / effective if draws else np.array([share])
        return {"y": hits * curve.whole, "trials": np.full(worlds, trials)}
    error = 0.0 if curve.stderr is None else float(curve.stderr[place]) / factor**0.5
    if curve.noise_kind == "stderr":
        return {"y": y + error * chance.standard_normal(worlds) * bool(draws), "stderr": np.full(worlds, error)}
    posted = 2 if curve.repeats is None else int(curve.repeats[place])
    repeats = max(2, round(posted * factor))
    error *= (posted * factor / repeats) ** 0.5
    spread = np.sqrt(chance.chisquare(repeats - 1, worlds) / (repeats - 1)) if draws else np.ones(1)
    values = y + error * chance.standard_normal(worlds) * bool(draws)
    return {"y": values, "stderr": error * spread, "repeats": np.full(worlds, repeats)}


def _rows(curve: Curve, part: slice, cells: Sequence[Columns]) -> list[Curve]:
    """Some of the cells as a series of each world. Their order stands for the values as ticks, without ties: tests that
    know the noise look at none."""
    fields = {name: np.stack([one[name] for one in cells[part]], axis=1) for name in cells[0]}
    ticks = np.argsort(np.argsort(fields["y"], axis=1, kind="stable"), axis=1)
    same = replace(curve, positions=curve.positions[part], x=curve.x[part], decimals=0)
    return [
        replace(same, ticks=own, **{name: column[row] for name, column in fields.items()})
        for row, own in enumerate(ticks)
    ]
