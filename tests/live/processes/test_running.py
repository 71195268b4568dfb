"""The whole system at work: many publishers, readers that wait, processes that end when they are told."""

from __future__ import annotations

import threading
import time

import pytest

from tests.live.processes.system import PROJECT, Client, System, awaited


@pytest.fixture
def client(system: System) -> Client:
    return system.client()


def test_two_hundred_publications_from_eight_threads_all_get_their_statistics(system: System) -> None:
    grids, failures = [], []

    def publish(thread: int) -> None:
        try:
            client = system.client()
            for number in range(25):
                grids.append(
                    client.publish(experiment="crowd", model=f"model {thread}-{number}", labels={"by": str(thread)})
                )
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=publish, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len({grid["id"] for grid in grids}) == 200
    client = system.client()
    for grid in grids:
        document = awaited(lambda grid=grid: client.statistics(grid))
        assert (document["state"], document["revision"], document["digest"]) == ("ready", 1, grid["digest"])
    question = f"projects/{PROJECT}/rankings?experiment=crowd&metric=accuracy"
    ranking = awaited(lambda: (answer := client.call("GET", question)).status == 200 and answer.json)
    assert {(one["grid"], one["revision"]) for one in ranking["inputs"]} == {(grid["id"], 1) for grid in grids}


def test_a_reader_that_prefers_to_wait_is_answered_as_soon_as_the_statistics_are_there(
    system: System, client: Client
) -> None:
    client.publish(experiment="waiting", model="first")
    grid = client.publish(experiment="waiting", model="second")
    client._connection.request(
        "GET",
        f"/api/v1/grids/{grid['id']}/statistics",
        headers={"Authorization": f"Bearer {system.token}", "Prefer": "wait=10"},
    )
    begun = time.monotonic()
    response = client._connection.getresponse()
    body = response.read()
    assert response.status == 200, body
    assert time.monotonic() - begun < 10, "it waited as long as it might"
