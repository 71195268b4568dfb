"""Grids as they are stored: names, the content of one revision and the state of its derivation.

`grid_summaries` and `stored_grids` select, `grid_summary` and `stored_grid` make values of rows: a `GridSummary` for
lists, a `StoredGrid` where cells are needed. `api/serializers.py` makes JSON of both.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any, Literal, cast

from sqlalchemy import ColumnElement, Connection, Select, and_, func, select

from registry.grids.grid import Axis, Grid, Metric
from registry.grids.intake import Names
from registry.grids.slices import Slice, sliced
from registry.storage.keys import from_shards, of_grid, of_revision
from registry.storage.rows import MEMBERS, axis_of, grid_of, metric_of
from registry.storage.statistics_jobs import job_state
from registry.storage.tables import derivations, grids, projects, revisions


@dataclass(frozen=True, slots=True, kw_only=True)
class GridSummary:
    """A grid at one revision without its cells; its size is that of its names and levels."""

    id: uuid.UUID
    project: str
    names: Names
    metric: Metric
    axes: tuple[Axis, ...]
    cell_count: int
    labels: Mapping[str, str]
    members: Mapping[str, Any]
    revision: int
    current_revision: int
    digest: str
    state: str
    reason: str | None
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None
    changed_at: datetime | None = None
    """By which lists are sorted: the last change of the content, the last deletion or restoration; None of a grid that
    was not read."""
    warnings: Sequence[dict[str, str]]
    source: Mapping[str, str] | None
    description: str

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis.levels) for axis in self.axes)

    @property
    def etag(self) -> str:
        """Entity tag. It changes with the content, the state of the derivation and the description; `revision_tag` only
        with the content."""
        return "-".join(filter(None, (self.revision_tag, self.state, self.description_tag)))

    @property
    def description_tag(self) -> str:
        """Changes with the description; empty without one."""
        return sha256(self.description.encode()).hexdigest()[:16] if self.description else ""

    @property
    def revision_tag(self) -> str:
        return revision_tag(self.revision, self.digest)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredGrid(GridSummary):
    """A grid at one revision with all of its cells."""

    grid: Grid


def cut_to_slice(stored: StoredGrid, wanted: Slice) -> StoredGrid:
    """The grid with nothing but a slice, which it must have; its digest stays that of the whole revision."""
    found = cast(Grid, sliced(stored.grid, wanted))
    return replace(stored, grid=found, axes=found.axes, cell_count=found.cell_count)


def revision_tag(revision: int, digest: str) -> str:
    """Value that `If-Match` on a write compares: the revision and its digest."""
    return f"{revision}-{digest.removeprefix('sha256:')[:16]}"


def digest_text(digest: bytes) -> str:
    return "sha256:" + bytes(digest).hex()


CELLS = ("values", "trials", "cell_trials", "stderr", "repeats", "sd", "reasons")
"""Columns of a revision that grow with its grid, and those that belong to them."""
_SUMMED_UP = tuple(
    column for column in revisions.c if column.name not in ("project_id", "grid_id", "created_at", "token_id", *CELLS)
)
_OF_GRID = (
    *(grids.c[name] for name in ("id", "project_id", "experiment", "benchmark", "model", "variant")),
    *(grids.c[name] for name in ("created_at", "deleted_at", "description")),
    grids.c.revision.label("current_revision"),
    grids.c.updated_at.label("changed_at"),
    projects.c.slug.label("project"),
    projects.c.visibility,
    job_state.label("state"),
    derivations.c.reason,
)
Deleted = Literal["exclude", "only", "include"]
"""Whether grids with a tombstone are meant."""


_PROJECT = and_(projects.c.id == grids.c.project_id, projects.c.deleted_at.is_(None))


def grid_summaries(number: ColumnElement[int] | int | None = None, *, deleted: Deleted = "exclude") -> Select[Any]:
    """Statement for grids without their cells, at their current revision or at `number`."""
    wanted = grids.c.revision if number is None else number
    return (
        select(*_OF_GRID, func.greatest(revisions.c.created_at, grids.c.created_at).label("updated_at"), *_SUMMED_UP)
        .join(projects, _PROJECT)
        .join(revisions, and_(of_grid(revisions), revisions.c.number == wanted))
        .outerjoin(derivations, of_revision(derivations))
        .where(*tombstone(deleted))
    )


def grids_of_coordinator(number: ColumnElement[int] | None = None, *, deleted: Deleted = "exclude") -> Select[Any]:
    """Statement for what `grid_summaries` has of tables that are not in shards; `with_revisions` adds the others."""
    wanted = grids.c.revision if number is None else number
    return (
        select(*_OF_GRID, wanted.label("number"))
        .join(projects, _PROJECT)
        .outerjoin(derivations, and_(of_grid(derivations), derivations.c.revision == wanted))
        .where(*tombstone(deleted))
    )


def with_revisions(connection: Connection, rows: Sequence[Any], cells: Sequence[str] = ()) -> list[Any]:
    """Rows of `grids_of_coordinator`, as `grid_summaries` would have had them, or `stored_grids` with its `CELLS`."""
    posted = revisions.c.created_at.label("updated_at")
    found = from_shards(connection, rows, revisions, [*_SUMMED_UP, posted, *(revisions.c[name] for name in cells)])
    for row in found:
        row.updated_at = max(row.updated_at, row.created_at)
    return found


def tombstone(deleted: Deleted) -> tuple[ColumnElement[bool], ...]:
    """Conditions for the grids that are meant."""
    if deleted == "include":
        return ()
    return (grids.c.deleted_at.is_(None) if deleted == "exclude" else grids.c.deleted_at.is_not(None),)


def stored_grids(number: ColumnElement[int] | int | None = None) -> Select[Any]:
    """Like `grid_summaries`, with the cells: megabytes for a large grid."""
    return grid_summaries(number).add_columns(*(revisions.c[name] for name in CELLS))


def grid_summary(row: Any) -> GridSummary:
    """Value of a row of `grid_summaries`."""
    return GridSummary(metric=metric_of(row.metric), axes=tuple(axis_of(axis) for axis in row.axes), **_told(row))


def stored_grid(row: Any) -> StoredGrid:
    """Value of a row of `stored_grids`."""
    grid = grid_of(row)
    return StoredGrid(metric=grid.metric, axes=grid.axes, grid=grid, **_told(row))


_AS_READ = (
    "id", "project", "cell_count", "labels", "current_revision", "state", "reason", "created_at", "updated_at",
    "deleted_at", "changed_at", "warnings", "source", "description",
)  # fmt: skip


def _told(row: Any) -> dict[str, Any]:
    return {
        **{name: getattr(row, name) for name in _AS_READ},
        "names": Names(row.experiment, row.benchmark, row.model, row.variant, row.metric["name"]),
        "members": {name: given for name in MEMBERS if (given := getattr(row, name)) is not None},
        "revision": row.number,
        "digest": digest_text(row.digest),
    }
