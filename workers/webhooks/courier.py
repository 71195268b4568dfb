"""Courier: the threads of the dispatcher that send to webhooks, one thread for a webhook at a time.

They wait for the network nearly all of their time, so threads beside the dispatcher's own cost it little, and an idle
registry has none but the one that looks what is due. A thread that ends in the middle leaves a lease that runs out.

Upkeep of deliveries: old ones are deleted, and webhooks that nobody woke are.
"""

import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from datetime import timedelta

import structlog
from sqlalchemy import Connection, delete, func, or_, select, update

from registry.errors import RegistryError
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.tables import deliveries, event_heads, webhooks
from workers.webhooks.attempts import send, settle
from workers.webhooks.lines import Line, begin_next, claim_line
from workers.webhooks.transport import Sender

log = structlog.get_logger()

MOST_LINES = 10
"""Webhooks that are sent to at once."""
MOST_OF_PROJECT = 5
MOST_FAILING = 3
"""Of those that failed last: the others find a thread while many are dead."""
_LOOK_SECONDS = 1.0
"""Between two looks for what is due without a wake-up."""
_TURN_SECONDS = 10.0
"""After which a webhook with more to send gives its place to those that wait."""
_STOP_SECONDS = 5.0
MOST_SETTLED = 10_000
"""Settled deliveries of a webhook that are kept; the oldest are deleted first."""
_AT_ONCE = 50_000


class Courier:
    """Sends what is due until it is stopped."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings, self._database = settings, database
        self._awake, self._lock = threading.Event(), threading.Lock()
        self._lines: dict[uuid.UUID, Line] = {}
        self._threads: set[threading.Thread] = set()
        self._stopped = False
        self._looking: threading.Thread | None = None

    def start(self) -> None:
        """Begin to look for what is due."""
        self._looking = threading.Thread(target=self._look, name="courier", daemon=True)
        self._looking.start()

    def wake(self) -> None:
        """Have it look now: something may be due."""
        self._awake.set()

    def stop(self) -> None:
        """Begin nothing more, and wait a little for the attempts under way."""
        self._stopped = True
        self._awake.set()
        until = time.monotonic() + _STOP_SECONDS
        with self._lock:
            threads = [*self._threads, *([self._looking] if self._looking else [])]
        for one in threads:
            one.join(max(0.0, until - time.monotonic()))

    def _look(self) -> None:
        while not self._stopped:
            try:
                while not self._stopped and self._start_line():
                    pass
            except RegistryError as error:
                log.warning("no database for webhooks", error=error.detail)
            self._awake.wait(_LOOK_SECONDS)
            self._awake.clear()

    def _start_line(self) -> bool:
        """Send to one more webhook in a thread of its own; False if none is due, or there are enough."""
        with self._lock:
            running = list(self._lines.values())
        if len(running) >= MOST_LINES:
            return False
        counted = Counter(one.project_id for one in running)
        busy = [project for project, count in counted.items() if count >= MOST_OF_PROJECT]
        line = claim_line(self._database, busy, only_healthy=sum(one.is_failing for one in running) >= MOST_FAILING)
        if line is None:
            return False
        thread = threading.Thread(target=self._send, args=(line,), name=f"webhook {line.webhook_id}", daemon=True)
        with self._lock:
            self._lines[line.lease] = line
            self._threads.add(thread)
        thread.start()
        return True

    def _send(self, line: Line) -> None:
        try:
            send_line(self._settings, self._database, line, lambda: self._stopped)
        except RegistryError as error:
            log.warning("no database for a webhook", error=error.detail)
        except Exception:
            log.exception("a delivery failed for a reason of our own", webhook=str(line.webhook_id))
        finally:
            with self._lock:
                del self._lines[line.lease]
                self._threads.discard(threading.current_thread())
            self.wake()


def send_line(settings: Settings, database: Database, line: Line, is_stopped: Callable[[], bool] = bool) -> int:
    """Send what a webhook is due, one after another, for a while; return the number of attempts."""
    until, count = time.monotonic() + _TURN_SECONDS, 0
    with Sender() as sender:
        sending = begin_next(database, line)
        while sending is not None:
            outcome = send(settings, sending, sender)
            count += 1
            leaving = is_stopped() or time.monotonic() > until
            sending = settle(database, line, sending, outcome, leaving=leaving)
    return count


def delete_settled_deliveries(connection: Connection, days: int) -> int:
    """Delete deliveries settled before so many days, and of each webhook all but the newest; return how many."""
    newest = deliveries.alias("newest")
    settled = (newest.c.webhook_id == webhooks.c.id, newest.c.state != "pending")
    last = select(newest.c.id).where(*settled).order_by(newest.c.id.desc()).offset(MOST_SETTLED).limit(1)
    bound = select(webhooks.c.id, last.scalar_subquery().label("last")).subquery()
    too_old = deliveries.c.settled_at < func.now() - timedelta(days=days)
    old = (
        select(deliveries.c.id)
        .join(bound, bound.c.id == deliveries.c.webhook_id)
        .where(deliveries.c.state != "pending", or_(too_old, deliveries.c.id <= bound.c.last))
        .limit(_AT_ONCE)
    )
    return int(connection.execute(delete(deliveries).where(deliveries.c.id.in_(old))).rowcount)


def wake_those_behind(connection: Connection) -> int:
    """Have webhooks looked at for which there are events, although nobody said so; return how many."""
    behind = (event_heads.c.project_id == webhooks.c.project_id, event_heads.c.position > webhooks.c.position)
    asleep = (webhooks.c.state == "enabled", webhooks.c.due_at.is_(None))
    return int(connection.execute(update(webhooks).where(*behind, *asleep).values(due_at=func.now())).rowcount)
