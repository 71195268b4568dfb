"""Claims that are kept: add and remove them, and request their judgements.

Claims about one experiment and metric are judged in parts, each by one cached result that is never dropped. Whoever
adds or removes a claim locks the project first, then the cached result, then the claim; a worker takes the latter two
in the same order.
"""

import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import chain
from typing import Any, NamedTuple, cast

import orjson
from sqlalchemy import Connection, exists, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from registry.claims.claim import FACETS, About, Atom, Claim, Part, atoms_of
from registry.claims.dimensions import faults_of, names_in, with_names
from registry.claims.normal import normal_form
from registry.errors import Fault, Invalid, PreconditionFailed
from registry.operations.audit_log import Action, Actor, record
from registry.operations.find_grids import Filters
from registry.operations.names import joined_names
from registry.operations.projects import lock_project
from registry.operations.query_names import axes_in, known_metrics_text, known_names_text, unknown_names
from registry.query import ClaimsQuery, StoredClaimsQuery
from registry.results.terms import Warning
from registry.storage.tables import aliases, cached_results, claims, grids, new_id

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


def _scope_of(one: "Placed") -> "Scope":
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


def _parts_of(connection: Connection, project_id: uuid.UUID, scopes: "Sequence[Scope]") -> list[StoredClaimsQuery]:
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


def _doubts(connection: Connection, project_id: uuid.UUID, found: "Sequence[Placed]") -> Iterator[tuple[Warning, ...]]:
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


Scope = tuple[str, str]
"""An experiment and a metric."""
_MOST_NAMES = 500
"""Names that are looked through for one that is like a misspelt one."""


class Questions(NamedTuple):
    """The questions that claims ask, one an experiment and metric, and for each claim which of them has its answer at
    which place."""

    asked: tuple[ClaimsQuery, ...]
    places: tuple[tuple[int, int], ...]


class Placed(NamedTuple):
    """A claim with its JSON pointer in what was sent. `posted` has the names of the grids that it gives by their ids,
    `plain` also has no aliases; `scope` is what the plain one is about."""

    pointer: str
    posted: Claim
    plain: Claim
    scope: Scope


def questions_of(connection: Connection, project_id: uuid.UUID, claims: Sequence[tuple[str, Claim]]) -> Questions:
    """The questions of some claims, each with its JSON pointer in what was sent.

    Raises what `placed` raises, and `Invalid` for experiments and metrics of which there is no grid.
    """
    found: dict[Scope, list[tuple[int, Claim]]] = {}
    faults: list[Fault] = []
    for place, one in enumerate(placed(connection, project_id, claims)):
        if one.scope not in found:
            why = _without_grids(connection, project_id, one.scope)
            faults += [Fault(one.pointer + at, told) for at, told in why]
        found.setdefault(one.scope, []).append((place, one.plain))
    if faults:
        raise Invalid(faults)
    asked: list[ClaimsQuery] = []
    places: dict[int, tuple[int, int]] = {}
    for scope, mine in found.items():
        texts = tuple(dict.fromkeys(text_of(claim) for _, claim in mine))
        for place, claim in mine:
            places[place] = (len(asked), texts.index(text_of(claim)))
        restricted = _restriction(connection, project_id, scope, [claim for _, claim in mine])
        asked.append(ClaimsQuery(*scope, claims=texts, **restricted))
    return Questions(tuple(asked), tuple(places[place] for place in sorted(places)))


def _without_grids(connection: Connection, project_id: uuid.UUID, scope: Scope) -> Iterator[tuple[str, str]]:
    """Where a claim is wrong, and what there is, when no grid has the experiment and metric that it is about."""
    experiment, metric = scope
    if connection.scalar(select(exists().where(*_conditions(connection, project_id, scope)))):
        return
    here = (grids.c.project_id == project_id, grids.c.deleted_at.is_(None))
    names = connection.scalars(select(grids.c.experiment).where(*here).distinct().limit(_MOST_NAMES)).all()
    if experiment in names:
        there = select(grids.c.metric).where(*here, grids.c.experiment == experiment).distinct().limit(_MOST_NAMES)
        found = known_metrics_text(connection.scalars(there).all(), metric)
        yield "/about/metric", f'no grid of experiment "{experiment}" has the metric "{metric}"; {found}'
    else:
        found = known_names_text(names, experiment)
        yield "/about/experiment", f'no grid of this project has the experiment "{experiment}"; {found}'


def placed(connection: Connection, project_id: uuid.UUID, claims: Sequence[tuple[str, Claim]]) -> list[Placed]:
    """The claims with what they are about.

    Raises `Invalid` for a grid of another project, for a claim about several experiments, and for axes and levels that
    no grid of its experiment has.
    """
    joined = joined_names(connection, project_id)
    known = known_grids(connection, project_id, claims)
    found: list[Placed] = []
    faults: list[Fault] = []
    for pointer, claim in claims:
        missing = list(_without_grid(claim, known, pointer))
        faults += missing
        if missing:
            continue
        posted = _about_grids(claim, known)
        plain = with_names(posted, lambda kind, name: joined.get((kind, name), name))
        scopes = {(atom.about.experiment, atom.about.metric) for _, atom in atoms_of(plain.says)}
        if len(scopes) > 1:
            faults.append(Fault(pointer, "is about several experiments or metrics; a claim is about one of each"))
        else:
            found.append(Placed(pointer, posted, plain, scopes.pop()))
    for scope in dict.fromkeys(one.scope for one in found):
        axes = axes_in(connection, _conditions(connection, project_id, scope))
        for one in (one for one in found if one.scope == scope):
            faults += faults_of(one.plain, axes, one.pointer) if axes else ()
    if faults:
        raise Invalid(faults)
    return found


def text_of(claim: Claim) -> str:
    """The JSON of the normal form; equal exactly for the same statement."""
    return orjson.dumps(normal_form(claim), option=orjson.OPT_SORT_KEYS).decode()


def _restriction(connection: Connection, project_id: uuid.UUID, scope: Scope, mine: Sequence[Claim]) -> dict[str, Any]:
    """Names to which the reading of grids can be restricted: those of a kind that every statement names, if all are
    there."""
    conditions = _conditions(connection, project_id, scope)
    statements = [atom for claim in mine for _, atom in atoms_of(claim.says)]
    restricted: dict[str, Any] = {}
    for facet in FACETS:
        wanted = {getattr(atom.about, facet) for atom in statements}
        if wanted & {"", None}:
            continue
        held = set(connection.scalars(select(grids.c[facet]).where(*conditions).distinct()))
        if wanted <= held:
            restricted[facet] = tuple(sorted(wanted))
    return restricted


def _conditions(connection: Connection, project_id: uuid.UUID, scope: Scope) -> list[Any]:
    mine = (aliases.c.project_id == project_id, aliases.c.kind == "experiment", aliases.c.name == scope[0])
    experiments = [scope[0], *connection.scalars(select(aliases.c.alias).where(*mine))]
    return [
        grids.c.project_id == project_id,
        grids.c.experiment.in_(experiments),
        grids.c.metric == scope[1],
        grids.c.deleted_at.is_(None),
    ]


def known_grids(connection: Connection, project_id: uuid.UUID, claims: Sequence[tuple[str, Claim]]) -> dict[str, Any]:
    """The rows of the grids that claims name by their ids."""
    ids = {atom.about.grid for _, claim in claims for _, atom in atoms_of(claim.says)} - {""}
    if not ids:
        return {}
    here = (grids.c.project_id == project_id, grids.c.deleted_at.is_(None), grids.c.id.in_(map(uuid.UUID, ids)))
    columns = (grids.c.id, grids.c.experiment, grids.c.metric, *(grids.c[facet] for facet in FACETS))
    return {str(row.id): row for row in connection.execute(select(*columns).where(*here))}


def _without_grid(claim: Claim, known: Mapping[str, Any], pointer: str) -> Iterator[Fault]:
    for where, atom in atoms_of(claim.says):
        if atom.about.grid and atom.about.grid not in known:
            yield Fault(f"{pointer}{where}/about/grid", "is the id of no grid of this project")


def _about_grids(claim: Claim, known: Mapping[str, Any]) -> Claim:
    def filled(part: Part) -> Part:
        if not isinstance(part, Atom):
            return replace(part, claims=tuple(filled(one) for one in part.claims))
        row = known.get(part.about.grid)
        if row is None:
            return part
        names = (row.benchmark, row.model, row.variant)
        return replace(part, about=About(part.about.grid, row.experiment, row.metric, *names))

    return replace(claim, says=filled(claim.says))
