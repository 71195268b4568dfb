"""The front, and who is called behind, against brute force."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from registry.views.trade_offs import Standing, one_sided, places_of

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


@given(st.lists(PAIRS, min_size=2, max_size=12), st.sampled_from([0.05, 0.2]))
def test_who_is_behind_is_beaten_by_one_point_in_both_beyond_the_noise(
    points: list[tuple[Standing, Standing]], alpha: float
) -> None:
    """Holm is over all ordered pairs: here by its definition, with the largest p so far."""

    def p(one: Standing, other: Standing) -> float:
        if one.stderr is None or other.stderr is None:
            return 1.0
        return float(stats.norm.sf((one.value - other.value) / np.hypot(one.stderr, other.stderr)))

    pairs = [(max(p(x, u), p(y, v)), j) for i, (x, y) in enumerate(points) for j, (u, v) in enumerate(points) if i != j]
    behind, largest = set[int](), 0.0
    for rank, (own, place) in enumerate(sorted(pairs)):
        largest = max(largest, own * (len(pairs) - rank))
        behind |= {place} if largest < alpha else set()
    assert {i for i, place in enumerate(places_of(points, alpha)) if place == "behind"} == behind
    assert set(places_of(points, tested=False)) <= {"front", "untested"}


def test_an_exact_quantity_needs_to_be_no_worse() -> None:
    cheap, dear = Standing(-1.0, exact=True), Standing(-2.0, exact=True)
    good, bad = Standing(90.0, 1.0), Standing(70.0, 1.0)
    assert places_of([(cheap, good), (dear, bad)]) == ["front", "behind"]
    assert places_of([(cheap, good), (cheap, bad)]) == ["front", "behind"]
    assert places_of([(cheap, bad), (dear, good)]) == ["front", "front"]


@pytest.mark.parametrize(("error", "place"), [(None, "untested"), (0.0, "untested"), (20.0, "open"), (1.0, "behind")])
def test_what_no_test_can_tell_is_not_said_to_be_within_noise(error: float | None, place: str) -> None:
    """70 below 90 with errors of 20 each: z = 0.71. Without an error, or with none of both, nothing is tested."""
    cheap, dear = Standing(-1.0, exact=True), Standing(-2.0, exact=True)
    assert places_of([(cheap, Standing(90.0, error)), (dear, Standing(70.0, error))]) == ["front", place]


@pytest.mark.parametrize("trials", [20, 150])
def test_of_many_equal_points_of_different_cost_the_whole_picture_is_right_in_95_percent(trials: int) -> None:
    """Twenty points at 60 %: at 5 % over the others of each point 24 % of the pictures of 150 trials were wrong."""
    chance, wrong = np.random.default_rng(7), 0
    for _ in range(300):
        shares = (chance.binomial(trials, 0.6, 20) + 0.5) / (trials + 1)
        errors = np.sqrt(shares * (1 - shares) / trials)
        points = [
            (Standing(-float(i), exact=True), Standing(float(share), float(error), whole=1.0))
            for i, (share, error) in enumerate(zip(shares, errors, strict=True))
        ]
        wrong += "behind" in places_of(points)
    assert wrong <= stats.binom.isf(1e-4, 300, 0.05)


def of_counts(k: int, n: int) -> Standing:
    """A cell in percent, with the error that tables give it: at (k + 1/2) / (n + 1)."""
    share = (k + 0.5) / (n + 1)
    return Standing(100 * k / n, 100 * math.sqrt(share * (1 - share) / n), whole=100.0)


def test_proportions_are_compared_with_the_rate_of_all_trials() -> None:
    """70 and 40 of 100: .3 / sqrt(.55 x .45 x 2 / 100) = 4.264; and 400 of 500 beside 40 of 100 weigh five times."""
    for (k1, n1), (k2, n2) in (((70, 100), (40, 100)), ((400, 500), (40, 100)), ((20, 20), (900, 1000))):
        pooled = (k1 + k2) / (n1 + n2)
        z = (k1 / n1 - k2 / n2) / math.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
        assert one_sided(of_counts(k1, n1), of_counts(k2, n2)) == pytest.approx(stats.norm.sf(z))
    assert one_sided(of_counts(20, 20), of_counts(1000, 1000)) == 0.5


@pytest.mark.parametrize(
    ("cheap", "dear", "rate", "most"), [(20, 1000, 0.9, 0.0035), (1000, 20, 0.9, 0.0605), (1000, 20, 0.9725, 0.0894)]
)
def test_equal_points_of_unlike_trials_are_behind_as_often_as_the_score_test_has_it(
    cheap: int, dear: int, rate: float, most: float
) -> None:
    """Enumerated, by the score test of the counts themselves. Where 20 of 20 counted as 28 trials, the first was
    10.8 %: then the dear one was called behind whenever the cheap one had no failure."""
    k1, k2 = np.meshgrid(np.arange(cheap + 1), np.arange(dear + 1), indexing="ij")
    chances = stats.binom.pmf(k1, cheap, rate) * stats.binom.pmf(k2, dear, rate)
    wrong = sum(
        chance
        for i, j, chance in zip(k1.flat, k2.flat, chances.flat, strict=True)
        if chance > 1e-9 and (one_sided(of_counts(i, cheap), of_counts(j, dear)) or 0.0) < 0.05
    )
    assert wrong <= most
