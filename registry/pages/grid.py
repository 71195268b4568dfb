"""The page of a grid: its heatmap, and what its statistics say."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flask import Response, request
from sqlalchemy import Connection

from registry.api import serializers
from registry.api.context import grid_row, parts
from registry.api.smorest import API_PREFIX
from registry.errors import Fault, Invalid
from registry.operations.read import find_statistics, list_revisions, names_of_publishers
from registry.operations.stored_grids import StoredGrid, stored_grid
from registry.pages.baselines import Baselines, baseline_of, baselines_of, differing
from registry.pages.front import knows_tokens, pages
from registry.pages.grid_statistics import of_statistics
from registry.pages.heatmap import SHOWS, Heatmap, fits, heatmap_of
from registry.pages.links import Query, data_path, located
from registry.pages.palette import BINS, DIFFERENCES
from registry.pages.queries import look
from registry.pages.responses import PENDING_SECONDS, SETTLED_SECONDS, page
from registry.renderings.heatmap.options import Options
from registry.renderings.words import title
from registry.results.codec import read
from registry.results.grid import GridDocument
from registry.results.statistics import Statistics

_REVISIONS = 20
_DIGITS = 10
"""Of the number of a revision; a very long number is not even read."""
_UNMARKED = {
    "older": "Among which cells the best one is, is shown for the current revision only.",
    "failed": "Among which cells the best one is, is not known: the statistics failed.",
}
"""What is said where the cells that may be the best are never going to be marked."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """Parts of a stored grid that its page shows."""

    stored: StoredGrid
    visibility: str
    derivation: Any
    """The row of the statistics of the current revision."""
    revisions: Sequence[Any]
    publishers: Mapping[int, str]
    others: Baselines
    baseline: StoredGrid | None

    @property
    def current(self) -> bool:
        """Whether the statistics are those of the revision that is shown."""
        stored = self.stored
        return bool(stored.revision == stored.current_revision == self.derivation.revision)

    @property
    def state(self) -> str:
        """How the statistics stand; `older`: they are not shown."""
        return str(self.derivation.state) if self.current else "older"

    @property
    def shown(self) -> tuple[tuple[str, str], ...]:
        """Query string that names the revision; empty for the current one."""
        older = self.stored.revision != self.stored.current_revision
        return (("revision", str(self.stored.revision)),) if older else ()

    @property
    def made_of(self) -> list[object]:
        """Entity tags of everything that the page is made of."""
        stored, found = self.stored, self.derivation
        tags = [stored.etag, stored.current_revision, found.etag, found.state, self.visibility]
        return [*tags, self.others, self.publishers, self.baseline and self.baseline.etag]

    def statistics(self) -> Statistics | None:
        """The statistics, if they are there."""
        ready = self.current and self.derivation.document is not None
        return read(Statistics, self.derivation.document) if ready else None

    def data(self, path: str = "", **query: str) -> str:
        """Where the data of this revision are read."""
        return data_path(f"/grids/{self.stored.id}{path}", self.visibility, [*query.items(), *self.shown])


@pages.get("/projects/<project>/grids/<uuid:grid>")
@pages.get("/grids/<uuid:grid>")
def grid(grid: uuid.UUID, project: str | None = None) -> Response:
    """A grid at its current revision, or at an older one without statistics."""
    options, show = look(), _show()
    with parts().database.reading() as connection:
        seen = _seen(connection, grid, _whole("revision"), _whole("before"))
    return page("grid.html", seen.made_of, lambda: _context(seen, options, show))


def _seen(connection: Connection, grid: uuid.UUID, number: int | None, before: int | None) -> _Seen:
    """The grid with those of its revisions that are before one, the newest of them last."""
    row = grid_row(connection, grid, "reader", number)
    stored = stored_grid(row)
    found = find_statistics(connection, grid)
    newest = max(1, min(stored.current_revision, (before or stored.current_revision + 1) - 1))
    revisions = list_revisions(connection, grid, max(0, newest - _REVISIONS), min(newest, _REVISIONS))
    publishers = names_of_publishers(connection, grid, revisions) if knows_tokens(row.project_id) else {}
    others = baselines_of(connection, row.project_id, stored)
    baseline = baseline_of(connection, row.project_id, stored)
    return _Seen(stored, row.visibility, found, revisions, publishers, others, baseline)


def _context(seen: _Seen, options: Options, show: str) -> dict[str, Any]:
    """Everything that the template shows."""
    document, stored, statistics = serializers.grid(seen.stored), seen.stored, seen.statistics()
    return {
        "grid": document,
        "title": title(document),
        "state_word": seen.state,
        "reason": seen.derivation.reason,
        "picture": _picture(stored.id, seen.shown) if seen.visibility == "public" else None,
        "revisions": seen.revisions[::-1],
        "current_revision": stored.current_revision,
        "publishers": seen.publishers,
        "shown": stored.revision_tag,
        "revision": stored.revision,
        "data": seen.data,
        "every": PENDING_SECONDS if seen.state == "pending" else SETTLED_SECONDS,
        **_of_heatmap(seen, document, statistics, options, show),
        **of_statistics(document, statistics),
    }


def _of_heatmap(
    seen: _Seen, document: GridDocument, statistics: Statistics | None, options: Options, show: str
) -> dict[str, Any]:
    """The table with its colours, and what it can be subtracted from."""
    against = serializers.grid(seen.baseline) if seen.baseline else None
    small = fits(document)
    map_ = heatmap_of(document, statistics, options, show, against) if small else None
    return {
        "small": small,
        "heatmap_": map_,
        "marked": _marked(map_, seen.state if statistics is None else "ready") if map_ else "",
        "plates": [replace(map_, plates=[plate]) for plate in map_.plates] if map_ else [],
        "others": seen.others,
        "baseline": against,
        "confounded": differing(seen.stored, seen.baseline) if seen.baseline else [],
        "palette": options.palette,
        "range": request.args.get("range", "own"),
        "show": show,
        "bins": range(DIFFERENCES if show == "difference" and against else BINS),
    }


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
