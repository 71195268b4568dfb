"""The page of a grid says what was measured, what was not, and what the statistics found: without any script."""

from __future__ import annotations

import csv
import html
import re

import pytest

from tests.house import Project, publication
from tests.pages.conftest import Browser, Demo


def cells(page: str) -> list[tuple[str, str]]:
    """The class and the text of every cell of the heatmap, row by row."""
    table = page[page.index('<table role="grid"') : page.index("</table>")]
    found = re.findall(r'<td class="([^"]*)" tabindex="[^"]*"[^>]*>(.*?)</td>', table)
    return [(kind, html.unescape(re.sub(r"<[^>]*>", "", text))) for kind, text in found]


def test_every_value_of_seed_0_is_in_its_cell_and_every_gap_is_named(guest: Browser, demo: Demo) -> None:
    grid = demo.house.call("GET", f"/api/v1{demo.seed0}").get_json()
    page = guest.get(demo.seed0).text
    shown = cells(page)
    values = [value for row in grid["values"] for value in row]
    assert len(shown) == len(values) == 140
    for (kind, text), value in zip(shown, values, strict=True):
        if value is None:
            assert (kind, text) == ("bare", " not measured")
        else:
            assert kind.startswith("c")
            assert text.split()[0] == f"{value:.1f}"


def test_seed_0_is_answered_in_words(guest: Browser, demo: Demo) -> None:
    """Numbers from elsewhere: the binomial likelihood maximised by scipy for the change, Holm–Fisher steps."""
    text = guest.read(demo.seed0).text
    falls = text[text.index("Falls with Length") : text.index("Rises with Length")]
    assert re.findall(r"Type (\d)", falls) == ["7", "6", "1", "3", "2"]
    assert "Type 7 99.7 → 87.3 over 14 points, change −18.21 (95 %: −22.62 to −14.26), q <0.0001" in falls.replace(
        "\u2009", " "
    ).replace("\u00a0", " ")
    assert "Type 4 −7.3 from Length 2 to 3" in text
    assert "Type 1 −5.6 from Length 2 to 3" not in text  # not sharp among the ninety steps of the grid
    assert "Type 4 98.3 → 90.7" in text[text.index("Varies, no trend shown along Length") :].replace("\u2009", " ")
    assert "100.0 % at Type 2, Length 1; Type 6, Length 0; Type 6, Length 5" in text.replace("\u00a0", " ")
    assert "Type 5 Length 0 … 6" in text.replace("\u2009", " ")
    assert "43 of 140 cells (31 %)" in text


def test_the_best_cells_of_seed_0_are_marked_and_so_are_those_that_may_be(guest: Browser, demo: Demo) -> None:
    within = demo.house.call("GET", f"/api/v1{demo.seed0}/peaks").get_json()["peaks"]["best_set"]
    page = guest.get(demo.seed0).text
    shown = cells(page)
    best = [place for place, (kind, _) in enumerate(shown) if kind.endswith(" best")]
    assert best == [20 + 1, 100 + 0, 100 + 5]
    tied = {place: text for place, (kind, text) in enumerate(shown) if kind.endswith(" tied")}
    assert {*tied, *best} == {20 * (int(at["Type"]) - 1) + int(at["Length"]) for at in within["at"]}
    assert all(text.endswith(" may be the best") for text in tied.values())
    assert f"With 95 % confidence the best is one of {within['size']} cells." in page


def test_zero_is_a_colour_with_its_number(project: Project, visitor: Browser) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    sent = publication(values=[[0.0, 50.0, 100.0], [None, 25.0, 0.0]])
    grid = project.publish(sent).get_json()
    shown = cells(visitor.get(f"/grids/{grid['id']}").text)
    assert [text.split()[0] for kind, text in shown if kind.startswith("c0")] == ["0", "0"]
    assert [kind for kind, _ in shown].count("bare") == 1


@pytest.mark.parametrize(
    "query", ["show=interval", "palette=blues", "range=bounds", "range=0,50", "revision=1", "show=value&range=own"]
)
def test_every_choice_of_the_page_is_whole(guest: Browser, demo: Demo, query: str) -> None:
    guest.read(f"{demo.seed0}?{query}")


def test_the_interval_of_a_cell_is_wilsons(guest: Browser, demo: Demo) -> None:
    """99.3 % of 300: statsmodels' proportion_confint(298, 300, method="wilson") is 0.97600 to 0.99817; 0.993 as posted
    is 297.9 of 300."""
    first = cells(guest.get(f"{demo.seed0}?show=interval").text)[0][1]
    assert first.startswith("99.397.6–99.8")


def tidy(demo: Demo, grid: str) -> dict[tuple[str, float], float]:
    """The measured values of a grid by Type and Length."""
    found = demo.house.call("GET", f"grids/{grid}/cells").get_json()["items"]
    return {(cell["at"]["Type"], cell["at"]["Length"]): cell["value"] for cell in found}


def test_a_difference_is_shown_from_zero_and_says_what_only_one_has(guest: Browser, demo: Demo) -> None:
    other = demo.grids["1"][0]
    page = guest.get(f"{demo.seed0}?show=difference&baseline={other}").text
    mine, theirs = (tidy(demo, grid) for grid in (demo.grids["0"][0], other))
    shown = cells(page)
    for row in range(7):
        for column in range(20):
            kind, text = shown[row * 20 + column]
            a, b = (found.get((str(row + 1), column)) for found in (mine, theirs))
            if a is None:
                assert kind == "bare"
            elif b is None:
                assert kind == "alone"
            else:
                assert float(text.replace("−", "-")) == pytest.approx(a - b, abs=0.05)
                assert (int(kind[1:]) - 10) * (a - b) >= 0


@pytest.mark.parametrize(
    "query",
    ["show=nonsense", "palette=jet", "range=5,5", "range=a,b", "range=nan,1", "range=inf,1", "baseline=x", "revision=0",
     "revision=99999999999", "revision=%00"],
)  # fmt: skip
def test_a_choice_that_does_not_exist_is_a_page_that_says_so(guest: Browser, demo: Demo, query: str) -> None:
    text = guest.read(f"{demo.seed0}?{query}", 422).text
    assert f"/{query.partition('=')[0]}" in text


def test_pending_statistics_are_announced_and_arrive(project: Project, visitor: Browser) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    path = f"/grids/{project.published()['id']}"
    pending = visitor.get(path)
    assert "are being computed" in pending.text
    assert '<noscript><meta http-equiv="refresh"' in pending.text
    tag = pending.headers["ETag"]
    assert visitor.get(path, If_None_Match=tag).status_code == 304
    project.house.compute()
    ready = visitor.get(path, If_None_Match=tag)
    assert ready.status_code == 200
    assert "are being computed" not in ready.text
    assert "What the numbers say" in ready.text
    assert 'id="trends"' in ready.text
    assert visitor.get(path, If_None_Match=ready.headers["ETag"]).status_code == 304


def test_an_older_revision_says_that_it_is_one(project: Project, visitor: Browser) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    grid = project.published()
    project.publish(publication(values=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    project.house.compute()
    old = visitor.read(f"/grids/{grid['id']}?revision=1")
    assert "This is revision 1; the current one is 2." in old.text
    assert "99.3" in old.text
    assert "trends" not in old.ids


@pytest.mark.parametrize(
    "axes, values",
    [
        ([], 51.5),
        ([{"name": "Length", "kind": "numeric", "levels": [1, 2, 4]}], [10.0, None, 30.0]),
        (
            [{"name": name, "kind": "nominal", "levels": ["a", "b"]} for name in "ABC"],
            [[[1, 2], [3, 4]], [[5, 6], [7, None]]],
        ),
        ([{"name": "A", "kind": "nominal", "levels": []}, {"name": "B", "kind": "nominal", "levels": ["x"]}], []),
    ],
    ids=["single score", "one axis", "three axes", "no levels yet"],
)  # fmt: skip
def test_grids_of_every_depth_have_a_page(project: Project, visitor: Browser, axes: list, values: object) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    grid = project.published(axes=axes, values=values, trials=None, experiment=f"e{len(axes)}")
    project.house.compute()
    text = visitor.read(f"/grids/{grid['id']}").text
    if len(axes) == 3:
        assert "A a" in text
        assert "A b" in text
    if not axes:
        assert "51.5" in text


def test_a_large_grid_is_a_picture(project: Project, visitor: Browser) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    axes = [{"name": name, "kind": "numeric", "levels": list(range(80))} for name in ("x", "y")]
    grid = project.published(axes=axes, values=[[float(x)] * 80 for x in range(80)], trials=None)
    page = visitor.get(f"/grids/{grid['id']}").text
    source = html.unescape(re.search(r'<img src="([^"]+)"', page)[1])
    picture = visitor.get(source)
    assert picture.content_type == "image/svg+xml"
    assert 'role="grid"' not in page


@pytest.mark.parametrize(("rows", "columns"), [(3, 500), (301, 2), (1, 500)])
def test_a_grid_with_more_rows_or_columns_than_a_picture_draws_is_no_table(
    project: Project, visitor: Browser, rows: int, columns: int
) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    axes = [{"name": name, "kind": "numeric", "levels": list(range(n))} for name, n in (("R", rows), ("S", columns))]
    values = [[1000.0 * row + step for step in range(columns)] for row in range(rows)]
    metric = {"name": "n", "direction": "higher"}
    grid = project.published(axes=axes, values=values, metric=metric, trials=None)
    project.house.compute()
    answer = visitor.get(f"/grids/{grid['id']}")
    assert answer.status_code == 200
    assert 'role="grid"' not in answer.text
    assert "neighbouring cells may be joined" in answer.text
    assert "heatmap.svg" in answer.text


def test_tables_that_are_not_shown_are_counted(project: Project, visitor: Browser) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    axes = [
        {"name": name, "kind": "nominal", "levels": list(map(str, range(n)))}
        for name, n in zip("ABCD", (10, 10, 2, 1), strict=True)
    ]
    grid = project.published(axes=axes, values=[[[[1.0], [2.0]]] * 10] * 10, trials=None)
    page = visitor.read(f"/grids/{grid['id']}")
    assert [given.get("role") for tag, given in page.attributes if tag == "table"].count("grid") == 60
    assert page.text.count("40 more tables are not shown") == 1


def test_values_that_differ_by_the_smallest_double_have_a_page(project: Project, visitor: Browser) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    axes = [{"name": "x", "kind": "numeric", "levels": [1, 2]}]
    metric = {"name": "n", "direction": "higher"}
    values = [2.225073858507201e-308, 2.2250738585072014e-308]
    grid = project.published(axes=axes, values=values, metric=metric, trials=None)
    project.house.compute()
    visitor.read(f"/grids/{grid['id']}")
    for form in ("svg", "png", "vl.json"):
        assert project.get(f"grids/{grid['id']}/heatmap.{form}").status_code == 200


def test_what_changed_between_revisions_is_a_page(project: Project, visitor: Browser) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    grid = project.published()["id"]
    project.publish(publication(values=[[99.3, 95.0, None], [80.0, 100.0, 99.7]]))
    page = visitor.read(f"/grids/{grid}")
    link = next(given["href"] for _, given in page.attributes if given.get("href", "").endswith("/revisions/1..2"))
    text = visitor.read(link).text
    changed, added = text.index("1 cell changed"), text.index("1 cell added")
    assert changed < text.index("Type 1, Length 1 value 96.7 95") < added < text.index("Type 2, Length 0 80 300")
    assert text.index("1 cell removed") < text.index("Type 1, Length 2 98.3")
    assert "No cell changed." in visitor.read(f"/grids/{grid}/revisions/1..1").text
    for path in ("1..9", "0..1", f"1..{'9' * 5000}", "1..x"):
        assert visitor.get(f"/grids/{grid}/revisions/{path}").status_code == 404, path


def test_an_older_revision_hands_out_itself_and_nothing_of_the_current_one(project: Project, visitor: Browser) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    grid = f"/grids/{project.published()['id']}"
    project.published(values=[[1.5, 2.5, 3.5], [4.5, 5.5, 6.5]])
    project.house.compute()
    page = visitor.read(f"{grid}?revision=1")
    addresses = [given.get("href") or given.get("content") or "" for tag, given in page.attributes if tag != "link"]
    taken = [one for one in addresses if f"/api/v1{grid}" in one]
    assert {one.partition(grid)[2] for one in taken} == {
        f"{form}?revision=1" for form in ("", ".csv", ".md", ".txt", "/heatmap.svg", "/heatmap.png", "/heatmap.vl.json")
    }
    for address in taken:
        assert visitor.get(address.removeprefix(project.house.settings.url)).status_code == 200, address
    table = csv.DictReader(visitor.get(f"/api/v1{grid}.csv?revision=1").text.splitlines())
    assert [row["value"] for row in table] == ["99.3", "96.7", "98.3", "100.0", "99.7"]
    assert "not computed yet" not in page.text
    assert "is shown for the current revision only" in page.text
    assert "/report.html" in visitor.get(grid).text
    assert "?revision=" not in visitor.get(grid).text.partition('id="downloads"')[2]


def test_a_difference_from_an_older_revision_is_compared_in_full_at_that_revision(
    project: Project, visitor: Browser
) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    baseline, grid = project.published(model="another")["id"], project.published()["id"]
    project.published(values=[[1.5, 2.5, 3.5], [4.5, 5.5, 6.5]])
    page = visitor.read(f"/grids/{grid}?revision=1&show=difference&baseline={baseline}")
    full = [given["href"] for tag, given in page.attributes if tag == "a" and "/comparisons?" in str(given.get("href"))]
    assert [one for one in full if one and one.endswith(f"contender={grid}&contender_revision=1")]


def test_a_grid_in_which_nothing_was_measured_has_no_range_of_colours(project: Project, visitor: Browser) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    empty, other = project.published(values=[[None] * 3] * 2), project.published(model="another")
    page = visitor.read(f"/grids/{empty['id']}")
    assert "Nothing was measured yet." in page.text
    assert "own range" not in page.text
    compared = f"/projects/{project.slug}/comparisons?baseline={empty['id']}&contender={other['id']}"
    for path, bars in [
        (f"/grids/{empty['id']}", 0),
        (f"/grids/{empty['id']}?show=difference&baseline={other['id']}", 0),
        (f"/grids/{other['id']}", 1),
        (compared, 1),
    ]:
        labels = [given.get("aria-label") or "" for tag, given in visitor.read(path).attributes if tag == "svg"]
        assert sum(label.startswith("Colours from ") for label in labels) == bars, path
