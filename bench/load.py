"""Load from processes of their own: publications and reads, with the time that each took."""

import json
import multiprocessing
import random
import statistics
import time
from collections.abc import Sequence
from http.client import HTTPConnection
from typing import Any

from sqlalchemy import func, select

from bench.system import System
from registry.storage.tables import derivations


def grid(number: int, seed: int = 0, models: int = 50, rows: int = 7, columns: int = 20) -> dict[str, Any]:
    """A 7 × 20 grid with trials; every number is another identity."""
    chance = random.Random(number * 7919 + seed)
    values = [[round(chance.uniform(40, 100) * 3) / 3 for _ in range(columns)] for _ in range(rows)]
    return {
        "experiment": f"experiment-{number // 1000}",
        "benchmark": f"benchmark-{number % 1000 // models}",
        "model": f"model-{number % models}",
        "metric": {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100},
        "axes": [
            {"name": "Type", "kind": "nominal", "levels": [str(i) for i in range(rows)]},
            {"name": "Length", "kind": "numeric", "levels": list(range(columns))},
        ],
        "values": [[round(value, 1) for value in row] for row in values],
        "trials": 300,
    }


def post(connection: HTTPConnection, found: System, path: str, body: bytes) -> tuple[int, bytes]:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {found.token}"}
    connection.request("POST", path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def publish_some(args: tuple[System, int, int, int]) -> list[float]:
    """Publish `count` grids from `first`, in batches of `batch` (0: one by one); seconds of each request."""
    found, first, count, batch = args
    path = f"/api/v1/projects/{found.project}/grids" + ("/batch" if batch else "")
    step = batch or 1
    bodies = []
    for start in range(first, first + count, step):
        grids = [grid(number) for number in range(start, start + step)]
        bodies.append(json.dumps(grids if batch else grids[0]).encode())
    connection, times = found.connection(), []
    for body in bodies:
        begun = time.perf_counter()
        status, answer = post(connection, found, path, body)
        times.append(time.perf_counter() - begun)
        if status not in (200, 201) or (batch and b'"problem"' in answer):
            raise RuntimeError(f"{status}: {answer[:300]!r}")
    return times


def publish(found: System, count: int, clients: int, first: int, batch: int = 0) -> tuple[float, list[float]]:
    """Grids a second over all clients, and the seconds of each request."""
    share = count // clients
    work = [(_plain(found), first + i * share, share, batch) for i in range(clients)]
    with multiprocessing.get_context("fork").Pool(clients) as pool:
        begun = time.perf_counter()
        times = [one for some in pool.map(publish_some, work) for one in some]
        seconds = time.perf_counter() - begun
    return share * clients / seconds, times


def _plain(found: System) -> Any:
    """The system without its connections, for another process."""
    from dataclasses import replace

    return replace(found, database=None)  # type: ignore[arg-type]


def read(found: System, path: str, count: int, headers: dict[str, str] | None = None) -> list[float]:
    """Seconds of `count` GETs by one client on one connection."""
    connection, times = found.connection(), []
    for _ in range(count):
        begun = time.perf_counter()
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        answer.read()
        times.append(time.perf_counter() - begun)
        if answer.status not in (200, 304):
            raise RuntimeError(f"{answer.status} for {path}")
    return times


def ms(times: Sequence[float], share: float = 0.5) -> float:
    """A quantile in milliseconds."""
    if len(times) == 1:
        return 1000 * times[0]
    return 1000 * statistics.quantiles(times, n=1000, method="inclusive")[int(1000 * share) - 1]


def waiting(found: System) -> int:
    """How many grids have no statistics yet."""
    with found.database.reading() as reading:
        pending = select(func.count()).where(derivations.c.state == "pending")
        return int(reading.scalar(pending) or 0)


def drain(found: System, patience: float = 300.0) -> float:
    """Seconds until no statistics are pending; `RuntimeError` when that takes longer than somebody would wait."""
    begun = time.perf_counter()
    while (took := time.perf_counter() - begun) < patience:
        if not waiting(found):
            return took
        time.sleep(0.02)
    raise RuntimeError(f"statistics are pending after {patience:.0f} s")
