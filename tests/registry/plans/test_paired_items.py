"""Plans of paired items against enumeration of every outcome, with scipy's test of the items that differ."""

from functools import cache

import numpy as np
import pytest
from scipy import stats

from registry.plans.closed_forms import Goal
from registry.plans.paired_items import MOST_ENUMERATED, PairedItems, power

FOUND = ((5, 0, 10), (19, 0, 60), (6, 5, 100), (10, 3, 50), (3, 1, 30), (80, 60, 500))


@cache
def rejections(most: int, alpha: float) -> np.ndarray:
    """By the items that differ (rows) and those lost: whether scipy's two-sided test rejects with fewer lost."""
    lost, differ = np.meshgrid(np.arange(most + 1), np.arange(most + 1))
    p = np.minimum(1.0, 2 * stats.binom.cdf(lost, differ, 0.5))
    return np.asarray((p < alpha) & (2 * lost < differ))


def enumerated(items: int, won: float, lost: float, alpha: float = 0.05) -> float:
    """The chance of all outcomes that are shown to be won: of three kinds of items."""
    most = min(items, int(items * (won + lost) + 10 * np.sqrt(items * (won + lost)) + 20))
    lose, differ = np.meshgrid(np.arange(most + 1), np.arange(most + 1))
    chance = stats.binom.pmf(differ, items, won + lost) * stats.binom.pmf(lose, differ, lost / (won + lost))
    return float(np.nansum(np.where(rejections(most, alpha), chance, 0.0)))


def test_every_outcome_counts_as_scipys_test_has_it() -> None:
    assert stats.binomtest(0, 5).pvalue > 0.05 > stats.binomtest(0, 6).pvalue, "five differences show nothing"
    for items, won, lost in ((5, 1.0, 0.0), (10, 0.5, 0.0), (10, 0.4, 0.3), (60, 0.24, 0.07), (700, 0.1, 0.06)):
        for alpha in (0.05, 0.01):
            assert power(items, won, lost, alpha / 2) == pytest.approx(enumerated(items, won, lost, alpha), abs=1e-10)


def test_beyond_what_is_enumerated_the_normal_law_is_as_good() -> None:
    for share in (0.05, 0.4, 0.9):
        items = int(1.1 * MOST_ENUMERATED / share)
        for far in (2.0, 2.8, 3.5):
            gap = far * np.sqrt(share / items)
            won, lost = (share + gap) / 2, (share - gap) / 2
            assert power(items, won, lost, 0.025) == pytest.approx(enumerated(items, won, lost), abs=0.004)


@pytest.mark.parametrize(("up", "down", "count"), FOUND)
def test_what_is_detectable_is_found_in_four_of_five_by_the_test_itself(up: int, down: int, count: int) -> None:
    """By the normal law 46.7 of 100 were said of 5 : 0 among 10, which are found in 30 %."""
    found = PairedItems(up, down, count)
    seen = found.detectable(Goal())
    assert seen is not None
    won, lost = found.shares(seen)
    assert (won - lost, enumerated(count, won, lost)) == (pytest.approx(seen), pytest.approx(0.8, abs=0.004))
    assert PairedItems(down, up, count, 100.0).detectable(Goal()) == pytest.approx(100 * seen)
    # With the losses, or where less was won the items that differ, as they were measured.
    lost = min(max(min(up, down) / count, ((up + down) / count - seen) / 2), (1 - seen) / 2)
    assert 0.796 < enumerated(count, lost + seen, lost) < 0.88


@pytest.mark.parametrize(("up", "down", "count"), FOUND)
def test_a_plan_shows_what_was_measured_and_is_what_detectable_says(up: int, down: int, count: int) -> None:
    found, goal = PairedItems(up, down, count), Goal()
    needed = found.needed(abs(up - down) / count, goal)
    assert needed is not None
    assert 0.796 < enumerated(needed, max(up, down) / count, min(up, down) / count) < 0.93
    seen = found.detectable(goal)
    assert seen is not None
    assert found.needed(seen, goal) == count
    assert found.needed(seen, Goal(0.1, one_sided=True)) < count  # type: ignore[operator]
    assert found.needed(seen, Goal(power=0.9)) > count  # type: ignore[operator]


def test_what_no_number_of_items_shows() -> None:
    assert PairedItems(2, 1, 5).detectable(Goal()) is None
    assert PairedItems(3, 3, 100).needed(1e-6, Goal()) is None
    nothing = PairedItems(0, 0, 100)
    assert nothing.detectable(Goal()) == pytest.approx(0.0779, abs=1e-4), "six of a hundred are won in 80 %"
    assert stats.binom.sf(5, 100, 0.0779) == pytest.approx(0.8, abs=0.001)
