"""Members: what users and groups, who sign in without a token, may do in a project or in all; the visitor's account."""

from __future__ import annotations

import uuid
from typing import Any

from flask import Response, g
from marshmallow import Schema
from sqlalchemy import Connection

from registry.api.audit_log import actor
from registry.api.context import parts
from registry.api.fields import Choice, Name
from registry.operations import acts
from registry.operations.auth import ROLES
from registry.operations.projects import list_roles
from registry.operations.users import MEMBER_KINDS, list_members
from registry.pages.administration.blueprint import administration, settings_page
from registry.pages.administration.layout import ROWS, Section, Typed, after, cut, read_form


class MemberIn(Schema):
    kind = Choice(*MEMBER_KINDS, load_default="user")
    name = Name(required=True)
    role = Choice(*ROLES, required=True)


MEMBERS = Section("members", of=("project", "all"))


@MEMBERS.page
def members(connection: Connection, row: Any, _typed: Typed) -> dict[str, Any]:
    """The members, and a form to add one."""
    settings = parts().settings
    rows, more = cut(list_members(connection, row and row.id, after(), ROWS + 1))
    return {"rows": rows, "more": more, "can_come": settings.trusts_proxy or settings.has_oidc}


@MEMBERS.form(conflict_at="name")
def add_member(connection: Connection, row: Any) -> None:
    """Give a user or a group a role."""
    acts.create_member(connection, actor(connection), row and row.id, **read_form(MemberIn()))


@MEMBERS.form("/<uuid:member>/remove")
def remove_member(connection: Connection, row: Any, member: uuid.UUID) -> None:
    """Take a role back."""
    acts.delete_member(connection, actor(connection), row and row.id, member)


@administration.get("/account")
def account() -> Response:
    """Name of the visitor, what they may do, and until when."""
    with parts().database.reading() as connection:
        roles = list_roles(connection, g.visitor.caller)
    return settings_page("account.html", {"roles": roles})
