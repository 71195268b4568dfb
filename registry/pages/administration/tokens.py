"""Tokens: made, seen once, revoked."""

from __future__ import annotations

import hmac
import uuid
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from typing import Any

from flask import Response
from sqlalchemy import Connection

from registry.api.audit_log import actor
from registry.api.context import parts
from registry.api.schemas import TokenIn
from registry.errors import Conflict, NotFound
from registry.operations import acts
from registry.operations.auth import find_token, list_tokens
from registry.pages.administration.blueprint import administration
from registry.pages.administration.layout import ROWS, after, cut, path_of, show_section
from registry.pages.administration.submitting import (
    Typed,
    asked,
    forget,
    hand_over,
    handed_over,
    home,
    read_form,
    submitted,
)

_UNSEEN = timedelta(minutes=1)
"""A form that is sent again so soon was sent by a double click, whose first answer nobody saw."""


@administration.get("/settings/tokens", defaults={"project": None})
@administration.get("/projects/<project>/settings/tokens")
def tokens(project: str | None) -> Response:
    """The tokens that were not revoked, and a form to make one."""
    return _tokens(project, asked(), 200)


def _tokens(project: str | None, typed: Typed, status: int) -> Response:
    with parts().database.reading() as connection:
        row = home(connection, project)
        rows, more = cut(list_tokens(connection, None if row is None else row.id, after(), ROWS + 1))
    context: dict[str, Any] = {
        "rows": rows,
        "more": more,
        "now": datetime.now(UTC),
        "days": parts().settings.token_days,
    }
    return show_section(row, "tokens", typed, status, **context)


@administration.post("/settings/tokens", defaults={"project": None})
@administration.post("/projects/<project>/settings/tokens")
def make_token(project: str | None) -> Response:
    """Create a token and lead to the page that shows its secret, once."""
    made: dict[str, str] = {}

    def act(connection: Connection, row: Any) -> str:
        sent = read_form(TokenIn())
        days, of = sent.pop("days") or parts().settings.token_days, None if row is None else row.id
        token, made["secret"] = acts.create_token(connection, actor(connection), of, **sent, days=days)
        made["path"] = path_of(project, f"tokens/{token.id}")
        return made["path"]

    def again(connection: Connection, row: Any, led: str) -> str:
        """Put another token in the place of the one whose secret nobody has seen."""
        of, first = None if row is None else row.id, uuid.UUID(led.rpartition("/")[2])
        try:
            token = find_token(connection, of, first)
        except NotFound:
            return led
        if token.last_used_at is not None or datetime.now(UTC) - token.created_at > _UNSEEN:
            return led
        acts.revoke_token(connection, actor(connection), of, first)
        return act(connection, row)

    answer = submitted(project, partial(_tokens, project), act, again=again)
    if made:
        hand_over(answer, made["path"], made["secret"])
    return answer


@administration.get("/settings/tokens/<uuid:token>", defaults={"project": None})
@administration.get("/projects/<project>/settings/tokens/<uuid:token>")
def token(project: str | None, token: uuid.UUID) -> Response:
    """A token, and its secret when it was made just now and not yet shown."""
    with parts().database.reading() as connection:
        row = home(connection, project)
        found = find_token(connection, None if row is None else row.id, token)
    secret = handed_over()
    is_its = hmac.compare_digest(bytes(found.secret_hash), sha256(secret.encode("utf-8", "replace")).digest())
    context: dict[str, Any] = {"token": found, "secret": secret if is_its else "", "template": "token"}
    answer = show_section(row, "tokens", Typed(), **context)
    forget(answer, path_of(project, f"tokens/{token}"))
    return answer


@administration.post("/settings/tokens/<uuid:token>/revoke", defaults={"project": None})
@administration.post("/projects/<project>/settings/tokens/<uuid:token>/revoke")
def revoke_token(project: str | None, token: uuid.UUID) -> Response:
    """Revoke a token at once, but not the one that the visitor is signed in with by mistake."""

    def act(connection: Connection, row: Any) -> str:
        who = actor(connection)
        if who.token_id == token:
            raise Conflict("You are signed in with this token. Sign in with another one to revoke it.")
        acts.revoke_token(connection, who, None if row is None else row.id, token)
        return path_of(project, "tokens")

    return submitted(project, partial(_tokens, project), act)
