"""Writers at the same moment: everyone is answered, revisions have no gap, a repeated key has one effect."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any

import pytest

from registry.operations.idempotency import StoredResponse, store_response
from registry.storage.database import try_lock
from tests.house import House, Project, publication


def at_once(count: int, act: Callable[[int], Any]) -> list[Any]:
    """What `act(0)` … `act(count - 1)` return, begun at the same moment in a thread each."""
    policy = threading.Barrier(count)

    def run(number: int) -> Any:
        policy.wait()
        return act(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def test_sixteen_writers_of_one_identity_make_revisions_without_a_gap(project: Project) -> None:
    answers = at_once(16, lambda n: project.publish(publication(trials=100 + n)))
    assert [answer.status_code for answer in answers] == [201] * 16
    assert sorted(answer.get_json()["revision"] for answer in answers) == list(range(1, 17))
    assert len({answer.get_json()["id"] for answer in answers}) == 1
    for n, answer in enumerate(answers):
        path = f"grids/{answer.get_json()['id']}/revisions/{answer.get_json()['revision']}"
        assert project.get(path).get_json()["trials"] == 100 + n


def test_sixteen_writers_of_the_same_content_make_one_revision(project: Project) -> None:
    answers = at_once(16, lambda _: project.publish())
    assert sorted(answer.status_code for answer in answers) == [200] * 15 + [201]
    assert {answer.get_json()["revision"] for answer in answers} == {1}


def test_only_one_of_many_is_new(project: Project) -> None:
    answers = at_once(8, lambda n: project.publish(publication(trials=100 + n), headers={"If-None-Match": "*"}))
    assert sorted(answer.status_code for answer in answers) == [201] + [412] * 7


def test_only_one_of_many_amends_the_revision_that_all_have_read(project: Project) -> None:
    answer = project.publish()
    path, tag = f"grids/{answer.get_json()['id']}/cells", answer.headers["ETag"]

    def amend(n: int) -> int:
        cells = {"cells": [{"at": {"Type": "2", "Length": 0}, "value": float(n)}]}
        return project.call("PATCH", path, json=cells, headers={"If-Match": tag}).status_code

    assert sorted(at_once(8, amend)) == [200] + [412] * 7


def test_amendments_at_once_lose_no_cell(project: Project) -> None:
    grid = project.published(axes=[{"name": "Step", "kind": "numeric", "levels": []}], values=[])

    def amend(n: int) -> int:
        cells = {"cells": [{"at": {"Step": n}, "value": float(n)}]}
        return project.call("PATCH", f"grids/{grid['id']}/cells", json=cells).status_code

    assert at_once(16, amend) == [200] * 16
    stored = project.get(f"grids/{grid['id']}").get_json()
    assert (stored["values"], stored["revision"]) == ([float(n) for n in range(16)], 17)


def test_batches_that_meet_in_opposite_order_do_not_embrace(project: Project) -> None:
    def send(n: int) -> list[int]:
        models = [f"m{i}" for i in range(30)][:: -1 if n % 2 else 1]
        sent = [publication(model=model, trials=100 + n) for model in models]
        answer = project.call("POST", f"projects/{project.slug}/grids/batch", json=sent)
        return [item["status"] for item in answer.get_json()["items"]]

    assert at_once(6, send) == [[201] * 30] * 6


def test_sends_of_one_key_at_once_make_one_revision(project: Project) -> None:
    for turn in range(20):
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


def test_a_key_under_way_is_409_and_says_when_to_come_back(project: Project, house: House) -> None:
    with house.database.transaction() as connection:
        assert try_lock(connection, "idempotency", project.id, "held")
        answer = project.publish(headers={"Idempotency-Key": "held"})
        assert answer.status_code == 409
        assert int(answer.headers["Retry-After"]) >= 1
    assert project.publish(headers={"Idempotency-Key": "held"}).status_code == 201


def test_a_key_gives_its_first_answer_after_other_writes(project: Project) -> None:
    key = {"Idempotency-Key": "first"}
    first = project.publish(headers=key)
    project.published(trials=150)
    again = project.publish(headers=key)
    assert (again.status_code, again.data) == (201, first.data)
    assert [again.headers[name] for name in ("Location", "ETag")] == [
        first.headers[name] for name in ("Location", "ETag")
    ]
    assert project.get(first.headers["Location"]).get_json()["revision"] == 2


def test_a_key_with_another_request_is_422(project: Project) -> None:
    key = {"Idempotency-Key": "once"}
    grid = project.publish(headers=key).get_json()
    assert project.publish(publication(trials=150), headers=key).status_code == 422
    cells = {"cells": [{"at": {"Type": "1", "Length": 0}, "value": 1.0}]}
    assert project.call("PATCH", f"grids/{grid['id']}/cells", json=cells, headers=key).status_code == 422
    assert project.publish(headers=key | {"If-None-Match": "*"}).status_code == 422


def test_a_refused_request_does_not_use_up_its_key(project: Project) -> None:
    key = {"Idempotency-Key": "again"}
    assert project.publish(publication(values=[1]), headers=key).status_code == 422
    assert project.publish(headers=key).status_code == 201


def test_a_key_belongs_to_its_project(project: Project, house: House) -> None:
    key = {"Idempotency-Key": "shared"}
    assert project.publish(headers=key).status_code == 201
    other = house.make_project().publish(headers=key)
    assert (other.status_code, other.headers.get("Idempotent-Replayed")) == (201, None)


def test_an_amendment_and_an_alias_are_replayed_too(project: Project) -> None:
    grid = project.published()
    cells = {"cells": [{"at": {"Type": "1", "Length": 0}, "value": 1.0}]}
    key = {"Idempotency-Key": "amend"}
    first = project.call("PATCH", f"grids/{grid['id']}/cells", json=cells, headers=key)
    project.published()
    again = project.call("PATCH", f"grids/{grid['id']}/cells", json=cells, headers=key)
    assert (again.data, again.get_json()["revision"]) == (first.data, 2)
    alias = {"kind": "model", "alias": "a", "name": "b"}
    path, key = f"projects/{project.slug}/aliases", {"Idempotency-Key": "alias"}
    made = [project.call("POST", path, json=alias, headers=key) for _ in range(2)]
    assert [answer.status_code for answer in made] == [201, 201]
    assert made[0].data == made[1].data


def test_aliases_at_once_make_no_chain(project: Project) -> None:
    path = f"projects/{project.slug}/aliases"
    for turn in range(10):
        a, b, c = f"a{turn}", f"b{turn}", f"c{turn}"
        pairs = [(a, b), (b, c)]
        made = at_once(
            2,
            lambda n, pairs=pairs: (
                project.call(
                    "POST", path, json={"kind": "model", "alias": pairs[n][0], "name": pairs[n][1]}
                ).status_code
            ),
        )
        assert sorted(made) == [201, 422]


@pytest.mark.parametrize("order", [("", "gzip"), ("gzip", ""), ("gzip", "gzip")])
def test_a_key_holds_for_the_same_content_however_it_is_compressed(project: Project, order: tuple[str, str]) -> None:
    body = json.dumps(publication()).encode()
    answers = []
    for level, coding in enumerate(order, start=1):
        headers = {"Idempotency-Key": "compressed", "Content-Type": "application/json"}
        headers |= {"Content-Encoding": coding} if coding else {}
        sent = gzip.compress(body, compresslevel=level) if coding else body
        answers.append(project.call("POST", f"projects/{project.slug}/grids", data=sent, headers=headers))
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[1].headers["Idempotent-Replayed"] == "true"
    other = gzip.compress(json.dumps(publication(model="other")).encode())
    headers = {"Idempotency-Key": "compressed", "Content-Type": "application/json", "Content-Encoding": "gzip"}
    refused = project.call("POST", f"projects/{project.slug}/grids", data=other, headers=headers)
    assert refused.status_code == 422


def test_a_key_that_was_kept_with_the_hash_of_compressed_bytes_still_holds(project: Project) -> None:
    path, body = f"projects/{project.slug}/grids", gzip.compress(json.dumps(publication()).encode(), mtime=0)
    asked = f"POST /api/v1/{path}?\n[None, None]\napplication/json\n".encode()
    with project.house.database.transaction() as connection:
        answer = StoredResponse(201, {"Content-Type": "application/json"}, b"{}")
        store_response(connection, project.id, "older", sha256(asked + body).digest(), answer)
    headers = {"Idempotency-Key": "older", "Content-Type": "application/json", "Content-Encoding": "gzip"}
    again = project.call("POST", path, data=body, headers=headers)
    assert (again.status_code, again.data) == (201, b"{}")
