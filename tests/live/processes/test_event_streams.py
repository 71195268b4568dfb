"""Streams of events on both servers: others are served beside them, they end with the process, nothing is missed."""

import contextlib
import http.client
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import results_registry
from tests.live.processes.system import PROJECT, System, awaited
from tests.live.processes.test_stopping import SERVE, another_web


@contextlib.contextmanager
def stream(port: int, token: str) -> Iterator[http.client.HTTPResponse]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
    connection.request("GET", f"/api/v1/projects/{PROJECT}/events", headers=headers)
    response = connection.getresponse()
    try:
        yield response
    finally:
        # One that the server will close is no longer the connection's to close.
        response.close()
        connection.close()


def lines(response: http.client.HTTPResponse, first: bytes) -> Iterator[bytes]:
    return (line for line in response if line.startswith(first))


def test_more_streams_than_threads_leave_requests_a_thread_and_end_with_the_process(
    system: System, tmp_path: Path
) -> None:
    limited = replace(system, settings=replace(system.settings, max_streams=60, web_threads=2))
    with another_web(limited, SERVE, tmp_path / "log") as (process, client), contextlib.ExitStack() as open_:
        leaving = open_.enter_context(contextlib.ExitStack())
        port = client._connection.port
        streams = [open_.enter_context(stream(port, system.token)) for _ in range(29)]
        assert [one.status for one in streams] == [200] * 29
        for one in streams:
            next(lines(one, b"id: "))
        streams.append(gone := leaving.enter_context(stream(port, system.token)))
        assert gone.status == 200
        with stream(port, system.token) as refused:
            assert (refused.status, refused.headers["Retry-After"] is not None) == (503, True)
        grid = client.publish_until_acknowledged(
            experiment="streams", model=f"at {time.time()}", axes=[], values=1.0, trials=None
        )
        for one in streams:
            told = (json.loads(line[6:]) for line in lines(one, b"data: "))
            assert (
                next(event for event in told if event["subject"] == f"grids/{grid['id']}")["type"] == "grid.published"
            )
        streams.remove(gone)
        leaving.close()

        def place_is_free() -> bool:
            with stream(port, system.token) as another:
                return another.status == 200

        awaited(place_is_free, within=20)
        begun = time.monotonic()
        process.terminate()
        for one in streams:
            one.read()
        assert process.wait(10) == 0
        assert time.monotonic() - begun < 10


def test_who_follows_a_server_that_is_killed_misses_nothing_and_sees_nothing_twice(fragile: System) -> None:
    where = {"url": f"http://127.0.0.1:{fragile.settings.port}", "token": fragile.token, "project": PROJECT}
    seen: list[dict[str, Any]] = []
    done = threading.Event()

    def follow() -> None:
        for event in results_registry.events(after="now", type="grid.published", follow=True, **where):
            seen.append(event)
            if event["data"]["model"] == "last":
                break
        done.set()

    threading.Thread(target=follow, daemon=True).start()
    client = fragile.client()
    published = [client.publish_until_acknowledged(model="first", axes=[], values=0.0, trials=None)["id"]]
    awaited(lambda: seen or _again(client, published))
    for number in range(12):
        published.append(client.publish_until_acknowledged(model=f"m{number}", axes=[], values=1.0, trials=None)["id"])
        if number % 6 == 3:
            fragile.kill("web")
            fragile.start("web")
    published.append(client.publish_until_acknowledged(model="last", axes=[], values=1.0, trials=None)["id"])
    assert done.wait(90)
    told = [one["data"]["grid"] for one in seen]
    assert told == published[published.index(told[0]) :]
    positions = [one["position"] for one in seen]
    assert positions == sorted(set(positions))


def _again(client: Any, published: list[str]) -> None:
    """Publish until somebody listens: what is told before that is not told to who begins with now."""
    model = f"before {len(published)}"
    published.append(client.publish_until_acknowledged(model=model, axes=[], values=0.0, trials=None)["id"])
