"""The whole system at work: many publishers, readers that wait, processes that end when they are told."""

from __future__ import annotations

import threading
import time

import pytest

from tests.house import publication
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


def test_eight_jobs_that_publish_the_same_grid_at_once_make_revisions_without_gaps(system: System) -> None:
    answers = []

    def publish(thread: int) -> None:
        client = system.client()
        for number in range(6):
            answers.append(client.publish(experiment="same", axes=[], values=thread + number / 10, trials=None))

    threads = [threading.Thread(target=publish, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer["revision"] for answer in answers) == list(range(1, 49))
    newest = max(answers, key=lambda answer: answer["revision"])
    client = system.client()
    document = awaited(
        lambda: (found := client.statistics(newest)) and found["revision"] == newest["revision"] and found
    )
    assert document["digest"] == newest["digest"]


def test_every_ranking_that_is_served_contains_what_was_acknowledged_before(system: System) -> None:
    acknowledged: dict[str, int] = {}
    over, stale, served = threading.Event(), [], []

    def read() -> None:
        client = system.client()
        while not over.is_set():
            before = dict(acknowledged)
            answer = client.call("GET", f"projects/{PROJECT}/rankings?experiment=race&metric=accuracy")
            if answer.status == 200:
                inputs = {one["grid"]: one["revision"] for one in answer.json["inputs"]}
                served.append(len(inputs))
                stale.extend(before.items() - inputs.items() if not covers(inputs, before) else [])

    reader = threading.Thread(target=read)
    publisher = system.client()
    first = publisher.publish(experiment="race", axes=[], values=1.0, trials=None)
    acknowledged[first["id"]] = 1
    reader.start()
    try:
        for number in range(20):
            count = len(served)
            grid = publisher.publish(
                experiment="race", model=f"m{number % 7}", axes=[], values=2.0 + number, trials=None
            )
            acknowledged[grid["id"]] = grid["revision"]
            if number % 4 == 0:
                awaited(lambda count=count: len(served) > count, within=20)
    finally:
        over.set()
        reader.join()
    assert stale == []
    assert len(served) >= 5


def covers(inputs: dict[str, int], before: dict[str, int]) -> bool:
    return all(inputs.get(grid, 0) >= revision for grid, revision in before.items())


def test_a_batch_gets_all_its_statistics(client: Client) -> None:
    sent = [publication(experiment="batch", model=f"model {number}") for number in range(120)]
    answer = client.call("POST", f"projects/{PROJECT}/grids/batch", sent)
    assert answer.status in (200, 207), answer.body
    items = answer.json["items"]
    assert [item["status"] for item in items] == [201] * 120
    for item in items:
        document = awaited(lambda item=item: client.statistics(item["grid"]))
        assert document["digest"] == item["grid"]["digest"]
