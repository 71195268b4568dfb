"""Pages that listen to the feed of their project: what they are about, who has one, and that they change when told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from registry.pages.live import Live
from tests.house import House, Project
from tests.pages.chromium import NEEDED, named, run, served
from tests.pages.conftest import Browser, Demo, Outline, browser


def feed_of(page: Outline) -> dict[str, str]:
    """What a page says of its feed; nothing where it has none."""
    [main] = [given for tag, given in page.attributes if tag == "main"]
    return {name: str(text) for name, text in main.items() if name in ("data-feed", "data-about", "data-seldom")}


def shared(project: Project, path: str) -> str:
    """The address of a share of this path, with its query."""
    made = project.call("POST", f"projects/{project.slug}/shares", "admin", json={"path": path})
    assert made.status_code == 201, made.text
    return str(urlsplit(made.get_json()["url"])._replace(scheme="", netloc="").geturl())


@pytest.fixture
def stranger(house: House) -> Browser:
    return browser(house)


def test_a_page_says_which_events_concern_it(house: House, stranger: Browser) -> None:
    project = house.make_project("public")
    grid = project.published()
    joined = {"kind": "experiment", "alias": "tbl", "name": "type-by-length"}
    assert project.call("POST", f"projects/{project.slug}/aliases", json=joined).status_code == 201
    found = feed_of(stranger.read(f"/grids/{grid['id']}"))
    address = urlsplit(found["data-feed"])
    assert address.path == f"/api/v1/projects/{project.slug}/events"
    assert parse_qs(address.query) == {"type": ["grid.*", "items.added", "alias.*", "statistics.*", "claim.*"]}
    about = json.loads(found["data-about"])
    assert about == {"grid": [grid["id"]], "experiment": ["type-by-length", "tbl"]}


@pytest.mark.parametrize("path", ["/", "/status", "/docs", "/sign-in"])
def test_a_page_of_no_project_listens_to_nothing(stranger: Browser, path: str) -> None:
    assert feed_of(stranger.read(path)) == {}


def test_every_page_of_a_project_has_a_feed_that_answers(house: House, stranger: Browser, impatient: None) -> None:
    project = house.make_project("public")
    grid = project.published()
    home, scope = f"/projects/{project.slug}", "experiment=type-by-length&metric=accuracy"
    for path in (
        home,
        f"{home}/claims",
        f"{home}/alerts",
        f"{home}/models",
        f"{home}/models/{grid['model']}",
        f"{home}/search?q=qwen",
        f"{home}/experiments/type-by-length",
        f"{home}/rankings?{scope}",
        f"{home}/aggregates?{scope}",
        f"{home}/lines?{scope}&x=Length",
        f"{home}/trade-offs?experiment=type-by-length",
        f"{home}/comparisons?{scope}&baseline_model=a&contender_model=b",
        f"/grids/{grid['id']}/history",
    ):
        found = feed_of(Outline(stranger.client.get(path, follow_redirects=True).text))
        assert found, path
        assert house.call("HEAD", found["data-feed"], headers={"Accept": "text/event-stream"}).status_code == 200, path


def test_who_signed_in_listens_to_a_private_project_with_the_session(house: House, stranger: Browser) -> None:
    project = house.make_project()
    stranger.post("/sign-in", {"token": project.tokens["reader"], "back": "/"})
    feed = feed_of(stranger.read(f"/projects/{project.slug}"))["data-feed"]
    assert feed.startswith(f"/data/projects/{project.slug}/events?")
    assert stranger.client.head(feed, headers={"Accept": "text/event-stream"}).status_code == 200
    assert browser(house).client.head(feed, headers={"Accept": "text/event-stream"}).status_code in (401, 404)


def test_a_share_of_one_grid_opens_no_feed_and_its_page_polls(house: House, stranger: Browser) -> None:
    project = house.make_project()
    project.published(model="Beside it")
    address = shared(project, f"/grids/{project.published()['id']}")
    assert feed_of(stranger.read(address)) == {}
    share = parse_qs(urlsplit(address).query)["share"][0]
    assert stranger.get(f"/projects/{project.slug}/events?share={share}").status_code == 401
    for path in (f"/data/projects/{project.slug}/events", f"/api/v1/projects/{project.slug}/events"):
        for accept in ("text/event-stream", "application/json", "application/atom+xml"):
            answer = stranger.client.get(f"{path}?share={share}", headers={"Accept": accept})
            assert answer.status_code in (401, 404)
            assert "Beside it" not in answer.text


def test_a_share_of_a_project_opens_its_feed_without_what_administrators_do(house: House, stranger: Browser) -> None:
    project = house.make_project()
    grid = project.published()
    feed = feed_of(stranger.read(shared(project, f"/projects/{project.slug}")))["data-feed"]
    house.compute()
    told = stranger.client.get(f"{urlsplit(feed).path}?{urlsplit(feed).query}").get_json()["items"]
    assert [one["data"]["grid"] for one in told if one["type"] == "grid.published"] == [grid["id"]]
    path, share = urlsplit(feed).path, parse_qs(urlsplit(feed).query)["share"][0]
    everything = stranger.client.get(f"{path}?share={share}").get_json()["items"]
    assert [one["type"] for one in everything if one["type"].startswith(("share.", "token."))] == []


def test_a_page_in_a_frame_polls(house: House, stranger: Browser) -> None:
    grid = house.make_project("public").published()
    assert feed_of(stranger.read(f"/embed/grids/{grid['id']}")) == {}


@pytest.mark.unit
@pytest.mark.parametrize(("told", "every", "seldom"), [(True, 2, 10), (False, 2, 2), (True, 30, 300), (False, 30, 300)])
def test_a_page_that_is_told_asks_seldom(told: bool, every: int, seldom: int) -> None:
    assert Live("/feed", {}, told).seldom(every) == seldom


@pytest.fixture(scope="module")
def seen(demo: Demo) -> Iterator[list[dict[str, Any]]]:
    """What the browser found, in one run."""
    house = demo.house
    watched, refused = house.make_project("public"), house.make_project("public")
    grid = watched.published()
    plan = {"pending": f"/grids/{grid['id']}", "refused": f"/grids/{refused.published()['id']}"}

    def others() -> None:
        watched.published(model="Another")
        watched.published(experiment="elsewhere")
        house.compute()

    def revise() -> None:
        watched.published(values=[[99.3, 10.0, 98.3], [None, 20.0, 99.7]])
        house.compute()

    acts = {"computing": house.compute, "others": others, "revising": revise}
    with served(house.app) as address:
        yield list(run("live.mjs", plan | {"base": address}, acts))


class TestInABrowser:
    pytestmark = NEEDED

    def test_a_page_that_waits_is_filled_and_a_revision_announced_when_the_stream_tells(
        self, seen: list[dict[str, Any]]
    ) -> None:
        found = named(seen, "told")
        assert found["filled"]
        assert found["announced"].startswith("Revision 2 has arrived (2 cells changed)")
        assert found["hung"].startswith("Revision 2 has arrived (2 cells changed), ")
        assert found["complaints"] == []

    def test_a_page_does_not_ask_for_what_other_grids_tell(self, seen: list[dict[str, Any]]) -> None:
        """The stream tells of the others before it tells of the revision, so they would have been asked for by then."""
        assert named(seen, "told")["asked"] == 1

    def test_a_hidden_page_closes_its_stream_and_goes_on_where_it_was(self, seen: list[dict[str, Any]]) -> None:
        found = named(seen, "hidden")
        assert found["closed"]
        assert found["quiet"] == [False, None]
        assert found["resumed"] == found["cursor"] != ""

    def test_a_page_whose_stream_is_refused_polls_and_says_when(self, seen: list[dict[str, Any]]) -> None:
        found = named(seen, "refused")
        assert (found["refused"], found["speaks"]) == (True, False)
        assert found["checked"].startswith("Checked ")

    def test_the_windows_of_a_browser_leave_it_connections(self, seen: list[dict[str, Any]]) -> None:
        assert named(seen, "windows")["speak"] == [True] * 4 + [False]
