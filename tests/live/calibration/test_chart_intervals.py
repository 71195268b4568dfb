"""How often the intervals of a chart hold the truth, and how seldom a point on the front is called behind."""

from __future__ import annotations

import math

import numpy as np
import pytest

from registry.plans.means import mean_of
from registry.views.trade_offs import Standing, places_of
from tests.registry.plans.test_means import ACCURACY, all_of, grid


@pytest.mark.parametrize(
    "share, cells, trials", [(0.5, 1, 30), (0.9, 5, 50), (0.98, 8, 100), (0.7, 20, 40), (0.9, 40, 10)]
)
def test_intervals_hold_the_truth_as_often_as_they_say(share: float, cells: int, trials: int) -> None:
    rounds, random = 2_000, np.random.default_rng(1)
    truth = np.clip(share + random.uniform(-0.1, 0.1, cells), 0.02, 0.995)
    held = 0
    for drawn in random.binomial(trials, truth, (rounds, cells)):
        values = [float(one) for one in drawn * 100 / trials]
        found = mean_of(all_of(grid(ACCURACY, values, trials=trials)), ACCURACY)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 100 * truth.mean() <= found.high
    assert held / rounds >= 0.95 - 4 * math.sqrt(0.95 * 0.05 / rounds)


def test_a_point_that_is_truly_on_the_front_is_seldom_called_behind() -> None:
    """Five points on a line of trade-offs, where nobody is better in both: at most 5 % may be called behind."""
    random, rounds = np.random.default_rng(2), 2_000
    truth = np.array([[step, -step] for step in np.linspace(0, 1, 5)])
    wrong = np.zeros(5)
    for drawn in truth + random.normal(0, 1, (rounds, 5, 2)):
        points = [(Standing(float(x), 1.0), Standing(float(y), 1.0)) for x, y in drawn]
        wrong += [place == "behind" for place in places_of(points)]
    assert np.all(wrong / rounds <= 0.05)
