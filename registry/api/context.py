"""Context of a request, for every view: the parts of the application, the caller, and what the caller may use."""

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, cast
from urllib.parse import urlencode

from flask import current_app, g, request
from sqlalchemy import Connection
from werkzeug.datastructures import ImmutableMultiDict

from registry.api.event_watch import EventWatch, StreamPlaces
from registry.api.problems import request_id
from registry.api.request_policy import RequestPolicy, sent_token
from registry.broker import Notifier
from registry.errors import NotFound, Unauthenticated
from registry.grids.intake import Limits
from registry.operations.audit_log import Actor
from registry.operations.auth import ANYONE, Caller, Role, authenticate, authorize, authorize_operator
from registry.operations.find_claims import find_claim_owner
from registry.operations.idempotency import find_records
from registry.operations.projects import find_project
from registry.operations.read import find_grid, find_owner
from registry.operations.shares import authenticate_share
from registry.operations.webhooks import owner_of_delivery
from registry.settings import Settings
from registry.storage.database import Database


@dataclass(frozen=True)
class Parts:
    """The parts that `create_app` joins."""

    settings: Settings
    database: Database
    notifier: Notifier
    waiters: threading.Semaphore
    """Requests that may wait for a derivation at once, so that the others find a thread."""
    policy: RequestPolicy
    stopping: threading.Event
    """Set when the process is to end: nobody waits for anything any more."""
    watch: EventWatch
    streams: StreamPlaces
    large_bodies: threading.Semaphore
    """Requests with a large body that are read and answered at once."""

    @property
    def limits(self) -> Limits:
        return Limits(self.settings.max_cells, self.settings.max_levels, self.settings.max_name)


def parts() -> Parts:
    return cast(Parts, current_app.extensions["registry"])


def take_share() -> None:
    """Take `share` out of the query before a view reads it."""
    if "share" in request.args:
        g.share = request.args["share"]
        rest = [(name, value) for name, value in request.args.items(multi=True) if name != "share"]
        request.args = ImmutableMultiDict(rest)


def caller(connection: Connection) -> Caller:
    """Caller of this request; a token that is no good is refused, none at all is `ANYONE`."""
    if "caller" not in g:
        token = sent_token()
        if token is None and "share" in g and request.method in ("GET", "HEAD"):
            g.caller = _recognised(lambda: authenticate_share(connection, g.share, request.path))
        else:
            g.caller = ANYONE if token is None else _recognised(lambda: authenticate(connection, token))
            if g.caller.unnoted:
                g.used_token = g.caller.token_id
    return cast(Caller, g.caller)


def actor(connection: Connection) -> Actor:
    """Author of this request, as the audit log names them."""
    who = caller(connection)
    return Actor(who.token_id, uuid.UUID(request_id()), who.user_id)


def _recognised(look: Callable[[], Caller]) -> Caller:
    """The caller; whoever sends what is no good is counted."""
    try:
        found = look()
    except Unauthenticated:
        parts().policy.reject()
        raise
    parts().policy.recognise()
    return found


def enter(connection: Connection, slug: str, needs: Role) -> Any:
    """The row of a project that the caller may use in this role; read once a request."""
    row = g.project if "project" in g else find_project(connection, slug)
    authorize(caller(connection), row, needs)
    return row


View = TypeVar("View", bound=Callable[..., Any])


def asks(view: View) -> View:
    """Decorate a view whose body is a question: readers may ask it, and it changes nothing."""
    view.is_question = True  # type: ignore[attr-defined]
    return view


def authorize_body() -> None:
    """Let in whoever sends a body before it is read: strangers learn nothing from its faults and cost nothing.

    Whoever repeats a request with its Idempotency-Key is let in too where what it was about is gone since.
    """
    arguments = request.view_args or {}
    slug, grid, claim = (arguments.get(name) for name in ("project", "grid", "claim"))
    needs: Role = "writer"
    if hasattr(current_app.view_functions[request.endpoint or ""], "is_question"):
        needs = "reader"
    with parts().database.reading() as connection:
        try:
            if slug is not None:
                g.project = enter(connection, slug, needs)
            elif grid is not None:
                owned(connection, grid, "writer")
            elif claim is not None:
                owned_claim(connection, claim, "writer")
            else:
                authorize_operator(caller(connection))
        except NotFound:
            key = request.headers.get("Idempotency-Key", "")
            answered = find_records(connection, key, slug=slug, grid_id=grid, claim_id=claim) if key.isascii() else []
            if not answered:
                raise
            authorize(caller(connection), answered[0].project, "writer")


def owned_claim(connection: Connection, claim_id: uuid.UUID, needs: Role) -> Any:
    """A claim that is kept, of a project that the caller may use in this role, without its judgement."""
    row = find_claim_owner(connection, claim_id)
    authorize(caller(connection), row, needs)
    return row


def owned_delivery(connection: Connection, delivery_id: uuid.UUID, needs: Role) -> Any:
    """The project of a delivery that the caller may use in this role, and its webhook."""
    row = owner_of_delivery(connection, delivery_id)
    authorize(caller(connection), row, needs)
    return row


@contextmanager
def entered(slug: str, needs: Role = "reader") -> Iterator[tuple[Connection, Any]]:
    """A connection to read by, and the row of a project that the caller may use in this role."""
    with parts().database.reading() as connection:
        yield connection, enter(connection, slug, needs)


def project_for(slug: str, needs: Role) -> Any:
    """Like `enter`, on a connection of its own."""
    with entered(slug, needs) as (_, row):
        return row


def asked_query(**changed: str) -> str:
    """The query of this request with these parameters in place of its own; who reads by a link reads on by it."""
    query = [(name, text) for name, text in request.args.items(multi=True) if name not in changed]
    return urlencode([*query, *changed.items(), *([("share", g.share)] if "share" in g else [])])


def grid_row(connection: Connection, grid_id: uuid.UUID, needs: Role, revision: int | None = None) -> Any:
    """The row of a grid that the caller may use in this role; `NotFound` also for a revision that is not there."""
    row = find_grid(connection, grid_id, revision)
    if row is None and revision is not None:
        authorize(caller(connection), find_grid(connection, grid_id), needs)
        raise NotFound(f"The grid has no revision {revision}.")
    authorize(caller(connection), row, needs)
    return row


def owned(connection: Connection, grid_id: uuid.UUID, needs: Role, *, deleted: bool = False) -> Any:
    """The project of a grid that the caller may use in this role, and its current revision; nothing of its content.

    `deleted`: also of a grid with a tombstone.
    """
    row = find_owner(connection, grid_id, deleted=deleted)
    authorize(caller(connection), row, needs)
    return row
