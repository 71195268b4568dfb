"""What changed in a ranking since an instant: the ranks then and now, and each name against itself as it was."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from sqlalchemy import Connection

from registry.query import RankingQuery
from registry.results.changes import ChangeVerdict, Move, NameChange, RankingChange, moves
from registry.results.pairs import Pair
from registry.results.ranking import Omission, Ranking
from workers.protocols import rules_of
from workers.rankings.ranking_input import THEN, change_input
from workers.rankings.scales import factor_to
from workers.rankings.slots import roles_of
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
        return {row.name: row.rank for row in self.ranking.ranking}

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
    pairs: dict[str, Pair | None] = dict.fromkeys(parts)
    if sum(row.cell_count for side in held for part in {*parts.values()} for row in side.get(part, ())) <= most:
        pairs |= _pairs(connection, project_id, then, now, parts, aliases)
    holm = adjusted([pair.p if pair else None for pair in pairs.values()], "holm")
    pairs = {name: pair and replace(pair, p_holm=p) for (name, pair), p in zip(pairs.items(), holm, strict=True)}
    cells = {row.name: row.cells for row in now.ranking.ranking}

    def told(one: Move) -> NameChange:
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
    """Each changed name, with the part of the grids that it is in, against itself as it was, in the ranking's unit."""
    rules, found = rules_of(connection, project_id, now.query.experiment), []
    only: dict[str, Any] = {} if "" in parts.values() else {now.query.by: tuple(sorted(parts))}
    for side in (then, now) if parts else ():
        found.append(side.parts(scope_rows(connection, project_id, replace(side.query, **only)), aliases))
    for part, names in groupby(parts, parts.__getitem__):
        before, after = (rows.get(part, ()) for rows in found)
        matrix, scale = change_input(now.query, before, after, aliases, rules)
        for name in names:
            yield name, change(matrix, name, THEN + name, now.query.alpha, factor_to(scale, now.ranking.scale))


def _verdict(pair: Pair, ranking: Ranking) -> ChangeVerdict:
    if pair.status == "ok" and pair.p is None:
        return "same_cells"
    if pair.status != "ok" or pair.p_holm is None or pair.p_holm >= ranking.alpha or not pair.difference:
        return "open"
    lower = ranking.scale is not None and ranking.scale.direction == "lower"
    return "worse" if (pair.difference > 0) == lower else "better"
