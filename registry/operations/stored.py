"""A grid as it is stored: its names, one revision's content and the state of its derivation."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, select

from registry.grid import Grid
from registry.intake import Names
from registry.rows import grid_of
from registry.tables import derivations, grids, projects, revisions


@dataclass(frozen=True, slots=True)
class StoredGrid:
    id: uuid.UUID
    project: str
    names: Names
    grid: Grid
    revision: int
    current_revision: int
    digest: str
    state: str
    reason: str | None
    created_at: datetime
    updated_at: datetime
    warnings: Sequence[dict[str, str]]

    @property
    def etag(self) -> str:
        """Changes with the content and with the state of the derivation; `revision_tag` is its unchanging part."""
        return f"{self.revision_tag}-{self.state}"

    @property
    def revision_tag(self) -> str:
        return revision_tag(self.revision, self.digest)


def revision_tag(revision: int, digest: str) -> str:
    """What `If-Match` on a write compares: the revision and its digest."""
    return f"{revision}-{digest.removeprefix('sha256:')[:16]}"


def digest_text(digest: bytes) -> str:
    return "sha256:" + bytes(digest).hex()


def stored_grids(number: ColumnElement[int] | int | None = None) -> Select[Any]:
    """The statement that reads grids which are not deleted, at their current revision or at `number`."""
    wanted = grids.c.revision if number is None else number
    return (
        select(
            grids.c.id,
            grids.c.project_id,
            grids.c.experiment,
            grids.c.benchmark,
            grids.c.model,
            grids.c.variant,
            grids.c.revision.label("current_revision"),
            grids.c.created_at,
            func.greatest(revisions.c.created_at, grids.c.created_at).label("updated_at"),
            grids.c.updated_at.label("sorted_at"),
            projects.c.slug.label("project"),
            projects.c.visibility,
            *(column for column in revisions.c if column.name not in ("grid_id", "created_at", "token_id")),
            derivations.c.state,
            derivations.c.reason,
        )
        .join(projects, and_(projects.c.id == grids.c.project_id, projects.c.deleted_at.is_(None)))
        .join(revisions, and_(revisions.c.grid_id == grids.c.id, revisions.c.number == wanted))
        .join(
            derivations,
            and_(derivations.c.grid_id == revisions.c.grid_id, derivations.c.revision == revisions.c.number),
        )
        .where(grids.c.deleted_at.is_(None))
    )


def stored_grid(row: Any) -> StoredGrid:
    """A row of `stored_grids`."""
    return StoredGrid(
        row.id,
        row.project,
        Names(row.experiment, row.benchmark, row.model, row.variant, row.metric["name"]),
        grid_of(row),
        row.number,
        row.current_revision,
        digest_text(row.digest),
        row.state,
        row.reason,
        row.created_at,
        row.updated_at,
        row.warnings,
    )
