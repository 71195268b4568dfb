"""Onsets, isolated peaks, interactions, gaps of gaps and sweet spots against their definitions, written out
with numpy and scipy."""

import random
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, binomtest, norm

from registry.grids.grid import Grid, Metric
from tests.workers.claims.scenes import judged, source, table
from workers.claims.facts import Facts

pytestmark = [pytest.mark.unit, pytest.mark.usefixtures("unplanned")]

ROWS, COLUMNS = ("a", "b", "c"), (0.0, 1.0, 2.0, 5.0, 9.0)
LOSS = Metric("loss", None, "lower", 0.0, 100.0)
YES, NO, OPEN = "supported", "contradicted", "not_decidable"
DRAWS = range(6)
"""Of each definition; `tests/live/calibration` has more."""


def drawn(seed: int, rows: int = 3, holes: float = 0.0) -> list[list[float | None]]:
    """Values with many ties."""
    draw = random.Random(seed)
    return [[None if draw.random() < holes else draw.randint(10, 30) / 2 for _ in COLUMNS] for _ in range(rows)]


def facts(values: list[list[float | None]], **content: Any) -> Facts:
    return Facts.of([source(table(values, ROWS[: len(values)], COLUMNS, **content))])


def posted(found: Facts, claim: dict[str, Any]) -> bool:
    answer = judged(found, claim)["as_posted"]
    assert answer in (YES, NO), (claim, answer)
    return bool(answer == YES)


@pytest.mark.parametrize("seed", DRAWS)
def test_a_change_begins_where_no_later_cell_comes_back(seed: int) -> None:
    [row] = drawn(seed, 1)
    goes, margin = ("down", "up")[seed % 2], [0, 1, 2.5][seed % 3]
    good = np.array(row, dtype=float) * (1 if goes == "down" else -1)
    cuts = [cut for cut in range(1, 5) if good[:cut].max() - good[cut:].max() > margin]
    for cut in range(1, 5):
        claim = {"kind": "step", "along": "L", "goes": goes, "onset": COLUMNS[cut], "margin": margin}
        assert posted(facts([row]), claim) == (cut == min(cuts, default=0)), (row, claim)
        told = cut - 1 if cut - 1 in cuts else cut  # where it begins earlier that is what decides
        assert judged(facts([row]), claim)["parts"][0]["numbers"]["estimate"] == good[:told].max() - good[told:].max()


@pytest.mark.parametrize("seed", DRAWS)
def test_an_isolated_peak_is_beyond_all_cells_around_it(seed: int) -> None:
    values = drawn(seed)
    array = np.array(values, dtype=float)
    # T has no order: only the cells before and after in the same row are neighbours.
    for row, column in product(range(3), range(5)):
        around = [array[row, other] for other in (column - 1, column + 1) if 0 <= other < 5]
        alone = np.sum(array == array.max()) == 1 and array[row, column] == array.max()
        for margin in (0, 0.5, 2):
            claim = {"kind": "extreme", "which": "max", "at": [{"T": ROWS[row], "L": COLUMNS[column]}],
                     "isolated": margin}  # fmt: skip
            expected = alone and array[row, column] - max(around) > margin
            assert posted(facts(values), claim) == expected, (values, claim)


@pytest.mark.parametrize("seed", DRAWS)
def test_interaction_is_what_least_squares_leave_over(seed: int) -> None:
    values = drawn(seed, 2 + seed % 2)
    rows = len(values)
    at = list(product(range(rows), range(5)))
    design = np.array([[row == i for i in range(rows)] + [column == j for j in range(5)] for row, column in at], float)
    flat = np.array(values, dtype=float).ravel()
    left = float(np.abs(flat - design @ np.linalg.lstsq(design, flat, rcond=None)[0]).max())
    claim = {"kind": "effect", "axes": ["L", "T"], "interaction": True}
    found = judged(facts(values), claim | {"is": "present"})
    assert found["parts"][0]["numbers"]["estimate"] == pytest.approx(left, abs=1e-12)
    assert posted(facts(values), claim | {"is": "small", "within": left + 1e-9})
    assert not posted(facts(values), claim | {"is": "small", "within": left - 1e-9})


def test_an_additive_table_has_no_interaction_and_a_ragged_one_is_left_open() -> None:
    rows: list[list[float | None]] = [[0.1 + row + column / 10 for column in range(5)] for row in range(3)]
    rows = [[round(value or 0, 1) for value in row] for row in rows]
    claim = {"kind": "effect", "axes": ["T", "L"], "is": "none", "interaction": True}
    assert posted(facts(rows), claim)
    rows[1][2] = None
    told = judged(facts(rows), claim)
    assert (told["as_posted"], told["reason"]) == (OPEN, "missing_cells")
    assert "where can choose one" in told["sentence"]
    assert posted(facts(rows), claim | {"where": {"L": {"from": 3}}})


def test_limits_of_an_interaction_are_those_of_its_cells() -> None:
    values: list[list[float | None]] = [[10.0, 12.0], [11.0, 19.0]]
    grid = table(values, ROWS[:2], COLUMNS[:2], stderr=(0.5, 0.5, 0.5, 1.0))
    told = judged(Facts.of([source(grid)]), {"kind": "effect", "axes": ["T", "L"], "is": "present",
                                             "interaction": True})  # fmt: skip
    # 10 - 12 - 11 + 19 = 6; a quarter of it and of the error at each of the four places, which are one number.
    reach = norm.ppf(0.975) * np.sqrt(3 * 0.5**2 + 1) / 4
    numbers = told["parts"][0]["numbers"]
    assert (numbers["estimate"], numbers["low"], numbers["high"]) == pytest.approx((1.5, 1.5 - reach, 1.5 + reach))
    assert told["beyond_noise"] == YES


GAP = {"kind": "compare", "of": "gap", "ahead": {"T": ["a"]}, "behind": {"T": ["b"]}, "left": {"L": {"to": 1}},
       "right": {"L": {"from": 2}}}  # fmt: skip


@pytest.mark.parametrize("seed", DRAWS)
def test_each_gap_is_over_the_cells_that_both_sides_have(seed: int) -> None:
    values = drawn(seed, 2, holes=0.2)
    array = np.array(values, dtype=float)
    gaps = [np.nanmean(part) if np.isfinite(part := array[0, at] - array[1, at]).any() else None
            for at in (slice(0, 2), slice(2, 5))]  # fmt: skip
    told = judged(facts(values), GAP | {"is": "higher"})
    if None in gaps:
        assert (told["as_posted"], told["reason"]) == (OPEN, "missing_cells")
        return
    difference = gaps[0] - gaps[1]  # type: ignore[operator]
    assert told["parts"][0]["numbers"]["estimate"] == pytest.approx(difference, abs=1e-12)
    assert told["as_posted"] == (YES if difference > 1e-9 else NO)
    # Less is better: what is ahead by less has the greater advantage.
    loss = judged(facts(values, metric=LOSS), GAP | {"is": "better"})
    assert loss["as_posted"] == (YES if difference < -1e-9 else NO)


def reach_of(counts: Sequence[int], n: int) -> tuple[float, float]:
    """How far the sum of two shares may be below and above: by the exact limits of each (Zou and Donner), and no nearer
    than one share with the variance of their mean is."""
    exact = [binomtest(k, n).proportion_ci(0.95) for k in counts]
    each = np.array([(k / n - ends.low, ends.high - k / n) for k, ends in zip(counts, exact, strict=True)])
    share = sum(counts) / n / 2
    variance = min(share * (1 - share) / n, sum(k * (n - k) / n**2 / (n - 1) for k in counts) / 2) / 2
    trials = share * (1 - share) / variance
    low = beta.ppf(0.025, share * trials, trials - share * trials + 1)
    high = beta.ppf(0.975, share * trials + 1, trials - share * trials)
    below, above = np.maximum(np.hypot(*each), (2 * (share - low), 2 * (high - share)))
    return float(below), float(above)


def test_a_gap_of_gaps_has_the_limits_of_its_four_cells() -> None:
    counts = [[45, 20], [30, 25]]
    grid = table([[100 * k / 50 for k in row] for row in counts], ROWS[:2], (0.0, 2.0), trials=50)
    told = judged(Facts.of([source(grid)]), GAP | {"is": "higher", "by": {"op": ">=", "number": 15}})
    added, taken = reach_of((45, 25), 50), reach_of((30, 20), 50)
    numbers = told["parts"][0]["numbers"]
    assert numbers["estimate"] == pytest.approx(40)
    assert numbers["low"] == pytest.approx(40 - 100 * np.hypot(added[0], taken[1]), abs=1e-9)
    assert numbers["high"] == pytest.approx(40 + 100 * np.hypot(added[1], taken[0]), abs=1e-9)


def test_a_mean_near_an_end_has_the_limit_of_all_its_trials() -> None:
    """Five of twelve cells came out at 100 %, where their own limits end: 7 failures of 600 trials (Clopper-Pearson),
    though the cells alone would leave no more than 99.26."""
    values = [98.0] * 7 + [100.0] * 5
    grid = table([values], ROWS[:1], [float(place) for place in range(12)], trials=50)
    told = judged(Facts.of([source(grid)]), {"kind": "value", "of": "mean", "is": {"op": "<", "number": 99.5}})
    numbers = told["parts"][0]["numbers"]
    assert numbers["high"] == pytest.approx(100 * binomtest(593, 600).proportion_ci(0.95).high, abs=0.01)
    own = binomtest(49, 50).proportion_ci(0.95).high - 0.98
    assert 100 * (593 / 600 + np.sqrt(7) * own / 12) == pytest.approx(99.26, abs=0.01)


def test_gaps_between_models_and_benchmarks_are_not_confounded() -> None:
    scores = {("A", "X"): 80.0, ("B", "X"): 70.0, ("A", "Y"): 60.0, ("B", "Y"): 58.0}

    def scored(**variants: str) -> Facts:
        accuracy = Metric("accuracy", "%", "higher", 0.0, 100.0)
        return Facts.of([
            source(Grid(accuracy, (), (score,)), place, model=model, benchmark=on, variant=variants.get(on, ""))
            for place, ((model, on), score) in enumerate(scores.items())
        ])  # fmt: skip

    claim = {"kind": "compare", "of": "gap", "ahead": {"model": ["A"]}, "behind": {"model": ["B"]},
             "left": {"benchmark": ["X"]}, "right": {"benchmark": ["Y"]}, "is": "better"}  # fmt: skip
    told = judged(scored(), claim | {"by": {"op": "=", "number": 8}})
    assert (told["as_posted"], told["parts"][0]["numbers"]["estimate"]) == (YES, 8.0)
    assert judged(scored(Y="few-shot"), claim)["reason"] == "confounded"


def several(seed: int, holes: float) -> list[Grid]:
    """Three grids, of which less is better in the last."""
    kinds = [{}, {}, {"metric": LOSS}]
    return [table(drawn(100 * seed + place, 2, holes), ROWS[:2], COLUMNS, **kind)
            for place, kind in enumerate(kinds)]  # fmt: skip


@pytest.mark.parametrize("seed", DRAWS)
def test_the_sweet_spot_has_the_least_regret_of_the_coordinates_that_all_grids_have(seed: int) -> None:
    grids = several(seed, 0.15 * (seed % 2))
    found = Facts.of([source(grid, place, model=str(place)) for place, grid in enumerate(grids) if place < 2])
    losses = [table(drawn(100 * seed + place, 2), ROWS[:2], COLUMNS, metric=LOSS) for place in range(3)]
    lower = Facts.of([source(grid, place, model=str(place)) for place, grid in enumerate(losses)])
    cells = [dict(zip("TL", one, strict=True)) for one in product(ROWS[:2], COLUMNS)]
    for facts, given, sign in ((found, grids[:2], 1), (lower, losses, -1)):
        values = sign * np.array([grid.values for grid in given], dtype=float)
        common = np.flatnonzero(np.isfinite(values).all(axis=0))
        regret = (values[:, common].max(axis=1, keepdims=True) - values[:, common]).mean(axis=0)
        for place, cell in enumerate(cells):
            judgement = judged(facts, {"kind": "sweet_spot", "at": [cell]})
            if place not in common:
                assert judgement["as_posted"] == OPEN
                continue
            lead = np.delete(regret, common == place).min() - regret[common == place][0]
            assert judgement["as_posted"] == (YES if lead > 1e-9 else NO)
            assert judgement["parts"][0]["numbers"]["estimate"] == pytest.approx(lead, abs=1e-9)


def test_what_has_no_sweet_spot_is_told() -> None:
    grid = table(drawn(1, 2), ROWS[:2], COLUMNS)
    claim: dict[str, Any] = {"kind": "sweet_spot", "at": [{"T": "a", "L": 2}]}
    told = judged(Facts.of([source(grid)]), claim)
    assert (told["verdict"], told["reason"]) == (OPEN, "too_few_points")
    assert "which extreme is about" in told["sentence"]
    two = Facts.of([source(grid), source(grid, 1, model="N")])
    assert judged(two, claim | {"at": [{"T": "a"}, {"T": "b"}]})["reason"] == "vague"
    single = Facts.of([source(grid), source(Grid(grid.metric, (), (5.0,)), 1, model="N")])
    assert judged(single, claim)["reason"] == "not_comparable"
    undirected = Metric("accuracy", None, None, None, None)
    both = [source(table(drawn(place, 2), ROWS[:2], COLUMNS, metric=undirected), place, model=str(place))
            for place in range(2)]  # fmt: skip
    assert judged(Facts.of(both), claim)["reason"] == "no_direction"
    # One of two that is only derived leaves one.
    derived = table(drawn(1, 2), ROWS[:2], COLUMNS, derived=("B",))
    assert judged(Facts.of([source(grid), source(derived, 1, model="N")]), claim)["reason"] == "too_few_points"


def test_a_clear_sweet_spot_is_shown_beyond_noise() -> None:
    grids = [table([[50.0, 60.0, 52.0]], ROWS[:1], COLUMNS[:3], trials=4000),
             table([[40.0, 49.0, 41.0]], ROWS[:1], COLUMNS[:3], trials=4000)]  # fmt: skip
    found = Facts.of([source(grid, place, model=str(place)) for place, grid in enumerate(grids)])
    claim = {"kind": "sweet_spot"}
    assert judged(found, claim | {"at": [{"L": 1}]})["beyond_noise"] == YES
    assert judged(found, claim | {"at": [{"L": 0}, {"L": 2}]})["beyond_noise"] == NO
