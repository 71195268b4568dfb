"""Embedded PostgreSQL and Valkey, run as child processes: on a laptop, in a test, anywhere without Docker.

`registry up` builds on `Home`, `Supervisor`, `Postgres` and `Valkey`; tests and benches need only `embedded_servers`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from registry.local.embedded.home import Home
from registry.local.embedded.programs import Postgres, Valkey
from registry.local.embedded.supervisor import Child, Supervisor

__all__ = ["Child", "Home", "Postgres", "Supervisor", "Valkey", "embedded_servers"]


@contextmanager
def embedded_servers(directory: str | Path, binaries: str | Path | None = None) -> Iterator[tuple[str, str]]:
    """Run both servers while the block lasts; yield (database URL, Redis URL for Celery).

    `directory` is created, or empty, or was used for this before; its data stays. redis-py takes the second address as
    `unix://<path>` instead of `redis+socket://<path>`. No signal handler is changed, and a server that dies is not
    restarted.
    """
    with Home(directory) as home, Supervisor(home, signals=()) as supervisor:
        postgres, valkey = Postgres(home, binaries), Valkey(home)
        supervisor.start(valkey.child())
        supervisor.start(postgres.child())
        yield postgres.url, valkey.url
