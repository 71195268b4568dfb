"""The page of a comparison: both grids in one range of colours, their difference from zero, and what it amounts to."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from flask import Response, request
from sqlalchemy import Connection

from registry.api import serializers
from registry.api.cached_results import ask
from registry.api.comparisons import comparison_asked
from registry.api.context import enter, parts
from registry.api.query_schemas import ComparisonParameters
from registry.errors import Fault, Invalid, NotFound
from registry.grids.grid import Grid
from registry.grids.slices import PARAMETER, Slice, sliced
from registry.operations.find import Filters
from registry.operations.form_options import search_grids
from registry.operations.read import find_grid, find_statistics
from registry.operations.stored_grids import StoredGrid, stored_grid
from registry.pages.blocks import parts_of
from registry.pages.front import pages
from registry.pages.heatmap import fits, heatmap_of
from registry.pages.links import data_path
from registry.pages.palette import BINS, DIFFERENCES
from registry.pages.queries import LOOK, look, salvaged, state_of, tags_of
from registry.pages.responses import PENDING_SECONDS, SETTLED_SECONDS, page
from registry.pages.slices import slice_lists, slice_of_page
from registry.query import ComparisonQuery
from registry.renderings.comparison import page as comparison_blocks
from registry.renderings.heatmap.options import Options
from registry.renderings.words import title
from registry.results.codec import read
from registry.results.comparison import Comparison
from registry.results.grid import GridDocument
from registry.results.statistics import PICTURED, Statistics

_LISTED = 200
FIND = "find"
"""The parameter with words that the names of the grids to choose from must hold."""
SIDES = ("baseline", "contender")


@pages.get("/projects/<project>/comparisons")
def comparison(project: str) -> Response:
    """Contender less baseline; without both in the address, the form alone."""
    query, faults = salvaged(ComparisonParameters, also=(*LOOK, FIND), optional=SIDES, families=(PARAMETER,))
    wanted = slice_of_page()
    options, words = look(), request.args.get(FIND, "").replace("\0", "").split()
    question, sides, known, absent = None, [], [], False
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        offer = _offer(connection, row.id, words, [query[side] for side in SIDES if side in query])
        if "baseline" in query and "contender" in query and not faults:
            try:
                question = comparison_asked(connection, row.project_id, query, wanted)
                sides = [stored_grid(find_grid(connection, uuid.UUID(i), n)) for i, n in _sides(question)]
                # What is best in a whole grid need not be in the slice.
                known = [None if wanted else find_statistics(connection, one.id) for one in sides]
            except NotFound as error:
                faults, absent = [Fault("/baseline", error.detail)], True
            except Invalid as error:
                faults = list(error.faults)
    found: Any = ask(question, project, patience=2.0)[1] if question else None
    state = state_of(found)

    def context() -> dict[str, Any]:
        document = read(Comparison, found.document) if state == "ready" else None
        shown = [_cut(one, wanted) for one in sides]
        return {
            "project": row,
            "query": query,
            "offer": offer,
            "faults": faults,
            "find": " ".join(words),
            "kept": [(name, text) for name, text in request.args.items(multi=True) if text and name in LOOK],
            "state_word": state,
            "reason": found.reason if state == "failed" else None,
            "comparison": document,
            "parts_": parts_of(comparison_blocks(document)) if document else [],
            "slices": slice_lists((axis for one in sides for axis in one.axes), wanted),
            "maps": _maps(shown, [_statistics(one) for one in known], options, document) if sides else None,
            "palette": options.palette,
            "bins": range(BINS),
            "difference_bins": range(DIFFERENCES),
            "data": lambda suffix="": data_path(
                f"/projects/{project}/comparisons{suffix}",
                row.visibility,
                [(name, text) for name, text in request.args.items(multi=True) if text and name not in (*LOOK, FIND)],
            ),
            "every": PENDING_SECONDS if state == "pending" else SETTLED_SECONDS,
        }

    tags = [*((one.id, one.etag) for one in sides), *(one.etag for one in known if one), *tags_of(found)]
    made_of = [row.updated_at, offer, faults, *tags]
    return page("comparison.html", made_of, context, status=404 if absent else 422 if faults else 200)


def _cut(stored: StoredGrid, wanted: Slice) -> StoredGrid:
    """The grid with the cells of the slice alone, which it has."""
    grid = cast(Grid, sliced(stored.grid, wanted))
    return replace(stored, grid=grid, axes=grid.axes, cell_count=grid.cell_count)


@dataclass(frozen=True, slots=True)
class Offer:
    """The grids to choose from, those chosen among them; how many were found, and whether there are more of those."""

    grids: Sequence[Any]
    count: int
    more: bool


def _offer(connection: Connection, project_id: uuid.UUID, words: Sequence[str], chosen: Sequence[str]) -> Offer:
    found = search_grids(connection, project_id, Filters(), _LISTED + 1, words)
    listed = found[:_LISTED]
    known = {str(one.id) for one in listed}
    also = [
        one for name in chosen if name.lower() not in known
        for one in search_grids(connection, project_id, Filters(id=name.lower()), 1)
    ]  # fmt: skip
    return Offer((*also, *listed), len(listed), len(found) > _LISTED)


def _sides(question: ComparisonQuery) -> list[tuple[str, int]]:
    return [(question.baseline, question.baseline_revision), (question.contender, question.contender_revision)]


def _statistics(known: Any) -> Statistics | None:
    """The statistics of a grid's current revision, if they are there."""
    return None if known is None or known.document is None else read(Statistics, known.document, PICTURED)


def _maps(
    sides: list[StoredGrid], statistics: list[Statistics | None], options: Options, found: Comparison | None
) -> dict[str, Any]:
    """Both grids in the range of both together, and the difference; each in its own range where there is none.
    `small` says whether they fit into tables."""
    baseline, contender = (serializers.grid(one) for one in sides)
    named = {"baseline": baseline, "contender": contender, "titles": [title(baseline), title(contender)]}
    if not (fits(baseline) and fits(contender)):
        return named | {"small": False}
    both = list(zip((baseline, contender), statistics, strict=True))
    if not _subtracted(found, baseline, contender):
        own = Options(palette=options.palette)
        return named | {"small": True, "pair": [heatmap_of(one, known, own) for one, known in both], "difference": None}
    measured = [value for one in sides for value in one.grid.values if value is not None]
    shared = options
    if options.span == "own" and measured and min(measured) < max(measured):
        shared = Options(palette=options.palette, span=(min(measured), max(measured)))
    return named | {
        "small": True,
        "pair": [heatmap_of(one, described, shared) for one, described in both],
        "difference": heatmap_of(contender, None, Options(), "difference", baseline, found),
    }


def _subtracted(found: Comparison | None, baseline: GridDocument, contender: GridDocument) -> bool:
    """Whether the contender less the baseline has a meaning, as far as is known."""
    mine, theirs = baseline["metric"], contender["metric"]
    if (mine["unit"], mine["direction"]) != (theirs["unit"], theirs["direction"]):
        return False
    if found is None:
        return True
    # Values on different scales are matched, which makes their agreement known, and have no gap.
    return found.status != "not_comparable" and (found.mean is not None or found.agreement is None)
