"""The status page: what is being computed, how long the oldest job waits, and what has failed."""

from typing import Any

from flask import Response

from registry.api.context import caller, parts
from registry.errors import Unavailable
from registry.operations.health import (
    ALIVE_SECONDS,
    Activity,
    activity_of,
    grids_in,
    health_of,
    list_queries,
)
from registry.pages.front import pages
from registry.pages.live import PENDING_SECONDS, SETTLED_SECONDS
from registry.pages.responses import page
from registry.storage.circuit_breaker import AWAY

_LISTED = 50


@pages.get("/status")
def status() -> Response:
    """How the registry fares; grids by name only where the visitor may see them."""
    with parts().database.reading() as connection:
        health = health_of(connection)
        activity = activity_of(connection) if health.migrated else Activity()
        who = caller(connection)
        pending = grids_in(connection, who, "pending", _LISTED + 1) if health.migrated else []
        failed = grids_in(connection, who, "failed", _LISTED + 1) if health.migrated else []
        asked = list_queries(connection, who, "pending", _LISTED + 1) if health.migrated else []
        refused = list_queries(connection, who, "failed", _LISTED + 1) if health.migrated else []

    alive = {f"{role}s": len(activity.alive(role)) for role in ("dispatcher", "worker")}
    writes = parts().database.writes
    listed = {"pending": pending, "failed": failed, "asked": asked, "refused": refused}

    def context() -> dict[str, Any]:
        return {
            "health": health,
            "shown": None,
            "silence": round(ALIVE_SECONDS),
            "writes": writes,
            **alive,
            "oldest": _spoken(health.oldest_seconds),
            **{name: found[:_LISTED] for name, found in listed.items()},
            "cut": {name: len(found) > _LISTED for name, found in listed.items()},
            "every": PENDING_SECONDS if health.pending else SETTLED_SECONDS,
        }

    return page("status.html", [health, listed, alive, writes], context)


def outage(error: Unavailable) -> Response:
    """The status while the database does not answer: what this process knows without it. Monitors ask `/readyz`."""
    since = parts().database.away_since
    told = "The database does not answer." if error.detail == AWAY else error.detail
    context = {"away": told, "since": since, "shown": None, "every": PENDING_SECONDS}
    return page("status.html", [told, since], lambda: context)


def _spoken(seconds: float) -> str:
    """A duration as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
