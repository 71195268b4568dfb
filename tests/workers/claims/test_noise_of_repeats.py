"""The noise of repeats is that of each cell by itself, and a posted error of 0 is none at all."""

import itertools
import math
from typing import Any
from uuid import UUID

import pytest
from scipy.stats import t

from registry.grids.grid import Metric
from registry.pages.said import ShownClaim
from tests.workers.claims.scenes import judged, of, source, table
from workers.claims.facts import Facts

LOSS = Metric("loss", None, "lower")
CELLS = {"a": (10.0125, 0.085), "b": (20.0, 1.0), "c": (21.25, math.sqrt(875 / 12))}
"""Means and standard deviations of four repeats: those of c are 10, 30, 20 and 25."""


def repeated() -> Facts:
    means, spreads = zip(*CELLS.values(), strict=True)
    return of(means, repeats=(4,) * 3, sd=spreads)


def ends(facts: Facts, **claim: Any) -> tuple[float, float]:
    numbers = judged(facts, {"is": {"op": ">", "number": 0}, **claim})["parts"][0]["numbers"]
    return numbers["low"], numbers["high"]


def test_a_cell_has_its_own_variance_and_degrees_of_freedom() -> None:
    for place, (mean, sd) in enumerate(CELLS.values()):
        found = ends(repeated(), kind="value", where={"L": [place]})
        assert found == pytest.approx(t.interval(0.95, 3, loc=mean, scale=sd / 2), rel=1e-9), place
    assert found == pytest.approx((7.66, 34.84), abs=0.005)


def test_a_difference_has_the_variances_of_its_own_cells() -> None:
    found = ends(repeated(), kind="compare", left={"L": [2]}, right={"L": [0]}, **{"is": "higher"})
    # By Welch's test; the noise of a is too little to be seen in it.
    assert found == pytest.approx((-2.35, 24.83), abs=0.01)


def test_cells_judged_together_have_t_at_the_corrected_level() -> None:
    low = float(t.interval(0.95 ** (1 / 3), 3, loc=21.25, scale=CELLS["c"][1] / 2)[0])
    for number, answer in ((low - 0.01, "supported"), (low + 0.01, "not_decidable")):
        claim = {"kind": "cells", "where": {"L": [0, 1, 2]}, "is": {"op": ">", "number": number}}
        exact = of([1000.0, 2000.0, 21.25], repeats=(4,) * 3, sd=(0.1, 0.1, CELLS["c"][1]), metric=LOSS)
        assert judged(exact, claim)["beyond_noise"] == answer


def test_more_repeats_decide_what_a_noisy_cell_leaves_open() -> None:
    found = judged(repeated(), {"kind": "value", "where": {"L": [2]}, "is": {"op": ">", "number": 15}})
    assert found["beyond_noise"] == "not_decidable"
    assert 1 < found["trials_needed"]["needed"]["factor"] < 20
    assert " times the repeats it is decided with a probability of 80 %," in found["sentence"]
    shown = ShownClaim(UUID(int=0), "", False, "", "", found["sentence"], {}, "", False)
    assert found["sentence"].startswith(f"{shown.short} With ")


def test_a_trend_says_what_few_repeats_do_not_know() -> None:
    said = "The test of a trend takes cells of two or three repeats to have about one noise."
    up = {"kind": "trend", "along": "L", "goes": "up"}
    for repeats, claim, told in ((3, up, True), (4, up, False), (3, up | {"monotone": True}, False)):
        facts = of([20.0, 21.0, 20.5], repeats=(repeats,) * 3, sd=(1.0, 1.2, 0.8))
        for one in (claim, {"kind": "any_of", "claims": [claim]}):
            assert (said in judged(facts, one)["sentence"]) == told


def test_a_mean_over_cells_of_repeats_warns_of_runs_that_move_all_of_them() -> None:
    mean = {"kind": "value", "of": "mean", "is": {"op": ">", "number": 20}}
    within = {"kind": "compare", "left": {"L": [0, 1]}, "right": {"L": [2]}, "is": "higher"}
    cell = {"kind": "value", "is": {"op": ">", "number": 20}, "where": {"L": [0]}}
    runs = {"repeats": (4,) * 3, "sd": (1.0, 1.2, 0.8)}
    models = {"kind": "compare", "left": {"model": ["M"]}, "right": {"model": ["N"]}, "is": "higher"}
    three = [20.0, 21.0, 20.5]
    # A run may move the only cells of several benchmarks, too.
    single = table([[20.0]], ["1"], [0], repeats=(4,), sd=(1.0,), metric=LOSS)
    named = enumerate(itertools.product("MN", "XY"))
    singles = Facts.of([source(single, place, model=model, benchmark=one) for place, (model, one) in named])
    for facts, claim, warns in (
        (of(three, metric=LOSS, **runs), mean, True),
        (of(three, metric=LOSS, **runs), within, False),
        (of(three, metric=LOSS, **runs), cell, False),
        (of(three, metric=LOSS, repeats=(4,) * 3, sd=(0.0,) * 3), mean, False),
        (of(three, metric=LOSS, stderr=(1.0,) * 3), mean, False),
        (singles, models, True),
    ):
        codes = [one["code"] for one in judged(facts, claim)["warnings"]]
        assert ("independent_cells" in codes) == warns, claim


@pytest.mark.parametrize("content", [{"stderr": (0.0, 0.0)}, {"repeats": (3, 3), "sd": (0.0, 0.0)}])
def test_a_value_without_noise_is_exact(content: dict[str, Any]) -> None:
    exact = of([80.1, 74.5], **content)
    assert ends(exact, kind="value", where={"L": [0]}) == (80.1, 80.1)
    assert ends(exact, kind="value", of="change") == (-5.6, -5.6)
    for claim in (
        {"kind": "trend", "along": "L", "goes": "down"},
        {"kind": "stable", "along": "L", "within": 5.6},
        {"kind": "value", "is": {"op": "=", "number": 80.1}, "where": {"L": [0]}},
    ):
        assert judged(exact, claim)["beyond_noise"] == "supported", claim


def test_an_exact_cell_beside_a_noisy_one_adds_nothing() -> None:
    mixed = of([80.0, 70.0], stderr=(0.0, 1.0))
    found = ends(mixed, kind="compare", left={"L": [0]}, right={"L": [1]}, **{"is": "higher"})
    assert found == pytest.approx((10 - 1.959964, 10 + 1.959964), abs=1e-5)


@pytest.mark.parametrize(("number", "answer"), [(1.0, "contradicted"), (60.0, "supported")])
def test_stability_is_judged_as_effects_are(number: float, answer: str) -> None:
    stable = {"kind": "stable", "along": "L", "within": number}
    effect = {"kind": "effect", "axes": ["L"], "is": "small", "within": number}
    found = [judged(of([90.0, 60.0, 58.0], trials=400), one) for one in (stable, effect)]
    assert {one["beyond_noise"] for one in found} == {answer}
    spans = [tuple(one["parts"][0]["numbers"][end] for end in ("low", "high")) for one in found]
    assert len(set(spans)) == 1
