"""What is decided of noisy cells holds for every value that noise leaves possible."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from registry.claims.grammar import read_claim
from registry.grids.grid import Grid
from tests.workers.claims.scenes import denied, table, with_about
from tests.workers.claims.test_verdicts_keep_laws import RATIOS, SCALE, SEEDS, TURNED, claims, facts, grid
from workers.claims.judgement import judge_claim

pytestmark = pytest.mark.unit

ERROR = 0.9


def answer(one: Grid, claim: dict[str, Any], layer: Any) -> str:
    return judge_claim(read_claim(with_about(claim)), facts(one, claim)).answers[layer]


def moved(one: Grid, measured: Iterator[float]) -> Grid:
    return replace(one, values=tuple(None if value is None else next(measured) for value in one.values))


def several_named(claim: dict[str, Any]) -> bool:
    """Noisy numbers show of several that the best is among them, and not that they tie."""
    return claim["kind"] == "extreme" and len(claim["at"]) > 1


@pytest.mark.parametrize("seed", SEEDS)
def test_a_verdict_holds_within_the_ellipsoid(seed: int) -> None:
    """Every interval of a sum has all that the ellipsoid of 1.96 standard errors gives to it, and more where several
    are looked at; the limits of single cells have that as well."""
    chance, one = np.random.default_rng(seed), grid(seed, holes=0.15)
    known = np.array([value for value in one.values if value is not None])
    decided = 0
    for claim in [*claims(seed), *RATIOS]:
        told = answer(one, claim, "noise")
        if told == "not_decidable" or several_named(claim):
            continue
        decided += 1
        for _ in range(12):
            way = chance.standard_normal(known.size)
            near = known + norm.isf(0.0249) * 0.999 * ERROR * way / np.linalg.norm(way)
            assert answer(moved(one, iter(near.tolist())), claim, "posted") == told, claim
    assert decided >= 4


SINGLE: list[dict[str, Any]] = [
    {"kind": "value", "of": "min", "is": {"op": "<", "number": 44}},
    {"kind": "value", "of": "max", "is": {"op": ">", "number": 53}},
    {"kind": "value", "of": "sd", "is": {"op": "<", "number": 11}},
    {"kind": "stable", "along": "L", "where": {"T": ["1"]}, "within": 14},
    {"kind": "cells", "is": {"op": ">", "number": 47.5}, "cells_hold": {"at_least": 2}},
    {"kind": "cells", "is": {"op": "<", "number": 59}, "cells_hold": {"at_least": 3}},
    {"kind": "lie", "matching": {"op": ">", "number": 48}, "inside": [{"L": {"to": 1}}], "cells_hold": {"at_least": 2}},
    {"kind": "lie", "highest": 4, "inside": [{"T": ["1"]}], "cells_hold": {"at_least": 2}},
    {"kind": "trend", "along": "L", "where": {"T": ["1"]}, "goes": "down"},
    {"kind": "trend", "along": "L", "where": {"T": ["1"]}, "goes": "flat", "margin": 14},
]


def test_a_verdict_on_single_cells_holds_in_every_corner() -> None:
    """Four measured cells at both ends of their simultaneous limits: 16 corners."""
    one = table([[57.0, 52.0, None], [None, 50.0, 42.0]], ["1", "2"], [0, 1, 2], stderr=(ERROR,) * 6, metric=SCALE)
    known = np.array([57.0, 52.0, 50.0, 42.0])
    reach = norm.isf((1 - 0.95 ** (1 / 4)) / 2) * ERROR
    corners = list(itertools.product((-reach, reach), repeat=4))
    supported = 0
    for claim in SINGLE:
        found = {answer(moved(one, iter((known + way).tolist())), claim, "posted") for way in corners}
        for said, answers in ((claim, found), (denied(claim), {TURNED[each] for each in found})):
            told = answer(one, said, "noise")
            supported += told == "supported"
            assert told in (*answers, "not_decidable"), said
            if told != "not_decidable":
                assert answers == {told}, said
    assert supported >= 6
