"""A sweet spot weighed: which of its evidence supports the favourite, and which does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from registry.renderings.numbers import p_value
from registry.renderings.sweet_spot import criteria_of
from registry.renderings.words import counted, label, places, said
from registry.results.sweet_spot import SweetSpot
from registry.results.terms import At

ALPHA = 0.05
Weighed = tuple[bool, str]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The favourite by mean rank, and sentences for and against it."""

    favourite: str
    support: list[str]
    doubt: list[str]


def evidence_of(document: SweetSpot) -> Evidence | None:
    """The evidence about a sweet spot; None where there is no favourite."""
    best = document.mean_rank
    if document.status != "ok" or best is None:
        return None
    weighed = [*_criteria(document, best.at), *_chance(document), *_margins(document), *_beaten(document)]
    weighed += [(False, warning.detail) for warning in document.warnings]
    support = [told for supports, told in weighed if supports]
    return Evidence(places(best.at), support, [told for supports, told in weighed if not supports])


def _criteria(document: SweetSpot, favourite: Sequence[At]) -> Iterator[Weighed]:
    """Whether other criteria favour another coordinate."""
    known = criteria_of(document)
    others = [(name, found) for name, found in known if not any(at in favourite for at in found.at)]
    yield not others, f"{len(known) - len(others)} of {len(known)} criteria favour it"
    for name, found in others:
        yield False, f"{said(name).capitalize()} favours {places(found.at)}"


def _chance(document: SweetSpot) -> Iterator[Weighed]:
    """Whether chance would do the same."""
    p, common = document.best_rank_p, document.common_cells
    if p is not None:
        yield p < ALPHA, f"So low a mean rank for some cell of {common} by chance: p at most {p_value(p)}"
    peak = document.agreement
    if peak:
        grids = f"{peak.grids} of {counted(document.grids, 'grid', 'grids')}"
        shared = f"The most common peak is shared by {grids}"
        yield (
            peak.p < ALPHA,
            f"{shared}, at {places(peak.at)}; by chance: p at most {p_value(peak.p)}",
        )


def _margins(document: SweetSpot) -> Iterator[Weighed]:
    """Whether the levels of each axis can be told apart."""
    for axis, margin in (document.axes or {}).items():
        test, counts = margin.friedman, margin.best_count
        exact = test.exact_p
        p = exact if exact is not None else test.p
        top = [label(level) for level, count in zip(margin.levels, counts, strict=True) if count == max(counts)]
        verb = "is" if len(top) == 1 else "are"
        where = f"{axis} {' and '.join(top)} {verb} best in {max(counts)} of {document.grids} grids"
        if p is None:
            yield False, f"{axis} cannot be tested: {test.reason or 'too little'}"
        else:
            law = "exact Friedman" if exact is not None else "Friedman"
            told = f"{where} ({law} p {p_value(p)})"
            yield p < ALPHA, told if p < ALPHA else f"That the levels of {axis} differ was not shown: {told}"


def _beaten(document: SweetSpot) -> Iterator[Weighed]:
    count = document.pareto_count
    if count:
        one = count == 1
        rest = "no other cell is as good anywhere" if one else f"{count:,} cells are not beaten everywhere by another"
        yield one, rest.capitalize() if one else rest
