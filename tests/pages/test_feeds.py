"""Pages that listen to the feed of their project: what they are about, and who has one."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from registry.pages.live import Live
from tests.house import Project
from tests.pages.conftest import Browser, Outline, browser, share

STREAM = {"Accept": "text/event-stream"}


def feed_of(page: Outline) -> dict[str, str]:
    """What a page says of its feed; nothing where it has none."""
    [main] = page.all("main")
    return {name: str(text) for name, text in main.items() if name in ("data-feed", "data-about", "data-seldom")}


def test_a_page_says_which_events_concern_it(public: Project, visitor: Browser) -> None:
    grid = public.published()
    joined = {"kind": "experiment", "alias": "tbl", "name": "type-by-length"}
    assert public.call("POST", f"projects/{public.slug}/aliases", json=joined).status_code == 201
    found = feed_of(visitor.read(f"/grids/{grid['id']}"))
    address = urlsplit(found["data-feed"])
    assert address.path == f"/api/v1/projects/{public.slug}/events"
    assert parse_qs(address.query) == {"type": ["grid.*", "items.added", "alias.*", "statistics.*", "claim.*"]}
    about = json.loads(found["data-about"])
    assert about == {"grid": [grid["id"]], "experiment": ["type-by-length", "tbl"]}


def test_every_page_of_a_project_has_a_feed_that_answers_and_others_have_none(
    public: Project, visitor: Browser
) -> None:
    grid = public.published()
    home, scope = f"/projects/{public.slug}", "experiment=type-by-length&metric=accuracy"
    of_project = (
        "", "/claims", "/alerts", "/models", f"/models/{grid['model']}", "/search?q=qwen",
        "/experiments/type-by-length", f"/rankings?{scope}", f"/aggregates?{scope}", f"/lines?{scope}&x=Length",
        "/trade-offs?experiment=type-by-length", f"/comparisons?{scope}&baseline_model=a&contender_model=b",
    )  # fmt: skip
    for path in (*(f"{home}{one}" for one in of_project), f"/grids/{grid['id']}"):
        found = feed_of(Outline(visitor.client.get(path, follow_redirects=True).text))
        assert found, path
        assert public.house.call("HEAD", found["data-feed"], headers=STREAM).status_code == 200, path
    # Pages of no project listen to nothing, and a page in a frame polls. Of one project alone `/` is the overview.
    public.house.make_project("public")
    for path in ("/", "/status", "/docs", "/sign-in", f"/embed/grids/{grid['id']}"):
        assert feed_of(visitor.read(path)) == {}, path


def test_who_signed_in_listens_to_a_private_project_with_the_session(project: Project, visitor: Browser) -> None:
    reader = browser(project.house, project.tokens["reader"])
    feed = feed_of(reader.read(f"/projects/{project.slug}"))["data-feed"]
    assert feed.startswith(f"/data/projects/{project.slug}/events?")
    assert reader.client.head(feed, headers=STREAM).status_code == 200
    assert visitor.client.head(feed, headers=STREAM).status_code in (401, 404)


def test_a_share_of_one_grid_opens_no_feed_and_its_page_polls(project: Project, visitor: Browser) -> None:
    project.published(model="Beside it")
    address = share(project, f"/grids/{project.published()['id']}")
    assert feed_of(visitor.read(address)) == {}
    query = address.partition("?")[2]
    assert visitor.get(f"/projects/{project.slug}/events?{query}").status_code == 401
    for path in (f"/data/projects/{project.slug}/events", f"/api/v1/projects/{project.slug}/events"):
        for accept in ("text/event-stream", "application/json"):
            answer = visitor.client.get(f"{path}?{query}", headers={"Accept": accept})
            assert answer.status_code in (401, 404)
            assert "Beside it" not in answer.text


def test_a_share_of_a_project_opens_its_feed_without_what_administrators_do(project: Project, visitor: Browser) -> None:
    grid, address = project.published(), share(project, f"/projects/{project.slug}")
    feed = feed_of(visitor.read(address))["data-feed"]
    project.house.compute()
    told = visitor.client.get(feed).get_json()["items"]
    assert [one["data"]["grid"] for one in told if one["type"] == "grid.published"] == [grid["id"]]
    path, query = urlsplit(feed).path, address.partition("?")[2]
    everything = visitor.client.get(f"{path}?{query}").get_json()["items"]
    assert everything
    assert [one["type"] for one in everything if one["type"].startswith(("share.", "token."))] == []


@pytest.mark.unit
def test_a_page_that_is_told_asks_seldom() -> None:
    for told, every, seldom in ((True, 2, 10), (False, 2, 2), (True, 30, 300), (False, 30, 300)):
        assert Live("/feed", {}, told).seldom(every) == seldom
