"""Searching on the pages: over the projects that a visitor may see, and over one of them."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest

from tests.house import ACCURACY, ENDED, House, Project, publication
from tests.pages.conftest import Browser, Demo, browser

PLACES = ("/search", "/projects/demo/search")


@pytest.fixture(scope="module")
def many(house: House) -> Iterator[Project]:
    """A public project of 1,000 grids: 125 models, 4 experiments, 2 benchmarks, each with two labels."""
    project = house.make_project("public")
    one = {"axes": [], "values": 1.0, "trials": None, "metric": ACCURACY, "variant": ""}
    grids = [
        publication(
            experiment=f"sweep-{n % 4}", benchmark=f"bench-{n // 4 % 2}", model=f"maker/model-{n // 8}-instruct",
            labels={"run": f"r{n}", "host": "node"}, **one,
        )
        for n in range(1000)
    ]  # fmt: skip
    answer = project.call("POST", f"projects/{project.slug}/grids/batch", json=grids)
    assert {item["status"] for item in answer.get_json()["items"]} == {201}
    yield project
    house.call("DELETE", f"projects/{project.slug}?cascade=true", token=house.operator)
    ENDED.append(project)


def test_each_kind_of_result_is_counted_and_leads_to_all_of_them(many: Project, visitor: Browser) -> None:
    home = f"/projects/{many.slug}"
    page = visitor.read(f"{home}/search?q=model+instruct")
    assert "12 of 125 models" in page.text
    assert "20 of 1,000 grids" in page.text
    assert {f"{home}/models?q=model+instruct", f"{home}/grids?q=model+instruct"} <= set(page.links())
    assert f"{home}/models/maker/model-0-instruct" in page.links()
    assert "50 of 1,000 grids are on this page" in visitor.read(f"{home}/grids?q=model+instruct").text
    names = visitor.read(f"{home}/models?q=model+instruct")
    assert "100 of 125 models with these words are on this page" in names.text
    # A label is found with how many grids have it.
    page = visitor.read(f"{home}/search?q=r999")
    assert "1 of 1 label" in page.text
    assert "run=r999" in page.texts
    assert "1 of 1 grid" in page.text
    [href] = page.links("label.run")
    assert "maker/model-124-instruct" in visitor.read(href).text
    assert "12 of 1,000 labels" in visitor.read(f"{home}/search?q=run").text


def test_no_page_of_a_large_project_weighs_more_than_60_kilobytes(many: Project, visitor: Browser) -> None:
    for path in (
        "", "/grids?q=model", "/grids?model=maker/model-0-instruct&model=maker/model-1-instruct",
        "/search?q=e", "/models", "/benchmarks", "/experiments", "/metrics", "/models/maker/model-7-instruct",
        "/benchmarks/bench-1", "/metrics/accuracy",
    ):  # fmt: skip
        answer = visitor.get(f"/projects/{many.slug}{path}")
        assert answer.status_code == 200
        assert len(answer.data) <= 60_000


def test_names_that_begin_with_the_word_come_first_and_then_those_of_most_grids(
    public: Project, visitor: Browser
) -> None:
    for model, benchmarks in (("my qwen", "abc"), ("qwen small", "a"), ("qwen large", "ab")):
        for benchmark in benchmarks:
            public.published(model=model, benchmark=benchmark)
    page = visitor.read(f"/projects/{public.slug}/search?q=qwen")
    found = [text for text in page.texts if text in ("my qwen", "qwen small", "qwen large")]
    assert found[:3] == ["qwen large", "qwen small", "my qwen"]


def test_only_projects_that_the_visitor_may_see_are_searched(
    project: Project, public: Project, visitor: Browser
) -> None:
    project.published(model="xylophone-7b")
    public.published(model="Xylophone-8b", benchmark="marimba")
    stranger = visitor.read("/search?q=xylophone")
    assert public.slug in stranger.texts
    assert project.slug not in stranger.text
    reader = browser(project.house, project.tokens["reader"])
    page = reader.read("/search?q=XYLOPHONE")
    assert {public.slug, project.slug} <= set(page.texts)
    assert "2 of 2 projects" in page.text
    assert {f"/projects/{project.slug}/models/xylophone-7b", f"/projects/{public.slug}/models/Xylophone-8b"} <= set(
        page.links()
    )
    assert f"/projects/{project.slug}/search?q=XYLOPHONE" in page.links()
    assert "1 of 1 project" in reader.read("/search?q=xylophone+marimba").text
    assert visitor.get(f"/projects/{project.slug}/search?q=xylophone").status_code == 401


def test_any_text_can_be_searched_for_and_what_cannot_is_said_above_the_box(guest: Browser) -> None:
    for place in PLACES:
        for text in ("%", "_", "\\", "%25", "<script>alert(1)</script>", "\u202eabc", "שלום", "'; --", "🦙"):
            page = guest.read(f"{place}?q={quote(text)}")
            assert [given.get("value") for _, given in page.attributes if given.get("name") == "q"] == [text]
        for text in ("a\0b", "x" * 10_000, "a b c d e f g h i"):
            page = guest.read(f"{place}?q={quote(text)}", 422)
            assert "This cannot be answered: q " in page.text
            assert len(guest.get(f"{place}?q={quote(text)}").data) < 60_000
        for nothing in ("", "?q=+"):
            assert "in any order" in guest.read(f"{place}{nothing}").text


def test_each_page_has_the_search_of_its_project_or_of_all_in_its_head(demo: Demo, guest: Browser) -> None:
    home = "/projects/demo"
    of_project = ("", "/rankings", "/comparisons", "/experiments/window-by-ratio", "/models", "/search")
    actions = dict.fromkeys((demo.seed0, *(f"{home}{path}" for path in of_project)), f"{home}/search")
    for path, action in (actions | {"/": f"{home}/search"} | dict.fromkeys(("/status", "/docs"), "/search")).items():
        [box] = guest.read(path).all("form", role="search")
        assert (box["action"], box["method"]) == (action, "get"), path


def test_the_front_page_lists_the_latest_used_first_with_counts(house: House, visitor: Browser) -> None:
    first, second = house.make_project("public"), house.make_project("public")
    for project in (second, first):
        project.published(model="a")
    first.published(model="b")
    page = visitor.read("/")
    assert page.text.index(first.slug) < page.text.index(second.slug)
    second.published(model="b")
    page = visitor.read("/")
    assert page.text.index(second.slug) < page.text.index(first.slug)
    row = page.text[page.text.index(second.slug) :].split(" UTC")[0]
    assert row.startswith(f"{second.slug} 2 ")


def test_the_front_page_comes_in_pages_without_a_gap(own: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("registry.pages.project._PROJECTS", 2)
    made = {f"/projects/{own.make_project('public').slug}" for _ in range(5)}
    visitor = browser(own)
    seen = [href for page in visitor.follow("/") for href in page.links() if href.startswith("/projects/")]
    assert len(seen) == len(set(seen))
    assert set(seen) == made
    for wrong in ("x", "1~", "1~A", "~a", "f" * 15 + "~a"):
        assert visitor.get(f"/?after={wrong}").status_code == 422
