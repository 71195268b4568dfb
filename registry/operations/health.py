"""Health of the registry, for probes, metrics, `registry doctor` and the status page: its schema, its backlog, the
processes that compute. Failed jobs and statistics by other methods are made due again here."""

import math
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Double, Table, and_, cast, exists, func, select, text, update

from registry.errors import Unavailable
from registry.methods_version import METHODS_VERSION
from registry.operations.audit_log import Actor, record
from registry.operations.auth import Caller
from registry.operations.projects import visible
from registry.operations.webhooks import webhook_lag
from registry.storage.database import Database
from registry.storage.keys import key_of, of_current
from registry.storage.statistics_jobs import requeue_statistics
from registry.storage.tables import cached_results, derivations, grids, invalidations, job_counts, processes, projects

SCHEMA = "0024"
"""Migration that this code needs: the newest one here. A database with later ones serves it too."""


@dataclass(frozen=True, slots=True)
class Backlog:
    """Jobs of one kind that are pending, or that failed and somebody could still read the result of."""

    pending: int = 0
    failed: int = 0
    oldest_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Health:
    migrated: bool
    derivations: Backlog = Backlog()
    """Statistics of grids."""
    cached_results: Backlog = Backlog()
    """Cached results of queries."""

    @property
    def pending(self) -> int:
        return self.derivations.pending + self.cached_results.pending

    @property
    def failed(self) -> int:
        return self.derivations.failed + self.cached_results.failed

    @property
    def oldest_seconds(self) -> float:
        return max(self.derivations.oldest_seconds, self.cached_results.oldest_seconds)


_BACKLOGS = text("""
    SELECT count(*) AS pending,
           coalesce(extract(epoch FROM now() - min(due_at)), 0) AS oldest,
           (SELECT count(*) FROM derivations d
            JOIN grids g ON g.project_id = d.project_id AND g.id = d.grid_id AND g.revision = d.revision
                AND g.deleted_at IS NULL
            JOIN projects p ON p.id = g.project_id AND p.deleted_at IS NULL
            WHERE d.state = 'failed') AS failed
    FROM derivations WHERE state = 'pending'
    UNION ALL
    SELECT count(*), coalesce(extract(epoch FROM now() - min(due_at)), 0),
           (SELECT count(*) FROM cached_results c
            JOIN projects p ON p.id = c.project_id AND p.deleted_at IS NULL
            WHERE c.state = 'failed')
    FROM cached_results WHERE state = 'pending'
""")


def health_of(connection: Connection) -> Health:
    """Health at this moment; a database without tables is not migrated."""
    there = connection.scalar(text("SELECT to_regclass('alembic_version') IS NOT NULL"))
    version = connection.scalar(text("SELECT max(version_num) FROM alembic_version")) if there else None
    if version is None or version < SCHEMA:
        return Health(False)
    rows = connection.execute(_BACKLOGS).all()
    return Health(True, *(Backlog(row.pending, row.failed, max(0.0, float(row.oldest))) for row in rows))


def is_current() -> ColumnElement[bool]:
    """Condition that a derivation is of the current revision of a grid that is there, which is joined."""
    same = of_current(derivations)
    return and_(same, grids.c.deleted_at.is_(None), of_living_project(grids.c.project_id))


def of_living_project(project_id: ColumnElement[Any]) -> ColumnElement[bool]:
    """Condition that a project is not deleted."""
    return exists().where(projects.c.id == project_id, projects.c.deleted_at.is_(None))


def grids_in(connection: Connection, caller: Caller, state: str, limit: int) -> Sequence[Any]:
    """Current revisions of grids that the caller may see whose statistics are in a state, `pending` or `failed`, oldest
    first."""
    names = (grids.c[name] for name in ("id", "experiment", "benchmark", "model", "variant", "metric", "revision"))
    query = (
        select(
            *names,
            projects.c.slug.label("project"),
            derivations.c.reason,
            derivations.c.attempts,
            derivations.c.due_at,
        )
        .join(grids, of_current(derivations))
        .join(projects, and_(projects.c.id == grids.c.project_id, projects.c.deleted_at.is_(None)))
        .where(derivations.c.state == state, grids.c.deleted_at.is_(None))
        .order_by(derivations.c.due_at, grids.c.id)
        .limit(limit)
    )
    return connection.execute(query.where(visible(caller))).all()


def list_queries(connection: Connection, caller: Caller, state: str, limit: int) -> Sequence[Any]:
    """Queries in a state, `pending` or `failed`, of projects that the caller may see, oldest first."""
    query = (
        select(
            projects.c.slug.label("project"),
            *(
                cached_results.c[name]
                for name in ("id", "experiment", "metric", "query", "reason", "attempts", "due_at")
            ),
        )
        .join(projects, and_(projects.c.id == cached_results.c.project_id, projects.c.deleted_at.is_(None)))
        .where(cached_results.c.state == state)
        .order_by(cached_results.c.due_at, cached_results.c.id)
        .limit(limit)
    )
    return connection.execute(query.where(visible(caller))).all()


ALIVE_SECONDS = 30.0
"""Silence after which a process counts as gone; it reports every five."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process that computes, and the seconds since its last report."""

    role: str
    host: str
    pid: int
    version: str
    methods_version: str
    broker_up: bool | None
    silent_seconds: float

    @property
    def is_alive(self) -> bool:
        return self.silent_seconds <= ALIVE_SECONDS


@dataclass(frozen=True, slots=True)
class JobCount:
    """Jobs of a kind since the registry was made: computed, attempts that failed, seconds of both."""

    kind: str
    computed: int
    failed: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Activity:
    """What computes, what it did, the invalidations that no dispatcher has applied yet, and the seconds
    that webhooks are behind."""

    processes: Sequence[Process] = ()
    jobs: Sequence[JobCount] = ()
    invalidations: int = 0
    webhook_lag: float = 0.0

    def alive(self, role: str) -> list[Process]:
        """Processes of this role that reported lately."""
        return [one for one in self.processes if one.role == role and one.is_alive]

    @property
    def dispatcher_silent_seconds(self) -> float:
        """Seconds since the last cycle of any dispatcher; infinite if none ever reported."""
        return min((one.silent_seconds for one in self.processes if one.role == "dispatcher"), default=math.inf)

    @property
    def broker_up(self) -> bool | None:
        """Whether the broker answers the dispatchers; None if no dispatcher is there to say."""
        told = [one.broker_up for one in self.alive("dispatcher")]
        return all(told) if told else None


def activity_of(connection: Connection) -> Activity:
    """Activity at this moment."""
    names = ("role", "host", "pid", "version", "methods_version", "broker_up")
    silent = cast(func.greatest(func.extract("epoch", func.now() - processes.c.seen_at), 0), Double)
    rows = connection.execute(select(*(processes.c[name] for name in names), silent.label("silent_seconds"))).all()
    counts = connection.execute(select(job_counts).order_by(job_counts.c.kind)).all()
    backlog = connection.scalar(select(func.count()).select_from(invalidations))
    found = [Process(**row._mapping) for row in rows]
    return Activity(found, [JobCount(*row) for row in counts], int(backlog or 0), webhook_lag(connection))


AT_ONCE = 5_000
"""Jobs of a kind that one call makes due."""


@dataclass(frozen=True, slots=True)
class Retried:
    """How many jobs of each kind are due again."""

    derivations: int
    answers: int


def retry_failed(connection: Connection, actor: Actor, project_id: uuid.UUID | None) -> Retried:
    """Make the failed jobs of a project, or (None) of all, due with all their attempts; up to `AT_ONCE` of each kind.

    Results of superseded revisions, of deleted grids and of deleted projects have no reader and stay as they are.
    The audit log has it where there were any.
    """
    wanted = and_(is_current(), *([] if project_id is None else [grids.c.project_id == project_id]))
    statistics = _retry(connection, derivations, exists().where(wanted))
    whose = cached_results.c.project_id
    living = of_living_project(whose) if project_id is None else whose == project_id
    answers = _retry(connection, cached_results, living)
    if statistics or answers:
        told = {"derivations": statistics, "answers": answers}
        record(connection, actor, "jobs.retried", project_id or "all", project_id=project_id, **told)
    return Retried(statistics, answers)


def _retry(connection: Connection, table: Table, wanted: ColumnElement[bool]) -> int:
    key = key_of(table)
    # A worker that settles one at this moment goes first; what it leaves failed is taken by the next call.
    some = select(*key).where(table.c.state == "failed", wanted).limit(AT_ONCE)
    batch = some.with_for_update(skip_locked=True, of=table).cte("batch").prefix_with("MATERIALIZED")
    here = and_(*(column == batch.c[column.name] for column in key))
    again = {"state": "pending", "due_at": func.now(), "attempts": 0, "reason": None, "methods_version": None}
    return int(connection.execute(update(table).where(here).values(again)).rowcount)


def requeue_old(database: Database, rows: Iterable[Any]) -> bool:
    """Make the jobs due of those rows of `find_statistics` that other methods than this release's computed, or that
    somebody has deleted, if nobody has done so yet; return whether some are due now. A row may be None.

    Whoever reads goes on with what is stored, also where nothing can be written.
    """
    old = [row for row in rows if row is not None and row.state == "ready" and row.methods_version != METHODS_VERSION]
    if not old:
        return False
    projects: set[uuid.UUID] = {row.project_id for row in old}
    which = (grids.c.project_id.in_(projects), grids.c.id.in_([row.id for row in old]))
    try:
        with database.transaction() as connection:
            return requeue_statistics(connection, *which) > 0
    except Unavailable:
        return False
