"""Keeps promises: folds marks, wakes the workers, and computes itself when nobody answers.

Its only memory is in Postgres. Several may run; the wake-ups of one more than are needed find nothing to do.
"""

from __future__ import annotations

import math
import signal
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

import orjson
import redis
import structlog
from celery import Celery
from kombu.exceptions import OperationalError
from sqlalchemy import Table, func, select

from registry.broker import ANSWER_TASK, DERIVE_TASK, QUEUE, WAKE_LIST, celery_app, redis_client
from registry.errors import RegistryError
from registry.logs import configure_logs
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.tables import answers, derivations
from workers.inline_worker import InlineWorker
from workers.jobs.invalidation import apply_invalidations, requeue_old_methods
from workers.jobs.leases import delete_old_keys, delete_unread_results, due, fail_exhausted

log = structlog.get_logger()

MOST_WAKEUPS = 16
_HOUSEKEEPING_SECONDS = 5.0
_TIDYING_SECONDS = 300.0
"""How often what needs a look at every row is done."""
_PAUSE_WITHOUT_DATABASE = 0.5
_SHORTEST_TURN = 0.03


@dataclass(frozen=True, slots=True)
class Due:
    """What waits now: how much (counted to a bound) and since when."""

    promises: int
    waited: float


@dataclass
class Dispatcher:
    """One turn after another until `stop` is set."""

    settings: Settings
    database: Database
    stopped: bool = False
    housekept: float = -math.inf
    turned: float = 0.0
    tidied: float = -math.inf
    redoing: bool = True
    """Whether something may be left that older methods computed. A worker of an older release may add to it at any
    time, so after nothing was found it is looked again now and then."""

    def __post_init__(self) -> None:
        self.client = redis_client(self.settings)
        self.celery: Celery = celery_app(self.settings)
        self.stand_in = InlineWorker(self.settings)

    def run(self) -> None:
        """Take turns; a turn that fails for want of the database is taken again."""
        while not self.stopped:
            try:
                self.turn()
            except RegistryError as error:
                log.warning("no database", error=error.detail)
                time.sleep(_PAUSE_WITHOUT_DATABASE)
                continue
            self.sleep()
        self.stand_in.stop()

    def turn(self) -> None:
        """Have computed what is due, fold marks, keep house. Grids come first: somebody waits for them."""
        self.turned = time.monotonic()
        grids = self.look(derivations)
        answered = self.notify(DERIVE_TASK, -(-grids.promises // self.settings.batch_promises))
        apply_invalidations(self.database, self.settings)
        self.keep_house()
        questions = self.look(answers)
        answered = answered and self.notify(ANSWER_TASK, questions.promises)
        overdue = max(grids.waited, questions.waited) > self.settings.unanswered_seconds
        if overdue or not answered:
            self.stand_in.start()

    def keep_house(self) -> None:
        """Give up what is exhausted, forget what is old and have old methods' work done again, now and then."""
        if time.monotonic() - self.housekept > _HOUSEKEEPING_SECONDS:
            self.housekept = time.monotonic()
            with self.database.transaction() as connection:
                for table in (derivations, answers):
                    fail_exhausted(connection, table, self.settings.attempts)
                delete_old_keys(connection, self.settings.idempotency_days)
                tidy = time.monotonic() - self.tidied > _TIDYING_SECONDS
                if tidy:
                    self.tidied = time.monotonic()
                    delete_unread_results(connection, self.settings.question_days, self.settings.max_questions)
                if tidy or self.redoing:
                    self.redoing = requeue_old_methods(connection) > 0

    def look(self, table: Table) -> Due:
        """What of a table is due, counted as far as it changes how many wake-ups are sent."""
        most = MOST_WAKEUPS * self.settings.batch_promises
        some = select(table.c.due_at).where(due(table)).limit(most).subquery()
        query = select(func.count(), func.coalesce(func.extract("epoch", func.now() - func.min(some.c.due_at)), 0))
        with self.database.reading() as connection:
            count, waited = connection.execute(query.select_from(some)).one()
        return Due(count, float(waited))

    def notify(self, name: str, wanted: int) -> bool:
        """Send the wake-ups of a kind that are missing in the queue; whether the broker took them."""
        if not wanted:
            return True
        try:
            queued = self.queued()
            for _ in range(min(wanted - queued[name], MOST_WAKEUPS - queued.total())):
                self.celery.send_task(name, retry=False)
        except (redis.RedisError, OperationalError, OSError) as error:
            log.warning("no broker", error=str(error))
            return False
        return True

    def queued(self) -> Counter[str]:
        """How many wake-ups of each kind nobody has heard yet."""
        messages: Any = self.client.lrange(QUEUE, 0, MOST_WAKEUPS)
        return Counter(_task_of(message) for message in messages)

    def sleep(self) -> None:
        """Wait until notified, but no longer than the interval; without a broker for the interval.

        A wake-up after a quiet while is taken at once; under steady publication a turn serves several.
        """
        try:
            self.client.blpop([WAKE_LIST], timeout=max(_SHORTEST_TURN, self.settings.dispatch_seconds))
            time.sleep(max(0.0, self.turned + _SHORTEST_TURN - time.monotonic()))
            self.client.delete(WAKE_LIST)
        except (redis.RedisError, OSError):
            time.sleep(self.settings.dispatch_seconds)


def _task_of(message: bytes) -> str:
    """The task that a message is for; empty for one that is none of ours, which a broker may hold too."""
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
