"""The trials that would decide a claim within the noise, against closed forms; simulations are in `bench/scenarios`."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from registry.claims.grammar import read_claim
from registry.results.plans import Plan
from tests.workers.claims.scenes import SIDES, above, denied, judged, of, with_about
from workers.claims import trials
from workers.claims.answer import plan_of_claim
from workers.claims.facts import Facts
from workers.claims.judgement import Judged, judge_claim

pytestmark = pytest.mark.unit
UP = {"kind": "trend", "along": "L", "goes": "up"}


def needed(facts: Any, claim: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = judged(facts, claim)["trials_needed"]
    return found


def test_one_sum_has_the_closed_form_of_its_error(subtests: Any) -> None:
    """One cell; the means of two rows of four cells, whose gap has the variance 2 x 0.9^2 / 4; and a truth in the
    middle of two limits, where both tails together have 20 %, so that each takes z(0.9)."""
    both, reach = of([60.0] * 4, [59.0] * 4, stderr=(0.9,) * 8), norm.ppf(0.975) + norm.ppf(0.8)
    between = {"kind": "value", "is": {"between": [49, 51], "decimals": 6}}
    for facts, claim, factor in (
        (of([52.9], stderr=(0.9,)), above(52.0), reach**2),
        (of([48.0], stderr=(2.5,)), above(52.0), (reach * 2.5 / 4) ** 2),
        (of([60.0], stderr=(1.0,)), above(59.9), (reach * 10) ** 2),
        (both, SIDES | {"is": "higher"}, reach**2 * 2 * 0.9**2 / 4),
        (both, denied(SIDES | {"is": "lower"}), reach**2 * 2 * 0.9**2 / 4),
        (of([50.0], stderr=(1.0,)), between, (norm.ppf(0.975) + norm.ppf(0.9)) ** 2),
    ):
        with subtests.test(claim=claim, factor=factor):
            found = needed(facts, claim)
            assert found["needed"] == {"factor": pytest.approx(factor, rel=0.01)}
            assert (found["power"], found["one_sum"]) == (0.8, True)


def test_trials_that_all_pass_need_those_of_clopper_and_pearson() -> None:
    """Without a failure the lower limit of n trials is 0.025^(1/n): 0.95 from 72 on."""
    found = judged(of([100.0], trials=30), above(95))
    assert found["trials_needed"]["needed"]["trials"] == 72 == math.ceil(math.log(0.025) / math.log(0.95))
    assert "With 2.4 times the trials (72 of a cell) it is decided with a probability of 80 %," in found["sentence"]


def test_several_cells_need_the_power_of_all_of_them_together() -> None:
    """Four equal cells: limits by Sidak, and a fourth of 20 % for each to miss."""
    found = needed(of([60.0] * 4, stderr=(3.0,) * 4), {"kind": "cells", "is": {"op": ">", "number": 57}})
    reach = norm.isf((1 - 0.95 ** (1 / 4)) / 2) + norm.ppf(0.95)
    assert found["needed"]["factor"] == pytest.approx(reach**2, rel=0.01)
    assert found["one_sum"] is False


def test_statements_share_alpha_in_what_they_need() -> None:
    """Of two statements each has half of alpha, so one that would be shown by itself may be open."""
    one = of([53.0], [90.0], stderr=(1.0,) * 2)
    both = {"kind": "all_of", "claims": [above(number, where={"T": [row]}) for number, row in ((50.98, 1), (50, 2))]}
    found = needed(one, both)
    reach = norm.ppf(0.9875) + norm.ppf(0.8)
    assert found["needed"]["factor"] == pytest.approx((reach / 2.02) ** 2, rel=0.01)


def test_what_more_trials_cannot_decide_has_a_reason() -> None:
    cell = of([52.0], trials=100)
    for facts, claim, code in (
        (cell, above(52), "on_boundary"),
        (of([52.0], [52.0], trials=100), SIDES | {"is": "higher"}, "on_boundary"),
        (cell, above(51.9999999), "on_boundary"),
        (of([50.0] * 4, trials=100), UP, "on_boundary"),
        (of([90.0, 60.0] * 4, trials=200), UP | {"goes": "down"}, "not_noise"),
        (of([70.0, 60.0, 80.0, 70.0, 60.0, 80.0, 80.0, 80.0], trials=50), UP, "not_noise"),
        (of([30.0, 32.0, 31.0, 33.0, 35.0, 32.0]), UP, "unknown_noise"),
    ):
        found = judged(facts, claim)
        assert (found["beyond_noise"], found["trials_needed"]["impossible"]) == ("not_decidable", code), claim
        assert "needed" not in found["trials_needed"]
        known = (
            "How many more trials decide it is not known" if code == "unknown_noise" else "More trials do not decide it"
        )
        assert f"{known}: {found['trials_needed']['why']}." in found["sentence"]
        assert (code == "unknown_noise") or "if the posted numbers are true" in found["sentence"]


def test_a_trend_needs_the_trials_with_which_its_own_test_decides() -> None:
    """Three cells with known errors on a line: the test is that of the slope, whose error is stderr / sqrt(2)."""
    found = needed(of([50.0, 51.0, 52.0], stderr=(2.0,) * 3), UP)
    factor = ((norm.ppf(0.975) + norm.ppf(0.8)) * 2 / math.sqrt(2)) ** 2
    assert factor * 0.98 < found["needed"]["factor"] < factor * 1.35
    assert found["one_sum"] is False


def test_trials_that_are_items_end_with_them_and_unequal_ones_have_a_factor_alone() -> None:
    found = needed(of([52.0], trials=30, questions=30), above(48))
    assert found["impossible"] == "item_limit"
    assert found["needed"]["trials"] > 1_000
    assert "impossible" not in needed(of([52.0], trials=300, questions=30), above(48))
    assert set(needed(of([52.0, 50.0], trials=(100, 200)), above(48, of="mean"))["needed"]) == {"factor"}


def test_what_is_decided_or_open_for_another_reason_needs_no_trials() -> None:
    cell, ragged = of([52.0], trials=100), of([52.0, None], [None, 50.0], trials=100)
    for facts, claim in (
        (cell, above(20)),
        (of([52.0]), above(50)),
        (ragged, {"kind": "rank", "by": "T", "name": 1}),
    ):
        assert "trials_needed" not in judged(facts, claim), claim


def test_a_claim_about_too_much_to_be_planned_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "MOST_WORK", 10)
    found = judged(of([52.0], trials=100), above(50))
    assert found["trials_needed"]["impossible"] == "too_large"
    assert found["sentence"].endswith(
        " How many more trials decide it is not known: it is about more cells than trials are planned for."
    )


# --- plans: how the trials are split between cells --------------------------------------------------------------------


def judged_claim(facts: Facts, claim: dict[str, Any]) -> Judged:
    return judge_claim(read_claim(with_about(claim)), facts)


def plan(facts: Any, claim: dict[str, Any], power: float = 0.8) -> Plan:
    return plan_of_claim(judged_claim(facts, claim), power)


def test_several_intervals_add_to_all_cells_alike() -> None:
    """Four cells, each of which is claimed by itself: no one sum, so that all get the same multiple."""
    found = plan(of([60.0] * 4, trials=(100, 100, 200, 200)), {"kind": "cells", "is": {"op": ">", "number": 55}})
    assert found.needed is not None
    factor = found.needed.factor or 0.0
    assert found.needed.trials is None
    assert found.total == 2 * np.ceil(100 * (factor - 1)) + 2 * np.ceil(200 * (factor - 1))


def test_what_no_results_decide_has_no_plan() -> None:
    found = plan(of([60.0], trials=100), {"kind": "ill_posed", "because": "no number"})
    assert (found.decidable_now, found.impossible) == (False, "not_noise")
    assert found.reason == "no results can decide this sentence"


def test_errors_without_trials_have_a_factor_and_no_total() -> None:
    found = plan(of([52.0], stderr=(1.0,)), above(51), 0.9)
    assert found.needed is not None
    assert found.needed.factor == pytest.approx((1.959964 + 1.281552) ** 2, rel=0.01)
    assert found.total is None
