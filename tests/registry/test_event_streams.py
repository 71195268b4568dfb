"""Streams of events: where they begin, resume and end, how many there are, and what they ask of the database."""

import gc
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import event, text
from werkzeug.test import TestResponse

from registry import create_app
from registry.api import event_streams, event_watch
from registry.api.event_watch import EventWatch
from registry.errors import Unavailable
from tests.house import House, Project
from tests.told import first, messages, numbers, tell

STREAM = {"Accept": "text/event-stream"}


@contextmanager
def listening(project: Project, role: str | None = "reader", **query: Any) -> Iterator[tuple[TestResponse, Any]]:
    """A stream and its messages."""
    headers = STREAM | query.pop("headers", {})
    token = None if role is None else project.tokens[role]
    answer = project.house.call(
        "GET", f"projects/{project.slug}/events", token=token, headers=headers, query_string=query
    )
    assert answer.status_code == 200, answer.text
    try:
        yield answer, messages(answer.iter_encoded())
    finally:
        answer.close()


@pytest.fixture(scope="module")
def listened(house: House) -> Iterator[House]:
    """An application whose threads end with these tests."""
    app = create_app(house.settings)
    yield House(app, house.database, house.settings)
    app.extensions["registry"].stopping.set()


@pytest.fixture
def own(listened: House) -> Project:
    return listened.make_project()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams whose heartbeats and checks come soon."""
    monkeypatch.setattr(event_streams, "HEARTBEAT", 0.05)
    monkeypatch.setattr(event_watch, "LOOK_EVERY", 0.02)
    monkeypatch.setattr(event_watch, "CHECK_EVERY", 0.02)


def test_a_stream_begins_at_the_head_and_tells_what_happens_then(project: Project) -> None:
    tell(project, 1, 2)
    with listening(project) as (answer, told):
        assert answer.content_type == "text/event-stream; charset=utf-8"
        assert answer.headers["X-Accel-Buffering"] == "no"
        begun = next(told)
        assert 3000 <= int(begun["retry"]) < 4500
        assert begun["id"] == project.get(f"projects/{project.slug}/events").get_json()["head"]
        tell(project, 3)
        tell(project, 4)
        assert numbers(first(told, 2)) == [3, 4]


def test_a_stream_resumes_in_the_middle_of_a_batch(project: Project) -> None:
    tell(project, *range(300))
    item = project.get(f"projects/{project.slug}/events?limit=1").get_json()["items"][0]
    with listening(project, after="2001-01-01") as (_, told):
        seen = first(told, 150)
    assert numbers(seen) == list(range(150))
    assert json.loads(seen[0]["data"]) == item, "a stream sends what pages have"
    with listening(project, headers={"Last-Event-ID": seen[-1]["id"]}, after="now") as (_, told):
        rest = first(told, 150)
    assert numbers(rest) == list(range(150, 300))


@pytest.mark.usefixtures("hasty")
def test_types_and_administration_are_left_out_and_the_id_moves_on(own: Project) -> None:
    with listening(own, type=["claim.*", "token.*"]) as (_, told):
        begun = next(told)
        tell(own, 1)
        tell(own, 2, kind="token.created")
        moved = next(one for one in told if one.get("id", begun["id"]) != begun["id"])
        assert "data" not in moved
        tell(own, 3, kind="claim.flipped")
        assert numbers([next(one for one in told if "data" in one)]) == [3]
    with listening(own, "admin", after="2001-01-01", type="token.*") as (_, told):
        assert numbers(first(told, 1)) == [2]


@pytest.mark.usefixtures("hasty")
def test_a_silent_stream_sends_comments(own: Project) -> None:
    with listening(own) as (answer, _):
        pieces = answer.iter_encoded()
        next(pieces)
        assert next(pieces) == b":\n\n"


def test_a_stream_ends_by_itself_with_all_that_was_told(own: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_streams, "LONGEST", 0.0)
    tell(own, 1)
    with listening(own, after="2001-01-01") as (_, told):
        assert [one.get("data") for one in told] == [None]


@pytest.mark.parametrize("often", [0.02, 3600.0])
def test_the_stream_of_who_may_read_no_more_ends_before_the_next_event(
    own: Project, hasty: None, monkeypatch: pytest.MonkeyPatch, often: float
) -> None:
    """A token and a share are revoked, and a project is public no more."""
    monkeypatch.setattr(event_watch, "CHECK_EVERY", often)
    home = f"projects/{own.slug}"
    token = own.call("GET", "whoami", "reader").get_json()["id"]
    shared = own.call("POST", f"{home}/shares", "admin", json={"path": f"/api/v1/{home}"}).get_json()
    share = shared["url"].partition("share=")[2]
    private, public = ({"visibility": visibility} for visibility in ("private", "public"))
    for role, query, opened, ends in (
        ("reader", {}, None, ("DELETE", f"{home}/tokens/{token}", None)),
        (None, {"share": share}, None, ("DELETE", f"{home}/shares/{shared['id']}", None)),
        (None, {}, public, ("PATCH", home, private)),
    ):
        if opened:
            assert own.call("PATCH", home, "admin", json=opened).status_code == 200
        with listening(own, role, **query) as (_, told):
            next(told)
            method, path, body = ends
            assert own.call(method, path, "admin", json=body).status_code in (200, 204)
            tell(own, 1)
            assert [one for one in told if "data" in one] == []


def test_one_stream_too_many_is_refused_none_is_left_taken_and_all_end_with_the_process(house: House) -> None:
    settings = replace(house.settings, max_streams=4)
    app = create_app(settings)
    project = House(app, house.database, settings).make_project()
    path = f"projects/{project.slug}/events"
    opened = [project.call("GET", path, role, headers=STREAM) for role in ("reader", "reader", "writer", "admin")]
    assert [one.status_code for one in opened] == [200] * 4
    refused = project.call("GET", path, "admin", headers=STREAM)
    assert refused.status_code == 503
    assert 3 <= int(refused.headers["Retry-After"]) <= 9
    assert project.call("GET", path, "admin").status_code == 200
    opened[3].close()
    assert project.call("GET", path, "reader", headers=STREAM).status_code == 503, "half of them are one caller's"
    last = project.call("GET", path, "admin", headers=STREAM)
    assert last.status_code == 200
    for one in (*opened[:3], last):
        one.close()
    assert len(app.extensions["registry"].streams) == 0
    with listening(project) as (_, told):
        next(told)
        app.extensions["registry"].stopping.set()
        assert list(told) == [], "streams end at once when the process is to end"


def test_who_connects_many_times_leaves_nothing_behind(own: Project) -> None:
    """What is asked for with HEAD, refused, or never read takes no place either."""
    path, parts = f"projects/{own.slug}/events", own.house.app.extensions["registry"]
    places, watch = parts.streams, parts.watch
    for _ in range(300):
        assert places.take("one")
        listener = watch.enter(own.id, 0)
        watch.leave(own.id, listener)
        places.give_back("one")
    assert own.call("HEAD", path, "reader", headers=STREAM).status_code == 200
    own.call("GET", path, "reader", headers=STREAM).close()
    assert own.call("GET", f"{path}?type=x", "reader", headers=STREAM).status_code == 422
    gc.collect()
    assert (len(places), watch._rooms) == (0, {})


def test_a_listener_that_fell_behind_reads_what_it_missed(own: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_watch, "KEPT", 5)
    with listening(own) as (_, told):
        next(told)
        tell(own, *range(40))
        tell(own, *range(40, 60))
        assert numbers(first(told, 60)) == list(range(60))


def test_many_streams_ask_the_database_once(own: Project) -> None:
    """Statements of the process while forty streams each read two events, without those that open them."""
    project, asked = own, []
    database = own.house.app.extensions["registry"].database
    streams = [
        project.call("GET", f"projects/{project.slug}/events", role, headers=STREAM)
        for role in ("reader", "writer")
        for _ in range(20)
    ]
    readers = [messages(one.iter_encoded()) for one in streams]
    for one in readers:
        next(one)

    def count(*given: Any) -> None:
        asked.append(given[2])

    event.listen(database._engine, "before_cursor_execute", count)
    tell(project, 1, 2)
    found: list[list[int]] = []
    threads = [threading.Thread(target=lambda told=told: found.append(numbers(first(told, 2)))) for told in readers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [[1, 2]] * 40
    assert len([one for one in asked if "FROM events" in one]) == 1
    for one in streams:
        one.close()


def test_streams_outlive_a_database_that_is_away(own: Project, hasty: None, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    look = EventWatch._look

    def fails_at_first(self: EventWatch, rooms: Any) -> None:
        looks.append(1)
        if len(looks) < 4:
            raise Unavailable("The database does not answer.")
        look(self, rooms)

    monkeypatch.setattr(EventWatch, "_look", fails_at_first)
    with listening(own) as (_, told):
        next(told)
        tell(own, 1)
        assert numbers([next(one for one in told if "data" in one)]) == [1]


@pytest.mark.usefixtures("hasty")
def test_a_stream_ends_when_the_database_was_restored_from_before_its_position(own: Project) -> None:
    tell(own, 1, 2, 3)
    with listening(own) as (_, told):
        next(told)
        with own.house.database.transaction() as connection:
            connection.execute(text("UPDATE event_heads SET position = 1 WHERE project_id = :id"), {"id": own.id})
        assert [one for one in told if "data" in one] == []
