"""Heatmaps as SVG, PNG and Vega-Lite: nothing unmeasured has a colour, nothing is clipped, big grids stay small."""

import gzip
import itertools
import math
import re
import struct
import threading
import time
import xml.etree.ElementTree as ET
import zlib
from random import Random
from typing import Any

import pytest

from registry.errors import Invalid, TooLarge
from registry.renderings.heatmap import Options, heatmap_svg, heatmap_vega, panels
from registry.renderings.heatmap.colours import ink_on, luminance, ramp
from registry.renderings.heatmap.layout import about_size
from registry.renderings.heatmap.png import png_of
from registry.renderings.heatmap.text import fitted, width
from registry.results.statistics import Statistics
from tests.house import ACCURACY
from tests.registry.renderings import grid_documents
from tests.registry.renderings.documents import otherwise, read

SVG = "{http://www.w3.org/2000/svg}"


def axis(name: str, *levels: Any, kind: str = "nominal", unit: str | None = None) -> dict[str, Any]:
    return grid_documents.axis(name, list(levels), kind, unit)


def grid(axes: list[dict[str, Any]], values: Any, **more: Any) -> dict[str, Any]:
    return grid_documents.document(axes, values, **{"benchmark": "Core", "model": "Qwen", "revision": 3} | more)


SMALL = grid(
    [axis("Type", "1", "2"), axis("Length", 0, 1, 2, kind="numeric")], [[0.0, 50.0, None], [100.0, 99.5, 12.5]]
)


@pytest.mark.parametrize("shape", [(400, 400), (1_000, 60), (90, 80)])
def test_the_place_that_a_page_keeps_for_a_large_picture_is_about_its_size(shape: tuple[int, int]) -> None:
    rows, columns = shape
    axes = [axis("Depth", *range(rows), kind="numeric"), axis("Length", *range(columns), kind="numeric")]
    made = grid(axes, [[float(i % 100)] * columns for i in range(rows)])
    kept, root = about_size(made["axes"]), drawn(made)
    assert kept == pytest.approx((float(root.get("width") or 0), float(root.get("height") or 0)), rel=0.06)


def drawn(*given: Any) -> ET.Element:
    return ET.fromstring(heatmap_svg(*given))  # noqa: S314 (made here)


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
    found = cells(drawn(SMALL))
    assert found["Type 1, Length 0: 0.0 %"] == "#00224e"  # the low end of cividis
    assert found["Type 2, Length 0: 100.0 %"] == "#fee838"  # its high end
    hatched = found["Type 1, Length 2: not measured"]
    assert hatched.startswith("url(#")
    assert [fill for fill in found.values() if fill.startswith("url(")] == [hatched]
    assert "0.0" in texts(drawn(SMALL))
    reasons = [{"at": {"Type": "1", "Length": 2}, "reason": "not_applicable"}]
    assert "Type 1, Length 2: not measured (not applicable)" in cells(drawn(SMALL | {"reasons": reasons}))


def frames(root: ET.Element) -> list[tuple[str, bool]]:
    return [
        (one.attrib["stroke"], "stroke-dasharray" in one.attrib)
        for one in root.iter(f"{SVG}rect")
        if one.attrib.get("stroke-width") == "2"
    ]


def among(*places: tuple[str, int], revision: int = 3) -> Statistics | None:
    """Statistics by which the best cell of the small grid is one of these."""
    at = [{"Type": kind, "Length": length} for kind, length in places]
    return read({"revision": revision, "peaks": {"best_set": {"level": 0.95, "size": len(at), "at": at}}})


def test_the_best_value_is_outlined_and_what_else_may_be_the_best_dashed() -> None:
    picture = drawn(SMALL, among(("2", 0), ("2", 1)))
    # One each, and one each in the key.
    assert sorted(dashed for _, dashed in frames(picture)) == [False, False, True, True]
    assert any("With 95 % confidence the best is one of 2 cells." in line for line in texts(picture))
    of_another_revision = drawn(SMALL, among(("2", 1), revision=2))
    assert not any(dashed for _, dashed in frames(of_another_revision))


def test_many_best_cells_are_counted_and_not_outlined() -> None:
    for best, outlined in ((60, 60), (61, 0)):
        values = [[100.0 if 9 * row + column < best else 50.0 for column in range(9)] for row in range(9)]
        found = {"level": 0.95, "size": 75, "at": [{"Type": "1", "Length": 0}]}
        shown = grid([axis("Type", *"123456789"), axis("Length", *range(9), kind="numeric")], values)
        picture = drawn(shown, read({"revision": 3, "peaks": {"best_set": found}}))
        assert len(frames(picture)) == outlined + bool(outlined)
        told = " ".join(texts(picture))
        assert "With 95 % confidence the best is one of 75 cells, too many to dash." in told
        assert ("61 cells have the best value, too many to outline." in told) == (not outlined)


def test_levels_are_written_as_sentences_have_them_and_millions_short_where_that_is_all_of_them() -> None:
    for levels, written in (
        ([4000, 128_000], ["4000", "128000"]),
        ([7e9, 70e9], ["7B", "70B"]),
        ([4096, 131_072], ["4096", "131072"]),
        ([500, 3000], ["500", "3000"]),
    ):
        shown = grid([axis("Type", "1", "2"), axis("Context", *levels, kind="numeric")], [[1.0, 2.0], [3.0, 4.0]])
        assert list(panels.planes_of(shown).columns) == written


def test_a_set_that_rules_out_no_cell_marks_none_and_says_so() -> None:
    picture = drawn(SMALL, among(("1", 0), ("1", 1), ("2", 0), ("2", 1), ("2", 2)))
    assert not any(dashed for _, dashed in frames(picture))
    assert "Each of the 5 cells may be the best, with 95 % confidence, so none is dashed." in " ".join(texts(picture))


def test_lower_is_better_outlines_the_lowest_and_no_direction_nothing() -> None:
    lower = SMALL | {"metric": ACCURACY | {"direction": "lower"}}
    assert "Best: 0.0 at Type 1, Length 0." in heatmap_svg(lower)
    neither = SMALL | {"metric": ACCURACY | {"direction": None}}
    assert frames(drawn(neither)) == []


def test_an_asked_range_says_how_many_lie_beyond_it() -> None:
    svg = heatmap_svg(SMALL, None, Options(span=(10.0, 60.0)))
    assert cells(drawn(SMALL, None, Options(span=(10.0, 60.0))))["Type 1, Length 0: 0.0 %"] == "#00224e"
    assert "3 values lie beyond it" in svg
    assert "the metric&#x27;s bounds, 0 to 100" in heatmap_svg(SMALL, None, Options(span="bounds"))
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


def test_every_shape_is_drawn_inside_its_picture_without_overlap(subtests) -> None:
    for name, shape in SHAPES.items():
        with subtests.test(msg=name):
            texts_are_inside_and_apart(drawn(shape, None, Options(theme="dark")))


def texts_are_inside_and_apart(root: ET.Element) -> None:
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


def test_a_grid_with_too_many_cells_for_numbers_has_none() -> None:
    levels = range(80)
    big = grid([axis("R", *levels), axis("C", *levels)], [[float(i + j) for j in levels] for i in levels])
    svg, spec = heatmap_svg(big), heatmap_vega(big)
    assert "<g><title>" not in svg
    assert len(svg) < 400_000
    assert not any(layer["mark"]["type"] == "text" for layer in spec["layer"])
    assert spec["width"] == spec["height"] == {"step": 1300 / 80}


def test_many_cells_make_a_picture_of_bounded_size_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panels, "MOST_BLOCKS", 500)
    row = [float(i) for i in range(160)]
    svg = heatmap_svg(grid([axis("R", *range(160)), axis("C", *range(160))], [row, [None] * 160] * 80))
    assert len(svg) < 1_500_000 / 40
    assert "a block is the mean of what was measured in up to 8 × 7 cells" in svg
    assert "Best: 159 at" in svg


def test_text_on_a_cell_has_the_contrast_that_wcag_asks_for() -> None:
    for palette in ("cividis", "blues"):
        for ground in ramp(palette):
            high, low = sorted((luminance(ground), luminance(ink_on(ground))), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5, (palette, ground)


def test_fitted_text_is_never_wider_than_its_room() -> None:
    for text in ("abc", "W" * 100, "日本語" * 30, "مرحبا" * 20):
        assert width(fitted(text, 12, 90), 12) <= 90
    names = [f"org/family-version-70b-instruct-2025-01-{end}" for end in "ab"]
    assert [fitted(name, 12, 96) for name in names] == ["org/fa…5-01-a", "org/fa…5-01-b"], "their ends tell them apart"


def test_the_png_has_the_size_of_the_svg_times_the_zoom() -> None:
    svg = heatmap_svg(SMALL)
    root = drawn(SMALL)
    for zoom in (1, 2):
        png = png_of(svg, zoom)
        assert png.startswith(b"\x89PNG")
        assert struct.unpack(">II", png[16:24]) == (zoom * int(root.attrib["width"]), zoom * int(root.attrib["height"]))
    with pytest.raises(Invalid, match="pixels"):
        png_of('<svg xmlns="http://www.w3.org/2000/svg" width="9000" height="9000"></svg>', 1.0)


def test_vega_lite_refuses_what_does_not_belong_inside_a_specification() -> None:
    row = [0.0] * 201
    with pytest.raises(TooLarge, match="20000"):
        heatmap_vega(grid([axis("R", *range(100)), axis("C", *range(201))], [row] * 100))


@pytest.mark.parametrize("columns", [2, 20])
def test_a_long_benchmark_leaves_model_variant_and_metric_in_the_title(columns: int) -> None:
    long = {"benchmark": "benchmark" * 28, "model": "Qwen", "variant": "quiet"}
    wordy = grid([axis("C", *range(columns), kind="numeric")], [0.5] * columns, **long)
    title = heatmap_vega(wordy)["title"]["text"]
    for text in (" ".join(texts(drawn(wordy))), title if isinstance(title, str) else " ".join(title)):
        assert " · Qwen · quiet — accuracy (%)" in text


def test_a_grid_is_drawn_in_every_form(subtests, snapshot) -> None:
    """The tests above say what is right; here is all that is drawn and said."""
    given: dict[str, tuple[Any, ...]] = {
        "title, key, description, best value, and what else may be best": (SMALL, among(("2", 0), ("2", 1))),
        "dark, in blues, in an asked range": (SMALL, None, Options("blues", "dark", span=(10.0, 60.0))),
        "the number in the middle of the colours is the middle": (grid([axis("W", "a", "b")], [1.0, 2.0]),),
        "lower is better": (SMALL | {"metric": ACCURACY | {"direction": "lower"}},),
        "as far apart as doubles can be": (SHAPES["extremes"],),
        "panels share one range": (SHAPES["three"],),
        "no axis": (SHAPES["none"],),
        "one axis": (SHAPES["one"],),
        "long names": (SHAPES["long"],),
    }
    first = heatmap_vega(*next(iter(given.values())))
    assert first == snapshot(name="the first, Vega-Lite")
    for name, one in given.items():
        with subtests.test(msg=name):
            assert heatmap_svg(*one).replace("><", ">\n<") == snapshot(name=f"{name}, SVG")
            assert otherwise(first, heatmap_vega(*one)) == snapshot(name=f"{name}, Vega-Lite")


def blue(png: bytes) -> list[bytes]:
    """The blue of each pixel, by rows (PNG, 9: filters of 8-bit RGBA; channels do not depend on each other)."""
    (wide, high), at, packed = struct.unpack(">II", png[16:24]), 8, b""
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        packed += png[at + 8 : at + 8 + length] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += 12 + length
    raw, above, found = zlib.decompress(packed), bytes(wide), []
    for row in range(high):
        line = raw[row * (1 + 4 * wide) : (row + 1) * (1 + 4 * wide)]
        kind, sent, here, left, corner = line[0], line[3::4], bytearray(wide), 0, 0
        for place, (one, up) in enumerate(zip(sent, above, strict=True)):
            near = (abs(up - corner), 0, left), (abs(left - corner), 1, up), (abs(left + up - 2 * corner), 2, corner)
            left = here[place] = (one + (0, left, up, (left + up) // 2, min(near)[2])[kind]) % 256
            corner = up
        above = bytes(here)
        found.append(above)
    return found


def test_a_picture_of_the_most_cells_is_small_also_where_no_two_are_alike() -> None:
    """A page of 26 kB with it stays below 150 kB, packed."""
    chance, sides = Random(4), [axis(name, *range(400), kind="numeric") for name in ("Depth", "Context")]
    svg = heatmap_svg(grid(sides, [[chance.uniform(20, 95) for _ in range(400)] for _ in range(400)]))
    assert len(gzip.compress(svg.encode())) < 100_000


def test_every_column_and_row_of_pixels_of_a_large_map_belongs_to_a_cell() -> None:
    """A gap between neighbours would be a white line from one end to the other: a column that nobody measured."""
    sides = [axis(name, *range(230), kind="numeric") for name in ("Depth", "Context")]
    svg = heatmap_svg(grid(sides, [[float(row + column) for column in range(230)] for row in range(230)]))
    [(left, top, wide, high)] = [
        tuple(map(float, one)) for one in re.findall(r'"translate\((\S+) (\S+)\) scale\((\S+) (\S+)\)"', svg)
    ]
    runs = [tuple(map(int, one)) for one in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\3z", svg)]
    right = left + wide * max(column + count for column, _, count in runs)
    bottom = top + high * (1 + max(row for _, row, _ in runs))
    pixels = blue(png_of(svg))[math.ceil(top) : math.floor(bottom)]
    plot = [row[math.ceil(left) : math.floor(right)] for row in pixels]
    assert (len(plot) > 600, len(plot[0]) > 1000) == (True, True)
    for lines in (plot, list(zip(*plot, strict=True))):
        assert [place for place, line in enumerate(lines) if sum(one == 255 for one in line) > len(line) / 20] == []


def test_other_threads_go_on_while_a_large_picture_is_drawn() -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="1500" height="1500"><rect width="9" height="9"/></svg>'
    stopped = threading.Event()
    gaps = [0.0]

    def count() -> None:
        last = time.monotonic()
        while not stopped.wait(0.01):
            now = time.monotonic()
            gaps.append(now - last)
            last = now

    counting = threading.Thread(target=count)
    counting.start()
    try:
        drawn = png_of(svg, 4.0)
    finally:
        stopped.set()
        counting.join()
    assert drawn.startswith(b"\x89PNG")
    assert max(gaps) < 0.5
