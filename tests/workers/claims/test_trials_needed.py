"""The trials that would decide a claim within the noise, against closed forms; simulations are in `bench/scenarios`."""

from __future__ import annotations

import math
from typing import Any

import pytest
from scipy.stats import norm

from tests.workers.claims.scenes import judged
from tests.workers.claims.test_sentences_tell_the_verdict import SIDES, above, denied, of
from workers.claims import trials

pytestmark = pytest.mark.unit


def needed(facts: Any, claim: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = judged(facts, claim)["trials_needed"]
    return found


@pytest.mark.parametrize(("value", "limit", "error"), [(52.9, 52.0, 0.9), (48.0, 52.0, 2.5), (60.0, 59.9, 1.0)])
def test_one_cell_with_an_error_has_the_closed_form(value: float, limit: float, error: float) -> None:
    found = needed(of([value], stderr=(error,)), above(limit))
    factor = ((norm.ppf(0.975) + norm.ppf(0.8)) * error / (value - limit)) ** 2
    assert found["needed"] == {"factor": pytest.approx(factor, rel=0.01)}
    assert (found["power"], found["one_sum"]) == (0.8, True)


def test_a_contrast_has_the_closed_form_of_its_error() -> None:
    """Two rows of four cells: the gap of the means has the variance 2 x 0.9^2 / 4."""
    both = of([60.0] * 4, [59.0] * 4, stderr=(0.9,) * 8)
    factor = (norm.ppf(0.975) + norm.ppf(0.8)) ** 2 * 2 * 0.9**2 / 4
    for claim in (SIDES | {"is": "higher"}, denied(SIDES | {"is": "lower"})):
        assert needed(both, claim)["needed"]["factor"] == pytest.approx(factor, rel=0.01)


def test_the_truth_between_two_limits_must_keep_clear_of_both() -> None:
    """In the middle, 1 from either end: both tails together have 20 %, so that each takes z(0.9)."""
    found = needed(of([50.0], stderr=(1.0,)), {"kind": "value", "is": {"between": [49, 51], "decimals": 6}})
    assert found["needed"]["factor"] == pytest.approx((norm.ppf(0.975) + norm.ppf(0.9)) ** 2, rel=0.01)


def test_trials_that_all_pass_need_those_of_clopper_and_pearson() -> None:
    """Without a failure the lower limit of n trials is 0.025^(1/n): 0.95 from 72 on."""
    found = judged(of([100.0], trials=30), above(95))
    assert math.ceil(math.log(0.025) / math.log(0.95)) == 72
    assert found["trials_needed"]["needed"]["trials"] == 72
    assert found["sentence"].endswith(
        "With 2.4 times the trials (72 of a cell) it is decided with a probability of 80 %,"
        " if the posted numbers are true."
    )


def test_several_cells_need_the_power_of_all_of_them_together() -> None:
    """Four equal cells: limits by Sidak, and a fourth of 20 % for each to miss."""
    found = needed(of([60.0] * 4, stderr=(3.0,) * 4), {"kind": "cells", "is": {"op": ">", "number": 57}})
    reach = norm.isf((1 - 0.95 ** (1 / 4)) / 2) + norm.ppf(0.95)
    assert found["needed"]["factor"] == pytest.approx(reach**2, rel=0.01)
    assert found["one_sum"] is False


def test_the_end_of_an_own_interval_may_need_more() -> None:
    """Of two statements each has half of alpha, so one that is shown by itself may be open: its near end needs more."""
    one = of([53.0], [90.0], stderr=(1.0,) * 2)
    both = {"kind": "all_of", "claims": [above(number, where={"T": [row]}) for number, row in ((50.98, 1), (50, 2))]}
    found = needed(one, both)
    reach, end = norm.ppf(0.9875) + norm.ppf(0.8), 53 - norm.ppf(0.975) - 50.98
    assert found["needed"]["factor"] == pytest.approx((reach / 2.02) ** 2, rel=0.01)
    assert found["cautious"]["factor"] == pytest.approx((reach / end) ** 2, rel=0.01)


def test_what_more_trials_cannot_decide_has_a_reason() -> None:
    cell = of([52.0], trials=100)
    for facts, claim, code in (
        (cell, above(52), "on_boundary"),
        (of([52.0], [52.0], trials=100), SIDES | {"is": "higher"}, "on_boundary"),
        (cell, above(51.9999999), "on_boundary"),
        (of([30.0, 32.0, 31.0, 33.0, 35.0, 32.0]), {"kind": "trend", "along": "L", "goes": "up"}, "unknown_noise"),
    ):
        found = judged(facts, claim)
        assert (found["beyond_noise"], found["trials_needed"]["impossible"]) == ("not_decidable", code), claim
        assert "needed" not in found["trials_needed"]
        assert f"More trials do not decide it: {found['trials_needed']['why']}." in found["sentence"]


def test_trials_that_are_items_end_with_them() -> None:
    found = needed(of([52.0], trials=30, questions=30), above(48))
    assert found["impossible"] == "item_limit"
    assert found["needed"]["trials"] > 1_000
    sampled = needed(of([52.0], trials=300, questions=30), above(48))
    assert "impossible" not in sampled


def test_cells_with_unequal_trials_have_a_factor_alone() -> None:
    found = needed(of([52.0, 50.0], trials=(100, 200)), above(48, of="mean"))
    assert set(found["needed"]) == {"factor"}


def test_what_is_decided_or_open_for_another_reason_needs_no_trials() -> None:
    cell = of([52.0], trials=100)
    for facts, claim in (
        (cell, above(20)),
        (of([52.0]), above(50)),
        (of([52.0, None], trials=100), above(40, of="mean", over="declared")),
    ):
        assert "trials_needed" not in judged(facts, claim), claim


def test_missing_cells_may_leave_trials_that_decide() -> None:
    """Nine of ten cells: the missing one adds 0 at least, and the rest must be shown to be above 500 together."""
    nine = of([60.0] * 9 + [None], stderr=(7.0,) * 10)
    found = needed(nine, above(50, of="mean", over="declared"))
    factor = ((norm.ppf(0.975) + norm.ppf(0.8)) * 7.0 * 3 / (540 - 500)) ** 2
    assert found["needed"]["factor"] == pytest.approx(factor, rel=0.01)


def test_a_claim_about_too_much_to_be_planned_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "MOST_WORK", 10)
    found = judged(of([52.0], trials=100), above(50))
    assert found["trials_needed"]["impossible"] == "too_large"
    assert found["sentence"].endswith(
        " How many more trials decide it is not known: it is about more cells than trials are planned for."
    )
