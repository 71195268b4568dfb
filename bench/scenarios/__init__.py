"""Worlds with a known truth, in which every word, interval and set of the service is counted right or wrong."""

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


def scenarios_by_part() -> dict[str, list[Scenario]]:
    """Every scenario under the heading of the published page that it stands under."""
    from bench.scenarios import (
        aggregates,
        best,
        claims,
        courses,
        decisions,
        items,
        places,
        rankings,
        reports,
        series,
        tables,
    )

    return {
        "Reports": reports.SCENARIOS,
        "Series": series.SCENARIOS,
        "Places of a series": places.SCENARIOS,
        "Courses that are no lines": courses.SCENARIOS,
        "Axes and their interaction": tables.SCENARIOS,
        "Entries of a table of many grids": aggregates.SCENARIOS,
        "The best cell": best.SCENARIOS,
        "Rankings": rankings.SCENARIOS,
        "Comparisons, gates and trade-offs": decisions.SCENARIOS,
        "Models on the same items": items.SCENARIOS,
        "Claims": claims.SCENARIOS,
    }


def all_scenarios() -> list[Scenario]:
    """Every scenario, in the order of the published page."""
    return [scenario for part in scenarios_by_part().values() for scenario in part]
