"""Is this container's process doing its work? `healthy.py web|worker|dispatcher` ends with 0 or 1 and a sentence."""

import socket
import sys
import urllib.request
from collections.abc import Callable

from registry.settings import Settings

OVERDUE_SECONDS = 120


def web(settings: Settings) -> str | None:
    """The process answers. Whether the database does too is /readyz's matter: restarting this one would not help."""
    with urllib.request.urlopen(f"http://127.0.0.1:{settings.port}/healthz", timeout=4):
        return None


def worker(settings: Settings) -> str | None:
    """The worker on this host answers a ping that goes through the broker: it is alive and not deaf."""
    from registry.broker import celery_app

    name = f"celery@{socket.gethostname()}"
    answers = celery_app(settings).control.ping(destination=[name], timeout=4)
    return None if answers else f"{name} does not answer a ping through the broker."


def dispatcher(settings: Settings) -> str | None:
    """No job is long overdue. A dispatcher computes by itself when nobody else does, so one would be its fault."""
    from registry.operations.health import health_of
    from registry.storage.database import Database

    with Database(settings, name="healthy").reading() as connection:
        health = health_of(connection)
    if health.oldest_seconds > OVERDUE_SECONDS:
        return f"The oldest job has been due for {health.oldest_seconds:.0f} s."
    return None


CHECKS: dict[str, Callable[[Settings], str | None]] = {"web": web, "worker": worker, "dispatcher": dispatcher}


def main(process: str) -> str | None:
    """What is wrong with the process, or None."""
    try:
        return CHECKS[process](Settings.from_environment())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
