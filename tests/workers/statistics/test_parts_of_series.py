"""What is left of the first value, against Fieller's formula."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from scipy import stats

from registry.grids.grid import Metric
from tests.workers.statistics.documents import describe, ends
from tests.workers.statistics.reference_numbers import line, one_series

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


def test_no_share_is_left_of_nothing_or_of_what_may_be_nothing() -> None:
    numbers_of_very_different_sizes = [1e-290, 1.0, 1e90]
    for values in ([50.0], [0.0, 1.0, 2.0], [1.0, -1.0, 2.0], numbers_of_very_different_sizes):
        assert one_series(values, metric=OPEN)["retained"] is None, values
    assert with_errors([0.5, 2.0, 1.0], [0.5, 0.5, 0.5]) == {"value": 2.0, "interval": None}


def with_errors(values: list[float], errors: list[float]) -> Any:
    """What is left of the first value of a series with these standard errors."""
    found = describe(dataclasses.replace(line(list(values), metric=OPEN), stderr=tuple(errors)))
    return found["series"][0]["retained"]
