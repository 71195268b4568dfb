"""Open streams of events beside publishing: what they cost it, and when an act reaches them.

The same grids are published with and without open streams by turns, in one run, so that the ratio holds on a machine
that is slow today. All streams are read by one process, as `registry serve` serves them.
"""

import json
import multiprocessing
import selectors
import socket
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.figures import Figure, show
from bench.load import grid, post, publish
from bench.system import System, system

_OPENED = b"\r\n\r\n"


def ask(found: System, *, anonymous: bool = False) -> socket.socket:
    """A connection on which a stream was asked for."""
    line = socket.create_connection(("127.0.0.1", found.port), timeout=30)
    token = "" if anonymous else f"Authorization: Bearer {found.token}\r\n"
    path = f"/api/v1/projects/{found.project}/events"
    line.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n{token}\r\n".encode())
    return line


def _drain(lines: list[socket.socket], stop: Any) -> None:
    chosen = selectors.DefaultSelector()
    for line in lines:
        chosen.register(line, selectors.EVENT_READ)
    while not stop.is_set():
        for key, _ in chosen.select(0.2):
            if not key.fileobj.recv(65536):  # type: ignore[union-attr]
                chosen.unregister(key.fileobj)


@contextmanager
def streams(found: System, count: int) -> Iterator[None]:
    """So many streams that are read while the block lasts; half of them without a token."""
    lines = [ask(found, anonymous=bool(number % 2)) for number in range(count)]
    for line in lines:
        assert b" 200 " in line.recv(64)
    context = multiprocessing.get_context("fork")
    stop = context.Event()
    reader = context.Process(target=_drain, args=(lines, stop))
    reader.start()
    try:
        yield
    finally:
        stop.set()
        reader.join()
        for line in lines:
            line.close()


def latencies(found: System, count: int, first: int) -> list[float]:
    """Seconds from the answer to a publication until a stream has its event."""
    # The streams before may hold their places for a second yet.
    while b" 200 " not in (heard := ask(found).makefile("rb")).readline():
        time.sleep(0.2)
    next(line for line in heard if line.startswith(b"id: "))
    connection, took = found.connection(), []
    for number in range(first, first + count):
        _, answer = post(
            connection, found, f"/api/v1/projects/{found.project}/grids", json.dumps(grid(number)).encode()
        )
        answered, wanted = time.perf_counter(), json.loads(answer)["id"].encode()
        next(line for line in heard if line.startswith(b"data: ") and wanted in line)
        took.append(time.perf_counter() - answered)
    return took


def paced(found: System, count: int, first: int, rate: float) -> list[float]:
    """Seconds that each of so many publications took, which begin at a rate that leaves the machine time."""
    connection, took, begun = found.connection(), [], time.perf_counter()
    for number in range(count):
        while (early := begun + number / rate - time.perf_counter()) > 0:
            time.sleep(early)
        sent = time.perf_counter()
        post(connection, found, f"/api/v1/projects/{found.project}/grids", json.dumps(grid(first + number)).encode())
        took.append(time.perf_counter() - sent)
    return took


def measure(
    grids: int = 900, rounds: int = 3, count: int = 200, heard: int = 100, rate: float = 20.0
) -> Iterator[Figure]:
    """Publishing beside open streams, at a rate and as fast as two clients can, as ratios; milliseconds from an act to
    its message."""
    with system("serve") as found:
        publish(found, 40, 2, 0)
        times: dict[str, list[list[float]]] = {f"{rate:g} a second": [[], []], "from two clients at once": [[], []]}
        at_rate, at_once = times.values()
        for turn in range(rounds):
            first = 10_000 * (turn + 1)
            at_rate[0] += paced(found, grids // rounds, first, rate)
            at_once[0] += publish(found, grids // rounds, 2, first + 2_000)[1]
            with streams(found, count):
                time.sleep(1)  # two hundred threads begin
                at_rate[1] += paced(found, grids // rounds, first + 4_000, rate)
                at_once[1] += publish(found, grids // rounds, 2, first + 6_000)[1]
        for way, both in times.items():
            for name, share in (("p50", 50), ("p99", 99)):
                without, with_them = (1000 * _percentile(one, share) for one in both)
                told = f"{with_them:.1f} ms, {without:.1f} ms without"
                named = f"`POST …/grids`, {way}, beside {count} open streams, {name}"
                yield Figure(named, with_them / without, "×", beside=told)
        took = [1000 * one for one in latencies(found, heard, 100_000)]
        told = f"p99 {_percentile(took, 99):.0f} ms"
        yield Figure("from 201 to the message in a stream, p50", statistics.median(took), "ms", beside=told)


def _percentile(values: list[float], share: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * share // 100)]


if __name__ == "__main__":
    show(measure())
