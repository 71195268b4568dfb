"""Comparisons item by item, against enumeration, scipy, statsmodels' formulas and simulation."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from registry.grids.grid import Axis, Grid, Level, Metric
from registry.grids.outcomes import HeldItems, Outcomes
from registry.results.items import Flips
from workers.statistics import gap, gap_of_all_cells
from workers.statistics.item_pairs import bonett_price, mcnemar

SHARE = Metric("accuracy", None, "higher", 0.0, 1.0)
PERCENT = Metric("accuracy", "%", "higher", 0.0, 100.0)


def enumerated(b: int, c: int) -> tuple[Fraction, Fraction]:
    """Exact p and mid-p of b against c by adding up every outcome of b + c fair coins that is as far out."""
    n = b + c
    law = [Fraction(math.comb(n, k), 2**n) for k in range(n + 1)]
    far = [p for k, p in enumerate(law) if abs(2 * k - n) >= abs(b - c)]
    here = [p for k, p in enumerate(law) if abs(2 * k - n) == abs(b - c)]
    return sum(far), sum(far) - sum(here) / 2


@pytest.mark.parametrize(("b", "c"), [*itertools.product(range(7), range(7)), (20, 5), (5, 20), (60, 41), (0, 40)])
def test_mcnemar_is_what_enumeration_gives(b: int, c: int) -> None:
    found = mcnemar(Flips(3, b, c, 4))
    exact, mid = enumerated(b, c) if b + c else (1, 1)
    assert found.p == pytest.approx(float(exact), rel=1e-12)
    assert found.mid_p == pytest.approx(float(mid), rel=1e-9)
    if b + c:
        assert found.p == pytest.approx(stats.binomtest(b, b + c).pvalue, rel=1e-12)


def test_twenty_against_five_has_the_p_of_the_textbook() -> None:
    assert round(mcnemar(Flips(0, 20, 5, 0)).p, 4) == 0.0041


def test_a_published_table_has_its_published_p_values() -> None:
    """Airway hyper-responsiveness before and after transplantation (Bentur et al. 2009), as Fagerland, Lydersen and
    Laake (2013) analyse it: 1 and 7 of 21 discordant, exact p 0.070, mid-p 0.039."""
    found = mcnemar(Flips(1, 1, 7, 12))
    assert (round(found.p, 3), round(found.mid_p, 3)) == (0.070, 0.039)
    ends = bonett_price(Flips(1, 1, 7, 12), 0.95)
    n, up, down = 23, 2 / 23, 8 / 23
    reach = 1.959964 * math.sqrt((up + down - (up - down) ** 2) / n)
    assert (ends.low, ends.high) == pytest.approx((up - down - reach, up - down + reach), rel=1e-6)


def test_thousands_of_flips_have_a_p_above_zero() -> None:
    found = mcnemar(Flips(0, 5_000, 0, 0))
    assert 0 < found.p < 1e-300
    assert 0 < found.mid_p < 1e-300


# --- grids ------------------------------------------------------------------------------------------------------------


def held(row: Any, digest: str = "a", repeats: int = 1) -> HeldItems:
    row = np.asarray(row)
    if row.dtype == bool:
        outcomes = Outcomes(row.size, bits=np.packbits(row).tobytes())
    else:
        outcomes = Outcomes(row.size, scores=tuple(row.tolist()), repeats=repeats)
    return HeldItems("set", digest, (), 0.0, None, outcomes)


def grid_of(table: Any, metric: Metric = SHARE, trials: bool = True) -> Grid:
    """A grid of one axis, a cell for each row of outcomes."""
    axis = Axis("x", "nominal", tuple(Level(str(i)) for i in range(len(table))))
    values = tuple(float(np.mean(row)) * (metric.upper or 1.0) for row in table)
    return Grid(metric, (axis,), values, tuple(len(row) for row in table) if trials else None)


def compare(baseline: Any, contender: Any, digests: str = "", **more: Any) -> Any:
    digests = digests or "a" * len(baseline)
    grids = [grid_of(table, **more) for table in (baseline, contender)]
    items = tuple({i: held(row, digests[i]) for i, row in enumerate(table)} for table in (baseline, contender))
    return gap(*grids, ("model",), 0.05, items)  # type: ignore[arg-type]


def table_of(b: int, c: int, both: int = 10, neither: int = 5) -> tuple[Any, Any]:
    baseline = np.repeat([True, False, True, False], [both, b, c, neither])
    contender = np.repeat([True, True, False, False], [both, b, c, neither])
    return baseline, contender


def test_one_cell_is_tested_by_its_flips() -> None:
    baseline, contender = table_of(20, 5)
    found = compare([baseline], [contender], metric=PERCENT)
    assert found.items is not None
    assert found.items.paired
    assert found.items.flips == Flips(10, 20, 5, 5)
    assert found.items.mcnemar is not None
    assert found.test.name == "mcnemar"
    assert found.test.p == found.items.mcnemar.p == pytest.approx(0.004077, rel=1e-3)
    assert found.test.difference == pytest.approx(100 * 15 / 40)
    gaps = contender.astype(float) - baseline
    assert found.test.stderr == pytest.approx(100 * stats.sem(gaps), rel=1e-12)
    [cell] = found.cells
    assert (cell.test, cell.p, cell.p_holm) == ("mcnemar", found.test.p, found.test.p)
    assert cell.items.flips == found.items.flips
    assert found.assumes == ("independent_items",)


def test_scores_are_tested_by_students_t_of_their_differences() -> None:
    random = np.random.default_rng(3)
    baseline, contender = random.integers(0, 5, (2, 40)) / 4
    found = compare([baseline], [contender], trials=False)
    expected = stats.ttest_rel(contender, baseline)
    assert (found.test.name, found.test.df) == ("paired_t", 39)
    assert found.test.p == pytest.approx(expected.pvalue, rel=1e-9)
    ends = expected.confidence_interval()
    assert (found.test.interval.low, found.test.interval.high) == pytest.approx((ends.low, ends.high), rel=1e-9)
    assert found.items.flips is None


def test_cells_that_share_items_have_errors_clustered_by_the_item() -> None:
    """Of cells with the same items and weights, the mean is that of the items' means: a one-sample t over items."""
    random = np.random.default_rng(5)
    skill = random.normal(size=50)
    baseline, contender = (skill + random.normal(size=(2, 6, 50)) > 0).astype(bool)
    found = compare(list(baseline), list(contender))
    per_item = (contender.astype(float) - baseline).mean(axis=0)
    expected = stats.ttest_1samp(per_item, 0.0)
    assert (found.test.name, found.items.items, found.items.cells) == ("clustered_t", 50, 6)
    assert found.test.df == pytest.approx(49)
    assert found.test.stderr == pytest.approx(stats.sem(per_item), rel=1e-12)
    assert found.test.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.items.mcnemar is None
    assert sum(getattr(found.items.flips, name) for name in Flips.__slots__) == 300


def test_the_clustered_error_is_millers_for_a_balanced_design() -> None:
    """Equation 4 of Miller (2024): the root of the summed squares of the clusters' sums of deviations, over n."""
    random = np.random.default_rng(8)
    baseline, contender = random.integers(0, 2, (2, 4, 60)).astype(bool)
    baseline[:, 0] = contender[:, 0]
    d = contender.astype(float) - baseline
    miller = math.sqrt((((d - d.mean()).sum(axis=0)) ** 2).sum()) / d.size
    within = d - d.mean(axis=1, keepdims=True)
    mine = math.sqrt((within.sum(axis=0) ** 2).sum()) / d.size
    assert mine == pytest.approx(miller, rel=1e-9)  # equal weights: the cells' means cancel in the sums
    found = compare(list(baseline), list(contender))
    assert found.test.stderr == pytest.approx(miller * math.sqrt(60 / 59), rel=1e-9)


def test_cells_of_different_sets_add_their_variances() -> None:
    random = np.random.default_rng(2)
    sizes = (30, 90)
    baseline = [random.integers(0, 2, size).astype(bool) for size in sizes]
    contender = [random.integers(0, 2, size).astype(bool) for size in sizes]
    found = compare(baseline, contender, digests="ab")
    gaps = [c.astype(float) - b for b, c in zip(baseline, contender, strict=True)]
    weights = [0.25, 0.75]
    parts = [(w * stats.sem(d)) ** 2 for w, d in zip(weights, gaps, strict=True)]
    assert (found.test.name, found.items.items) == ("paired_t", 120)
    assert found.test.difference == pytest.approx(sum(w * d.mean() for w, d in zip(weights, gaps, strict=True)))
    assert found.test.stderr == pytest.approx(math.sqrt(sum(parts)), rel=1e-12)
    assert found.test.df == pytest.approx(sum(parts) ** 2 / (parts[0] ** 2 / 29 + parts[1] ** 2 / 89), rel=1e-9)
    # Every item counts once, so the flips of both cells are independent, and McNemar's test of their sum is exact.
    assert found.items.mcnemar.p == pytest.approx(
        stats.binomtest(int(sum((d > 0).sum() for d in gaps)), int(sum((d != 0).sum() for d in gaps))).pvalue
    )


def test_the_difference_is_the_one_that_the_unpaired_test_estimates() -> None:
    random = np.random.default_rng(4)
    baseline = [random.integers(0, 2, size).astype(bool) for size in (20, 80)]
    contender = [random.integers(0, 2, size).astype(bool) for size in (20, 80)]
    paired = compare(baseline, contender, digests="ab")
    unpaired = gap(grid_of(baseline), grid_of(contender), ("model",))
    assert unpaired.test.name == "mantel_haenszel"
    assert paired.test.difference == pytest.approx(unpaired.test.difference, rel=1e-9)
    assert (unpaired.items.paired, unpaired.items.reason) == (False, "no outcomes of items were posted")


def test_levels_are_paired_too() -> None:
    random = np.random.default_rng(6)
    baseline, contender = random.integers(0, 2, (2, 3, 40)).astype(bool)
    found = compare(list(baseline), list(contender))
    assert [one.test.name for one in found.by["x"].levels] == ["mcnemar"] * 3
    assert [one.items.flips for one in found.by["x"].levels] == [one.items.flips for one in found.cells]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda sides: sides[0].clear(), "no outcomes of items were posted for the baseline"),
        (lambda sides: sides[1].clear(), "no outcomes of items were posted for the contender"),
        (lambda sides: sides[1].pop(0), "no outcomes of items were posted for the contender in 1 of 2 common cells"),
        (
            lambda sides: sides[1].update({0: held(np.ones(40, dtype=bool), "b")}),
            "the item sets are not the same in 1 of 2 common cells",
        ),
        (
            lambda sides: sides[1].update({0: held(np.ones(41, dtype=bool))}),
            "the item sets are not the same in 1 of 2 common cells",
        ),
    ],
)
def test_what_is_not_paired_is_compared_as_before_and_says_why(change: Any, reason: str) -> None:
    random = np.random.default_rng(6)
    tables = random.integers(0, 2, (2, 2, 40)).astype(bool)
    sides = [{i: held(row) for i, row in enumerate(table)} for table in tables]
    change(sides)
    grids = [grid_of(table) for table in tables]
    found = gap(*grids, ("model",), 0.05, tuple(sides))  # type: ignore[arg-type]
    plain = gap(*grids, ("model",))
    assert (found.items.paired, found.items.reason) == (False, reason)
    assert (found.test, found.assumes) == (plain.test, plain.assumes)
    both = 1 if "1 of 2" in reason else 0
    assert found.items.cells == sum(cell.test == "mcnemar" for cell in found.cells) == both


def test_few_items_and_no_difference_at_all_are_said() -> None:
    same = [np.array([True, False] * 5)] * 2
    found = compare(same, same)
    assert found.items.caution == "the spread of 10 items is known only roughly"
    assert (found.test.status, found.test.difference, found.test.p, found.test.interval) == ("ok", 0.0, 1.0, None)
    one = compare([np.array([True])] * 2, [np.array([False])] * 2)
    assert (one.test.status, one.test.reason) == ("undefined", "a set of one item has no spread")
    all_worse = compare([np.ones(30, dtype=bool)] * 2, [np.zeros(30, dtype=bool)] * 2)
    assert (all_worse.test.status, all_worse.test.reason) == ("undefined", "every item differs by the same")


def test_pairing_needs_no_cell_to_be_in_the_same_place() -> None:
    """Levels in another order, and one that only the contender has."""
    baseline, contender = table_of(20, 5)
    other = np.zeros(40, dtype=bool)
    axis = Axis("x", "nominal", (Level("new"), Level("0")))
    theirs = Grid(SHARE, (axis,), (0.0, float(contender.mean())), 40)
    found = gap_of_all_cells(
        grid_of([baseline]), theirs, ("model",), 0.05, ({0: held(baseline)}, {0: held(other), 1: held(contender)})
    )
    assert found.items.flips == Flips(10, 20, 5, 5)


# --- simulation -------------------------------------------------------------------------------------------------------


def correlated(random: Any, rho: float, count: int, cells: int = 1) -> Any:
    """Outcomes of two equal models, cells x items: the same item is as hard for both as rho says (a normal copula)."""
    shared = random.normal(size=count)
    own = random.normal(size=(2, cells, count))
    return (math.sqrt(rho) * shared + math.sqrt(1 - rho) * own > -0.5).astype(bool)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_paired_tests_hold_their_level_where_unpaired_ones_waste_it(rho: float) -> None:
    """Equal models on 120 items, 400 times: the paired intervals miss 0 as often as they say (5 %, to 4 Monte Carlo
    errors); unpaired ones miss it less the more alike the items are."""
    random = np.random.default_rng(int(10 * rho))
    missed = {"paired": 0, "unpaired": 0}
    widths = {"paired": 0.0, "unpaired": 0.0}
    rejected, times = 0, 400
    for _ in range(times):
        baseline, contender = correlated(random, rho, 120)
        paired, plain = compare(baseline, contender), gap(grid_of(baseline), grid_of(contender), ("model",))
        for name, found in (("paired", paired), ("unpaired", plain)):
            ends = found.test.interval
            missed[name] += not ends.low <= 0 <= ends.high
            widths[name] += ends.high - ends.low
        rejected += paired.test.p < 0.05
    error = math.sqrt(0.05 * 0.95 / times)
    assert abs(missed["paired"] / times - 0.05) < 4 * error
    assert rejected / times < 0.05 + 4 * error
    if rho:
        assert missed["unpaired"] < missed["paired"] or missed["unpaired"] == 0
        assert widths["paired"] < 0.9 * widths["unpaired"]


def test_clustered_errors_hold_their_level_over_cells_that_share_items() -> None:
    """Each item is answered in five cells, and alike in all of them: errors that take the answers as independent are
    too small."""
    random = np.random.default_rng(11)
    missed = naive = 0
    for _ in range(300):
        hard = random.normal(size=(2, 1, 60))  # the item's own difference between the models
        baseline, contender = (hard + 0.5 * random.normal(size=(2, 5, 60)) > 0).astype(bool)
        found = compare(list(baseline), list(contender))
        missed += not found.test.interval.low <= 0 <= found.test.interval.high
        d = (contender.astype(float) - baseline).ravel()
        naive += abs(d.mean()) > 1.96 * stats.sem(d)
    assert abs(missed / 300 - 0.05) < 4 * math.sqrt(0.05 * 0.95 / 300)
    assert naive / 300 > 0.15
