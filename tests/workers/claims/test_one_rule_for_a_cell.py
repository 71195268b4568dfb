"""A claim about one cell of two models has the interval that their comparison has for it."""

from typing import Any

import pytest

from registry.grids.grid import Grid
from registry.plans.closed_forms import TwoSamples, score_interval
from tests.workers.claims.scenes import ACCURACY, judged, source
from workers.claims.facts import Facts
from workers.statistics.comparison import gap

pytestmark = pytest.mark.unit

SIDES: dict[str, Any] = {"kind": "compare", "left": {"model": ["A"]}, "right": {"model": ["B"]}}


@pytest.mark.parametrize(
    ("k1", "n1", "k2", "n2"), [(39, 50, 29, 50), (30, 30, 26, 30), (9, 10, 40, 100), (1, 20, 0, 20)]
)
def test_a_claim_and_a_comparison_have_one_interval(k1: int, n1: int, k2: int, n2: int) -> None:
    a, b = (Grid(ACCURACY, (), (100 * k / n,), n) for k, n in ((k1, n1), (k2, n2)))
    facts = Facts.of([source(a, 0, model="A"), source(b, 1, model="B")])
    found = judged(facts, SIDES | {"is": "higher"})
    numbers, [cell] = found["parts"][0]["numbers"], gap(b, a, ("model",)).cells
    low, high = (100 * end for end in score_interval(TwoSamples(k1, n1, k2, n2), 0.025))
    assert (numbers["low"], numbers["high"]) == pytest.approx((low, high), abs=1e-6)
    assert cell.interval is not None
    assert cell.p is not None
    assert (cell.interval.low, cell.interval.high) == pytest.approx((low, high), abs=1e-6)
    assert (found["beyond_noise"] == "supported") == (cell.p < 0.05)
    turned = judged(facts, {**SIDES, "left": SIDES["right"], "right": SIDES["left"], "is": "lower"})
    assert turned["beyond_noise"] == found["beyond_noise"]
