"""Events for tests of the feed: told without an act, and read from a stream."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from registry.storage.arrivals import Arrival, announce
from tests.house import Project
from workers.jobs.upkeep import sequence_arrivals


def tell(project: Project, *numbers: int, kind: str = "grid.published", **data: Any) -> None:
    """Announce and sequence an event for each number, which its subject and its data have."""
    happened = [Arrival(kind, f"grids/{number}", {"number": number, **data}) for number in numbers]  # type: ignore[arg-type]
    with project.house.database.transaction() as connection:
        announce(connection, project.id, happened)
    sequence_arrivals(project.house.database)


def messages(pieces: Iterable[bytes]) -> Iterator[dict[str, str]]:
    """The fields of each message of server-sent events, as they come; a comment is a message without any."""
    rest = ""
    for piece in pieces:
        rest += piece.decode()
        *whole, rest = rest.split("\n\n")
        for one in whole:
            lines = [line.split(": ", 1) for line in one.splitlines() if not line.startswith(":")]
            yield dict(lines)


def numbers(told: Iterable[dict[str, str]]) -> list[int]:
    """The numbers of the events among these messages."""
    return [json.loads(one["data"])["data"]["number"] for one in told if "data" in one]


def first(told: Iterable[dict[str, str]], count: int) -> list[dict[str, str]]:
    """The first messages that are events: between them a slow machine has time for heartbeats."""
    return list(islice((one for one in told if "data" in one), count))
