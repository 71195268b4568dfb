"""Searching on the pages: over the projects that a visitor may see, and over one of them."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest

from tests.house import ACCURACY, House, Project, publication
from tests.pages.conftest import Browser, Demo, Outline, browser

pytestmark = pytest.mark.usefixtures("impatient")


def links(page: Outline) -> list[str]:
    return [given["href"] or "" for tag, given in page.attributes if tag == "a"]


@pytest.fixture(scope="module")
def many(request: pytest.FixtureRequest) -> Iterator[Project]:
    """A public project of 5,000 grids: 250 models, 4 experiments, 5 benchmarks, each with two labels."""
    house: House = request.getfixturevalue("house")
    project = house.make_project("public")
    one = {"axes": [], "values": 1.0, "trials": None, "metric": ACCURACY, "variant": ""}
    grids = [
        publication(
            experiment=f"sweep-{n % 4}", benchmark=f"bench-{n // 4 % 5}", model=f"maker/model-{n // 20}-instruct",
            labels={"run": f"r{n}", "host": "node"}, **one,
        )
        for n in range(5000)
    ]  # fmt: skip
    for start in range(0, 5000, 1000):
        answer = project.call("POST", f"projects/{project.slug}/grids/batch", json=grids[start : start + 1000])
        assert {item["status"] for item in answer.get_json()["items"]} == {201}
    yield project
    house.call("DELETE", f"projects/{project.slug}", token=house.operator)


def test_each_kind_of_result_is_counted_and_leads_to_all_of_them(many: Project) -> None:
    home = f"/projects/{many.slug}"
    page = browser(many.house).read(f"{home}/search?q=model+instruct")
    assert "12 of 250 models" in page.text
    assert "20 of 5,000 grids" in page.text
    assert f"{home}/models?q=model+instruct" in links(page)
    assert f"{home}/grids?q=model+instruct" in links(page)
    assert f"{home}/models/maker/model-0-instruct" in links(page)
    listed = browser(many.house).read(f"{home}/grids?q=model+instruct")
    assert "50 of 5,000 grids are on this page" in listed.text
    names = browser(many.house).read(f"{home}/models?q=model+instruct")
    assert "100 of 250 models with these words are on this page" in names.text


def test_a_label_is_found_with_how_many_grids_have_it(many: Project) -> None:
    page = browser(many.house).read(f"/projects/{many.slug}/search?q=r4999")
    assert "1 of 1 label" in page.text
    assert "run=r4999" in page.texts
    assert "1 of 1 grid" in page.text
    [href] = [href for href in links(page) if "label.run" in href]
    assert "maker/model-249-instruct" in browser(many.house).read(href).text
    assert "12 of 5,000 labels" in browser(many.house).read(f"/projects/{many.slug}/search?q=run").text


@pytest.mark.parametrize(
    "path",
    [
        "", "?q=model", "?model=maker/model-0-instruct&model=maker/model-1-instruct", "/search?q=e", "/models",
        "/benchmarks", "/experiments", "/metrics", "/models/maker/model-7-instruct", "/benchmarks/bench-1",
        "/metrics/accuracy",
    ],
)  # fmt: skip
def test_no_page_of_a_large_project_weighs_more_than_60_kilobytes(many: Project, path: str) -> None:
    answer = browser(many.house).get(f"/projects/{many.slug}{path}")
    assert answer.status_code == 200
    assert len(answer.data) <= 60_000


def test_names_that_begin_with_the_word_come_first_and_then_those_of_most_grids(project: Project) -> None:
    for model, benchmarks in (("my qwen", "abc"), ("qwen small", "a"), ("qwen large", "ab")):
        for benchmark in benchmarks:
            project.published(model=model, benchmark=benchmark)
    visitor = browser(project.house)
    visitor.post("/sign-in", {"token": project.tokens["reader"]})
    page = visitor.read(f"/projects/{project.slug}/search?q=qwen")
    found = [text for text in page.texts if text in ("my qwen", "qwen small", "qwen large")]
    assert found[:3] == ["qwen large", "qwen small", "my qwen"]


def test_only_projects_that_the_visitor_may_see_are_searched(house: House, project: Project) -> None:
    project.published(model="xylophone-7b")
    open_ = house.make_project("public")
    open_.published(model="Xylophone-8b", benchmark="marimba")
    stranger = browser(house).read("/search?q=xylophone")
    assert open_.slug in stranger.texts
    assert project.slug not in stranger.text
    reader = browser(house)
    reader.post("/sign-in", {"token": project.tokens["reader"]})
    page = reader.read("/search?q=XYLOPHONE")
    assert {open_.slug, project.slug} <= set(page.texts)
    assert "2 of 2 projects" in page.text
    assert f"/projects/{project.slug}/search?q=XYLOPHONE" in links(page)
    both = reader.read("/search?q=xylophone+marimba")
    assert "1 of 1 project" in both.text
    assert browser(house).get(f"/projects/{project.slug}/search?q=xylophone").status_code == 401


@pytest.mark.parametrize("place", ["/search", "/projects/demo/search"])
@pytest.mark.parametrize(
    "text", ["%", "_", "\\", "%25", "<script>alert(1)</script>", "\u202eabc", "שלום", "'; --", "🦙"]
)
def test_any_text_can_be_searched_for(guest: Browser, place: str, text: str) -> None:
    page = guest.read(f"{place}?q={quote(text)}")
    assert [given.get("value") for _, given in page.attributes if given.get("name") == "q"] == [text]


@pytest.mark.parametrize("place", ["/search", "/projects/demo/search"])
@pytest.mark.parametrize("text", ["a\0b", "x" * 10_000, "a b c d e f g h i"])
def test_what_cannot_be_searched_for_is_said_above_the_box(guest: Browser, place: str, text: str) -> None:
    page = guest.read(f"{place}?q={quote(text)}", 422)
    assert "This cannot be answered: /q" in page.text
    assert len(guest.get(f"{place}?q={quote(text)}").data) < 60_000


def test_an_empty_search_says_what_can_be_typed(guest: Browser) -> None:
    assert "in any order" in guest.read("/projects/demo/search").text
    assert "in any order" in guest.read("/projects/demo/search?q=+").text
    assert "in any order" in guest.read("/search").text


@pytest.mark.parametrize(
    "path", ["", "/rankings", "/comparisons", "/experiments/window-by-ratio", "/models", "/search"]
)
def test_every_page_of_a_project_has_the_search_of_that_project_in_its_head(guest: Browser, path: str) -> None:
    page = guest.read(f"/projects/demo{path}")
    [box] = [given for tag, given in page.attributes if tag == "form" and given.get("role") == "search"]
    assert (box["action"], box["method"]) == ("/projects/demo/search", "get")


def test_the_page_of_a_grid_searches_its_project_and_other_pages_all(demo: Demo, guest: Browser) -> None:
    boxes = {
        path: [given["action"] for tag, given in guest.read(path).attributes if given.get("role") == "search"]
        for path in (demo.seed0, "/", "/status", "/docs")
    }
    assert boxes == {
        demo.seed0: ["/projects/demo/search"],
        "/": ["/search"],
        "/status": ["/search"],
        "/docs": ["/search"],
    }


def test_the_front_page_lists_the_latest_used_first_with_counts(house: House) -> None:
    first, second = house.make_project("public"), house.make_project("public")
    for project in (second, first):
        project.published(model="a")
    first.published(model="b")
    page = browser(house).read("/")
    assert page.text.index(first.slug) < page.text.index(second.slug)
    second.published(model="b")
    page = browser(house).read("/")
    assert page.text.index(second.slug) < page.text.index(first.slug)
    row = page.text[page.text.index(second.slug) :].split(" UTC")[0]
    assert row.startswith(f"{second.slug} {second.slug} everyone 2 ")


def test_the_front_page_comes_in_pages_without_a_gap(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("registry.pages.project._PROJECTS", 2)
    made = {house.make_project("public").slug for _ in range(3)}
    path, seen, visitor = "/", [], browser(house)
    while path:
        page = visitor.read(path)
        seen += [href for href in links(page) if href.startswith("/projects/")]
        path = next((given["href"] or "" for _, given in page.attributes if given.get("rel") == "next"), "")
    assert len(seen) == len(set(seen))
    assert {f"/projects/{slug}" for slug in made} <= set(seen)
    for wrong in ("x", "1~", "1~A", "~a", "f" * 15 + "~a"):
        assert visitor.get(f"/?after={wrong}").status_code == 422
