"""A Vega-Lite specification is drawn by Vega: every one compiles, and shows what the page shows."""

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest
import vl_convert

from registry.pages.heatmap import heatmap_of
from registry.renderings.charts.lines import lines_vega
from registry.renderings.charts.paint import COLOURS
from registry.renderings.charts.trade_off import trade_off_vega
from registry.renderings.heatmap import Options, heatmap_vega
from registry.renderings.heatmap.colours import THEMES
from tests.registry.renderings import test_charts, test_every_shape_in_every_form
from tests.registry.renderings.documents import read
from tests.registry.renderings.grid_documents import axis, document
from tests.registry.renderings.test_heatmaps import SHAPES, SMALL

LOG = axis("Context", [1000, 10_000, 100_000], "numeric", "tokens") | {"scale": "log"}
LABELLED = axis("Size", [{"label": "7b", "number": 7e9}, {"label": "70b", "number": 7e10}], "numeric")
LOSS = {"name": "loss.nats[0]", "unit": None, "direction": "lower", "lower": None, "upper": None}
GRIDS: dict[str, dict[str, Any]] = SHAPES | {
    "two axes": SMALL,
    "log": document([axis("Kind", ["low", "high"], "ordinal"), LOG], [[83.0, 82.5, None], [80.0, 79.9, 70.0]]),
    "labelled": document([LABELLED, axis('a.b[0]"\\', ["x.y", "[z]", "'"])], [[1.0, None, 3.0], [None, 5.0, 6.5]]),
    "lower is better": document([axis("Step", [1, 2, 3], "numeric")], [8.9, 7.75, 9.3], metric=LOSS),
    "smallest": document([axis("x", ["a", "b"])], [2.225073858507201e-308, 2.2250738585072014e-308]),
    "many": document(
        [axis("R", list(range(90)), "numeric"), axis("C", list(range(60)), "numeric")],
        [[float(row * column) for column in range(60)] for row in range(90)],
    ),
}


def drawn(grid: dict[str, Any], *more: Any) -> ET.Element:
    return ET.fromstring(vl_convert.vegalite_to_svg(heatmap_vega(grid, *more), vl_version="6.4"))  # noqa: S314


@pytest.mark.parametrize("name", ["\\", "\\\\", '\\"', "' + 1 + '", "]", "\u2028", "{{x}}", "*/", "`${1}`", "x" * 256])
def test_no_name_is_read_as_an_expression(name: str) -> None:
    """In a tooltip's title a backslash would end the text of an expression, and what follows would be run."""
    metric = {"name": name, "unit": name, "direction": "higher", "lower": None, "upper": None}
    grid = document([axis(name, [name, "b"]), axis("y", ["a", name])], [[1.0, None], [2.0, 3.0]], metric=metric)
    drawn(grid | dict.fromkeys(("experiment", "benchmark", "model", "variant"), name))


def rectangles(root: ET.Element, layer: str) -> list[dict[str, str]]:
    """The attributes of the shapes of one layer, over all panels."""
    groups = (one for one in root.iter() if re.search(rf"[ _]{layer}_marks\b", one.get("class", "")))
    return [dict(path.attrib) for group in groups for path in group.iter() if path.tag.endswith("path")]


def texts(root: ET.Element, layer: str) -> list[str]:
    groups = (one for one in root.iter() if re.search(rf"[ _]{layer}_marks\b", one.get("class", "")))
    return [text.text or "" for group in groups for text in group.iter() if text.tag.endswith("text")]


def shown(grid: dict[str, Any]) -> list[str]:
    """The numbers in the cells of the page."""
    return [square.text for plate in heatmap_of(grid).plates for _, row in plate.rows for square in row if square.text]


@pytest.mark.parametrize("name", GRIDS)
def test_every_specification_is_drawn_with_the_numbers_of_the_page(name: str) -> None:
    grid = GRIDS[name]
    root, spec = drawn(grid), heatmap_vega(grid)
    values = [cell["value"] for cell in spec["data"]["values"]]
    layers = {number: rectangles(root, f"layer_{number}") for number in range(6)}
    missing = values.count(None)
    assert len(layers[0]) == len(layers[1]) == missing
    assert all(THEMES["light"].hatch in one["stroke"] for one in layers[1])
    assert len(layers[2]) == len(values) - missing
    if name != "many":
        written = [line.replace("\u2212", "-") for line in texts(root, "layer_3")]
        assert sorted(written) == sorted(shown(grid))
    spoken = [one["aria-label"] for one in (*layers[0], *layers[2])]
    assert sorted(spoken) == sorted(cell["told"] for cell in spec["data"]["values"])
    assert ("hatched" in spec["description"]) == bool(missing and missing < len(values))


def test_the_best_cell_and_what_may_be_the_best_are_framed_in_every_theme_and_palette() -> None:
    within = {"level": 0.95, "size": 2, "at": [{"Type": "2", "Length": 0}, {"Type": "2", "Length": 1}]}
    for theme, palette in (("dark", "cividis"), ("light", "blues")):
        root = drawn(SMALL, read({"revision": 3, "peaks": {"best_set": within}}), Options(palette, theme))
        tied, best = (rectangles(root, f"layer_{number}") for number in (4, 5))
        assert [one["stroke"] for one in (*tied, *best)] == [THEMES[theme].peak] * 2


def among(root: ET.Element, *known: str) -> list[str]:
    """The texts of a picture that are one of these, as they stand."""
    return [text.text or "" for text in root.iter() if text.tag.endswith("text") and text.text in known]


def test_levels_and_panels_stand_in_their_order_also_where_whole_rows_are_missing() -> None:
    axes = [axis("R", ["z", "m", "a"]), axis("C", ["9", "10", "1"])]
    root = drawn(document(axes, [[None] * 3, [3.0, None, 4.0], [None, 5.0, 6.0]]))
    assert among(root, "z", "m", "a") == ["z", "m", "a"]
    assert among(root, "9", "10", "1") == ["9", "10", "1"]
    axes = [axis("P", ["z", "a"]), axis("Q", ["y", "b"]), axis("R", ["r"]), axis("C", ["c"])]
    root = drawn(document(axes, [[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]))
    assert texts(root, "layer_3") == ["1", "2", "3", "4"]
    assert among(root, "z", "a") == ["z", "a"]
    assert among(root, "y", "b") == ["y", "b"]


def test_many_columns_and_a_long_title_do_not_make_a_picture_wide() -> None:
    """500 columns at 53 pixels and a title in one line were 26,581 pixels wide."""
    axes = [axis("R", [0, 1, 2], "numeric"), axis("C", list(range(500)), "numeric")]
    long = {"benchmark": "benchmark " * 25, "model": "the model", "variant": "the variant"}
    grid = document(axes, [[0.123456] * 500] * 3, **long)
    root = drawn(grid)
    assert float(root.attrib["width"]) < 1_600
    assert len(rectangles(root, "layer_2")) == 1_500
    assert not any(layer["mark"]["type"] == "text" for layer in heatmap_vega(grid)["layer"])
    small = document([axis("C", [1, 2], "numeric")], [1.0, 2.0], benchmark="b" * 256, experiment="e" * 256)
    assert float(drawn(small).attrib["width"]) < 640


@pytest.mark.parametrize("name", test_every_shape_in_every_form.GRIDS)
def test_every_shape_is_drawn_with_its_statistics(name: str) -> None:
    one = test_every_shape_in_every_form.shape(name, test_every_shape_in_every_form.GRIDS[name])
    drawn(one.document, read(one.found))


def test_lines_and_a_trade_off_are_drawn() -> None:
    assert "<svg" in vl_convert.vegalite_to_svg(lines_vega(test_charts.lines([1.0, None, 3.0, 4.0])))
    svg = vl_convert.vegalite_to_svg(trade_off_vega(test_charts.trade_off(*test_charts.THREE)))
    points = re.findall(r'told: (\w): .*?M([\d.]+),0A.*? fill="(#\w+)" stroke="(#\w+)"', svg)
    blue, grey, ground = COLOURS["light"][0], THEMES["light"].faint, THEMES["light"].ground
    assert {name: look for name, _, *look in points} == {
        "a": [blue, blue], "b": [blue, blue], "c": [grey, grey], "d": [ground, blue],
    }  # fmt: skip
    radii = {name: float(radius) for name, radius, *_ in points}
    assert radii["c"] < radii["d"] == radii["a"]
