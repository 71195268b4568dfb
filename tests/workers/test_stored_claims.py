"""Claims that are kept: judged when they are posted and whenever their grids change, with every judgement in a history
that nothing rewrites."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import func, select, text, update
from sqlalchemy.exc import IntegrityError

from registry.storage.tables import cached_results, claims
from tests.house import House, Project
from tests.workers.asking import join
from tests.workers.feed import feed
from tests.workers.test_rankings import part
from workers.claims import stored
from workers.jobs.invalidation import requeue_old_methods
from workers.jobs.upkeep import delete_unread_results
from workers.queries import compute_due
from workers.verify_checks import check_results

ABOUT = {"experiment": "type-by-length", "metric": "accuracy"}


def at(value: float, **more: Any) -> dict[str, Any]:
    """What is said of Type 1 at Length 0, which the house publishes as 99.3."""
    where = {"Type": [1], "Length": [0]}
    return {"kind": "value", "about": ABOUT, "where": where, "is": {"op": "=", "number": value}, **more}


def of(value: float, **names: str) -> dict[str, Any]:
    return at(value, about=ABOUT | names)


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


def verdicts(project: Project, claim: dict[str, Any]) -> list[str]:
    """The verdict of each judgement, the first one first."""
    return [verdict for _, verdict, _ in reversed(history(project, claim))]


def measure(project: Project, grid: dict[str, Any], value: float | None, kind: str = "1", length: int = 0) -> None:
    cells = {"cells": [{"at": {"Type": kind, "Length": length}, "value": value}]}
    answer = project.call("PATCH", f"grids/{grid['id']}/cells", json=cells)
    assert answer.status_code == 200, answer.text


def test_a_claim_is_judged_when_it_is_posted_and_when_its_grid_changes_and_no_judgement_is_lost(
    project: Project,
) -> None:
    grid, words = project.published(), "It is 99.3. " * 40
    posted = project.call("POST", f"projects/{project.slug}/claims", json=at(99.3, text=words))
    claim = posted.get_json()
    assert (posted.status_code, posted.headers["Location"]) == (201, f"/api/v1/claims/{claim['id']}")
    assert (claim["state"], claim["verdict"], claim["judgement"], claim["warnings"]) == ("pending", None, None, [])
    first = judged(project, claim)
    assert (first["verdict"], first["text"], first["judgement_number"]) == ("supported", words, 1)
    assert first["judgement"]["inputs"] == [{"grid": grid["id"], "revision": 1, "digest": grid["digest"]}]
    assert first["checked_at"] >= first["judged_at"]
    measure(project, grid, 98.0, "2", 1)
    second = judged(project, claim)
    assert (second["judgement_number"], second["judged_at"]) == (1, first["judged_at"]), "it says nothing new"
    assert second["checked_at"] > first["checked_at"]
    for value in (99.0, 98.0, 99.3):
        measure(project, grid, value)
        assert read(project, claim)["state"] == "pending"
        last = judged(project, claim)
    assert verdicts(project, claim) == ["supported", "contradicted", "contradicted", "supported"]
    page = project.get(f"claims/{claim['id']}/judgements?limit=3").get_json()
    rest = project.get(f"claims/{claim['id']}/judgements?limit=3&cursor={page['next']}").get_json()
    assert [one["number"] for one in page["items"] + rest["items"]] == [4, 3, 2, 1]
    assert [one["judgement"]["parts"][0]["numbers"]["estimate"] for one in page["items"]] == [99.3, 98.0, 99.0]
    events = feed(project, "claim.judged", "claim.flipped")
    assert [(one.type, one.data["verdict"], one.data.get("before"), one.data["estimate"]) for one in events] == [
        ("claim.judged", "supported", None, 99.3),
        ("claim.flipped", "contradicted", "supported", 99.0),
        ("claim.judged", "contradicted", None, 98.0),
        ("claim.flipped", "supported", "contradicted", 99.3),
    ]
    beyond = [one["judgement"]["beyond_noise"] for one in page["items"] + rest["items"]]
    assert [one.data["beyond_noise"] for one in reversed(events)] == beyond
    assert [(one.subject, one.data["judgement"]) for one in events] == [
        (f"claims/{claim['id']}", n) for n in range(1, 5)
    ]
    assert all(len(one.data["text"]) == 300 and one.data["experiment"] == "type-by-length" for one in events)
    with project.house.database.transaction() as connection:
        mine = cached_results.c.project_id == project.id
        connection.execute(update(cached_results).where(mine).values(methods_version="0"))
        requeue_old_methods(connection, 30)
    again = judged(project, claim)
    assert (again["judgement_number"], again["judged_at"]) == (4, last["judged_at"]), "new methods flip nothing"
    assert again["checked_at"] > last["checked_at"]
    assert list(check_results(project.house.database, project.house.settings, project.id)) == []
    with project.house.database.transaction() as connection:
        delete_unread_results(connection, days=0, most=0)
    assert read(project, claim)["state"] == "ready", "retention keeps what judges claims"
    for statement in ("UPDATE judgements SET verdict = 'supported'", "DELETE FROM judgements", "TRUNCATE judgements"):
        with pytest.raises(IntegrityError), project.house.database.transaction() as connection:
            connection.execute(text(statement))


def test_a_claim_about_a_grid_ends_and_begins_with_it(project: Project) -> None:
    grid = project.published()
    current = add(project, at(99.3, about={"grid": grid["id"]}))
    judged(project, current)
    for value in (99.0, 12.0):
        measure(project, grid, value)
        judged(project, current)
    assert project.call("DELETE", f"grids/{grid['id']}").status_code == 204
    judged(project, current)
    assert project.call("POST", f"grids/{grid['id']}/restore").status_code == 200
    judged(project, current)
    assert verdicts(project, current) == ["supported", *["contradicted"] * 2, "not_decidable", "contradicted"]


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
    start = threading.Barrier(4)

    def post(_: int) -> Any:
        start.wait()
        return project.call("POST", f"projects/{project.slug}/claims", json=at(99.3))

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(post, range(4)))
    assert sorted(one.status_code for one in answers) == [200, 200, 200, 201]
    assert len({one.get_json()["id"] for one in answers}) == 1


def test_a_dry_run_judges_for_who_reads_and_keeps_nothing(project: Project) -> None:
    project.published(model="Qwen")
    path, claim = f"projects/{project.slug}/claims", of(99.3, model="Qwen")
    while (told := project.call("POST", f"{path}?dry_run=true", "reader", json=claim)).status_code == 202:
        project.house.compute()
    assert told.get_json()["verdict"] in ("supported", "contradicted")
    assert project.call("POST", path, "reader", json=claim).status_code == 403
    assert project.get(path).get_json()["items"] == []


def test_a_claim_waits_for_what_is_not_published_yet_and_has_other_axes_then(project: Project) -> None:
    claim = add(project, at(99.3))
    assert {one["code"] for one in claim["warnings"]} == {"unknown_name"}
    depth = add(project, {"kind": "trend", "about": ABOUT, "along": "Depth", "goes": "up"})
    scalar = add(project, of(99.3, experiment="scalar"))
    judged(project, claim)
    assert history(project, claim) == [(1, "not_decidable", "not_published")]
    project.published()
    project.published(experiment="scalar", axes=[], values=5.0)
    assert judged(project, claim)["verdict"] == "supported"
    assert len(history(project, claim)) == 2
    assert [read(project, one)["verdict"] for one in (depth, scalar)] == ["not_decidable"] * 2


@pytest.mark.parametrize("kind", ["model", "experiment"])
def test_a_claim_follows_an_alias_that_was_made_after_it(project: Project, kind: str) -> None:
    """Also when what stands behind the alias is published later, and when the alias is taken back."""
    claim = add(project, of(99.3, **{kind: "old"}))
    assert judged(project, claim)["judgement"]["reason"] == "not_published"
    join(project, kind, "old", "new")
    judged(project, claim)
    grid = project.published(**{kind: "new"})
    assert judged(project, claim)["verdict"] == "supported"
    measure(project, grid, 12.0)
    assert read(project, claim)["state"] == "pending"
    judged(project, claim)
    part(project)
    judged(project, claim)
    assert verdicts(project, claim) == ["not_decidable", "supported", "contradicted", "not_decidable"]


def test_a_claim_about_two_names_that_were_one_experiment_is_judged_by_neither(project: Project) -> None:
    join(project, "experiment", "old", "new")
    grids = project.published(experiment="new"), project.published(experiment="old", model="another")
    claim = add(project, {"kind": "all_of", "claims": [at(99.3, about={"grid": grid["id"]}) for grid in grids]})
    assert judged(project, claim)["verdict"] == "supported"
    part(project)
    assert judged(project, claim)["verdict"] == "not_decidable"


def test_a_removed_claim_is_gone_until_it_is_posted_again(project: Project) -> None:
    project.published()
    claim = add(project, at(99.3, text="Old."))
    path = f"claims/{claim['id']}"
    tag = project.get(path).headers["ETag"]
    judged(project, claim)
    assert project.call("DELETE", path, headers={"If-Match": '"other"'}).status_code == 412
    assert project.call("DELETE", path, headers={"If-Match": tag}).status_code == 204
    assert {project.get(one).status_code for one in (path, f"{path}/judgements")} == {404}
    assert project.get(f"projects/{project.slug}/claims").get_json()["counts"]["supported"] == 0
    back = add(project, at(99.3, text="Back."))
    assert (back["id"], back["text"], back["state"]) == (claim["id"], "Back.", "pending")
    judged(project, claim)
    assert len(history(project, claim)) == 1
    log = project.call("GET", f"projects/{project.slug}/audit", "admin").get_json()["items"]
    told = [one["act"] for one in log if one["subject"] == claim["id"]]
    assert told == ["claim.restored", "claim.deleted", "claim.created"]


def test_claims_are_listed_by_verdict_state_source_and_experiment(project: Project) -> None:
    project.published()
    sent = [at(99.3, source={"url": "README.md", "line": 3}), at(12.0), of(99.3, model="none")]
    kept = add(project, sent)["items"]
    later = add(project, of(99.3, experiment="later"))
    project.house.compute()
    add(project, of(99.3, experiment="pending"))

    def listed(query: str) -> list[str]:
        return [one["id"] for one in project.get(f"projects/{project.slug}/claims?{query}").get_json()["items"]]

    assert listed("verdict=contradicted") == [kept[1]["id"]]
    assert listed("verdict=contradicted&verdict=supported") == [kept[0]["id"], kept[1]["id"]]
    assert listed("source=README.md") == [kept[0]["id"]]
    assert listed("experiment=later") == [later["id"]]
    assert listed("state=ready") == [*(one["id"] for one in kept), later["id"]]
    page = project.get(f"projects/{project.slug}/claims?limit=2").get_json()
    counts = {"supported": 1, "contradicted": 1, "not_decidable": 2, "ill_posed": 0, "unjudged": 1}
    assert page["counts"] == counts
    assert "parts" not in page["items"][0]["judgement"]
    assert listed(f"limit=2&cursor={page['next']}") == [kept[2]["id"], later["id"]]


def test_another_claim_of_the_same_part_has_not_been_checked_though_the_first_has(project: Project) -> None:
    grid = project.published()
    claim = add(project, at(99.3))
    judged(project, claim)
    measure(project, grid, 12.0)
    judged(project, claim)
    [second] = add(project, [at(12.0)])["items"]
    assert (second["judgement"], second["judged_at"], second["checked_at"]) == (None, None, None)
    assert judged(project, second)["checked_at"] > second["created_at"]


def test_a_link_opens_a_claim_with_its_history(house: House, project: Project) -> None:
    project.published()
    claim, other = add(project, [at(99.3), at(12.0)])["items"]

    def link(path: str, by: Project = project) -> Any:
        return by.call("POST", f"projects/{by.slug}/shares", "admin", json={"path": path})

    def opened(path: str, by: str) -> int:
        secret = link(by).get_json()["url"].partition("share=")[2]
        return house.call("GET", f"claims/{path}?share={secret}").status_code

    paths = [f"{claim['id']}{rest}" for rest in ("", "/judgements")]
    mine, page, home = f"/api/v1/claims/{claim['id']}", f"/claims/{claim['id']}", f"/api/v1/projects/{project.slug}"
    assert {opened(path, by) for path in paths for by in (mine, page)} == {200}
    assert {opened(other["id"], by) for by in (home, f"{home}/claims")} == {200}
    assert {opened(other["id"], by) for by in (mine, f"{home}/grids")} == {401}
    assert opened(f"{other['id']}/judgements", page) == 401
    assert opened(f"{other['id']}/judgements", f"/projects/{project.slug}") == 200
    assert link(mine, house.make_project()).status_code == 422


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
    counts = project.get(f"projects/{project.slug}/claims").get_json()["counts"]
    assert {verdict: count for verdict, count in counts.items() if count} == {"supported": 1, "contradicted": 4}


def test_a_claim_that_cannot_be_judged_or_is_about_too_many_cells_keeps_no_other_from_its_own(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.queries.MOST_CELLS", 7)
    small = project.published()["id"]
    project.published(model="another")
    kept = add(project, [at(99.3, about={"grid": small}), at(12.0, about={"grid": small}), at(99.3)])["items"]
    judge = stored.judge_claim

    def broken(claim: Any, facts: Any) -> Any:
        if claim.says.says.is_.number == 12.0:
            raise ZeroDivisionError
        return judge(claim, facts)

    monkeypatch.setattr(stored, "judge_claim", broken)
    project.house.compute()
    assert [history(project, one)[0][1:] for one in kept] == [
        ("supported", "within_noise"),
        ("not_decidable", "failed"),
        ("not_decidable", "too_large"),
    ]


def test_what_somebody_asked_for_comes_before_claims(project: Project) -> None:
    house = project.house
    project.published()
    house.compute()
    claim = add(project, at(99.3))
    asked = project.get(f"projects/{project.slug}/rankings?experiment=type-by-length&metric=accuracy&alpha=0.1")
    assert asked.status_code == 202
    assert compute_due(house.database, house.settings) == 1
    with house.database.reading() as connection:
        mine = (cached_results.c.project_id == project.id, cached_results.c.state == "pending")
        kinds = connection.scalars(select(cached_results.c.query["kind"].astext).where(*mine)).all()
    assert kinds == ["stored_claims"]
    assert judged(project, claim)["verdict"] == "supported"
