"""Change a grid that is there: its cells, its description and labels, and whether it has a tombstone."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Literal

from sqlalchemy import Connection, Select, func, select, update

from registry.errors import Fault, Invalid, NotFound, PreconditionFailed
from registry.grids.intake import Limits
from registry.grids.intake import amend as amended
from registry.operations.audit_log import Actor, record
from registry.operations.publish import Published
from registry.operations.revisions import invalidate_scopes, write_next_revision
from registry.operations.stored_grids import (
    GridSummary,
    StoredGrid,
    grid_summaries,
    grid_summary,
    stored_grid,
    stored_grids,
)
from registry.storage.arrivals import of_grid
from registry.storage.keys import in_shard_of
from registry.storage.tables import grids


def lock_grid(connection: Connection, grid_id: uuid.UUID, expected: Sequence[str] | None) -> StoredGrid:
    """Lock the row of a grid until the end of the transaction, and return its current revision.

    `expected`: the revision tags that the caller's `If-Match` allows; `PreconditionFailed` if the grid is at another.
    """
    found = stored_grid(_lock(connection, grid_id, stored_grids()))
    check_revision(found, expected)
    return found


def lock_summary(connection: Connection, grid_id: uuid.UUID, expected: Sequence[str] | None) -> GridSummary:
    """Like `lock_grid`, without the cells."""
    found = grid_summary(_lock(connection, grid_id, grid_summaries()))
    check_revision(found, expected)
    return found


def _lock(connection: Connection, grid_id: uuid.UUID, query: Select[Any]) -> Any:
    project = connection.scalar(select(grids.c.project_id).where(grids.c.id == grid_id).with_for_update())
    row = connection.execute(query.where(grids.c.id == grid_id, grids.c.project_id == project)).one_or_none()
    if row is None:
        raise NotFound("There is no such grid.")
    return row


def check_revision(found: GridSummary, expected: Sequence[str] | None) -> None:
    """Raise `PreconditionFailed` when the grid is at none of the expected revisions; with None any revision will do."""
    if expected is not None and "*" not in expected and found.revision_tag not in expected:
        raise PreconditionFailed(f"The grid is at revision {found.revision}; read it again.")


def amend(
    connection: Connection,
    grid_id: uuid.UUID,
    cells: Sequence[Mapping[str, Any]],
    limits: Limits,
    *,
    may_grow: bool = True,
    token_id: uuid.UUID | None = None,
    expected: Sequence[str] | None = None,
) -> Published:
    """Add or replace cells; unchanged content makes no revision. Raises `Invalid` and `PreconditionFailed`.

    `may_grow`: add the levels that the axes lack.
    """
    stored = lock_grid(connection, grid_id, expected)
    grid, new_warnings = amended(stored.grid, cells, limits, may_grow=may_grow)
    if grid.digest == stored.digest:
        return Published(stored, False)
    warnings = [warning.document() for warning in new_warnings]
    # The values are no longer those of the file that the revision before came from.
    return Published(
        write_next_revision(connection, stored, grid, warnings=warnings, source=None, token_id=token_id), True
    )


def describe(
    connection: Connection,
    grid_id: uuid.UUID,
    changes: Mapping[str, Any],
    *,
    most_labels: int,
    token_id: uuid.UUID | None = None,
    expected: Collection[tuple[str, str]] | None = None,
) -> Published:
    """Change the description, the labels or both of a grid. Labels are content: others make a revision with the same
    values, warnings and source. What is as it was already changes nothing.

    `expected`: pairs of a revision tag and a description tag, one of which must be the grid's.
    Raises `NotFound`, `PreconditionFailed`, and `Invalid` for too many labels.
    """
    stored = lock_summary(connection, grid_id, None)
    if expected is not None and (stored.revision_tag, stored.description_tag) not in expected:
        raise PreconditionFailed(
            f"The grid is at revision {stored.revision}, its description may differ; read it again."
        )
    labels = changed_labels(stored.labels, changes.get("labels", {}), most_labels)
    description = changes.get("description", stored.description)
    is_described = description != stored.description
    if is_described:
        connection.execute(update(grids).where(grids.c.id == grid_id).values(description=description))
    if labels == stored.labels:
        return Published(replace(stored, description=description), False, is_described)
    return Published(_relabelled(connection, grid_id, labels, token_id), True, is_described)


def _relabelled(
    connection: Connection, grid_id: uuid.UUID, labels: dict[str, str], token_id: uuid.UUID | None
) -> GridSummary:
    stored = lock_grid(connection, grid_id, None)
    grid = replace(stored.grid, labels=labels)
    return write_next_revision(
        connection, stored, grid, warnings=stored.warnings, source=stored.source, token_id=token_id
    )


def changed_labels(labels: Mapping[str, str], changes: Mapping[str, str | None], most: int) -> dict[str, str]:
    """Labels with the changed ones set and those that are None taken away; `Invalid` if there are more than `most`."""
    merged = {**labels, **changes}
    found = {name: text for name, text in merged.items() if text is not None}
    if len(found) > most:
        raise Invalid([Fault("/labels", f"with these there are {len(found)} labels; at most {most} are allowed")])
    return found


def told_changes(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes as the audit log keeps them: of a description its length, because the log outlives a purge."""
    told = dict(changes)
    if "description" in told:
        told["description"] = f"{len(told['description'])} characters"
    return told


def delete_grid(
    connection: Connection,
    actor: Actor,
    grid_id: uuid.UUID,
    *,
    revision: int | None = None,
    expected: Sequence[str] | None = None,
) -> None:
    """Put a tombstone on a grid, which the audit log has.

    With `revision` or `expected`, only if the current revision is that one or one of these; else `PreconditionFailed`.
    """
    stored = lock_summary(connection, grid_id, expected)
    if revision is not None and revision != stored.revision:
        raise PreconditionFailed(f"The grid is at revision {stored.revision}, not {revision}.")
    project_id = connection.execute(
        update(grids)
        .where(grids.c.id == grid_id)
        .values(deleted_at=func.now(), updated_at=func.now())
        .returning(grids.c.project_id)
    ).scalar_one()
    _tell(connection, actor, project_id, "grid.deleted", stored)


def restore_grid(connection: Connection, actor: Actor, grid_id: uuid.UUID) -> GridSummary:
    """Take the tombstone off a grid, which has the revisions that it had; one without a tombstone stays as it is, and
    the audit log too.

    Raises `NotFound` for a grid that was purged or whose project is deleted.
    """
    changed = {"deleted_at": None, "updated_at": func.now()}
    here = (grids.c.id == grid_id, grids.c.deleted_at.is_not(None))
    project_id = connection.execute(update(grids).where(*here).values(changed).returning(grids.c.project_id)).scalar()
    shard = in_shard_of(connection, grid_id)
    row = connection.execute(grid_summaries().where(grids.c.id == grid_id, shard)).one_or_none()
    if row is None:
        raise NotFound("There is no such grid.")
    stored = grid_summary(row)
    if project_id is not None:
        _tell(connection, actor, project_id, "grid.restored", stored)
    return stored


def _tell(
    connection: Connection,
    actor: Actor,
    project_id: uuid.UUID,
    act: Literal["grid.deleted", "grid.restored"],
    stored: GridSummary,
) -> None:
    names = asdict(stored.names)
    told = [of_grid(act, stored.id, stored.revision, names)]
    invalidate_scopes(connection, project_id, {(stored.names.experiment, stored.names.metric): [stored.id]}, told)
    record(connection, actor, act, stored.id, project_id=project_id, names=names, revision=stored.revision)
