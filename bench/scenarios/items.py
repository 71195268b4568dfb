"""Statements about two models on the same items: paired and unpaired, as alike as the items make them."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from bench.scenarios import Chance, Outcome, Scenario
from registry.grids.grid import Axis, Grid, Level, Metric
from registry.grids.outcomes import HeldItems, Outcomes
from workers.statistics import gap_of_all_cells
from workers.statistics.cells import SlotItems
from workers.statistics.matching import NO_ITEMS
from workers.statistics.pairs import pair_table
from workers.statistics.score_matrix import ScoreMatrix

SHARE = Metric("accuracy", None, "higher", 0.0, 1.0)


def drawn(chance: Chance, rho: float, cells: int, count: int) -> Any:
    """Outcomes of two equal models: 2 x cells x items. A normal copula: rho of an item's difficulty is shared by both
    models, and half of the rest by the cells of one model."""
    shared = chance.normal(size=count)
    model = chance.normal(size=(2, 1, count))
    own = chance.normal(size=(2, cells, count))
    rest = model if cells == 1 else (model + own) / math.sqrt(2)
    return math.sqrt(rho) * shared + math.sqrt(1 - rho) * rest > -0.5


def compared(table: Any, *, paired: bool) -> Any:
    """The comparison of both models."""
    axis = Axis("x", "nominal", tuple(Level(str(i)) for i in range(table.shape[1])))
    grids = [Grid(SHARE, (axis,), tuple(model.mean(axis=1).tolist()), table.shape[2]) for model in table]
    held = [
        {i: HeldItems("", "a", (), 0.0, None, Outcomes(row.size, bits=np.packbits(row).tobytes()))
         for i, row in enumerate(model)}
        for model in table
    ]  # fmt: skip
    return gap_of_all_cells(*grids, ("model",), 0.05, (held[0], held[1]) if paired else NO_ITEMS)


def missed(chance: Chance, rho: float, cells: int, count: int, paired: bool) -> Outcome:
    """Whether the 95 % interval of two equal models misses 0."""
    ends = compared(drawn(chance, rho, cells, count), paired=paired).test.interval
    return int(ends is not None and not ends.low <= 0 <= ends.high), 1


def rejected(chance: Chance, rho: float, count: int) -> Outcome:
    """Whether McNemar's test tells equal models apart."""
    return int(compared(drawn(chance, rho, 1, count), paired=True).test.p < 0.05), 1


def ranked(chance: Chance, rho: float, cells: int, count: int, names: int) -> Outcome:
    """Whether a ranking for new questions tells any two of equal models apart."""
    shared = chance.normal(size=count)
    model, own = chance.normal(size=(names, 1, count)), chance.normal(size=(names, cells, count))
    rest = model if cells == 1 else (model + own) / math.sqrt(2)
    table = math.sqrt(rho) * shared + math.sqrt(1 - rho) * rest > -0.5
    items = np.empty((names, cells), dtype=object)
    for i, j in np.ndindex(names, cells):
        bits = Outcomes(count, bits=np.packbits(table[i, j]).tobytes())
        items[i, j] = SlotItems(("a", count), bits, 1.0)
    trials = np.full((names, cells), count)
    standings = ScoreMatrix(
        tuple(map(str, range(names))), table.mean(axis=2), np.zeros(cells, dtype=np.int64), ("b",),
        trials=trials, questions=trials, direction="higher", lower=0.0, upper=1.0, items=items,
    )  # fmt: skip
    return int(pair_table(standings, 0.05, "new_questions").shown > 0), 1


def _scenarios() -> Iterator[Scenario]:
    for cells, count in ((1, 30), (5, 100)):
        for rho in (0.0, 0.5, 0.9):
            setting = f"4 models, {count} items, {'1 cell' if cells == 1 else f'{cells} cells'}, correlation {rho:g}"
            yield Scenario(
                "equal models on the same items: a ranking for new questions tells two of them apart",
                setting, "at_most", 0.06, partial(ranked, rho=rho, cells=cells, count=count, names=4),
            )  # fmt: skip
    paired = "equal models on the same items: the paired 95 % interval misses 0"
    for cells, count in ((1, 30), (1, 200), (5, 30), (5, 200)):
        for rho in (0.0, 0.3, 0.6, 0.9):
            setting = f"{count} items, {'1 cell' if cells == 1 else f'{cells} cells'}, correlation {rho:g}"
            yield Scenario(
                paired, setting, "at_most", 0.06, partial(missed, rho=rho, cells=cells, count=count, paired=True)
            )
    for rho in (0.0, 0.3, 0.6, 0.9):
        yield Scenario(
            "equal models on the same items: exact McNemar tells them apart",
            f"200 items, correlation {rho:g}", "at_most", 0.05, partial(rejected, rho=rho, count=200),
        )  # fmt: skip
    for cells in (1, 5):
        for rho in (0.0, 0.3, 0.6, 0.9):
            yield Scenario(
                "the same, taken as independent samples: the 95 % interval misses 0",
                f"200 items, {'1 cell' if cells == 1 else f'{cells} cells'}, correlation {rho:g}", "shown", None,
                partial(missed, rho=rho, cells=cells, count=200, paired=False),
            )  # fmt: skip


SCENARIOS = list(_scenarios())
