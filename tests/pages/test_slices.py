"""Slices on pages: chosen in the form, kept in the links, said above the answer, cut out of the pictures."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from registry.grids.grid import Axis, Level
from registry.pages.slices import MOST_LEVELS, slice_lists
from tests.pages.conftest import Browser, Demo, Outline

WINDOWS = {"experiment": "window-by-ratio", "metric": "Pass@1"}


def options(page: Outline, name: str) -> list[list[tuple[str, bool]]]:
    """The options of each select of this name: value, and whether it is selected."""
    found: list[list[tuple[str, bool]]] = []
    inside = False
    for tag, given in page.attributes:
        if tag == "select":
            inside = given.get("name") == name
            if inside:
                found.append([])
        elif tag == "option" and inside:
            found[-1].append((given.get("value") or "", "selected" in given))
    return found


def computed(demo: Demo, guest: Browser, path: str) -> Outline:
    """The page once its answer is there."""
    guest.get(path)
    demo.house.compute()
    return guest.read(path)


def pair(demo: Demo) -> str:
    """The comparison of two grids of 4 windows and 5 ratios."""
    listed = demo.house.call("GET", "projects/demo/grids?benchmark=AMC23").get_json()["items"]
    found = {one["model"]: one["id"] for one in listed}
    return f"/projects/demo/comparisons?baseline={found['R1-Qwen']}&contender={found['R1-Llama']}"


def test_a_ranking_is_asked_for_by_slice_in_its_form(demo: Demo, guest: Browser) -> None:
    path = f"/projects/demo/rankings?{urlencode(WINDOWS)}"
    first, last = options(guest.read(path), "at.Local Window Size")
    assert [value for value, _ in first] == ["", ">=500", ">=1000", ">=2000", ">=3000"]
    assert [value for value, _ in last] == ["", "<=500", "<=1000", "<=2000", "<=3000"]
    assert not any(chosen for _, chosen in (*first, *last))
    page = computed(demo, guest, f"{path}&{urlencode({'at.Local Window Size': '>=2000', 'at.Ratio': ''})}")
    assert "Only Local Window Size at least 2000: nothing else is counted." in page.text
    first, last = options(page, "at.Local Window Size")
    assert [value for value, chosen in first if chosen] == [">=2000"]
    links = [given.get("href") or "" for _, given in page.attributes]
    data = [link for link in links if "/api/v1/projects/demo/rankings" in link]
    assert data
    assert all("at.Local+Window+Size=" in link or "at.Local%20Window%20Size=" in link for link in data)


def test_a_condition_that_no_list_offers_stays_chosen(demo: Demo, guest: Browser) -> None:
    query = [*WINDOWS.items(), ("at.Ratio", "0.2"), ("at.Ratio", "0.4")]
    page = computed(demo, guest, f"/projects/demo/rankings?{urlencode(query)}")
    first, _ = options(page, "at.Ratio")
    assert [value for value, chosen in first if chosen] == ["0.2", "0.4"]
    assert "Only Ratio 0.2 or 0.4" in page.text


def test_a_comparison_of_a_slice_shows_its_cells_alone(demo: Demo, guest: Browser) -> None:
    path = pair(demo)
    cut = computed(demo, guest, f"{path}&{urlencode({'at.Local Window Size': '2000', 'at.Ratio': '<=0.3'})}")
    assert "Only Local Window Size 2000, Ratio at most 0.3; nothing else is counted." in cut.text
    whole = computed(demo, guest, path)
    cells = [
        sum(tag == "td" and given.get("title") is not None for tag, given in page.attributes) for page in (whole, cut)
    ]
    # Two maps and their difference: 4 windows and 5 ratios, then one window and three ratios.
    assert cells == [3 * 20, 3 * 3]


def test_a_comparison_of_a_slice_leads_to_its_grids_at_that_slice(demo: Demo, guest: Browser) -> None:
    path = pair(demo)
    page = computed(demo, guest, f"{path}&{urlencode({'at.Local Window Size': '2000', 'at.Ratio': '<=0.3'})}")
    links = {given["href"] or "" for tag, given in page.attributes if (given.get("href") or "").startswith("/grids/")}
    ids = dict(parse_qsl(urlsplit(path).query)).values()
    assert {urlsplit(link).path for link in links} == {f"/grids/{one}" for one in ids}
    for link in links:
        assert dict(parse_qsl(urlsplit(link).query)) == {"at.Local Window Size": "2000", "at.Ratio": "<=0.3"}
        assert "Only Local Window Size 2000, Ratio at most 0.3: nothing else is shown" in guest.read(link).text


@pytest.mark.parametrize("query, told", [("at.Depth=1", 'axis "Depth"'), ("at.Ratio=0.35", 'no level "0.35"')])
def test_a_slice_that_is_not_there_is_told_with_what_there_is(
    demo: Demo, guest: Browser, query: str, told: str
) -> None:
    page = guest.read(f"/projects/demo/rankings?{urlencode(WINDOWS)}&{query}", 422)
    assert told in page.text
    answer = guest.get(f"{pair(demo)}&at.Ratio=99")
    assert answer.status_code == 422
    assert "no level &#34;99&#34;; there are 0.1, 0.2" in answer.text


@pytest.mark.unit
def test_an_axis_of_words_has_one_list_and_one_with_too_many_levels_a_field() -> None:
    words = Axis("Task", "nominal", (Level("a"), Level("b")))
    single = Axis("Only", "nominal", (Level("a"),))
    many = Axis("Step", "numeric", tuple(Level(str(n), float(n)) for n in range(MOST_LEVELS + 1)))
    task, step = slice_lists([words, single, many], (("Step", (">=5",)), ("Task", ("b",))))
    assert [(one.value, one.chosen) for one in task.options] == [("a", False), ("b", True)]
    assert (step.options, step.typed, step.parameter) == ((), ">=5", "at.Step")


def grid_path(demo: Demo) -> str:
    """The page of a grid of 4 windows and 5 ratios."""
    [found] = demo.house.call("GET", "projects/demo/grids?benchmark=AMC23&model=R1-Qwen").get_json()["items"]
    return f"/projects/demo/grids/{found['id']}"


def test_the_page_of_a_grid_shows_a_slice_alone(demo: Demo, guest: Browser) -> None:
    """The best of all 20 cells is 88.5; of the 12 with ratios up to 0.3 it is 88.0, three times."""
    path = grid_path(demo)
    whole = guest.read(path)
    assert "20 cells measured" in whole.text
    assert "88.5" in whole.text
    _, last = options(whole, "at.Ratio")
    assert [value for value, _ in last] == ["", "<=0.1", "<=0.2", "<=0.3", "<=0.4", "<=0.5"]
    page = computed(demo, guest, f"{path}?at.Ratio=%3C%3D0.3")
    assert "Only Ratio at most 0.3: nothing else is shown or counted." in page.text
    assert "12 cells measured" in page.text
    assert "88.0" in page.text
    assert "88.5" not in page.text
    links = [given.get("href") or "" for _, given in page.attributes]
    data = [link for link in links if "/api/v1/grids/" in link]
    assert data
    assert all("at.Ratio=%3C%3D0.3" in link for link in data)


def test_a_slice_that_a_grid_does_not_have_is_refused_with_what_it_has(demo: Demo, guest: Browser) -> None:
    answer = guest.get(f"{grid_path(demo)}?at.Ratio=0.95")
    assert answer.status_code == 422
    assert "there are 0.1, 0.2, 0.3, 0.4, 0.5" in answer.text


def test_the_page_of_an_experiment_shows_a_slice_of_every_grid(demo: Demo, guest: Browser) -> None:
    path = "/projects/demo/experiments/type-by-length"
    page = computed(demo, guest, f"{path}?{urlencode({'at.Length': '>=12'})}")
    assert "Only Length at least 12: nothing else is shown or counted" in page.text
    followed = [given["href"] for _, given in page.attributes if "/grids/" in (given.get("href") or "")]
    pages = [link for link in followed if link and "/api/" not in link]
    assert pages
    assert all("at.Length=%3E%3D12" in link for link in pages)
    assert "at.Length=%3E%3D12" in next(
        given["href"] or "" for _, given in page.attributes if "/rankings?" in (given.get("href") or "")
    )
    refused = guest.get(f"{path}?{urlencode({'at.Length': '>=1200'})}")
    assert refused.status_code == 422
