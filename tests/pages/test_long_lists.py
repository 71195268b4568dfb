"""Nothing is left out of a page without a word: every list says how much of it is shown, and leads to the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.house import ACCURACY, House, Project, publication
from tests.pages.conftest import Browser, Outline, browser

pytestmark = pytest.mark.usefixtures("impatient")

COUNT = 230
"""More than a list offers to choose from, and more than nine pages of panels."""


@pytest.fixture(scope="module")
def crowd(request: pytest.FixtureRequest) -> Iterator[Project]:
    """A public project: 230 models and 3 metrics in one experiment, and one experiment for each of the first 110."""
    house: House = request.getfixturevalue("house")
    project = house.make_project("public")
    one = {"axes": [], "trials": None}
    sent = [publication(model=f"m{n:03}", values=float(n % 100), **one) for n in range(COUNT)]
    sent += [publication(model="m000", metric=ACCURACY | {"name": name}, values=1.0, **one) for name in ("y", "z")]
    sent += [publication(experiment=f"e{n:03}", values=1.0, **one) for n in range(110)]
    sent += [publication(benchmark="other", model="m229", values=2.0, **one)]
    answer = project.call("POST", f"projects/{project.slug}/grids/batch", json=sent)
    assert {item["status"] for item in answer.get_json()["items"]} == {201}
    yield project
    house.call("DELETE", f"projects/{project.slug}", token=house.operator)


def follow(visitor: Browser, path: str) -> list[Outline]:
    """A page and all that `rel=next` leads to."""
    found = []
    while path:
        found.append(visitor.read(path))
        path = next((given["href"] or "" for _, given in found[-1].attributes if given.get("rel") == "next"), "")
    return found


def values(page: Outline, tag: str, name: str) -> list[dict[str, str | None]]:
    return [given for found, given in page.attributes if found == tag and given.get("name") == name]


def grid_of(crowd: Project, **names: str) -> str:
    query = "&".join(f"{kind}={text}" for kind, text in names.items())
    found = crowd.get(f"projects/{crowd.slug}/grids?experiment=type-by-length&metric=accuracy&{query}")
    return found.get_json()["items"][0]["id"]


def test_every_panel_of_an_experiment_can_be_reached_and_is_counted(crowd: Project) -> None:
    pages = follow(browser(crowd.house), f"/projects/{crowd.slug}/experiments/type-by-length?metric=accuracy")
    assert len(pages) == 10  # 231 grids, 24 a page
    assert "Grids 1 to 24 of 231" in pages[0].text
    assert "Grids 217 to 231 of 231" in pages[-1].text
    grids = {
        given.get("href") for page in pages for _, given in page.attributes if "/grids/0" in (given.get("href") or "")
    }
    assert len(grids) == 231


def test_every_metric_of_an_experiment_is_offered(crowd: Project) -> None:
    page = browser(crowd.house).read(f"/projects/{crowd.slug}/experiments/type-by-length")
    assert values(page, "select", "metric")
    for name in ("accuracy", "y", "z"):
        assert name in page.texts


@pytest.mark.parametrize(
    "path", ["", "/experiments/type-by-length", "/rankings?experiment=type-by-length&metric=accuracy"]
)
def test_every_model_can_be_asked_for(crowd: Project, path: str) -> None:
    page = browser(crowd.house).read(f"/projects/{crowd.slug}{path}")
    [field] = values(page, "input", "model")
    assert field["list"] == "some-model"
    assert "m229" in page.texts
    assert "one of 23" in page.text  # 230, or 231 where another experiment has one more


def test_the_filter_finds_the_last_model(crowd: Project) -> None:
    page = browser(crowd.house).read(f"/projects/{crowd.slug}/experiments/type-by-length?metric=accuracy&model=m229")
    assert [given["value"] for given in values(page, "input", "model") if "checked" in given] == ["m229"]
    assert sum(tag == "article" for tag, _ in page.attributes) == 2


def test_every_experiment_of_a_project_is_listed(crowd: Project) -> None:
    pages = follow(browser(crowd.house), f"/projects/{crowd.slug}?sort=model")
    texts = " ".join(page.text for page in pages)
    assert "50 of 343 grids are on this page" in pages[0].text
    first = pages[0]
    more = [given["href"] for _, given in first.attributes if "experiments_after" in (given.get("href") or "")]
    listed = {
        *re.findall(r"\be\d{3}\b", first.text),
        *re.findall(r"\be\d{3}\b", browser(crowd.house).read(more[0]).text),
    }
    assert listed == {f"e{n:03}" for n in range(110)}
    assert "m229" in texts


def test_a_grid_is_found_for_a_comparison_by_words_of_its_names(crowd: Project) -> None:
    visitor = browser(crowd.house)
    page = visitor.read(f"/projects/{crowd.slug}/comparisons")
    assert "The first 200 grids by name can be chosen; there are more." in page.text
    wanted, other = grid_of(crowd, model="m228"), grid_of(crowd, model="m227")
    page = visitor.read(f"/projects/{crowd.slug}/comparisons?find=M228+length&contender={other}")
    offered = [given.get("value") for tag, given in page.attributes if tag == "option"]
    assert {one for one in offered if one} == {wanted, other}
    assert [given["value"] for tag, given in page.attributes if tag == "option" and "selected" in given] == [other]


def test_a_comparison_that_cannot_be_made_keeps_its_form(crowd: Project) -> None:
    mine, absent = grid_of(crowd, model="m228"), "00000000-0000-7000-8000-000000000000"
    page = browser(crowd.house).read(f"/projects/{crowd.slug}/comparisons?contender={mine}&baseline={absent}", 404)
    assert f"The project has no grid {absent}." in page.text
    assert values(page, "select", "baseline")


def test_any_grid_of_the_experiment_may_be_the_baseline(crowd: Project) -> None:
    first, last = grid_of(crowd, model="m000"), grid_of(crowd, model="m228")
    assert browser(crowd.house).get(f"/grids/{first}?show=difference&baseline={last}").status_code == 200
    for text in (first, "x", grid_of(crowd, model="m000").replace("0", "1")):
        assert browser(crowd.house).get(f"/grids/{first}?baseline={text}").status_code == 422


def test_the_first_baseline_is_of_the_same_benchmark_and_a_confounded_one_is_called_so(project: Project) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    mine = project.published(benchmark="A", model="one")["id"]
    other = project.published(benchmark="B", model="another")["id"]
    alike = project.published(benchmark="A", model="two")["id"]
    visitor = browser(project.house)
    page = visitor.read(f"/grids/{mine}")
    offered = [given.get("value") for tag, given in page.attributes if tag == "option"]
    assert [one for one in offered if one in (mine, alike, other)] == [alike, other]
    assert "Confounded" not in visitor.read(f"/grids/{mine}?show=difference&baseline={alike}").text
    told = visitor.read(f"/grids/{mine}?show=difference&baseline={other}").text
    assert "Confounded: these grids differ in benchmark and model." in told
    assert "choose a grid" in visitor.read(f"/grids/{other}").texts


def test_every_revision_of_a_grid_is_listed_with_who_posted_it(project: Project, visitor: Browser) -> None:
    for number in range(23):
        grid = project.published(values=[[float(number), 2.0, 3.0], [4.0, 5.0, 6.0]])["id"]
    visitor.post("/sign-in", {"token": project.tokens["reader"]})
    page = visitor.read(f"/grids/{grid}")
    assert "Revisions 4 to 23 of 23." in page.text
    assert "writer" in page.texts
    older = next(given["href"] for _, given in page.attributes if "before=4" in (given.get("href") or ""))
    assert "Revisions 1 to 3 of 23." in visitor.read(older).text
    assert visitor.get(f"/grids/{grid}?before=1").status_code == 200
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    stranger, elsewhere = browser(project.house), browser(project.house)
    elsewhere.post("/sign-in", {"token": project.house.make_project().tokens["admin"]})
    for other in (stranger, elsewhere):
        assert "By the token" not in other.get(f"/grids/{grid}").text


def test_a_filter_by_a_label_works_as_in_the_api(project: Project, visitor: Browser) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    for model, seed in (("mine", "4"), ("theirs", "5")):
        project.published(model=model, labels={"seed": seed})
    page = visitor.read(f"/projects/{project.slug}?label.seed=4")
    table = page.text[page.text.index("Statistics") :]
    assert "mine" in table
    assert "theirs" not in table
    assert values(page, "input", "label.seed")[0]["value"] == "4"
    assert visitor.get(f"/projects/{project.slug}?label.seed=4&nonsense=1").status_code == 422
    assert visitor.get(f"/projects/{project.slug}?label.=%00").status_code == 422


def test_the_status_says_that_more_is_pending_than_it_lists(crowd: Project) -> None:
    assert "The oldest 50 are listed." in browser(crowd.house).read("/status").text
