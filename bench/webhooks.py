"""Events a second that a webhook is sent, by a receiver that answers at once: alone, and beside publications.

The receiver is a process of its own; what is counted are its requests, each id once. Events are those of publications
beside, and without publications such as are announced by the hand of this program.
"""

import json
import multiprocessing
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty
from typing import Any

from sqlalchemy import select

from bench.figures import Figure, show
from bench.load import post, publish
from bench.system import System, free_port, system
from registry.storage.arrivals import Arrival, announce
from registry.storage.tables import projects

INNER = {"webhook_allow": "127.0.0.0/8", "webhook_schemes": "https,http"}


def _receive(port: int, heard: Any) -> None:
    """Answer requests, on one connection after the other, and say of each when it came and its id."""
    with socket.create_server(("127.0.0.1", port)) as server:
        while True:
            line, _ = server.accept()
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with line, line.makefile("rb") as coming:
                while coming.readline():
                    headers = dict(one.split(b": ", 1) for one in iter(lambda: coming.readline().strip(), b""))
                    known = {name.lower(): value for name, value in headers.items()}
                    coming.read(int(known[b"content-length"]))
                    line.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
                    heard.put((time.perf_counter(), known[b"webhook-id"]))


@contextmanager
def receiver(found: System, *types: str) -> Iterator[Any]:
    """What a webhook of these types is sent while the block lasts."""
    context, port = multiprocessing.get_context("fork"), free_port()
    heard = context.Queue()
    process = context.Process(target=_receive, args=(port, heard), daemon=True)
    process.start()
    hook = {"url": f"http://127.0.0.1:{port}/", "types": list(types)}
    path = f"/api/v1/projects/{found.project}/webhooks"
    status, answer = post(found.connection(), found, path, json.dumps(hook).encode())
    assert status == 201, answer
    try:
        yield heard
    finally:
        process.kill()
        process.join()


def rate(heard: Any, count: int, patience: float = 120.0) -> float:
    """Events a second from the first to the last of so many different ones."""
    times: dict[bytes, float] = {}
    while len(times) < count:
        try:
            at, id_ = heard.get(timeout=patience)
        except Empty:
            raise RuntimeError(f"{len(times)} of {count} events came") from None
        times.setdefault(id_, at)
    return (count - 1) / (max(times.values()) - min(times.values()))


def announced(found: System, count: int) -> None:
    """So many events of the project, with data as of publications."""
    data = {"experiment": "e", "benchmark": "b", "model": "m", "variant": "", "metric": "accuracy", "revision": 1}
    with found.database.transaction() as connection:
        project = connection.scalar(select(projects.c.id).where(projects.c.slug == found.project))
        announce(connection, project, [Arrival("grid.revised", f"grids/{n}", data | {"grid": n}) for n in range(count)])


def measure(events: int = 3_000, grids: int = 1_500) -> Iterator[Figure]:
    with system("serve", **INNER) as found:
        with receiver(found, "grid.revised") as heard:
            announced(found, events)
            alone = rate(heard, events)
            yield Figure("webhook, one receiver that answers at once", alone, "events/s", at_least=200.0)
        with receiver(found, "grid.published") as heard:
            publish(found, grids, 2, 0)
            beside = rate(heard, grids)
            yield Figure("the same, of grids that two clients publish meanwhile", beside, "events/s")


if __name__ == "__main__":
    show(measure())
