"""Deleted grids: who deleted which and when, and the way back."""

from __future__ import annotations

import uuid
from functools import partial
from typing import Any

from flask import Response, request
from marshmallow import Schema
from sqlalchemy import Connection

from registry.api.audit_log import actor
from registry.api.context import parts
from registry.api.fields import Whole
from registry.api.paging import read_key, write_key
from registry.api.schemas import FindParameters
from registry.errors import Fault, Invalid, NotFound
from registry.operations import amend
from registry.operations.audit_log import deletions_of
from registry.operations.find import Filters, Page, find_grids, sort_key
from registry.operations.read import find_owner, find_summary
from registry.operations.stored_grids import grid_summary
from registry.pages.administration.blueprint import administration
from registry.pages.administration.layout import ROWS, path_of, show_section
from registry.pages.administration.submitting import Typed, home, read_form, submitted

_SORT = "-updated_at"


@administration.get("/projects/<project>/settings/deleted")
def deleted(project: str) -> Response:
    """The grids with a tombstone, the last deleted first."""
    return _deleted(project, Typed(), 200)


def _deleted(project: str, typed: Typed, status: int) -> Response:
    with parts().database.reading() as connection:
        row = home(connection, project)
        found = find_grids(connection, row.id, Filters(deleted="only"), Page(_SORT, _after(), ROWS))
        names = deletions_of(connection, row.id, [one.id for one in found[:ROWS]])
        shown = found[:ROWS]
        more = write_key(sort_key(shown[-1], _SORT), shown[-1].id) if len(found) > ROWS else None
        going = _to_delete(connection, row.id)
    return show_section(row, "deleted", typed, status, rows=shown, more=more, names=names, going=going)


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


def _after() -> Any:
    text = request.args.get("after", "")
    if FindParameters(only=("cursor",)).validate({"cursor": text} if text else {}):
        raise Invalid([Fault("/after", "is not a place in this list")])
    try:
        return read_key(text, _SORT) if text else None
    except ValueError:
        raise Invalid([Fault("/after", "is not a place in this list")]) from None


class _Deletion(Schema):
    revision = Whole(1, 2**31 - 1, required=True)


@administration.post("/projects/<project>/settings/deleted/<uuid:grid>/delete")
def delete_grid(project: str, grid: uuid.UUID) -> Response:
    """Delete a grid, unless it has another revision than the form showed, and lead to where it is restored."""

    def act(connection: Connection, row: Any) -> str:
        owner = find_owner(connection, grid)
        if owner is None or owner.project_id != row.id:
            raise NotFound("The project has no such grid.")
        shown = read_form(_Deletion())["revision"]
        amend.delete_grid(connection, actor(connection), grid, revision=shown)
        return path_of(project, "deleted")

    return submitted(project, partial(_deleted, project), act)


@administration.post("/projects/<project>/settings/deleted/<uuid:grid>/restore")
def restore_grid(project: str, grid: uuid.UUID) -> Response:
    """Take a deletion back."""

    def act(connection: Connection, row: Any) -> str:
        owner = find_owner(connection, grid, deleted=True)
        if owner is None or owner.project_id != row.id:
            raise NotFound("The project has no such grid.")
        amend.restore_grid(connection, actor(connection), grid)
        return path_of(project, "deleted")

    return submitted(project, partial(_deleted, project), act)
