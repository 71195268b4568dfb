"""Purge: remove for good what was deleted long ago. No other operation removes revisions.

Everything computed from a grid goes with it, and so do its names unless another grid has them. Events that named it, or
a name that went, lose what they carried. The audit log stays, and names each grid that was purged.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Text,
    and_,
    any_,
    delete,
    except_,
    exists,
    func,
    literal,
    or_,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql import insert as upsert

from registry.operations.audit_log import Actor, record
from registry.operations.revisions import invalidate_scopes
from registry.operations.search import KINDS
from registry.operations.stored_claims import MOST, request_parts
from registry.query import StoredClaimsQuery
from registry.results.judgement import MOST_INPUTS
from registry.storage.arrivals import Arrival, announce
from registry.storage.tables import (
    alerts,
    aliases,
    arrivals,
    baseline_versions,
    baselines,
    bi_readers,
    cached_results,
    claims,
    deliveries,
    derivations,
    event_heads,
    events,
    experiments,
    gate_verdicts,
    grids,
    idempotency_keys,
    invalidations,
    item_continuations,
    item_ids,
    item_outcomes,
    judgements,
    members,
    names,
    pair_sum_inputs,
    pair_sum_queue,
    pair_sum_scopes,
    pair_sums,
    projects,
    shapes,
    shares,
    statistics,
    stored_revisions,
    suites,
    tokens,
    webhooks,
)

AT_ONCE = 100


def purge(connection: Connection, actor: Actor, *, older_than_days: int) -> int:
    """Remove up to `AT_ONCE` grids that were deleted, alone or with their project, more than `days` days ago.

    Return how many. Call it again, each time in a transaction of its own, until it returns 0.
    """
    old = func.now() - timedelta(days=older_than_days)
    gone = (
        select(grids, projects.c.slug.label("project"), projects.c.deleted_at.label("project_deleted_at"))
        .join(projects, projects.c.id == grids.c.project_id)
        .where(or_(grids.c.deleted_at < old, projects.c.deleted_at < old))
        .order_by(grids.c.id)
        .limit(AT_ONCE)
        .with_for_update(of=grids)
    )
    rows = connection.execute(gone).all()
    if rows:
        _remove(connection, actor, rows)
    return len(rows)


def _remove(connection: Connection, actor: Actor, rows: Any) -> None:
    ids = [row.id for row in rows]
    # A scope whose sums still hold such a grid could never subtract it: its sums start from nothing.
    behind = select(pair_sum_inputs.c.scope_id).where(pair_sum_inputs.c.grid_id.in_(ids))
    connection.execute(update(pair_sum_scopes).where(pair_sum_scopes.c.id.in_(behind)).values(is_complete=False))
    _allow_deletion(connection)
    # Derivations first: this waits for a worker that is settling one, and one that settles later finds none.
    of_revisions = (derivations, statistics, item_outcomes, item_continuations)
    for table in (*of_revisions, pair_sum_inputs, pair_sum_queue, stored_revisions):
        mine = [table.c.project_id.in_({row.project_id for row in rows})] if "project_id" in table.c else []
        connection.execute(delete(table).where(table.c.grid_id.in_(ids), *mine))
    connection.execute(delete(grids).where(grids.c.id.in_(ids)))
    of_project: dict[uuid.UUID, list[Any]] = defaultdict(list)
    for row in rows:
        of_project[row.project_id].append(row)
    verdicts = _delete_verdicts(connection, gate_verdicts.c.grid_ids.overlap(ids))
    for project_id, mine in of_project.items():
        _delete_results(connection, project_id, mine)
        names_ = _delete_names(connection, project_id, mine)
        _delete_keys(connection, project_id, mine)
        own = [row.id for row in mine]
        judged = purge_judgements(connection, project_id, own)
        words = {*map(str, own), *verdicts, *names_}
        forget_events(connection, project_id, Gone(words, {(str(row.claim_id), str(row.number)) for row in judged}))
        gone = [Arrival("grid.purged", f"grids/{one}", {"grid": str(one)}) for one in own]
        announce(connection, project_id, gone)
    for row in rows:
        carried = {kind: getattr(row, kind) for kind in KINDS}
        deleted = None if row.deleted_at is None else row.deleted_at.isoformat()
        held: dict[str, Any] = {"names": carried, "revisions": row.revision, "deleted_at": deleted}
        record(connection, actor, "grid.purged", row.id, project_id=row.project_id, **held)


def _allow_deletion(connection: Connection) -> None:
    connection.execute(text("SET LOCAL registry.purging = 'on'"))


def _delete_verdicts(connection: Connection, chosen: ColumnElement[bool]) -> set[str]:
    ids = select(gate_verdicts.c.id).where(chosen)
    told = connection.scalars(delete(alerts).where(alerts.c.verdict_id.in_(ids)).returning(alerts.c.id)).all()
    given = connection.scalars(delete(gate_verdicts).where(chosen).returning(gate_verdicts.c.id)).all()
    return set(map(str, [*told, *given]))


def _delete_results(connection: Connection, project_id: uuid.UUID, rows: Sequence[Any]) -> None:
    """Delete every cached result with such a grid as input, and invalidate what is left of its scope."""
    ids = [str(row.id) for row in rows]
    about_grids = or_(*(cached_results.c.query[name].astext.in_(ids) for name in ("grid", "baseline", "contender")))
    of_experiments = (aliases.c.project_id == project_id, aliases.c.kind == "experiment")
    found = connection.execute(select(aliases.c.alias, aliases.c.name).where(*of_experiments))
    joined = {row.alias: row.name for row in found}
    touched = {(row.experiment, row.metric) for row in rows}
    every = touched | {(joined.get(experiment, experiment), metric) for experiment, metric in touched}
    about = tuple_(cached_results.c.experiment, cached_results.c.metric).in_(every)
    connection.execute(delete(cached_results).where(cached_results.c.project_id == project_id, or_(about_grids, about)))
    invalidate_scopes(connection, project_id, {scope: [] for scope in touched})


def _delete_names(connection: Connection, project_id: uuid.UUID, rows: Sequence[Any]) -> set[str]:
    """Delete the names that no other grid of the project has; return those that are not empty."""
    gone = set[str]()
    for kind in KINDS:
        carried = exists().where(grids.c.project_id == project_id, grids.c[kind] == names.c.name)
        mine = (names.c.project_id == project_id, names.c.kind == kind)
        given = {getattr(row, kind) for row in rows}
        deletion = delete(names).where(*mine, names.c.name.in_(given), ~carried)
        gone |= set(connection.scalars(deletion.returning(names.c.name)))
    _delete_experiments(connection, project_id, {row.experiment for row in rows})
    return gone - {""}


def _delete_experiments(connection: Connection, project_id: uuid.UUID, given: set[str]) -> None:
    """Delete what people wrote about experiments that no other grid of the project has, under no alias either."""
    joined = select(aliases.c.name).where(
        aliases.c.project_id == project_id, aliases.c.kind == "experiment", aliases.c.alias.in_(given)
    )
    touched = given | set(connection.scalars(joined))
    of_name = or_(
        grids.c.experiment == experiments.c.name,
        exists().where(
            aliases.c.project_id == project_id,
            aliases.c.kind == "experiment",
            aliases.c.alias == grids.c.experiment,
            aliases.c.name == experiments.c.name,
        ),
    )
    carried = exists().where(grids.c.project_id == project_id, of_name)
    mine = (experiments.c.project_id == project_id, experiments.c.name.in_(touched))
    connection.execute(delete(experiments).where(*mine, ~carried))


def _delete_keys(connection: Connection, project_id: uuid.UUID, rows: Sequence[Any]) -> None:
    latest = max(row.deleted_at or row.project_deleted_at for row in rows)
    shown = or_(*(func.strpos(func.encode(idempotency_keys.c.body, "escape"), str(row.id)) > 0 for row in rows))
    mine = (idempotency_keys.c.project_id == project_id, idempotency_keys.c.created_at <= latest)
    connection.execute(delete(idempotency_keys).where(*mine, shown))


def purge_projects(connection: Connection, actor: Actor, *, older_than_days: int) -> int:
    """Remove projects deleted more than `days` days ago that hold no grid any more; return how many."""
    empty = ~exists().where(grids.c.project_id == projects.c.id)
    old = projects.c.deleted_at < func.now() - timedelta(days=older_than_days)
    rows = connection.execute(select(projects).where(old, empty).with_for_update()).all()
    ids = [row.id for row in rows]
    if not ids:
        return 0
    _allow_deletion(connection)
    sums = select(pair_sum_scopes.c.id).where(pair_sum_scopes.c.project_id.in_(ids))
    for table in (pair_sums, pair_sum_inputs, pair_sum_queue):
        connection.execute(delete(table).where(table.c.scope_id.in_(sums)))
    _delete_verdicts(connection, gate_verdicts.c.project_id.in_(ids))
    mine = select(baselines.c.id).where(baselines.c.project_id.in_(ids))
    connection.execute(delete(baseline_versions).where(baseline_versions.c.baseline_id.in_(mine)))
    remove_claims(connection, claims.c.project_id.in_(ids))
    remove_events(connection, ids)
    for table in (
        baselines,
        pair_sum_scopes,
        cached_results,
        invalidations,
        aliases,
        names,
        experiments,
        shares,
        suites,
        idempotency_keys,
        bi_readers,
        item_ids,
        shapes,
        members,
        tokens,
    ):
        connection.execute(delete(table).where(table.c.project_id.in_(ids)))
    connection.execute(delete(projects).where(projects.c.id.in_(ids)))
    for row in rows:
        deleted = row.deleted_at.isoformat()
        record(connection, actor, "project.purged", row.id, project_id=row.id, slug=row.slug, deleted_at=deleted)
    return len(rows)


def purge_shapes(connection: Connection) -> int:
    """Remove the shapes that no revision has any more; return how many. In a transaction of its own."""
    # Whoever publishes inserts its shape first, and holds this lock's opposite until its revision is there.
    connection.execute(text("LOCK TABLE shapes IN SHARE ROW EXCLUSIVE MODE"))
    _allow_deletion(connection)
    key = tuple_(shapes.c.project_id, shapes.c.id)
    unused = except_(
        select(shapes.c.project_id, shapes.c.id), select(stored_revisions.c.project_id, stored_revisions.c.shape_id)
    )
    return connection.execute(delete(shapes).where(key.in_(connection.execute(unused).all()))).rowcount


def purge_item_ids(connection: Connection) -> int:
    """Remove the ids of item sets of which no grid of the project has outcomes any more; return how many sets. In a
    transaction of its own."""
    # As above: whoever posts outcomes inserts the ids first.
    connection.execute(text("LOCK TABLE item_ids IN SHARE ROW EXCLUSIVE MODE"))
    _allow_deletion(connection)
    key, used = (item_ids.c.project_id, item_ids.c.digest), (item_outcomes.c.project_id, item_outcomes.c.digest)
    unused = connection.execute(except_(select(*key), select(*used))).all()
    return connection.execute(delete(item_ids).where(tuple_(*key).in_(unused))).rowcount


def count_purgeable(connection: Connection, *, older_than_days: int) -> tuple[int, int]:
    """Numbers of grids and of projects that would be removed in all."""
    old = func.now() - timedelta(days=older_than_days)
    either = or_(grids.c.deleted_at < old, projects.c.deleted_at < old)
    query = select(func.count()).select_from(grids).join(projects, and_(projects.c.id == grids.c.project_id, either))
    whole = select(func.count()).select_from(projects).where(projects.c.deleted_at < old)
    return int(connection.scalar(query) or 0), int(connection.scalar(whole) or 0)


def purge_claims(connection: Connection, *, older_than_days: int) -> int:
    """Remove claims that were removed more than `days` days ago, with their judgements; return how many."""
    old = func.now() - text(f"interval '{older_than_days:d} days'")
    connection.execute(text("SET LOCAL registry.purging = 'on'"))
    removed = remove_claims(connection, claims.c.archived_at < old)
    for project_id in sorted({row.project_id for row in removed}):
        gone = {str(row.id) for row in removed if row.project_id == project_id}
        forget_events(connection, project_id, Gone(gone))
    return len(removed)


def remove_claims(connection: Connection, condition: ColumnElement[bool]) -> Sequence[Any]:
    """Remove claims with their judgements; the transaction must be allowed to. Return their ids and projects."""
    rows = connection.execute(select(claims.c.id, claims.c.project_id).where(condition).with_for_update()).all()
    ids = [row.id for row in rows]
    connection.execute(delete(judgements).where(judgements.c.claim_id.in_(ids)))
    connection.execute(delete(claims).where(claims.c.id.in_(ids)))
    return rows


def purge_judgements(connection: Connection, project_id: uuid.UUID, grids: Sequence[uuid.UUID]) -> Sequence[Any]:
    """Remove the judgements that were made of these grids, and have every part of the project's claims judged again
    whose cached result is gone; return the claims and numbers of those that went.

    A claim whose latest judgement went has none until then; the next one has the next number.
    """
    mine = select(claims.c.id).where(claims.c.project_id == project_id).scalar_subquery()
    ids: Any = literal([str(one) for one in grids], ARRAY(Text))
    grid: Any = func.jsonb_array_elements(judgements.c.inputs).op("->>")("grid")
    read = select(grid.label("grid")).correlate(judgements).subquery()
    made = select(read.c.grid).where(read.c.grid == any_(ids)).exists()
    # A judgement names so many of its inputs at most.
    either = or_(made, func.jsonb_array_length(judgements.c.inputs) >= MOST_INPUTS)
    gone = delete(judgements).where(judgements.c.claim_id.in_(mine), either)
    removed = connection.execute(gone.returning(judgements.c.claim_id, judgements.c.number)).all()
    for row in removed:
        latest = (claims.c.id == row.claim_id, claims.c.judgement == row.number)
        connection.execute(update(claims).where(*latest).values(verdict=None))
    _request_lost(connection, project_id)
    return removed


def _request_lost(connection: Connection, project_id: uuid.UUID) -> None:
    here = (claims.c.project_id == project_id, claims.c.archived_at.is_(None))
    there = select(cached_results.c.query_key).where(cached_results.c.project_id == project_id)
    lost = select(claims.c.experiment, claims.c.metric, claims.c.query_key).where(
        *here, claims.c.query_key.not_in(there)
    )
    for row in connection.execute(lost.distinct()):
        parts = (StoredClaimsQuery(row.experiment, row.metric, part=part) for part in range(MOST))
        request_parts(connection, project_id, [next(one for one in parts if one.key == row.query_key)])


_AT_ONCE = 50_000
"""Positions that one statement looks at, far within its timeout."""
_NAMED = text("'$.** ? (@ == $gone[*])'")


@dataclass(frozen=True, slots=True)
class Gone:
    """What events may name that is gone: ids and names, and judgements by the ids of their claims and their numbers."""

    words: Collection[str]
    judgements: Collection[tuple[str, str]] = ()


def forget_events(connection: Connection, project_id: uuid.UUID, gone: Gone) -> None:
    """Empty the data and the subject of every event of the project that names something of these.

    The project's events get no positions until the transaction ends, so that none passes by.
    """
    connection.execute(upsert(event_heads).values(project_id=project_id).on_conflict_do_nothing())
    head = connection.execute(select(event_heads).where(event_heads.c.project_id == project_id).with_for_update()).one()
    for first in range(head.first, head.position + 1, _AT_ONCE):
        _empty(connection, events, project_id, gone, events.c.position.between(first, first + _AT_ONCE - 1))
    _empty(connection, arrivals, project_id, gone, True)


def _empty(connection: Connection, table: Any, project_id: uuid.UUID, gone: Gone, where: Any) -> None:
    words: Any = func.jsonb_build_object("gone", literal(sorted(gone.words), JSONB))
    about: list[Any] = [func.jsonb_path_exists(table.c.data, _NAMED, words)]
    if gone.judgements:
        said = tuple_(table.c.data["claim"].astext, table.c.data["judgement"].astext)
        about.append(said.in_(sorted(gone.judgements)))
    here = and_(table.c.project_id == project_id, where, or_(*about))
    connection.execute(update(table).where(here).values(data={}, subject=""))


def remove_events(connection: Connection, project_ids: Collection[uuid.UUID]) -> None:
    """Remove the events of projects, their places, and the webhooks that they were sent to."""
    # The head first: this waits for who is giving positions, whose events are there for the statements below.
    for table in (event_heads, arrivals, events, deliveries, webhooks):
        connection.execute(delete(table).where(table.c.project_id.in_(project_ids)))
