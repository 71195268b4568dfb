"""Writers at the same moment: everyone is answered, revisions have no gap, a repeated key has one effect."""

import gzip
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.house import Project, publication


def at_once(count: int, act: Callable[[int], Any]) -> list[Any]:
    """What `act(0)` … `act(count - 1)` return, begun at the same moment in a thread each."""
    policy = threading.Barrier(count)

    def run(number: int) -> Any:
        policy.wait()
        return act(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def test_sixteen_writers_of_the_same_content_make_one_revision(project: Project) -> None:
    answers = at_once(16, lambda _: project.publish())
    assert sorted(answer.status_code for answer in answers) == [200] * 15 + [201]
    assert {answer.get_json()["revision"] for answer in answers} == {1}


def test_only_one_of_many_is_new_or_amends_the_revision_that_all_have_read(project: Project) -> None:
    answers = at_once(8, lambda n: project.publish(publication(trials=100 + n), headers={"If-None-Match": "*"}))
    assert sorted(answer.status_code for answer in answers) == [201] + [412] * 7
    [won] = [answer for answer in answers if answer.status_code == 201]
    path, tag = f"grids/{won.get_json()['id']}/cells", won.headers["ETag"]

    def amend(n: int) -> int:
        cells = {"cells": [{"at": {"Type": "2", "Length": 0}, "value": float(n)}]}
        return project.call("PATCH", path, json=cells, headers={"If-Match": tag}).status_code

    assert sorted(at_once(8, amend)) == [200] + [412] * 7


def test_batches_that_meet_in_opposite_order_do_not_embrace(project: Project) -> None:
    def send(n: int) -> list[int]:
        models = [f"m{i}" for i in range(30)][:: -1 if n % 2 else 1]
        sent = [publication(model=model, trials=100 + n) for model in models]
        answer = project.call("POST", f"projects/{project.slug}/grids/batch", json=sent)
        return [item["status"] for item in answer.get_json()["items"]]

    assert at_once(6, send) == [[201] * 30] * 6


def test_sends_of_one_key_at_once_make_one_revision(project: Project) -> None:
    for turn in range(8):
        sent = publication(model=f"model {turn}")
        key = {"Idempotency-Key": f"key-{turn}"}
        answers = at_once(8, lambda _, sent=sent, key=key: project.publish(sent, headers=key))
        statuses = [answer.status_code for answer in answers]
        assert set(statuses) <= {201, 409}
        assert 201 in statuses
        assert all(int(a.headers["Retry-After"]) >= 1 for a in answers if a.status_code == 409)
        assert len({answer.data for answer in answers if answer.status_code == 201}) == 1
        replay = project.publish(sent, headers=key)
        assert (replay.status_code, replay.headers["Idempotent-Replayed"]) == (201, "true")
        assert len(project.get(f"grids/{replay.get_json()['id']}/revisions").get_json()["items"]) == 1


def test_a_key_gives_its_first_answer_after_other_writes_and_to_no_other_request(project: Project) -> None:
    key = {"Idempotency-Key": "first"}
    assert project.publish(publication(values=[1]), headers=key).status_code == 422, "this does not use it up"
    first = project.publish(headers=key)
    project.published(trials=150)
    again = project.publish(headers=key)
    assert (again.status_code, again.data) == (201, first.data)
    for name in ("Location", "ETag"):
        assert again.headers[name] == first.headers[name]
    assert project.get(first.headers["Location"]).get_json()["revision"] == 2
    assert project.publish(publication(trials=150), headers=key).status_code == 422
    cells = {"cells": [{"at": {"Type": "1", "Length": 0}, "value": 1.0}]}
    path = f"grids/{first.get_json()['id']}/cells"
    assert project.call("PATCH", path, json=cells, headers=key).status_code == 422
    assert project.publish(headers=key | {"If-None-Match": "*"}).status_code == 422


def test_aliases_at_once_make_no_chain(project: Project) -> None:
    for turn in range(5):
        pairs = [(f"a{turn}", f"b{turn}"), (f"b{turn}", f"c{turn}")]

        def join(n: int, pairs: list[tuple[str, str]] = pairs) -> int:
            sent = {"kind": "model", "alias": pairs[n][0], "name": pairs[n][1]}
            return project.call("POST", f"projects/{project.slug}/aliases", json=sent).status_code

        assert sorted(at_once(2, join)) == [201, 422]


def test_a_key_holds_for_the_same_content_however_it_is_compressed(project: Project) -> None:
    def send(order: str, model: str, coding: str, level: int) -> Any:
        body = json.dumps(publication(model=model)).encode()
        headers = {"Idempotency-Key": order, "Content-Type": "application/json"}
        headers |= {"Content-Encoding": coding} if coding else {}
        sent = gzip.compress(body, compresslevel=level) if coding else body
        return project.call("POST", f"projects/{project.slug}/grids", data=sent, headers=headers)

    for order in ("-gzip", "gzip-", "gzip-gzip"):
        answers = [send(order, order, coding, level) for level, coding in enumerate(order.split("-"), start=1)]
        assert [answer.status_code for answer in answers] == [201, 201], order
        assert answers[1].headers["Idempotent-Replayed"] == "true"
        assert send(order, "other", "gzip", 9).status_code == 422
