"""Who may do what: every operation of the OpenAPI document for every kind of caller, on private and public projects."""

import base64
import uuid
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import pytest
from sqlalchemy import func, text, update
from werkzeug.test import TestResponse

from registry import create_app
from registry.api.openapi import openapi, openapi_for_clients
from registry.operations.audit_log import COMMAND
from registry.operations.auth import _checksum, issue_token, well_formed
from registry.operations.projects import find_project
from registry.operations.shares import make_share
from registry.settings import Settings
from registry.storage.tables import tokens
from tests.house import House, Project
from tests.registry.test_bad_input import ROUTES

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
OPEN = {"/healthz", "/readyz", "/metrics", "/api/v1", "/api/v1/limits", "/api/v1/schemas/claim"}
ADMIN = {
    ("patch", "/api/v1/projects/{project}"),
    ("delete", "/api/v1/projects/{project}"),
    ("post", "/api/v1/projects/{project}/restore"),
    ("post", "/api/v1/projects/{project}/shares"),
    ("get", "/api/v1/projects/{project}/shares"),
    ("delete", "/api/v1/projects/{project}/shares/{share_id}"),
    ("post", "/api/v1/projects/{project}/tokens"),
    ("get", "/api/v1/projects/{project}/tokens"),
    ("get", "/api/v1/projects/{project}/audit"),
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
    ("post", "/api/v1/projects/{project}/comparisons"),
}
"""What is asked with a body, and changes nothing."""
BASELINE = {"experiment": "type-by-length", "metric": "accuracy", "subject": {"model": "Qwen-2.5 3B"}}
CLAIM = {"kind": "coverage", "is": "ragged", "about": {"experiment": "type-by-length", "metric": "accuracy"}}
BODIES: dict[tuple[str, str], Any] = {
    (method.lower(), f"/api/v1/{path.partition('?')[0]}"): body for method, path, body in ROUTES.values()
} | {
    ("patch", "/api/v1/projects/{project}"): {"name": "renamed"},
    ("post", "/api/v1/projects/{project}/shares"): {"path": "SHARED"},
    ("patch", "/api/v1/grids/{grid}/cells"): {"cells": [{"at": {"Type": "1", "Length": 0}, "value": 1.0}]},
    ("patch", "/api/v1/projects/{project}/webhooks/{webhook}"): {"description": "Said of it."},
    ("post", "/api/v1/grids/{grid}/items"): {
        "set": {"name": "x", "count": 150, "digest": "ab" * 32},
        "cells": [{"at": {"Type": "1", "Length": 1}, "outcomes": [1] * 145 + [0] * 5}],
    },
}
QUERIES = {
    "/gate": "?contender={rival}",
    "rankings": "?experiment=type-by-length&metric=accuracy",
    "/noise": "?experiment=type-by-length&metric=accuracy",
    "comparisons": "?experiment=type-by-length&metric=accuracy&baseline_model=Qwen-2.5+3B&contender_model=rival",
    "{project}/statistics": "?part=trends",
    "/difference": "?from=1&to=1",
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
        if (method, path) == ("delete", "/api/v1/projects/{project}"):
            asked = "?cascade=true"
        if (method, path) == ("post", "/api/v1/projects/{project}/comparisons"):
            asked = "?baseline={grid}"
        filled = (path + asked).format_map(self.names)
        body = BODIES.get((method, path))
        if (method, path) == ("post", "/api/v1/projects"):
            body = {"slug": f"new-{uuid.uuid4().hex[:12]}"}
        if body == {"path": "SHARED"}:
            body = {"path": f"/api/v1/projects/{self.names['project']}/cells"}
        if path.endswith("/plan"):
            body = {"question": {"kind": "separate", "baseline": self.names["grid"], "contender": self.names["rival"]}}
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
        share = make_share(connection, COMMAND, find_project(connection, project.slug), f"/projects/{project.slug}", 60)
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


def asked(visibility: str) -> list[tuple[int, str, str, str, set[int]]]:
    """Each operation with all whom it refuses, and with the least of those whom it lets in.

    What changes anything comes behind what changes nothing, and what deletes at the end.
    """
    found = []
    for number, (method, path) in enumerate(OPERATIONS):
        needed, reads = needs(method, path), method == "get" or (method, path) in QUESTIONS
        # Roles are the same whoever else may read.
        roles = ROLES[1:] if visibility == "private" else ()
        for caller in ("no token", INVALID[number % len(INVALID)], "other admin", *roles):
            allowed = expected(caller, needed, visibility, path)
            least = {"nobody": ("no token",), "token": ("reader",)}.get(needed, (needed,))
            if (visibility, needed) == ("public", "reader"):
                least = ("no token", "other admin")
            if reads and allowed == {0} and caller not in least:
                continue
            change = 0 if reads or allowed != {0} else 2 if method == "delete" else 1
            found.append((change + (path == "/api/v1/projects/{project}"), path, method, caller, allowed))
    return sorted(found, key=lambda one: one[:3])


@pytest.mark.parametrize("visibility", ["private", "public"])
def test_every_operation_lets_in_whom_it_should(house: House, subtests: pytest.Subtests, visibility: str) -> None:
    impatient = replace(house, app=create_app(replace(house.settings, max_wait=0)))
    scenes = {caller: _scene(impatient, visibility) for caller in ("writer", "admin", "operator")}
    absent = replace(scenes["writer"], names=scenes["writer"].names | {"project": "absent", "grid": str(uuid.uuid4())})
    for (path, method), group in groupby(asked(visibility), key=lambda one: one[1:3]):
        house.compute()  # so few questions wait that the next may be asked
        with subtests.test(method=method, path=path):
            for *_, caller, allowed in group:
                answer = scenes.get(caller, scenes["writer"]).call(caller, method, path)
                let_in = answer.status_code < 400 or "problem-pending" in answer.text
                status = 0 if let_in else answer.status_code
                assert status in allowed, (caller, answer.text)
                if status == 401:
                    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
                if status != 0:
                    assert answer.content_type == "application/problem+json"
                if (
                    caller in ("no token", "other admin")
                    and visibility == "private"
                    and ("{project}" in path or "{grid}" in path)
                ):
                    unseen = absent.call(caller, method, path)  # looks like what may not be seen
                    assert (status, answer.get_json()["detail"]) == (unseen.status_code, unseen.get_json()["detail"])


def test_the_list_of_projects_shows_only_what_the_caller_may_see(house: House) -> None:
    private, public = house.make_project(), house.make_project("public")

    def slugs(token: str | None) -> set[str]:
        items = house.call("GET", "projects?limit=1000", token=token).get_json()["items"]
        return {item["slug"] for item in items} & {private.slug, public.slug}

    assert slugs(None) == slugs(public.tokens["admin"]) == {public.slug}
    assert slugs(private.tokens["reader"]) == slugs(house.operator) == {private.slug, public.slug}


def basic(text: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(text.encode()).decode()}


def test_a_token_may_be_the_password_or_the_user_name_of_basic(project: Project, house: House) -> None:
    path, token = f"projects/{project.slug}", project.tokens["reader"]
    for sent in (f":{token}", f"x:{token}", f"anyone@example.org:{token}", f"{token}:", token):
        assert house.call("GET", path, headers=basic(sent)).status_code == 200, sent
    for sent in ("x:wrong", f"{token}:wrong"):
        assert house.call("GET", path, headers=basic(sent)).status_code == 401, sent


def test_an_authorization_header_that_is_none_is_401(project: Project, subtests: pytest.Subtests) -> None:
    public, secret = "\0" * 8, "a" * 30
    outside_of_the_alphabet = f"rgs_{public}_{secret}{_checksum(public + secret)}"
    assert not well_formed(outside_of_the_alphabet)
    headers = [
        "", " ", "Bearer", "Bearer ", "Basic", "Basic !!!", "Basic é",
        "Basic " + base64.b64encode(b"\xff:\xfe").decode(), "Digest x", "Token x", "é", "Bearer é", "Bearer a b",
        "Bearer rgs_", "Bearer rgs___", "Bearer " + "x" * 10_000,
        basic(f"x:{outside_of_the_alphabet}")["Authorization"],
    ]  # fmt: skip
    for header in headers:
        with subtests.test(header[:40]):
            answer = project.house.call("GET", f"projects/{project.slug}", headers={"Authorization": header})
            assert answer.status_code == 401
            assert "WWW-Authenticate" in answer.headers
    answer = project.house.call("POST", f"projects/{project.slug}/grids", data=b"{", content_type="text/html")
    assert answer.status_code == 401, "a stranger learns nothing from the faults of a body"


def test_the_secret_of_a_token_is_shown_once_never_stored_and_worthless_once_revoked(
    project: Project, house: House
) -> None:
    path, home = f"projects/{project.slug}/tokens", f"projects/{project.slug}"
    made = project.call("POST", path, "admin", json={"name": "job", "role": "reader", "days": 7})
    assert made.status_code == 201
    secret, one = made.get_json()["token"], f"{path}/{made.get_json()['id']}"
    assert house.call("GET", home, token=secret).status_code == 200
    listed = project.call("GET", path, "admin")
    [read] = [token for token in listed.get_json()["items"] if token["id"] == made.get_json()["id"]]
    assert (read["role"], "token" in read, secret in listed.text) == ("reader", False, False)
    with house.database.reading() as connection:
        rows = connection.execute(text("SELECT tokens::text FROM tokens")).scalars()
        assert not any(secret in row or secret[13:] in row for row in rows)
    other = house.make_project()
    path_from_another = f"projects/{other.slug}/tokens/{made.get_json()['id']}"
    assert other.call("DELETE", path_from_another, "admin").status_code == 404
    assert house.call("GET", home, token=secret).status_code == 200
    assert project.call("DELETE", one, "admin").status_code == 204
    assert house.call("GET", home, token=secret).status_code == 401
    assert project.call("DELETE", one, "admin").status_code == 404


def test_a_token_lives_ninety_days_if_nobody_says_how_long(project: Project) -> None:
    path = f"projects/{project.slug}/tokens"
    made = project.call("POST", path, "admin", json={"name": "job"}).get_json()
    assert made["role"] == "writer"
    assert made["last_used_at"] is None
    with project.house.database.reading() as connection:
        days = connection.execute(
            text("SELECT expires_at - created_at FROM tokens WHERE id = :id"), {"id": made["id"]}
        ).scalar_one()
    assert days.total_seconds() == 90 * 86400
    for days in (0, -1, 3651, 1.5, True, "30", 2**70):
        answer = project.call("POST", path, "admin", json={"name": "job", "days": days})
        assert (answer.status_code, answer.get_json()["errors"][0]["pointer"]) == (422, "/days"), days
    assert project.call("POST", path, "admin", json={"name": "job", "days": 3650}).status_code == 201


def test_a_deleted_project_is_gone_with_all_in_it_and_keeps_its_name_until_an_admin_restores_it(
    project: Project, house: House
) -> None:
    grid, sent, home = project.published(), {"slug": project.slug}, f"projects/{project.slug}"
    assert house.call("POST", "projects", token=house.operator, json=sent).status_code == 409
    held = project.call("DELETE", home, "admin")
    assert (held.status_code, "holds 1 grid;" in held.get_json()["detail"]) == (409, True)
    assert project.call("DELETE", f"{home}?cascade=true", "admin").status_code == 204
    for path in (home, f"grids/{grid['id']}", f"{home}/grids"):
        assert project.get(path).status_code == 404
    taken = house.call("POST", "projects", token=house.operator, json=sent)
    assert (taken.status_code, "can be restored" in taken.get_json()["detail"]) == (409, True)
    listed = [project.call("GET", "projects?deleted=only", role) for role in ROLES[1:4]]
    assert [[one["slug"] for one in answer.get_json()["items"]] for answer in listed] == [[], [], [project.slug]]
    assert "deleted_at" in listed[-1].get_json()["items"][0]
    assert house.call("GET", "projects?deleted=only").status_code == 401
    for caller, status in (("reader", 403), ("writer", 403), ("admin", 200), ("admin", 200)):
        assert project.call("POST", f"{home}/restore", caller).status_code == status
    assert house.call("POST", f"{home}/restore").status_code == 401
    assert project.get(f"grids/{grid['id']}").get_json()["revision"] == 1
    acts = project.call("GET", f"{home}/audit", "admin").get_json()["items"]
    assert [one["act"] for one in acts if one["act"].startswith("project.")] == ["project.restored", "project.deleted"]
    for slug in ("", "A", "-a", "a_b", "a b", "a/b", "é", "a" * 64, "a\n", "..", "a."):
        assert house.call("POST", "projects", token=house.operator, json={"slug": slug}).status_code == 422, slug


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
