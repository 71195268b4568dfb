"""The main job: publish, see statistics, ask. `python -m bench.main_job [gunicorn|waitress]` prints a table."""

from __future__ import annotations

import json
import sys
import threading
import time

from bench.load import grid, ms, post, publish, read
from bench.system import System, system


def visible(found: System, first: int, count: int, rate: float | None = None) -> list[float]:
    """Seconds from each answer to a publication until its statistics are served; at a rate, or one after another."""
    times: list[float] = []
    threads = []
    for number in range(first, first + count):
        begun = time.perf_counter()
        thread = threading.Thread(target=_one_visible, args=(found, number, times))
        thread.start()
        if rate is None:
            thread.join()
        else:
            threads.append(thread)
            time.sleep(max(0.0, 1 / rate - (time.perf_counter() - begun)))
    for thread in threads:
        thread.join()
    return times


def _one_visible(found: System, number: int, times: list[float]) -> None:
    connection = found.connection()
    path = f"/api/v1/projects/{found.project}/grids"
    _, answer = post(connection, found, path, json.dumps(grid(number)).encode())
    begun = time.perf_counter()
    href = json.loads(answer)["derivation"]["href"]
    connection.request("GET", href, headers={"Prefer": "wait=20"})
    response = connection.getresponse()
    response.read()
    if response.status == 200:
        times.append(time.perf_counter() - begun)


def visible_by_database(found: System, seconds: float, rate: float, first: int) -> list[float]:
    """Seconds from commit to settlement for grids published at a rate, by the database's clock."""
    from sqlalchemy import text

    path = f"/api/v1/projects/{found.project}/grids"
    connection = found.connection()
    begun = time.perf_counter()
    bodies = [json.dumps(grid(number)).encode() for number in range(first, first + int(rate * seconds))]
    begun = time.perf_counter()
    for i, body in enumerate(bodies):
        time.sleep(max(0.0, begun + i / rate - time.perf_counter()))
        post(connection, found, path, body)
    achieved = len(bodies) / (time.perf_counter() - begun)
    print(f"    published at {achieved:.0f}/s (asked {rate:.0f}/s)")
    while True:
        with found.database.reading() as reading:
            if not reading.scalar(text("SELECT count(*) FROM derivations WHERE state = 'pending'")):
                query = "SELECT extract(epoch FROM settled_at - due_at) FROM derivations ORDER BY due_at DESC LIMIT :n"
                return [float(row[0]) for row in reading.execute(text(query), {"n": len(bodies)})]
        time.sleep(0.05)


def drain(found: System) -> float:
    """Seconds until nothing is pending."""
    from sqlalchemy import text

    begun = time.perf_counter()
    while True:
        with found.database.reading() as reading:
            if not reading.scalar(text("SELECT count(*) FROM derivations WHERE state = 'pending'")):
                return time.perf_counter() - begun
        time.sleep(0.02)


def main(server: str) -> None:
    print(f"server {server}")
    with system(server, workers=False) as found:
        for name, count, clients, batch in (
            ("one client", 500, 1, 0),
            ("eight clients", 2400, 8, 0),
            ("batches of 100, two clients", 4000, 2, 100),
            ("batches of 500, two clients", 10000, 2, 500),
        ):
            first = {"one client": 0, "eight clients": 10_000, "batches of 100, two clients": 20_000}.get(name, 30_000)
            rate, times = publish(found, count, clients, first, batch)
            print(
                f"  publish, {name}: {rate:.0f} grids/s; request p50 {ms(times):.1f} ms, p99 {ms(times, 0.99):.1f} ms"
            )
    with system(server) as found:
        publish(found, 200, 1, 0)
        print(f"  drain of 200: {drain(found):.2f} s")
        reads(found)
        idle = visible(found, 100_000, 200)
        print(f"  visible when idle: p50 {ms(idle):.0f} ms, p99 {ms(idle, 0.99):.0f} ms")
        busy = visible_by_database(found, 10, 200, 200_000)
        print(f"  visible at 200/s: p50 {ms(busy):.0f} ms, p99 {ms(busy, 0.99):.0f} ms, max {1000 * max(busy):.0f} ms")


def reads(found: System) -> None:
    path = f"/api/v1/projects/{found.project}"
    connection = found.connection()
    _, answer = post(connection, found, f"{path}/grids", json.dumps(grid(0)).encode())
    one = json.loads(answer)["id"]
    ranking = f"{path}/rankings?experiment=experiment-0&metric=accuracy"
    connection.request("GET", ranking, headers={"Prefer": "wait=30"})
    response = connection.getresponse()
    response.read()
    tag = response.headers["ETag"]
    small = f"{path}/rankings?experiment=small&metric=accuracy"
    for model in range(8):
        body = grid(model) | {"experiment": "small"}
        post(connection, found, f"{path}/grids", json.dumps(body).encode())
    connection.request("GET", small, headers={"Prefer": "wait=30"})
    response = connection.getresponse()
    response.read()
    small_tag = response.headers["ETag"]
    base = ms(read(found, "/constant", 1000))
    print(f"  constant answer: p50 {base:.2f} ms")
    for name, where, headers in (
        ("grid", f"/api/v1/grids/{one}", {}),
        ("statistics", f"/api/v1/grids/{one}/statistics", {}),
        ("trends as text", f"/api/v1/grids/{one}/trends", {"Accept": "text/plain"}),
        ("ranking of 8", small, {}),
        ("ranking of 8, gzip", small, {"Accept-Encoding": "gzip"}),
        ("ranking of 8, 304", small, {"If-None-Match": small_tag}),
        ("ranking of 8 with a token", small, {"Authorization": f"Bearer {found.token}"}),
        ("ranking of 50", ranking, {}),
        ("ranking of 50, gzip", ranking, {"Accept-Encoding": "gzip"}),
        ("ranking of 50, 304", ranking, {"If-None-Match": tag}),
    ):
        times = read(found, where, 1000, headers)
        print(f"  {name}: p50 {ms(times):.2f} ms, p99 {ms(times, 0.99):.2f} ms, {ms(times) / base:.2f} × the constant")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "gunicorn")
