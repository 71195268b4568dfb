"""Settings: deleted grids, who deleted which and when, and the way back."""

import uuid
from typing import Any

from flask import request
from marshmallow import Schema
from sqlalchemy import Connection

from registry.api.context import actor
from registry.api.fields import Whole
from registry.api.paging import write_key
from registry.errors import NotFound
from registry.operations import amend
from registry.operations.audit_log import deletions_of
from registry.operations.find_grids import Filters, Page, find_grids, sort_key
from registry.operations.read import find_owner, find_summary
from registry.operations.stored_grids import grid_summary
from registry.pages.administration.layout import ROWS, Section, Typed, read_form
from registry.pages.parameters import cursor_of

_SORT = "-updated_at"


DELETED = Section("deleted")


@DELETED.page
def deleted(connection: Connection, row: Any, _typed: Typed) -> dict[str, Any]:
    """The grids with a tombstone, the last deleted first."""
    found = find_grids(connection, row.id, Filters(deleted="only"), Page(_SORT, cursor_of(_SORT, "after"), ROWS))
    shown = found[:ROWS]
    return {
        "rows": shown,
        "more": write_key(sort_key(shown[-1], _SORT), shown[-1].id) if len(found) > ROWS else None,
        "names": deletions_of(connection, row.id, [one.id for one in shown]),
        "going": _to_delete(connection, row.id),
    }


def _to_delete(connection: Connection, project_id: uuid.UUID) -> Any:
    """The grid of this project that the address names, to be deleted after a confirmation; None without one."""
    try:
        grid = uuid.UUID(request.args.get("grid", ""))
    except ValueError:
        return None
    owner = find_owner(connection, grid)
    if owner is None or owner.project_id != project_id:
        return None
    return grid_summary(find_summary(connection, grid, owner.revision))


class _Deletion(Schema):
    revision = Whole(1, 2**31 - 1, required=True)


@DELETED.form("/<uuid:grid>/delete")
def delete_grid(connection: Connection, row: Any, grid: uuid.UUID) -> None:
    """Delete a grid, unless it has another revision than the form showed, and lead to where it is restored."""
    _check_owner(connection, row, grid, deleted=False)
    amend.delete_grid(connection, actor(connection), grid, revision=read_form(_Deletion())["revision"])


@DELETED.form("/<uuid:grid>/restore")
def restore_grid(connection: Connection, row: Any, grid: uuid.UUID) -> None:
    """Take a deletion back."""
    _check_owner(connection, row, grid, deleted=True)
    amend.restore_grid(connection, actor(connection), grid)


def _check_owner(connection: Connection, row: Any, grid: uuid.UUID, *, deleted: bool) -> None:
    owner = find_owner(connection, grid, deleted=deleted)
    if owner is None or owner.project_id != row.id:
        raise NotFound("The project has no such grid.")
