"""Claims that are kept: add and remove them, and request their judgements.

Claims about one experiment and metric are judged in parts, each by one cached result that is never dropped. Whoever
adds or removes a claim locks the project first, then the cached result, then the claim; a worker takes the latter two
in the same order.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import chain
from typing import Any, NamedTuple, cast

import orjson
from sqlalchemy import Connection, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from registry.claims.claim import Claim, atoms_of
from registry.claims.dimensions import names_in
from registry.errors import Fault, Invalid, PreconditionFailed
from registry.operations.audit_log import Action, Actor, record
from registry.operations.claims import Placed, Scope, placed, text_of
from registry.operations.find import Filters
from registry.operations.projects import lock_project
from registry.operations.query_names import unknown_names
from registry.query import StoredClaimsQuery
from registry.results.terms import Warning
from registry.storage.tables import cached_results, claims, new_id

MOST = 100_000
"""Claims of a project."""
MOST_IN_PART = 50
"""Claims that are judged together."""
_REST = 4
"""A part under constant change rests so many times as long as judging it took, for a minute at most."""


class Added(NamedTuple):
    """A claim's row; whether it is new, or was removed before and is back; and names that no grid ever had."""

    row: Any
    is_new: bool
    is_back: bool
    warnings: tuple[Warning, ...]


def add_claims(
    connection: Connection, actor: Actor, project_id: uuid.UUID, sent: Sequence[tuple[str, Claim]]
) -> list[Added]:
    """Keep claims, given with their JSON pointers, in their order. A statement that is there already stays as it is,
    with its text and source; one that was removed is back with its judgements. What is new or back is in the audit log.

    Raises `Invalid` as `placed` does, and when the project has too many claims.
    """
    lock_project(connection, project_id)
    found = placed(connection, project_id, sent)
    digests = [sha256(text_of(claim).encode()).digest() for _, claim in sent]
    here = (claims.c.project_id == project_id, claims.c.digest.in_(digests))
    rows = {bytes(row.digest): row for row in connection.execute(select(claims).where(*here))}
    missing = {
        digest: one
        for digest, one in zip(digests, found, strict=True)
        if digest not in rows or rows[digest].archived_at is not None
    }
    back = missing.keys() & rows.keys()
    _check_count(connection, project_id, len(missing) - len(back))
    queries = _parts_of(connection, project_id, [_scope_of(one) for one in missing.values()])
    request_parts(connection, project_id, queries)
    ids = sorted(new_id() for _ in missing)
    for claim_id, query, (digest, one) in zip(ids, queries, missing.items(), strict=True):
        if digest in back:
            changed = {"archived_at": None, "query_key": query.key, "updated_at": func.now(), **_notes(one.posted)}
            statement: Any = update(claims).where(claims.c.id == rows[digest].id).values(changed)
        else:
            statement = insert(claims).values(
                id=claim_id,
                project_id=project_id,
                digest=digest,
                experiment=query.experiment,
                metric=query.metric,
                query_key=query.key,
                normal=text_of(sent[digests.index(digest)][1]),
                token_id=actor.token_id,
                **_notes(one.posted),
            )
        rows[digest] = connection.execute(statement.returning(*claims.c)).one()
        _record(connection, actor, "claim.restored" if digest in back else "claim.created", rows[digest])
    return [
        Added(rows[digest], digest in missing and digest not in back, digest in back, doubts)
        for digest, doubts in zip(digests, _doubts(connection, project_id, found), strict=True)
    ]


def _scope_of(one: Placed) -> Scope:
    """Experiment and metric as the claim names them: an alias that is made later is followed when it is judged."""
    about = next(atom.about for _, atom in atoms_of(one.posted.says))
    return about.experiment, about.metric


def _notes(claim: Claim) -> dict[str, Any]:
    return {"text": claim.text, "source": dict(claim.source)}


def _check_count(connection: Connection, project_id: uuid.UUID, more: int) -> None:
    """Also those that were removed are counted: they are there until they are purged."""
    kept = connection.scalar(select(func.count()).select_from(claims).where(claims.c.project_id == project_id)) or 0
    if more and kept + more > MOST:
        raise Invalid([Fault("", f"a project has at most {MOST:,} claims; it has {kept:,}")])


def _parts_of(connection: Connection, project_id: uuid.UUID, scopes: Sequence[Scope]) -> list[StoredClaimsQuery]:
    """For each claim the first part of its experiment and metric that has room."""
    held: Counter[uuid.UUID] = Counter()
    for experiment, metric in set(scopes):
        here = (claims.c.project_id == project_id, claims.c.experiment == experiment, claims.c.metric == metric)
        counts = select(claims.c.query_key, func.count().label("claims")).where(*here, claims.c.archived_at.is_(None))
        held.update({row.query_key: row.claims for row in connection.execute(counts.group_by(claims.c.query_key))})
    first: Counter[Scope] = Counter()
    found = []
    for scope in scopes:
        while held[(query := StoredClaimsQuery(*scope, part=first[scope])).key] >= MOST_IN_PART:
            first[scope] += 1
        held[query.key] += 1
        found.append(query)
    return found


def request_parts(connection: Connection, project_id: uuid.UUID, queries: Iterable[StoredClaimsQuery]) -> None:
    """Have these parts judged again, because a claim of them was added or removed."""
    for query in sorted(set(queries), key=lambda one: one.key):
        named = {"experiment": query.experiment, "metric": query.metric}
        asked = {"query": query.document(), "query_key": query.key, "is_default": True}
        statement = upsert(cached_results).values(id=new_id(), project_id=project_id, **named, **asked)
        span = func.least(cached_results.c.seconds * _REST, 60.0)
        rested = cached_results.c.computed_at + func.make_interval(0, 0, 0, 0, 0, 0, span)
        again = {
            "state": "pending",
            "generation": cached_results.c.generation + 1,
            "due_at": func.greatest(func.now(), func.coalesce(rested, func.now())),
            "attempts": 0,
            "reason": None,
            "is_default": True,
        }
        connection.execute(statement.on_conflict_do_update(index_elements=["project_id", "query_key"], set_=again))


def _doubts(connection: Connection, project_id: uuid.UUID, found: Sequence[Placed]) -> Iterator[tuple[Warning, ...]]:
    """For each claim a warning for every name that no grid ever had: it may be published later, or be misspelt."""
    named = [[("experiment", one.scope[0]), ("metric", one.scope[1]), *names_in(one.plain)] for one in found]
    every: dict[str, list[str]] = {}
    for kind, name in dict.fromkeys(chain.from_iterable(named)):
        every.setdefault(kind, []).append(name)
    told: dict[tuple[str, str], str] = {}
    if unknown_names(connection, project_id, Filters(**cast(Any, every))):
        for kind, name in dict.fromkeys(chain.from_iterable(named)):
            only: dict[str, Any] = {kind: [name]}
            for _, detail in unknown_names(connection, project_id, Filters(**only)):
                told[kind, name] = detail
    for names in named:
        yield tuple(Warning("unknown_name", told[one]) for one in names if one in told)


def remove_claim(connection: Connection, actor: Actor, row: Any, expected: Collection[str] | None) -> None:
    """Remove a claim, which the audit log has; its judgements stay until it is purged. Raises `PreconditionFailed`."""
    lock_project(connection, row.project_id)
    part = (cached_results.c.project_id == row.project_id, cached_results.c.query_key == row.query_key)
    changed = {"generation": cached_results.c.generation + 1, "state": "pending", "attempts": 0, "reason": None}
    connection.execute(update(cached_results).where(*part).values(changed))
    _locked(connection, row.id, expected)
    statement = update(claims).where(claims.c.id == row.id).values(archived_at=func.now(), updated_at=func.now())
    gone = connection.execute(statement.returning(*claims.c)).one()
    _record(connection, actor, "claim.deleted", gone, verdict=gone.verdict, judgement=gone.judgement)


def _record(connection: Connection, actor: Actor, action: Action, row: Any, **more: Any) -> None:
    told = {"claim": orjson.loads(row.normal), "text": row.text, "source": row.source} | more
    record(connection, actor, action, row.id, project_id=row.project_id, **told)


def _locked(connection: Connection, claim_id: uuid.UUID, expected: Collection[str] | None) -> Any:
    here = (claims.c.id == claim_id, claims.c.archived_at.is_(None))
    row = connection.execute(select(claims).where(*here).with_for_update(key_share=True)).one_or_none()
    if row is None or (expected is not None and "*" not in expected and tag_of(row) not in expected):
        raise PreconditionFailed("The claim is not as If-Match names it; read it again.")
    return row


def tag_of(row: Any) -> str:
    """Tag of what people wrote beside a claim: it stays when the claim is judged again."""
    return sha256(repr((row.id, row.text, sorted(row.source.items()))).encode()).hexdigest()[:12]
