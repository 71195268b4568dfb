"""Worlds with a known truth, in which every word, interval and set of the service is counted right or wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

Chance = np.random.Generator
Outcome = tuple[int, int]
"""Events, and how many there could have been, in one simulated world."""


@dataclass(frozen=True)
class Scenario:
    """A statement in a setting: how often `run` has an event, against what the statement promises.

    `limit` bounds the share of events from above (`at_most`) or below (`at_least`); `shown` promises nothing: the
    rate is published as it is. `runs` are the worlds that the published rate counts.
    """

    statement: str
    setting: str
    sense: Literal["at_most", "at_least", "shown"]
    limit: float | None
    run: Callable[[Chance], Outcome]
    runs: int = 1_000

    @property
    def name(self) -> str:
        return f"{self.statement} | {self.setting}"


def all_scenarios() -> list[Scenario]:
    """Every scenario, in the order of the published page."""
    from bench.scenarios import aggregates, best, claims, items, rankings, series, tables

    parts = (series, tables, aggregates, best, rankings, items, claims)
    return [scenario for part in parts for scenario in part.SCENARIOS]
