"""What the feed tells of default rankings: another order, or other groups of ties, than it told last.

A result whose inputs changed while it was computed is stored and never served. It is not told either: until the next
one is, the facts of the result hold what was told last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any
from urllib.parse import urlencode

import orjson
from sqlalchemy import Connection

from registry.query import query_of
from registry.results.changes import moves
from registry.results.codec import to_document
from registry.results.event_data import RankingEvent
from registry.results.ranking import Ranking
from registry.storage.arrivals import Arrival, announce, slug_of
from registry.storage.bi_facts import facts_of_answer

_RANK, _NAME, _GROUPS = 0, 1, 9
"""Places in a row of the facts, as `registry.results.facts.RankingRow` has them."""
_TOLD, _READ_AT = "told", "read_at"
"""Names in the facts: the rows that were told last, and the instant as of which the grids of what was told are."""
_MOST_LEADERS, _MOST_MOVED, _MOST_BYTES = 3, 5, 1_500
Rows = Sequence[Sequence[Any]]


def facts_told(row: Any, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a ranking that is told, with the instant at which `row`, its question, was claimed: what was done
    before is in them."""
    return {**facts, _READ_AT: row.claimed_at.astimezone(UTC).isoformat().replace("+00:00", "Z")}


def facts_untold(row: Any, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a ranking that is not told, with what was told last. `row` is that of its question."""
    rows, read_at = _told_last(row)
    return {**facts, _TOLD: rows, _READ_AT: read_at}


def record_ranking(connection: Connection, row: Any, found: Ranking) -> None:
    """Announce a default ranking if it differs from the one that was told last; the first one that is not empty does.

    `row` is the claimed question, which the transaction has settled and so holds.
    """
    if not row.is_default:
        return
    facts = facts_told(row, to_document(facts_of_answer(found)))
    (before, since), now = _told_last(row), facts["ranking"]
    if _order(before or ()) == _order(now):
        return
    query = query_of(row.query)
    instants = {"since": since, "as_of": facts[_READ_AT]} if before is not None and since else {}
    told = change_of(query.experiment, query.metric, before, now) | instants
    asked = urlencode({"experiment": query.experiment, "metric": query.metric, **instants})
    subject = f"projects/{slug_of(connection, row.project_id)}/rankings?{asked}"
    announce(connection, row.project_id, [Arrival("ranking.changed", subject, told)])


def change_of(experiment: str, metric: str, before: Rows | None, now: Rows) -> dict[str, Any]:
    """What is told of a change, from rows of facts."""
    leaders = [row[_NAME] for row in now if row[_RANK] == 1]
    letters = set(now[0][_GROUPS]) if now else set()
    were, ranks = ({row[_NAME]: row[_RANK] for row in rows} for rows in (before or (), now))
    moved = [one for one in moves(were, ranks) if one.before != one.now]
    event = RankingEvent(
        experiment,
        metric,
        models=len(now),
        leaders=tuple(leaders[:_MOST_LEADERS]),
        leader_count=len(leaders),
        tied_with_leader=sum(bool(letters & set(row[_GROUPS])) for row in now[1:]),
        first=before is None,
        moved=tuple(moved) if before is not None and len(moved) <= _MOST_MOVED else (),
    )
    told: dict[str, Any] = to_document(event)
    return told if len(orjson.dumps(told)) <= _MOST_BYTES else {**told, "moved": []}


def _told_last(row: Any) -> tuple[Rows | None, str | None]:
    """Rows of the facts of the ranking that was told last, and when its grids were read; None before the first."""
    if not row.is_default or row.facts is None:
        return None, None
    return row.facts.get(_TOLD, row.facts["ranking"]), row.facts.get(_READ_AT)


def _order(rows: Rows) -> tuple[Any, Any]:
    """The names with their ranks, and the sets of those that the tests do not separate."""
    groups: dict[str, set[str]] = {}
    for row in rows:
        for letter in row[_GROUPS]:
            groups.setdefault(letter, set()).add(row[_NAME])
    return {(row[_RANK], row[_NAME]) for row in rows}, {frozenset(names) for names in groups.values()}
