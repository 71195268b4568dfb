"""The verdict on a sweet spot."""

from __future__ import annotations

from registry.renderings.numbers import p_value
from registry.renderings.verdicts.terms import Verdict, sentence, slice_words
from registry.renderings.words import counted, places
from registry.results.sweet_spot import SweetSpot

ALPHA = 0.05


def sweet_spot_verdict(document: SweetSpot) -> Verdict:
    """Whether one coordinate is shown to serve all grids, by its mean rank."""
    best, p = document.mean_rank, document.best_rank_p
    if document.status != "ok" or best is None:
        return Verdict("none", sentence(f"There is no sweet spot: {document.reason or 'no cell has a rank'}"))
    where, grids = places(best.at, most=2), counted(document.grids, "grid", "grids")
    over = f"of the {counted(document.common_cells, 'cell', 'cells')} that all have{slice_words(document.slice)}"
    if p is not None and p < ALPHA:
        verb = "serves" if len(best.at) == 1 else "serve"
        told = f"{where} {verb} these {grids} best: the lowest mean rank {over}, by chance with p at most {p_value(p)}"
        return Verdict("shown", sentence(told))
    chance = f", which chance alone gives with p at most {p_value(p)}" if p is not None else ", which was not tested"
    have = "has" if len(best.at) == 1 else "have"
    told = f"No coordinate is shown to serve these {grids} best: {where} {have} the lowest mean rank {over}{chance}"
    return Verdict("open", sentence(told))
