"""The feed tells what people and programs do in a project, each act once, and never a secret."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from registry.results.events import OF_ADMINISTRATION
from tests.house import Project, publication
from tests.workers.feed import feed, told
from tests.workers.test_stored_claims import add, at


def done(project: Project, method: str, path: str, status: int, role: str = "admin", **options: Any) -> Any:
    answer = project.call(method, path, role, **options)
    assert answer.status_code == status, answer.text
    return answer.get_json() if answer.data else None


def test_acts_of_administration_are_told_with_what_a_mirror_needs(project: Project) -> None:
    home = f"projects/{project.slug}"
    done(project, "PATCH", home, 200, json={"name": "Another", "description": "Long. " * 500})
    alias = done(project, "POST", f"{home}/aliases", 201, json={"kind": "model", "alias": "a/1", "name": "A"})
    done(project, "DELETE", f"{home}/aliases/{alias['id']}", 204)
    done(project, "PUT", f"{home}/suites/s%2F1", 201, json={"benchmarks": ["GSM8K"]})
    done(project, "DELETE", f"{home}/suites/s%2F1", 204)
    found = feed(project)
    named = {"kind": "model", "alias": "a/1", "name": "A"}
    assert [(one.type, one.subject.removeprefix(home), one.data) for one in found] == [
        ("project.updated", "", {"changed": ["description", "name"]}),
        ("alias.created", f"/aliases/{alias['id']}", named),
        ("alias.deleted", f"/aliases/{alias['id']}", named),
        ("suite.set", f"/suites/{quote('s/1', safe='')}", {"suite": "s/1"}),
        ("suite.deleted", f"/suites/{quote('s/1', safe='')}", {"suite": "s/1"}),
    ]


def test_shares_and_tokens_are_told_without_their_secrets(project: Project) -> None:
    home = f"projects/{project.slug}"
    grid = project.published()
    share = done(project, "POST", f"{home}/shares", 201, json={"path": f"/grids/{grid['id']}"})
    token = done(project, "POST", f"{home}/tokens", 201, json={"name": "laptop", "role": "reader"})
    done(project, "DELETE", f"{home}/shares/{share['id']}", 204)
    done(project, "DELETE", f"{home}/tokens/{token['id']}", 204)
    found = [one for one in feed(project) if one.type.startswith(OF_ADMINISTRATION)]
    assert [one.type for one in found] == ["share.created", "token.created", "share.revoked", "token.revoked"]
    assert [one.data.get("role") for one in found] == [None, "reader", None, None]
    written = json.dumps([one.data for one in found])
    assert token["token"] not in written
    assert share["url"] not in written


def test_claims_baselines_items_and_descriptions_are_told(project: Project) -> None:
    home = f"projects/{project.slug}"
    grid = project.published()
    claim = add(project, at(99.3, text="It is 99.3."))
    add(project, at(99.3, text="It is 99.3."), 200)
    done(project, "DELETE", f"claims/{claim['id']}", 204, "writer")
    add(project, at(99.3, text="Back."))
    done(project, "PATCH", f"grids/{grid['id']}", 200, "writer", json={"description": "A sweep."})
    project.published(description="Another.")
    done(project, "PATCH", f"{home}/experiments/type-by-length", 200, "writer", json={"description": "Why."})
    found = told(project, "claim.*", "grid.updated", "experiment.*")
    assert [(kind, data.get("text")) for kind, data in found] == [
        ("claim.created", "It is 99.3."),
        ("claim.deleted", "It is 99.3."),
        ("claim.restored", "Back."),
        ("grid.updated", None),
        ("grid.updated", None),
        ("experiment.updated", None),
    ]
    assert found[3][1]["revision"] == found[4][1]["revision"] == 1


def test_a_batch_that_names_its_sources_is_told_as_an_import(project: Project) -> None:
    def post(*sent: dict[str, Any]) -> Any:
        return done(project, "POST", f"projects/{project.slug}/grids/batch", 200, "writer", json=list(sent))

    source = {"format": "csv", "name": "results.csv"}
    sent = [publication(model=f"m{n}", source=source) for n in range(3)]
    assert post(*sent, {"no": "grid"})["failed"] == 1
    for _ in range(2):
        post(*sent, publication(model="m4", source={"format": "csv", "name": "more.csv"}))
    post(publication(model="m5"))
    first = {"source": "results.csv", "format": "csv", "sources": 1, "new": 3, "unchanged": 0, "failed": 1}
    second = first | {"sources": 2, "new": 1, "unchanged": 3, "failed": 0}
    assert [data for _, data in told(project, "import.finished")] == [first, second]


def test_what_is_repeated_under_a_key_is_told_once(project: Project) -> None:
    sent = [publication(source={"format": "csv", "name": "results.csv"})]
    for _ in range(2):
        headers = {"Idempotency-Key": "once"}
        done(project, "POST", f"projects/{project.slug}/grids/batch", 200, "writer", json=sent, headers=headers)
    assert [kind for kind, _ in told(project)] == ["grid.published", "import.finished"]
