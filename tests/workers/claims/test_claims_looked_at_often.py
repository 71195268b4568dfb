"""Claims that are looked at after every revision; how often twenty looks are wrong is in `bench/scenarios`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import binom, norm

from tests.workers.claims.scenes import ACCURACY, judged, source, table
from workers.claims.facts import Facts

pytestmark = pytest.mark.unit


def cell(value: float, revision: int = 1, **content: Any) -> Facts:
    return Facts.of([source(table([[value]], ["1"], [0.0], **content))._replace(revision=revision)])


def ends(facts: Facts, looks: str, **more: Any) -> tuple[float, float]:
    found = judged(facts, {"kind": "value", "is": {"op": ">", "number": 0}, "looks": looks, **more})
    numbers = found["parts"][0]["numbers"]
    return numbers["low"], numbers["high"]


def test_added_trials_have_the_interval_of_the_mixture() -> None:
    """78 of 150: 38.4 to 65.4. Only the present counts matter, and no number of revisions."""
    for revision in (1, 20):
        assert ends(cell(52.0, revision, trials=150), "added_trials") == pytest.approx((38.352, 65.449), abs=0.001)


def test_the_mixture_is_twenty_times_as_probable_at_both_ends() -> None:
    for k, n in ((0, 30), (30, 30), (3, 40), (500, 1000), (999, 1000)):
        low, high = ends(cell(100 * k / n, trials=n), "added_trials")
        for end, reached in ((low / 100, k > 0), (high / 100, k < n)):
            if reached:
                prior = betaln(0.5 + k, 0.5 + n - k) - betaln(0.5, 0.5)
                assert math.exp(prior - k * math.log(end) - (n - k) * math.log1p(-end)) == pytest.approx(20), (k, n)
            else:
                assert end == k / n


def test_added_trials_never_end_in_more_than_alpha_by_enumeration() -> None:
    """All paths of a fair coin over 400 tosses: the probability that the limits ever leave out the truth."""
    alive, lost = {0: 1.0}, 0.0
    for n in range(1, 401):
        nxt: dict[int, float] = {}
        for k, chance in alive.items():
            nxt[k] = nxt.get(k, 0.0) + chance / 2
            nxt[k + 1] = nxt.get(k + 1, 0.0) + chance / 2
        out = [k for k in nxt if betaln(0.5 + k, 0.5 + n - k) - betaln(0.5, 0.5) + n * math.log(2) >= math.log(20)]
        lost += sum(nxt.pop(k) for k in out)
        alive = nxt
    assert 0.005 < lost <= 0.05
    # The same limits of the judge leave the same outcomes in after the last toss.
    kept = [k for k in (170, 171, 172, 173) if ends(cell(k / 4, trials=400), "added_trials")[1] > 50]
    assert kept == [k for k in (170, 171, 172, 173) if k in alive]


def test_a_posted_error_has_the_normal_mixture() -> None:
    """At an error of a hundredth of the range it is 1.55 times as wide as the interval of one look, and there it is
    tightest; at half and four times that information 1.6 to 1.7 times."""
    ratios = []
    for error in (0.25, 0.5, 1.0, 2.0, 4.0):
        low, high = ends(cell(50.0, stderr=(error,)), "added_trials")
        ratios.append((high - low) / (2 * norm.ppf(0.975) * error))
    assert ratios[2] == pytest.approx(1.55, abs=0.01)
    assert min(ratios) == ratios[2]
    assert (ratios[0], ratios[3]) == pytest.approx((1.69, 1.66), abs=0.02)


def test_every_revision_spends_a_share_of_alpha() -> None:
    for revision in (1, 2, 7):
        low, high = ends(cell(52.0, revision, trials=150), "every_revision")
        tail = 0.05 * 6 / (math.pi * revision) ** 2 / 2
        assert binom.sf(77, 150, low / 100) == pytest.approx(tail)
        assert binom.cdf(78, 150, high / 100) == pytest.approx(tail)
    assert sum(6 / (math.pi * k) ** 2 for k in range(1, 100_000)) == pytest.approx(1, abs=1e-5)


def test_what_has_no_sequence_spends_shares_even_where_trials_are_added() -> None:
    unbounded = table([[5.0]], ["1"], [0.0], stderr=(0.5,), metric=type(ACCURACY)("loss"))
    facts = Facts.of([source(unbounded)._replace(revision=3)])
    assert ends(facts, "added_trials") == ends(facts, "every_revision")
    series = [60.0, 63.0, 66.0, 70.0, 73.0]
    claim = {"kind": "trend", "along": "L", "goes": "up"}
    for looks in ("every_revision", "added_trials"):
        one, late = (
            Facts.of([source(table([series], ["1"], range(5), trials=300))._replace(revision=k)]) for k in (1, 500)
        )
        assert [judged(each, claim | {"looks": looks})["beyond_noise"] for each in (one, late)] == [
            "supported", "not_decidable"]  # fmt: skip


def test_the_look_is_told_and_counts_revisions_of_all_grids() -> None:
    both = Facts.of([
        source(table([[50.0]], ["1"], [0.0], trials=100), place, model=name)._replace(revision=revision)
        for place, (name, revision) in enumerate((("A", 3), ("B", 2)))
    ])  # fmt: skip
    claim = {"kind": "compare", "left": {"model": ["A"]}, "right": {"model": ["B"]}, "is": "higher"}
    found = judged(both, claim | {"looks": "every_revision"})
    assert found["look"] == 4
    assert "at 95 % confidence over all revisions" in found["sentence"]
    assert found["claim"]["looks"] == "every_revision"
    assert "look" not in judged(both, claim)
    assert np.isclose(ends(cell(50.0, trials=100), "fixed")[0], 39.832, atol=0.001)
