"""The noise of a cell, against scipy and formulas."""

import math

import pytest
from scipy import stats

from registry.grids.grid import Axis, Grid, Level, Metric
from registry.plans.closed_forms import quantile
from registry.plans.noise import stderr_of
from registry.students_law import t_quantile

pytestmark = pytest.mark.unit
ACCURACY = Metric("accuracy", "%", "higher", 0, 100)
LOSS = Metric("loss", None, "lower")


def one_cell(metric: Metric, value: float, **noise: object) -> Grid:
    return Grid(metric, (Axis("Task", "nominal", (Level("a"),)),), (value,), **noise)  # type: ignore[arg-type]


def test_quantiles_of_student_are_those_of_scipy() -> None:
    for share in (0.6, 0.95, 0.975, 0.9995):
        assert quantile(share) == pytest.approx(stats.norm.ppf(share), rel=1e-12)
        for df in (1, 2, 3, 4, 5, 7, 12, 29, 30, 99, 100, 500, 501, 10_000):
            assert t_quantile(share, df) == pytest.approx(stats.t.ppf(share, df), rel=1e-7), (share, df)


def test_a_posted_error_goes_before_repeats_and_repeats_before_trials() -> None:
    given = {"stderr": (0.5,), "sd": (0.6,), "repeats": (3,), "trials": 100}
    errors = [0.5, 0.6 / math.sqrt(3), 100 * math.sqrt(0.5 * 0.5 / 100)]
    for first, expected in zip(range(3), errors, strict=True):
        names = [{"stderr"}, {"sd", "repeats"}, {"trials"}][first:]
        noise = {name: one for name, one in given.items() if name in set().union(*names)}
        assert stderr_of(one_cell(ACCURACY, 50.0, **noise), 0) == pytest.approx(expected)
    assert stderr_of(one_cell(ACCURACY, 50.0, trials=100, design_effect=4.0), 0) == pytest.approx(2 * errors[2])


def test_the_noise_of_a_cell_may_be_unknown() -> None:
    for noise in (
        {},
        {"stderr": (0.0,)},
        {"trials": 100},
        {"sd": (0.0,), "repeats": (3,)},
        {"sd": (2e-16,), "repeats": (3,)},
    ):
        assert stderr_of(one_cell(LOSS, 1.0, **noise), 0) is None, noise
