"""What happened in a project, as people read it, and how a page is told that something happened."""

import json
import re
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from registry.pages.events import age
from registry.pages.live import Live
from tests.house import House, Project
from tests.pages.conftest import Browser, Outline, browser, share
from tests.told import tell
from workers.jobs.upkeep import sequence_arrivals

GONE = "00000000-0000-4000-8000-000000000000"
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def test_an_act_is_a_sentence_with_a_link_and_how_long_ago_it_was(
    house: House, public: Project, visitor: Browser
) -> None:
    grid = public.published()
    tell(public, 1, kind="claim.flipped", claim=GONE, verdict="contradicted", before="supported", text="A wins.")
    tell(public, 2, kind="claim.created", text="<script>alert(1)</script>")
    home = f"/projects/{public.slug}"
    assert "published" not in visitor.read(f"{home}/events").text, "what follows from publications is no news"
    page = visitor.read(f"{home}/events?type=*")
    assert "The claim “A wins.” is now contradicted ( it was supported before )" in page.text
    assert "The grid Core Generalization · Qwen-2.5 3B · Baseline was published ( type-by-length, " in page.text
    assert page.text.index("A wins") < page.text.index("was published")
    assert "<script>alert(1)</script>" in page.text
    assert f"/grids/{grid['id']}" in page.links()
    assert f"/claims/{GONE}" not in page.links()
    ages = [given["datetime"] for given in page.all("time") if "data-age" in given]
    assert len(ages) == 3
    assert ages == sorted(ages, reverse=True)
    assert f"{home}/events" in visitor.computed(home).links(), "the project leads to it"


def test_revised_grids_are_news_though_no_rank_moves_and_beyond_five_they_are_folded(
    public: Project, visitor: Browser
) -> None:
    tell(public, 1, kind="baseline.deleted", baseline="b", version=1)
    tell(public, *range(8), kind="grid.revised", benchmark="X", model="M", revision=2)
    tell(public, 1, kind="baseline.deleted", baseline="c", version=1)
    tell(public, *range(2), kind="grid.revised", benchmark="Y", model="M", revision=3)
    home = f"/projects/{public.slug}"
    page = visitor.read(f"{home}/events")
    assert page.text.count("The grid X · M now has revision 2") == 8
    assert "3 more new revisions just now The grid X · M now has revision 2" in page.text
    assert page.text.count("more new") == 1
    assert not visitor.read(f"{home}/events?type=grid.revised").all("summary")
    assert visitor.read(home).text.count("1 more new revision ") == 1, "the overview folds them to one"


def test_a_revision_that_changed_labels_alone_is_no_news(public: Project, visitor: Browser) -> None:
    """The second revision has other labels, the third another value, the fourth again other labels."""
    for value, sha in ((1.0, "a"), (1.0, "b"), (2.0, "b"), (2.0, "c")):
        public.published(axes=[], values=value, labels={"git_sha": sha})
    sequence_arrivals(public.house.database)
    home = f"/projects/{public.slug}"

    def told(path: str) -> list[str]:
        return sorted(set(re.findall(r"now has revision (\d)", visitor.read(path).text)))

    assert told(home) == told(f"{home}/events") == ["3"]
    assert told(f"{home}/events?type=*") == told(f"{home}/events?type=grid.revised") == ["2", "3", "4"]


def test_the_overview_tells_other_orders_first_and_leaves_room_for_the_rest(public: Project, visitor: Browser) -> None:
    home = f"/projects/{public.slug}"
    tell(public, *range(4), kind="claim.flipped", claim=GONE, verdict="contradicted", before="supported", text="Old.")
    tell(public, 1, kind="claim.flipped", claim=GONE, verdict="contradicted", before="supported", text="A wins.")
    for name in "abcde":
        tell(public, 1, kind="baseline.deleted", baseline=name, version=1)
        tell(public, *range(2), kind="grid.revised", benchmark="X", model="M", revision=2)
    text = visitor.read(home).text.split("What changed lately")[1]
    assert text.count("is now contradicted") == 3, "of five news"
    assert text.index("A wins.") < text.index("Old.") < text.index("now has revision 2") < text.index("baseline e")
    every = visitor.read(f"{home}/events").text
    assert every.index("now has revision 2") < every.index("A wins."), "the activity has the order of time"


def test_a_kind_leaves_the_others_out_and_older_events_follow(public: Project, visitor: Browser) -> None:
    tell(public, *range(130), kind="suite.set", suite="Of the filter")
    tell(public, *range(3), kind="alias.created", kind_="", alias="a", name="b")
    home = f"/projects/{public.slug}/events"
    assert "Of the filter" not in visitor.read(f"{home}?type=alias.*").text
    assert visitor.read(f"{home}?type=*").text.count("Of the filter") == 97
    pages = list(visitor.follow(f"{home}?type=suite.set"))
    assert [page.text.count("Of the filter") for page in pages] == [100, 30]
    for query in ("type=token.*", "type=nothing", "type=token.created", "before=0", "before=x"):
        assert visitor.get(f"{home}?{query}").status_code == 422, query


def test_administration_is_not_on_the_page_of_an_administrator(project: Project, visitor: Browser) -> None:
    """A session reads as a reader."""
    tell(project, 1, kind="token.created", name="secret name")
    tell(project, 2, kind="suite.set", suite="S")
    path = f"/projects/{project.slug}/events"
    assert visitor.get(path).status_code == 401
    page = browser(project.house, project.tokens["admin"]).read(f"{path}?type=*")
    assert "The suite S was set" in page.text
    assert "secret name" not in page.text


@pytest.mark.unit
def test_an_age_is_in_its_largest_whole_unit() -> None:
    for seconds, words in {
        -5: "just now",
        59: "just now",
        60: "1 minute ago",
        3599: "59 minutes ago",
        3600: "1 hour ago",
        86399: "23 hours ago",
        86400: "1 day ago",
        30 * 86400: "30 days ago",
    }.items():
        assert age(NOW, NOW - timedelta(seconds=seconds)) == words


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
