"""What changed in a ranking since an instant: the ranks then and now, and each name against itself as it was.

What the feed tells of default rankings: another order, or other groups of ties, than it told last.

A result whose inputs changed while it was computed is stored and never served. It is not told either: until the next
one is, the facts of the result hold what was told last.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

import orjson
from sqlalchemy import Connection

from registry.query import RankingQuery, query_of
from registry.results.bi_facts import facts_of_answer
from registry.results.codec import to_document
from registry.results.event_data import RankingEvent
from registry.results.pairs import Pair
from registry.results.ranking import ChangeVerdict, Move, NameChange, Omission, Ranking, RankingChange, moves
from registry.storage.arrivals import Arrival, announce, slug_of
from workers.protocols import rules_of
from workers.rankings.ranking_input import THEN, change_input
from workers.rankings.slots import factor_to, roles_of
from workers.scope import Aliases, alias_map, canonical_names, named_grids, scope_rows
from workers.statistics import change
from workers.statistics.judging import adjusted

_OF_PAIR = ("difference", "interval", "p", "p_holm", "detectable", "test", "reason")


@dataclass(frozen=True, slots=True)
class Side:
    """A ranking of an instant, its question, and the grids that its protocols leave out."""

    query: RankingQuery
    ranking: Ranking
    left_out: Collection[uuid.UUID]

    def ranks(self) -> dict[str, int | None]:
        """The ranks of the names that have any cell."""
        return {row.name: row.rank for row in self.ranking.ranking if row.cells}

    def open_ranks(self) -> dict[str, tuple[int | None, int | None]]:
        """The best and the worst rank that the tests leave open to each name."""
        return {row.name: (row.rank_low, row.rank_high) for row in self.ranking.ranking}

    def parts(self, rows: Iterable[Any], aliases: Aliases) -> Mapping[str, Sequence[Any]]:
        """The rows by the name that each is of; by "" where levels are ranked."""
        found = defaultdict[str, list[Any]](list)
        for row in rows:
            if row.id not in self.left_out:
                found[roles_of(self.query.by, **canonical_names(row, aliases)).name].append(row)
        return found


def with_change(connection: Connection, project_id: uuid.UUID, then: Side, now: Side, most: int) -> Ranking:
    """The ranking of now with what changed; without, and saying why, where one of the two has no order. Of more than
    `most` cells nothing is subtracted. Only what changed is read."""
    for found in (then.ranking, now.ranking):
        # Where nothing was measured, all names are new, or gone.
        if (
            found.reason
            and not found.ranking
            and (found.status != "insufficient" or (found.slots and found.slots.total))
        ):
            return replace(now.ranking, left_out=(*now.ranking.left_out, Omission("change", found.reason)))
    aliases, ranks = alias_map(connection, project_id), (then.ranks(), now.ranks())
    held = [one.parts(named_grids(connection, project_id, one.query), aliases) for one in (then, now)]
    by_axis = now.query.by.startswith("axis:")
    parts = {name: "" if by_axis else name for name in ranks[1] if name in ranks[0]}
    parts = {name: part for name, part in parts.items() if held[0].get(part) != held[1].get(part)}
    read = sum(row.cell_count for side in held for part in {*parts.values()} for row in side.get(part, ()))
    pairs: dict[str, Pair | None] = dict.fromkeys(parts)
    if read <= most:
        pairs = dict(_pairs(connection, project_id, then, now, parts, aliases))
    holm = adjusted([pair.p if pair else None for pair in pairs.values()], "holm")
    pairs = {name: pair and replace(pair, p_holm=p) for (name, pair), p in zip(pairs.items(), holm, strict=True)}
    cells, opened = {row.name: row.cells for row in now.ranking.ranking}, (then.open_ranks(), now.open_ranks())

    def told(one: Move) -> NameChange:
        ends = (end for side in opened for end in side.get(one.name, (None, None)))
        low_before, high_before, low, high = ends
        return replace(
            changed(one), rank_low_before=low_before, rank_high_before=high_before, rank_low=low, rank_high=high
        )

    def changed(one: Move) -> NameChange:
        where = (one.name, one.before, one.now)
        if one.name not in ranks[0] or one.name not in ranks[1]:
            return NameChange(*where, "new" if one.name in ranks[1] else "gone")
        if one.name not in pairs:
            return NameChange(*where, "unchanged", cells[one.name], 0.0)
        pair = pairs[one.name]
        if pair is None:
            return NameChange(*where, "open", reason="too many cells changed; ask about fewer names")
        numbers: dict[str, Any] = {name: getattr(pair, name) for name in _OF_PAIR}
        return NameChange(*where, _verdict(pair, now.ranking), pair.n_common, **numbers)

    return replace(now.ranking, change=RankingChange(now.query.since, tuple(map(told, moves(*ranks)))))


def _pairs(
    connection: Connection, project_id: uuid.UUID, then: Side, now: Side, parts: Mapping[str, str], aliases: Aliases
) -> Iterator[tuple[str, Pair]]:
    """Each name of a part of the grids in which any cell changed, against itself as it was, in the ranking's unit."""
    rules, found = rules_of(connection, project_id, now.query.experiment), []
    only: dict[str, Any] = {} if "" in parts.values() else {now.query.by: tuple(sorted(parts))}
    for side in (then, now) if parts else ():
        found.append(side.parts(scope_rows(connection, project_id, replace(side.query, **only)), aliases))
    for part, names in groupby(parts, parts.__getitem__):
        before, after = (rows.get(part, ()) for rows in found)
        if (given := change_input(now.query, before, after, aliases, rules)) is None:
            continue
        matrix, scale = given
        for name in names:
            yield name, change(matrix, name, THEN + name, now.query.alpha, factor_to(scale, now.ranking.scale))


def _verdict(pair: Pair, ranking: Ranking) -> ChangeVerdict:
    if pair.status == "ok" and pair.p is None:
        return "same_cells"
    if pair.status != "ok" or pair.p_holm is None or pair.p_holm >= ranking.alpha or not pair.difference:
        return "open"
    lower = ranking.scale is not None and ranking.scale.direction == "lower"
    return "worse" if (pair.difference > 0) == lower else "better"


_RANK, _NAME, _GROUPS = 0, 1, 9
"""Places in a row of the facts, as `registry.results.bi_facts.RankingRow` has them."""
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
    moved = (
        sorted((one for one in moves(were, ranks) if one.before != one.now), key=_news) if before is not None else []
    )
    event = RankingEvent(
        experiment,
        metric,
        models=len(now),
        leaders=tuple(leaders[:_MOST_LEADERS]),
        leader_count=len(leaders),
        tied_with_leader=sum(bool(letters & set(row[_GROUPS])) for row in now[1:]),
        first=before is None,
        moved=tuple(moved[:_MOST_MOVED]),
        moved_count=len(moved),
    )
    told: dict[str, Any] = to_document(event)
    return told if len(orjson.dumps(told)) <= _MOST_BYTES else {**told, "moved": []}


def _news(one: Move) -> tuple[bool, int]:
    """Key by which who is new or gone comes first, then who moved furthest."""
    return one.before is not None and one.now is not None, -abs((one.before or 0) - (one.now or 0))


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
