"""Means with their noise, against numpy and scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from registry.grids.grid import Axis, Grid, Level, Metric
from registry.plans.closed_forms import quantile
from registry.plans.means import mean_of, t_quantile

pytestmark = pytest.mark.unit
ACCURACY = Metric("accuracy", "%", "higher", 0, 100)
LOSS = Metric("loss", None, "lower")


def grid(metric: Metric, values: list[float | None], **noise: object) -> Grid:
    axis = Axis("Task", "nominal", tuple(Level(str(one)) for one in range(len(values))))
    return Grid(metric, (axis,), tuple(values), **noise)  # type: ignore[arg-type]


def all_of(one: Grid) -> list[tuple[Grid, int]]:
    return [(one, index) for index, value in enumerate(one.values) if value is not None]


def test_quantiles_of_student_are_those_of_scipy() -> None:
    for share in (0.6, 0.95, 0.975, 0.9995):
        assert quantile(share) == pytest.approx(stats.norm.ppf(share), rel=1e-12)
        for df in (1, 2, 3, 4, 5, 7, 12, 29, 30, 99, 100, 500, 501, 10_000):
            assert t_quantile(share, df) == pytest.approx(stats.t.ppf(share, df), rel=1e-7), (share, df)


def test_posted_errors_make_the_propagated_error_and_a_normal_interval() -> None:
    values, errors = [2.5, 1.25, 4.0, 3.0], [0.5, 0.25, 0.125, 1.0]
    found = mean_of(all_of(grid(LOSS, values, stderr=tuple(errors))), LOSS)
    expected = np.sqrt(np.sum(np.square(errors))) / 4
    assert (found.value, found.stderr) == (pytest.approx(np.mean(values)), pytest.approx(expected))
    low, high = stats.norm.interval(0.95, np.mean(values), expected)
    assert (found.low, found.high, found.df) == (pytest.approx(low), pytest.approx(high), None)


def test_trials_of_one_cell_make_wilsons_interval() -> None:
    found = mean_of(all_of(grid(ACCURACY, [97.0], trials=300)), ACCURACY)
    exact = stats.binomtest(291, 300).proportion_ci(method="wilson")
    assert (found.low, found.high) == (pytest.approx(100 * exact.low), pytest.approx(100 * exact.high))


def test_trials_of_several_cells_make_wilsons_interval_of_as_many_trials_as_have_their_error() -> None:
    values, trials = np.array([97.0, 50.0, 100.0]), np.array([300, 100, 40])
    found = mean_of(all_of(grid(ACCURACY, values.tolist(), trials=tuple(trials.tolist()))), ACCURACY)
    shares = (values * trials / 100 + 0.5) / (trials + 1)
    error = np.sqrt(np.sum(shares * (1 - shares) / trials)) / 3
    assert found.stderr == pytest.approx(100 * error)
    p, z = values.mean() / 100, stats.norm.ppf(0.975)
    n = shares.mean() * (1 - shares.mean()) / error**2
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    assert (found.low, found.high) == (pytest.approx(100 * (middle - reach)), pytest.approx(100 * (middle + reach)))


def test_cells_alike_have_the_interval_of_all_their_trials_together() -> None:
    found = mean_of(all_of(grid(ACCURACY, [100.0] * 6, trials=50)), ACCURACY)
    exact = stats.binomtest(300, 300).proportion_ci(method="wilson")
    assert (found.low, found.high) == (pytest.approx(100 * exact.low), 100)


def test_a_design_effect_widens_by_its_root() -> None:
    plain = mean_of(all_of(grid(LOSS, [1.0], stderr=(0.1,), design_effect=4.0)), LOSS)
    assert plain.stderr == pytest.approx(0.1)
    one, four = (
        mean_of(all_of(grid(ACCURACY, [50.0], trials=400, design_effect=effect)), ACCURACY) for effect in (None, 4)
    )
    assert four.stderr == pytest.approx(2 * (one.stderr or 0.0))
    exact = stats.binomtest(50, 100).proportion_ci(method="wilson")
    assert four.low == pytest.approx(100 * exact.low)


def test_repeats_are_pooled_and_have_students_law() -> None:
    runs = [np.array([2.04, 2.05, 2.03]), np.array([1.97, 1.93]), np.array([1.96, 2.11, 2.15, 2.0])]
    sd, counts = tuple(float(one.std(ddof=1)) for one in runs), tuple(len(one) for one in runs)
    found = mean_of(all_of(grid(LOSS, [float(one.mean()) for one in runs], sd=sd, repeats=counts)), LOSS)
    df = sum(counts) - 3
    within = sum(float(((one - one.mean()) ** 2).sum()) for one in runs) / df
    error = math.sqrt(within * sum(1 / one for one in counts)) / 3
    assert (found.df, found.stderr) == (df, pytest.approx(error))
    assert found.high == pytest.approx(np.mean([one.mean() for one in runs]) + stats.t.ppf(0.975, df) * error)


UNKNOWN: list[dict[str, object]] = [
    {}, {"stderr": (0.1, 0.0)}, {"stderr": (0.1, None)}, {"trials": 100}, {"sd": (0.0, 0.0), "repeats": (3, 3)},
]  # fmt: skip


def test_where_the_noise_of_a_cell_is_unknown_so_is_that_of_the_mean() -> None:
    for noise in UNKNOWN:
        found = mean_of(all_of(grid(LOSS, [1.0, 2.0], **noise)), LOSS)
        assert (found.value, found.stderr, found.low, found.high) == (1.5, None, None, None), noise


def test_intervals_stay_within_the_bounds() -> None:
    found = mean_of(all_of(grid(ACCURACY, [99.0, 99.5], stderr=(2.0, 2.0))), ACCURACY)
    assert found.high == 100
    assert mean_of(all_of(grid(ACCURACY, [100.0, 100.0], trials=50)), ACCURACY).high == 100


def test_extreme_values_have_a_finite_mean() -> None:
    for values in ([1e308, 1e308, 1e308], [-1e308, 1e308], [5e-324, 1e-300], [1e300, 1e-300]):
        found = mean_of(all_of(grid(LOSS, values, stderr=tuple(1e300 for _ in values))), LOSS)
        assert math.isfinite(found.value)
        assert found.value == pytest.approx(float(np.sum(np.array(values) / len(values))), rel=1e-9)
        assert found.stderr == pytest.approx(1e300 / math.sqrt(len(values)))
