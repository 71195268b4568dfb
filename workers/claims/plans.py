"""Plan the next measurement that decides a claim: cells that are missing, then trials, and how these are split.

Of a claim that hangs on one sum of cells the trials are split by Neyman (1934), as |factor of the cell| times the
standard deviation of one of its trials, which makes the variance of the sum smallest; how many there are in all is
found by judging again. With posted standard errors that is (sum of these products)^2 x ((z(1 - alpha/2) + z(power)) /
distance)^2. A rate of 0 or 1 of n trials has the deviation of (k + 1/2) / (n + 1), as no trials else would go to it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from registry.grids.protocol import Rules
from registry.plans.closed_forms import shares_of_contrast, whole
from registry.query import ClaimPlanQuery
from registry.results.codec import to_document
from registry.results.judgement import Growth, TrialsNeeded
from registry.results.plans import Impossible, Needed, NextCell, Plan, PlannedShare
from workers.claims.answer import judged_claims
from workers.claims.facts import Facts, trials_of, variances_of
from workers.claims.judgement import Judged
from workers.claims.telling import WHY
from workers.claims.trials import NoisyClaim, noisy_claim, trials_needed
from workers.statistics.table import place_of
from workers.statistics.terms import FloatArray, IntArray

MOST_CELLS = 1_000
"""Cells to be measured first that a plan lists."""
_FORMULA = "judged again with more trials; one sum: n x ((z(1 - alpha/2) + z(power)) x stderr / distance)^2"
_ASSUMED = ("independent_cells", "equal_scaling", "posted_numbers")
_CODES: Mapping[str, Impossible] = {
    "noise_unknown": "unknown_noise",
    "not_comparable": "not_comparable",
    "no_direction": "no_direction",
    "too_large": "too_large",
}
"""Of the reasons for which a claim is open; any other is `not_noise`."""


def claim_plan_document(
    query: ClaimPlanQuery,
    rows: Sequence[Any],
    aliases: Mapping[tuple[str, str], str],
    rules: Rules,
    former: Sequence[Any],
) -> dict[str, Any]:
    """The plan for the only claim of the query by these grids."""
    [judged] = judged_claims(query, rows, aliases, rules, former)
    plan = to_document(plan_of_claim(judged, query.power))
    return {"experiment": query.experiment, "metric": query.metric, "plan": plan}


def plan_of_claim(judged: Judged, power: float) -> Plan:
    """Plan what decides a claim beyond noise with this probability."""
    decided = not judged.ill_posed and judged.answers["noise"] != "not_decidable"
    plan = Plan("claim", power, judged.claim.alpha, one_sided=False, formula=_FORMULA, decidable_now=decided)
    if decided:
        return plan
    if judged.ill_posed:
        return _impossible(plan, "not_noise", "no results can decide this sentence")
    plan = _with_missing(plan, judged)
    needed, open_part = trials_needed(judged, power), noisy_claim(judged, power)
    if needed is not None and open_part is not None:
        return _with_trials(plan, needed, open_part)
    if plan.next_cells:
        return plan
    reason = next((one.found["noise"].reason for one in judged.groups if one.found["noise"].reason), "not_published")
    return _impossible(plan, _CODES.get(reason, "not_noise"), WHY[reason])


def _impossible(plan: Plan, code: Impossible, reason: str) -> Plan:
    return replace(plan, impossible=code, reason=reason)


def _with_missing(plan: Plan, judged: Judged) -> Plan:
    """The plan with the cells that were not measured of the statements which these leave open."""
    facts = judged.facts
    parts = [
        one.cells[~facts.present[one.cells]]
        for one in judged.groups
        if one.found["noise"].answer == "not_decidable"
        and (one.free or "missing_cells" in (one.found["noise"].reason, one.found["posted"].reason))
    ]
    missing = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *parts]))
    if not missing.size:
        return plan
    left_out = max(0, missing.size - MOST_CELLS)
    listed = tuple(_next_cell(facts, cell) for cell in missing[:MOST_CELLS].tolist())
    return replace(plan, next_cells=listed, next_cells_left_out=left_out or None)


def _next_cell(facts: Facts, cell: int) -> NextCell:
    source = facts.sources[int(facts.owner[cell])]
    names = source.names
    return NextCell(source.id, names["benchmark"], names["model"], _at(facts, cell), "missing_for_claim")


def _at(facts: Facts, cell: int) -> dict[str, Any]:
    grid = facts.sources[int(facts.owner[cell])].grid
    places = grid.position(int(facts.index[cell]))
    return {axis.name: place_of(axis, place) for axis, place in zip(grid.axes, places, strict=True)}


def _with_trials(plan: Plan, told: TrialsNeeded, claim: NoisyClaim) -> Plan:
    plan = replace(plan, needed=_needed(told.needed), cautious=_needed(told.cautious))
    plan = replace(plan, impossible=told.impossible, reason=told.why)
    if told.needed is None:
        return plan
    plan = replace(plan, assumptions=_ASSUMED)
    weighed = _Sum.of(claim) if told.one_sum else None
    if weighed is not None:
        return replace(weighed.allocated(plan, claim), assumptions=(*_ASSUMED, "normal_law"))
    return replace(plan, total=_total(claim, told.needed.factor))


def _needed(growth: Growth | None) -> Needed | None:
    return None if growth is None else Needed(factor=growth.factor, trials=growth.trials)


def _total(claim: NoisyClaim, factor: float) -> int | None:
    """Trials of all cells where each gets so many times its own."""
    given = [trials_of(claim.judged.facts, cell) for cell in claim.cells.tolist()]
    more = [whole(factor * count) for count in given if count]
    known = [count for count in more if count is not None]
    return whole(sum(known)) if len(known) == len(given) else None


@dataclass(frozen=True)
class _Sum:
    """A sum of cells: their factors, trials and standard deviations of one trial."""

    cells: IntArray
    factors: FloatArray
    trials: FloatArray
    deviations: FloatArray

    @classmethod
    def of(cls, claim: NoisyClaim) -> _Sum | None:
        """That which a claim hangs on; None where trials or noise of a cell are not known."""
        facts, factors = claim.judged.facts, dict[int, float]()
        for cell, factor in claim.total or ():
            factors[cell] = factors.get(cell, 0.0) + float(factor)
        cells = np.array([cell for cell, factor in factors.items() if factor], dtype=np.int64)
        trials = np.array([trials_of(facts, cell) or 0 for cell in cells.tolist()], dtype=np.float64)
        errors = facts.errors.at(cells)
        if not cells.size or not trials.all() or not np.all((errors.n > 0) | np.isfinite(errors.stderr)):
            return None
        extreme = (errors.n > 0) & ((errors.values <= 0) | (errors.values >= errors.whole))
        share = np.where(errors.values > 0, errors.n + 0.5, 0.5) / (errors.n + 1)
        shrunk = share * (1 - share) / np.where(errors.n > 0, errors.n, 1.0) * errors.whole**2
        variances = np.where(extreme, shrunk, variances_of(facts.errors, cells))
        deviations = np.sqrt(variances * trials)
        return cls(cells, np.array([factors[cell] for cell in cells.tolist()]), trials, deviations)

    def allocated(self, plan: Plan, claim: NoisyClaim) -> Plan:
        """The plan with the fewest trials that decide the claim, if they are split so."""
        facts = claim.judged.facts
        shares = shares_of_contrast(self.factors.tolist(), self.deviations.tolist())
        given = float(np.sum(self.trials))
        multiples = np.ones(facts.present.size)
        multiples[self.cells] = np.array([share or 1 / given for share in shares]) * given / self.trials
        times = claim.smallest_split(claim.total or (), multiples)
        least = [None if times is None else whole(max(1.0, share * given * times)) for share in shares]
        known = [count for count in least if count is not None]
        total = whole(math.fsum(known)) if len(known) == len(least) else None
        planned = [
            _share(facts, cell, share, (now, trials))
            for cell, share, now, trials in zip(self.cells.tolist(), shares, self.trials.tolist(), least, strict=True)
        ]
        return replace(plan, total=total, allocation=tuple(sorted(planned, key=lambda one: -one.share)))


def _share(facts: Facts, cell: int, share: float, trials: tuple[float, int | None]) -> PlannedShare:
    source = facts.sources[int(facts.owner[cell])]
    names = source.names
    return PlannedShare(share, 1, (source.id,), names["benchmark"], names["model"], _at(facts, cell), *trials)
