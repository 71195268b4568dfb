"""Say how the answer that a page shows stands, and what the page's entity tag is made of."""

from typing import Any

from flask import g

from registry.api.answers import answered, settled
from registry.api.context import parts
from registry.operations.health import activity_of


def state_of(found: Any) -> str:
    """`unasked`, `pending`, `ready` or `failed`: how the row of an answer stands."""
    if found is None:
        return "unasked"
    if not settled(found):
        return "pending"
    return "ready" if answered(found) else "failed"


def idle() -> bool:
    """Whether nobody computes what a page waits for: no dispatcher has reported lately. Asked once a request."""
    if "idle" not in g:
        with parts().database.reading() as connection:
            g.idle = not activity_of(connection).alive("dispatcher")
    return bool(g.idle)


def tags_of(found: Any) -> list[object]:
    """Entity tags of a page with this answer."""
    if found is None:
        return []
    whole = [found.etag, found.state, found.generation, found.document_generation, found.invalidated]
    return [*whole, settled(found) or idle()]
