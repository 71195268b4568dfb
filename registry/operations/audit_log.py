"""Audit log: who did what and when, written in the transaction of the action itself."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal, get_args
from urllib.parse import quote

from sqlalchemy import Connection, func, insert, select

from registry.results.codec import to_document
from registry.results.event_data import (
    AliasEvent,
    BaselineEvent,
    ClaimEvent,
    ExperimentEvent,
    GridEvent,
    ItemsEvent,
    ProjectEvent,
    ShareEvent,
    SuiteEvent,
    TokenEvent,
)
from registry.results.events import EventType
from registry.storage.arrivals import Arrival, announce, cut, slug_of
from registry.storage.tables import audit_log, new_id, projects, tokens, users

Action = Literal[
    "project.created",
    "project.updated",
    "project.deleted",
    "project.restored",
    "project.purged",
    "token.created",
    "token.revoked",
    "experiment.updated",
    "experiment.protocol_set",
    "grid.updated",
    "grid.deleted",
    "grid.restored",
    "grid.purged",
    "items.added",
    "alias.created",
    "alias.deleted",
    "suite.set",
    "suite.deleted",
    "baseline.set",
    "baseline.deleted",
    "claim.created",
    "claim.deleted",
    "claim.restored",
    "alert.answered",
    "webhook.created",
    "webhook.updated",
    "webhook.rotated",
    "webhook.tested",
    "webhook.redelivered",
    "webhook.recovered",
    "webhook.disabled",
    "webhook.deleted",
    "share.created",
    "share.revoked",
    "jobs.retried",
    "session.created",
    "session.ended",
    "member.created",
    "member.deleted",
]
ACTIONS: tuple[Action, ...] = get_args(Action)


@dataclass(frozen=True, slots=True)
class Actor:
    """Author of an action: a token or a user in a request or, without both, a command with access to the database."""

    token_id: uuid.UUID | None = None
    request_id: uuid.UUID | None = None
    user_id: uuid.UUID | None = None


COMMAND = Actor()


def record(
    connection: Connection,
    actor: Actor,
    action: Action,
    subject: object,
    *,
    project_id: uuid.UUID | None,
    **detail: Any,
) -> None:
    """Add an entry to the log, and to the project's feed if that tells of such acts. Write details for readers a year
    later: no secrets, and names rather than only ids."""
    connection.execute(
        insert(audit_log).values(
            id=new_id(),
            project_id=project_id,
            action=action,
            subject=str(subject),
            detail=detail,
            **asdict(actor),
        )
    )
    if project_id is not None:
        tell_act(connection, project_id, action, str(subject), detail)


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """Filter of entries; what is empty filters nothing."""

    act: str = ""
    """What was done."""
    actor: str = ""
    """Part of the name of the token or the user."""
    day: date | None = None
    """Day in UTC."""


def find_records(
    connection: Connection, project_id: uuid.UUID | None, wanted: RecordFilter, before: uuid.UUID | None, limit: int
) -> Sequence[Any]:
    """Entries about a project, or (None) about anything, newest first, with the names of the actor and the project."""
    query = (
        select(
            *audit_log.c,
            tokens.c.name.label("token_name"),
            users.c.name.label("user_name"),
            projects.c.slug.label("project"),
        )
        .outerjoin(tokens, tokens.c.id == audit_log.c.token_id)
        .outerjoin(users, users.c.id == audit_log.c.user_id)
        .outerjoin(projects, projects.c.id == audit_log.c.project_id)
    )
    if project_id is not None:
        query = query.where(audit_log.c.project_id == project_id)
    if before is not None:
        query = query.where(audit_log.c.id < before)
    if wanted.act:
        query = query.where(audit_log.c.action == wanted.act)
    if wanted.actor:
        name = func.coalesce(users.c.name, tokens.c.name, "command line")
        query = query.where(func.strpos(func.lower(name), func.lower(wanted.actor)) > 0)
    if wanted.day is not None:
        midnight = datetime.combine(wanted.day, time(), UTC)
        query = query.where(audit_log.c.at >= midnight, audit_log.c.at < midnight + timedelta(days=1))
    return connection.execute(query.order_by(audit_log.c.id.desc()).limit(limit)).all()


def deletions_of(connection: Connection, project_id: uuid.UUID, grid_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, str]:
    """Name of who deleted each of these grids last, by grid."""
    query = (
        select(audit_log.c.subject, func.coalesce(users.c.name, tokens.c.name, "command line").label("name"))
        .outerjoin(tokens, tokens.c.id == audit_log.c.token_id)
        .outerjoin(users, users.c.id == audit_log.c.user_id)
        .where(audit_log.c.project_id == project_id, audit_log.c.action == "grid.deleted")
        .where(audit_log.c.subject.in_([str(one) for one in grid_ids]))
        .order_by(audit_log.c.id)
    )
    return {uuid.UUID(row.subject): row.name for row in connection.execute(query)}


Detail = Mapping[str, Any]
Told = tuple[str, Any]
"""A path, below the project's if it begins with a slash, and the data."""


def tell_act(connection: Connection, project_id: uuid.UUID, action: str, subject: str, detail: Detail) -> None:
    """Announce an act from its entry in the log, if the feed tells of such acts."""
    if action not in _ACTS:
        return
    type_, tell = _ACTS[action]
    path, data = tell(subject, detail)
    below = path if path and not path.startswith("/") else f"projects/{slug_of(connection, project_id)}{path}"
    announce(connection, project_id, [Arrival(type_, below, to_document(data))])


def _token(subject: str, detail: Detail) -> Told:
    said = (detail.get(name) for name in ("name", "role", "expires_at"))
    return f"/tokens/{subject}", TokenEvent(subject, *said)


def _share(subject: str, detail: Detail) -> Told:
    path = cut(detail["path"]) if "path" in detail else None
    return f"/shares/{subject}", ShareEvent(subject, path, detail.get("expires_at"))


def _items(subject: str, detail: Detail) -> Told:
    names, added = detail["names"], {name: detail[name] for name in ("set", "digest", "cells")}
    return f"grids/{subject}", ItemsEvent(subject, detail["revision"], **names, **added)


def _segment(name: str) -> str:
    return quote(name, safe="")


_KINDS: tuple[tuple[Callable[[str, Detail], Told], tuple[EventType, ...]], ...] = (
    (lambda _, told: ("", ProjectEvent(tuple(sorted(told)))), ("project.updated",)),
    (_token, ("token.created", "token.revoked")),
    (_share, ("share.created", "share.revoked")),
    (
        lambda name, _: (f"/experiments/{_segment(name)}", ExperimentEvent(name)),
        ("experiment.updated", "experiment.protocol_set"),
    ),
    (lambda grid, told: (f"grids/{grid}", GridEvent(grid, told["revision"], **told["names"])), ("grid.updated",)),
    (_items, ("items.added",)),
    (
        lambda alias, told: (f"/aliases/{alias}", AliasEvent(told["alias"], told["name"], told["kind"])),
        ("alias.created", "alias.deleted"),
    ),
    (
        lambda _, told: (f"/suites/{_segment(told['name'])}", SuiteEvent(told["name"])),
        ("suite.set", "suite.deleted"),
    ),
    (
        lambda _, told: (f"/baselines/{_segment(told['name'])}", BaselineEvent(told["name"], told["version"])),
        ("baseline.set", "baseline.deleted"),
    ),
    (
        lambda claim, told: (f"claims/{claim}", ClaimEvent(claim, cut(told["text"]))),
        ("claim.created", "claim.deleted", "claim.restored"),
    ),
)
_ACTS: dict[str, tuple[EventType, Callable[[str, Detail], Told]]] = {
    type_: (type_, tell) for tell, types in _KINDS for type_ in types
}
"""Acts that are told of under the names that the log has for them."""
