"""Notebooks show what was read back as tables and heatmaps: every value, every hole, and nothing that could run."""

from html.parser import HTMLParser
from typing import Any

import pytest

from results_registry import GridDocument, cells, comparison, grid, grids, ranking, statistics
from results_registry.records import Records
from tests.client.conftest import Served

_ALLOWED = {"div", "b", "br", "a", "span", "table", "thead", "tbody", "tr", "th", "td"}


class Parsed(HTMLParser):
    """The rows of texts of every table, the styles of its cells, and all other text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.styles: list[str] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(html)
        assert not self.open, "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _ALLOWED
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag == "br":
            return
        self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        if tag == "td":
            self.styles.append(dict(attrs).get("style") or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if "table" in self.open and self.open[-1] != "table":
            self.tables[-1][-1][-1] += data


def shown(found: Any) -> Parsed:
    return Parsed(found._repr_html_())


@pytest.fixture
def published(served: Served) -> dict[str, Any]:
    for model, shift in (("A", 0.0), ("B", -10.0)):
        values = [[90.0 + shift, 91.0 + shift, 92.0 + shift], [None, 80.0 + shift, 70.0 + shift]]
        served.project.published(model=model, benchmark="one", values=values)
    served.project.house.compute()
    return {"url": served.url, "token": served.project.tokens["reader"], "project": served.project.slug}


def test_a_grid_is_a_heatmap_with_its_holes_hatched(published: dict[str, Any]) -> None:
    [one] = grids(model="A", **published)
    page = shown(grid(one["id"], **published))
    assert page.tables == [[["Type \\ Length", "0", "1", "2"], ["1", "90", "91", "92"], ["2", "·", "80", "70"]]]
    assert "5 of 6 cells measured" in page.text
    assert ["gradient" in style for style in page.styles] == [False, False, False, True, False, False]
    # cividis ends in (254, 232, 56), which is the best value, and begins with (0, 34, 78).
    assert "rgb(254,232,56)" in page.styles[2]
    assert "rgb(0,34,78)" in page.styles[5]


@pytest.mark.parametrize(("depth", "tables", "rows"), [(0, 1, 1), (1, 1, 2), (2, 1, 3), (3, 2, 6), (4, 4, 12)])
def test_grids_of_any_depth_are_shown(depth: int, tables: int, rows: int) -> None:
    values: Any = 1.5
    for _ in range(depth):
        values = [values, None] if not isinstance(values, list) else [values, values]
    axes = [
        {"name": f"a{place}", "kind": "nominal", "levels": ["x", {"label": "y", "number": 2}]} for place in range(depth)
    ]
    page = shown(made(axes=axes, values=values))
    assert (len(page.tables), sum(len([row for row in table if row]) for table in page.tables)) == (tables, rows)


def made(**given: Any) -> GridDocument:
    base = {
        "experiment": "e", "benchmark": "b", "model": "m", "variant": "", "revision": 1,
        "metric": {"name": "loss", "unit": "", "direction": "lower"}, "axes": [], "values": 1.0,
    }  # fmt: skip
    return GridDocument(base | given)


def test_lower_is_better_has_the_better_end_of_the_colours() -> None:
    axes = [{"name": "s", "kind": "numeric", "levels": [1, 2]}]
    assert "rgb(254,232,56)" in shown(made(axes=axes, values=[-1e308, 1e308])).styles[0]


def test_what_is_cut_is_counted() -> None:
    levels = list(range(100))
    page = shown(
        made(axes=[{"name": "x", "levels": levels}, {"name": "y", "levels": levels}], values=[[1.0] * 100] * 100)
    )
    assert "40 more rows are not shown" in page.text
    assert "60 more columns are not shown" in page.text
    assert "940 more rows are not shown" in shown(Records([{"a": 1}] * 1000)).text


def test_no_text_becomes_html() -> None:
    evil = "<script>alert(1)</script>\"'"
    document = made(
        model=evil, experiment=evil, metric={"name": evil, "unit": evil}, html_url=f"https://x/{evil}",
        axes=[{"name": evil, "levels": [evil]}, {"name": evil, "levels": [evil]}], values=[[1.0]],
    )  # fmt: skip
    assert shown(document).text.count("alert(1)") >= 5
    assert "<a" not in made(html_url="javascript:alert(1)")._repr_html_()
    assert shown(Records([{evil: evil}])).tables == [[[evil], [evil]]]


def test_rankings_comparisons_cells_and_statistics_are_tables(served: Served, published: dict[str, Any]) -> None:
    first = shown(ranking("type-by-length", "accuracy", **published))
    assert [row[:3] for row in first.tables[0]] == [["rank", "model", "score"], ["1", "A", "5"], ["2", "B", "-5"]]
    one, other = (grids(model=model, **published)[0] for model in "BA")
    pending = comparison(one, other, timeout=0, **published)
    assert ["status", "pending"] in shown(pending).tables[0]
    served.project.house.compute()
    compared = comparison(one, other, **published)
    told = dict(shown(compared).tables[0][1:])
    assert (told["baseline"], told["contender"]) == ("B", "A")
    test, interval = compared["test"], compared["test"]["interval"]
    assert told["difference"] == f"{test['difference']:.6g}"
    assert told["interval"] == f"{interval['low']:.6g} to {interval['high']:.6g}"
    assert dict(shown(statistics(one, **published)).tables[0][1:])["state"] == "ready"
    assert len(shown(cells(model="A", **published)).tables[0]) == 6
    assert "pending" in shown(ranking("type-by-length", "accuracy", at={"Type": "1"}, timeout=0, **published)).text
    assert "0 rows" in shown(Records()).text
