"""Dispatcher: gives events their positions, has them sent to webhooks, applies invalidations, wakes the workers, and
has due jobs computed that no worker takes in time.

All of its state is in PostgreSQL. Several dispatchers may run; superfluous wake-ups find nothing to do.
"""

import math
import signal
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import redis
import structlog
from celery import Celery
from kombu.exceptions import OperationalError
from sqlalchemy import Table, func, select

from registry.broker import ANSWER_TASK, DERIVE_TASK, QUEUE, WAKE_LIST, celery_app, origins_of, redis_client
from registry.errors import RegistryError, Unavailable
from registry.logs import configure_logs
from registry.outages import OutageLog
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.tables import cached_results, derivations
from workers.inline_worker import InlineWorker
from workers.jobs.invalidation import apply_invalidations, requeue_old_methods
from workers.jobs.leases import due, fail_exhausted
from workers.jobs.upkeep import (
    JobKey,
    delete_old_events,
    delete_old_keys,
    delete_settled_jobs,
    delete_unread_results,
    sequence_arrivals,
)
from workers.jobs.worker_process import Reporter, forget_silent
from workers.webhooks.courier import Courier, delete_settled_deliveries, wake_those_behind

log = structlog.get_logger()

MOST_WAKEUPS = 16
_HOUSEKEEPING_SECONDS = 5.0
_CLEANUP_SECONDS = 300.0
"""The interval of work that scans whole tables."""
_PAUSE_WITHOUT_DATABASE = 0.5
_SHORTEST_CYCLE = 0.03


@dataclass(frozen=True, slots=True)
class Due:
    """Due jobs of one table: their number, counted up to a bound, and the seconds that the oldest has waited."""

    jobs: int
    waited: float


@dataclass
class Dispatcher:
    """Run one cycle after another until `stopped` is set."""

    settings: Settings
    database: Database
    stopped: bool = False
    last_housekeeping: float = -math.inf
    cycle_began: float = 0.0
    last_cleanup: float = -math.inf
    hears_broker: bool = True
    was_woken: bool = True
    """True if the cycle began with a wake-up, such as of somebody who tests a webhook."""
    origins: Sequence[str] = ()
    """Requests that woke this dispatcher last, which it names to the workers."""
    old_methods_left: bool = True
    """True if results of older methods may be left. A worker of an older release may add some at any time, so they are
    looked for again now and then after none was found."""

    old_events_left: bool = False
    settled_jobs_left: JobKey | None = None
    """The job up to which settled ones are deleted already, while more may be left."""

    def __post_init__(self) -> None:
        self.client = redis_client(self.settings)
        self.outages = OutageLog("broker", self.settings.redis_url)
        self.celery: Celery = celery_app(self.settings)
        self.inline_worker = InlineWorker(self.settings)
        self.reporter = Reporter(self.database, "dispatcher")
        self.courier = Courier(self.settings, self.database)

    def run(self) -> None:
        """Run cycles; after one that failed for want of the database, pause and try again."""
        self.courier.start()
        while not self.stopped:
            try:
                self.run_cycle()
            except RegistryError as error:
                if not isinstance(error, Unavailable):  # whose reason the database has logged, once
                    log.warning("no turn", error=error.detail)
                time.sleep(_PAUSE_WITHOUT_DATABASE)
                continue
            self.sleep()
        self.courier.stop()
        self.inline_worker.stop()
        self.reporter.end()

    def run_cycle(self) -> None:
        """Wake workers for due jobs, apply invalidations, clean up. Grids come first, because clients wait for them."""
        self.cycle_began = time.monotonic()
        grids = self.count_due(derivations)
        broker_took = self.notify(DERIVE_TASK, -(-grids.jobs // self.settings.batch_promises))
        if sequence_arrivals(self.database) or self.was_woken:
            self.courier.wake()
        apply_invalidations(self.database, self.settings)
        self.run_housekeeping()
        queries = self.count_due(cached_results)
        broker_took = broker_took and self.notify(ANSWER_TASK, queries.jobs)
        overdue = max(grids.waited, queries.waited) > self.settings.unanswered_seconds
        if overdue or not broker_took:
            self.inline_worker.start()
        self.reporter.report_now_and_then(broker_up=broker_took and self.hears_broker)

    def run_housekeeping(self) -> None:
        """Fail exhausted jobs, delete what has expired and requeue results of old methods, each at its interval."""
        if time.monotonic() - self.last_housekeeping > _HOUSEKEEPING_SECONDS:
            self.last_housekeeping = time.monotonic()
            with self.database.transaction() as connection:
                for table in (derivations, cached_results):
                    fail_exhausted(connection, table, self.settings.attempts)
                delete_old_keys(connection, self.settings.idempotency_days)
                cleanup = time.monotonic() - self.last_cleanup > _CLEANUP_SECONDS
                if cleanup:
                    forget_silent(connection)
                    self.last_cleanup = time.monotonic()
                    delete_unread_results(connection, self.settings.question_days, self.settings.max_questions)
                    delete_settled_deliveries(connection, self.settings.delivery_days)
                    wake_those_behind(connection)
                if cleanup or self.old_methods_left:
                    self.old_methods_left = requeue_old_methods(connection, self.settings.question_days) > 0
            if cleanup or self.old_events_left:
                days, most = self.settings.event_days, self.settings.max_events
                self.old_events_left = delete_old_events(self.database, days, most)
            if cleanup or self.settled_jobs_left:
                self.settled_jobs_left = delete_settled_jobs(self.database, self.settled_jobs_left)

    def count_due(self, table: Table) -> Due:
        """Due jobs of a table, counted only as far as the number of wake-ups depends on it."""
        most = MOST_WAKEUPS * self.settings.batch_promises
        some = select(table.c.due_at).where(due(table)).limit(most).subquery()
        statement = select(func.count(), func.coalesce(func.extract("epoch", func.now() - func.min(some.c.due_at)), 0))
        with self.database.reading() as connection:
            count, waited = connection.execute(statement.select_from(some)).one()
        return Due(count, float(waited))

    def notify(self, name: str, wanted: int) -> bool:
        """Send the wake-ups of a task that the queue lacks; return whether the broker took them."""
        if not wanted:
            return True
        try:
            queued = self.queued()
            for _ in range(min(wanted - queued[name], MOST_WAKEUPS - queued.total())):
                self.celery.send_task(name, retry=False, headers={"origins": self.origins})
        except (redis.RedisError, OperationalError, OSError) as error:
            self.outages.failed(error)
            return False
        self.outages.answered()
        return True

    def queued(self) -> Counter[str]:
        """Number of wake-ups of each task that no worker has received yet."""
        messages: Any = self.client.lrange(QUEUE, 0, MOST_WAKEUPS)
        return Counter(_task_of(message) for message in messages)

    def sleep(self) -> None:
        """Wait for a wake-up or the interval, whichever ends first; without a broker wait for the interval.

        The first wake-up after a quiet time starts a cycle at once; under steady publication one cycle serves several.
        """
        try:
            seconds = max(_SHORTEST_CYCLE, self.settings.dispatch_seconds)
            first: Any = self.client.blpop([WAKE_LIST], timeout=seconds)
            self.was_woken = first is not None
            time.sleep(max(0.0, self.cycle_began + _SHORTEST_CYCLE - time.monotonic()))
            with self.client.pipeline() as pipe:
                pipe.lrange(WAKE_LIST, 0, -1)
                pipe.delete(WAKE_LIST)
                others: list[bytes] = pipe.execute()[0]
            self.origins = origins_of([*([first[1]] if first else []), *others])
            self.hears_broker = True
            self.outages.answered()
        except (redis.RedisError, OSError) as error:
            self.hears_broker = False
            self.outages.failed(error)
            time.sleep(self.settings.dispatch_seconds)


def _task_of(message: bytes) -> str:
    """Name of the task that a message is for; empty for a foreign message, which the broker may hold too."""
    try:
        return str(orjson.loads(message)["headers"]["task"])
    except (ValueError, KeyError, TypeError):
        return ""


def main() -> None:
    """Dispatch until SIGTERM or Ctrl-C."""
    settings = Settings.from_environment()
    configure_logs(settings.log_level)
    dispatcher = Dispatcher(settings, Database(settings, name="dispatcher"))

    def stop(_number: int, _frame: object) -> None:
        dispatcher.stopped = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    dispatcher.run()


if __name__ == "__main__":
    main()
