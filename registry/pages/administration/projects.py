"""Settings of all: the projects. Settings of one: its name, who may read it, and its end."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from flask import Response, request
from marshmallow import Schema, fields
from sqlalchemy import Connection

from registry.api.audit_log import actor
from registry.api.context import caller, parts
from registry.api.schemas import SLUG, ProjectChange, ProjectIn
from registry.errors import Fault, Forbidden, Invalid, NotFound, PreconditionFailed
from registry.operations import acts
from registry.operations.projects import find_restorable, list_administered, lock_project
from registry.pages.administration.blueprint import administration
from registry.pages.administration.layout import ROWS, path_of, show_section
from registry.pages.administration.submitting import Typed, asked, home, read_form, submitted

_SEEN = "seen"
"""Field of the form of a project: when it was last changed as the form shows it."""


@administration.get("/settings")
def projects() -> Response:
    """The projects that the visitor administers; for who administers all, a form to make one."""
    return _projects(asked(), 200)


def _projects(typed: Typed, status: int) -> Response:
    after = request.args.get("after", "")
    if after and not re.fullmatch(SLUG, after):
        raise Invalid([Fault("/after", "is not the name of a project")])
    with parts().database.reading() as connection:
        who = caller(connection)
        if not who.administers:
            raise Forbidden("Settings are for administrators, and you administer no project.")
        rows = list_administered(connection, who, after or None, ROWS + 1)
        gone = list_administered(connection, who, None, ROWS, deleted=True)
    more = rows[ROWS - 1].slug if len(rows) > ROWS else None
    return show_section(None, "", typed, status, operator=who.operates, rows=rows[:ROWS], more=more, gone=gone)


@administration.post("/settings")
def make_project() -> Response:
    """Create a project and lead to its settings."""

    def act(connection: Connection, _all: None) -> str:
        row = acts.create_project(connection, actor(connection), **read_form(ProjectIn()))
        return path_of(row.slug, "")

    return submitted(None, _projects, act, conflict_at="slug")


@administration.post("/settings/restore/<slug>")
def restore_project(slug: str) -> Response:
    """Take the deletion of a project back and lead to its settings."""

    def act(connection: Connection, _all: None) -> str:
        row = find_restorable(connection, slug)
        if row is None:
            raise NotFound("There is no such project.")
        acts.restore_project(connection, actor(connection), row)
        return path_of(slug, "")

    return submitted(None, _projects, act)


@administration.get("/projects/<project>/settings")
def general(project: str) -> Response:
    """A project's name, who may read it, and the form to delete it."""
    return _general(project, asked(), 200)


def _general(project: str, typed: Typed, status: int) -> Response:
    with parts().database.reading() as connection:
        row = home(connection, project)
    return show_section(row, "", typed, status, seen=row.updated_at.isoformat())


class _Change(ProjectChange):
    seen = fields.Raw(load_default="")


class _Deletion(Schema):
    confirm = fields.Raw(load_default="")


@administration.post("/projects/<project>/settings")
def change_project(project: str) -> Response:
    """Change a project's name or visibility, unless somebody else has changed it since the form was shown."""

    def act(connection: Connection, row: Any) -> str:
        changes = read_form(_Change())
        seen = changes.pop(_SEEN)
        if lock_project(connection, row.id).updated_at.isoformat() != seen:
            raise PreconditionFailed("Somebody has changed this project since you opened the form: look at it again.")
        acts.update_project(connection, actor(connection), row.id, changes)
        return path_of(project, "")

    return submitted(project, partial(_general, project), act)


@administration.post("/projects/<project>/settings/delete")
def delete_project(project: str) -> Response:
    """Delete the project whose slug was typed."""

    def act(connection: Connection, row: Any) -> str:
        if read_form(_Deletion())["confirm"] != row.slug:
            raise Invalid([Fault("/confirm", f"is not {row.slug}: type the name to delete the project")])
        lock_project(connection, row.id)
        acts.delete_project(connection, actor(connection), row, cascade=True)
        return "/settings"

    return submitted(project, partial(_general, project), act)
