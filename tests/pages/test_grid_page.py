"""The page of a grid says what was measured, what was not, and what the statistics found: without any script."""

import csv
import html
import io
import itertools
import re
from typing import Any

import pytest
from sqlalchemy import delete

from registry.storage.tables import processes
from tests.house import House, Project, publication
from tests.pages.conftest import Browser, Demo, Outline, browser
from workers.jobs.worker_process import JobCounts, Reporter

COUNT = {"name": "n", "direction": "higher"}
SECOND = [[1.5, 2.5, 3.5], [4.5, 5.5, 6.5]]


def cells(page: str) -> list[tuple[str, str]]:
    """The class and the text of every cell of the heatmap, row by row."""
    table = page[page.index('<table role="grid"') : page.index("</table>")]
    found = re.findall(r'<td class="([^"]*)" tabindex="[^"]*"[^>]*>(.*?)</td>', table)
    return [(kind, html.unescape(re.sub(r"<[^>]*>", "", text))) for kind, text in found]


def spaced(text: str) -> str:
    return text.replace("\u2009", " ").replace("\u00a0", " ")


def test_every_value_of_seed_0_is_in_its_cell_and_every_gap_is_named(guest: Browser, demo: Demo) -> None:
    grid = demo.answer(demo.seed0)
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
    # The best cells are marked, and so are those that may be.
    within = demo.answer(f"{demo.seed0}/statistics?part=peaks")["peaks"]["best_set"]
    best = [place for place, (kind, _) in enumerate(shown) if kind.endswith(" best")]
    assert best == [20 + 1, 100 + 0, 100 + 5]
    tied = {place: text for place, (kind, text) in enumerate(shown) if kind.endswith(" tied")}
    assert {*tied, *best} == {20 * (int(at["Type"]) - 1) + int(at["Length"]) for at in within["at"]}
    assert all(text.endswith(" may be the best") for text in tied.values())
    assert f"With 95 % confidence the best is one of {within['size']} cells." in page


def test_seed_0_is_answered_in_words(guest: Browser, demo: Demo) -> None:
    """Numbers from elsewhere: the binomial likelihood maximised by scipy for the change, Holm–Fisher steps; the
    interval is statsmodels' proportion_confint(298, 300, method="wilson"), 0.97600 to 0.99817, as 0.993 of 300
    as posted is 297.9."""
    page = guest.read(demo.seed0)
    text = spaced(page.text)
    assert "80.3 90.15 100.0 %" in text  # the lowest, the middle of the colours, the highest
    falls = text[text.index("Falls with Length") : text.index("Rises with Length")]
    assert re.findall(r"Type (\d)", falls) == ["7", "1", "3", "4", "6", "2"]
    assert "Type 7 99.7 → 87.3 over 14 points, change −12.40 (95 %: −16.58 to −8.70), q <0.0001" in falls
    assert "Type 4 −7.3 from Length 2 to 3" in text
    assert "Type 1 −5.6 from Length 2 to 3" not in text  # not sharp among the ninety steps of the grid
    assert "Type 4 98.3 → 90.7" in falls
    assert "100.0 % at Type 2, Length 1; Type 6, Length 0; Type 6, Length 5" in text
    assert "Type 5 Length 0 … 6" in text
    assert "43 of 140 cells (31 %)" in text
    # What it begins with.
    assert (
        "37 other cells may be the best as well, and with 95 % confidence the 57 remaining cells are not better."
        in text
    )
    assert "Along Length 6 of 7 series fall and 1 rises." in text
    assert "What is assumed: independent trials; rows share nothing" in text
    assert "publish design_effect if they are not" in text
    assert "43 of 140 cells have no value." in text
    assert "99.3 % of 300 trials is 298 of 300" in text
    assert page.description.startswith("Along Length 6 of 7 series fall")
    first = cells(guest.get(f"{demo.seed0}?show=interval").text)[0][1]
    assert first.startswith("99.397.6–99.8")


def test_zero_is_a_colour_with_its_number(public: Project, visitor: Browser) -> None:
    grid = public.published(values=[[0.0, 50.0, 100.0], [None, 25.0, 0.0]])
    shown = cells(visitor.get(f"/grids/{grid['id']}").text)
    assert [text.split()[0] for kind, text in shown if kind.startswith("c0")] == ["0", "0"]
    assert [kind for kind, _ in shown].count("bare") == 1


def test_every_choice_of_the_page_is_whole_and_one_that_does_not_exist_is_said(guest: Browser, demo: Demo) -> None:
    for query in (
        "palette=blues",
        "range=bounds",
        "range=0,50",
        "revision=1",
        "show=value&range=own",
    ):
        guest.read(f"{demo.seed0}?{query}")
    for query in ("show=nonsense", "palette=jet", "range=5,5", "range=a,b", "range=nan,1", "range=inf,1",
                  "revision=0", "revision=99999999999", "revision=%00"):  # fmt: skip
        assert f"/{query.partition('=')[0]}" in guest.read(f"{demo.seed0}?{query}", 422).text


def tidy(demo: Demo, grid: str) -> dict[tuple[str, float], float]:
    """The measured values of a grid by Type and Length."""
    return {
        (cell["at"]["Type"], cell["at"]["Length"]): cell["value"]
        for cell in demo.answer(f"grids/{grid}/cells")["items"]
    }


def test_a_difference_is_shown_from_zero_and_says_what_only_one_has(guest: Browser, demo: Demo) -> None:
    other = demo.grids["1"][0]
    compared = f"/projects/demo/comparisons?baseline={other}&contender={demo.grids['0'][0]}"
    page = guest.get(compared).text
    mine, theirs = (tidy(demo, grid) for grid in (demo.grids["0"][0], other))
    for place, (kind, text) in enumerate(cells(page[page.index("<h2>Difference") :])):
        row, column = divmod(place, 20)
        a, b = (found.get((str(row + 1), column)) for found in (mine, theirs))
        if a is None:
            assert kind == "bare"
        elif b is None:
            assert kind == "alone"
        else:
            assert float(text.replace("−", "-")) == pytest.approx(a - b, abs=0.05)
            assert (int(kind[1:]) - 10) * (a - b) >= 0


def test_pending_statistics_are_announced_and_arrive(public: Project, visitor: Browser) -> None:
    path = f"/grids/{public.published()['id']}"
    with public.house.database.transaction() as connection:
        connection.execute(delete(processes))
    alone = visitor.get(path)
    assert "are not computed yet, and nobody computes" in alone.text
    assert "Nobody computes" in visitor.read("/status").text
    Reporter(public.house.database, "dispatcher", JobCounts()).report()
    pending = visitor.get(path, If_None_Match=alone.headers["ETag"])
    assert "are being computed" in pending.text
    assert "Nobody computes" not in visitor.read("/status").text
    assert '<noscript><meta http-equiv="refresh"' in pending.text
    tag = pending.headers["ETag"]
    assert visitor.get(path, If_None_Match=tag).status_code == 304
    public.house.compute()
    ready = visitor.get(path, If_None_Match=tag)
    assert ready.status_code == 200
    assert "are being computed" not in ready.text
    assert "What the numbers say" in ready.text
    assert 'id="trends"' in ready.text
    assert visitor.get(path, If_None_Match=ready.headers["ETag"]).status_code == 304


def nominal(names: str, *counts: int) -> list[dict[str, Any]]:
    return [
        {"name": name, "kind": "nominal", "levels": list("abcdefghij"[:count])}
        for name, count in zip(names, counts, strict=True)
    ]


def full(counts: list[int], value: float = 1.0) -> Any:
    """As many equal values as a grid of these numbers of levels has cells."""
    return [full(counts[1:], value)] * counts[0] if counts else value


def numeric(counts: dict[str, int]) -> list[dict[str, Any]]:
    return [{"name": name, "kind": "numeric", "levels": list(range(count))} for name, count in counts.items()]


def test_grids_of_every_depth_and_size_have_a_page(public: Project, visitor: Browser) -> None:
    def page_of(axes: list[dict[str, Any]], values: Any, **more: Any) -> str:
        sent = {"experiment": f"deep {len(axes)}", "trials": None, "metric": COUNT} | more
        grid = public.published(**sent, benchmark=f"b{len(paths)}", axes=axes, values=values)
        paths.append(f"/grids/{grid['id']}")
        return paths[-1]

    paths: list[str] = []
    single, one = page_of([], 51.5), page_of(numeric({"Length": 3}), [10.0, None, 30.0])
    three = page_of(nominal("ABC", 2, 2, 2), [[[1, 2], [3, 4]], [[5, 6], [7, None]]])
    without_levels = page_of(nominal("AB", 0, 1), [])
    tables = page_of(nominal("ABCD", 10, 10, 2, 1), full([10, 10, 2, 1]))
    undirected = page_of(numeric({"x": 2}), [1.0, 2.0], metric={"name": "size", "direction": None})
    close = page_of(numeric({"x": 2}), [2.225073858507201e-308, 2.2250738585072014e-308])
    public.house.compute()
    for path in (one, undirected, without_levels):
        visitor.read(path)
    page = visitor.read(single)
    assert page.text.split("Precision")[0].count("51.5") == 1
    assert not {"trends", "breaks", "peaks", "sensitivity", "coverage", "findings"} & set(page.ids)
    assert [len(page.links(f"view={view}")) for view in ("ranking", "table")] == [1, 1]
    page = visitor.read(three)
    assert "A a" in page.text
    assert "A b" in page.text
    # Of a hundred tables sixty are shown, and the others are counted.
    page = visitor.read(tables)
    assert page.maps == 60
    assert page.text.count("40 more tables are not shown") == 1
    # Headings skip no level.
    for path in (three, tables, *(f"/projects/{public.slug}/experiments/deep%20{depth}" for depth in (3, 4))):
        levels = [int(tag[1]) for tag, _ in visitor.read(path).attributes if re.fullmatch("h[1-6]", tag)]
        assert levels[0] == 1
        assert all(then <= now + 1 for now, then in itertools.pairwise(levels)), path
    # Values that differ by the smallest double.
    visitor.read(close)
    for form in ("svg", "png", "vl.json"):
        assert public.get(f"{close[1:]}/heatmap.{form}").status_code == 200
    # A large grid is a picture.
    text = visitor.get(page_of(numeric({"x": 80, "y": 80}), [[float(x)] * 80 for x in range(80)])).text
    source = html.unescape(re.search(r'<img src="([^"]+)"', text)[1])
    assert visitor.get(source).content_type == "image/svg+xml"
    opaque = r'<rect width="100%" height="100%" fill="#\w{6}"/>'
    assert re.search(opaque, visitor.get(source).text), "it hides that it is being drawn"
    assert 'picture::before { content: "drawing…";' in visitor.get("/assets/pages.css").text
    [image] = visitor.read(f"/projects/{public.slug}/experiments/deep%202").all("img")
    assert "range=0.0%2C79.0" in image["src"], "the range that all heat maps there have"
    assert visitor.get(image["src"]).content_type == "image/svg+xml"
    assert 'role="grid"' not in text
    for rows, columns in ((3, 500), (301, 2)):
        values = [[1000.0 * row + step for step in range(columns)] for row in range(rows)]
        path = page_of(numeric({"R": rows, "S": columns}), values)
        page = visitor.computed(path)
        assert page.maps == 0
        assert "These are the first 100 of " in page.text
        assert "neighbouring cells may be joined" in page.text
        assert "heatmap.svg" in visitor.get(path).text


def test_what_changed_between_revisions_is_a_page(public: Project, visitor: Browser) -> None:
    grid = f"/grids/{public.published()['id']}"
    public.publish(publication(values=[[99.3, 95.0, None], [80.0, 100.0, 99.7]]))
    [link] = {link for link in visitor.read(grid).links("/revisions/1..2") if link.endswith("/revisions/1..2")}
    text = visitor.read(link).text
    changed, added = text.index("1 cell changed"), text.index("1 cell added")
    assert changed < text.index("Type 1, Length 1 value 96.7 95") < added < text.index("Type 2, Length 0 80 300")
    assert text.index("1 cell removed") < text.index("Type 1, Length 2 98.3")
    assert "No cell changed." in visitor.read(f"{grid}/revisions/1..1").text
    for path in ("1..9", "0..1", f"1..{'9' * 5000}", "1..x"):
        assert visitor.get(f"{grid}/revisions/{path}").status_code == 404, path


def test_an_older_revision_hands_out_itself_and_nothing_of_the_current_one(public: Project, visitor: Browser) -> None:
    baseline = public.published(model="another")["id"]
    grid = f"/grids/{public.published()['id']}"
    public.published(values=SECOND)
    public.house.compute()
    page = visitor.read(f"{grid}?revision=1")
    assert "This is revision 1; the current one is 2." in page.text
    assert "99.3" in page.text
    assert "trends" not in page.ids
    assert "as_of" in visitor.read(f"{grid}?as_of=2026-01-01", 422).text
    part = visitor.read(f"{grid}?revision=1&at.Length=%3E%3D2").text
    assert "This is revision 1; the current one is 2." in part
    assert "99.3" not in part
    addresses = [given.get("href") or given.get("content") or "" for tag, given in page.attributes if tag != "link"]
    taken = [one for one in addresses if f"/api/v1{grid}" in one]
    assert {one.partition(grid)[2] for one in taken} == {
        f"{form}?revision=1"
        for form in ("", "/cells.csv", ".md", ".txt", "/heatmap.svg", "/heatmap.png", "/heatmap.vl.json")
    }
    for address in taken:
        assert visitor.get(address.removeprefix(public.house.settings.url)).status_code == 200, address
    table = csv.DictReader(visitor.get(f"/api/v1{grid}/cells.csv?revision=1").text.splitlines())
    assert [row["value"] for row in table] == ["99.3", "96.7", "98.3", "100.0", "99.7"]
    assert "not computed yet" not in page.text
    assert "is shown for the current revision only" in page.text
    assert "/statistics.md" in visitor.get(grid).text
    assert not any("revision=" in one for one in visitor.read(grid).links("/statistics"))
    # It is compared with another at that revision.
    wanted = f"contender={grid.removeprefix('/grids/')}&contender_revision=1"
    [offered] = page.links("/comparisons?")
    assert wanted in offered
    assert visitor.read(offered).all("option", value=baseline)


def test_a_grid_in_which_nothing_was_measured_has_no_range_of_colours(public: Project, visitor: Browser) -> None:
    empty, other = public.published(values=[[None] * 3] * 2)["id"], public.published(model="another")["id"]
    page = visitor.read(f"/grids/{empty}")
    assert "Nothing was measured yet." in page.text
    assert "own range" not in page.text
    for path, bars in {
        f"/grids/{empty}": 0,
        f"/grids/{other}": 1,
        f"/projects/{public.slug}/comparisons?baseline={empty}&contender={other}": 1,
    }.items():
        labels = [given.get("aria-label") or "" for given in visitor.read(path).all("svg")]
        assert sum(label.startswith("Colours from ") for label in labels) == bars, path


def test_a_cap_on_series_is_said_where_they_are_counted_and_in_every_form(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.statistics.series.MOST_SERIES", 6)
    sides = [{"name": name, "kind": "numeric", "levels": list(range(1, 6))} for name in ("Depth", "Context")]
    project = house.make_project("public")
    falling = [[90.0 - 9 * row - column for column in range(5)] for row in range(5)]
    grid = project.published(axes=sides, values=falling, trials=1000)["id"]
    house.compute()
    assert project.get(f"grids/{grid}/statistics?part=trends").get_json()["series_left_out"] == 4
    for form in ("txt", "md"):
        told = project.get(f"grids/{grid}/statistics.{form}?part=trends").text
        assert "4 more, beyond the limits, were not analysed" in told
    rows = list(csv.DictReader(io.StringIO(project.get(f"grids/{grid}/statistics.csv?part=trends").text)))
    assert {row["series_left_out"] for row in rows} == {"4"}
    assert "the first 3 of 5 series were analysed: all of them fall" in browser(house).read(f"/grids/{grid}").text


def test_what_is_said_of_a_large_grid_is_true_and_its_numbers_are_written_alike(
    public: Project, visitor: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 50 × 25 scores of 100 trials, with a digit more than such a share has, every tenth is one."""
    values = [[50.0 if column % 10 == 0 else 50.3 for column in range(25)] for _ in range(50)]
    path = f"/grids/{public.published(axes=numeric({'R': 50, 'S': 25}), values=values, trials=100)['id']}"
    page = visitor.computed(path)
    assert "1,100 warnings about the content" in page.text  # 22 of 25 columns
    assert page.text.count("50.3 is not a whole count out of 100 trials") == 3
    assert "and 1,097 more of these" in page.text
    drawn = len([tag for tag, _ in page.attributes if tag == "polyline"])
    monkeypatch.setattr("registry.pages.grid._MOST_POINTS", 1_249)  # 50 series along 25 levels are 1,250 points
    fewer = [tag for tag, _ in visitor.read(path).attributes if tag == "polyline"]
    assert drawn - len(fewer) == 75
    assert "1,250 cells measured" in page.text
    assert "counts out of trials" not in page.text
    shown = page.text.partition("Statistics :")[2].partition(" Trends ")[0]
    assert [shown[one.start() - 60 : one.end()] for one in re.finditer(r"(?<![\d.,])\d{4,}(?![\d.])", shown)] == []


def test_a_map_of_many_columns_shows_colours_alone_and_tells_each_number_and_hole(
    public: Project, visitor: Browser
) -> None:
    values = [[None if row == column else row + column / 100 for column in range(35)] for row in range(35)]
    plain = {"trials": None, "metric": COUNT}
    path = f"/grids/{public.published(axes=numeric({'R': 35, 'S': 35}), values=values, **plain)['id']}"

    def looks(page: Outline) -> list[str]:
        return [str(one["class"]) for one in page.all("table", role="grid")]

    page = visitor.read(path)
    assert looks(page) == ["map cividis dense"]
    tips = [given.get("title") for tag, given in page.attributes if tag == "td" and given.get("tabindex")]
    assert len(tips) == 35 * 35
    assert tips[:2] == ["R 0, S 0: not measured", "R 0, S 1: 0.01"]
    assert len(page.all("td", **{"class": "bare"})) == 35
    assert looks(visitor.read(f"{path}?show=value")) == ["map cividis"]
    few = public.published(benchmark="few", axes=numeric({"S": 20}), values=values[34][:20], **plain)["id"]
    assert looks(visitor.read(f"/grids/{few}")) == ["map cividis"]
