"""Settings of access: members, who sign in without a token; tokens, shown once; the visitor's account."""

import hmac
import uuid
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from flask import Response, g, request
from marshmallow import Schema
from sqlalchemy import Connection

from registry.api.context import actor, parts
from registry.api.fields import Choice, Name
from registry.api.schemas import TokenIn
from registry.errors import Conflict, NotFound
from registry.operations import acts
from registry.operations.auth import ROLES, find_token, list_tokens
from registry.operations.projects import list_roles
from registry.operations.users import MEMBER_KINDS, list_members
from registry.pages.administration.blueprint import administration, settings_page
from registry.pages.administration.layout import (
    ROWS,
    Section,
    Typed,
    after,
    cut,
    hand_over,
    handed_over,
    path_of,
    read_form,
)


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


_UNSEEN = timedelta(minutes=1)
"""A form that is sent again so soon was sent by a double click, whose first answer nobody saw."""


TOKENS = Section("tokens", of=("project", "all"))
TOKEN = Section("tokens", "/<uuid:token>", of=("project", "all"))


@TOKENS.page
def tokens(connection: Connection, row: Any, _typed: Typed) -> dict[str, Any]:
    """The tokens that were not revoked, and a form to make one."""
    rows, more = cut(list_tokens(connection, row and row.id, after(), ROWS + 1))
    return {"rows": rows, "more": more, "days": parts().settings.token_days}


def _again(connection: Connection, row: Any, led: str) -> str:
    """Put another token in the place of the one whose secret nobody has seen."""
    of, first = row and row.id, uuid.UUID(led.rpartition("/")[2])
    try:
        token = find_token(connection, of, first)
    except NotFound:
        return led
    if token.last_used_at is not None or datetime.now(UTC) - token.created_at > _UNSEEN:
        return led
    acts.revoke_token(connection, actor(connection), of, first)
    return make_token(connection, row)


@TOKENS.form(again=_again)
def make_token(connection: Connection, row: Any) -> str:
    """Create a token and lead to the page that shows its secret, once."""
    sent = read_form(TokenIn())
    days = sent.pop("days") or parts().settings.token_days
    token, secret = acts.create_token(connection, actor(connection), row and row.id, **sent, days=days)
    path = path_of(row and row.slug, f"tokens/{token.id}")
    hand_over(path, secret)
    return path


@TOKEN.page
def token(connection: Connection, row: Any, _typed: Typed) -> dict[str, Any]:
    """A token, and its secret when it was made just now and not yet shown."""
    found = find_token(connection, row and row.id, (request.view_args or {})["token"])
    hashed = bytes(found.secret_hash)
    return {"token": found, "secret": handed_over(lambda one: hmac.compare_digest(hashed, sha256(one).digest()))}


@TOKENS.form("/<uuid:token>/revoke")
def revoke_token(connection: Connection, row: Any, token: uuid.UUID) -> None:
    """Revoke a token at once, but not the one that the visitor is signed in with by mistake."""
    who = actor(connection)
    if who.token_id == token:
        raise Conflict("You are signed in with this token. Sign in with another one to revoke it.")
    acts.revoke_token(connection, who, row and row.id, token)
