"""Long lists and searches: every row can be reached, counted and found, and no page is heavy."""

import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from tests.house import ACCURACY, ENDED, House, Project, publication
from tests.pages.conftest import Browser, Demo, browser, share
from tests.workers.asking import join

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
    assert "100 of 125 names of models with these words are on this page" in names.text
    # A label is found with how many grids have it.
    page = visitor.read(f"{home}/search?q=r999")
    assert "1 of 1 label" in page.text
    assert "run=r999" in page.texts
    assert "1 of 1 grid" in page.text
    [href] = page.links("label.run")
    assert "maker/model-124-instruct" in visitor.read(href).text
    assert "12 of 1,000 labels" in visitor.read(f"{home}/search?q=run").text


@pytest.mark.parametrize("path", ["grids?model=", "models?theme=dark"])
def test_the_data_of_a_second_page_begin_where_the_page_does(many: Project, visitor: Browser, path: str) -> None:
    first = visitor.read(f"/projects/{many.slug}/{path}")
    [turn] = {href for href in first.links("cursor=") if not href.startswith("/api")}
    page = visitor.read(turn)
    [data] = [href for href in page.links("cursor=") if href.startswith("/api")]
    begins = many.house.call("GET", data.removeprefix("/api/v1/")).get_json()["items"][0]
    assert (begins["id"] in "".join(page.links("/grids/"))) if "id" in begins else (begins["name"] in page.texts)


def test_a_suite_is_found_and_the_choice_of_an_experiment_keeps_it(many: Project, visitor: Browser) -> None:
    home = f"/projects/{many.slug}"
    many.call("PUT", f"projects/{many.slug}/suites/Reasoning", json={"benchmarks": ["bench-0"]})
    page = visitor.read(f"{home}/search?q=reas")
    assert "1 of 1 suite" in page.text
    [href] = page.links("suite=Reasoning")
    assert href in visitor.read("/search?q=reasoning").links()
    choices = [one for one in visitor.read(href).links("suite=Reasoning") if "experiment=sweep-1" in one]
    assert choices
    assert "Reasoning" in visitor.read(choices[0]).text


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
    assert {f"/projects/{project.slug}", f"/projects/{project.slug}/search?q=XYLOPHONE"} <= set(page.links())
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


COUNT = 230
"""More than a list offers to choose from, and more than nine pages of panels."""


@pytest.fixture(scope="module")
def crowd(house: House) -> Iterator[Project]:
    """A public project: 230 models and 3 metrics in one experiment, and one experiment for each of the first 110."""
    project = house.make_project("public")
    one = {"axes": [], "trials": None}
    sent = [publication(model=f"m{n:03}", values=float(n % 100), **one) for n in range(COUNT)]
    sent += [publication(model="m000", metric=ACCURACY | {"name": name}, values=1.0, **one) for name in ("y", "z")]
    sent += [publication(experiment=f"e{n:03}", values=1.0, **one) for n in range(110)]
    sent += [publication(benchmark="other", model="m229", values=2.0, **one)]
    answer = project.call("POST", f"projects/{project.slug}/grids/batch", json=sent)
    assert {item["status"] for item in answer.get_json()["items"]} == {201}
    yield project
    house.call("DELETE", f"projects/{project.slug}?cascade=true", token=house.operator)
    ENDED.append(project)


def grid_of(crowd: Project, model: str) -> str:
    found = crowd.get(f"projects/{crowd.slug}/grids?experiment=type-by-length&metric=accuracy&model={model}")
    return str(found.get_json()["items"][0]["id"])


def test_every_panel_of_an_experiment_can_be_reached_and_is_counted(crowd: Project, visitor: Browser) -> None:
    path = f"/projects/{crowd.slug}/results?view=heatmaps&experiment=type-by-length"
    pages = list(visitor.follow(f"{path}&metric=accuracy"))
    assert len(pages) == 10  # 231 grids, 24 a page
    assert "Grids 1 to 24 of 231" in pages[0].text
    assert "Grids 217 to 231 of 231" in pages[-1].text
    assert len({link for page in pages for link in page.links("/grids/0")}) == 231
    # Every metric is offered, and the filter finds the last model.
    page = visitor.read(path)
    assert page.all("select", name="metric")
    assert {"accuracy", "y", "z"} <= set(page.texts)
    page = visitor.read(f"{path}&metric=accuracy&model=m229")
    assert [given["value"] for given in page.all("input", name="model") if "checked" in given] == ["m229"]
    assert len(page.links("/grids/0")) == 2


def test_every_model_can_be_asked_for(crowd: Project, visitor: Browser) -> None:
    for path in ("/grids", "/experiments/type-by-length", "/rankings?experiment=type-by-length&metric=accuracy"):
        page = visitor.read(f"/projects/{crowd.slug}{path}")
        [field] = page.all("input", name="model")
        assert field["list"] == "some-model"
        assert "m229" in page.texts
        assert "one of 23" in page.text  # 230, or 231 where another experiment has one more


def test_every_grid_and_every_experiment_of_a_project_is_listed(crowd: Project, visitor: Browser) -> None:
    pages = list(visitor.follow(f"/projects/{crowd.slug}/grids?sort=model"))
    assert "50 of 343 grids are on this page" in pages[0].text
    assert "51 to 100 of 343 grids are on this page" in pages[1].text
    assert "The first page" not in pages[0].text
    assert "301 to 343 of 343 grids are on this page" in pages[-1].text
    assert f"/projects/{crowd.slug}/grids?sort=model" in pages[-1].links()
    tables = [page.text[page.text.index("Statistics") :] for page in pages]
    seen = [name for table in tables for name in re.findall(r"\bm\d{3}\b", table)]
    assert seen == sorted([*(f"m{n:03}" for n in range(COUNT)), "m000", "m000", "m229"])
    overview = visitor.read(f"/projects/{crowd.slug}")
    [every] = {one for one in overview.links("/experiments") if one.endswith("/experiments")}
    listed = re.findall(r"\be\d{3}\b", " ".join(page.text for page in visitor.follow(every)))
    assert {*listed} == {f"e{n:03}" for n in range(110)}


def test_a_grid_is_found_for_a_comparison_by_words_of_its_names(crowd: Project, visitor: Browser) -> None:
    home = f"/projects/{crowd.slug}/comparisons"
    assert "The first 200 grids by name can be chosen; there are more." in visitor.read(home).text
    wanted, other = grid_of(crowd, "m228"), grid_of(crowd, "m227")
    page = visitor.read(f"{home}?find=M228+length&contender={other}")
    offered = page.all("option")
    assert {one["value"] for one in offered if one.get("value")} == {wanted, other}
    assert [one["value"] for one in offered if "selected" in one] == [other]
    # A comparison that cannot be made keeps its form.
    absent = "00000000-0000-7000-8000-000000000000"
    page = visitor.read(f"{home}?contender={wanted}&baseline={absent}", 404)
    assert f"The project has no grid {absent}." in page.text
    assert page.all("select", name="baseline")


def test_every_revision_of_a_grid_is_listed_with_who_posted_it(project: Project, visitor: Browser) -> None:
    for number in range(23):
        made = project.published(values=[[float(number), 2.0, 3.0], [4.0, 5.0, 6.0]])["id"]
    grid, reader = f"/grids/{made}", browser(project.house, project.tokens["reader"])
    page = reader.read(grid)
    assert "Revisions 4 to 23 of 23." in page.text
    assert "writer" in page.texts
    assert "Revisions 1 to 3 of 23." in reader.read(page.links("before=4")[0]).text
    assert reader.get(f"{grid}?before=1").status_code == 200
    assert "By the token" in reader.get(grid).text
    assert "By the token" not in visitor.get(share(project, grid)).text
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    elsewhere = browser(project.house, project.house.make_project().tokens["admin"])
    for other in (visitor, elsewhere):
        assert "By the token" not in other.get(grid).text


def test_a_filter_by_a_label_works_as_in_the_api(public: Project, visitor: Browser) -> None:
    for model, seed in (("mine", "4"), ("theirs", "5")):
        public.published(model=model, labels={"seed": seed})
    home = f"/projects/{public.slug}/grids"
    page = visitor.read(f"{home}?label.seed=4")
    table = page.text[page.text.index("Statistics") :]
    assert "mine" in table
    assert "theirs" not in table
    assert page.all("input", name="label.seed")[0]["value"] == "4"
    for wrong in ("label.seed=4&nonsense=1", "label.=%00"):
        assert visitor.get(f"{home}?{wrong}").status_code == 422


def test_the_status_says_that_more_is_pending_than_it_lists(crowd: Project, visitor: Browser) -> None:
    assert "The oldest 50 are listed." in visitor.read("/status").text


def test_an_alias_is_found_and_counted_under_the_name_that_it_stands_for(public: Project, visitor: Browser) -> None:
    for benchmark in ("AIME24", "AIME'24"):
        for model in "ab":
            grid = public.published(experiment="e", benchmark=benchmark, model=model)["id"]
    join(public, "benchmark", "AIME'24", "AIME24")
    home = f"/projects/{public.slug}"
    for words in ("aime", "'24"):
        found = visitor.read(f"{home}/search?q={words}").text
        assert "1 of 1 benchmark AIME24 benchmark 4 grids" in found
    assert "AIME'24" not in visitor.read(f"{home}/search?q=aime").text
    assert visitor.read(f"{home}/grids").text.count("AIME24 · ") == 4
    page = visitor.read(f"/grids/{grid}").text
    assert page.index("AIME24 · b") < page.index("posted as benchmark AIME'24")


def test_a_page_of_heat_maps_ends_with_a_model(public: Project, visitor: Browser) -> None:
    """Three models of ten grids each, 24 of which have room: two on the first page, one on the second."""
    for model in "abc":
        for benchmark in range(10):
            public.published(experiment="e", model=model, benchmark=f"b{benchmark}")
    pages = list(visitor.follow(f"/projects/{public.slug}/results?view=heatmaps&experiment=e&metric=accuracy"))
    assert ["Grids 1 to 20 of 30" in pages[0].text, "Grids 21 to 30 of 30" in pages[1].text] == [True, True]
    assert [page.maps for page in pages] == [20, 10]
    assert "the range is of these grids; those of other pages have their own" in pages[0].text
