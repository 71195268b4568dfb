"""What happened in a project, as people read it: sentences, links, kinds, older events, and who sees what."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from registry.pages.events import age
from tests.house import House, Project
from tests.pages.conftest import Browser, browser
from tests.told import tell

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def test_an_act_is_a_sentence_with_a_link_and_how_long_ago_it_was(
    house: House, public: Project, visitor: Browser
) -> None:
    grid = public.published()
    gone = "00000000-0000-4000-8000-000000000000"
    tell(public, 1, kind="claim.flipped", claim=gone, verdict="contradicted", before="supported", text="A wins.")
    tell(public, 2, kind="claim.created", text="<script>alert(1)</script>")
    home = f"/projects/{public.slug}"
    assert "published" not in visitor.read(f"{home}/events").text, "what follows from publications is no news"
    page = visitor.read(f"{home}/events?type=*")
    assert "The claim “A wins.” is now contradicted ( it was supported before )" in page.text
    assert "The grid Core Generalization · Qwen-2.5 3B · Baseline was published ( type-by-length, " in page.text
    assert page.text.index("A wins") < page.text.index("was published")
    assert "<script>alert(1)</script>" in page.text
    assert f"/grids/{grid['id']}" in page.links()
    assert f"/claims/{gone}" not in page.links()
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
    assert "3 more grids have a new revision just now The grid X · M now has revision 2" in page.text
    assert page.text.count("more grid") == 1
    assert not visitor.read(f"{home}/events?type=grid.revised").all("summary")
    assert visitor.read(home).text.count("1 more grid has a new revision") == 1, "the overview folds them to one"


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
