"""Find claims that are kept, with their latest judgements and whether these are of the results as they are now.

`stored_claims.py` adds and removes them; `claims.py` turns claims that are only asked into questions.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, case, exists, func, or_, select, tuple_
from sqlalchemy.dialects.postgresql import JSONB

from registry.operations.cached_results import invalidated
from registry.operations.names import Joined, joined_names
from registry.results.judgement import Verdict
from registry.storage.tables import aliases, cached_results, claims, grids, judgements, projects


@dataclass(frozen=True, slots=True)
class ClaimFilters:
    """Filters of claims; an empty one filters nothing. Several texts are joined by OR, all else by AND."""

    verdict: Sequence[str] = ()
    state: Sequence[str] = ()
    experiment: Sequence[str] = ()
    source: Sequence[str] = ()
    """Addresses in `source.url`."""


_LATEST = and_(judgements.c.claim_id == claims.c.id, judgements.c.number == claims.c.judgement)


def find_claim_owner(connection: Connection, claim_id: uuid.UUID, *, removed: bool = False) -> Any:
    """Row of a claim with its project, as far as `authorize` needs it; None if there is none.

    `removed`: also of a claim that was removed.
    """
    query = select(*claims.c, projects.c.visibility, projects.c.slug.label("project")).join(projects, _project())
    here = claims.c.id == claim_id
    return connection.execute(query.where(here if removed else and_(here, _kept()))).one_or_none()


def find_claim(connection: Connection, claim_id: uuid.UUID) -> Any:
    """Row of a claim with its project, its `state` and its latest judgement; None if there is none.

    `state` is `ready` where the judgement is of the results as they are now. `checked_at` is when it was last found so,
    None until it is judged; `failure` is why judging failed.
    """
    return connection.execute(rows_of_claims().where(claims.c.id == claim_id)).one_or_none()


def list_claims(
    connection: Connection, project_id: uuid.UUID, filters: ClaimFilters, after: uuid.UUID | None, limit: int
) -> Sequence[Any]:
    """Claims of a project, the oldest first, as `find_claim` has them."""
    query = (
        rows_of_claims()
        .where(claims.c.project_id == project_id, *_conditions(filters))
        .order_by(claims.c.id)
        .limit(limit)
    )
    return connection.execute(query if after is None else query.where(claims.c.id > after)).all()


def find_claims(connection: Connection, ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, Any]:
    """Claims by their ids, as `find_claim` has them."""
    return {row.id: row for row in connection.execute(rows_of_claims().where(claims.c.id.in_(ids)))}


def count_verdicts(connection: Connection, project_id: uuid.UUID, filters: ClaimFilters) -> Mapping[str, int]:
    """Numbers of the claims that the filters find, but for that of verdicts, by their latest verdicts; `unjudged` are
    those without one."""
    wanted = ClaimFilters((), filters.state, filters.experiment, filters.source)
    found = _joined(select(claims.c.verdict, func.count().label("claims")))
    grouped = found.where(claims.c.project_id == project_id, *_conditions(wanted)).group_by(claims.c.verdict)
    counts = {row.verdict: row.claims for row in connection.execute(grouped)}
    return {name: counts.get(name, 0) for name in get_args(Verdict)} | {"unjudged": counts.get(None, 0)}


def list_judgements(connection: Connection, claim_id: uuid.UUID, before: int | None, limit: int) -> Sequence[Any]:
    """Judgements of a claim, the latest first."""
    query = select(judgements).where(judgements.c.claim_id == claim_id).order_by(judgements.c.number.desc())
    return connection.execute(
        (query if before is None else query.where(judgements.c.number < before)).limit(limit)
    ).all()


def _project() -> ColumnElement[bool]:
    return and_(projects.c.id == claims.c.project_id, projects.c.deleted_at.is_(None))


def _kept() -> ColumnElement[bool]:
    return claims.c.archived_at.is_(None)


def rows_of_claims() -> Select[Any]:
    failure = case((cached_results.c.state == "failed", cached_results.c.reason)).label("failure")
    judged = (judgements.c[name] for name in ("number", "beyond_noise", "document", "judged_at", "methods_version"))
    told = (projects.c.visibility, projects.c.slug.label("project"), _state().label("state"), failure)
    # Others of the same part may have been judged before this claim was posted.
    checked_at = case((judgements.c.number.is_not(None), cached_results.c.computed_at)).label("checked_at")
    query = _joined(select(*claims.c, *told, checked_at, *judged))
    return query.outerjoin(judgements, _LATEST)


def _joined(query: Select[Any]) -> Select[Any]:
    mine = and_(cached_results.c.project_id == claims.c.project_id, cached_results.c.query_key == claims.c.query_key)
    of_claims = query.select_from(claims).join(projects, _project()).outerjoin(cached_results, mine)
    return of_claims.where(_kept())


def _state() -> ColumnElement[str]:
    """Whether the latest judgement is of the results as they are now; an unapplied invalidation makes it pending."""
    stands_for = aliases.alias("stands_for")
    here = (stands_for.c.project_id == claims.c.project_id, stands_for.c.kind == "experiment")
    name = select(stands_for.c.name).where(*here, stands_for.c.alias == claims.c.experiment).scalar_subquery()
    changed = invalidated(func.coalesce(name, claims.c.experiment), claims.c.metric)
    is_current = cached_results.c.document_generation == cached_results.c.generation
    return case(
        (changed, "pending"),
        (and_(is_current, cached_results.c.etag.is_not(None)), "ready"),
        (cached_results.c.state == "failed", "failed"),
        else_="pending",
    )


def _conditions(filters: ClaimFilters) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if filters.verdict:
        found.append(claims.c.verdict.in_(filters.verdict))
    if filters.state:
        found.append(_state().in_(filters.state))
    if filters.experiment:
        found.append(claims.c.experiment.in_(filters.experiment))
    if filters.source:
        found.append(or_(*(claims.c.source["url"].astext == one for one in filters.source)))
    return found


CONTRADICTED = ("beyond_noise", "within_noise")
"""How a claim is contradicted: whatever the noise of its numbers, or only by the numbers as they were posted."""
SUPPORTED = ("supported_as_posted", "supported_beyond_noise")
"""How a claim is supported: only by the numbers as they were posted, or whatever their noise."""
WAYS = {"contradicted": CONTRADICTED, "supported": SUPPORTED}
LAYERS_DIFFER = "layers_differ"
"""Contradicted as posted and supported beyond noise, as where a median slope is not what the trend test sees."""
ORDER = (*CONTRADICTED, LAYERS_DIFFER, "not_decidable", *SUPPORTED, "ill_posed", "unjudged")
"""Verdicts in the order of lists, with how a claim is contradicted or supported in place of that it is."""
MOST_READ = 2_000
"""Claims whose judgements are read to find those of a grid: what comes after so many others is not found."""
Place = tuple[int, uuid.UUID]
"""Where a claim stands in a list: the number of its verdict in `ORDER`, and its id."""
_BEYOND_NOISE, _SUPPORTS = (
    exists().where(_LATEST, judgements.c.beyond_noise == verdict).correlate(claims)
    for verdict in ("contradicted", "supported")
)
_VERDICT: Any = case(
    (claims.c.verdict.is_(None), "unjudged"),
    (and_(claims.c.verdict == "supported", _SUPPORTS), "supported_beyond_noise"),
    (claims.c.verdict == "supported", "supported_as_posted"),
    (claims.c.verdict != "contradicted", claims.c.verdict),
    (_BEYOND_NOISE, "beyond_noise"),
    (_SUPPORTS, LAYERS_DIFFER),
    else_="within_noise",
)
_RANK: Any = case({verdict: place for place, verdict in enumerate(ORDER)}, value=_VERDICT, else_=len(ORDER))


def claims_in_order(
    connection: Connection,
    project_id: uuid.UUID,
    filters: ClaimFilters,
    limit: int,
    *,
    grid: uuid.UUID | None = None,
    after: Place | None = None,
) -> Sequence[Any]:
    """Claims of a project, as `find_claim` has them, by `ORDER`, the oldest first; with `grid` those whose latest
    judgement read it, of the first `MOST_READ`. Verdicts are of `ORDER`; states filter nothing here."""
    chosen = _chosen(select(claims.c.id), project_id, filters, grid).order_by(_RANK, claims.c.id).limit(limit)
    if after is not None:
        chosen = chosen.where(tuple_(_RANK, claims.c.id) > tuple_(*after))
    # Only those that are shown are joined to their judgements and states.
    rows = rows_of_claims().where(claims.c.id.in_(chosen.scalar_subquery()))
    return connection.execute(rows.order_by(_RANK, claims.c.id)).all()


def place_of(row: Any) -> Place:
    """Where a claim stands in that order."""
    return ORDER.index(verdict_in_order(row)), row.id


def verdict_in_order(row: Any) -> str:
    """Which verdict of `ORDER` a claim or a judgement has."""
    if row.verdict == "contradicted":
        return {"contradicted": "beyond_noise", "supported": LAYERS_DIFFER}.get(row.beyond_noise, "within_noise")
    if row.verdict == "supported":
        return SUPPORTED[row.beyond_noise == "supported"]
    return row.verdict or "unjudged"


def verdicts_in_order(
    connection: Connection, project_id: uuid.UUID, filters: ClaimFilters, grid: uuid.UUID | None = None
) -> Mapping[str, int]:
    """How many of these claims have each verdict, by `ORDER`, without those that none has."""
    query = _chosen(select(_VERDICT.label("verdict"), func.count().label("claims")), project_id, filters, grid)
    counted = query.group_by(_VERDICT)
    found = {row.verdict: row.claims for row in connection.execute(counted)}
    return {verdict: found[verdict] for verdict in ORDER if verdict in found}


def names_of_experiment(
    connection: Connection, project_id: uuid.UUID, experiment: str, joined: Joined | None = None
) -> tuple[str, ...]:
    """The names that claims about the grids of an experiment may use: its own, and those that aliases join with it."""
    found = joined_names(connection, project_id) if joined is None else joined
    name = found.get(("experiment", experiment), experiment)
    others = (alias for (kind, alias), of in found.items() if (kind, of) == ("experiment", name))
    return tuple(dict.fromkeys([experiment, name, *others]))


def experiment_of_grid(connection: Connection, project_id: uuid.UUID, grid: uuid.UUID) -> str | None:
    """The experiment of a grid of the project; None if it has no such grid."""
    here = (grids.c.id == grid, grids.c.project_id == project_id, grids.c.deleted_at.is_(None))
    return connection.scalar(select(grids.c.experiment).where(*here))


def names_of_grids(connection: Connection, ids: Sequence[uuid.UUID]) -> dict[str, str]:
    """Benchmark, model and variant of these grids by their ids, as words."""
    columns = (grids.c.id, grids.c.benchmark, grids.c.model, grids.c.variant)
    rows = connection.execute(select(*columns).where(grids.c.id.in_(ids)))
    return {str(row.id): " · ".join(filter(None, (row.benchmark, row.model, row.variant))) for row in rows}


def sources_of_claims(connection: Connection, project_id: uuid.UUID, limit: int) -> Sequence[str]:
    """The addresses in `source.url`, in their order."""
    url: Any = claims.c.source["url"].astext
    here = (claims.c.project_id == project_id, claims.c.archived_at.is_(None), url != "")
    return connection.scalars(select(url).where(*here).distinct().order_by(url).limit(limit)).all()


def experiments_of_claims(connection: Connection, project_id: uuid.UUID, limit: int) -> Sequence[str]:
    """The experiments that claims name, in their order."""
    here = (claims.c.project_id == project_id, claims.c.archived_at.is_(None))
    named = select(claims.c.experiment).where(*here).distinct().order_by(claims.c.experiment)
    return connection.scalars(named.limit(limit)).all()


def _chosen(query: Select[Any], project_id: uuid.UUID, filters: ClaimFilters, grid: uuid.UUID | None) -> Select[Any]:
    query = query.where(claims.c.project_id == project_id, claims.c.archived_at.is_(None))
    if filters.verdict:
        query = query.where(_VERDICT.in_(filters.verdict))
    if filters.source:
        query = query.where(claims.c.source["url"].astext.in_(filters.source))
    if filters.experiment:
        # The parts in which they are judged are found by an index; those of other experiments are not read.
        mine = (cached_results.c.project_id == project_id, cached_results.c.experiment.in_(filters.experiment))
        parts = select(cached_results.c.query_key).where(*mine).scalar_subquery()
        query = query.where(claims.c.experiment.in_(filters.experiment), claims.c.query_key.in_(parts))
    if grid is not None:
        first = query.with_only_columns(claims.c.id).order_by(_RANK, claims.c.id).limit(MOST_READ)
        query = query.where(claims.c.id.in_(first.scalar_subquery()))
        read = bindparam(None, [{"grid": str(grid)}], type_=JSONB)
        query = query.join(judgements, _LATEST).where(judgements.c.inputs.op("@>")(read))
    return query
