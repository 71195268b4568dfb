"""Plans out of few repeats, or items, against draws and the noncentral t of scipy."""

import math

import numpy as np
import pytest
from scipy import stats

from registry.plans import closed_forms
from registry.plans.closed_forms import Goal
from registry.plans.noise import repeats_factor
from registry.plans.planning import Means, Measured, plan_of_gap
from registry.renderings.plan import _sentences
from registry.results.gates import Policy
from workers.gates.units import Unit, judged
from workers.statistics.margins import Estimate
from workers.statistics.power import by_student


def power(repeats: np.ndarray, effect: float) -> np.ndarray:
    """Of Student's t of two sides with so many repeats each, whose standard deviation is 1."""
    df = 2 * (repeats - 1)
    t = stats.t.isf(0.025, df)
    return np.asarray(stats.nct.sf(t, df, effect * np.sqrt(repeats / 2)))


@pytest.mark.parametrize(("repeats", "effect"), [(3, 1.0), (3, 2.0), (5, 1.0), (4, 1.5), (10, 0.5)])
def test_a_plan_out_of_few_repeats_finds_the_effect_on_average(repeats: int, effect: float) -> None:
    """By the normal law it would find 63 to 78 % of these."""
    df = 2 * (repeats - 1)
    sd = np.sqrt(np.random.default_rng(1).chisquare(df, 2_000) / df)
    errors = sd * math.sqrt(2 / repeats)
    found = np.array([repeats_factor(error, effect, Goal(), df, repeats) for error in errors.tolist()])
    assert 0.78 < float(power(np.maximum(2, np.ceil(repeats * found - 1e-9)), effect).mean()) < 0.9
    normal = (closed_forms.detectable(1.0, Goal()) * errors / effect) ** 2
    assert float(power(np.maximum(2, np.ceil(repeats * normal)), effect).mean()) < 0.78


def test_a_gate_out_of_few_repeats_asks_for_as_many_as_its_t_decides() -> None:
    """Equal sides of three repeats against a margin of one standard deviation: 13 by the normal law, whose one-sided t
    excludes it in 80 % where that deviation is known, and more as it is estimated."""
    unit = Unit(Estimate(0.0, math.sqrt(2 / 3), 4.0), 1.0, None, {})
    needed = judged(Policy(margin=1.0), [unit], "higher").needed
    assert needed is not None
    assert needed.factor is not None
    assert 15 < 3 * needed.factor < 25
    assert needed.factor == repeats_factor(math.sqrt(2 / 3), 1.0, Goal(one_sided=True), 4.0, None)


@pytest.mark.parametrize("df", [2, 4, 8, 30])
def test_what_is_detectable_takes_what_there_is(df: int) -> None:
    seen = float(by_student(df, 0.05))
    assert repeats_factor(1.0, seen, Goal(), df, df / 2 + 1) == pytest.approx(1.0, rel=0.01)
    assert repeats_factor(1.0, seen, Goal(), df, None) == pytest.approx(1.0, rel=0.01)


@pytest.mark.parametrize(("repeats", "counted"), [(5.0, "repeats"), (None, "items")])
def test_a_plan_says_what_it_multiplies(repeats: float | None, counted: str) -> None:
    """An error is estimated from repeats, or from the scores of items; trials have nothing to do with either."""
    found = Measured(1.0, 0.5, 0.0, (), df=8.0, repeats=repeats)
    told = " ".join(_sentences(plan_of_gap("comparison", found, Goal(), Means(), None), ""))
    assert f"with the present {counted} a difference of" in told
    assert f"times the {counted} of every cell" in told
    assert "trials" not in told


def test_of_many_it_is_the_normal_law_and_of_any_two_at_least() -> None:
    assert repeats_factor(1.0, 0.5, Goal(), 10_000, 5_001) == pytest.approx(
        closed_forms.factor(1.0, 0.5, Goal()), rel=1e-3
    )
    assert repeats_factor(1.0, 1e6, Goal(), 10, 6) == pytest.approx(2 / 6)
    assert repeats_factor(1.0, 1e-6, Goal(), 10, 6) == math.inf
    assert repeats_factor(1.0, 0.5, Goal(one_sided=True), 10, 6) < repeats_factor(1.0, 0.5, Goal(), 10, 6)
