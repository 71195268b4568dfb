"""What the feed of a project tells of acts in its audit log: each once, in the transaction of the act.

Of members and sessions, and of the beginning and the end of the project, the feed does not tell. Deleted and restored
grids, answers to alerts and purges announce themselves, where more of them is known.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection

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


def _project(_subject: str, detail: Detail) -> Told:
    return "", ProjectEvent(tuple(sorted(detail)))


def _token(subject: str, detail: Detail) -> Told:
    said = (detail.get(name) for name in ("name", "role", "expires_at"))
    return f"/tokens/{subject}", TokenEvent(subject, *said)


def _share(subject: str, detail: Detail) -> Told:
    path = cut(detail["path"]) if "path" in detail else None
    return f"/shares/{subject}", ShareEvent(subject, path, detail.get("expires_at"))


def _experiment(subject: str, _detail: Detail) -> Told:
    return f"/experiments/{_segment(subject)}", ExperimentEvent(subject)


def _grid(subject: str, detail: Detail) -> Told:
    return f"grids/{subject}", GridEvent(subject, detail["revision"], **detail["names"])


def _items(subject: str, detail: Detail) -> Told:
    names, added = detail["names"], {name: detail[name] for name in ("set", "digest", "cells")}
    return f"grids/{subject}", ItemsEvent(subject, detail["revision"], **names, **added)


def _alias(subject: str, detail: Detail) -> Told:
    return f"/aliases/{subject}", AliasEvent(detail["alias"], detail["name"], detail["kind"])


def _suite(_subject: str, detail: Detail) -> Told:
    return f"/suites/{_segment(detail['name'])}", SuiteEvent(detail["name"])


def _baseline(_subject: str, detail: Detail) -> Told:
    return f"/baselines/{_segment(detail['name'])}", BaselineEvent(detail["name"], detail["version"])


def _claim(subject: str, detail: Detail) -> Told:
    return f"claims/{subject}", ClaimEvent(subject, cut(detail["text"]))


def _segment(name: str) -> str:
    return quote(name, safe="")


_KINDS: tuple[tuple[Callable[[str, Detail], Told], tuple[EventType, ...]], ...] = (
    (_project, ("project.updated",)),
    (_token, ("token.created", "token.revoked")),
    (_share, ("share.created", "share.revoked")),
    (_experiment, ("experiment.updated", "experiment.protocol_set")),
    (_grid, ("grid.updated",)),
    (_items, ("items.added",)),
    (_alias, ("alias.created", "alias.deleted")),
    (_suite, ("suite.set", "suite.deleted")),
    (_baseline, ("baseline.set", "baseline.deleted")),
    (_claim, ("claim.created", "claim.updated", "claim.deleted", "claim.restored")),
)
_ACTS: dict[str, tuple[EventType, Callable[[str, Detail], Told]]] = {
    type_: (type_, tell) for tell, types in _KINDS for type_ in types
}
"""Acts that are told of under the names that the log has for them."""
