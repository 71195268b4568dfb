"""Claims that are kept: a part of them is judged together, and each judgement that says something new is recorded."""

import math
import time
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

import orjson
import structlog
from sqlalchemy import Connection, and_, bindparam, func, insert, select, update

from registry.claims.claim import FACETS, About, Claim, atoms_of
from registry.claims.dimensions import with_names
from registry.claims.grammar import read_claim
from registry.grids.protocol import Rules
from registry.methods_version import METHODS_VERSION
from registry.query import Query, StoredClaimsQuery
from registry.results.codec import from_bytes, to_bytes, to_document
from registry.results.event_data import JudgementEvent
from registry.results.judgement import Judgement
from registry.storage.arrivals import Arrival, announce, cut
from registry.storage.database import Database
from registry.storage.tables import cached_results, claims, judgements
from workers.claims.answer import judgement_of, sources_of, unknown_names
from workers.claims.facts import Facts
from workers.claims.judgement import judge_claim, left_claim
from workers.jobs.worker_process import TookTooLong
from workers.protocols import rules_of
from workers.scope import Aliases, alias_map, canonical_names, current_rows, named_grids

Marks = list[list[Any]]
"""Id, revision, digest and names of each grid."""
log = structlog.get_logger()

_SHIFT = 20.0
"""Seconds after which the claims that are left wait for the next turn."""


@dataclass(frozen=True)
class Premises:
    """Conditions under which the claims of a part are judged, besides their grids. `known`: the names that there are,
    by kind."""

    aliases: Aliases
    rules: Rules
    known: Mapping[str, Collection[str]]

    def marks(self, rows: Iterable[Any]) -> Marks:
        """The grids in rows with their names and the number and digest of a revision, whose content never changes.

        How many looks a claim had follows from the numbers."""
        found = [
            [str(row.id), row.number, bytes(row.digest).hex(), *canonical_names(row, self.aliases).values()]
            for row in rows
        ]
        return sorted(found)

    def key_of(self, claim: Claim, read: Marks, *, is_large: bool) -> str:
        """SHA-256 of a claim by the names that aliases stand for, the grids that it is judged on, and all else.

        Names that no grid has enter as the warnings that tell what may have been meant, so that other new names change
        nothing.
        """
        unknown = [one.detail for one in unknown_names(claim, self.known)]
        premises = [METHODS_VERSION, repr(claim), read, self.rules.document(), unknown, is_large]
        return sha256(orjson.dumps(premises)).hexdigest()


class Kept(NamedTuple):
    """A claim with its id, by the names that aliases stand for, and the grids whose current revisions it is about."""

    id: uuid.UUID
    claim: Claim
    grids: frozenset[uuid.UUID]


@dataclass
class _Turn:
    """`judged` claims of this turn so far; after one of them it is over at the time `until`."""

    until: float
    judged: int = 0

    @property
    def is_over(self) -> bool:
        return self.judged > 0 and time.monotonic() > self.until


def judge_turn(database: Database, project_id: uuid.UUID, query: StoredClaimsQuery, most_cells: int) -> dict[str, Any]:
    """`judge_part` for some seconds, without the claims that have the key with which they were judged before."""
    mine = (cached_results.c.project_id == project_id, cached_results.c.query_key == query.key)
    with database.reading() as connection:
        document = connection.scalar(select(cached_results.c.document).where(*mine))
    known = from_bytes(document)["judgements"] if document else []
    before = {uuid.UUID(one["id"]): one for one in known}
    return judge_part(database, project_id, query, most_cells, before)


def judge_part(
    database: Database,
    project_id: uuid.UUID,
    query: StoredClaimsQuery,
    most_cells: int,
    before: Mapping[uuid.UUID, Any] | None = None,
) -> dict[str, Any]:
    """Judgements of the claims that are in this part now, each by the grids that it is about; a claim about more than
    `most_cells` cells is not decided.

    With those `before`, which stand where the key is the same, it is one turn of `judge_turn`. `left` claims, which
    would have begun after its end or after one that took too long, have no judgement."""
    told: dict[str, Any] = {"experiment": query.experiment, "metric": query.metric, "part": query.part}
    with database.reading() as connection:
        here = (claims.c.project_id == project_id, claims.c.query_key == query.key, claims.c.archived_at.is_(None))
        rows = connection.execute(select(claims.c.id, claims.c.normal).where(*here).order_by(claims.c.id)).all()
        if not rows:
            return told | {"judgements": [], "left": 0}
        aliases = alias_map(connection, project_id)
        scope = Query(aliases.get(("experiment", query.experiment), query.experiment), query.metric)
        there = {row.id: row for row in named_grids(connection, project_id, scope)}
        rules = rules_of(connection, project_id, scope.experiment)
        names = {one: canonical_names(row, aliases) for one, row in there.items()}
        kept = list(_kept(rows, scope, names, aliases))
    known = {facet: sorted({one[facet] for one in names.values()}) for facet in FACETS}
    premises = Premises(aliases, rules, known)
    by_grids = _by_grids(kept)
    large = {ids for ids in by_grids if sum(there[one].cell_count for one in ids) > most_cells}
    found: dict[uuid.UUID, Any] = {}
    for ids, mine in by_grids.items():
        marks = premises.marks([] if ids in large else [there[one] for one in ids])
        for one in mine:
            key = premises.key_of(one.claim, marks, is_large=ids in large)
            if before and before.get(one.id, {}).get("key") == key:
                found[one.id] = before[one.id]
    turn = _Turn(math.inf if before is None else time.monotonic() + _SHIFT)
    # Claims about the same grids are judged on them together; no two lists of grids are in memory at once.
    for ids, mine in by_grids.items():
        due = [one for one in mine if one.id not in found]
        if due and not turn.is_over:
            found |= _judge_group(database, project_id, due, premises, turn, is_large=ids in large)
    judged = [found[row.id] for row in rows if row.id in found]
    return told | {"judgements": judged, "left": len(rows) - len(judged)}


def _judge_group(
    database: Database, project_id: uuid.UUID, due: Sequence[Kept], premises: Premises, turn: _Turn, *, is_large: bool
) -> dict[uuid.UUID, Any]:
    """Documents of the judgements of claims about the same grids, with their keys, until the turn is over.

    The keys are of the grids that were read here, which may have changed since they were listed."""
    with database.reading() as connection:
        read = [] if is_large else current_rows(connection, sorted(due[0].grids))
    marks = premises.marks(read)
    facts = Facts.of(sources_of(read, premises.aliases), premises.rules, premises.known)
    found = {}
    for one in due:
        if turn.is_over:
            break
        judgement = _judgement(one, facts, turn, is_large=is_large)
        if judgement is None:
            break
        turn.judged += 1
        key = premises.key_of(one.claim, marks, is_large=is_large)
        found[one.id] = {"id": str(one.id), "key": key, **to_document(judgement)}
    return found


def _kept(
    rows: Sequence[Any],
    scope: Query,
    names: Mapping[uuid.UUID, Mapping[str, str]],
    aliases: Mapping[tuple[str, str], str],
) -> Iterator[Kept]:
    meant: dict[About, frozenset[uuid.UUID]] = {}
    for row in rows:
        claim = read_claim(orjson.loads(row.normal))
        claim = with_names(claim, lambda kind, name: aliases.get((kind, name), name))
        abouts = {atom.about for _, atom in atoms_of(claim.says)}
        for about in abouts - meant.keys():
            meant[about] = frozenset(one for one, held in names.items() if _is_about(about, str(one), held))
        # An alias that was deleted may have made two experiments of one: then it is about no grid of either.
        apart = any(not one.grid and (one.experiment, one.metric) != (scope.experiment, scope.metric) for one in abouts)
        yield Kept(row.id, claim, frozenset() if apart else frozenset().union(*(meant[one] for one in abouts)))


def _is_about(about: About, grid: str, names: Mapping[str, str]) -> bool:
    if about.grid:
        return about.grid == grid
    wanted = {facet: getattr(about, facet) for facet in FACETS}
    return all(
        said is None or (said == "" and facet != "variant") or names[facet] == said for facet, said in wanted.items()
    )


def _by_grids(kept: Iterable[Kept]) -> dict[frozenset[uuid.UUID], list[Kept]]:
    found: dict[frozenset[uuid.UUID], list[Kept]] = {}
    for one in kept:
        found.setdefault(one.grids, []).append(one)
    return found


def _judgement(kept: Kept, facts: Facts, turn: _Turn, *, is_large: bool) -> Judgement | None:
    """The judgement; a claim that cannot be judged is not decided, and keeps no other one from its own. None where it
    must wait for a turn with processor time of its own."""
    if is_large:
        return judgement_of(left_claim(kept.claim, facts, "too_large"))
    try:
        return judgement_of(judge_claim(kept.claim, facts))
    except TookTooLong:
        # What is left of the turn has no limit of processor time: the others wait for the next one, which has.
        turn.until = -math.inf
        if turn.judged:
            return None
        return judgement_of(left_claim(kept.claim, facts, "failed"))
    except MemoryError:
        raise
    except Exception as error:
        log.error("claim not judged", claim=str(kept.id), error=repr(error))
        return judgement_of(left_claim(kept.claim, facts, "failed"))


_DIGITS = 9
"""Significant digits in which numbers are compared: another machine may round the last ones in another way."""
_COMPARED = ("verdict", "as_posted", "beyond_noise", "reason", "robust_to_missing", "depends_on_reading")
_OF_PARTS = ("part", "group", "as_posted", "beyond_noise", "reason")
_OF_NUMBERS = ("estimate", "low", "high", "cells")


def told_of(claim: Any, number: int, document: Mapping[str, Any]) -> Arrival:
    """The event of a judgement of a claim, whose row still has the verdict before."""
    first = next(iter(document["parts"]), None)
    event = JudgementEvent(
        claim=str(claim.id),
        judgement=number,
        verdict=document["verdict"],
        beyond_noise=document["beyond_noise"],
        reason=document["reason"],
        estimate=first["numbers"].get("estimate") if first else None,
        experiment=claim.experiment,
        metric=claim.metric,
        text=cut(claim.text),
    )
    said, subject = to_document(event), f"claims/{claim.id}"
    # The judgement before may have been purged with its grids: then nothing is known to have flipped.
    if claim.verdict in (None, event.verdict):
        return Arrival("claim.judged", subject, said)
    return Arrival("claim.flipped", subject, {**said, "before": claim.verdict})


def record_judgements(connection: Connection, row: Any, result: Mapping[str, Any]) -> None:
    """Add the judgements that differ from the latest ones in verdicts, reason or numbers. Where claims are left, the
    part is due again at once, and not ready."""
    if result["left"]:
        again = {"state": "pending", "due_at": func.now(), "document_generation": row.generation - 1}
        connection.execute(update(cached_results).where(cached_results.c.id == row.id).values(again))
    judged = {uuid.UUID(one["id"]): one for one in result["judgements"]}
    added, told = [], []
    for known in connection.execute(_latest(row.project_id, row.query_key)):
        document = {name: said for name, said in judged.get(known.id, {}).items() if name not in ("id", "key")}
        mark = fingerprint(document) if document else b""
        if mark and (known.fingerprint is None or bytes(known.fingerprint) != mark):
            verdicts = {name: document[name] for name in ("verdict", "as_posted", "beyond_noise", "reason", "inputs")}
            numbered = {"claim_id": known.id, "number": known.judgement + 1, "generation": row.generation}
            written = {"document": to_bytes(document), "fingerprint": mark, "methods_version": METHODS_VERSION}
            added.append({**numbered, **verdicts, **written})
            told.append(told_of(known, known.judgement + 1, document))
    if added:
        connection.execute(insert(judgements), added)
        latest: dict[str, Any] = {"judgement": bindparam("new_number"), "verdict": bindparam("new_verdict")}
        statement = update(claims).where(claims.c.id == bindparam("of")).values(latest)
        columns = {"of": "claim_id", "new_number": "number", "new_verdict": "verdict"}
        connection.execute(statement, [{name: one[column] for name, column in columns.items()} for one in added])
        announce(connection, row.project_id, told)


def _latest(project_id: Any, key: uuid.UUID) -> Any:
    """Claims of a part as they stand, with the fingerprints of their latest judgements, locked."""
    latest = and_(judgements.c.claim_id == claims.c.id, judgements.c.number == claims.c.judgement)
    here = (claims.c.project_id == project_id, claims.c.query_key == key, claims.c.archived_at.is_(None))
    said = (claims.c[name] for name in ("id", "judgement", "verdict", "text", "experiment", "metric"))
    query = select(*said, judgements.c.fingerprint).outerjoin(judgements, latest)
    return query.where(*here).order_by(claims.c.id).with_for_update(of=claims, key_share=True)


def fingerprint(document: Mapping[str, Any]) -> bytes:
    """SHA-256 of verdicts, reason and numbers: not of the revisions that were read, nor of words."""
    said: dict[str, Any] = {name: document[name] for name in _COMPARED}
    parts = [
        {name: part.get(name) for name in _OF_PARTS} | {name: part["numbers"].get(name) for name in _OF_NUMBERS}
        for part in document["parts"]
    ]
    said |= {"parts": _rounded(parts), "parts_left_out": document["parts_left_out"]}
    return sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).digest()


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return float(f"{value:.{_DIGITS}g}")
        case Mapping():
            return {name: _rounded(said) for name, said in value.items()}
        case list() | tuple():
            return [_rounded(one) for one in value]
    return value
