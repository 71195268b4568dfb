"""Heatmaps as SVG, PNG and Vega-Lite: nothing unmeasured has a colour, nothing is clipped, big grids stay small."""

from __future__ import annotations

import itertools
import math
import re
import struct
import xml.etree.ElementTree as ET
from typing import Any

import grid_documents
import pytest

from registry.errors import Invalid, TooLarge
from registry.renderings.heatmap import Options, heatmap_svg, heatmap_vega
from registry.renderings.heatmap.colours import ink_on, luminance, ramp
from registry.renderings.heatmap.png import png_of
from registry.renderings.heatmap.text import FAMILY, fitted, width
from tests.house import ACCURACY
from tests.registry.renderings.documents import read

SVG = "{http://www.w3.org/2000/svg}"


def axis(name: str, *levels: Any, kind: str = "nominal", unit: str | None = None) -> dict[str, Any]:
    return grid_documents.axis(name, list(levels), kind, unit)


def grid(axes: list[dict[str, Any]], values: Any, **more: Any) -> dict[str, Any]:
    return grid_documents.document(axes, values, **{"benchmark": "Core", "model": "Qwen", "revision": 3} | more)


SMALL = grid(
    [axis("Type", "1", "2"), axis("Length", 0, 1, 2, kind="numeric")], [[0.0, 50.0, None], [100.0, 99.5, 12.5]]
)


def drawn(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 (made here)


def texts(root: ET.Element) -> list[str]:
    return ["".join(one.itertext()) for one in root.iter(f"{SVG}text")]


def cells(root: ET.Element) -> dict[str, str]:
    """What a pointer is told of each cell, and the fill of the cell."""
    found = {}
    for parent in root.iter():
        told = parent.find(f"{SVG}title")
        if told is not None and parent.tag != f"{SVG}svg":
            box = parent if parent.tag == f"{SVG}rect" else parent.find(f"{SVG}rect")
            assert box is not None
            found[told.text or ""] = box.attrib["fill"]
    return found


def test_zero_is_a_colour_with_its_number_and_unmeasured_is_hatched() -> None:
    found = cells(drawn(heatmap_svg(SMALL)))
    assert found["Type 1, Length 0: 0.0 %"] == "#00224e"  # the low end of cividis
    assert found["Type 2, Length 0: 100.0 %"] == "#fee838"  # its high end
    hatched = found["Type 1, Length 2: not measured"]
    assert hatched.startswith("url(#")
    assert [fill for fill in found.values() if fill.startswith("url(")] == [hatched]
    assert "0.0" in texts(drawn(heatmap_svg(SMALL)))


def test_a_reason_for_a_gap_is_told() -> None:
    reasons = [{"at": {"Type": "1", "Length": 2}, "reason": "not_applicable"}]
    assert "Type 1, Length 2: not measured (not applicable)" in cells(drawn(heatmap_svg(SMALL | {"reasons": reasons})))


def test_title_unit_levels_and_range_are_written() -> None:
    said = texts(drawn(heatmap_svg(SMALL)))
    assert said[0] == "Core · Qwen · Baseline — accuracy (%)"
    assert said[1] == "type-by-length · revision 3 · 5 of 6 measured · higher is better"
    for word in ("Type", "Length", "1", "2", "%", "100.0", "50.0", "not measured", "best value"):
        assert word in said
    assert any("own range, 0 to 100" in line for line in said)


def test_a_picture_says_itself_to_who_cannot_see_it() -> None:
    root = drawn(heatmap_svg(SMALL))
    assert root.attrib["role"] == "img"
    named = {one.attrib["id"]: one.text for one in root if one.tag in (f"{SVG}title", f"{SVG}desc")}
    assert set(named) == set(root.attrib["aria-labelledby"].split())
    told = " ".join(map(str, named.values()))
    assert "5 of 6 cells were measured" in told
    assert "Best: 100.0 at Type 2, Length 0." in told


def frames(root: ET.Element) -> list[tuple[str, bool]]:
    return [
        (one.attrib["stroke"], "stroke-dasharray" in one.attrib)
        for one in root.iter(f"{SVG}rect")
        if one.attrib.get("stroke-width") == "2"
    ]


def test_the_best_value_is_outlined_and_what_else_may_be_the_best_dashed() -> None:
    within = {"level": 0.95, "size": 2, "at": [{"Type": "2", "Length": 0}, {"Type": "2", "Length": 1}]}
    statistics = {"revision": 3, "peaks": {"best_set": within}}
    found = frames(drawn(heatmap_svg(SMALL, read(statistics))))
    assert sorted(dashed for _, dashed in found) == [False, False, True, True]  # one each, and one each in the key
    assert any(
        "With 95 % confidence the best is one of 2 cells." in line
        for line in texts(drawn(heatmap_svg(SMALL, read(statistics))))
    )


def test_statistics_of_another_revision_mark_nothing() -> None:
    stale = {"revision": 2, "peaks": {"best_set": {"level": 0.95, "size": 1, "at": [{"Type": "2", "Length": 1}]}}}
    assert not any(dashed for _, dashed in frames(drawn(heatmap_svg(SMALL, read(stale)))))


def test_lower_is_better_outlines_the_lowest_and_no_direction_nothing() -> None:
    lower = SMALL | {"metric": ACCURACY | {"direction": "lower"}}
    assert "Best: 0.0 at Type 1, Length 0." in heatmap_svg(lower)
    neither = SMALL | {"metric": ACCURACY | {"direction": None}}
    assert frames(drawn(heatmap_svg(neither))) == []


def test_an_asked_range_says_how_many_lie_beyond_it() -> None:
    svg = heatmap_svg(SMALL, None, Options(span=(10.0, 60.0)))
    assert cells(drawn(svg))["Type 1, Length 0: 0.0 %"] == "#00224e"
    assert "3 values lie beyond it" in svg
    assert "the metric&#x27;s bounds, 0 to 100" in heatmap_svg(SMALL, None, Options(span="bounds"))


def test_bounds_that_a_metric_does_not_have_are_refused() -> None:
    with pytest.raises(Invalid, match="bounds"):
        heatmap_svg(SMALL | {"metric": ACCURACY | {"upper": None}}, None, Options(span="bounds"))


ODD = 'A label that goes on and on, beyond what any picture has room for <&> "quoted"'
SHAPES = {
    "none": grid([], 3.25),
    "one": grid([axis("Length", 1, 10, 100, kind="numeric", unit="tokens")], [0.0, None, -2.5]),
    "long": grid(
        [axis("Very long axis " * 9, ODD, ODD + "2"), axis("模型", "אורך ארוך", "日本語", "🙂")], [[1, 2, 3], [4, 5, 6]]
    ),
    "three": grid([axis("S", "a", "b"), axis("R", "x"), axis("C", "u", "v")], [[[1.0, 2.0]], [[None, 4.0]]]),
    "four": grid([axis("A", "a"), axis("B", "b", "c"), axis("R", "x"), axis("C", "u")], [[[[1.0]], [[2.0]]]]),
    "extremes": grid([axis("W", "a", "b", "c")], [1.7e308, -1.7e308, 5e-324]),
    "equal": grid([axis("W", "a", "b")], [7.0, 7.0]),
    "unmeasured": grid([axis("W", "a", "b")], [None, None]),
    "no levels": grid([axis("W"), axis("V", "a")], []),
    "many": grid([axis("W", *map(str, range(60)))], [i / 7 for i in range(60)]),
    "wordy": grid([axis("W", "a")], [1.0], model="M" * 200, benchmark="long words " * 18, experiment="e" * 200),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_shape_is_drawn_inside_its_picture_without_overlap(name: str, theme: str) -> None:
    root = drawn(heatmap_svg(SHAPES[name], None, Options(theme=theme)))
    wide, high = float(root.attrib["width"]), float(root.attrib["height"])
    boxes = []
    for one in root.iter(f"{SVG}text"):
        size = float(one.attrib.get("font-size", 12))
        long = width("".join(one.itertext()), size)
        if "transform" in one.attrib:
            x, y = map(float, re.findall(r"translate\(([\d.-]+) ([\d.-]+)\)", one.attrib["transform"])[0])
            left, top, right, bottom = x - long * math.sqrt(0.5), y - size, x + size, y + long * math.sqrt(0.5)
        else:
            x, y = float(one.attrib["x"]), float(one.attrib["y"])
            anchor = one.attrib.get("text-anchor", "middle" if "font-size" not in one.attrib else "start")
            left = x - {"start": 0.0, "middle": long / 2, "end": long}[anchor]
            top, right, bottom = y - size * 0.75, left + long, y + size * 0.1
            boxes.append((left, top, right, bottom))
        assert left >= -0.5, one.text
        assert top >= -0.5, one.text
        assert right <= wide + 0.5, one.text
        assert bottom <= high + 0.5, one.text
    for a, b in itertools.combinations(boxes, 2):
        beside = a[2] <= b[0] + 0.5 or b[2] <= a[0] + 0.5 or a[3] <= b[1] + 0.5 or b[3] <= a[1] + 0.5
        assert beside, (a, b)


def test_panels_share_one_range() -> None:
    found = cells(drawn(heatmap_svg(SHAPES["three"])))
    assert found["R x, C u: 1.0 %"] == "#00224e"
    assert found["R x, C v: 4.0 %"] == "#fee838"


def test_a_grid_with_too_many_cells_for_numbers_has_none() -> None:
    levels = range(80)
    big = grid([axis("R", *levels), axis("C", *levels)], [[float(i + j) for j in levels] for i in levels])
    svg = heatmap_svg(big)
    assert "<g><title>" not in svg
    assert len(svg) < 400_000


def test_a_million_cells_make_a_picture_of_bounded_size_that_says_so() -> None:
    row = [float(i) for i in range(1000)]
    svg = heatmap_svg(grid([axis("R", *range(1000)), axis("C", *range(1000))], [row, [None] * 1000] * 500))
    assert len(svg) < 1_500_000
    assert "a block is the mean of what was measured in up to 8 × 7 cells" in svg
    assert "Best: 999 at" in svg


def test_text_on_a_cell_has_the_contrast_that_wcag_asks_for() -> None:
    for palette in ("cividis", "blues"):
        for ground in ramp(palette):
            high, low = sorted((luminance(ground), luminance(ink_on(ground))), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5, (palette, ground)


def test_fitted_text_is_never_wider_than_its_room() -> None:
    for text in ("abc", "W" * 100, "日本語" * 30, "مرحبا" * 20):
        assert width(fitted(text, 12, 90), 12) <= 90


def test_the_png_has_the_size_of_the_svg_times_the_zoom() -> None:
    svg = heatmap_svg(SMALL)
    root = drawn(svg)
    for zoom in (1, 2):
        png = png_of(svg, zoom)
        assert png.startswith(b"\x89PNG")
        assert struct.unpack(">II", png[16:24]) == (zoom * int(root.attrib["width"]), zoom * int(root.attrib["height"]))
    assert FAMILY.startswith("DejaVu Sans")


def test_a_picture_with_too_many_pixels_is_refused() -> None:
    with pytest.raises(Invalid, match="pixels"):
        png_of('<svg xmlns="http://www.w3.org/2000/svg" width="9000" height="9000"></svg>', 1.0)


def test_vega_lite_paints_no_cell_that_nobody_measured() -> None:
    spec = heatmap_vega(SMALL)
    missing = [one for one in spec["data"]["values"] if one["value"] is None]
    at = {"row": "1", "column": "2", "row_at": 0, "column_at": 2}
    assert missing == [at | {"value": None, "told": "Type 1, Length 2: not measured"}]
    coloured = [layer for layer in spec["layer"] if layer.get("encoding", {}).get("color", {}).get("field") == "value"]
    assert [layer["transform"] for layer in coloured] == [[{"filter": "isValid(datum.value)"}]]
    assert coloured[0]["encoding"]["color"]["scale"]["domain"] == [0.0, 100.0]


def test_vega_lite_refuses_what_does_not_belong_inside_a_specification() -> None:
    row = [0.0] * 201
    with pytest.raises(TooLarge, match="20000"):
        heatmap_vega(grid([axis("R", *range(100)), axis("C", *range(201))], [row] * 100))


def test_a_set_that_rules_out_no_cell_marks_none_and_says_so() -> None:
    everywhere = [
        {"Type": kind, "Length": length} for kind in "12" for length in range(3) if kind + str(length) != "12"
    ]
    statistics = {"revision": 3, "peaks": {"best_set": {"level": 0.95, "size": 5, "at": everywhere}}}
    picture = drawn(heatmap_svg(SMALL, read(statistics)))
    assert not any(dashed for _, dashed in frames(picture))
    assert "the best is one of 5 cells: none is ruled out, so none is dashed." in " ".join(texts(picture))


def test_the_number_in_the_middle_of_the_colours_is_the_middle() -> None:
    """Between 1 and 2 it said 2."""
    said = texts(drawn(heatmap_svg(grid([axis("W", "a", "b")], [1.0, 2.0]))))
    assert {"1", "1.5", "2"} <= set(said)
    assert said.count("2") == 2  # in its cell, and at the end of the colours
