"""Batches: many grids in one request, each atomic by itself."""

import gzip
import json
from typing import Any

from werkzeug.test import TestResponse

from tests.house import Project, publication


def send(project: Project, grids: list[Any], **options: Any) -> TestResponse:
    return project.call("POST", f"projects/{project.slug}/grids/batch", json=grids, **options)


def send_lines(project: Project, body: bytes, content_type: str = "application/x-ndjson") -> TestResponse:
    path = f"projects/{project.slug}/grids/batch"
    return project.call("POST", path, data=body, content_type=content_type)


def statuses(answer: TestResponse) -> list[int]:
    assert answer.status_code == 200, answer.text
    items = answer.get_json()["items"]
    assert [item["index"] for item in items] == list(range(len(items)))
    return [item["status"] for item in items]


def test_lines_are_a_batch_too(project: Project) -> None:
    lines = "\n\n".join(json.dumps(publication(model=model)) for model in "abc") + "\r\n"
    assert statuses(send_lines(project, lines.encode())) == [201, 201, 201]
    assert statuses(send_lines(project, lines.encode(), "application/jsonl")) == [200, 200, 200]


def test_a_grid_at_fault_hinders_no_other(project: Project) -> None:
    bad = [publication(values=[1]), publication(surplus=1), 5, None, "grid", [], {}, publication(model="")]
    answer = send(project, [publication(model="a"), *bad, publication(model="b")])
    assert statuses(answer) == [201, *[422] * len(bad), 201]
    assert answer.get_json()["failed"] == len(bad)
    problems = [item["problem"] for item in answer.get_json()["items"][1:-1]]
    assert [problem["errors"][0]["pointer"] for problem in problems[:2]] == ["/values", "/surplus"]
    assert all(problem["status"] == 422 and problem["errors"] for problem in problems)
    names = project.get(f"projects/{project.slug}/names/models").get_json()["items"]
    assert [item["name"] for item in names] == ["a", "b"]


def test_a_line_that_is_not_json_hinders_no_other(project: Project) -> None:
    good = json.dumps(publication()).encode()
    answer = send_lines(project, good + b'\n{"a": NaN}\n{"a": 1, "a": 2}\n\xff\n' + good)
    assert statuses(answer) == [201, 400, 400, 400, 200]
    assert "Line 2" in answer.get_json()["items"][1]["problem"]["detail"]


def test_the_same_identity_twice_in_a_batch_makes_two_revisions(project: Project) -> None:
    answer = send(project, [publication(trials=n) for n in (100, 150, 150, 200, 100)])
    assert statuses(answer) == [201, 201, 200, 201, 201]
    grids = [item["grid"] for item in answer.get_json()["items"]]
    assert [grid["revision"] for grid in grids] == [1, 2, 2, 3, 4]
    assert len({grid["id"] for grid in grids}) == 1
    assert project.get(f"grids/{grids[0]['id']}").get_json()["trials"] == 100


def test_a_batch_has_1_to_1000_grids(project: Project) -> None:
    for body in (b"", b"\n\n", b"  \r\n"):
        assert send_lines(project, body).status_code == 422, body
    assert send(project, []).status_code == 422
    assert send(project, [{}] * 1001).status_code == 422
    assert statuses(send(project, [{}] * 1000)) == [422] * 1000


def test_a_compressed_batch_is_stored_and_its_compressed_answer_replayed_as_what_it_says(project: Project) -> None:
    sent = gzip.compress(json.dumps([publication(model=f"m{number}") for number in range(20)]).encode())
    headers = {"Idempotency-Key": "replayed", "Accept-Encoding": "gzip", "Content-Encoding": "gzip"}
    path, media = f"projects/{project.slug}/grids/batch", "application/json"
    first, again = (project.call("POST", path, data=sent, content_type=media, headers=headers) for _ in range(2))
    assert first.headers["Content-Encoding"] == "gzip"
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.get_json() == json.loads(gzip.decompress(first.data))
    assert [item["status"] for item in again.get_json()["items"]] == [201] * 20
    assert len(project.get(f"projects/{project.slug}/grids?limit=1000").get_json()["items"]) == 20
