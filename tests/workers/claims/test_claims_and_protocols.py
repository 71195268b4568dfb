"""Claims put grids together only where their protocols allow it, and spend alpha on every look."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from registry.grids.protocol import Rules
from tests.workers.claims.scenes import judged, source, table
from workers.claims.facts import Facts

pytestmark = pytest.mark.unit

SHOTS = Rules(binding=("shots",))
FIVE, THREE = {"shots": 5, "harness": "h"}, {"shots": 3, "harness": "h"}
VALUES = {"A": [90.0, 95.0], "B": [40.0, 30.0], "C": [10.0, 15.0]}
NOT_COMPARABLE = ("not_decidable", "not_decidable", "not_comparable")


def facts(rules: Rules, *grids: tuple[str, str, Any], **content: Any) -> Facts:
    """Grids by model, benchmark and protocol; each has two cells of 400 trials."""
    sources = []
    for place, (model, benchmark, protocol) in enumerate(grids):
        grid = replace(table([VALUES[model]], ["1"], [0.0, 1.0], trials=400), protocol=protocol, **content)
        sources.append(source(grid, place, model=model, benchmark=benchmark))
    return Facts.of(sources, rules)


DIFFERENT = facts(SHOTS, ("A", "X", FIVE), ("B", "X", THREE))


COMPARE: dict[str, Any] = {"kind": "compare", "left": {"model": ["A"]}, "right": {"model": ["B"]}, "is": "higher"}
RANK: dict[str, Any] = {"kind": "rank", "by": "model", "name": "A"}
TOGETHER: list[dict[str, Any]] = [
    COMPARE,
    COMPARE | {"everywhere": "all"},
    RANK,
    {"kind": "extreme", "which": "max", "of": "model", "at": ["A"]},
    {"kind": "extreme", "which": "max", "at": [{"model": "A", "T": 1, "L": 1}]},
    {"kind": "effect", "axes": ["model"], "is": "present"},
    {"kind": "lie", "highest": 2, "inside": [{"model": ["A"]}]},
    {"kind": "value", "of": "mean", "is": {"op": ">", "number": 1}},
]
APART: list[dict[str, Any]] = [
    {"kind": "cells", "is": {"op": ">", "number": 1}},
    {"kind": "lie", "matching": {"op": ">", "number": 80}, "inside": [{"model": ["A"]}]},
    {"kind": "coverage", "is": "cells", "count": {"op": "=", "number": 4}},
    {"kind": "value", "of": "mean", "where": {"model": ["A"]}, "is": {"op": ">", "number": 80}},
    {"kind": "value", "of": "mean", "for": {"model": "*"}, "is": {"op": ">", "number": 1}},
]


def layers(found: dict[str, Any]) -> tuple[str, str, str | None]:
    return found["as_posted"], found["beyond_noise"], found["reason"]


def test_grids_that_differ_in_a_binding_key_are_not_put_together(subtests: Any) -> None:
    for claim in TOGETHER:
        with subtests.test(claim=claim):
            found = judged(DIFFERENT, claim)
            assert layers(found) == NOT_COMPARABLE
            assert "the protocols differ in shots (5 and 3)" in found["sentence"]
            assert (found["warnings"], found["robust_to_missing"]) == ([], None)
            assert judged(facts(SHOTS, ("A", "X", FIVE), ("B", "X", FIVE)), claim)["as_posted"] == "supported"
            assert judged(facts(Rules(), ("A", "X", FIVE), ("B", "X", FIVE)), claim)["warnings"] == []
    for claim in APART:
        with subtests.test("of each grid by itself", claim=claim):
            found = judged(DIFFERENT, claim)
            assert (found["as_posted"], found["warnings"]) == ("supported", [])


def test_protocols_are_looked_at_within_a_benchmark_and_of_the_two_sides() -> None:
    crossed = facts(SHOTS, ("A", "X", FIVE), ("B", "X", FIVE), ("A", "Y", THREE), ("B", "Y", THREE), ("C", "X", THREE))
    assert judged(crossed, COMPARE)["verdict"] == "supported"
    assert judged(crossed, RANK)["reason"] == "not_comparable"
    assert judged(crossed, RANK | {"where": {"model": ["A", "B"]}})["verdict"] == "supported"
    each = judged(crossed, RANK | {"for": {"benchmark": "*"}, "holds": "any"})
    assert (each["verdict"], [one["reason"] for one in each["parts"]]) == ("supported", ["not_comparable", None])


def test_what_a_third_grid_says_otherwise_is_found_whatever_the_order() -> None:
    silent = {"harness": "h"}
    for order in ([silent, FIVE, THREE], [FIVE, silent, THREE], [FIVE, THREE, silent]):
        three = facts(SHOTS, *zip("ABC", "XXX", order, strict=True))
        assert judged(three, RANK)["reason"] == "not_comparable", order


def test_a_protocol_that_is_required_and_not_said_is_an_obstacle() -> None:
    required = Rules(binding=("shots",), required=True)
    found = judged(facts(required, ("A", "X", FIVE), ("B", "X", None)), COMPARE)
    assert layers(found) == NOT_COMPARABLE
    assert "B does not say shots, which the experiment requires" in found["sentence"]
    assert judged(facts(required, ("A", "X", None), ("B", "X", None)), COMPARE)["reason"] == "not_comparable"
    assert judged(facts(required, ("A", "X", None), ("B", "X", None), derived=True), COMPARE)["verdict"] == "supported"


def test_other_differences_and_unknown_protocols_are_warned_of() -> None:
    found = judged(facts(SHOTS, ("A", "X", FIVE), ("B", "X", {"shots": 5, "harness": "new"})), COMPARE)
    [warning] = found["warnings"]
    assert (found["verdict"], warning["code"]) == ("supported", "protocol_differs")
    assert "differ in harness" in warning["detail"]
    silent = facts(SHOTS, ("A", "X", FIVE), ("B", "X", None))
    unsaid = judged(silent, COMPARE)
    detail = "1 of 2 grids do not say shots; they are compared all the same."
    assert (unsaid["verdict"], unsaid["warnings"]) == ("supported", [{"code": "protocol_unknown", "detail": detail}])
    both = {"kind": "all_of", "claims": [COMPARE, RANK]}
    assert judged(silent, both)["warnings"] == unsaid["warnings"]
    assert "as posted, the protocols differ in shots (5 and 3): 0 of 2" in judged(DIFFERENT, both)["sentence"]


def cell(value: float, revision: int = 1, **content: Any) -> Facts:
    return Facts.of([source(table([[value]], ["1"], [0.0], **content))._replace(revision=revision)])


def ends(facts: Facts, looks: str, **more: Any) -> tuple[float, float]:
    found = judged(facts, {"kind": "value", "is": {"op": ">", "number": 0}, "looks": looks, **more})
    numbers = found["parts"][0]["numbers"]
    return numbers["low"], numbers["high"]


def test_every_revision_spends_a_share_of_alpha() -> None:
    for revision in (1, 2, 7):
        low, high = ends(cell(52.0, revision, trials=150), "every_revision")
        tail = 0.05 * 6 / (math.pi * revision) ** 2 / 2
        assert binom.sf(77, 150, low / 100) == pytest.approx(tail)
        assert binom.cdf(78, 150, high / 100) == pytest.approx(tail)
    assert sum(6 / (math.pi * k) ** 2 for k in range(1, 100_000)) == pytest.approx(1, abs=1e-5)


def test_a_trend_spends_its_share_too() -> None:
    series = table([[60.0, 63.0, 66.0, 70.0, 73.0]], ["1"], range(5), trials=300)
    claim = {"kind": "trend", "along": "L", "goes": "up", "looks": "every_revision"}
    verdicts = [judged(Facts.of([source(series)._replace(revision=k)]), claim)["beyond_noise"] for k in (1, 500)]
    assert verdicts == ["supported", "not_decidable"]


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
