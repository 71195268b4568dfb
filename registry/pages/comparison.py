"""The page of a comparison: both grids in one range of colours, their difference from zero, and what it amounts to."""

from __future__ import annotations

import gzip
import uuid
from typing import Any

import orjson
from flask import Response, request

from registry.api import documents
from registry.api.asked import ask
from registry.api.comparisons import comparison_asked
from registry.api.context import enter, parts
from registry.api.schemas import ComparisonQuery
from registry.operations.find import Filters, Page, find_grids
from registry.operations.read import find_grid
from registry.operations.stored import StoredGrid, stored_grid
from registry.pages.answer import PENDING_SECONDS, SETTLED_SECONDS, data_path, page
from registry.pages.asked import LOOK, checked, look, state_of, tags_of
from registry.pages.blocks import parts_of
from registry.pages.front import pages
from registry.pages.heatmap import fits, heatmap_of
from registry.pages.palette import BINS, DIFFERENCES
from registry.question import ComparisonQuestion
from registry.renderings.comparison import page as comparison_blocks
from registry.renderings.heatmap.options import Options
from registry.renderings.words import title

Document = dict[str, Any]
_LISTED = 200


@pages.get("/projects/<project>/comparisons")
def comparison(project: str) -> Response:
    """Contender less baseline; without both in the address, the form alone."""
    query = checked(ComparisonQuery, also=LOOK, optional=("baseline", "contender"))
    options = look()
    question, sides = None, []
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        choices = find_grids(connection, row.id, Filters(), Page("experiment", None, _LISTED))
        if "baseline" in query and "contender" in query:
            question = comparison_asked(connection, row.project_id, query)
            sides = [stored_grid(find_grid(connection, uuid.UUID(i), n)) for i, n in _sides(question)]
    found: Any = ask(question, project, patience=2.0)[1] if question else None
    state = state_of(found)

    def context() -> dict[str, Any]:
        document = orjson.loads(gzip.decompress(found.document)) if state == "ready" else None
        return {
            "project": row,
            "query": query,
            "choices": choices,
            "state_word": state,
            "reason": found.reason if state == "failed" else None,
            "comparison": document,
            "parts_": parts_of(comparison_blocks(document)) if document else [],
            "maps": _maps(sides, options) if sides else None,
            "palette": options.palette,
            "bins": range(BINS),
            "difference_bins": range(DIFFERENCES),
            "data": lambda suffix="": data_path(
                f"/projects/{project}/comparisons{suffix}",
                row.visibility,
                [(name, text) for name, text in request.args.items(multi=True) if text and name not in LOOK],
            ),
            "every": PENDING_SECONDS if state == "pending" else SETTLED_SECONDS,
        }

    made_of = [row.updated_at, [(one.id, one.etag) for one in (*choices, *sides)], *tags_of(found)]
    return page("comparison.html", made_of, context)


def _sides(question: ComparisonQuestion) -> list[tuple[str, int]]:
    return [(question.baseline, question.baseline_revision), (question.contender, question.contender_revision)]


def _maps(sides: list[StoredGrid], options: Options) -> dict[str, Any]:
    """Both grids in the range of both together, and the difference; `small` says whether they fit into tables."""
    baseline, contender = (documents.grid(one) for one in sides)
    named = {"baseline": baseline, "contender": contender, "titles": [title(baseline), title(contender)]}
    if not (fits(baseline) and fits(contender)):
        return named | {"small": False}
    measured = [value for one in sides for value in one.grid.values if value is not None]
    shared = options
    if options.span == "own" and measured and min(measured) < max(measured):
        shared = Options(palette=options.palette, span=(min(measured), max(measured)))
    return named | {
        "small": True,
        "pair": [heatmap_of(one, None, shared) for one in (baseline, contender)],
        "difference": heatmap_of(contender, None, Options(), "difference", baseline),
    }
