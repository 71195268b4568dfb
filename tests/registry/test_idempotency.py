"""An Idempotency-Key makes any write repeatable: one effect, one answer, also when what it was about is gone."""

import uuid
from collections.abc import Callable
from typing import Any

from sqlalchemy import select
from werkzeug.test import TestResponse

from registry.operations.idempotency import lock_key
from registry.storage.tables import idempotency_keys, projects, tokens
from tests.house import WEBHOOK, House, Project, publication

Send = Callable[[str], TestResponse]
CELLS = {"cells": [{"at": {"Type": "1", "Length": 0}, "value": 5}]}


def key() -> str:
    return uuid.uuid4().hex


def sender(project: Project, method: str, path: str, sent: Any = None) -> Send:
    """Sends one request, as an administrator of every project, under a key."""
    token = project.house.operator
    return lambda key: project.house.call(method, path, token=token, json=sent, headers={"Idempotency-Key": key})


def writes(project: Project) -> dict[str, Send]:
    """Every write that the API has, in an order in which each can be done."""
    home = f"/api/v1/projects/{project.slug}"
    token = project.call("POST", f"{home}/tokens", "admin", json={"name": "x"}).get_json()["id"]
    share = project.call("POST", f"{home}/shares", "admin", json={"path": home}).get_json()["id"]
    parted = project.call("POST", f"{home}/aliases", json={"kind": "model", "alias": "c", "name": "a"}).get_json()["id"]
    claim: dict[str, Any] = {"kind": "coverage", "is": "ragged"}
    claims = claim | {"about": {"experiment": "type-by-length", "metric": "accuracy"}}
    grid = project.published(model="a")["id"]
    said = project.call("POST", f"{home}/claims", json=claims | {"alpha": 0.01}).get_json()["id"]
    (hook, delivery), alert = project.hooked(), project.alerted()
    ids = {"project": project.slug, "grid": grid, "token_id": token, "share_id": share, "alias_id": parted}
    ids |= {"claim": said, "webhook": hook, "delivery": delivery, "alert": alert, "experiment": "type-by-length"}
    ids |= {"suite": "some", "baseline": "some"}
    outcomes = {"at": {"Type": "1", "Length": 1}, "outcomes": [1] * 290 + [0] * 10}
    sent = {
        "POST /projects": {"slug": f"q-{key()[:12]}"},
        "PATCH /projects/{project}": {"name": "another"},
        "POST /projects/{project}/tokens": {"name": "y"},
        "DELETE /projects/{project}/tokens/{token_id}": None,
        "POST /projects/{project}/shares": {"path": f"{home}/cells"},
        "DELETE /projects/{project}/shares/{share_id}": None,
        "POST /projects/{project}/retry": None,
        "POST /projects/{project}/aliases": {"kind": "model", "alias": "b", "name": "a"},
        "DELETE /projects/{project}/aliases/{alias_id}": None,
        "PUT /projects/{project}/suites/{suite}": {"benchmarks": ["A"]},
        "DELETE /projects/{project}/suites/{suite}": None,
        "PUT /projects/{project}/baselines/{baseline}": claims["about"] | {"subject": {"model": "a"}},
        "DELETE /projects/{project}/baselines/{baseline}": None,
        "POST /projects/{project}/claims": claims,
        "DELETE /claims/{claim}": None,
        "PATCH /projects/{project}/alerts/{alert}": {"state": "acknowledged"},
        "POST /projects/{project}/webhooks": WEBHOOK,
        "PATCH /projects/{project}/webhooks/{webhook}": {"description": "x"},
        "POST /projects/{project}/webhooks/{webhook}/test": None,
        "POST /projects/{project}/webhooks/{webhook}/rotate": None,
        "POST /projects/{project}/webhooks/{webhook}/recover": {"since": "2026-11-21"},
        "POST /deliveries/{delivery}/redeliver": None,
        "DELETE /projects/{project}/webhooks/{webhook}": None,
        "POST /projects/{project}/grids": publication(model="new"),
        "POST /projects/{project}/grids/batch": [publication(model="newer")],
        "POST /grids/{grid}/items": {"set": {"name": "x", "count": 300, "digest": "ab" * 32}, "cells": [outcomes]},
        "PATCH /grids/{grid}/cells": CELLS,
        "PATCH /grids/{grid}": {"description": "x"},
        "PATCH /projects/{project}/experiments/{experiment}": {"labels": {"a": "b"}},
        "DELETE /grids/{grid}": None,
        "POST /grids/{grid}/restore": None,
        "POST /projects/{project}/restore": None,
        "DELETE /projects/{project}?cascade=true": None,
    }
    removed = ids | {"webhook": project.hooked()[0]}  # a delivery goes with its webhook, and one is sent again
    return {
        f"{method} /api/v1{path.partition('?')[0]}": sender(
            project, method, f"/api/v1{path.format(**(removed if method == 'DELETE' else ids))}", body
        )
        for (method, path), body in ((name.split(), body) for name, body in sent.items())
    }


QUESTIONS = {
    f"POST /api/v1/projects/{{project}}/{path}" for path in ("plan", "comparisons", "baselines/{baseline}/gate")
}
"""What is asked with a body, and changes nothing."""


def test_every_write_of_the_document_takes_the_key(house: House, project: Project) -> None:
    document = house.call("GET", "/openapi.json").get_json()
    found = {
        f"{method.upper()} {path}": [one.get("$ref", "") for one in operation.get("parameters", [])]
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if method in ("post", "patch", "put", "delete")
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
    there = ("POST /api/v1/projects", "POST /api/v1/projects/{project}/restore")
    assert {send(key()).status_code for name, send, _ in sent if name not in there} == {404}


def test_a_repeated_request_for_a_token_makes_none_and_tells_which_was_made(project: Project) -> None:
    send, used = sender(project, "POST", f"projects/{project.slug}/tokens", {"name": "job"}), key()
    made, again = send(used), send(used)
    token = made.get_json()
    assert (again.status_code, token["id"] in again.get_json()["detail"]) == (409, True)
    location = f"/api/v1/projects/{project.slug}/tokens/{token['id']}"
    assert made.headers["Location"] == again.headers["Location"] == location
    with project.house.database.reading() as connection:
        kept = connection.execute(select(idempotency_keys.c.body).where(idempotency_keys.c.key == used)).scalar_one()
        named = connection.execute(select(tokens.c.id).where(tokens.c.project_id == project.id)).all()
    assert token["token"].encode() not in bytes(kept)
    assert len(named) == 4


def test_a_replay_after_deletion_is_for_those_who_could_have_written(house: House, project: Project) -> None:
    grid, used = project.published()["id"], {"Idempotency-Key": key()}
    path, other = f"grids/{grid}/cells", house.make_project()
    assert project.call("PATCH", path, json=CELLS, headers=used).status_code == 200
    assert project.call("DELETE", f"grids/{grid}").status_code == 204
    assert project.call("PATCH", path, json=CELLS, headers=used).headers["Idempotent-Replayed"] == "true"
    assert project.call("PATCH", path, "reader", json=CELLS, headers=used).status_code == 403
    assert other.call("PATCH", path, json=CELLS, headers=used).status_code == 404
    assert house.call("PATCH", path, json=CELLS, headers=used).status_code == 401
    another = {"cells": [CELLS["cells"][0] | {"value": 6}]}
    assert project.call("PATCH", path, json=another, headers=used).status_code == 404


def test_a_key_deletes_no_project_that_was_restored(house: House, project: Project) -> None:
    send, used = sender(project, "DELETE", f"projects/{project.slug}"), key()
    assert send(used).status_code == 204
    assert project.call("POST", f"projects/{project.slug}/restore", "admin").status_code == 200
    assert send(used).status_code == 204
    assert house.call("GET", f"projects/{project.slug}", token=house.operator).status_code == 200


def test_secrets_and_who_asks_are_not_kept_by_caches(project: Project) -> None:
    home = f"projects/{project.slug}"
    for path in ("whoami", f"{home}/tokens", "limits"):
        assert project.call("GET", path, "admin").headers["Cache-Control"] in ("no-store", "private, no-cache")
    made = project.call("POST", f"{home}/tokens", "admin", json={"name": "x"})
    shared = project.call("POST", f"{home}/shares", "admin", json={"path": f"/api/v1/{home}"})
    read = project.call("GET", made.headers["Location"], "admin")
    assert {one.headers["Cache-Control"] for one in (made, shared, read)} == {"no-store"}
