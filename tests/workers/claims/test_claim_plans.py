"""Plans for claims: the split of trials between cells decides with the power that is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from registry.claims.grammar import read_claim
from registry.results.plans import Plan
from tests.workers.claims.scenes import with_about
from tests.workers.claims.test_sentences_tell_the_verdict import SIDES, above, of
from workers.claims.judgement import Judged, judge_claim
from workers.claims.plans import plan_of_claim

pytestmark = pytest.mark.unit
HIGHER = SIDES | {"is": "higher"}


def judged(facts: Any, claim: dict[str, Any]) -> Judged:
    return judge_claim(read_claim(with_about(claim)), facts)


def plan(facts: Any, claim: dict[str, Any], power: float = 0.8) -> Plan:
    return plan_of_claim(judged(facts, claim), power)


def test_trials_that_are_split_decide_with_the_power_and_are_fewer() -> None:
    """Rates of .95 by 50 and .9 by 200 trials: 1,000 measurements by the plan; 0.8 has the standard error 0.0126."""
    found = plan(of([95.0], [90.0], trials=(50, 200)), HIGHER)
    assert found.needed is not None
    assert found.total is not None
    assert found.total < 0.7 * 250 * (found.needed.factor or 0.0)
    trials = [share.trials or 0 for share in sorted(found.allocation, key=lambda one: str(one.at))]
    draws = np.random.default_rng(1).binomial(trials, (0.95, 0.9), (1_000, 2)) / trials * 100
    shown = [judged(of([a], [b], trials=tuple(trials)), HIGHER).answers["noise"] for a, b in draws.tolist()]
    assert 1 - shown.count("not_decidable") / 1_000 == pytest.approx(0.8, abs=0.04)


def test_several_intervals_have_a_total_of_all_cells_alike() -> None:
    """Four cells, each of which is claimed by itself: no one sum, so that all get the same multiple."""
    found = plan(of([60.0] * 4, trials=(100, 100, 200, 200)), {"kind": "cells", "is": {"op": ">", "number": 55}})
    assert found.needed is not None
    factor = found.needed.factor or 0.0
    assert (found.allocation, found.needed.trials) == ((), None)
    assert found.total == 2 * np.ceil(100 * factor) + 2 * np.ceil(200 * factor)


def test_what_no_results_decide_has_no_plan() -> None:
    found = plan(of([60.0], trials=100), {"kind": "ill_posed", "because": "no number"})
    assert (found.decidable_now, found.impossible) == (False, "not_noise")
    assert found.reason == "no results can decide this sentence"


def test_errors_without_trials_have_a_factor_and_no_split() -> None:
    found = plan(of([52.0], stderr=(1.0,)), above(51), 0.9)
    assert found.needed is not None
    assert found.needed.factor == pytest.approx((1.959964 + 1.281552) ** 2, rel=0.01)
    assert (found.total, found.allocation) == (None, ())
