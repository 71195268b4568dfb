"""Members: what users and groups, who sign in without a token, may do in a project or in all."""

from __future__ import annotations

import uuid
from functools import partial
from typing import Any

from flask import Response
from marshmallow import Schema
from sqlalchemy import Connection

from registry.api.audit_log import actor
from registry.api.context import parts
from registry.api.fields import Choice, Name
from registry.operations import acts
from registry.operations.auth import ROLES
from registry.operations.users import MEMBER_KINDS, list_members
from registry.pages.administration.blueprint import administration
from registry.pages.administration.layout import ROWS, after, cut, path_of, show_section
from registry.pages.administration.submitting import Typed, asked, home, read_form, submitted


class MemberIn(Schema):
    kind = Choice(*MEMBER_KINDS, load_default="user")
    name = Name(required=True)
    role = Choice(*ROLES, required=True)


@administration.get("/settings/members", defaults={"project": None})
@administration.get("/projects/<project>/settings/members")
def members(project: str | None) -> Response:
    """The members, and a form to add one."""
    return _members(project, asked(), 200)


def _members(project: str | None, typed: Typed, status: int) -> Response:
    settings = parts().settings
    with parts().database.reading() as connection:
        row = home(connection, project)
        rows, more = cut(list_members(connection, None if row is None else row.id, after(), ROWS + 1))
    can_come = settings.trusts_proxy or settings.has_oidc
    return show_section(row, "members", typed, status, rows=rows, more=more, can_come=can_come)


@administration.post("/settings/members", defaults={"project": None})
@administration.post("/projects/<project>/settings/members")
def add_member(project: str | None) -> Response:
    """Give a user or a group a role."""

    def act(connection: Connection, row: Any) -> str:
        of = None if row is None else row.id
        acts.create_member(connection, actor(connection), of, **read_form(MemberIn()))
        return path_of(project, "members")

    return submitted(project, partial(_members, project), act, conflict_at="name")


@administration.post("/settings/members/<uuid:member>/remove", defaults={"project": None})
@administration.post("/projects/<project>/settings/members/<uuid:member>/remove")
def remove_member(project: str | None, member: uuid.UUID) -> Response:
    """Take a role back."""

    def act(connection: Connection, row: Any) -> str:
        acts.delete_member(connection, actor(connection), None if row is None else row.id, member)
        return path_of(project, "members")

    return submitted(project, partial(_members, project), act)
