"""Comparisons item by item, against enumeration, scipy and published formulas; how often they are wrong
is counted in `bench/scenarios`."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from registry.grids.grid import Axis, Grid, Level, Metric
from registry.grids.outcomes import HeldItems, Outcomes
from registry.results.comparison import Flips
from tests.workers.statistics.documents import ends
from workers.statistics import gap, gap_of_all_cells
from workers.statistics.matching import mcnemar
from workers.statistics.paired_score import PairedSample

SHARE = Metric("accuracy", None, "higher", 0.0, 1.0)
PERCENT = Metric("accuracy", "%", "higher", 0.0, 100.0)


def enumerated(b: int, c: int) -> tuple[Fraction, Fraction]:
    """Exact p and mid-p of b against c by adding up every outcome of b + c fair coins that is as far out."""
    n = b + c
    law = [Fraction(math.comb(n, k), 2**n) for k in range(n + 1)]
    far = [p for k, p in enumerate(law) if abs(2 * k - n) >= abs(b - c)]
    here = [p for k, p in enumerate(law) if abs(2 * k - n) == abs(b - c)]
    return sum(far), sum(far) - sum(here) / 2


def test_mcnemar_is_what_enumeration_gives() -> None:
    for b, c in [*itertools.product(range(7), range(7)), (20, 5), (5, 20), (60, 41), (0, 40)]:
        found = mcnemar(Flips(3, b, c, 4))
        exact, mid = enumerated(b, c) if b + c else (1, 1)
        assert found.p == pytest.approx(float(exact), rel=1e-12), (b, c)
        assert found.mid_p == pytest.approx(float(mid), rel=1e-9), (b, c)
    assert round(mcnemar(Flips(0, 20, 5, 0)).p, 4) == 0.0041, "the p of the textbook"
    thousands = mcnemar(Flips(0, 5_000, 0, 0))
    assert 0 < thousands.p < 1e-300
    assert 0 < thousands.mid_p < 1e-300


def test_a_published_table_has_its_published_p_values() -> None:
    """Airway hyper-responsiveness before and after transplantation (Bentur et al. 2009), as Fagerland, Lydersen and
    Laake (2013) analyse it: 1 and 7 of 21 discordant, exact p 0.070, mid-p 0.039."""
    found = mcnemar(Flips(1, 1, 7, 12))
    assert (round(found.p, 3), round(found.mid_p, 3)) == (0.070, 0.039)
    found = PairedSample(1, 7, 21).span(0.025)
    assert (round(found.low, 3), found.high) == (-0.517, 0.0), "Tango's from -0.517 to -0.026; the exact test holds 0"


# --- grids ------------------------------------------------------------------------------------------------------------


def held(row: Any, digest: str = "a", repeats: int = 1, clusters: tuple[int, ...] | None = None) -> HeldItems:
    row = np.asarray(row)
    if row.dtype == bool:
        outcomes = Outcomes(row.size, bits=np.packbits(row).tobytes(), clusters=clusters)
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
    assert ends(found.test.interval) == pytest.approx(expected.confidence_interval(), rel=1e-9)
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
    assert [one.test.name for one in found.by["x"].levels] == ["mcnemar"] * 6
    assert [one.items.flips for one in found.by["x"].levels] == [one.items.flips for one in found.cells]


def test_the_clustered_error_is_millers_for_a_balanced_design() -> None:
    """Equation 4 of Miller (2024): the root of the summed squares of the clusters' sums of deviations, over n."""
    random = np.random.default_rng(8)
    baseline, contender = random.integers(0, 2, (2, 4, 60)).astype(bool)
    baseline[:, 0] = contender[:, 0]
    d = contender.astype(float) - baseline
    miller = math.sqrt((((d - d.mean()).sum(axis=0)) ** 2).sum()) / d.size
    found = compare(list(baseline), list(contender))
    assert found.test.stderr == pytest.approx(miller * math.sqrt(60 / 59), rel=1e-9)


def test_items_of_one_cluster_are_one_observation() -> None:
    """Clusters of three: a t test of the clusters' means. Of other sizes: equation 4 of Miller (2024), pair by pair."""
    random = np.random.default_rng(9)
    baseline, contender = random.integers(0, 2, (2, 60)).astype(bool)
    gaps = contender.astype(float) - baseline

    def clustered(clusters: Any) -> Any:
        sides = tuple({0: held(row, clusters=tuple(clusters.tolist()))} for row in (baseline, contender))
        return gap(grid_of([baseline]), grid_of([contender]), ("model",), 0.05, sides)  # type: ignore[arg-type]

    thirds = np.arange(60) // 3
    found, expected = clustered(thirds), stats.ttest_1samp(gaps.reshape(20, 3).mean(axis=1), 0.0)
    assert (found.test.name, found.test.df, found.items.items) == ("paired_t", 19, 60)
    assert found.test.difference == pytest.approx(gaps.mean(), abs=1e-12)
    assert found.test.p == found.cells[0].p == pytest.approx(expected.pvalue, rel=1e-9)
    uneven = np.repeat(np.arange(5), (2, 8, 10, 15, 25))
    off = gaps - gaps.mean()
    pairs = sum(off[i] * off[j] for i in range(60) for j in range(60) if uneven[i] == uneven[j])
    assert clustered(uneven).test.stderr == pytest.approx(math.sqrt(pairs) / 60 * math.sqrt(5 / 4), rel=1e-9)


def test_cells_of_different_sets_add_their_variances() -> None:
    random = np.random.default_rng(2)
    sizes = (30, 90)
    baseline, contender = ([random.integers(0, 2, size).astype(bool) for size in sizes] for _ in range(2))
    found = compare(baseline, contender, digests="ab")
    unpaired = gap(grid_of(baseline), grid_of(contender), ("model",))
    assert (unpaired.test.name, unpaired.items.paired) == ("score", False)
    assert unpaired.items.reason == "no outcomes of items were posted"
    assert found.test.difference == pytest.approx(unpaired.test.difference, rel=1e-9), "both estimate the same"
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


def test_what_is_not_paired_is_compared_as_before_and_says_why(subtests: Any) -> None:
    tables = np.random.default_rng(6).integers(0, 2, (2, 2, 40)).astype(bool)
    grids = [grid_of(table) for table in tables]
    base, other = ({i: held(row) for i, row in enumerate(table)} for table in tables)
    plain, others = gap(*grids, ("model",)), "the item sets are not the same in 1 of 2 common cells"
    for sides, both, reason in (
        (({}, other), 0, "no outcomes of items were posted for the baseline"),
        ((base, {}), 0, "no outcomes of items were posted for the contender"),
        ((base, {1: other[1]}), 1, "no outcomes of items were posted for the contender in 1 of 2 common cells"),
        ((base, other | {0: held(np.ones(40, dtype=bool), "b")}), 1, others),
        ((base, other | {0: held(np.ones(41, dtype=bool))}), 1, others),
    ):
        with subtests.test(reason):
            found = gap(*grids, ("model",), 0.05, sides)  # type: ignore[arg-type]
            assert (found.items.paired, found.items.reason) == (False, reason)
            assert (found.test, found.assumes) == (plain.test, plain.assumes)
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
