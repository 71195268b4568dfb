"""A PostgreSQL that stands still (SIGSTOP) answers nothing and refuses nothing; the registry goes on answering.

A broker that goes away takes no worker with it.
"""

import threading
import time
from collections.abc import Callable
from urllib.request import urlopen

from registry.broker import DERIVE_TASK, celery_app, redis_client
from registry.settings import Settings
from tests.house import publication
from tests.live.processes.system import PROJECT, Client, Servers, System, awaited

AT_MOST = 10.0
"""Seconds in which every request ends, whatever happens."""


def timed(client: Client, method: str, path: str, sent: object = None) -> tuple[float, int, str | None]:
    begun = time.monotonic()
    answer = client.call(method, path, sent)
    return time.monotonic() - begun, answer.status, answer.headers["Retry-After"]


def test_every_request_ends_in_time_while_the_database_is_frozen_and_soon_after_all_is_well(
    fragile: System, fragile_servers: Servers
) -> None:
    client = fragile.client()
    grid = client.publish()
    awaited(lambda: client.statistics(grid))
    requests: list[Callable[[Client], tuple[float, int, str | None]]] = [
        lambda one: timed(one, "GET", f"projects/{PROJECT}"),
        lambda one: timed(one, "GET", f"grids/{grid['id']}"),
        lambda one: timed(one, "GET", f"grids/{grid['id']}/statistics"),
        lambda one: timed(one, "POST", f"projects/{PROJECT}/grids", publication(model="while frozen")),
    ]
    seen: list[tuple[float, int, str | None]] = []
    alive: list[float] = []
    over = threading.Event()

    def ask(number: int) -> None:
        mine = fragile.client()
        while not over.is_set():
            seen.append(requests[number % len(requests)](mine))
            over.wait(0.05)

    def ask_for_health() -> None:
        while not over.is_set():
            begun = time.monotonic()
            with urlopen(f"http://127.0.0.1:{fragile.settings.port}/healthz", timeout=10):
                alive.append(time.monotonic() - begun)
            over.wait(0.05)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
    threads.append(threading.Thread(target=ask_for_health))
    with fragile_servers.frozen_database():
        for thread in threads:
            thread.start()
        time.sleep(8)  # longer than a statement may take, so that connections are cut and tried anew
        over.set()
        for thread in threads:
            thread.join()
    assert {status for _, status, _ in seen} == {503}
    assert all(int(after or 0) >= 1 for _, _, after in seen)
    assert max(took for took, _, _ in seen) < AT_MOST
    # Two threads at most stand still; most requests are refused at once instead of standing in line.
    assert len([took for took, _, _ in seen if took < 1]) > len(seen) / 2
    assert len(alive) > 10
    assert max(alive) < 5
    begun = time.monotonic()
    fresh = fragile.client()
    awaited(lambda: timed(fresh, "GET", f"projects/{PROJECT}")[1] == 200)
    written = fresh.publish_until_acknowledged(model="afterwards")
    assert time.monotonic() - begun < 5
    # Worker and dispatcher recover by themselves too.
    awaited(lambda: fresh.statistics(written), within=20)


def test_a_broker_that_dies_while_a_task_runs_leaves_the_worker_alive_and_hearing(
    fragile: System, fragile_servers: Servers
) -> None:
    awaited(lambda: is_heard(fragile.settings))
    with fragile_servers.frozen_database():
        celery_app(fragile.settings).send_task(DERIVE_TASK)
        awaited(lambda: unfinished(fragile.settings))
        fragile_servers.kill_broker()
        awaited(lambda: "Connection to broker lost" in fragile.log("worker"))
        fragile_servers.start_broker()
        awaited(lambda: fragile.running["worker"].poll() is not None or is_heard(fragile.settings))
        assert fragile.running["worker"].poll() is None, fragile.log("worker")
    client = fragile.client()
    grid = client.publish()
    assert awaited(lambda: client.statistics(grid))["state"] == "ready"


def is_heard(settings: Settings) -> bool:
    """Whether a worker waits for messages, as only workers do by this command."""
    with redis_client(settings) as client:
        return any(one["cmd"] == "brpop" for one in client.client_list())


def unfinished(settings: Settings) -> int:
    """Messages of which no worker has said that it is done with them."""
    with redis_client(settings) as client:
        return int(client.hlen("unacked"))
