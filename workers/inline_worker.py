"""Inline worker: a child process of the dispatcher that computes due jobs where they wait too long for Celery's
workers, be it that none responds or that there is more to do than they can.
"""

import os
import signal
import subprocess
import sys
import time

import structlog

from registry.broker import Notifier
from registry.garbage import collect_rarely
from registry.logs import configure_logs
from registry.settings import Settings, inherited_environment
from registry.storage.database import Database
from workers.jobs.worker_process import is_shutting_down, request_shutdown, wake_through

log = structlog.get_logger()

IDLE_SECONDS = 5.0


class InlineWorker:
    """Handle on at most one child, which exits when nothing has been due for a while or its parent is gone."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._child: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the child unless it is running."""
        if self._child is None or self._child.poll() is not None:
            log.warning("jobs wait: computing without the broker")
            environment = inherited_environment() | self._settings.environment()
            command = [sys.executable, "-P", "-m", "workers.inline_worker"]
            self._child = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)

    def stop(self) -> None:
        if self._child is not None and self._child.poll() is None:
            self._child.terminate()
            try:
                self._child.wait(5)
            except subprocess.TimeoutExpired:
                self._child.kill()


def main() -> None:
    """Compute due jobs until none was due for a while."""
    from workers.jobs.worker_process import NICENESS, Reporter
    from workers.queries import Turns

    settings = Settings.from_environment()
    configure_logs(settings.log_level)
    database = Database(settings, name="inline-worker", statement_timeout=settings.worker_statement_timeout)
    wake_through(Notifier(settings))
    collect_rarely()
    os.nice(NICENESS)
    reporter = Reporter(database, "inline-worker")
    reporter.start()
    signal.signal(signal.SIGTERM, lambda *_: request_shutdown())
    turns = Turns(database, settings)
    parent, idle_since = os.getppid(), time.monotonic()
    while os.getppid() == parent and not is_shutting_down() and time.monotonic() - idle_since < IDLE_SECONDS:
        if turns.take():
            idle_since = time.monotonic()
        else:
            time.sleep(settings.dispatch_seconds)
    reporter.end()


if __name__ == "__main__":
    main()
