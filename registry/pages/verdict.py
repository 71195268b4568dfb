"""A sweet spot weighed: which of its evidence supports the favourite, and which does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from registry.renderings.numbers import p_value
from registry.renderings.sweet_spot import CRITERIA
from registry.renderings.words import counted, label, places, said

Document = Mapping[str, Any]
ALPHA = 0.05
Weighed = tuple[bool, str]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The favourite by mean rank, and sentences for and against it."""

    favourite: str
    support: list[str]
    doubt: list[str]


def verdict_of(document: Document) -> Verdict | None:
    """The verdict on a sweet spot; None where there is no favourite."""
    best = document.get("mean_rank")
    if document.get("status") != "ok" or not best:
        return None
    weighed = [*_criteria(document, best["at"]), *_chance(document), *_margins(document), *_beaten(document)]
    support = [told for supports, told in weighed if supports]
    return Verdict(places(best["at"]), support, [told for supports, told in weighed if not supports])


def _criteria(document: Document, favourite: Any) -> Iterator[Weighed]:
    """Whether other criteria favour another coordinate."""
    known = [name for name in CRITERIA if document.get(name)]
    same = [name for name in known if any(at in favourite for at in document[name]["at"])]
    yield len(same) == len(known), f"{len(same)} of {len(known)} criteria favour it"
    for name in known:
        if name not in same:
            yield False, f"{said(name).capitalize()} favours {places(document[name]['at'])}"


def _chance(document: Document) -> Iterator[Weighed]:
    """Whether chance would do the same."""
    p, common = document.get("best_rank_p"), document.get("common_cells", 0)
    if p is not None:
        yield p < ALPHA, f"So low a mean rank for some cell of {common} by chance: p at most {p_value(p)}"
    agreement = document.get("agreement")
    if agreement:
        grids = f"{agreement['grids']} of {counted(document.get('grids', 0), 'grid', 'grids')}"
        shared = f"The most common peak is shared by {grids}"
        yield (
            agreement["p"] < ALPHA,
            f"{shared}, at {places(agreement['at'])}; by chance: p at most {p_value(agreement['p'])}",
        )


def _margins(document: Document) -> Iterator[Weighed]:
    """Whether the levels of each axis can be told apart."""
    for axis, margin in (document.get("axes") or {}).items():
        test = margin.get("friedman") or {}
        exact = test.get("exact_p")
        p = exact if exact is not None else test.get("p")
        counts = margin["best_count"]
        top = [label(level) for level, count in zip(margin["levels"], counts, strict=True) if count == max(counts)]
        verb = "is" if len(top) == 1 else "are"
        where = f"{axis} {' and '.join(top)} {verb} best in {max(counts)} of {document['grids']} grids"
        if p is None:
            yield False, f"{axis} cannot be tested: {test.get('reason') or 'too little'}"
        else:
            law = "exact Friedman" if exact is not None else "Friedman"
            told = f"{where} ({law} p {p_value(p)})"
            yield p < ALPHA, told if p < ALPHA else f"That the levels of {axis} differ was not shown: {told}"


def _beaten(document: Document) -> Iterator[Weighed]:
    count = document.get("pareto_count") or 0
    if count:
        one = count == 1
        rest = "no other cell is as good anywhere" if one else f"{count} cells are not beaten everywhere by another"
        yield one, rest.capitalize() if one else rest
