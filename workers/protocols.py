"""Screen the grids of a scope by protocol, before they are compared: which were measured alike, as far as is said.

Values are compared within a benchmark, so the protocols of each benchmark are looked at by themselves: the grids whose
binding keys have the commonest values are compared, and so are those that do not say some of these keys, unless the
experiment requires it. What is compared never differs in a binding key that both grids say.
"""

import json
import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, func, select

from registry.grids.protocol import Protocol, Rules, differences, joined, varying
from registry.query import AggregatesQuery, Query, RankingQuery
from registry.results.codec import to_document
from registry.results.ranking import Ranking
from registry.results.terms import Incomparable, ProtocolDifference, Warning
from registry.storage.database import Database
from registry.storage.keys import grids_at, of_current
from registry.storage.tables import experiments, stored_revisions
from workers.scope import Aliases, alias_map, canonical_names, conditions

MOST_LISTED = 1_000
"""Grids that an answer lists as left out."""


def rules_of(connection: Connection, project_id: uuid.UUID, experiment: str) -> Rules:
    """The rules of an experiment, which is named as its aliases stand for."""
    here = (experiments.c.project_id == project_id, experiments.c.name == experiment)
    return Rules.of(connection.scalar(select(experiments.c.protocol_rules).where(*here)))


@dataclass(frozen=True, slots=True)
class Screen:
    """The grids of a scope that are left out because of their protocols, and doubts about the others."""

    incomparable: tuple[Incomparable, ...] = ()
    ids: frozenset[uuid.UUID] = frozenset()
    warnings: tuple[Warning, ...] = ()


@dataclass(frozen=True, slots=True)
class _Benchmark:
    """The protocols of one benchmark by their JSON, how many grids have each, and those that are compared: `common` has
    what they say of the binding keys."""

    protocols: Mapping[str, Protocol | None]
    counts: Mapping[str, int]
    common: Protocol
    compared: frozenset[str]


def screen_of(database: Database, project_id: uuid.UUID, query: Query) -> Screen:
    """What the protocols of the grids in a scope mean for a ranking or a table of them; nothing for other
    queries. Where coordinates are compared within each grid, no grid is left out, and the warnings say so."""
    if not isinstance(query, RankingQuery | AggregatesQuery):
        return Screen()
    with database.reading() as connection:
        return _screened(connection, project_id, query, alias_map(connection, project_id))


def with_left_out(result: Any, screen: Screen) -> Any:
    """A ranking, or the document of a table, with what was left out of it, and why what was not is doubted."""
    if not screen.incomparable and not screen.warnings:
        return result
    if isinstance(result, Ranking):
        warnings = result.warnings + screen.warnings
        return replace(result, incomparable=screen.incomparable or None, warnings=warnings)
    left_out = {"incomparable": to_document(screen.incomparable)} if screen.incomparable else {}
    return result | left_out | {"warnings": [*result.get("warnings", ()), *to_document(screen.warnings)]}


def _screened(connection: Connection, project_id: uuid.UUID, query: Query, aliases: Aliases) -> Screen:
    """The same, the derived grids aside."""
    rules = rules_of(connection, project_id, query.experiment)
    there = grids_at(project_id, query.as_of)
    stored = there, stored_revisions, of_current(stored_revisions, there)
    where = (*conditions(aliases, project_id, query, there), stored_revisions.c.derived.is_(None))
    groups = select(there.c.benchmark, stored_revisions.c.protocol, func.count().label("grids"))
    groups = groups.join_from(*stored).where(*where).group_by(there.c.benchmark, stored_revisions.c.protocol)
    found = _benchmarks(rules, connection.execute(groups).all(), aliases)
    if getattr(query, "by", "").startswith("axis:"):
        return Screen(warnings=tuple(_averaged(rules, found.values())))
    compared = ([(one.protocols[name], one.counts[name]) for name in one.compared] for one in found.values())
    warnings = tuple(doubts(rules, compared))
    if all(one.compared == one.protocols.keys() for one in found.values()):
        return Screen(warnings=warnings)
    columns = (there.c.id, there.c.revision, there.c.benchmark, there.c.model, there.c.variant)
    rows = connection.execute(select(*columns, stored_revisions.c.protocol).join_from(*stored).where(*where))
    left_out = [
        _incomparable(rules, row, canonical_names(row, aliases), found[benchmark].common)
        for row in rows
        for benchmark in [_name(aliases, row.benchmark)]
        if _text(row.protocol) not in found[benchmark].compared
    ]
    left_out.sort(key=lambda one: (one.benchmark, one.model, one.variant, one.grid))
    ids = frozenset(uuid.UUID(one.grid) for one in left_out)
    return Screen(tuple(left_out[:MOST_LISTED]), ids, (*_unlisted(len(left_out)), *warnings))


def protocol_doubts(rules: Rules, mine: Protocol | None, theirs: Protocol | None) -> Iterator[Warning]:
    """Doubts about comparing a baseline and a contender of these protocols, which nothing forbids."""
    others = [one for one in differences(mine, theirs) if one.is_known and rules.role_of(one.key) == "other"]
    if others:
        yield Warning("protocol_differs", f"The protocols differ in {joined(map(str, others))}; no such key binds.")
    if rules or mine or theirs:
        for side, protocol in (("baseline", mine), ("contender", theirs)):
            if unsaid := rules.unsaid(protocol):
                yield Warning("protocol_unknown", f"The {side} does not say {unsaid}.")


def _benchmarks(rules: Rules, groups: Sequence[Any], aliases: Aliases) -> dict[str, _Benchmark]:
    protocols: dict[str, dict[str, Protocol | None]] = {}
    counts: dict[str, Counter[str]] = {}
    for row in groups:
        name, text = _name(aliases, row.benchmark), _text(row.protocol)
        protocols.setdefault(name, {})[text] = row.protocol
        counts.setdefault(name, Counter())[text] += row.grids
    return {
        name: _Benchmark(known, counts[name], *commonest(rules, known, counts[name]))
        for name, known in protocols.items()
    }


def commonest(
    rules: Rules, protocols: Mapping[str, Protocol | None], counts: Mapping[str, int]
) -> tuple[Protocol, frozenset[str]]:
    """What the protocols that are compared say of the binding keys, and which these are, by name.

    Values of the binding keys are taken up in the order of how many grids have them, then of how many keys are said,
    then of their JSON; those that differ from what was taken up are not compared. So no two that are compared differ.
    """
    said = {name: {key: one[key] for key in rules.binding if one and key in one} for name, one in protocols.items()}
    usable = [name for name, one in protocols.items() if not rules.required or rules.is_whole(one)]
    grids_of = Counter[str]()
    for name in usable:
        grids_of[_text(said[name])] += counts[name]
    common: dict[str, Any] = {}
    taken = set[str]()
    for name in sorted(usable, key=lambda name: (-grids_of[_text(said[name])], -len(said[name]), _text(said[name]))):
        if all(_text(common.get(key, value)) == _text(value) for key, value in said[name].items()):
            common |= said[name]
            taken.add(name)
    return common, frozenset(taken)


def _incomparable(rules: Rules, row: Any, names: Mapping[str, str], common: Protocol) -> Incomparable:
    own = {key: value for key, value in (row.protocol or {}).items() if key in rules.binding}
    differs = [one for one in differences(common, own) if one.is_known or rules.required]
    return Incomparable(
        str(row.id),
        row.revision,
        **names,
        differs=tuple(ProtocolDifference(*one, "binding") for one in differs),
    )


def doubts(rules: Rules, benchmarks: Iterable[Sequence[tuple[Protocol | None, int]]]) -> Iterator[Warning]:
    """Keys that do not bind in which grids of one benchmark differ, and grids that do not say the keys that do: of each
    benchmark the protocols that are compared, with how many grids have each."""
    keys, silent, total, any_said = set[str](), list[tuple[Protocol | None, int]](), 0, bool(rules)
    for compared in benchmarks:
        keys |= varying([protocol for protocol, _ in compared if protocol])
        silent += [(protocol, count) for protocol, count in compared if not rules.is_whole(protocol)]
        total += sum(count for _, count in compared)
        any_said |= any(protocol for protocol, _ in compared)
    if others := sorted(key for key in keys if rules.role_of(key) == "other"):
        detail = (
            f"Grids of one benchmark were measured by protocols that differ in {joined(others)}; no such key binds."
        )
        yield Warning("protocol_differs", detail)
    if silent and any_said:
        unsaid = rules.unsaid(*(protocol for protocol, _ in silent))
        count = sum(count for _, count in silent)
        detail = f"{count:,} of {total:,} grids do not say {unsaid}; they are compared all the same."
        yield Warning("protocol_unknown", detail)


def _averaged(rules: Rules, benchmarks: Collection[_Benchmark]) -> Iterator[Warning]:
    """Doubts about averages over grids, each of which is compared within itself, so that all of them count."""
    said = [[protocol for protocol in one.protocols.values() if protocol] for one in benchmarks]
    keys = {key for protocols in said for key in varying(protocols)}
    if binding := sorted(key for key in keys if rules.role_of(key) == "binding"):
        told = f"Grids of one benchmark were measured by protocols that differ in {joined(binding)}, by which"
        detail = f"{told} they are not comparable; coordinates are compared within each grid, and all grids count."
        yield Warning("protocol_differs", detail)
    yield from doubts(
        rules, ([(one.protocols[name], count) for name, count in one.counts.items()] for one in benchmarks)
    )


def _unlisted(count: int) -> Iterator[Warning]:
    if count > MOST_LISTED:
        detail = f"{count:,} grids are left out because of their protocols; the first {MOST_LISTED:,} are listed."
        yield Warning("protocol_left_out", detail)


def _name(aliases: Aliases, benchmark: str) -> str:
    return aliases.get(("benchmark", benchmark), benchmark)


def _text(value: Any) -> str:
    """Equal for equal protocols and values, and for no others."""
    return json.dumps(value, sort_keys=True)
