"""Sentences say why, and with which number, a claim holds or does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.workers.claims.scenes import judged, source, table
from workers.claims.facts import Facts

COURSE = [90.0, 88.0, 60.0, 62.0, 89.0, 90.0]


def of(*rows: Sequence[float | None], **content: Any) -> Facts:
    names = [str(place + 1) for place in range(len(rows))]
    noise = tuple(None if value is None else 1.0 for row in rows for value in row)
    return Facts.of([source(table([*rows], names, range(len(rows[0])), **{"stderr": noise, **content}))])


def said(facts: Facts, **claim: Any) -> str:
    return str(judged(facts, claim)["sentence"])


def test_a_recovery_says_that_there_was_nothing_to_recover_from() -> None:
    told = said(of(COURSE), kind="step", along="L", goes="up", recovery=5, margin=6)
    assert "Contradicted beyond noise, it never rose by more than 6 in between: " in told
    assert "never" not in said(of(COURSE), kind="step", along="L", goes="down", recovery=5, margin=6)


def test_neighbours_are_not_isolated_and_the_sentence_says_so() -> None:
    told = said(of(COURSE), kind="extreme", which="min", at=[{"L": 2}, {"L": 3}], isolated=1)
    assert told.startswith("Contradicted as posted, two of the cells that are named are neighbours")


def test_a_turn_that_the_values_chose_is_not_tested_and_the_sentence_asks_for_it() -> None:
    found = judged(of(COURSE), {"kind": "trend", "along": "L", "goes": "down_up"})
    assert (found["beyond_noise"], found["reason"]) == ("not_decidable", "vague")
    assert "does not say where the turn is" in found["sentence"]


def test_a_count_has_no_noise() -> None:
    told = said(of(COURSE), **{"kind": "value", "of": "count", "is": {"op": "=", "number": 6}})
    assert told == "Supported as posted: the number of cells is 6 (claimed: 6)."


def test_one_number_is_no_interval() -> None:
    exact = of([80.0, 70.0], stderr=(0.0, 0.0))
    change = {"kind": "value", "of": "change", "is": {"op": "<", "number": -5}}
    assert said(exact, **change).endswith("Supported beyond noise: -10, as no cell has noise.")
    cells = {"kind": "cells", "is": {"op": ">", "number": 40}}
    assert said(of(COURSE), **cells).endswith("Supported beyond noise: 6 at 95 % confidence.")


def test_cells_that_may_be_equal_may_have_no_deviation_at_all() -> None:
    equal = of([5.0, 6.0, 7.0], stderr=(3.0,) * 3)
    assert "beyond noise, it is within the noise: 0 to " in said(
        equal, **{"kind": "value", "of": "sd", "is": {"op": ">", "number": 2}}
    )


@pytest.mark.parametrize(("word", "which", "number"), [("small", "largest", 20), ("present", "smallest", 10)])
def test_an_effect_by_two_axes_has_the_number_that_decides(word: str, which: str, number: int) -> None:
    told = said(of([90.0, 80.0], [70.0, 60.0]), **{"kind": "effect", "axes": ["T", "L"], "is": word, "within": 3})
    assert f"the {which} width of the means by T, L, " in told
    assert f" is {number} (claimed" in told
    # Two axes at 2.5 % each: 2.2414 standard errors of 1 to either side.
    assert f"beyond noise: {number - 2.2414:.4g} to {number + 2.2414:.4g} at 95 % confidence" in told


def test_a_lead_over_declared_cells_is_no_more_than_that_over_the_measured_rivals() -> None:
    found = judged(
        of([90.0, 85.0, None, 80.0]), {"kind": "extreme", "which": "max", "at": [{"L": 0}], "over": "declared"}
    )
    numbers = found["parts"][0]["numbers"]
    # Three rivals: the measured one that is nearest is 5 behind, 2.394 standard errors of the difference more at most.
    assert numbers["high"] == pytest.approx(5 + 2.39398 * 2**0.5, abs=1e-3)
    assert numbers["low"] == pytest.approx(-10 - 2.39398, abs=1e-3)
