"""Who may do what: every operation of the OpenAPI document for every kind of caller, on private and public projects."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from sqlalchemy import func, text, update
from werkzeug.test import TestResponse

from registry import create_app
from registry.api.openapi import openapi, openapi_for_clients
from registry.operations.auth import _checksum, issue_token, well_formed
from registry.operations.projects import find_project
from registry.operations.shares import make_share
from registry.settings import Settings
from registry.storage.tables import tokens
from tests.house import WEBHOOK, House, Project, publication

METHODS = ("get", "post", "patch", "put", "delete")
APP = create_app(Settings())
OPERATIONS = sorted(
    {
        (method, path)
        for document in (openapi(APP), openapi_for_clients(APP))  # resources, and their forms
        for path, item in document["paths"].items()
        for method in item
        if method in METHODS
    }
)
OPEN = {"/healthz", "/readyz", "/metrics", "/api/v1", "/api/v1/limits"}
ADMIN = {
    ("patch", "/api/v1/projects/{project}"),
    ("delete", "/api/v1/projects/{project}"),
    ("post", "/api/v1/projects/{project}/shares"),
    ("get", "/api/v1/projects/{project}/shares"),
    ("delete", "/api/v1/projects/{project}/shares/{share_id}"),
    ("post", "/api/v1/projects/{project}/tokens"),
    ("get", "/api/v1/projects/{project}/tokens"),
    ("get", "/api/v1/projects/{project}/audit"),
    ("get", "/api/v1/projects/{project}/tokens/{token_id}"),
    ("delete", "/api/v1/projects/{project}/tokens/{token_id}"),
    *((method, "/api/v1/projects/{project}/webhooks") for method in ("get", "post")),
    *((method, "/api/v1/projects/{project}/webhooks/{webhook}") for method in ("get", "patch", "delete")),
    *(("post", f"/api/v1/projects/{{project}}/webhooks/{{webhook}}/{act}") for act in ("test", "rotate", "recover")),
    ("get", "/api/v1/projects/{project}/webhooks/{webhook}/deliveries"),
    ("post", "/api/v1/deliveries/{delivery}/redeliver"),
}
QUESTIONS = {
    ("post", "/api/v1/projects/{project}/plan"),
    ("post", "/api/v1/projects/{project}/baselines/{baseline}/gate"),
    ("post", "/api/v1/projects/{project}/claims/judge"),
    ("post", "/api/v1/projects/{project}/claims/parse"),
}
"""What is asked with a body, and changes nothing."""
BASELINE = {"experiment": "type-by-length", "metric": "accuracy", "subject": {"model": "Qwen-2.5 3B"}}
CLAIM = {"kind": "coverage", "is": "ragged", "about": {"experiment": "type-by-length", "metric": "accuracy"}}
BODIES: dict[tuple[str, str], Any] = {
    ("patch", "/api/v1/projects/{project}"): {"name": "renamed"},
    ("post", "/api/v1/projects/{project}/tokens"): {"name": "another"},
    ("post", "/api/v1/projects/{project}/shares"): {"path": "SHARED"},
    ("post", "/api/v1/projects/{project}/grids"): publication(model="another"),
    ("post", "/api/v1/projects/{project}/grids/batch"): [publication(model="another")],
    ("post", "/api/v1/projects/{project}/aliases"): {"kind": "model", "alias": "x", "name": "y"},
    ("put", "/api/v1/projects/{project}/suites/{suite}"): {"benchmarks": ["AIME'24"]},
    ("put", "/api/v1/projects/{project}/baselines/{baseline}"): BASELINE,
    ("post", "/api/v1/projects/{project}/baselines/{baseline}/gate"): publication(model="another"),
    ("patch", "/api/v1/projects/{project}/alerts/{alert}"): {"state": "acknowledged"},
    ("post", "/api/v1/projects/{project}/webhooks"): WEBHOOK,
    ("patch", "/api/v1/projects/{project}/webhooks/{webhook}"): {"state": "disabled"},
    ("post", "/api/v1/projects/{project}/webhooks/{webhook}/recover"): {"since": 0},
    ("post", "/api/v1/projects/{project}/plan"): {"question": {"kind": "all_pass", "floor": 0.9}},
    ("post", "/api/v1/projects/{project}/claims/judge"): CLAIM,
    ("post", "/api/v1/projects/{project}/claims"): {**CLAIM, "is": "cells", "count": {"op": ">", "number": 1}},
    ("post", "/api/v1/grids/{grid}/claims"): {"kind": "coverage", "is": "ragged"},
    ("patch", "/api/v1/claims/{claim}"): {"text": "Said of it."},
    ("post", "/api/v1/projects/{project}/claims/parse"): {"text": "Not all types have data for all lengths."},
    ("patch", "/api/v1/projects/{project}/experiments/{experiment}"): {"description": "Said of it."},
    ("put", "/api/v1/projects/{project}/experiments/{experiment}/protocol"): {"binding": ["shots"]},
    ("patch", "/api/v1/grids/{grid}"): {"description": "Said of it."},
    ("post", "/api/v1/grids/{grid}/items"): {
        "set": {"name": "x", "count": 150, "digest": "ab" * 32},
        "cells": [{"at": {"Type": "1", "Length": 1}, "outcomes": [1] * 145 + [0] * 5}],
    },
    ("patch", "/api/v1/grids/{grid}/cells"): {"cells": [{"at": {"Type": "1", "Length": 0}, "value": 1.0}]},
}
QUERIES = {
    "{project}/grid/": "?model=rival",
    "/gate": "?contender={rival}",
    "rankings": "?experiment=type-by-length&metric=accuracy",
    "/noise": "?experiment=type-by-length&metric=accuracy",
    "sweet-spot": "?metric=accuracy",
    "comparisons": "?baseline={grid}&contender={grid}",
    "thresholds": "?value=90",
    "/difference": "?from=1&to=1",
    "protocol-difference": "?with={grid}",
    "aggregates": "?experiment=type-by-length&metric=accuracy&group_by=model",
    "/lines": "?experiment=type-by-length&metric=accuracy",
    "trade-offs": "?experiment=type-by-length&x=metric:accuracy&y=metric:accuracy",
}


def needs(method: str, path: str) -> str:
    """The least role; a new operation that is neither a read nor a writer's must be added to the tables above."""
    if path in OPEN or (method, path) == ("get", "/api/v1/projects"):
        return "nobody"
    if (method, path) == ("post", "/api/v1/projects"):
        return "operator"
    if path == "/api/v1/whoami":
        return "token"
    if (method, path) in ADMIN:
        return "admin"
    return "reader" if method == "get" or (method, path) in QUESTIONS else "writer"


@dataclass
class Scene:
    """A project with one of everything, and the tokens of every kind of caller."""

    project: Project
    callers: dict[str, str | None]
    names: dict[str, str]

    def call(self, caller: str, method: str, path: str) -> TestResponse:
        # With a slash at the end a path ends where a word does.
        asked = next((query for word, query in QUERIES.items() if word in f"{path}/" and method == "get"), "")
        filled = (path + asked).format_map(self.names)
        body = BODIES.get((method, path))
        if (method, path) == ("post", "/api/v1/projects"):
            body = {"slug": f"new-{uuid.uuid4().hex[:12]}"}
        if body == {"path": "SHARED"}:
            body = {"path": f"/api/v1/projects/{self.names['project']}/cells"}
        return self.project.house.call(method.upper(), filled, token=self.callers[caller], json=body)


def _scene(house: House, visibility: str) -> Scene:
    project, other = house.make_project(visibility), house.make_project()
    grid = project.published()
    project.published(trials=150)
    rival = project.published(model="rival")
    house.compute()
    alias = {"kind": "model", "alias": "Qwen", "name": "Qwen-2.5 3B"}
    joined = project.call("POST", f"projects/{project.slug}/aliases", json=alias).get_json()
    suite = {"benchmarks": ["AIME'24"]}
    assert project.call("PUT", f"projects/{project.slug}/suites/maths", json=suite).status_code == 201
    assert project.call("PUT", f"projects/{project.slug}/baselines/main", json=BASELINE).status_code == 201
    claim = project.call("POST", f"projects/{project.slug}/claims", json=CLAIM).get_json()
    with house.database.transaction() as connection:
        made = {
            name: issue_token(connection, project_id=project.id, role="admin", name=name, days=1)
            for name in ("expired", "revoked", "spare")
        }
        share = make_share(connection, find_project(connection, project.slug), f"/projects/{project.slug}", 60)
        past = {"expired": {"expires_at": func.now()}, "revoked": {"revoked_at": func.now()}}
        for name, values in past.items():
            connection.execute(update(tokens).where(tokens.c.id == made[name][0].id).values(**values))
    genuine = project.tokens["admin"]
    webhook, delivery = project.hooked()
    callers: dict[str, str | None] = {
        "no token": None,
        "malformed": "rgs_nonsense",
        "wrong checksum": genuine[:-1] + ("0" if genuine[-1] != "0" else "1"),
        "unknown": f"rgs_{'A' * 8}_{'B' * 30}{_checksum('A' * 8 + 'B' * 30)}",
        "expired": made["expired"][1],
        "revoked": made["revoked"][1],
        "other admin": other.tokens["admin"],
        **project.tokens,
        "operator": house.operator,
    }
    names = {
        "project": project.slug, "grid": grid["id"], "token_id": str(made["spare"][0].id), "alias_id": joined["id"],
        "suite": "maths", "baseline": "main", "rival": rival["id"], "claim": claim["id"], "alert": project.alerted(),
        "webhook": webhook, "delivery": delivery,
        "share_id": str(share.id), "suffix": "json", "part": "statistics", "form": "md",
        "experiment": "type-by-length", "kind": "models", "revision": "1", "a": "1", "b": "2",
    }  # fmt: skip
    return Scene(project, callers, names)


@pytest.fixture(scope="module")
def scenes(house: House) -> Iterator[dict[str, Scene]]:
    return {visibility: _scene(house, visibility) for visibility in ("private", "public")}


ROLES = ("nobody", "reader", "writer", "admin", "operator")
INVALID = ("malformed", "wrong checksum", "unknown", "expired", "revoked")


def expected(caller: str, needed: str, visibility: str, path: str) -> set[int]:
    """The statuses that this caller may get; 0 stands for any success."""
    if path in OPEN or (needed == "token" and caller not in (*INVALID, "no token")):
        return {0}
    if caller in INVALID and not (visibility == "public" and needed == "reader"):
        return {401}
    if needed == "nobody" or (visibility == "public" and needed == "reader"):
        return {0} if caller not in INVALID else {0, 401}
    if caller == "no token":
        return {401}
    if caller == "other admin":
        return {403} if visibility == "public" or needed == "operator" else {404}
    return {0} if ROLES.index(caller) >= ROLES.index(needed) else {403}


CALLERS = ("no token", *INVALID, "other admin", "reader", "writer", "admin", "operator")


@pytest.mark.parametrize("visibility", ["private", "public"])
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_every_operation_lets_in_whom_it_should(
    scenes: dict[str, Scene], house: House, visibility: str, method: str, path: str
) -> None:
    needed = needs(method, path)
    scene = scenes[visibility] if method == "get" else _scene(house, visibility)
    for caller in CALLERS:
        answer = scene.call(caller, method, path)
        allowed = expected(caller, needed, visibility, path)
        status = 0 if answer.status_code < 400 else answer.status_code
        assert status in allowed, (caller, answer.status_code, answer.text)
        if answer.status_code == 401:
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        if answer.status_code >= 400:
            assert answer.content_type == "application/problem+json"
        if status == 0 and method in ("delete", "patch", "post"):
            scene = _scene(house, visibility)


@pytest.mark.parametrize(("method", "path"), [one for one in OPERATIONS if "{project}" in one[1] or "{grid}" in one[1]])
def test_what_is_not_there_looks_like_what_may_not_be_seen(scenes: dict[str, Scene], method: str, path: str) -> None:
    scene = scenes["private"]
    absent = replace(scene, names=scene.names | {"project": "absent", "grid": str(uuid.uuid4())})
    for caller in ("no token", "other admin"):
        seen, unseen = scene.call(caller, method, path), absent.call(caller, method, path)
        assert (seen.status_code, seen.get_json()["detail"]) == (unseen.status_code, unseen.get_json()["detail"])


def test_the_list_of_projects_shows_only_what_the_caller_may_see(scenes: dict[str, Scene]) -> None:
    private, public = scenes["private"], scenes["public"]

    def slugs(token: str | None) -> set[str]:
        items = private.project.house.call("GET", "projects?limit=1000", token=token).get_json()["items"]
        return {item["slug"] for item in items} & {private.project.slug, public.project.slug}

    assert slugs(None) == slugs(private.callers["other admin"]) == {public.project.slug}
    assert slugs(private.callers["reader"]) == slugs(private.callers["operator"])
    assert slugs(private.callers["reader"]) == {private.project.slug, public.project.slug}


def test_a_stranger_learns_nothing_from_the_faults_of_a_body(project: Project) -> None:
    answer = project.house.call("POST", f"projects/{project.slug}/grids", data=b"{", content_type="text/html")
    assert answer.status_code == 401


def basic(text: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(text.encode()).decode()}


def test_a_token_may_be_the_password_of_basic(project: Project, house: House) -> None:
    path = f"projects/{project.slug}"
    for user in ("", "x", "anyone@example.org"):
        assert house.call("GET", path, headers=basic(f"{user}:{project.tokens['reader']}")).status_code == 200
    assert house.call("GET", path, headers=basic("x:wrong")).status_code == 401


def test_a_token_may_be_the_user_name_of_basic_with_an_empty_password(project: Project, house: House) -> None:
    path, token = f"projects/{project.slug}", project.tokens["reader"]
    for sent in (f"{token}:", token):
        assert house.call("GET", path, headers=basic(sent)).status_code == 200
    assert house.call("GET", path, headers=basic(f"{token}:wrong")).status_code == 401


@pytest.mark.parametrize(
    "header",
    ["", " ", "Bearer", "Bearer ", "Basic", "Basic !!!", "Basic é", "Basic " + base64.b64encode(b"\xff:\xfe").decode(),
     "Digest x", "Token x", "é", "Bearer é", "Bearer a b", "Bearer rgs_", "Bearer rgs___", "Bearer " + "x" * 10_000],
)  # fmt: skip
def test_an_authorization_header_that_is_none_is_401(project: Project, house: House, header: str) -> None:
    answer = house.call("GET", f"projects/{project.slug}", headers={"Authorization": header})
    assert answer.status_code == 401
    assert "WWW-Authenticate" in answer.headers


def test_a_token_outside_its_alphabet_is_401_behind_a_right_checksum(project: Project, house: House) -> None:
    public, secret = "\0" * 8, "a" * 30
    token = f"rgs_{public}_{secret}{_checksum(public + secret)}"
    assert not well_formed(token)
    assert house.call("GET", f"projects/{project.slug}", headers=basic(f"x:{token}")).status_code == 401


def test_the_secret_of_a_token_is_shown_once_and_never_stored(project: Project, house: House) -> None:
    path = f"projects/{project.slug}/tokens"
    made = project.call("POST", path, "admin", json={"name": "job", "role": "writer", "days": 7})
    assert made.status_code == 201
    secret = made.get_json()["token"]
    assert house.call("GET", f"projects/{project.slug}", token=secret).status_code == 200
    one = project.call("GET", f"{path}/{made.get_json()['id']}", "admin")
    listed = project.call("GET", path, "admin")
    assert one.get_json()["role"] == "writer"
    assert secret not in one.text + listed.text
    assert "token" not in one.get_json()
    with house.database.reading() as connection:
        rows = connection.execute(text("SELECT tokens::text FROM tokens")).scalars()
        assert not any(secret in row or secret[13:] in row for row in rows)


def test_a_revoked_token_is_worthless_at_once(project: Project, house: House) -> None:
    path = f"projects/{project.slug}/tokens"
    made = project.call("POST", path, "admin", json={"name": "job"}).get_json()
    assert house.call("GET", f"projects/{project.slug}", token=made["token"]).status_code == 200
    assert project.call("DELETE", f"{path}/{made['id']}", "admin").status_code == 204
    assert house.call("GET", f"projects/{project.slug}", token=made["token"]).status_code == 401
    assert project.call("DELETE", f"{path}/{made['id']}", "admin").status_code == 404
    assert project.call("GET", f"{path}/{made['id']}", "admin").status_code == 404


def test_a_token_of_another_project_cannot_be_read_or_revoked(project: Project, house: House) -> None:
    other = house.make_project()
    made = other.call("POST", f"projects/{other.slug}/tokens", "admin", json={"name": "job"}).get_json()
    for method in ("GET", "DELETE"):
        assert project.call(method, f"projects/{project.slug}/tokens/{made['id']}", "admin").status_code == 404
    assert house.call("GET", f"projects/{other.slug}", token=made["token"]).status_code == 200


def test_a_token_lives_ninety_days_if_nobody_says_how_long(project: Project) -> None:
    made = project.call("POST", f"projects/{project.slug}/tokens", "admin", json={"name": "job"}).get_json()
    assert made["role"] == "writer"
    assert made["last_used_at"] is None
    with project.house.database.reading() as connection:
        days = connection.execute(
            text("SELECT expires_at - created_at FROM tokens WHERE id = :id"), {"id": made["id"]}
        ).scalar_one()
    assert days.total_seconds() == 90 * 86400


@pytest.mark.parametrize("days", [0, -1, 3651, 1.5, True, "30", 2**70])
def test_a_token_has_a_life_from_a_day_to_ten_years(project: Project, days: Any) -> None:
    answer = project.call("POST", f"projects/{project.slug}/tokens", "admin", json={"name": "job", "days": days})
    assert answer.status_code == 422
    assert answer.get_json()["errors"][0]["pointer"] == "/days"


def test_a_deleted_project_and_all_in_it_are_gone_and_its_slug_is_free(project: Project, house: House) -> None:
    grid = project.published()
    assert project.call("DELETE", f"projects/{project.slug}", "admin").status_code == 204
    for path in (f"projects/{project.slug}", f"grids/{grid['id']}", f"projects/{project.slug}/grids"):
        assert project.get(path).status_code == 404
    made = house.call("POST", "projects", token=house.operator, json={"slug": project.slug})
    assert made.status_code == 201
    assert project.get(f"projects/{project.slug}").status_code == 404


def test_a_taken_slug_is_409(project: Project, house: House) -> None:
    assert house.call("POST", "projects", token=house.operator, json={"slug": project.slug}).status_code == 409


@pytest.mark.parametrize("slug", ["", "A", "-a", "a_b", "a b", "a/b", "é", "a" * 64, "a\n", "..", "a."])
def test_a_slug_has_few_characters(house: House, slug: str) -> None:
    assert house.call("POST", "projects", token=house.operator, json={"slug": slug}).status_code == 422


def test_who_writes_to_a_public_project_without_a_token_is_told_to_send_one(house: House) -> None:
    public, private = house.make_project("public"), house.make_project()
    told = house.call("POST", f"projects/{public.slug}/grids", json={}).get_json()["detail"]
    assert told.startswith("Anyone may read this project, but writing needs a token with the role writer.")
    told = house.call("GET", f"projects/{public.slug}/tokens").get_json()["detail"]
    assert "needs a token with the role admin" in told
    unknown = house.call("POST", "projects/nowhere/grids", json={}).get_json()["detail"]
    assert house.call("POST", f"projects/{private.slug}/grids", json={}).get_json()["detail"] == unknown
    made = house.call("POST", "projects", json={"slug": "x"})
    assert (made.status_code, "administrator's token" in made.get_json()["detail"]) == (401, True)


def test_a_project_made_public_is_read_without_a_token(project: Project, house: House) -> None:
    grid = project.published()
    assert house.call("GET", f"grids/{grid['id']}").status_code == 401
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    assert house.call("GET", f"grids/{grid['id']}").status_code == 200
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "private"})
    assert house.call("GET", f"grids/{grid['id']}").status_code == 401


def test_a_project_is_changed_only_as_it_was_read(project: Project) -> None:
    path = f"projects/{project.slug}"
    old = project.get(path).headers["ETag"]
    changed = project.call("PATCH", path, "admin", json={"name": "a"}, headers={"If-Match": old})
    assert changed.status_code == 200
    assert changed.headers["ETag"] == project.get(path).headers["ETag"] != old
    assert project.call("PATCH", path, "admin", json={"name": "b"}, headers={"If-Match": old}).status_code == 412
    assert project.call("DELETE", path, "admin", headers={"If-Match": old}).status_code == 412
    assert project.get(path).get_json()["name"] == "a"
