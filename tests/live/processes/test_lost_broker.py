"""A broker that goes away takes no worker with it."""

from __future__ import annotations

from registry.broker import DERIVE_TASK, celery_app, redis_client
from registry.settings import Settings
from tests.live.processes.system import Servers, System, awaited


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
