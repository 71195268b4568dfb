"""The page of a grid: its heatmap, and what its statistics say."""

from __future__ import annotations

import gzip
import itertools
import uuid
from collections.abc import Sequence
from typing import Any

import orjson
from flask import Response, request

from registry.api import documents
from registry.api.context import grid_row, parts
from registry.errors import Fault, Invalid
from registry.operations.find import Filters, Page, find_grids
from registry.operations.read import find_statistics, list_revisions
from registry.operations.stored import StoredGrid, stored_grid
from registry.pages.answer import PENDING_SECONDS, SETTLED_SECONDS, data_path, page
from registry.pages.asked import look
from registry.pages.blocks import Part, parts_of, table_part
from registry.pages.findings import findings_of, missing_of
from registry.pages.front import pages
from registry.pages.heatmap import SHOWS, fits, heatmap_of
from registry.pages.palette import BINS, DIFFERENCES
from registry.pages.shares import shares_of
from registry.pages.spark import HEIGHT, WIDTH, sparks_of
from registry.renderings import changes, coverage, peaks, precision, sensitivity, trends
from registry.renderings.table import Table
from registry.renderings.words import title

Document = dict[str, Any]
_REVISIONS, _BASELINES = 20, 100
_MOST_SPARKS = 200


@pages.get("/projects/<project>/grids/<uuid:grid>")
@pages.get("/grids/<uuid:grid>")
def grid(grid: uuid.UUID, project: str | None = None) -> Response:
    """A grid at its current revision, or at an older one without statistics."""
    options, show = look(), _show()
    number = _revision()
    with parts().database.reading() as connection:
        row = grid_row(connection, grid, "reader", number)
        stored = stored_grid(row)
        found = find_statistics(connection, grid)
        revisions = list_revisions(connection, grid, max(0, stored.current_revision - _REVISIONS), _REVISIONS)
        scope = Filters(experiment=[stored.names.experiment], metric=[stored.names.metric])
        others = find_grids(connection, row.project_id, scope, Page("model", None, _BASELINES))
        baseline = _baseline(others, stored)
    current = stored.revision == stored.current_revision == found.revision

    def context() -> dict[str, Any]:
        document = documents.grid(stored)
        ready = current and found.document is not None
        statistics = orjson.loads(gzip.decompress(found.document)) if ready else None
        against = documents.grid(baseline) if baseline else None
        small = fits(document)
        return {
            "grid": document,
            "title": title(document),
            "statistics": statistics,
            "state_word": found.state if current else "older",
            "reason": found.reason,
            "small": small,
            "heatmap_": heatmap_of(document, statistics, options, show, against) if small else None,
            "findings": findings_of(document, statistics) if statistics else list(missing_of(document)),
            "sections": _parts(document, statistics) if statistics else {},
            "shares": shares_of(statistics) if statistics else [],
            "revisions": revisions[::-1],
            "current_revision": stored.current_revision,
            "baselines": [one for one in others if one.id != stored.id],
            "baseline": against,
            "palette": options.palette,
            "range": request.args.get("range", "own"),
            "show": show,
            "spark": (WIDTH, HEIGHT),
            "bins": range(DIFFERENCES if show == "difference" and against else BINS),
            "data": lambda path="", **query: data_path(f"/grids/{stored.id}{path}", row.visibility, query.items()),
            "project_data": lambda path="", **query: data_path(
                f"/projects/{stored.project}{path}", row.visibility, query.items()
            ),
            "every": PENDING_SECONDS if current and found.state == "pending" else SETTLED_SECONDS,
        }

    made_of = [stored.etag, stored.current_revision, found.etag, found.state, row.visibility]
    return page("grid.html", [*made_of, [(one.id, one.etag) for one in others]], context)


def _show() -> str:
    show = request.args.get("show") or "value"
    if show not in SHOWS:
        raise Invalid([Fault("/show", f"is one of {', '.join(SHOWS)}")])
    return show


def _revision() -> int | None:
    text = request.args.get("revision")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and 0 < int(text) < 2**31):
        raise Invalid([Fault("/revision", "is a whole number from 1")])
    return int(text)


def _baseline(others: Sequence[StoredGrid], stored: StoredGrid) -> StoredGrid | None:
    """The grid to show differences from; `Invalid` when it is not one of the same experiment and metric."""
    wanted = request.args.get("baseline")
    if not wanted:
        return None
    for one in others:
        if str(one.id) == wanted and one.id != stored.id:
            return one
    raise Invalid([Fault("/baseline", "is not another grid of the same experiment and metric")])


def _parts(document: Document, statistics: Document) -> dict[str, list[Part]]:
    """The parts of the statistics, each as its blocks."""
    return {
        "trends": _trends(document, statistics),
        "breaks": parts_of(changes.blocks(statistics)),
        "peaks": parts_of(peaks.blocks(statistics)),
        "coverage": parts_of(coverage.blocks(statistics)),
        "sensitivity": parts_of(sensitivity.blocks(statistics)),
        "precision": parts_of(precision.blocks(statistics)),
    }


def _trends(document: Document, statistics: Document) -> list[Part]:
    """The tables of trends, each row with its small line."""
    groups = [list(found) for _, found in itertools.groupby(statistics.get("series") or (), lambda one: one["along"])]
    parts: list[Part] = []
    for block in trends.blocks(statistics):
        if isinstance(block, Table):
            series = groups.pop(0)
            sparks = sparks_of(document, series) if len(series) <= _MOST_SPARKS else []
            parts.append(table_part(block, max(1, len(series[0].get("at") or ())), sparks))
        else:
            parts += parts_of([block])
    return parts
