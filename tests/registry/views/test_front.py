"""The front, and who is called behind, against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from registry.views.trade_offs import Standing, places_of

pytestmark = pytest.mark.unit
NUMBERS = st.integers(-4, 4).map(float)
ERRORS = st.sampled_from([None, 0.1, 1.0, 3.0])
PAIRS = st.tuples(st.builds(Standing, NUMBERS, ERRORS), st.builds(Standing, NUMBERS, ERRORS))


@given(st.lists(PAIRS, max_size=12))
def test_the_front_is_that_of_brute_force(points: list[tuple[Standing, Standing]]) -> None:
    places = places_of(points)
    values = np.array([[x.value, y.value] for x, y in points]).reshape(-1, 2)
    for place, own in zip(places, values, strict=True):
        dominated = bool(np.any(np.all(values >= own, axis=1) & np.any(values > own, axis=1)))
        assert (place != "front") == dominated


@given(st.lists(PAIRS, min_size=2, max_size=12))
def test_who_is_behind_is_beaten_by_one_point_in_both_beyond_the_noise(points: list[tuple[Standing, Standing]]) -> None:
    level = 0.05 / (len(points) - 1)

    def p(one: Standing, other: Standing) -> float:
        if one.stderr is None or other.stderr is None:
            return 1.0
        return float(stats.norm.sf((one.value - other.value) / np.hypot(one.stderr, other.stderr)))

    for place, own in zip(places_of(points), points, strict=True):
        beaten = any(max(p(x, own[0]), p(y, own[1])) < level for x, y in points)
        assert (place == "behind") == beaten
    assert set(places_of(points, tested=False)) <= {"front", "open"}


def test_an_exact_quantity_needs_to_be_no_worse() -> None:
    cheap, dear = Standing(-1.0, exact=True), Standing(-2.0, exact=True)
    good, bad = Standing(90.0, 1.0), Standing(70.0, 1.0)
    assert places_of([(cheap, good), (dear, bad)]) == ["front", "behind"]
    assert places_of([(cheap, good), (cheap, bad)]) == ["front", "behind"]
    assert places_of([(cheap, bad), (dear, good)]) == ["front", "front"]
    assert places_of([(cheap, Standing(90.0)), (dear, Standing(70.0))]) == ["front", "open"]


def test_estimated_errors_ask_for_more() -> None:
    ahead = [(Standing(1.0, 0.35, df), Standing(1.0, 0.35, df)) for df in (None, 2)]
    behind = [(Standing(0.0, 0.35, df), Standing(0.0, 0.35, df)) for df in (None, 2)]
    # 1 / hypot(.35, .35) = 2.02: beyond the normal 1.64, and short of Student's 2.13 of four degrees (Welch).
    assert stats.norm.ppf(0.95) < 1 / np.hypot(0.35, 0.35) < stats.t.ppf(0.95, 4)
    assert places_of([ahead[0], behind[0]]) == ["front", "behind"]
    assert places_of([ahead[1], behind[1]]) == ["front", "open"]
