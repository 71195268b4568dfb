"""A forest plot: whiskers on one scale with the line of no difference and the margin on the worse side."""

from __future__ import annotations

import pytest

from registry.pages.forest import Forest, forest_of
from registry.results.gates import PolicyKind
from registry.results.verdicts import FailingPlace

GAPS = (FailingPlace(gap=-4.0, low=-6.0, high=-2.0), FailingPlace(gap=4.0, low=None, high=None))


def plot(kind: PolicyKind = "non_inferior", *, lower: bool = False) -> Forest:
    found = forest_of(GAPS, kind, 2.0, lower_is_better=lower)
    assert found is not None
    return found


@pytest.mark.unit
def test_gaps_lie_on_one_scale_from_the_least_end_to_the_greatest() -> None:
    """-6 to 4 on 268 of 280 pixels are 26.8 a unit, from 6 on."""
    first, second = plot().rows
    assert first is not None
    assert second is not None
    assert (first.low, first.dot, first.high) == ("6.0", "59.6", "113.2")
    assert (second.low, second.dot, second.high) == ("274.0", "274.0", "274.0"), "no noise is known"
    assert (first.written, second.written, plot().zero) == ("−4.00", "+4.00", "166.8")


@pytest.mark.unit
@pytest.mark.parametrize(
    ("kind", "lower", "margins"),
    [
        ("non_inferior", False, ["113.2"]),
        ("non_inferior", True, ["220.4"]),
        ("improves", False, ["220.4"]),
        ("equivalent", False, ["113.2", "220.4"]),
        ("floor", False, []),
    ],
)
def test_the_margin_is_where_the_policy_turns(kind: PolicyKind, lower: bool, margins: list[str]) -> None:
    assert plot(kind, lower=lower).margins == margins


@pytest.mark.unit
def test_without_a_gap_there_is_no_plot() -> None:
    assert forest_of([FailingPlace()], "non_inferior", 2.0, lower_is_better=False) is None
