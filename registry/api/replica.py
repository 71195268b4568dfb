"""Where a request reads: from the replica if that is as new as the client needs, and the headers that tell it."""

import math
from contextlib import suppress

from flask import Flask, Response, g, request

from registry.api.context import parts
from registry.errors import RegistryError
from registry.operations.auth import note_use
from registry.storage.replica import ReplicatedDatabase, header_of, position_of

POSITION, LAG = "Registry-Position", "Registry-Lag"
_OF_THE_PROCESS = ("/healthz", "/readyz", "/metrics")


def register(app: Flask) -> None:
    """Note when tokens were used; where there is a replica, choose where to read and say how old that is."""
    app.before_request(_choose)
    app.after_request(_note_use)
    app.after_request(_tell)
    app.teardown_request(_leave)


def _choose() -> None:
    database = parts().database
    if not isinstance(database, ReplicatedDatabase):
        return
    database.leave()
    sent = request.headers.get(POSITION)
    conditional = "If-None-Match" in request.headers or "If-Modified-Since" in request.headers
    # A browser sends its cookie and no position: it reads what it has just changed. Without a position, what is not
    # modified on a replica may be on the primary.
    if request.method not in ("GET", "HEAD") or request.path in _OF_THE_PROCESS or request.cookies:
        return
    if sent is not None or not conditional:
        database.choose(None if sent is None else position_of(sent))


def _tell(response: Response) -> Response:
    database = parts().database
    if isinstance(database, ReplicatedDatabase) and response.status_code < 500:
        if database.behind is not None:
            response.headers[LAG] = f"{math.ceil(10 * database.behind) / 10:.1f}"
        if request.method not in ("GET", "HEAD") or POSITION in request.headers:
            with suppress(RegistryError):
                response.headers[POSITION] = header_of(database.position())
    return response


def _note_use(response: Response) -> Response:
    """Note that the caller's token was used. Not while it is looked up, for a replica or a standby takes no writes."""
    if "used_token" in g:
        with suppress(RegistryError), parts().database.transaction() as connection:
            note_use(connection, g.pop("used_token"))
    return response


def _leave(_error: BaseException | None) -> None:
    database = parts().database
    if isinstance(database, ReplicatedDatabase):
        database.leave()
