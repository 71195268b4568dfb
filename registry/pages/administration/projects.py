"""Settings of projects: make and restore them; change the name and the readers of one, or delete it."""

from typing import Any

from marshmallow import Schema, fields
from sqlalchemy import Connection

from registry.api.context import actor, caller
from registry.api.schemas import SLUG, ProjectChange, ProjectIn
from registry.errors import Fault, Forbidden, Invalid, NotFound, PreconditionFailed
from registry.operations import acts
from registry.operations.projects import find_restorable, list_administered, lock_project
from registry.pages.administration.layout import ROWS, Section, Typed, path_of, read_form
from registry.pages.parameters import argument

_SEEN = "seen"
"""Field of the form of a project: when it was last changed as the form shows it."""


def _enter(connection: Connection, _all: None) -> None:
    """Let in who administers any project."""
    if not caller(connection).administers:
        raise Forbidden("Settings are for administrators, and you administer no project.")


PROJECTS, GENERAL = Section("", of=("all",), enter=_enter), Section("")


@PROJECTS.page
def projects(connection: Connection, _all: None, _typed: Typed) -> dict[str, Any]:
    """The projects that the visitor administers; for who administers all, a form to make one."""
    after, who = argument("after", SLUG, "is not the name of a project"), caller(connection)
    rows = list_administered(connection, who, after or None, ROWS + 1)
    more = rows[ROWS - 1].slug if len(rows) > ROWS else None
    return {"rows": rows[:ROWS], "more": more, "gone": list_administered(connection, who, None, ROWS, deleted=True)}


@PROJECTS.form(conflict_at="slug")
def make_project(connection: Connection, _all: None) -> str:
    """Create a project and lead to its settings."""
    row = acts.create_project(connection, actor(connection), **read_form(ProjectIn()))
    return path_of(row.slug, "")


@PROJECTS.form("/restore/<slug>")
def restore_project(connection: Connection, _all: None, slug: str) -> str:
    """Take the deletion of a project back and lead to its settings."""
    row = find_restorable(connection, slug)
    if row is None:
        raise NotFound("There is no such project.")
    acts.restore_project(connection, actor(connection), row)
    return path_of(slug, "")


@GENERAL.page
def general(_connection: Connection, row: Any, _typed: Typed) -> dict[str, Any]:
    """A project's name, who may read it, and the form to delete it."""
    return {"seen": row.updated_at.isoformat()}


class _Change(ProjectChange):
    seen = fields.Raw(load_default="")


class _Deletion(Schema):
    confirm = fields.Raw(load_default="")


@GENERAL.form()
def change_project(connection: Connection, row: Any) -> None:
    """Change a project's name or visibility, unless somebody else has changed it since the form was shown."""
    changes = read_form(_Change())
    seen = changes.pop(_SEEN)
    held = lock_project(connection, row.id)
    if held.updated_at.isoformat() != seen:
        raise PreconditionFailed("Somebody has changed this project since you opened the form: look at it again.")
    others = {name: told for name, told in changes.items() if told != getattr(held, name)}
    if others:
        acts.update_project(connection, actor(connection), row.id, others)


@GENERAL.form("/delete")
def delete_project(connection: Connection, row: Any) -> str:
    """Delete the project whose slug was typed."""
    if read_form(_Deletion())["confirm"] != row.slug:
        raise Invalid([Fault("/confirm", f"must be {row.slug} for the project to be deleted")])
    lock_project(connection, row.id)
    acts.delete_project(connection, actor(connection), row, cascade=True)
    return "/settings"
