"""A forest plot: whiskers on one scale with the line of no difference and the margin on the worse side."""

from __future__ import annotations

import pytest

from registry.pages.gates import forest_of, margins_of
from registry.results.alerts import FailingPlace
from registry.results.gates import PolicyKind


@pytest.mark.unit
def test_gaps_lie_on_one_scale_from_the_least_end_to_the_greatest() -> None:
    """-6 to 4 on 148 of 160 pixels are 14.8 a unit, from 6 on."""
    plot = forest_of([FailingPlace(gap=-4.0, low=-6.0, high=-2.0), FailingPlace(gap=4.0)], [-2.0])
    assert plot is not None
    first, second = plot.rows
    assert first is not None
    assert second is not None
    assert (first.low, first.x, first.high) == ("6.0", "35.6", "65.2")
    assert (second.low, second.x, second.high) == ("154.0", "154.0", "154.0"), "no noise is known"
    assert (plot.zero, plot.margins) == ("94.8", ["65.2"])
    assert plot.ends == ["\u22126.00", "4.00"]
    assert forest_of([FailingPlace()], []) is None


@pytest.mark.unit
@pytest.mark.parametrize(
    ("kind", "lower", "margins"),
    [
        ("non_inferior", False, [-2.0]),
        ("non_inferior", True, [2.0]),
        ("improves", False, [2.0]),
        ("improves", True, [-2.0]),
        ("equivalent", False, [-2.0, 2.0]),
        ("floor", False, []),
    ],
)
def test_the_margin_is_where_the_policy_turns(kind: PolicyKind, lower: bool, margins: list[float]) -> None:
    assert margins_of(kind, 2.0, lower) == margins
