"""Lines and trade-offs as SVG, parsed again: points where the numbers say, gaps that are gaps, names apart."""

import re
from dataclasses import replace
from itertools import combinations, pairwise, product
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from registry.renderings import sheet
from registry.renderings.charts.frame import chart_png, log_span, span_of
from registry.renderings.charts.lines import lines_svg, lines_vega
from registry.renderings.charts.paint import COLOURS, HUES, ChartOptions, spread
from registry.renderings.charts.trade_off import trade_off_svg, trade_off_vega
from registry.renderings.heatmap.colours import THEMES as GROUNDS
from registry.renderings.heatmap.colours import luminance
from registry.renderings.lines import changes, lines_csv, notes, page, subtitle, x_scale
from registry.renderings.trade_off import page as page_of_trade_off
from registry.renderings.trade_off import trade_off_csv
from registry.results.lines import Estimate, Line, LineLevel, LinePoint, Lines
from registry.results.terms import Interval, Warning
from registry.results.trade_offs import NameWithout, Quantity, TradeOff, TradeOffPoint
from tests import ROOT
from tests.registry.renderings.documents import otherwise

pytestmark = pytest.mark.unit
SVG = "{http://www.w3.org/2000/svg}"
METRIC: Any = {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0.0, "upper": 100.0}


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314 (our own)


def lines(*rows: list[float | None], numbers: list[float] | None = None, **changes: Any) -> Lines:
    """Lines a, b … with these means at levels 0, 1 …; None is a gap. Intervals of one on either side."""
    at = numbers or [float(one) for one in range(len(rows[0]))]
    made = [
        Line(
            chr(97 + number),
            tuple(
                LinePoint(level, mean, 3, 0.5, Interval(0.95, mean - 1, mean + 1))
                for level, mean in zip(at, row, strict=True)
                if mean is not None
            ),
            number,
        )
        for number, row in enumerate(rows)
    ]
    levels = tuple(LineLevel(level, f"{level:g}", 3, 0) for level in at)
    known: dict[str, Any] = {"metric": METRIC, "along": "Step", "levels": levels, "lines": tuple(made)}
    return Lines("e", **(known | changes))


def markers(svg: str) -> list[tuple[str, float, float]]:
    """The title and the place of every marker."""
    found = []
    for one in parsed(svg).iter():
        title = one.find(f"{SVG}title")
        if title is not None and one.tag in (f"{SVG}circle", f"{SVG}path"):
            x, y = (
                (one.get("cx"), one.get("cy")) if one.tag == f"{SVG}circle" else re.findall(r"[\d.]+", one.get("d"))[:2]
            )
            found.append((title.text, float(x), float(y)))
    return found


def joined(svg: str) -> list[int]:
    """How many points each unbroken stretch of a line has."""
    paths = [one.get("d") for one in parsed(svg).iter(f"{SVG}path") if one.get("stroke-linejoin")]
    return [part.count("L") + 1 for path in paths for part in path.split("M")[1:]]


def test_points_stand_where_their_numbers_say() -> None:
    means, numbers = [10.0, 30.0, 20.0, 90.0], [1.0, 2.0, 4.0, 10.0]
    found = markers(lines_svg(lines(means, numbers=numbers)))
    xs, ys = [x for _, x, _ in found], [y for _, _, y in found]
    for one, other in pairwise(range(4)):
        assert (xs[other] - xs[one]) / (xs[3] - xs[0]) == pytest.approx((numbers[other] - numbers[one]) / 9, abs=1e-3)
        assert (ys[one] - ys[other]) / (ys[0] - ys[3]) == pytest.approx((means[other] - means[one]) / 80, abs=1e-3)
    assert found[0][0] == "a, Step 1: 10.00 [9.00, 11.00], 3 slots"


def test_on_a_logarithmic_axis_factors_are_equally_wide() -> None:
    found = markers(lines_svg(lines([1.0, 2.0, 3.0, 4.0], numbers=[1e3, 1e4, 1e5, 1e6]), ChartOptions(x="log")))
    gaps = [other[1] - one[1] for one, other in pairwise(found)]
    assert gaps == pytest.approx([gaps[0]] * 3, abs=0.2)


def test_an_axis_with_no_place_on_a_logarithm_stays_linear_and_says_so() -> None:
    for least, told in ((0.0, "0"), (-1.0, "−1")):
        svg = lines_svg(lines([1.0, 2.0, 3.0], numbers=[least, 1.0, 2.0], scale="log"))
        assert f"The axis is linear: {told} of Step has no place on a logarithmic one." in svg
        xs = [x for _, x, _ in markers(svg)]
        assert (xs[1] - xs[0]) / (xs[2] - xs[0]) == pytest.approx((1 - least) / (2 - least), abs=1e-3)


def test_a_gap_is_a_gap() -> None:
    svg = lines_svg(lines([1.0, 2.0, None, 4.0, None, 6.0, 7.0, 8.0]))
    assert joined(svg) == [2, 3]
    assert len(markers(svg)) == 6
    assert "2 means are missing" in svg
    without_order = lines_svg(lines([1.0, 2.0, 3.0], kind="nominal"))
    assert joined(without_order) == []
    assert len(markers(without_order)) == 3


def test_bands_are_the_ends_of_the_intervals() -> None:
    root = parsed(lines_svg(lines([10.0, 20.0])))
    [band] = [one for one in root.iter(f"{SVG}g") if one.get("fill-opacity")]
    [path] = band.findall(f"{SVG}path")
    ys = [float(one) for one in re.findall(r" ([\d.]+)", path.get("d"))]
    points = [y for _, _, y in markers(ElementTree.tostring(root, encoding="unicode"))]
    unit = (points[0] - points[1]) / 10
    assert ys == pytest.approx([points[0] - unit, points[1] - unit, points[1] + unit, points[0] + unit], abs=0.2)


def test_names_at_the_ends_do_not_overlap() -> None:
    for count, width in product((1, 2, 12), (360, 880)):
        rows = [[50.0, 50.0 + number / 100] for number in range(count)]
        root = parsed(lines_svg(lines(*rows), ChartOptions(width=width)))
        ends = [one for one in root.iter(f"{SVG}text") if one.find(f"{SVG}title") is not None]
        ys = sorted(float(one.get("y") or 0) for one in ends)
        assert len(ys) == count
        assert all(other - one >= 12 for one, other in pairwise(ys))
        assert 0 < ys[0] <= ys[-1] < float(root.get("height") or 0)


def test_names_stay_as_near_to_their_lines_as_they_can() -> None:
    assert spread([10, 50, 90], 12, 0, 100) == [10, 50, 90]
    assert spread([50, 50, 50], 12, 0, 100) == [38, 50, 62]
    assert spread([99, 98], 12, 0, 100) == pytest.approx([100, 88])


EXTREMES: list[list[float | None]] = [
    [5.0, 5.0, 5.0], [0.0, 0.0], [1e-300, 1e300], [-1.7e308, 1.7e308], [5e-324, 1e-323], [7.0], [None, None],
    [1.0, 1.0 + 2**-52],
]  # fmt: skip
LOOKS = [ChartOptions(), ChartOptions("dark", 360), ChartOptions("page", 1000), ChartOptions(x="log")]


def test_extreme_values_are_drawn_inside_of_the_picture(subtests) -> None:
    metric = METRIC | {"lower": None, "upper": None}
    for row, look in product(EXTREMES, LOOKS):
        with subtests.test(row=row, look=look):
            made = lines(row, metric=metric)
            bare = Line("a", tuple(LinePoint(point.level, point.mean, 1) for point in made.lines[0].points), 0)
            root = parsed(lines_svg(lines(row, metric=metric, lines=(bare,)), look))
            wide, high = float(root.get("width") or 0), float(root.get("height") or 0)
            places = [float(one.get(name) or 0) for one in root.iter(f"{SVG}circle") for name in ("cx", "cy")]
            assert all(0 <= place <= max(wide, high) for place in places)
            assert "nan" not in ElementTree.tostring(root, encoding="unicode")
            assert len(lines_text(made)) > 0


def test_round_numbers_stand_beside_the_axes() -> None:
    for values in ([76.0, 88.4], [0.001, 0.0013], [1e9, 3e9], [1e15, 1e15 + 10], [-3.0, 8.0]):
        found = span_of(values)
        assert 3 <= len(found.ticks) <= 8
        for value, text in found.ticks:
            written = text.replace("k", "e3").replace("M", "e6").replace("B", "e9").replace("T", "e12")
            assert float(written) == pytest.approx(value, rel=1e-12, abs=1e-12)
    assert [text for _, text in span_of([0.0, 2e10]).ticks] == ["0", "5B", "10B", "15B", "20B"]
    assert [text for _, text in log_span([1e3, 1e6]).ticks] == ["1k", "10k", "100k", "1M"]


SEEN = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
"""Linear sRGB as people see it: Machado, Oliveira and Fernandes 2009, table 1, severity 1."""
LMS = ((0.41222147, 0.53633254, 0.05144599), (0.2119035, 0.6806995, 0.1073970), (0.08830246, 0.28171884, 0.62997870))
LAB = ((0.21045426, 0.79361779, -0.00407205), (1.9779985, -2.4285922, 0.45059371), (0.0259040, 0.78277177, -0.80867577))
"""Linear sRGB to cones, and the cube roots of these to OKLab: Ottosson 2020."""


def seen(colour: str, by: str) -> np.ndarray:
    """The place of a colour in OKLab, as somebody sees it."""
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return np.array(LAB) @ np.cbrt(np.array(LMS) @ np.clip(np.array(SEEN[by]) @ linear, 0, 1))


def test_eight_colours_stand_out_of_their_ground_and_of_each_other_for_the_colour_blind_too() -> None:
    for theme in ("light", "dark"):
        assert len(COLOURS[theme]) == 8
        for colour in COLOURS[theme]:
            high, low = sorted((luminance(colour), luminance(GROUNDS[theme].ground)), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5  # names are written in them
        for by in SEEN:
            places = [seen(colour, by) for colour in COLOURS[theme]]
            nearest = min(np.linalg.norm(a - b) for a, b in combinations(places, 2))
            assert nearest > 0.07, (theme, by)  # a difference of 0.02 is just seen


def test_the_style_sheet_has_the_colours_of_the_pictures() -> None:
    sheet = (ROOT / "registry/pages/static/lines.css").read_text(encoding="utf-8")
    for number, both in enumerate(zip(COLOURS["light"], COLOURS["dark"], strict=True)):
        assert f"--k{number}: light-dark({', '.join(both)});" in sheet
    for number in range(HUES):
        assert f".chart .k{number} {{ color: var(--k{number}); }}" in sheet
        assert f".chart svg:has(.k{number}:hover) [class^=k]:not(.k{number})" in sheet


def test_hostile_names_break_nothing() -> None:
    name = '<script>&"\u202e模型 ' + "x" * 300
    made = lines([1.0, 2.0])
    renamed = tuple(Line(name, one.points, one.look) for one in made.lines)
    hostile = lines([1.0, 2.0], lines=renamed, along='<a href="x">')
    parsed(lines_svg(hostile))
    assert "<script" not in lines_svg(hostile, ChartOptions("page"))
    assert chart_png(Lines, hostile, lines_svg)[:4] == b"\x89PNG"
    formula = Line("=1+1", made.lines[0].points[:1], 0)
    assert lines_csv(lines([1.0], lines=(formula,))).splitlines()[1].startswith("'=1+1,")


def trade_off(*points: tuple[str, float, float, str], **changes: Any) -> TradeOff:
    made = [
        TradeOffPoint(name, Estimate(x, 4, 0.1, Interval(0.95, x - 1, x + 1)), Estimate(y, 4), place)  # type: ignore[arg-type]
        for name, x, y, place in points
    ]
    x, y = Quantity("metric", "latency", "lower", "s"), Quantity("metric", "accuracy", "higher", "%")
    front = tuple(one.name for one in made if one.place == "front")
    known: dict[str, Any] = {"x": x, "y": y, "points": tuple(made), "front": front}
    return TradeOff("e", **(known | changes))


THREE = (("a", 2.0, 50.0, "front"), ("c", 4.0, 40.0, "behind"), ("b", 6.0, 90.0, "front"), ("d", 7.0, 89.0, "open"))


def places(svg: str) -> dict[str, tuple[float, float]]:
    """Where the marker of each name is."""
    return {title.split(":")[0]: (x, y) for title, x, y in markers(svg)}


def test_a_trade_off_has_its_points_crosses_and_steps() -> None:
    svg = trade_off_svg(trade_off(*THREE))
    found = places(svg)
    assert found.keys() == {"a", "b", "c", "d"}
    (ax, ay), (bx, by), (cx, _) = found["a"], found["b"], found["c"]
    assert (cx - ax) / (bx - ax) == pytest.approx(0.5, abs=0.01)
    steps = [one.get("d") for one in parsed(svg).iter(f"{SVG}path") if one.get("stroke-dasharray") == "6 4"]
    # The cheaper one is as good as it gets until the better one is affordable.
    assert steps == [f"M{ax:.1f} {ay:.1f}H{bx:.1f}V{by:.1f}"]
    circles = list(parsed(svg).iter(f"{SVG}circle"))
    assert sum(one.get("fill") == "currentColor" for one in circles) == 3


def test_a_legend_says_what_occurs_in_its_form_and_promises_no_test_that_was_not_made() -> None:
    some = trade_off(*THREE[:1], ("z", 9.0, 40.0, "untested"))
    picture, text = " ".join(parsed(trade_off_svg(some)).itertext()), " ".join(trade_off_text(some).split())
    for mark in ("Filled: on the front", "Hollow and grey: another looks better, not tested", "Crosses", "axis runs"):
        assert (mark in picture, mark in text) == (True, False), mark
    for other in ("Hollow: ", "Small and grey", "Tests:", "Holm"):
        assert other not in picture + text
    assert "Another looks better, not tested: the noise of some mean is not known." in text
    own = trade_off_text(replace(some, missing="available"))
    assert "not tested: each mean is over slots of its own." in " ".join(own.split())


def test_numbers_of_an_even_axis_are_left_out_evenly() -> None:
    """41 levels of five characters have no room beside each other: every so many is written, from the first on."""
    svg = lines_svg(lines([1.0] * 41, numbers=[10_000.0 + one for one in range(41)]))
    written = [float(one.text) for one in parsed(svg).iter(f"{SVG}text") if re.fullmatch(r"100\d\d", one.text or "")]
    assert len({after - before for before, after in pairwise(written)}) == 1
    assert 3 < len(written) < 41


def test_names_keep_clear_of_crosses_and_steps_where_there_is_room() -> None:
    svg = parsed(trade_off_svg(trade_off(("first", 2.0, 50.0, "front"), ("last", 6.0, 90.0, "front"))))
    strokes = [
        [float(one) for one in re.findall(r"[\d.]+", stroke)]
        for path in svg.iter(f"{SVG}path")
        if path.get("stroke-dasharray") == "6 4" or path.get("stroke-width") == "1.2"
        for stroke in re.findall(r"M[\d.]+ [\d.]+H[\d.]+", path.get("d") or "")
    ]
    names = [one for one in svg.iter(f"{SVG}text") if one.text in ("first", "last")]
    assert (len(names), len(strokes)) == (2, 3)
    for name in names:
        middle = float(name.get("y") or 0) - 4
        assert all(abs(middle - y) > 6 for _, y, _ in strokes), name.text


SHORT, LONG = {"Context": ("<=8000",)}, {"Context": (">=64000",)}
TWICE = {
    name: Quantity("metric", "accuracy", "higher", "%", slice=at, shared=2) for name, at in (("x", SHORT), ("y", LONG))
}
BOTH_BETTER = (("b", 2.0, 90.0, "front"), ("a", 6.0, 50.0, "front"))
BARE = Line("a", (LinePoint(0.0, 1.0, 3), LinePoint(1.0, 2.0, 3)), 0)
LINES: dict[str, tuple[Any, ...]] = {
    "lines with a gap": (lines([1.5, None, 4.0, 3.0], [2.5, 3.5, 6.0, 5.0]),),
    "lines of a slice": (lines([1.0, 2.0], slice=LONG),),
    "without intervals there is no band": (lines([1.0, 2.0], lines=(BARE,)),),
}
TRADE_OFFS: dict[str, tuple[Any, ...]] = {
    "on the front, behind it and open: filled, small and grey, hollow": (trade_off(*THREE),),
    "the cheaper one is as good as it gets until the better one is affordable": (trade_off(*THREE[:3]),),
    "one metric twice is told apart by its slices": (trade_off(*THREE, **TWICE),),
    "steps turn where more of both is better: what b reaches ends at its speed, then a is the best": (
        trade_off(*BOTH_BETTER, x=Quantity("metric", "speed", "higher")),
    ),
    "nothing is drawn": (trade_off(status="insufficient", reason="none"),),
    "who is not drawn stands first, those that lack the same together": (
        trade_off(
            *THREE[:1],
            ("z", 9.0, 40.0, "untested"),
            without=tuple(NameWithout(one, f"has no cell of {what}") for one, what in ("ux", "vx", "wy")),
        ),
    ),
}
LOOKING: dict[str, tuple[Any, ...]] = {
    "dark": (trade_off_svg, trade_off(*THREE), ChartOptions("dark")),
    "on a page": (trade_off_svg, trade_off(*THREE), ChartOptions("page")),
    "logarithmic": (trade_off_svg, trade_off(*THREE), ChartOptions(x="log")),
    "zero has no place on a logarithmic axis": (
        trade_off_svg, trade_off(("a", 0.0, 1.0, "front")), ChartOptions(x="log"),
    ),
}  # fmt: skip


def lines_text(found: Lines) -> str:
    return sheet.text(page(found))


def trade_off_text(found: TradeOff) -> str:
    return sheet.text(page_of_trade_off(found))


def test_charts_are_written_in_every_form(subtests, snapshot) -> None:
    """The tests above say what is right about places; here is all that is drawn and said."""
    given, first = dict(LOOKING), dict[Any, Any]()
    for cases, renderers in (
        (LINES, (lines_text, lines_csv, lines_vega, lines_svg)),
        (TRADE_OFFS, (trade_off_text, trade_off_csv, trade_off_vega, trade_off_svg)),
    ):
        for name, chart in cases.items():
            given |= {f"{name}, {render.__name__}": (render, *chart) for render in renderers}
    for name, (render, *chart) in given.items():
        with subtests.test(msg=name):
            written = render(*chart)
            if isinstance(written, str):
                assert written.replace("><", ">\n<") == snapshot(name=name)
            elif first.setdefault(render, written) is written:
                assert written == snapshot(name=name)
            else:
                assert otherwise(first[render], written) == snapshot(name=name)


def test_levels_that_double_over_a_wide_range_are_on_a_logarithmic_axis_unless_a_linear_one_is_asked_for() -> None:
    wide = lines([1.0] * 5, numbers=[4_000, 8_000, 16_000, 32_000, 64_000])
    near = lines([1.0] * 4, numbers=[1, 2, 4, 8])
    assert x_scale(wide, ChartOptions()) == (True, None)
    assert x_scale(wide, ChartOptions(x="linear")) == (False, None)
    assert x_scale(near, ChartOptions()) == (False, None)
    told = "has a log scale here, for its levels grow by factors; slopes elsewhere are per unit of it."
    for found, said in ((wide, True), (near, False), (replace(wide, scale="log"), False)):
        assert any(told in note for note in notes(found, ChartOptions())) == said


def test_a_name_without_a_line_may_have_been_set_aside() -> None:
    lines = Lines("e", by="benchmark", lines=(Line("Needle", (), 0), Line("Recall", (LinePoint(1.0, 2.0, 3),), 1)))
    assert subtitle(lines) == "1 of 2 benchmarks: Needle has too few cells for a mean"
    aside = replace(lines, warnings=(Warning("set_aside", "Set aside: Needle."),))
    assert subtitle(aside) == "1 of 2 benchmarks: Needle has no mean: set aside, or too few cells"


def test_lines_say_how_much_each_changes_from_end_to_end() -> None:
    """Intervals of one on either side: of a difference one of the root of 2."""
    found = lines([9.0, 3.0, 7.0], [5.0, None, 6.0], [5.0, 4.0, 8.0])
    told = "each with the 95 % interval of this line alone"
    each = "a -2.00 (-3.41 to -0.59), b +1.00 (-0.41 to 2.41), c +3.00 (1.59 to 4.41)"
    assert [*changes(found)] == [f"accuracy (points) from Step 0 to 2, {told}: {each}."]
    for other in (replace(found, kind="nominal"), replace(found, warnings=(Warning("slots_vary", ""),))):
        assert not [*changes(other)]
