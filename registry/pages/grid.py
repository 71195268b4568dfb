"""The page of a grid: its heatmap, and what its statistics say."""

from __future__ import annotations

import itertools
import uuid
from dataclasses import replace
from typing import Any

from flask import Response, request

from registry.api import serializers
from registry.api.context import grid_row, parts
from registry.api.smorest import API_PREFIX
from registry.errors import Fault, Invalid
from registry.operations.read import find_statistics, list_revisions, names_of_publishers
from registry.operations.stored_grids import stored_grid
from registry.pages.baselines import baseline_of, baselines_of, differing
from registry.pages.blocks import Part, parts_of, table_part
from registry.pages.findings import findings_of, missing_of
from registry.pages.front import knows_tokens, pages
from registry.pages.heatmap import SHOWS, Heatmap, fits, heatmap_of
from registry.pages.links import Query, data_path, located
from registry.pages.palette import BINS, DIFFERENCES
from registry.pages.queries import look
from registry.pages.responses import PENDING_SECONDS, SETTLED_SECONDS, page
from registry.pages.shares import shares_of
from registry.pages.spark import HEIGHT, WIDTH, sparks_of
from registry.renderings import changes, coverage, peaks, precision, sensitivity, trends
from registry.renderings.table import Table
from registry.renderings.words import title
from registry.results.codec import read, to_document
from registry.results.grid import GridDocument
from registry.results.statistics import Statistics

_REVISIONS = 20
_MOST_SPARKS = 200
_DIGITS = 10
"""Of the number of a revision; a very long number is not even read."""
_UNMARKED = {
    "older": "Among which cells the best one is, is shown for the current revision only.",
    "failed": "Among which cells the best one is, is not known: the statistics failed.",
}
"""What is said where the cells that may be the best are never going to be marked."""


@pages.get("/projects/<project>/grids/<uuid:grid>")
@pages.get("/grids/<uuid:grid>")
def grid(grid: uuid.UUID, project: str | None = None) -> Response:
    """A grid at its current revision, or at an older one without statistics."""
    options, show = look(), _show()
    number = _whole("revision")
    with parts().database.reading() as connection:
        row = grid_row(connection, grid, "reader", number)
        stored = stored_grid(row)
        found = find_statistics(connection, grid)
        newest = max(1, min(stored.current_revision, (_whole("before") or stored.current_revision + 1) - 1))
        revisions = list_revisions(connection, grid, max(0, newest - _REVISIONS), min(newest, _REVISIONS))
        publishers = names_of_publishers(connection, grid, revisions) if knows_tokens(row.project_id) else {}
        others = baselines_of(connection, row.project_id, stored)
        baseline = baseline_of(connection, row.project_id, stored)
    current = stored.revision == stored.current_revision == found.revision
    shown = (("revision", str(stored.revision)),) if stored.revision != stored.current_revision else ()

    def context() -> dict[str, Any]:
        document = serializers.grid(stored)
        ready = current and found.document is not None
        statistics = read(Statistics, found.document) if ready else None
        against = serializers.grid(baseline) if baseline else None
        state_word = found.state if current else "older"
        small = fits(document)
        map_ = heatmap_of(document, statistics, options, show, against) if small else None
        return {
            "grid": document,
            "title": title(document),
            "statistics": statistics,
            "params": to_document(statistics.params) if statistics else {},
            "state_word": state_word,
            "reason": found.reason,
            "small": small,
            "heatmap_": map_,
            "marked": _marked(map_, state_word if statistics is None else "ready") if map_ else "",
            "plates": [replace(map_, plates=[plate]) for plate in map_.plates] if map_ else [],
            "picture": _picture(stored.id, shown) if row.visibility == "public" else None,
            "findings": findings_of(document, statistics) if statistics else list(missing_of(document)),
            "sections": _parts(document, statistics) if statistics else {},
            "shares": shares_of(statistics) if statistics else [],
            "revisions": revisions[::-1],
            "current_revision": stored.current_revision,
            "publishers": publishers,
            "others": others,
            "baseline": against,
            "confounded": differing(stored, baseline) if baseline else [],
            "palette": options.palette,
            "range": request.args.get("range", "own"),
            "show": show,
            "shown": stored.revision_tag,
            "revision": stored.revision,
            "spark": (WIDTH, HEIGHT),
            "bins": range(DIFFERENCES if show == "difference" and against else BINS),
            "data": lambda path="", **query: data_path(
                f"/grids/{stored.id}{path}", row.visibility, [*query.items(), *shown]
            ),
            "every": PENDING_SECONDS if current and found.state == "pending" else SETTLED_SECONDS,
        }

    made_of = [stored.etag, stored.current_revision, found.etag, found.state, row.visibility, others, publishers]
    return page("grid.html", [*made_of, baseline and baseline.etag], context)


def _marked(map_: Heatmap, state: str) -> str:
    """Among which cells the best one is, or why that is not said; empty where no cell is the best."""
    return _UNMARKED.get(state, map_.marked) if map_.marked else ""


def _picture(grid: uuid.UUID, shown: Query) -> str:
    """The whole address of the picture that a link to this page unfolds to."""
    return parts().settings.url + located(f"{API_PREFIX}/grids/{grid}/heatmap.png", shown)


def _show() -> str:
    show = request.args.get("show") or "value"
    if show not in SHOWS:
        raise Invalid([Fault("/show", f"is one of {', '.join(SHOWS)}")])
    return show


def _whole(name: str) -> int | None:
    """The number of a revision in the address."""
    text = request.args.get(name)
    if not text:
        return None
    if not (len(text) <= _DIGITS and text.isascii() and text.isdecimal() and 0 < int(text) < 2**31):
        raise Invalid([Fault(f"/{name}", "is a whole number from 1")])
    return int(text)


def _parts(document: GridDocument, statistics: Statistics) -> dict[str, list[Part]]:
    """The parts of the statistics, each as its blocks."""
    return {
        "trends": _trends(document, statistics),
        "breaks": parts_of(changes.blocks(statistics)),
        "peaks": parts_of(peaks.blocks(statistics)),
        "coverage": parts_of(coverage.blocks(statistics)),
        "sensitivity": parts_of(sensitivity.blocks(statistics)),
        "precision": parts_of(precision.blocks(statistics)),
    }


def _trends(document: GridDocument, statistics: Statistics) -> list[Part]:
    """The tables of trends, each row with its small line."""
    groups = [list(found) for _, found in itertools.groupby(statistics.series, lambda one: one.along)]
    parts: list[Part] = []
    for block in trends.blocks(statistics):
        if isinstance(block, Table):
            series = groups.pop(0)
            sparks = sparks_of(document, series) if len(series) <= _MOST_SPARKS else []
            parts.append(table_part(block, max(1, len(series[0].at)), sparks))
        else:
            parts += parts_of([block])
    return parts
