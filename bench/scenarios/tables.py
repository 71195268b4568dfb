"""Statements about whole tables: whether an axis matters, whether the axes interact."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.special import expit, logit

from bench.scenarios import Chance, Outcome, Scenario
from bench.scenarios.worlds import proportions
from workers.statistics.sensitivity import sensitivity
from workers.statistics.table import Table


def additive(rows: int, columns: int, low: float, high: float) -> np.ndarray:
    """Proportions that add up on the logit scale."""
    span = logit(high) - logit(low)
    effects = np.linspace(0, span / 2, rows)[:, None] + np.linspace(0, span / 2, columns)
    return np.asarray(expit(logit(low) + effects))


def interacts(truth: np.ndarray, n: int, chance: Chance) -> Outcome:
    rest = sensitivity(Table.of(proportions(chance, truth, n))).residual
    return int(bool(rest and rest.logit and rest.logit.p < 0.05)), 1


def matters(truth: np.ndarray, n: int, chance: Chance) -> Outcome:
    axes = sensitivity(Table.of(proportions(chance, truth, n))).axes
    p = axes["x"].p if axes else None
    return int(p is not None and p < 0.05), 1


def _scenarios() -> Iterator[Scenario]:
    for n in (30, 100, 300):
        for low, high in ((0.5, 0.99), (0.3, 0.7), (0.9, 0.99)):
            run = partial(interacts, additive(7, 10, low, high), n)
            setting = f"7 × 10 logit-additive from {low} to {high}, n {n}"
            yield Scenario("an interaction (p < .05) though there is none", setting, "at_most", 0.06, run)
            truth = np.repeat(additive(7, 1, low, high), 10, axis=1)
            setting = f"7 × 10, rows from {low} to {high}, n {n}"
            yield Scenario(
                "an axis matters (p < .05) though it does not", setting, "at_most", 0.06, partial(matters, truth, n)
            )


SCENARIOS = list(_scenarios())
