"""Apply invalidations: turn notes about changed scopes into jobs.

A publication, an amendment or a changed alias inserts a row into `invalidations` in its own transaction. The
dispatcher applies these rows here: cached results become pending, and pair sums learn which grids to count again.

Requeue results that an older version of the statistical methods computed. Each is served until its replacement is
ready. Answers to queries are requeued all, because somebody keeps asking them. Of the statistics of grids only those
are of experiments that somebody looks at: an archive of a hundred million grids would take hundreds of hours of
processor time. The others follow when they are read (`registry.operations.health`).
"""

import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Connection,
    DateTime,
    Table,
    Uuid,
    and_,
    any_,
    case,
    cast,
    delete,
    exists,
    false,
    func,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB, insert

from registry.methods_version import METHODS_VERSION
from registry.query import OF_REVISIONS, BaselineQuery, Query, RankingQuery, StoredClaimsQuery
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.gate_scope import ask_always, standing_question
from registry.storage.keys import key_of, of_current
from registry.storage.statistics_jobs import AGAIN, requeue_statistics
from registry.storage.tables import (
    baseline_versions,
    baselines,
    cached_results,
    derivations,
    grids,
    invalidations,
    new_id,
    pair_sum_queue,
    pair_sum_scopes,
)
from workers.jobs.leases import LONGEST_PAUSE
from workers.scope import Aliases, alias_map, conditions, names_of

APPLIED_AT_ONCE = 200
"""Invalidations applied by one transaction: each may name the five hundred grids of a batch."""
READ_LATELY = timedelta(days=1)
KEPT_CURRENT = 20
"""Recently read results of a scope that are computed again after every change, besides the default one."""
_BATCHES_SECONDS = 2.0
"""Seconds for which one call applies batch after batch, before the dispatcher goes on with its cycle."""
_NEXT_MARKS = (
    select(
        invalidations.c.id,
        invalidations.c.project_id,
        invalidations.c.experiment,
        invalidations.c.metric,
        invalidations.c.grid_ids.is_(None).label("anything"),
        (func.cardinality(invalidations.c.grid_ids) > 0).label("of_grids"),
    )
    .limit(APPLIED_AT_ONCE)
    # Rows that another dispatcher holds are being applied by it: take others instead of waiting.
    .with_for_update(skip_locked=True)
)
_LONGEST_ACT = timedelta(hours=1)
"""No transaction is open for so long, nor do two clocks differ by so much."""
_PAST = func.coalesce(
    cached_results.c.computed_at > cast(cached_results.c.query["as_of"].astext, DateTime(timezone=True)) + _LONGEST_ACT,
    false(),
)
"""Condition for answers about an instant so long before they were computed that no act on grids changes them."""
IDLE_SHARE = 4
"""Under constant publication a result is computed at most a fifth of the time: it rests four times as long."""
_IDLE_SHARE_OF_VERDICTS = 1
"""Of claims that are kept and of baselines, whose verdicts somebody waits for: half of the time."""
REQUEUED_AT_ONCE = 1_000


def apply_invalidations(database: Database, settings: Settings) -> int:
    """Apply invalidations: results whose inputs changed become pending, default queries are requested.

    Return the number of invalidations applied. If this takes long, the rest is left for the next cycle. Invalidations
    are deleted in the transaction that makes the results pending, so every reader sees the one or the other.
    """
    until, applied = time.monotonic() + _BATCHES_SECONDS, 0
    while True:
        batch = _apply_batch(database, settings)
        applied += batch
        if batch < APPLIED_AT_ONCE or time.monotonic() > until:
            return applied


def _apply_batch(database: Database, settings: Settings) -> int:
    with database.transaction() as connection:
        taken = connection.execute(_NEXT_MARKS).all()
        touched = {(row.project_id, row.experiment, row.metric) for row in taken}
        # Sorted, as below by experiment and metric: two dispatchers then update results in the same order.
        for project_id in sorted({row.project_id for row in taken}):
            joined = alias_map(connection, project_id)
            here = {(e and joined.get(("experiment", e), e), m) for p, e, m in touched if p == project_id}
            of_rules = {
                (joined.get(("experiment", row.experiment), row.experiment), row.metric)
                for row in taken
                if row.project_id == project_id and not row.of_grids
            }
            _ask_of_baselines(connection, project_id, joined)
            _invalidate_results(connection, settings, project_id, here, of_rules, joined)
        # Experiment and metric NULL stand for the whole project (an alias changed); every scope is then invalid.
        _queue_pair_sums(connection, taken)
        connection.execute(delete(invalidations).where(_rows_of(taken)))
    return len(taken)


def _ask_of_baselines(connection: Connection, project_id: Any, joined: Aliases) -> None:
    """See that the questions of all baselines stand, under the names that aliases now stand for."""
    current = and_(
        baseline_versions.c.baseline_id == baselines.c.id, baseline_versions.c.version == baselines.c.version
    )
    statement = select(baselines.c.id, baselines.c.version, baseline_versions.c.definition)
    mine = statement.join(baseline_versions, current).where(baselines.c.project_id == project_id)
    for row in connection.execute(mine.order_by(baselines.c.id)):
        ask_always(connection, project_id, standing_question(row.id, row.version, row.definition, joined))


def _rows_of(taken: Sequence[Any]) -> ColumnElement[bool]:
    return invalidations.c.id == any_(literal([row.id for row in taken], ARRAY(BigInteger)))


def _invalidate_results(
    connection: Connection,
    settings: Settings,
    project_id: Any,
    touched: set[tuple[str | None, str | None]],
    of_rules: set[tuple[str | None, str | None]],
    joined: Aliases,
) -> None:
    """Invalidate what is touched; answers about the past only where it was by more than acts on grids (`of_rules`)."""
    here = cached_results.c.project_id == project_id
    everything = (None, None) in touched
    for experiment, metric in sorted((e, m) for e, m in touched if e is not None and m is not None):
        if (experiment, metric) != OF_REVISIONS:
            _request_default(connection, project_id, RankingQuery(experiment, metric))
        if not everything:
            # Claims that are kept name the experiment as they were posted; they follow an alias to here.
            claimed = cached_results.c.query["kind"].astext == StoredClaimsQuery.kind
            named = or_(
                cached_results.c.experiment == experiment,
                and_(claimed, cached_results.c.experiment.in_(names_of(joined, "experiment", experiment))),
            )
            changed = and_(here, named, cached_results.c.metric == metric)
            _invalidate(connection, settings, changed if (experiment, metric) in of_rules else and_(changed, ~_PAST))
    if everything:
        _invalidate(connection, settings, here)


def _invalidate(connection: Connection, settings: Settings, changed: ColumnElement[bool]) -> None:
    """Make default and recently read results pending. Leave the others stale until they are read again."""
    lately = and_(~cached_results.c.is_default, cached_results.c.read_at > func.now() - READ_LATELY)
    newest = (
        select(cached_results.c.id).where(changed, lately).order_by(cached_results.c.read_at.desc()).limit(KEPT_CURRENT)
    )
    kept = or_(cached_results.c.is_default, cached_results.c.id.in_(newest.scalar_subquery()))
    # Whether computed or failed, a stale result belongs to inputs that are gone; the next reader requests it again.
    stale = {"state": "ready", "generation": cached_results.c.generation + 1, "attempts": 0, "reason": None}
    connection.execute(update(cached_results).where(changed, ~kept).values(stale))
    connection.execute(update(cached_results).where(changed, kept).values(_requeued(settings)))


def _queue_pair_sums(connection: Connection, taken: Sequence[Any]) -> None:
    """List the changed grids for the scopes that keep pair sums, without waiting for a worker that updates them."""
    projects = {row.project_id for row in taken}
    statement = select(pair_sum_scopes).where(pair_sum_scopes.c.project_id.in_(projects)).order_by(pair_sum_scopes.c.id)
    # FOR KEY SHARE keeps the scope from being closed (deleted) until what is queued below is committed, and still
    # allows a worker to hold FOR NO KEY UPDATE on it for seconds: neither waits for the other. Sorted by id, because
    # the UPDATE below takes stronger locks, and two dispatchers must take them in the same order.
    kept = connection.execute(statement.with_for_update(read=True, key_share=True)).all()
    if not kept:
        return
    aliases = {project_id: alias_map(connection, project_id) for project_id in projects}
    for scope in kept:
        names = names_of(aliases[scope.project_id], "experiment", scope.experiment)
        mine = [
            row
            for row in taken
            if row.project_id == scope.project_id
            and (row.experiment is None or (row.experiment in names and row.metric == scope.metric))
        ]
        if any(row.anything for row in mine):
            # Without grid ids (an alias was made or deleted) any grid may have changed: the sums start from nothing.
            connection.execute(
                update(pair_sum_scopes).where(pair_sum_scopes.c.id == scope.id).values(is_complete=False)
            )
        elif mine:
            # INSERT … SELECT keeps the ids on the server: after a night without a dispatcher they are a million.
            changed = select(func.unnest(invalidations.c.grid_ids).label("grid_id")).where(_rows_of(mine)).subquery()
            every = select(literal(scope.id, Uuid), grids.c.benchmark, grids.c.id)
            every = every.join_from(changed, grids, grids.c.id == changed.c.grid_id)
            connection.execute(insert(pair_sum_queue).from_select(["scope_id", "benchmark", "grid_id"], every))


def _requeued(settings: Settings) -> dict[str, Any]:
    """Column values of a requeued result: due after the debounce, or later if it took long to compute last time."""
    judges = cached_results.c.query["kind"].astext.in_([StoredClaimsQuery.kind, BaselineQuery.kind])
    share = case((judges, _IDLE_SHARE_OF_VERDICTS), else_=IDLE_SHARE)
    idle = func.least(cached_results.c.seconds * share, LONGEST_PAUSE.seconds / 2)
    # LEAST: the database's clock may have run ahead when the result was computed.
    busy = func.least(cached_results.c.computed_at, func.now()) + func.make_interval(0, 0, 0, 0, 0, 0, idle)
    debounced = func.now() + timedelta(seconds=settings.ranking_debounce)
    # A result that is pending already keeps its time; else constant changes would postpone it for ever.
    first = case((cached_results.c.state == "pending", cached_results.c.due_at), else_=debounced)
    return {
        "state": "pending",
        "generation": cached_results.c.generation + 1,
        "due_at": func.greatest(first, func.coalesce(busy, func.now())),
        "attempts": 0,
        "reason": None,
    }


def _request_default(connection: Connection, project_id: Any, query: Query) -> None:
    """Request the default ranking of a scope, so that it is ready before anyone asks for it."""
    values = {
        "id": new_id(),
        "project_id": project_id,
        "experiment": query.experiment,
        "metric": query.metric,
        "query": query.document(),
        "query_key": query.key,
    }
    # Nobody has read it lately, but whoever made the experiment will.
    request = insert(cached_results).values(values | {"is_default": True, "read_at": func.now() - READ_LATELY})
    key = ["project_id", "query_key"]
    # A client may have requested it before the first publication was applied: then it becomes the default one, of which
    # nothing was told.
    untold = cached_results.c.facts.op("||")(literal({"told": None}, JSONB))
    changed = {"is_default": True, "facts": untold}
    known = request.on_conflict_do_update(index_elements=key, set_=changed, where=~cached_results.c.is_default)
    connection.execute(known)


def requeue_old_methods(connection: Connection, days: int) -> int:
    """Requeue a batch of results with another `methods_version` and return how many.

    Statistics are of experiments and metrics of which some answer was read within `days`.
    """
    failed = and_(derivations.c.state == "failed", derivations.c.methods_version != METHODS_VERSION)
    # A superseded revision has no reader.
    requeued = _requeue(connection, derivations, [failed, exists().where(of_current(derivations))])
    # A stale result has no reader either: it is computed again when somebody asks.
    current = cached_results.c.document_generation == cached_results.c.generation
    served = and_(cached_results.c.state != "pending", or_(cached_results.c.state == "failed", current))
    old = (
        select(cached_results, _is_read(days).label("is_read"))
        .where(served, cached_results.c.methods_version != METHODS_VERSION)
        .order_by(cached_results.c.is_default.desc())
        .limit(REQUEUED_AT_ONCE)
        .with_for_update(skip_locked=True)
    )
    rows = connection.execute(old).all()
    statistics, done = _requeue_statistics(connection, rows)
    return requeued + statistics + _requeue(connection, cached_results, [cached_results.c.id.in_(done)])


def _is_read(days: int) -> Any:
    """Condition that somebody has read an answer about the same experiment and metric within `days`."""
    other = cached_results.alias()
    same = (other.c[name] == cached_results.c[name] for name in ("project_id", "experiment", "metric"))
    return exists().where(*same, other.c.read_at > func.now() - timedelta(days=days))


def _requeue_statistics(connection: Connection, rows: Sequence[Any]) -> tuple[int, list[Any]]:
    """Requeue old statistics in the scopes of default rankings that somebody reads, as many as fit into a batch.

    Return how many, and the ids of the rows whose scopes are done.
    """
    joined: dict[Any, Mapping[tuple[str, str], str]] = {}
    done: list[Any] = []
    requeued = 0
    for row in rows:
        if row.is_default and row.is_read:
            if row.project_id not in joined:
                joined[row.project_id] = alias_map(connection, row.project_id)
            scope = RankingQuery(row.experiment, row.metric)
            which = conditions(joined[row.project_id], row.project_id, scope)
            requeued += requeue_statistics(connection, *which, most=REQUEUED_AT_ONCE - requeued)
            if requeued >= REQUEUED_AT_ONCE:
                break  # more of its grids may be left
        done.append(row.id)
    return requeued, done


def _requeue(connection: Connection, table: Table, which: Sequence[Any]) -> int:
    key = key_of(table)
    batch = select(*key).where(*which).limit(REQUEUED_AT_ONCE).with_for_update(skip_locked=True, of=table).cte("batch")
    here = and_(*(column == batch.c[column.name] for column in key))
    return int(connection.execute(update(table).where(here).values(AGAIN)).rowcount)
