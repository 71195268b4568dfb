"""Claims that are looked at after every revision; how often twenty looks are wrong is in `bench/scenarios`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from tests.workers.claims.scenes import judged, source, table
from workers.claims.facts import Facts

pytestmark = pytest.mark.unit


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
