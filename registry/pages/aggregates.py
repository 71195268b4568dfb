"""The view of a table: models by benchmarks, or any other dimensions."""

from __future__ import annotations

import re
from typing import Any

from flask import request

from registry.api.aggregates import AggregatesParameters, aggregates_query
from registry.api.cached_results import ask
from registry.errors import Fault, Invalid
from registry.pages.blocks import parts_of
from registry.pages.choices import Field, select
from registry.pages.palette import BINS
from registry.pages.pivot import is_sortable, pivot_of
from registry.pages.view import DRAWN, TABLES, Asked, Found, View
from registry.renderings.aggregates import doubts, heading, told
from registry.renderings.sheet import Lines
from registry.results.aggregates import Aggregates
from registry.results.codec import read
from registry.selection import KINDS

_FROM = "from"
"""The parameter with the first row that is shown."""
_USUAL = ["model", "benchmark"]
_ROWS = 2
"""Dimensions of a single table."""
_REDUCTIONS = {"mean": "mean of the cells", "best": "best cell", "count": "number of cells"}


def find(asked: Asked) -> Found:
    """The table of the selection: of models by benchmarks, if nothing else is named."""
    query, first = {"group_by": _USUAL, **asked.query}, _first_row()
    row = ask(aggregates_query(query, asked.slug, asked.wanted), asked.slug, patience=2.0)[1]
    meant = [] if "group_by" in asked.query else [("group_by", ",".join(_USUAL))]
    return Found(row, lambda: _shown(read(Aggregates, row.document), first), meant=meant)


def _shown(found: Aggregates, first: int) -> dict[str, Any]:
    return {
        "table": found,
        "title_of_table": heading(found),
        "told": list(told(found)),
        "pivot": pivot_of(found, first),
        "sortable": is_sortable(found),
        "doubts": parts_of([Lines(notes)] if (notes := tuple(doubts(found))) else []),
        "bins": range(BINS),
        "drawn": bool(found.entries),
    }


def _first_row() -> int:
    text = request.args.get(_FROM) or "0"
    if not re.fullmatch("[0-9]{1,6}", text):
        raise Invalid([Fault(f"/{_FROM}", "is the number of a row, from 0")])
    return int(text)


def beside(asked: Asked) -> list[Field]:
    """What the rows and columns are, and what the entries are made of."""
    query, names = asked.query, {name: name for name in KINDS} | {f"axis:{name}": name for name in asked.bar.axes}
    groups, over = query.get("group_by", _USUAL), query.get("over") or []
    plates = [select("one table each", "group_by", names.items(), groups[:1], "none")] if len(groups) > _ROWS else []
    return [
        *plates,
        select("rows", "group_by", names.items(), groups[-2:-1] or groups),
        select("columns", "group_by", names.items(), groups[-1:] if len(groups) > 1 else "", "none"),
        select("averaged over", "over", names.items(), over, "none" if "benchmark" in groups else "benchmarks"),
        select("entries", "value", _REDUCTIONS.items(), query["value"], usual="mean"),
    ]


VIEW = View("table", "Table", "aggregates", "This table", "aggregates.html", AggregatesParameters, find, beside,
            own=(_FROM,), optional=("group_by",), forms=(*TABLES, (".tex", "LaTeX"), *DRAWN))  # fmt: skip
