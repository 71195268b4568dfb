"""Answer queries about claims from the rows of a scope: judge them, or plan the measurement that decides one.

Equal inputs give equal bytes. A plan asks for cells that are missing, then for trials.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import orjson

from registry.claims.claim import Claim, Compare, Rank, Value
from registry.claims.dimensions import names_in
from registry.claims.grammar import read_claim
from registry.claims.normal import digest_of, normal_form
from registry.claims.reading import nearby
from registry.claims.wording import stated
from registry.grids.protocol import Rules
from registry.plans.closed_forms import whole
from registry.query import ClaimPlanQuery, ClaimsQuery
from registry.results.codec import to_document
from registry.results.judgement import (
    MOST_INPUTS,
    ClaimInput,
    ClaimNumbers,
    JudgedPart,
    Judgement,
    NamedCell,
    TrialsNeeded,
    Verdict,
)
from registry.results.plans import Impossible, NextCell, Plan
from registry.results.terms import RUNS_APART, Warning
from registry.storage.rows import grid_of
from workers.claims.facts import Facts, Source, trials_of
from workers.claims.judgement import Group, Judged, judge_claim, warnings_of
from workers.claims.telling import WHY, sentence, with_few_repeats, with_left_out, with_more_trials
from workers.claims.trials import NoisyClaim, noisy_claim, trials_needed
from workers.scope import canonical_names, matches
from workers.statistics.judging import Span
from workers.statistics.table import place_of

MOST_CELLS = 1_000_000
"""Cells of all grids that claims are read with; claims that name benchmark, model or variant read those grids only."""
MOST_PARTS = 100


def claims_document(
    query: ClaimsQuery,
    rows: Sequence[Any],
    aliases: Mapping[tuple[str, str], str],
    rules: Rules,
) -> dict[str, Any]:
    """Verdicts on all claims of the query by these grids, under what the experiment declares of protocols."""
    judged = judged_claims(query, rows, aliases, rules)
    told = tuple(judgement_of(one, trials_needed(one)) for one in judged)
    return {"experiment": query.experiment, "metric": query.metric, "judgements": to_document(told)}


def judged_claims(
    query: ClaimsQuery, rows: Sequence[Any], aliases: Mapping[tuple[str, str], str], rules: Rules
) -> Iterator[Judged]:
    """The claims of the query with the answers of all layers, one after the other."""
    facts = Facts.of(sources_of([row for row in rows if matches(query, canonical_names(row, aliases))], aliases), rules)
    for text in query.claims:
        yield judge_claim(read_claim(orjson.loads(text)), facts)


def sources_of(rows: Sequence[Any], aliases: Mapping[tuple[str, str], str]) -> list[Source]:
    """The grids in rows of revisions, in the order of their names."""
    sources = [
        Source(
            canonical_names(row, aliases), str(row.id), row.number, f"sha256:{bytes(row.digest).hex()}", grid_of(row)
        )
        for row in rows
    ]
    return sorted(sources, key=lambda one: (*(one.names[kind] for kind in sorted(one.names)), one.id))


def judgement_of(judged: Judged, needed: TrialsNeeded | None = None) -> Judgement:
    """The verdict with its numbers, inputs and sentence, and the trials `needed` to decide it."""
    claim = judged.claim
    posted, noise = (_verdict(judged, layer) for layer in ("posted", "noise"))
    headline = noise if claim.strength == "noise" else posted
    decided = posted in ("supported", "contradicted")
    robust = _verdict(judged, "declared") == posted if decided else None
    left_out = next((one.left_out for one in judged.groups if one.left_out), "") if robust else ""
    every = [_part(one) for one in judged.groups]
    return Judgement(
        claim=normal_form(claim),
        digest=digest_of(claim),
        verdict=headline,
        as_posted=posted,
        beyond_noise=noise,
        reason=_reason(judged, headline, noise),
        robust_to_missing=None if left_out else robust,
        depends_on_reading=_verdict(judged, "bare") != posted,
        alpha=claim.alpha,
        parts=tuple(every[:MOST_PARTS]),
        parts_left_out=max(0, len(every) - MOST_PARTS),
        inputs=tuple(_inputs(judged))[:MOST_INPUTS],
        sentence=sentence(judged, every, posted, noise)
        + with_left_out(left_out)
        + with_few_repeats(judged)
        + with_more_trials(needed, judged),
        trials_needed=needed,
        look=None if claim.looks == "fixed" else judged.look.number,
        warnings=(
            *unknown_names(claim, judged.facts.known),
            *warnings_of(judged.facts, (owners for group in judged.groups for owners in group.together)),
            *([RUNS_APART] if any(map(_adds_up_runs, judged.groups)) else []),
        ),
    )


def unknown_names(claim: Claim, known: Mapping[str, Collection[str]]) -> Iterator[Warning]:
    """A warning for each name that no grid has: it may be published later, or be misspelt."""
    for kind, name in names_in(claim):
        if name not in known[kind]:
            yield Warning("unknown_name", f'No grid here has the {kind} "{name}"{nearby(name, known[kind]) or "."}')


def _adds_up_runs(group: Group) -> bool:
    """Whether it is about means over several cells of repeats, and a run that moves all of them does not cancel."""
    says, errors = group.atom.says, group.facts.errors.at(group.cells)
    by_runs = group.cells[(errors.n == 0) & np.isfinite(errors.df) & (errors.stderr > 0)]
    runs = Counter[tuple[str, str]]()
    for owner, count in zip(*np.unique(group.facts.owner[by_runs], return_counts=True), strict=True):
        names = group.facts.sources[owner].names
        runs[names["model"], names["variant"]] += int(count)
    summed = isinstance(says, Value) and says.of == "mean"
    apart = isinstance(says, Compare | Rank) and len(runs) > 1
    return (summed or apart) and max(runs.values(), default=0) > 1


def _verdict(judged: Judged, layer: Any) -> Verdict:
    return "ill_posed" if judged.ill_posed else judged.answers[layer]


def _reason(judged: Judged, headline: Verdict, noise: Verdict) -> str | None:
    """Why the headline is not decided, else why noise does not decide."""
    layer: Any = "posted" if headline == "not_decidable" and judged.claim.strength == "numbers" else "noise"
    if "not_decidable" not in (headline, noise):
        return None
    if not judged.groups:
        return "not_published"
    found = (one.found[layer].reason for one in judged.groups)
    return next((reason for reason in found if reason), "missing_cells")


def _part(group: Group) -> JudgedPart:
    posted, noise = group.found["posted"], group.found["noise"]
    span = posted.span
    facts = _numbers(noise.span)
    return JudgedPart(
        part=group.pointer,
        group=group.levels,
        as_posted=posted.answer,
        beyond_noise=noise.answer,
        reason=posted.reason or noise.reason,
        numbers=ClaimNumbers(
            estimate=span.low if span is not None and span.low == span.high and math.isfinite(span.low) else None,
            low=facts[0],
            high=facts[1],
            compared_with=stated(group.atom.says),
            cells=_named(group),
            over=posted.over or None,
            out_of=posted.total,
        ),
    )


def _numbers(span: Span | None) -> tuple[float | None, float | None]:
    if span is None:
        return None, None
    low, high = (end if math.isfinite(end) else None for end in (span.low, span.high))
    return low, high


def _named(group: Group) -> tuple[NamedCell, ...]:
    facts = group.facts
    measured = [cell for cell in group.found["posted"].cells if facts.present[cell]]
    return tuple(NamedCell(facts.place(cell), float(facts.value(cell))) for cell in measured)


def _inputs(judged: Judged) -> list[ClaimInput]:
    owners = sorted({int(owner) for group in judged.groups for owner in judged.facts.owner[group.cells]})
    sources = [judged.facts.sources[owner] for owner in owners]
    return [ClaimInput(one.id, one.revision, one.digest) for one in sources]


MOST_NEXT_CELLS = 1_000
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
) -> dict[str, Any]:
    """The plan for the only claim of the query by these grids."""
    [judged] = judged_claims(query, rows, aliases, rules)
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
        plan = replace(plan, needed=needed.needed, impossible=needed.impossible, reason=needed.why)
        if needed.needed is None or needed.needed.factor is None:
            return plan
        assumed = (*_ASSUMED, "normal_law") if needed.one_sum else _ASSUMED
        return replace(plan, assumptions=assumed, total=_total(open_part, needed.needed.factor))
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
        and "missing_cells" in (one.found["noise"].reason, one.found["posted"].reason)
    ]
    missing = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *parts]))
    if not missing.size:
        return plan
    left_out = max(0, missing.size - MOST_NEXT_CELLS)
    listed = tuple(_next_cell(facts, cell) for cell in missing[:MOST_NEXT_CELLS].tolist())
    return replace(plan, next_cells=listed, next_cells_left_out=left_out or None)


def _next_cell(facts: Facts, cell: int) -> NextCell:
    source = facts.sources[int(facts.owner[cell])]
    names = source.names
    return NextCell(source.id, names["benchmark"], names["model"], _at(facts, cell), "missing_for_claim")


def _at(facts: Facts, cell: int) -> dict[str, Any]:
    grid = facts.sources[int(facts.owner[cell])].grid
    places = grid.position(int(facts.index[cell]))
    return {axis.name: place_of(axis, place) for axis, place in zip(grid.axes, places, strict=True)}


def _total(claim: NoisyClaim, factor: float) -> int | None:
    """Trials to add until each cell has so many times its own."""
    given = [trials_of(claim.judged.facts, cell) for cell in claim.cells.tolist()]
    more = [whole((factor - 1) * count) for count in given if count]
    known = [count for count in more if count is not None]
    return whole(sum(known)) if len(known) == len(given) else None
