"""An Idempotency-Key makes any write repeatable: one effect, one answer, also when what it was about is gone."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select
from werkzeug.test import TestResponse

from registry.operations.idempotency import lock_key
from registry.storage.tables import idempotency_keys, projects, tokens
from tests.house import WEBHOOK, House, Project, publication

Send = Callable[[str], TestResponse]


def key() -> str:
    return uuid.uuid4().hex


def sender(project: Project, method: str, path: str, sent: Any = None, **headers: str) -> Send:
    """Sends one request, as an administrator of every project, under a key."""
    given = {name.replace("_", "-"): text for name, text in headers.items()}
    return lambda key: project.house.call(
        method, path, token=project.house.operator, json=sent, headers=given | {"Idempotency-Key": key}
    )


def writes(project: Project) -> dict[str, Send]:
    """Every write that the API has, each of something of its own."""
    home = f"projects/{project.slug}"
    first, second = (project.published(model=model)["id"] for model in "ab")
    token = project.call("POST", f"{home}/tokens", "admin", json={"name": "x"}).get_json()["id"]
    share = project.call("POST", f"{home}/shares", "admin", json={"path": f"/api/v1/{home}"}).get_json()["id"]
    alias = {"kind": "model", "alias": "b", "name": "a"}
    parted = project.call("POST", f"{home}/aliases", json=alias | {"alias": "c"}).get_json()["id"]
    assert project.call("PUT", f"{home}/suites/old", json={"benchmarks": ["A"]}).status_code == 201
    baseline = {"experiment": "type-by-length", "metric": "accuracy", "subject": {"model": "a"}}
    assert project.call("PUT", f"{home}/baselines/old", json=baseline).status_code == 201
    claim = {"kind": "coverage", "is": "ragged", "about": {"experiment": "type-by-length", "metric": "accuracy"}}
    kept, gone = (
        project.call("POST", f"{home}/claims", json=claim | {"alpha": alpha}).get_json()["id"] for alpha in (0.01, 0.02)
    )
    cells = {"cells": [{"at": {"Type": "1", "Length": 0}, "value": 5}]}
    (hook, sent), (unhooked, _) = project.hooked(), project.hooked()
    return {
        "POST /api/v1/projects": sender(project, "POST", "projects", {"slug": f"q-{key()[:12]}"}),
        "PATCH /api/v1/projects/{project}": sender(project, "PATCH", home, {"name": "another"}),
        "POST /api/v1/projects/{project}/tokens": sender(project, "POST", f"{home}/tokens", {"name": "y"}),
        "DELETE /api/v1/projects/{project}/tokens/{token_id}": sender(project, "DELETE", f"{home}/tokens/{token}"),
        "POST /api/v1/projects/{project}/shares": sender(
            project, "POST", f"{home}/shares", {"path": f"/api/v1/{home}/cells"}
        ),
        "DELETE /api/v1/projects/{project}/shares/{share_id}": sender(project, "DELETE", f"{home}/shares/{share}"),
        "POST /api/v1/projects/{project}/retry": sender(project, "POST", f"{home}/retry"),
        "POST /api/v1/projects/{project}/aliases": sender(project, "POST", f"{home}/aliases", alias),
        "PUT /api/v1/projects/{project}/suites/{suite}": sender(
            project, "PUT", f"{home}/suites/new", {"benchmarks": ["A"]}
        ),
        "DELETE /api/v1/projects/{project}/suites/{suite}": sender(project, "DELETE", f"{home}/suites/old"),
        "PUT /api/v1/projects/{project}/baselines/{baseline}": sender(
            project, "PUT", f"{home}/baselines/new", baseline
        ),
        "DELETE /api/v1/projects/{project}/baselines/{baseline}": sender(project, "DELETE", f"{home}/baselines/old"),
        "POST /api/v1/projects/{project}/claims": sender(project, "POST", f"{home}/claims", claim),
        "POST /api/v1/grids/{grid}/claims": sender(
            project, "POST", f"grids/{first}/claims", {"kind": "coverage", "is": "ragged"}
        ),
        "PATCH /api/v1/claims/{claim}": sender(project, "PATCH", f"claims/{kept}", {"text": "Said of it."}),
        "DELETE /api/v1/claims/{claim}": sender(project, "DELETE", f"claims/{gone}"),
        "PATCH /api/v1/projects/{project}/alerts/{alert}": sender(
            project, "PATCH", f"{home}/alerts/{project.alerted()}", {"state": "acknowledged"}
        ),
        "POST /api/v1/projects/{project}/webhooks": sender(project, "POST", f"{home}/webhooks", WEBHOOK),
        "PATCH /api/v1/projects/{project}/webhooks/{webhook}": sender(
            project, "PATCH", f"{home}/webhooks/{hook}", {"description": "x"}
        ),
        "DELETE /api/v1/projects/{project}/webhooks/{webhook}": sender(
            project, "DELETE", f"{home}/webhooks/{unhooked}"
        ),
        **{
            f"POST /api/v1/projects/{{project}}/webhooks/{{webhook}}/{act}": sender(
                project, "POST", f"{home}/webhooks/{hook}/{act}", body
            )
            for act, body in (("test", None), ("rotate", None), ("recover", {"since": 0}))
        },
        "POST /api/v1/deliveries/{delivery}/redeliver": sender(project, "POST", f"deliveries/{sent}/redeliver"),
        "DELETE /api/v1/projects/{project}/aliases/{alias_id}": sender(project, "DELETE", f"{home}/aliases/{parted}"),
        "POST /api/v1/projects/{project}/grids": sender(project, "POST", f"{home}/grids", publication(model="new")),
        "POST /api/v1/projects/{project}/grids/batch": sender(
            project, "POST", f"{home}/grids/batch", [publication(model="newer")]
        ),
        "PATCH /api/v1/grids/{grid}/cells": sender(project, "PATCH", f"grids/{first}/cells", cells),
        "PATCH /api/v1/grids/{grid}": sender(project, "PATCH", f"grids/{first}", {"description": "x"}),
        "PATCH /api/v1/projects/{project}/experiments/{experiment}": sender(
            project, "PATCH", f"{home}/experiments/type-by-length", {"labels": {"a": "b"}}
        ),
        "PUT /api/v1/projects/{project}/experiments/{experiment}/protocol": sender(
            project, "PUT", f"{home}/experiments/type-by-length/protocol", {"binding": ["shots"]}
        ),
        "POST /api/v1/grids/{grid}/items": sender(
            project,
            "POST",
            f"grids/{first}/items",
            {
                "set": {"name": "x", "count": 300, "digest": "ab" * 32},
                "cells": [{"at": {"Type": "1", "Length": 1}, "outcomes": [1] * 290 + [0] * 10}],
            },
        ),
        "DELETE /api/v1/grids/{grid}": sender(project, "DELETE", f"grids/{second}"),
        "POST /api/v1/grids/{grid}/restore": sender(project, "POST", f"grids/{second}/restore"),
        "DELETE /api/v1/projects/{project}": sender(project, "DELETE", home),
    }


QUESTIONS = {"POST /api/v1/projects/{project}/plan", "POST /api/v1/projects/{project}/baselines/{baseline}/gate"}
"""What is asked with a body, and changes nothing."""


def test_every_write_of_the_document_takes_the_key(house: House, project: Project) -> None:
    document = house.call("GET", "/openapi.json").get_json()
    found = {
        f"{method.upper()} {path}": [one.get("$ref", "") for one in operation.get("parameters", [])]
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if method in ("post", "patch", "put", "delete")
        and operation["operationId"] not in ("judgeClaims", "parseClaims")  # questions
    }
    assert {name for name, refs in found.items() if not any("Idempotency-Key" in ref for ref in refs)} == QUESTIONS
    assert found.keys() == writes(project).keys() | QUESTIONS


def test_a_repeated_write_has_one_effect_and_the_first_answer(project: Project) -> None:
    for name, send in writes(project).items():
        used = key()
        first, again, other = send(used), send(used), send("not a key")
        assert first.status_code in (200, 201, 202, 204), (name, first.text)
        assert again.headers["Idempotent-Replayed"] == "true", name
        assert other.status_code == 422, name
        assert other.get_json()["detail"].startswith("the header Idempotency-Key"), name
        if not name.endswith(("/tokens", "/webhooks", "/rotate")):  # those show a secret once
            assert (again.status_code, again.data) == (first.status_code, first.data), name
            assert again.headers.get("Location") == first.headers.get("Location"), name


def test_a_key_is_of_one_project_and_of_one_slug_that_is_to_be_made(house: House, project: Project) -> None:
    used, other = key(), house.make_project()
    for one in (project, other):
        answer = sender(one, "POST", f"projects/{one.slug}/grids", publication())(used)
        assert (answer.status_code, "Idempotent-Replayed" in answer.headers) == (201, False)
    for slug in (f"q-{used[:12]}", f"r-{used[:12]}"):
        answer = sender(project, "POST", "projects", {"slug": slug})(used)
        assert (answer.status_code, "Idempotent-Replayed" in answer.headers) == (201, False)


def test_who_comes_while_the_first_is_under_way_is_told_to_repeat_it(project: Project) -> None:
    used, slug = key(), f"q-{key()[:12]}"
    make = sender(project, "POST", "projects", {"slug": slug})
    publish = sender(project, "POST", f"projects/{project.slug}/grids", publication())
    with project.house.database.transaction() as first:
        row = first.execute(select(projects.c.id).where(projects.c.slug == project.slug)).one()
        lock_key(first, slug, used)
        lock_key(first, row.id, used)
        for send in (make, publish):
            answer = send(used)
            assert (answer.status_code, answer.headers["Retry-After"]) == (409, "1")
    assert (make(used).status_code, publish(used).status_code) == (201, 201)


def test_all_are_replayed_after_the_project_is_gone(project: Project) -> None:
    sent = [(name, send, key()) for name, send in writes(project).items()]
    first = {name: send(used) for name, send, used in sent}
    for name, send, used in sent:
        again = send(used)
        assert again.headers.get("Idempotent-Replayed") == "true", (name, again.text)
        assert again.status_code in (first[name].status_code, 409), name
    assert {send(key()).status_code for name, send, _ in sent if name != "POST /api/v1/projects"} == {404}


def test_a_repeated_request_for_a_token_makes_none_and_tells_which_was_made(project: Project) -> None:
    send, used = sender(project, "POST", f"projects/{project.slug}/tokens", {"name": "job"}), key()
    made, again = send(used), send(used)
    token = made.get_json()
    assert again.status_code == 409
    assert token["id"] in again.get_json()["detail"]
    assert (
        made.headers["Location"] == again.headers["Location"] == f"/api/v1/projects/{project.slug}/tokens/{token['id']}"
    )
    assert project.call("GET", made.headers["Location"], "admin").status_code == 200
    with project.house.database.reading() as connection:
        kept = connection.execute(select(idempotency_keys.c.body).where(idempotency_keys.c.key == used)).scalar_one()
        named = connection.execute(select(tokens.c.id).where(tokens.c.project_id == project.id)).all()
    assert token["token"].encode() not in bytes(kept)
    assert len(named) == 4


def test_a_replay_after_deletion_is_for_those_who_could_have_written(house: House, project: Project) -> None:
    grid, used = project.published()["id"], {"Idempotency-Key": key()}
    cells = {"cells": [{"at": {"Type": "1", "Length": 0}, "value": 5}]}
    path, other = f"grids/{grid}/cells", house.make_project()
    assert project.call("PATCH", path, json=cells, headers=used).status_code == 200
    assert project.call("DELETE", f"grids/{grid}").status_code == 204
    assert project.call("PATCH", path, json=cells, headers=used).headers["Idempotent-Replayed"] == "true"
    assert project.call("PATCH", path, "reader", json=cells, headers=used).status_code == 403
    assert other.call("PATCH", path, json=cells, headers=used).status_code == 404
    assert house.call("PATCH", path, json=cells, headers=used).status_code == 401
    assert (
        project.call("PATCH", path, json={"cells": [cells["cells"][0] | {"value": 6}]}, headers=used).status_code == 404
    )


def test_a_key_deletes_no_later_project_of_the_same_name(house: House, project: Project) -> None:
    send, used = sender(project, "DELETE", f"projects/{project.slug}"), key()
    assert send(used).status_code == 204
    assert house.call("POST", "projects", token=house.operator, json={"slug": project.slug}).status_code == 201
    assert send(used).status_code == 204
    assert house.call("GET", f"projects/{project.slug}", token=house.operator).status_code == 200


@pytest.mark.parametrize("path", ["whoami", "projects/{}/tokens", "limits"])
def test_what_says_nothing_of_caches_is_not_kept(project: Project, path: str) -> None:
    answer = project.call("GET", path.format(project.slug), "admin")
    assert answer.headers["Cache-Control"] in ("no-store", "private, no-cache")


def test_secrets_are_not_kept_by_caches(project: Project) -> None:
    home = f"projects/{project.slug}"
    made = project.call("POST", f"{home}/tokens", "admin", json={"name": "x"})
    shared = project.call("POST", f"{home}/shares", "admin", json={"path": f"/api/v1/{home}"})
    read = project.call("GET", made.headers["Location"], "admin")
    assert {one.headers["Cache-Control"] for one in (made, shared, read)} == {"no-store"}
