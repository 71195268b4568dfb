"""What happened in a project, as people read it: sentences, links, kinds, older events, and who sees what."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from registry.pages.events import age
from tests.house import House
from tests.pages.conftest import Browser, browser
from tests.told import tell

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


@pytest.fixture
def stranger(house: House) -> Browser:
    return browser(house)


def test_an_act_is_a_sentence_with_a_link_and_how_long_ago_it_was(house: House, stranger: Browser) -> None:
    project = house.make_project("public")
    grid = project.published()
    gone = "00000000-0000-4000-8000-000000000000"
    tell(project, 1, kind="claim.flipped", claim=gone, verdict="contradicted", before="supported", text="A wins.")
    page = stranger.read(f"/projects/{project.slug}/events")
    assert "The claim “A wins.” is now contradicted ( it was supported before )" in page.text
    assert "The grid Core Generalization · Qwen-2.5 3B · Baseline was published ( type-by-length, " in page.text
    assert page.text.index("A wins") < page.text.index("was published")
    links = [given.get("href") for tag, given in page.attributes if tag == "a"]
    assert f"/grids/{grid['id']}" in links
    assert f"/claims/{gone}" not in links
    ages = [given["datetime"] for tag, given in page.attributes if tag == "time" and "data-age" in given]
    assert len(ages) == 2
    assert ages == sorted(ages, key=str, reverse=True)


def test_the_project_leads_to_it_and_both_name_the_feed_for_readers(house: House, stranger: Browser) -> None:
    project = house.make_project("public")
    project.published()
    house.compute()
    home = f"/projects/{project.slug}"
    overview, page = stranger.read(home), stranger.read(f"{home}/events?type=grid.*")
    assert f"{home}/events" in [given.get("href") for _, given in overview.attributes]
    for found, query in ((overview, ""), (page, "?type=grid.%2A")):
        [feed] = [given for tag, given in found.attributes if tag == "link" and given["rel"] == "alternate"]
        assert feed["type"] == "application/atom+xml"
        assert feed["href"] == f"/api/v1/projects/{project.slug}/events.atom{query}"
        assert house.call("GET", str(feed["href"])).status_code == 200


def test_a_kind_leaves_the_others_out_and_older_events_follow(house: House, stranger: Browser) -> None:
    project = house.make_project("public")
    tell(project, *range(130), kind="suite.set", suite="Of the filter")
    tell(project, *range(3), kind="alias.created", kind_="", alias="a", name="b")
    home = f"/projects/{project.slug}/events"
    assert "Of the filter" not in stranger.read(f"{home}?type=alias.*").text
    assert stranger.read(f"{home}?type=*").text.count("Of the filter") == 97
    first = stranger.read(f"{home}?type=suite.set")
    assert first.text.count("Of the filter") == 100
    [older] = [str(given["href"]) for tag, given in first.attributes if given.get("rel") == "next"]
    second = stranger.read(older)
    assert second.text.count("Of the filter") == 30
    assert [given for _, given in second.attributes if given.get("rel") == "next"] == []


@pytest.mark.parametrize("query", ["type=token.*", "type=nothing", "type=token.created", "before=0", "before=x"])
def test_what_is_no_kind_and_no_position_is_said(house: House, stranger: Browser, query: str) -> None:
    project = house.make_project("public")
    assert stranger.get(f"/projects/{project.slug}/events?{query}").status_code == 422


def test_administration_is_not_on_the_page_of_an_administrator(house: House, stranger: Browser) -> None:
    """A session reads as a reader."""
    project = house.make_project()
    tell(project, 1, kind="token.created", name="secret name")
    tell(project, 2, kind="suite.set", suite="S")
    assert stranger.get(f"/projects/{project.slug}/events").status_code == 401
    stranger.post("/sign-in", {"token": project.tokens["admin"]})
    page = stranger.read(f"/projects/{project.slug}/events")
    assert "The suite S was set" in page.text
    assert "secret name" not in page.text


def test_markup_in_names_is_text(house: House, stranger: Browser) -> None:
    project = house.make_project("public")
    tell(project, 1, kind="claim.created", text="<script>alert(1)</script>")
    assert "<script>alert(1)</script>" in stranger.read(f"/projects/{project.slug}/events").text


@pytest.mark.unit
@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (3599, "59 minutes ago"),
        (3600, "1 hour ago"),
        (86399, "23 hours ago"),
        (86400, "1 day ago"),
        (30 * 86400, "30 days ago"),
    ],
)
def test_an_age_is_in_its_largest_whole_unit(seconds: int, words: str) -> None:
    assert age(NOW, NOW - timedelta(seconds=seconds)) == words
