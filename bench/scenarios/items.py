"""Statements about two models on the same items: paired and unpaired, as alike as the items make them."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from bench.scenarios import Chance, Outcome, Scenario
from registry.grids.grid import Axis, Grid, Level, Metric
from registry.grids.outcomes import HeldItems, Outcomes
from registry.plans.closed_forms import Goal
from registry.plans.paired_items import PairedItems
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


def tossed(chance: Chance, count: int, won: float, lost: float) -> Any:
    """Outcomes of two models that differ on these shares of the items."""
    kind = chance.random(count)
    both = chance.random(count) < 0.5
    return np.array([[np.where(kind < won + lost, kind < won, both)], [np.where(kind < won + lost, kind >= won, both)]])


def planted(chance: Chance, count: int, won: float, lost: float) -> Outcome:
    """Whether the difference that a comparison says it could show is shown, in items that differ as these do."""
    size = compared(tossed(chance, count, won, lost), paired=True).test.detectable
    if size is None:
        return 0, 0
    lost = min(max(lost, (won + lost - size) / 2), (1 - size) / 2)
    test = compared(tossed(chance, count, lost + size, lost), paired=True).test
    return int(test.p < 0.05), 1


def plan_finds(chance: Chance, count: int, won: float, lost: float) -> Outcome:
    """Whether a difference is shown by as many items as a plan asks for, from a smaller measurement."""
    first = tossed(chance, count, won, lost)
    up, down = ((one > other).sum() for one, other in (first, first[::-1]))
    needed = PairedItems(int(up), int(down), count).needed(won - lost, Goal()) or 0
    return int(compared(tossed(chance, needed, won, lost), paired=True).test.p < 0.05), 1


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
    for count, won, lost in ((10, 0.45, 0.05), (30, 0.1, 0.1), (60, 0.3, 0.0), (200, 0.06, 0.04), (1_000, 0.16, 0.14)):
        setting = f"{count:,} items, {won:g} won and {lost:g} lost"
        yield Scenario(
            "items of two models differ as much as `detectable` says: McNemar shows it",
            setting, "at_least", 0.75, partial(planted, count=count, won=won, lost=lost),
        )  # fmt: skip
    for count, won, lost in ((30, 0.175, 0.025), (60, 0.2, 0.1), (200, 0.045, 0.005), (300, 0.2, 0.1)):
        setting = f"{count} items, {won:g} won and {lost:g} lost, and then as many as planned"
        yield Scenario(
            "a difference of the same items is shown by as many as a plan asks for",
            setting, "at_least", 0.8, partial(plan_finds, count=count, won=won, lost=lost),
        )  # fmt: skip
    for cells in (1, 5):
        for rho in (0.0, 0.3, 0.6, 0.9):
            yield Scenario(
                "the same, taken as independent samples: the 95 % interval misses 0",
                f"200 items, {'1 cell' if cells == 1 else f'{cells} cells'}, correlation {rho:g}", "shown", None,
                partial(missed, rho=rho, cells=cells, count=200, paired=False),
            )  # fmt: skip


SCENARIOS = list(_scenarios())
