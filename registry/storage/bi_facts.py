"""What SQL tools read of a finished document: a few lists, in an order that the views of the schema `bi` know.

Documents are kept compressed, and PostgreSQL cannot inflate them; the facts stand beside them, small enough for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Document = Mapping[str, Any]
_MOST_SERIES, _MOST_CELLS = 200, 40


def facts_of_statistics(document: Document) -> dict[str, Any]:
    """Of a grid's statistics: coverage, a list for each series, and one for each best or tied cell."""
    coverage = document.get("coverage") or {}
    return {
        "coverage": [coverage.get("cells"), coverage.get("possible"), coverage.get("component_count")],
        "trends": [_trend(one) for one in (document.get("series") or ())[:_MOST_SERIES]],
        "peaks": _peaks(document.get("peaks") or {}),
    }


def _trend(one: Document) -> list[Any]:
    interval, shape = one.get("slope_interval") or {}, one.get("shape") or {}
    steps = [step.get("sharp") for step in one.get("changes") or ()]
    sharp = None if steps and all(step is None for step in steps) else sum(map(bool, steps))
    return [
        one["along"],
        one.get("at") or {},
        one.get("count"),
        one.get("first"),
        one.get("last"),
        one.get("slope"),
        interval.get("low"),
        interval.get("high"),
        one.get("trend_p") if one.get("trend_p") is not None else (one.get("mann_kendall") or {}).get("p"),
        one.get("q"),
        one.get("direction"),
        shape.get("kind"),
        shape.get("at"),
        sharp,
    ]


def _peaks(peaks: Document) -> list[list[Any]]:
    """Value, coordinate, probability of being best, and its standing: `best`, or `tied` for the others in the set that
    holds the best cell with 95 % confidence."""
    best = peaks.get("best")
    if not best:
        return []
    chances = [(one["at"], one["value"], one["probability"]) for one in peaks.get("probability_best") or ()]
    tied = (peaks.get("best_set") or {}).get("at") or []
    found = [
        [best["value"], at, next((p for where, _, p in chances if where == at), None), "best"] for at in best["at"]
    ]
    found += [[value, at, p, "tied"] for at, value, p in chances if at in tied and at not in best["at"]]
    return found[:_MOST_CELLS]


def facts_of_answer(document: Document) -> dict[str, Any] | None:
    """Of a ranking: a list for each name. None for other answers."""
    if "ranking" not in document:
        return None
    names = ("rank", "name", "score", "rank_low", "rank_high", "cells", "wins", "ties", "losses")
    rows = [[*(one.get(name) for name in names), one.get("group") or []] for one in document["ranking"]]
    return {"ranking": rows}
