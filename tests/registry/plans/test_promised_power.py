"""The power that plans promise, by enumeration of all counts of two samples."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bench.gates import ACCURACY, judge, row_of
from registry.grids.grid import Grid
from registry.results.gates import Policy


def shown(trials: int, rates: tuple[float, float], bound: float = 0.0, level: float = 0.025) -> float:
    """How often the first rate less the second is found above the bound at this level, by the normal law with pooled
    errors against 0, else with those of each rate."""
    counts = np.arange(trials + 1)
    first, second = counts[:, None] / trials, counts[None, :] / trials
    pooled = (first + second) / 2
    variance = first * (1 - first) + second * (1 - second) if bound else 2 * pooled * (1 - pooled)
    found = first - second - bound > stats.norm.isf(level) * np.sqrt(variance / trials)
    chances = [stats.binom.pmf(counts, trials, rate) for rate in rates]
    return float(chances[0] @ found @ chances[1])


def side(rates: list[float], trials: list[int]) -> dict[tuple[str, str], Any]:
    """A benchmark of one cell for each rate."""
    grids = [Grid(ACCURACY, (), (100 * rate,), trials=count) for rate, count in zip(rates, trials, strict=True)]
    return {(f"b{i}", ""): row_of(grid) for i, grid in enumerate(grids)}


@pytest.mark.parametrize(
    ("policy", "rates", "trials", "asked"),
    [
        (Policy(), [0.9] * 7 + [0.74], [200] * 8, [((0.8, 0.74), 0.0, 0.05 / 8)]),
        (Policy(multiplicity="none"), [0.9] * 7 + [0.74], [200] * 8, [((0.8, 0.74), 0.0, 0.05)]),
        (
            Policy(kind="equivalent", margin=3.0),
            [0.8] * 5 + [0.87],
            [20_000] * 5 + [400],
            [((0.87, 0.8), 0.03, 0.05 / 6)],
        ),
        (Policy(margin=5.0), [0.79, 0.8, 0.81], [150] * 3, [((rate, 0.8), -0.05, 0.05) for rate in (0.79, 0.8, 0.81)]),
    ],
)
def test_a_gate_on_benchmarks_is_decided_as_often_as_its_plan_says(
    policy: Policy, rates: list[float], trials: list[int], asked: list[tuple[tuple[float, float], float, float]]
) -> None:
    """Against .8 on every benchmark. That one of eight fails is shown after Holm, and in 50 % with the trials that show
    it at alpha; that all pass is shown by each at alpha."""
    by_benchmark = replace(policy, per="benchmark")
    found = judge(by_benchmark, side([0.8] * len(rates), trials), side(rates, trials))
    assert (found.passes, found.undecided) == (None, len(asked))
    needed = found.trials_needed and found.trials_needed.trials
    assert needed is not None
    assert 0.77 < math.prod(shown(needed, *one) for one in asked) < 0.92
