"""What is left of the first value, the parts of a split, and the cells above a level: against scipy and formulas."""

from __future__ import annotations

import dataclasses
import math
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from scipy import stats

from registry.grids.grid import Axis, Grid, Level, Metric
from tests.workers.statistics.documents import describe, ends
from tests.workers.statistics.reference_numbers import line, one_series
from workers.statistics import Parameters
from workers.statistics.table import Table
from workers.statistics.thresholds import level_counts

Z = float(stats.norm.ppf(0.975))
OPEN = Metric("loss", None, "lower", None, None)


def test_a_ratio_of_normal_cells_has_fiellers_interval() -> None:
    """Fieller (1954): the ratios r at which (last - r first)^2 = z^2 (s_last^2 + r^2 s_first^2)."""
    first, last, errors = 8.0, 6.0, (0.5, 1.0, 0.7)
    found = with_errors([first, 7.0, last], list(errors))
    square = Z**2
    roots = np.roots([first**2 - square * 0.5**2, -2 * first * last, last**2 - square * 0.7**2])
    assert found["value"] == last / first
    assert ends(found["interval"]) == pytest.approx(tuple(sorted(roots)), rel=1e-12)


def axis_of(size: int) -> Axis:
    return Axis("Length", "numeric", tuple(Level(str(n), float(n)) for n in range(size)))


def test_no_share_is_left_of_nothing_or_of_what_may_be_nothing() -> None:
    numbers_of_very_different_sizes = [1e-290, 1.0, 1e90]
    for values in ([50.0], [0.0, 1.0, 2.0], [1.0, -1.0, 2.0], numbers_of_very_different_sizes):
        assert one_series(values, metric=OPEN)["retained"] is None, values
    assert with_errors([0.5, 2.0, 1.0], [0.5, 0.5, 0.5]) == {"value": 2.0, "interval": None}


def with_errors(values: list[float], errors: list[float]) -> Any:
    """What is left of the first value of a series with these standard errors."""
    found = describe(dataclasses.replace(line(list(values), metric=OPEN), stderr=tuple(errors)))
    return found["series"][0]["retained"]


def split_of(grid: Grid, at: float) -> dict[str, Any]:
    settings = dataclasses.replace(Parameters.of(grid.metric), split=at)
    found: dict[str, Any] = describe(grid, settings)
    return found


def two_rows(values: tuple[float | None, ...], **more: Any) -> Grid:
    return Grid(
        metric=Metric("accuracy", "%", "higher", 0.0, 100.0),
        axes=(Axis("Type", "nominal", (Level("a"), Level("b"))), axis_of(len(values) // 2)),
        values=values,
        **more,
    )


def test_a_split_is_the_difference_of_means_with_the_errors_of_its_cells() -> None:
    rows = two_rows((90.0, 80.0, 70.0, 60.0, None, 50.0, 55.0, 40.0), trials=200)
    found = split_of(rows, 1)
    [one, other] = [series["split"] for series in found["series"]]
    assert (one["before"], one["after"], one["count"]) == (fmean([90, 80]), fmean([70, 60]), 4)
    assert (other["before"], other["difference"]) == (50.0, fmean([55, 40]) - 50)

    def error(value: float) -> float:
        share = (value * 2 + 0.5) / 201
        return 100 * math.sqrt(share * (1 - share) / 200)

    wanted = [
        math.sqrt(sum(error(v) ** 2 for v in (90, 80, 70, 60))) / 2,
        math.hypot(error(50), math.hypot(error(55), error(40)) / 2),
    ]
    assert [one["stderr"], other["stderr"]] == pytest.approx(wanted, rel=1e-12)
    whole = found["grid_split"]["Length"]
    assert whole["difference"] == pytest.approx(fmean([one["difference"], other["difference"]]))
    reach = Z * math.hypot(*wanted) / 2
    wanted_ends = whole["difference"] - reach, whole["difference"] + reach
    assert ends(whole["interval"]) == pytest.approx(wanted_ends, rel=1e-12)


def test_a_series_on_one_side_of_a_split_says_nothing_of_the_difference() -> None:
    found = split_of(two_rows((90.0, 80.0, None, None, 95.0, 50.0, 55.0, 40.0)), 1)
    assert ["split" in series for series in found["series"]] == [False, True]
    whole = found["grid_split"]["Length"]
    assert (whole["count"], whole["difference"]) == (1, fmean([55, 40]) - fmean([95, 50]))
    assert (whole["interval"], whole["stderr"]) == (None, None)


def test_repeats_give_a_split_students_interval() -> None:
    """Two series of four cells of three runs: a pooled variance with 8 degrees of freedom each; with equal variances
    Satterthwaite's are 16."""
    rows = two_rows((9.0, 8.0, 7.0, 6.0, 9.5, 8.5, 7.5, 6.5), repeats=(3,) * 8, sd=(0.6,) * 8)
    found = split_of(rows, 1)
    error = 0.6 / math.sqrt(3)
    one = found["series"][0]["split"]
    assert (one["df"], one["stderr"]) == (8.0, pytest.approx(error))
    assert one["interval"]["high"] == pytest.approx(-2 + stats.t.ppf(0.975, 8) * error)
    whole = found["grid_split"]["Length"]
    assert whole["interval"]["high"] == pytest.approx(-2 + stats.t.ppf(0.975, 16) * error / math.sqrt(2))


def test_cells_above_a_level_are_counted_and_surely_above_by_clopper_and_pearson() -> None:
    hits, trials = [300, 299, 295, 290, 285, 280, 270, 240], 300
    values = [100 * one / trials for one in hits]
    [found] = level_counts(Table.of(line(values, trials=trials)), [95.0], 0.05)
    tail = 0.05 / (2 * len(hits))
    surely = sum(stats.binom.sf(one - 1, trials, 0.95) <= tail for one in hits)
    surely_not = sum(stats.binom.cdf(one, trials, 0.95) <= tail for one in hits)
    assert (found.cells, found.above, found.below, found.share_above) == (8, 4, 3, 0.5)
    assert ends(found.interval) == (surely, len(hits) - surely_not)
    assert 0 < surely < found.above < len(hits) - surely_not < len(hits)


def test_without_noise_cells_are_counted_alone() -> None:
    [found] = level_counts(Table.of(line([1.0, 2.0, 3.0], metric=OPEN)), [2.0], 0.05)
    assert (found.above, found.below, found.interval) == (1, 1, None)
    assert level_counts(Table.of(two_rows((None,) * 4)), [2.0], 0.05) == []
