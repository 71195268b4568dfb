"""Side by side with MLflow: the same grids into both, on one PostgreSQL, and the ranking out of both.

`python -m bench.compare_mlflow [--grids 1000 10000]` prints a Markdown table of rates, times and ratios. MLflow is
installed into an environment of its own (`--environment`, by default in the user's cache). For MLflow a grid is a run
with its names as tags and one `log-batch` of its cells; a ranking is `runs/search`, page by page, and a mean for each
model at the client. Both systems have two server processes and the same clients; neither run is closed.
"""

import json
import multiprocessing
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from typing import Any

from bench.load import grid, post, read
from bench.mlflow_server import Tracking
from bench.scale import settle
from bench.system import System

MODELS = 50
ALONE = 100
"""Grids that one client publishes before eight publish the rest."""
CLIENTS = 8
BATCH = 500
PAGE = 1000
Send = Callable[[HTTPConnection, Any, int], None]


@dataclass(frozen=True)
class Measured:
    """Grids a second by one client and by eight; seconds of a first and of a further ranking."""

    one: float
    eight: float
    first: float
    again: float
    batches: float | None = None


def same_grid(number: int, experiment: str = "compare") -> dict[str, Any]:
    """A 7 × 20 grid; all numbers in one experiment, fifty models on each benchmark."""
    return grid(number, models=MODELS) | {"experiment": experiment, "benchmark": f"benchmark-{number // MODELS}"}


# --- the registry ---------------------------------------------------------------------------------------------------


def send_grid(connection: HTTPConnection, found: System, number: int) -> None:
    body = json.dumps(same_grid(number)).encode()
    status, answer = post(connection, found, f"/api/v1/projects/{found.project}/grids", body)
    if status != 201:
        raise RuntimeError(f"{status}: {answer[:300]!r}")


def send_batches(found: System, count: int) -> float:
    """Grids a second in batches, by one client."""
    connection = found.connection()
    bodies = [
        json.dumps([same_grid(number, "batches") for number in range(start, min(start + BATCH, count))]).encode()
        for start in range(0, count, BATCH)
    ]
    begun = time.perf_counter()
    for body in bodies:
        status, answer = post(connection, found, f"/api/v1/projects/{found.project}/grids/batch", body)
        if status != 200 or b'"problem"' in answer:
            raise RuntimeError(f"{status}: {answer[:300]!r}")
    return count / (time.perf_counter() - begun)


def measure_registry(found: System, count: int, reads: int) -> Measured:
    """Publish with statistics pending; the ranking is computed once, as a worker would, then read."""
    plain = replace(found, database=None)  # type: ignore[arg-type]
    one, eight = published(send_grid, plain, count)
    settings = replace(found.settings, ranking_debounce=0.0)
    path = f"/api/v1/projects/{found.project}/rankings?experiment=compare&metric=accuracy"
    begun = time.perf_counter()
    settle(replace(found, settings=settings))
    read(found, path, 1)
    first = time.perf_counter() - begun
    again = statistics.median(read(found, path, reads))
    return Measured(one, eight, first, again, send_batches(found, count))


# --- MLflow ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Experiment:
    """An experiment on a tracking server."""

    server: Tracking
    id: str

    def connection(self) -> HTTPConnection:
        return self.server.connection()


def send_run(connection: HTTPConnection, target: Experiment, number: int) -> None:
    sent = same_grid(number)
    now = int(time.time() * 1000)
    tags = [{"key": kind, "value": sent[kind]} for kind in ("experiment", "benchmark", "model")]
    run = target.server.call(
        connection,
        "runs/create",
        {"experiment_id": target.id, "run_name": f"grid-{number}", "start_time": now, "tags": tags},
    )
    metrics = [
        {"key": f"type_{i}/length_{j}", "value": value, "timestamp": now, "step": 0}
        for i, row in enumerate(sent["values"])
        for j, value in enumerate(row)
    ]
    body = {"run_id": run["run"]["info"]["run_id"], "metrics": metrics}
    target.server.call(connection, "runs/log-batch", body)


def rank_runs(target: Experiment) -> tuple[float, int]:
    """Seconds of a ranking by mean, and how many runs it took in."""
    begun = time.perf_counter()
    connection, token, seen = target.connection(), None, 0
    values: dict[str, list[float]] = defaultdict(list)
    while True:
        body = {"experiment_ids": [target.id], "max_results": PAGE} | ({"page_token": token} if token else {})
        page = target.server.call(connection, "runs/search", body)
        for run in page.get("runs", ()):
            data = run["data"]
            model = next(tag["value"] for tag in data["tags"] if tag["key"] == "model")
            values[model] += [metric["value"] for metric in data["metrics"]]
            seen += 1
        token = page.get("next_page_token")
        if not token:
            break
    sorted(values, key=lambda model: -statistics.fmean(values[model]))
    return time.perf_counter() - begun, seen


def measure_mlflow(server: Tracking, count: int) -> Measured:
    made = server.call(server.connection(), "experiments/create", {"name": f"compare-{count}"})
    target = Experiment(server, made["experiment_id"])
    one, eight = published(send_run, target, count)
    (first, seen), (again, _) = rank_runs(target), rank_runs(target)
    if seen != count:
        raise RuntimeError(f"{seen} of {count} runs were found")
    return Measured(one, eight, first, again)


# --- both -----------------------------------------------------------------------------------------------------------


def published(send: Send, target: Any, count: int) -> tuple[float, float]:
    """Grids a second: the first hundred by one client, the rest by eight."""
    alone = min(ALONE, count // 2)
    return send_all(send, target, range(alone), 1), send_all(send, target, range(alone, count), CLIENTS)


def send_all(send: Send, target: Any, numbers: range, clients: int) -> float:
    """Grids a second over all clients."""
    work = [(send, target, numbers[i::clients]) for i in range(clients)]
    with multiprocessing.get_context("fork").Pool(clients) as pool:
        begun = time.perf_counter()
        pool.map(_send_some, work, chunksize=1)
        return len(numbers) / (time.perf_counter() - begun)


def _send_some(work: tuple[Send, Any, range]) -> None:
    send, target, numbers = work
    connection = target.connection()
    for number in numbers:
        send(connection, target, number)
