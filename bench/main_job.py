"""The main job: publish, see statistics, ask, with the web server, workers and the dispatcher as processes."""

import json
import os
import statistics
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection

from sqlalchemy import text

from bench.figures import Figure, show
from bench.load import drain, grid, ms, post, publish, read
from bench.processes import Process, descendants, processor_seconds
from bench.system import System, system

MANY = 5
"""Grids of a batch for each that one client publishes alone."""
ROUNDS = 10


def measure(
    server: str = "gunicorn", grids: int = 500, reads: int = 1000, seen: int = 200, rate: float = 200.0
) -> Iterator[Figure]:
    """Grids a second, reads beside a constant answer, and milliseconds until statistics are served.

    `grids` is how many one client publishes alone, `reads` how often each answer is read, `seen` how many grids are
    waited for one after the other, and `rate` how many are then published a second for ten seconds.
    """
    with system(server, workers=False) as found:
        yield from publishing(found, grids)
    with system(server) as found:
        publish(found, min(grids, 200), 1, 0)
        drain(found)
        yield from reading(found, reads)
        idle = visible(found, 100_000, seen)
        tail = f"p99 {ms(idle, 0.99):.0f} ms"
        yield Figure("answer to visible statistics, idle, p50", ms(idle), "ms", at_most=60.0, beside=tail)
        yield from visible_at(found, rate, min(10.0, grids / 50), 200_000)


def publishing(found: System, grids: int) -> Iterator[Figure]:
    """Grids a second with statistics pending, and the processor time of web and database together."""
    for name, count, clients, batch, first, least in (
        ("publish, one client", grids, 1, 0, 0, 500.0),
        ("publish, eight clients", MANY * grids // 8 * 8, 8, 0, 10_000, 800.0),
        ("publish in batches of 100, two clients", 8 * grids, 2, min(100, grids), 20_000, None),
        ("publish in batches of 500, two clients", 20 * grids, 2, min(500, grids), 40_000, 8000.0),
    ):
        before = processor_seconds(serving())
        reached, times = publish(found, count, clients, first, batch)
        spent = 1000 * (processor_seconds(serving()) - before) / count
        tail = f"a request p50 {ms(times):.1f} ms, p99 {ms(times, 0.99):.1f} ms"
        yield Figure(name, reached, "grids/s", at_least=least, beside=tail)
        yield Figure(f"{name}: web and PostgreSQL, of a core a grid", spent, "ms", at_most=2.0)


def serving() -> list[Process]:
    """The processes of this system that serve: all that descend from this program, but for the clients, its forks."""
    here, *family = descendants(os.getpid())
    return [one for one in family if one.command != here.command]


def reading(found: System, count: int) -> Iterator[Figure]:
    """Each answer read in turn with the others, beside a constant one of the same application."""
    paths = answers(found)
    times: dict[str, list[float]] = {name: [] for name in paths}
    for _ in range(min(ROUNDS, count)):
        for name, (path, headers, _) in paths.items():
            times[name] += read(found, path, max(1, count // ROUNDS), headers)
    base = statistics.median(times.pop("constant"))
    yield Figure("a constant answer of the same application, p50", 1000 * base, "ms")
    page = times.pop("a page of 100 grids")
    yield Figure(
        "a page of 100 grids of a list, p50", ms(page), "ms", at_most=10.0, beside=f"p99 {ms(page, 0.99):.1f} ms"
    )
    for name, each in times.items():
        ratio, beside = statistics.median(each) / base, f"p50 {ms(each):.2f} ms, p99 {ms(each, 0.99):.2f} ms"
        yield Figure(name, ratio, "× the constant", at_most=paths[name][2], beside=beside)


def answers(found: System) -> dict[str, tuple[str, dict[str, str], float | None]]:
    """What is read: path, headers and how many times the constant answer it may take."""
    path = f"/api/v1/projects/{found.project}"
    connection = found.connection()
    one = published(connection, found, 0)
    for model in range(8):
        published(connection, found, model, experiment="small")
    small, large = (f"{path}/rankings?experiment={name}&metric=accuracy" for name in ("small", "experiment-0"))
    small_tag, large_tag = (answered(connection, ranking) for ranking in (small, large))
    gzip, token = {"Accept-Encoding": "gzip"}, {"Authorization": f"Bearer {found.token}"}
    return {
        "constant": ("/constant", {}, None),
        "a grid": (f"/api/v1/grids/{one}", {}, 2.0),
        "a page of 100 grids": (f"{path}/grids?limit=100", {}, None),
        "statistics of a grid": (f"/api/v1/grids/{one}/statistics", {}, 1.7),
        "statistics of a grid, gzip": (f"/api/v1/grids/{one}/statistics", gzip, 1.7),
        "trends as a text table": (f"/api/v1/grids/{one}/statistics?part=trends", {"Accept": "text/plain"}, None),
        "a stored ranking of 8 models": (small, {}, 1.7),
        "a stored ranking of 8 models, gzip": (small, gzip, 1.7),
        "a stored ranking of 8 models, 304": (small, {"If-None-Match": small_tag}, 1.7),
        "a stored ranking of 8 models, with a token": (small, token, None),
        "a stored ranking of 50 models": (large, {}, None),
        "a stored ranking of 50 models, gzip": (large, gzip, None),
        "a stored ranking of 50 models, 304": (large, {"If-None-Match": large_tag}, 1.7),
    }


def published(connection: HTTPConnection, found: System, number: int, **fields: str) -> str:
    """Publish a grid; its id."""
    body = json.dumps(grid(number) | fields).encode()
    status, answer = post(connection, found, f"/api/v1/projects/{found.project}/grids", body)
    if status not in (200, 201):
        raise RuntimeError(f"{status}: {answer[:300]!r}")
    return str(json.loads(answer)["id"])


def answered(connection: HTTPConnection, path: str) -> str:
    """Wait until a ranking is stored; its entity tag."""
    connection.request("GET", path, headers={"Prefer": "wait=30"})
    response = connection.getresponse()
    body = response.read()
    if response.status != 200:
        raise RuntimeError(f"{response.status}: {body[:300]!r}")
    return response.headers["ETag"]


def visible(found: System, first: int, count: int) -> list[float]:
    """Seconds from each answer to a publication until its statistics are served, one after another."""
    connection, times = found.connection(), []
    for number in range(first, first + count):
        href = f"/api/v1/grids/{published(connection, found, number)}/statistics"
        begun = time.perf_counter()
        answered(connection, href)
        times.append(time.perf_counter() - begun)
    return times


def visible_at(found: System, rate: float, seconds: float, first: int) -> Iterator[Figure]:
    """Milliseconds from a publication to its statistics, by the database's clock, while two clients publish at a
    rate."""
    count = max(2, int(rate * seconds))
    begun = time.perf_counter()
    halves = [range(first + half, first + count, 2) for half in range(2)]
    clients = [threading.Thread(target=_paced, args=(found, half, rate / 2)) for half in halves]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    reached = count / (time.perf_counter() - begun)
    drain(found)
    query = "SELECT extract(epoch FROM settled_at - due_at) FROM derivations ORDER BY due_at DESC LIMIT :n"
    with found.database.reading() as connection:
        times = [float(row[0]) for row in connection.execute(text(query), {"n": count})]
    name, beside = f"visible statistics at {rate:.0f} publications a second", f"{reached:.0f} a second were published"
    yield Figure(f"{name}, p50", ms(times), "ms", at_most=150.0, beside=beside)
    yield Figure(f"{name}, p99", ms(times, 0.99), "ms", at_most=1000.0)


def _paced(found: System, numbers: range, rate: float) -> None:
    """Publish at a rate, as far as the answers allow."""
    connection, begun = found.connection(), time.perf_counter()
    for place, number in enumerate(numbers):
        time.sleep(max(0.0, begun + place / rate - time.perf_counter()))
        published(connection, found, number)


if __name__ == "__main__":
    show(measure())
