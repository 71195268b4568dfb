"""Claims that are kept: judged when they are posted and whenever their grids change, with every judgement in a history
that nothing rewrites."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from sqlalchemy import func, select, text, update
from sqlalchemy.exc import IntegrityError

from registry.storage.tables import cached_results, claims
from tests.house import House, Project
from workers.claims import stored
from workers.jobs.old_methods import requeue_old_methods
from workers.jobs.retention import delete_unread_results
from workers.queries import compute_due
from workers.verify_checks import check_results

ABOUT = {"experiment": "type-by-length", "metric": "accuracy"}


def at(value: float, **more: Any) -> dict[str, Any]:
    """What is said of Type 1 at Length 0, which the house publishes as 99.3."""
    where = {"Type": [1], "Length": [0]}
    return {"kind": "value", "about": ABOUT, "where": where, "is": {"op": "=", "number": value}, **more}


def add(project: Project, sent: Any, status: int = 201, query: str = "", **options: Any) -> Any:
    answer = project.call("POST", f"projects/{project.slug}/claims{query}", json=sent, **options)
    assert answer.status_code == status, answer.text
    return answer.get_json()


def read(project: Project, claim: dict[str, Any]) -> dict[str, Any]:
    answer = project.get(f"claims/{claim['id']}")
    assert answer.status_code == 200, answer.text
    return answer.get_json()


def judged(project: Project, claim: dict[str, Any]) -> dict[str, Any]:
    """The claim after everything that is due was computed."""
    project.house.compute()
    found = read(project, claim)
    assert found["state"] == "ready"
    return found


def history(project: Project, claim: dict[str, Any]) -> list[tuple[int, str, str | None]]:
    """Number, verdict and reason of each judgement, the latest first."""
    items = project.get(f"claims/{claim['id']}/judgements").get_json()["items"]
    return [(one["number"], one["judgement"]["verdict"], one["judgement"]["reason"]) for one in items]


def measure(project: Project, grid: dict[str, Any], value: float | None) -> None:
    cells = {"cells": [{"at": {"Type": "1", "Length": 0}, "value": value}]}
    answer = project.call("PATCH", f"grids/{grid['id']}/cells", json=cells)
    assert answer.status_code == 200, answer.text


def test_a_claim_is_kept_and_then_judged(project: Project) -> None:
    grid = project.published()
    posted = project.call("POST", f"projects/{project.slug}/claims", json=at(99.3, text="It is 99.3."))
    claim = posted.get_json()
    assert (posted.status_code, posted.headers["Location"]) == (201, f"/api/v1/claims/{claim['id']}")
    assert (claim["state"], claim["verdict"], claim["judgement"], claim["warnings"]) == ("pending", None, None, [])
    found = judged(project, claim)
    assert (found["verdict"], found["text"], found["judgement_number"]) == ("supported", "It is 99.3.", 1)
    assert found["judgement"]["inputs"] == [{"grid": grid["id"], "revision": 1, "digest": grid["digest"]}]
    assert found["checked_at"] >= found["judged_at"]


def test_it_is_judged_again_when_its_grid_changes_and_no_judgement_is_lost(project: Project) -> None:
    grid = project.published()
    claim = add(project, at(99.3))
    judged(project, claim)
    measure(project, grid, 99.0)
    assert read(project, claim)["state"] == "pending"
    assert judged(project, claim)["verdict"] == "contradicted"
    measure(project, grid, 99.3)
    judged(project, claim)
    assert [verdict for _, verdict, _ in history(project, claim)] == ["supported", "contradicted", "supported"]


def test_a_claim_about_a_revision_has_one_judgement_for_ever(project: Project) -> None:
    grid = project.published()
    claim = add(project, at(99.3, about={"grid": grid["id"], "revision": 1}))
    current = add(project, at(99.3, about={"grid": grid["id"]}))
    judged(project, claim)
    for value in (99.0, 12.0):
        measure(project, grid, value)
        found = judged(project, claim)
        assert (found["verdict"], found["judgement"]["inputs"][0]["revision"]) == ("supported", 1)
    assert [number for number, _, _ in history(project, claim)] == [1]
    assert judged(project, current)["verdict"] == "contradicted"


def test_a_judgement_that_says_nothing_new_is_not_added(project: Project) -> None:
    grid = project.published()
    claim = add(project, at(99.3))
    first = judged(project, claim)
    cells = {"cells": [{"at": {"Type": "2", "Length": 1}, "value": 98.0}]}
    assert project.call("PATCH", f"grids/{grid['id']}/cells", json=cells).status_code == 200
    second = judged(project, claim)
    assert [number for number, _, _ in history(project, claim)] == [1]
    assert second["judged_at"] == first["judged_at"]
    assert second["checked_at"] > first["checked_at"]


def test_other_numbers_are_a_judgement_of_their_own(project: Project) -> None:
    grid = project.published()
    claim = add(project, at(12.0))
    judged(project, claim)
    measure(project, grid, 98.0)
    judged(project, claim)
    assert [verdict for _, verdict, _ in history(project, claim)] == ["contradicted", "contradicted"]


def test_the_same_statement_is_one_claim_however_it_was_written(project: Project) -> None:
    project.published()
    first = add(project, at(99.3, text="First."))
    again = add(project, at(99.3, text="Again.") | {"strength": "numbers"}, 200)
    assert (again["id"], again["text"]) == (first["id"], "First.")
    several = add(project, [at(99.3), at(12.0), at(12.0)])["items"]
    assert several[0]["id"] == first["id"]
    assert several[1]["id"] == several[2]["id"] != first["id"]


def test_two_that_post_the_same_at_once_get_one_claim(project: Project) -> None:
    project.published()
    answers: list[Any] = []
    start = threading.Barrier(4)

    def post() -> None:
        start.wait()
        answers.append(project.call("POST", f"projects/{project.slug}/claims", json=at(99.3)))

    threads = [threading.Thread(target=post) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(one.status_code for one in answers) == [200, 200, 200, 201]
    assert len({one.get_json()["id"] for one in answers}) == 1


def test_a_dry_run_keeps_nothing(project: Project) -> None:
    project.published(model="Qwen")
    told = add(project, at(99.3, about=ABOUT | {"model": "Qwem"}), 200, "?dry_run=1")
    [warning] = told["warnings"]
    assert warning["code"] == "unknown_name"
    assert "there is Qwen" in warning["detail"]
    assert project.get(f"projects/{project.slug}/claims").get_json()["items"] == []
    assert project.get(f"claims/{told['id']}").status_code == 404


def test_a_claim_waits_for_what_is_not_published_yet(project: Project) -> None:
    claim = add(project, at(99.3))
    assert {one["code"] for one in claim["warnings"]} == {"unknown_name"}
    judged(project, claim)
    assert history(project, claim) == [(1, "not_decidable", "not_published")]
    project.published()
    assert judged(project, claim)["verdict"] == "supported"
    assert len(history(project, claim)) == 2


def test_a_claim_whose_axes_came_out_otherwise_is_not_decided(project: Project) -> None:
    claim = add(project, [at(99.3), {"kind": "trend", "about": ABOUT, "along": "Depth", "goes": "up"}])["items"]
    project.publish({**PLAIN, "experiment": "type-by-length"})
    assert {judged(project, one)["verdict"] for one in claim} == {"not_decidable"}


PLAIN = {
    "experiment": "other",
    "benchmark": "B",
    "model": "M",
    "metric": {"name": "accuracy", "unit": "%", "direction": "higher"},
    "axes": [],
    "values": 5.0,
}


def test_a_claim_about_a_grid_ends_and_begins_with_it(project: Project) -> None:
    grid = project.published()
    sent = {name: said for name, said in at(99.3).items() if name != "about"}
    claim = project.call("POST", f"grids/{grid['id']}/claims", json=sent).get_json()
    assert claim["claim"]["about"] == {"grid": grid["id"]}
    assert judged(project, claim)["verdict"] == "supported"
    assert project.call("DELETE", f"grids/{grid['id']}").status_code == 204
    judged(project, claim)
    assert project.call("POST", f"grids/{grid['id']}/restore").status_code == 200
    judged(project, claim)
    assert [verdict for _, verdict, _ in history(project, claim)] == ["supported", "not_decidable", "supported"]
    assert project.call("POST", f"grids/{grid['id']}/claims", json=at(99.3)).status_code == 422


@pytest.mark.parametrize("kind", ["model", "experiment"])
def test_a_claim_follows_an_alias_that_was_made_after_it(project: Project, kind: str) -> None:
    """Also when what stands behind the alias is published later, and when the alias is taken back."""
    old = {"model": "old"} if kind == "model" else {"experiment": "old"}
    claim = add(project, at(99.3, about=ABOUT | old))
    assert judged(project, claim)["judgement"]["reason"] == "not_published"
    alias = {"kind": kind, "alias": "old", "name": "new"}
    joined = project.call("POST", f"projects/{project.slug}/aliases", json=alias).get_json()
    judged(project, claim)
    grid = project.published(**{kind: "new"})
    assert judged(project, claim)["verdict"] == "supported"
    measure(project, grid, 12.0)
    assert read(project, claim)["state"] == "pending"
    assert judged(project, claim)["verdict"] == "contradicted"
    assert project.call("DELETE", f"projects/{project.slug}/aliases/{joined['id']}").status_code == 204
    judged(project, claim)
    assert [verdict for _, verdict, _ in history(project, claim)] == [
        *("not_decidable", "contradicted", "supported", "not_decidable")
    ]


def test_a_claim_about_two_names_that_were_one_experiment_is_judged_by_neither(project: Project) -> None:
    alias = {"kind": "experiment", "alias": "old", "name": "new"}
    joined = project.call("POST", f"projects/{project.slug}/aliases", json=alias).get_json()
    grid = project.published(experiment="new")
    second = project.published(experiment="old", model="another")
    both = [{**at(99.3), "about": {"grid": one["id"]}} for one in (grid, second)]
    claim = add(project, {"kind": "all_of", "claims": both})
    assert judged(project, claim)["verdict"] == "supported"
    assert project.call("DELETE", f"projects/{project.slug}/aliases/{joined['id']}").status_code == 204
    assert judged(project, claim)["verdict"] == "not_decidable"


def test_new_methods_judge_again_and_flip_nothing(project: Project) -> None:
    project.published()
    claim = add(project, at(99.3))
    first = judged(project, claim)
    with project.house.database.transaction() as connection:
        mine = cached_results.c.project_id == project.id
        connection.execute(update(cached_results).where(mine).values(methods_version="0"))
        requeue_old_methods(connection, 30)
    second = judged(project, claim)
    assert (second["judgement_number"], second["judged_at"]) == (1, first["judged_at"])
    assert second["checked_at"] > first["checked_at"]


def test_retention_keeps_what_judges_claims(project: Project) -> None:
    project.published()
    claim = add(project, at(99.3))
    judged(project, claim)
    with project.house.database.transaction() as connection:
        delete_unread_results(connection, days=0, most=0)
    assert read(project, claim)["state"] == "ready"


def test_a_removed_claim_is_gone_until_it_is_posted_again(project: Project) -> None:
    project.published()
    claim = add(project, at(99.3, text="Old."))
    tag = project.get(f"claims/{claim['id']}").headers["ETag"]
    judged(project, claim)
    path = f"claims/{claim['id']}"
    changed = project.call("PATCH", path, json={"text": "New."}, headers={"If-Match": tag})
    assert (changed.status_code, changed.get_json()["text"]) == (200, "New.")
    assert project.call("DELETE", path, headers={"If-Match": tag}).status_code == 412
    assert project.call("DELETE", path, headers={"If-Match": changed.headers["ETag"]}).status_code == 204
    assert {project.get(one).status_code for one in (path, f"{path}/judgements", f"{path}/badge.svg")} == {404}
    assert project.get(f"projects/{project.slug}/claims").get_json()["counts"]["supported"] == 0
    back = add(project, at(99.3, text="Back."))
    assert (back["id"], back["text"], back["state"]) == (claim["id"], "Back.", "pending")
    judged(project, claim)
    assert len(history(project, claim)) == 1
    log = project.call("GET", f"projects/{project.slug}/audit", "admin").get_json()["items"]
    told = [one["act"] for one in log if one["subject"] == claim["id"]]
    assert told == ["claim.restored", "claim.deleted", "claim.updated", "claim.created"]


@pytest.mark.parametrize(
    ("sent", "pointer"),
    [
        ({"kind": "trend"}, "/kind"),
        ({"text": "The change is significant."}, "/text"),
        ({"source": {"page": 3}}, "/source/page"),
        ({}, ""),
        ([], ""),
    ],
)
def test_another_statement_is_another_claim(project: Project, sent: Any, pointer: str) -> None:
    project.published()
    claim = add(project, at(99.3))
    refused = project.call("PATCH", f"claims/{claim['id']}", json=sent)
    assert (refused.status_code, refused.get_json()["errors"][0]["pointer"]) == (422, pointer)


def test_claims_are_listed_by_verdict_state_source_and_experiment(project: Project) -> None:
    project.published()
    sent = [at(99.3, source={"url": "README.md", "line": 3}), at(12.0), at(99.3, about=ABOUT | {"model": "none"})]
    kept = add(project, sent)["items"]
    later = add(project, at(99.3, about=ABOUT | {"experiment": "later"}))
    project.house.compute()
    add(project, at(99.3, about=ABOUT | {"experiment": "pending"}))

    def listed(query: str) -> list[str]:
        return [one["id"] for one in project.get(f"projects/{project.slug}/claims?{query}").get_json()["items"]]

    assert listed("verdict=contradicted") == [kept[1]["id"]]
    assert listed("verdict=contradicted&verdict=supported") == [kept[0]["id"], kept[1]["id"]]
    assert listed("source=README.md") == [kept[0]["id"]]
    assert listed("experiment=later") == [later["id"]]
    assert listed("state=ready") == [*(one["id"] for one in kept), later["id"]]
    page = project.get(f"projects/{project.slug}/claims?limit=2").get_json()
    assert page["counts"] == {
        "supported": 1, "contradicted": 1, "not_decidable": 2, "ill_posed": 0, "unjudged": 1
    }  # fmt: skip
    assert "parts" not in page["items"][0]["judgement"]
    assert listed(f"limit=2&cursor={page['next']}") == [kept[2]["id"], later["id"]]


def test_judgements_come_in_pages(project: Project) -> None:
    grid = project.published()
    claim = add(project, at(12.0))
    for value in (50.0, 60.0, 70.0):
        measure(project, grid, value)
        judged(project, claim)
    page = project.get(f"claims/{claim['id']}/judgements?limit=2").get_json()
    rest = project.get(f"claims/{claim['id']}/judgements?limit=2&cursor={page['next']}").get_json()
    assert [one["number"] for one in page["items"] + rest["items"]] == [3, 2, 1]
    assert [one["judgement"]["parts"][0]["numbers"]["estimate"] for one in page["items"]] == [70.0, 60.0]


def test_a_claim_of_another_project_is_not_there(house: House, project: Project) -> None:
    theirs = house.make_project()
    theirs.published()
    claim = add(theirs, at(99.3))
    for method, path in (("GET", ""), ("GET", "/judgements"), ("GET", "/badge.json"), ("PATCH", ""), ("DELETE", "")):
        sent = {"text": "x"} if method == "PATCH" else None
        answer = project.call(method, f"claims/{claim['id']}{path}", "admin", json=sent)
        assert answer.status_code == 404, (method, path)
    grid = theirs.get(f"projects/{theirs.slug}/grids").get_json()["items"][0]["id"]
    assert project.call("POST", f"grids/{grid}/claims", json=at(99.3)).status_code == 404


def test_a_badge_says_the_verdict_and_how_it_was_found(project: Project) -> None:
    grid = project.published()
    claim = add(project, at(99.3))
    path = f"claims/{claim['id']}/badge"
    assert project.get(f"{path}.json").get_json()["message"] == "not judged yet"
    judged(project, claim)
    badge = project.get(f"{path}.json?label=accuracy").get_json()
    assert badge == {"schemaVersion": 1, "label": "accuracy", "message": "supported as posted", "color": "1b6e3a"}
    measure(project, grid, 12.0)
    assert project.get(f"{path}.json").get_json()["message"] == "supported as posted, being judged again"
    judged(project, claim)
    picture = project.get(f"{path}.svg")
    assert "contradicted beyond noise" in picture.text
    assert project.get(f"{path}.svg", headers={"If-None-Match": picture.headers["ETag"]}).status_code == 304


def test_a_claim_is_not_checked_before_it_is_judged_though_others_of_its_part_are(project: Project) -> None:
    project.published()
    [first] = add(project, [at(99.3)])["items"]
    judged(project, first)
    [second] = add(project, [at(12.0)])["items"]
    assert (second["judgement"], second["judged_at"], second["checked_at"]) == (None, None, None)
    assert judged(project, second)["checked_at"] > second["created_at"]


def test_a_link_opens_a_claim_with_its_badge_and_history(house: House, project: Project) -> None:
    project.published()
    claim, other = add(project, [at(99.3), at(12.0)])["items"]

    def opened(path: str, link: str) -> int:
        return house.call("GET", f"{path}?share={link.partition('share=')[2]}").status_code

    def link(path: str) -> str:
        made = project.call("POST", f"projects/{project.slug}/shares", "admin", json={"path": path})
        assert made.status_code == 201, made.text
        return str(made.get_json()["url"])

    mine = link(f"/api/v1/claims/{claim['id']}")
    paths = [f"claims/{claim['id']}{rest}" for rest in ("", "/judgements", "/badge.svg", "/badge.json")]
    assert {opened(path, mine) for path in paths} == {200}
    assert opened(f"claims/{other['id']}", mine) == 401
    for home in ("", "/claims"):
        assert opened(f"claims/{other['id']}", link(f"/api/v1/projects/{project.slug}{home}")) == 200
    assert opened(f"claims/{other['id']}", link(f"/api/v1/projects/{project.slug}/grids")) == 401
    page = link(f"/claims/{claim['id']}")
    assert {opened(path, page) for path in paths} == {200}
    assert opened(f"claims/{other['id']}/badge.svg", page) == 401
    assert opened(f"claims/{other['id']}/badge.svg", link(f"/projects/{project.slug}")) == 200
    foreign = house.make_project()
    refused = foreign.call(
        "POST", f"projects/{foreign.slug}/shares", "admin", json={"path": f"/api/v1/claims/{claim['id']}"}
    )
    assert refused.status_code == 422


def test_a_part_holds_so_many_claims_and_the_next_one_the_others(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.operations.stored_claims.MOST_IN_PART", 2)
    project.published()
    kept = add(project, [at(float(value)) for value in range(5)])["items"]
    project.call("DELETE", f"claims/{kept[0]['id']}")
    add(project, at(99.3))
    with project.house.database.reading() as connection:
        here = (claims.c.project_id == project.id, claims.c.archived_at.is_(None))
        counts = select(func.count()).where(*here).group_by(claims.c.query_key)
        assert sorted(connection.scalars(counts)) == [1, 2, 2]
    project.house.compute()
    listed = project.get(f"projects/{project.slug}/claims").get_json()
    assert listed["counts"] == dict.fromkeys(("not_decidable", "ill_posed", "unjudged"), 0) | {
        "supported": 1,
        "contradicted": 4,
    }


def test_a_claim_that_cannot_be_judged_keeps_no_other_from_its_own(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.published()
    kept = add(project, [at(99.3), at(12.0)])["items"]
    judge = stored.judge_claim

    def broken(claim: Any, facts: Any) -> Any:
        if claim.says.says.is_.number == 12.0:
            raise ZeroDivisionError
        return judge(claim, facts)

    monkeypatch.setattr(stored, "judge_claim", broken)
    assert judged(project, kept[0])["verdict"] == "supported"
    assert history(project, kept[1]) == [(1, "not_decidable", "failed")]


def test_a_claim_about_too_many_cells_is_not_decided(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.queries.MOST_CELLS", 7)
    small = project.published()
    project.published(model="another")
    kept = add(project, [at(99.3), at(99.3, about={"grid": small["id"]})])["items"]
    project.house.compute()
    assert [history(project, one)[0][1:] for one in kept] == [
        ("not_decidable", "too_large"),
        ("supported", "within_noise"),
    ]


def test_a_judgement_does_not_depend_on_what_else_is_claimed(project: Project) -> None:
    project.published()
    project.published(model="another")
    alone = add(project, at(99.3, about=ABOUT | {"model": "another"}))
    first = judged(project, alone)["judgement"]
    add(project, [at(99.3), {"kind": "coverage", "is": "ragged", "about": ABOUT}])
    second = judged(project, alone)
    assert (second["judgement"], second["judgement_number"]) == (first, 1)


def test_judgements_are_never_changed(project: Project) -> None:
    project.published()
    claim = add(project, at(99.3))
    judged(project, claim)
    for statement in ("UPDATE judgements SET verdict = 'supported'", "DELETE FROM judgements", "TRUNCATE judgements"):
        with pytest.raises(IntegrityError), project.house.database.transaction() as connection:
            connection.execute(text(statement))


def test_verify_computes_the_judgements_again(project: Project) -> None:
    project.published()
    judged(project, add(project, at(99.3)))
    assert list(check_results(project.house.database, project.house.settings, project.id)) == []


def test_what_somebody_asked_for_comes_before_claims(project: Project) -> None:
    house = project.house
    project.published()
    house.compute()
    claim = add(project, at(99.3))
    asked = project.get(f"projects/{project.slug}/rankings?experiment=type-by-length&metric=accuracy&alpha=0.1")
    assert asked.status_code == 202
    assert compute_due(house.database, house.settings) == 1
    with house.database.reading() as connection:
        pending = select(cached_results.c.query["kind"].astext).where(
            cached_results.c.project_id == project.id, cached_results.c.state == "pending"
        )
        assert connection.scalars(pending).all() == ["stored_claims"]
    assert judged(project, claim)["verdict"] == "supported"
