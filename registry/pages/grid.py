"""The page of one grid: its values as a heat map, findings, and every part of its statistics."""

import itertools
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from flask import Response, request
from sqlalchemy import Connection

from registry.api import serializers
from registry.api.answers import ask
from registry.api.context import grid_row, parts
from registry.api.responses import take_turn
from registry.api.schemas import RevisionParameters
from registry.api.statistics import recompute_old
from registry.grids.grid import Axis
from registry.grids.intake import Names
from registry.grids.intake.faults import number_of
from registry.grids.slices import PARAMETER, Slice, slice_text
from registry.operations.names import joined_names, spelled
from registry.operations.read import find_statistics, list_revisions, names_of_publishers
from registry.operations.stored_grids import StoredGrid, stored_grid
from registry.pages.blocks import Part, parts_of, shown, table_part
from registry.pages.choices import cut, slice_lists, slice_of_page
from registry.pages.findings import findings_of, missing_of
from registry.pages.front import knows_tokens, pages
from registry.pages.heatmap import SHOWS, fits, heatmap_of
from registry.pages.links import data_path, to
from registry.pages.live import GRIDS, PENDING_SECONDS, SETTLED_SECONDS, STATISTICS, live_on
from registry.pages.palette import BINS
from registry.pages.parameters import checked, choice, look, number
from registry.pages.prose import prose_of
from registry.pages.responses import idle, page, state_of, tags_of
from registry.pages.said import SaidOf, said_of
from registry.pages.sharing import about_grid, picture_of, shares_of
from registry.pages.spark import HEIGHT, WIDTH, sparks_of
from registry.query import StatisticsQuery
from registry.renderings import changes, coverage, peaks, precision, sensitivity, trends
from registry.renderings.heatmap.layout import about_size
from registry.renderings.heatmap.scale import Options
from registry.renderings.sheet import Lines
from registry.renderings.table import Table
from registry.renderings.verdicts.grid import grid_verdict
from registry.renderings.words import assumptions
from registry.results.codec import read, to_document
from registry.results.grid import GridDocument
from registry.results.statistics import Statistics
from registry.selection import KINDS

_REVISIONS = 20
_MOST_BESIDE_OTHERS = 100_000
"""Cells of a grid from which on its page is one of few large answers: each takes a hundred megabytes meanwhile."""
_KEPT = ("show", "palette", "range", "revision")
"""What stays as it is when another slice is chosen."""
_TOLD = (*GRIDS, *STATISTICS, "claim.*")
_UNMARKED = {
    "older": "Among which cells the best one is, is shown for the current revision only.",
    "failed": "Among which cells the best one is, is not known: the statistics failed.",
}
"""What is said where the cells that may be the best are never going to be marked."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """Parts of a stored grid that its page shows."""

    stored: StoredGrid
    """The grid, with the names that its own stand for."""
    posted: Names
    project_id: uuid.UUID
    visibility: str
    derivation: Any
    """The row of the statistics of the current revision."""
    revisions: Sequence[Any]
    publishers: Mapping[int, str]
    said: SaidOf
    """Claims that were judged by its current revision."""
    wanted: Slice = ()
    whole: Sequence[Axis] = ()
    """The axes with all of their levels."""
    asked: Any = None
    """The row of the statistics of the slice."""

    @property
    def current(self) -> bool:
        """Whether the statistics are those of the revision that is shown."""
        number = self.stored.revision
        return number == self.stored.current_revision and bool(self.wanted or self.derivation.revision == number)

    @property
    def state(self) -> str:
        """How the statistics stand; `older`: they are not shown. Those of older methods are shown until the new ones
        are there."""
        if not self.current:
            return "older"
        if self.wanted:
            return state_of(self.asked)
        return "ready" if self.derivation.etag is not None else str(self.derivation.state)

    @property
    def is_pending(self) -> bool:
        """Whether something that the page shows of the grid is being computed."""
        return "pending" in (self.state, self.derivation.state) or self.said.is_due

    @property
    def shown(self) -> tuple[tuple[str, str], ...]:
        """Query string that names the revision, if it is not the current one, and the slice."""
        older = self.stored.revision != self.stored.current_revision
        revision = [("revision", str(self.stored.revision))] if older else []
        return (*revision, *((PARAMETER + axis, text) for axis, texts in self.wanted for text in texts))

    @property
    def made_of(self) -> list[object]:
        """Entity tags of everything that the page is made of."""
        stored, found = self.stored, self.derivation
        tags = [stored.etag, stored.current_revision, found.etag, found.state, self.visibility, *self.said.tags]
        return [*tags, stored.names, self.publishers, self.is_pending and idle(), *tags_of(self.asked)]

    def statistics(self) -> Statistics | None:
        """The statistics, if they are there."""
        found = self.asked if self.wanted else self.derivation
        ready = self.state == "ready" and found.document is not None
        return read(Statistics, found.document) if ready else None

    def data(self, path: str = "", **query: str) -> str:
        """Where the data of this revision are read."""
        return data_path(f"/grids/{self.stored.id}{path}", self.visibility, [*query.items(), *self.shown])


@pages.get("/projects/<project>/grids/<uuid:grid>")
@pages.get("/grids/<uuid:grid>")
def grid(grid: uuid.UUID, project: str | None = None) -> Response:
    """A grid at its current revision, or at an older one without statistics; a slice of it if the address has one."""
    checked(RevisionParameters, also=(*_KEPT, "before"), families=(PARAMETER,))
    options, show, wanted = look(), choice("show", SHOWS), slice_of_page()
    revision, before = (number(name, "is a whole number from 1") for name in ("revision", "before"))
    with parts().database.reading() as connection:
        seen = _seen(connection, grid, revision, before)
    if wanted:
        seen = replace(seen, stored=cut(seen.stored, wanted), wanted=wanted, whole=seen.stored.axes)
    recompute_old([seen.derivation])
    if wanted and seen.current:
        question = StatisticsQuery("", "", at=wanted, grid=str(grid), revision=seen.stored.revision)
        seen = replace(seen, asked=ask(question, seen.stored.project, patience=1.0)[1])
    return page("grid.html", seen.made_of, lambda: _context(seen, options, show))


def _seen(connection: Connection, grid: uuid.UUID, revision: int | None, before: int | None) -> _Seen:
    """The grid with those of its revisions that are before one, the newest of them last."""
    row = grid_row(connection, grid, "reader", revision)
    stored = stored_grid(row)
    found = find_statistics(connection, grid)
    newest = max(1, min(stored.current_revision, (before or stored.current_revision + 1) - 1))
    revisions = list_revisions(connection, grid, max(0, newest - _REVISIONS), min(newest, _REVISIONS))
    named = [one.number for one in revisions] if knows_tokens(row.project_id) else []
    publishers = names_of_publishers(connection, grid, named)
    joined = joined_names(connection, row.project_id)
    said = said_of(connection, row, stored.names.experiment, grid, joined)
    meant = spelled(stored, joined)
    return _Seen(meant, stored.names, row.project_id, row.visibility, found, revisions, publishers, said)


def _context(seen: _Seen, options: Options, show: str) -> dict[str, Any]:
    """Everything that the template shows."""
    if seen.stored.cell_count > _MOST_BESIDE_OTHERS:
        take_turn()
    document, stored, statistics = serializers.grid(seen.stored), seen.stored, seen.statistics()
    map_ = heatmap_of(document, statistics, options, show) if fits(document) else None
    state = seen.state if statistics is None else "ready"
    project = SimpleNamespace(slug=stored.project, id=seen.project_id, visibility=seen.visibility)
    return {
        **about_grid(stored, seen),
        "grid": document,
        "posted": [(kind, own) for kind in KINDS if (own := getattr(seen.posted, kind)) != getattr(stored.names, kind)],
        "number_of": number_of,
        "prose_": prose_of(stored.description),
        "state_word": seen.state,
        "said": seen.said,
        "reason": getattr(seen.asked if seen.wanted else seen.derivation, "reason", None),
        "picture": picture_of(f"/grids/{stored.id}/heatmap.png", seen.visibility, seen.shown),
        "revisions": seen.revisions[::-1],
        "current_revision": stored.current_revision,
        "publishers": seen.publishers,
        "shown": stored.revision_tag,
        "revision": stored.revision,
        "data": seen.data,
        "slices": slice_lists(seen.whole or stored.axes, seen.wanted),
        "slice_text": slice_text(seen.wanted),
        "slice_asked": {PARAMETER + axis: tuple(texts) for axis, texts in seen.wanted},
        "compared": _compared(seen),
        "kept": [(name, text) for name, text in request.args.items(multi=True) if text and name in _KEPT],
        "whole": {PARAMETER + axis: None for axis, _ in seen.wanted},
        "every": PENDING_SECONDS if seen.is_pending else SETTLED_SECONDS,
        "feed": live_on(project, _TOLD, told=not seen.wanted, experiment=stored.names.experiment, grid=[stored.id]),
        "small": map_ is not None,
        "heatmap_": map_,
        "kept_place": about_size(document["axes"]) if map_ is None and len(document["axes"]) <= 2 else None,
        # Among which cells the best one is, or why that is not said; empty where no cell is the best.
        "marked": _UNMARKED.get(state, map_.marked) if map_ and map_.marked else "",
        "plates": [replace(map_, plates=[plate]) for plate in map_.plates] if map_ else [],
        "palette": options.palette,
        "range": request.args.get("range", "own"),
        "bins": range(BINS),
        **of_statistics(document, statistics),
    }


def _compared(seen: _Seen) -> str:
    """Where another grid of the experiment is chosen to compare this one with; "" where the share does not reach."""
    stored = seen.stored
    revision = stored.revision if stored.revision != stored.current_revision else ""
    asked = {"contender": stored.id, "contender_revision": revision, "find": stored.names.experiment}
    slices = {PARAMETER + axis: texts for axis, texts in seen.wanted}
    return to(f"/projects/{stored.project}/comparisons", **asked, **slices)


_MOST_POINTS = 20_000
"""Points of all small lines of a table up to which they are drawn."""
_MOST_ROWS = 100
"""Rows of a table that the page shows; the rest is counted, and in the CSV."""


def of_statistics(document: GridDocument, statistics: Statistics | None) -> dict[str, Any]:
    """Findings and the parts of the statistics; the gaps alone of a grid without statistics."""
    return {
        "statistics": statistics,
        "verdict": shown(grid_verdict(document, statistics)),
        "params": to_document(statistics.params) if statistics else {},
        "findings": findings_of(document, statistics) if statistics else list(missing_of(document)),
        "sections": _parts(document, statistics) if statistics else {},
        "shares": shares_of(statistics) if statistics else [],
        "spark": (WIDTH, HEIGHT),
    }


def _parts(document: GridDocument, statistics: Statistics) -> dict[str, list[Part]]:
    """The parts of the statistics, each as its blocks."""
    sections = {
        "assumed": parts_of([Lines(tuple(assumptions(statistics.assumes, statistics.design_effect)))]),
        "trends": _trends(document, statistics),
        "breaks": parts_of(changes.blocks(statistics)),
        "peaks": parts_of(peaks.blocks(statistics)),
        "coverage": parts_of(coverage.blocks(statistics)),
        "sensitivity": parts_of(sensitivity.blocks(statistics)),
        "precision": parts_of(precision.blocks(statistics)),
    }
    return {name: [shown for part in parts for shown in _cut(part)] for name, parts in sections.items()}


def _cut(part: Part) -> list[Part]:
    """A table with as many rows as a page has, and words where it has more."""
    if len(part.rows) <= _MOST_ROWS:
        return [part]
    told = f"These are the first {_MOST_ROWS} of {len(part.rows):,} rows; the CSV has all of them."
    return [replace(part, rows=part.rows[:_MOST_ROWS], sparks=part.sparks[:_MOST_ROWS]), Part("text", told)]


def _trends(document: GridDocument, statistics: Statistics) -> list[Part]:
    """The tables of trends, each row with its small line."""
    groups = [list(found) for _, found in itertools.groupby(statistics.series, lambda one: one.along)]
    parts: list[Part] = []
    for block in trends.blocks(statistics):
        if isinstance(block, Table):
            series = groups.pop(0)
            drawn = series[:_MOST_ROWS]
            sparks = sparks_of(document, drawn) if sum(one.count for one in drawn) <= _MOST_POINTS else []
            parts.append(table_part(block, max(1, len(series[0].at)), sparks))
        else:
            parts += parts_of([block])
    return parts
