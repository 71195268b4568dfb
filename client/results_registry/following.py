"""Follow what happens in a project: its events in one order, through restarts of the registry and lost connections."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from results_registry.config import Config
from results_registry.errors import NotNow, Unreachable
from results_registry.http import Transport
from results_registry.origin import backoff, segment
from results_registry.reading import Names, configured

_AT_ONCE = 1_000


def events(
    project: str | None = None,
    *,
    after: str | datetime | None = None,
    type: Names = None,
    follow: bool = False,
    **where: Any,
) -> Iterator[dict[str, Any]]:
    """The events of a project in their order, each once: all that are kept, or those after a cursor, an instant or
    `"now"`. With `follow` it goes on as they happen, and does not end.

    `type` is a type or all of a kind, as `"claim.*"`; `where` is `url`, `token`, and the feed's own `experiment`,
    `benchmark`, `model` and `metric`. To go on later, keep the `cursor` of the last event that was dealt with, and give
    it as `after`. While it follows, a registry that does not answer is asked again until it does; `Refused` with status
    410 says that events after the cursor are not kept any more.
    """
    config, more = configured({**where, "project": project})
    begin = after.isoformat() if isinstance(after, datetime) else after
    return followed(config, {"type": type, **more}, begin, follow=follow)


def followed(config: Config, asked: Mapping[str, Any], after: str | None, *, follow: bool) -> Iterator[dict[str, Any]]:
    """Like `events`, of a registry that was found."""
    path, cursor, attempt = f"projects/{segment(config.project or '')}/events", after, 0
    with config.transport() as transport:
        while True:
            try:
                for event, behind in _told(transport, path, asked, cursor, follow=follow):
                    cursor, attempt = behind, 0
                    if event is not None:
                        yield event
                if not follow:
                    return
            except (Unreachable, NotNow) as error:
                if not follow:
                    raise
                attempt += 1
                time.sleep(backoff(attempt, float(error.after)))


def _told(
    transport: Transport, path: str, asked: Mapping[str, Any], after: str | None, *, follow: bool
) -> Iterator[tuple[dict[str, Any] | None, str]]:
    """Events, each with the cursor behind it, page by page and then from one stream; None where only that moved."""
    while True:
        page = transport.get(path, **asked, after=after, limit=_AT_ONCE)
        for event in page["items"]:
            yield event, event["cursor"]
        after = page["next"]
        yield None, page["next"]
        if page["next"] == page["head"]:
            break
    if follow:
        query = {**asked, "after": after}
        with transport.stream(path, query=query, headers={"Accept": "text/event-stream"}) as (_, chunks):
            for message in _messages(chunks):
                if "id" in message:
                    yield (json.loads(message["data"]) if "data" in message else None), message["id"]


def _messages(chunks: Iterable[bytes]) -> Iterator[dict[str, str]]:
    """The fields of each message of server-sent events, as our registry writes them: each on one line."""
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n\n")
        for message in whole:
            lines = [line.partition(": ") for line in message.decode().splitlines() if not line.startswith(":")]
            yield {name: text for name, _, text in lines}
