"""The feed of a project: acts that it tells, cursors, types, filters, waiting, other forms, and who may read it."""

import json
import threading
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from registry import create_app
from registry.operations.events import Wanted, read_events
from registry.results.events import OF_ADMINISTRATION, TYPES
from tests.house import House, Project, publication
from tests.told import tell
from tests.workers.feed import feed, told
from tests.workers.test_stored_claims import add, at

STREAM = {"Accept": "text/event-stream"}


def read(project: Project, role: str = "reader", **query: Any) -> TestResponse:
    headers = query.pop("headers", {})
    return project.call("GET", f"projects/{project.slug}/events", role, query_string=query, headers=headers)


def page(project: Project, role: str = "reader", **query: Any) -> dict[str, Any]:
    answer = read(project, role, **query)
    assert answer.status_code == 200, answer.text
    return dict(answer.get_json())


def numbers(found: dict[str, Any]) -> list[int]:
    return [one["data"]["number"] for one in found["items"]]


def change(project: Project, head: str, lost: str) -> None:
    """Change the head of a project and delete events, as retention and restoring do."""
    with project.house.database.transaction() as connection:
        for statement in (f"UPDATE event_heads SET {head} WHERE", f"DELETE FROM events WHERE {lost} AND"):
            connection.execute(text(f"{statement} project_id = :project"), {"project": project.id})


def test_what_was_published_is_told_with_its_names_and_a_link_and_to_no_other_project(project: Project) -> None:
    grid, other = project.published(), project.house.make_project()
    project.house.compute()
    assert page(other)["items"] == []
    [event] = page(project, type="grid.*")["items"]
    assert (event["type"], event["position"], event["subject"]) == ("grid.published", 1, f"grids/{grid['id']}")
    assert (event["data"]["model"], event["data"]["revision"]) == (grid["model"], 1)
    assert project.get(event["links"]["subject"]["href"]).get_json()["id"] == grid["id"]
    assert abs(datetime.now(UTC) - datetime.fromisoformat(event["time"])) < timedelta(hours=1)


def test_pages_follow_each_other_with_the_same_filters_and_the_last_one_is_empty(project: Project) -> None:
    assert page(project, after="2001-01-01")["items"] == []
    begun = page(project, after="2001-01-01")["next"]
    tell(project, *range(7), model="A & B")
    tell(project, 99, model="other")
    answer, read_so_far = read(project, limit=3, model="A & B", after=begun), []
    while answer.get_json()["items"]:
        read_so_far += numbers(answer.get_json())
        answer = project.get(answer.headers["Link"].removeprefix("<").removesuffix('>; rel="next"'))
        assert answer.status_code == 200
    assert read_so_far == list(range(7))
    found = answer.get_json()
    assert found["next"] == found["head"]
    tell(project, 7)
    assert numbers(page(project, after=found["next"])) == [7]


def test_now_is_behind_everything_and_an_instant_before_what_was_recorded_from_then_on(project: Project) -> None:
    tell(project, 1, 2)
    assert page(project, after="now")["items"] == []
    with project.house.database.reading() as connection:
        between = connection.scalar(text("SELECT clock_timestamp()"))
    tell(project, 3, 4)
    assert numbers(page(project, after=between.isoformat())) == [3, 4]
    assert numbers(page(project, after="2001-01-01")) == [1, 2, 3, 4]
    assert numbers(page(project, after="2999-01-01T00:00Z")) == []
    assert page(project, after="2999-01-01")["next"] == page(project)["head"]


def test_the_cursor_moves_on_where_the_types_leave_everything_out(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.operations.events.MOST_SCANNED", 4)
    tell(project, *range(10))
    tell(project, 10, kind="claim.flipped")
    cursors, found = [], page(project, type="claim.*")
    while not found["items"]:
        cursors.append(found["next"])
        found = page(project, type="claim.*", after=found["next"])
    assert len(cursors) == len(set(cursors)) == 2
    assert numbers(found) == [10]


def test_types_are_joined_by_or_and_names_by_and(project: Project) -> None:
    tell(project, 1, model="A", metric="loss")
    tell(project, 2, model="A", metric="accuracy")
    tell(project, 3, model="B", metric="accuracy", kind="claim.flipped")
    tell(project, 4, kind="claim.judged")
    assert numbers(page(project, type=["claim.flipped", "grid.*"])) == [1, 2, 3]
    assert numbers(page(project, type="*")) == numbers(page(project, type=["claim.*", "*"])) == numbers(page(project))
    refused = project.get(f"projects/{project.slug}/events?type=grid.*&type=claim.flipped,alert.*")
    [fault] = refused.get_json()["errors"]
    assert (refused.status_code, fault["pointer"]) == (422, "/type/1")
    assert fault["detail"].startswith('did you mean "claim.flipped"? It must be one of *, grid.*, items.*, ')
    assert numbers(page(project, model="A", metric="accuracy")) == [2]
    assert numbers(page(project, model="C")) == []
    tell(project, 5, model="A", variant="")
    assert numbers(page(project, variant="")) == [5]


def test_the_database_and_a_stream_leave_out_the_same_events(project: Project) -> None:
    for number, kind in enumerate(TYPES):
        tell(project, number, kind=kind, model="AB"[number % 2], count=number)
    chosen = [
        Wanted(),
        Wanted(("claim.*", "grid.deleted")),
        Wanted(without=("share.", "token.")),
        Wanted(("grid.*",), ("grid.p",), {"model": "A"}),
        Wanted(names={"model": "B", "metric": "x"}),
    ]
    for wanted in chosen:
        with project.house.database.reading() as connection:
            everything = read_events(connection, project.id, 0, 100).events
            found = read_events(connection, project.id, 0, 100, wanted).events
        assert [one.id for one in found] == [one.id for one in everything if wanted.holds(one.type, one.data)]


def test_only_administrators_are_told_of_tokens_shares_and_webhooks(house: House) -> None:
    project = house.make_project("public")
    for number, kind in enumerate(["token.created", "share.revoked", "webhook.disabled", "grid.published"]):
        tell(project, number, kind=kind)
    assert numbers(page(project, "admin")) == [0, 1, 2, 3]
    anyone = house.call("GET", f"projects/{project.slug}/events").get_json()
    assert numbers(page(project, "writer")) == numbers(anyone) == [3]
    assert numbers(page(project, "writer", type="token.*")) == []
    tags = {read(project, role).headers["ETag"] for role in ("admin", "writer")}
    assert len(tags) == 2


def test_a_share_opens_the_events_below_its_path_and_no_others(project: Project) -> None:
    tell(project, 1)

    def shared(path: str) -> str:
        made = project.call("POST", f"projects/{project.slug}/shares", "admin", json={"path": path})
        return str(made.get_json()["url"]).partition("share=")[2]

    whole, cells = f"/api/v1/projects/{project.slug}", f"/api/v1/projects/{project.slug}/cells"
    asked = f"projects/{project.slug}/events?type=grid.*&share="
    found = project.house.call("GET", asked + shared(whole))
    assert numbers(found.get_json()) == [1]
    following = found.headers["Link"].removeprefix("<").removesuffix('>; rel="next"')
    assert project.house.call("GET", following).status_code == 200
    assert project.house.call("GET", asked + shared(cells)).status_code == 401


WRONG = [
    "after=AAAA", "after=", "after=%00", "after=2026-13-01", "after=2026-11-23T99:00", "after=head&after=now",
    "after=" + "A" * 4000, "after=%F0%9F%98%80%F0%9F%98%80%F0%9F%98%80", "type=claims.*", "type=claim.",
    "type=claim.flipped,alert.*", "type=**", "type=", "limit=0", "limit=1001", "cursor=AAAA", "model=",
    "model=a&model=b", "suite=x", "after=0",
]  # fmt: skip


def test_a_wrong_question_is_refused_with_its_place(project: Project, subtests: pytest.Subtests) -> None:
    for query in WRONG:
        with subtests.test(query[:60]):
            answer = project.get(f"projects/{project.slug}/events?{query}")
            assert answer.status_code == 422, answer.text
            assert answer.get_json()["errors"][0]["pointer"].split("/")[1] == query.partition("=")[0]


def test_a_forged_cursor_and_one_of_another_project_are_refused(project: Project) -> None:
    tell(project, *range(300))
    cursor = page(project, limit=260)["next"]
    raw = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    forged = [bytes([2]) + raw[1:], raw[:-1] + bytes([raw[-1] ^ 1]), raw[:-2] + b"\0" + raw[-2:], raw + b"\0" * 8]
    for one in forged:
        sent = urlsafe_b64encode(one).rstrip(b"=").decode()
        assert read(project, after=sent).status_code == 422
    swapped = cursor[:-1] + ("B" if cursor[-1] != "B" else "C")
    assert read(project, after=swapped).status_code == 422
    other = project.house.make_project()
    answer = read(other, after=cursor)
    assert answer.status_code == 422
    assert answer.get_json()["errors"][0]["detail"] == "is not a cursor of this project's events"
    assert read(other, headers=STREAM | {"Last-Event-ID": cursor}).status_code == 422


def test_a_cursor_that_is_older_than_what_is_kept_is_told_where_the_rest_begins(project: Project) -> None:
    tell(project, *range(1, 7))
    second, fourth = (page(project, limit=count)["next"] for count in (2, 4))
    change(project, "first = 5", "position < 5")
    assert numbers(page(project)) == [5, 6]
    assert numbers(page(project, after=fourth)) == [5, 6]
    answer = read(project, after=second)
    problem = answer.get_json()
    assert (answer.status_code, problem["type"]) == (410, "/docs#problem-cursor_expired")
    assert numbers(page(project, after=problem["first"])) == [5, 6]
    assert read(project, headers=STREAM | {"Last-Event-ID": second}).status_code == 410


def test_a_cursor_of_a_time_before_the_database_was_restored_is_expired(project: Project) -> None:
    tell(project, 1, 2, 3)
    seen = page(project)["next"]
    change(project, "position = 1", "position > 1")
    answer = read(project, after=seen)
    assert answer.status_code == 410
    assert numbers(page(project, after=answer.get_json()["first"])) == [1]


def test_a_reader_waits_for_the_first_event_that_it_wants(project: Project) -> None:
    tell(project, 1)
    seen, answered = page(project)["next"], []
    asking = threading.Thread(
        target=lambda: answered.append(
            read(project, after=seen, type="claim.*", headers={"Prefer": "wait=20"}).get_json()
        )
    )
    asking.start()
    tell(project, 2)
    tell(project, 3, kind="claim.flipped")
    asking.join(60)
    [found] = answered
    assert numbers(found) == [3]


def test_a_wait_that_ends_is_answered_with_nothing_and_a_stopping_process_waits_for_nobody(house: House) -> None:
    app = create_app(house.settings)  # of its own: one that stops has stopped for good
    project = House(app, house.database, house.settings).make_project()
    seen = page(project)["next"]
    answer = read(project, after=seen, headers={"Prefer": "wait=1"})
    assert answer.headers["Preference-Applied"] == "wait=1"
    assert answer.get_json() == {"items": [], "next": seen, "head": seen}
    app.extensions["registry"].stopping.set()
    assert read(project, after=seen, headers={"Prefer": "wait=30"}).get_json()["items"] == []


def test_cloud_events_have_a_source_a_type_of_ours_and_sort_by_their_sequence(project: Project) -> None:
    tell(project, 1, model="A")
    tell(project, 2, kind="claim.flipped")
    answer = read(project, headers={"Accept": "application/cloudevents-batch+json"})
    assert answer.content_type.partition(";")[0] == "application/cloudevents-batch+json"
    first, second = json.loads(answer.data)
    [plain, _] = page(project)["items"]
    assert first == {
        "specversion": "1.0",
        "id": plain["id"],
        "source": f"{project.house.settings.url}/api/v1/projects/{project.slug}",
        "type": "org.results-registry.grid.published",
        "subject": "grids/1",
        "time": plain["time"],
        "datacontenttype": "application/json",
        "sequence": "0000000000000000001",
        "data": {"number": 1, "model": "A"},
    }
    assert second["sequence"] > first["sequence"]
    assert "after=" in answer.headers["Link"]


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
