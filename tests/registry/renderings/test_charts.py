"""Lines and trade-offs as SVG, parsed again: points where the numbers say, gaps that are gaps, names apart."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from registry.pages.front import THEMES
from registry.renderings.heatmap.colours import THEMES as GROUNDS
from registry.renderings.heatmap.colours import luminance
from registry.renderings.lines import ChartOptions, lines_csv, lines_svg, lines_text, lines_vega
from registry.renderings.lines.labels import spread
from registry.renderings.lines.paint import COLOURS
from registry.renderings.lines.png import chart_png
from registry.renderings.lines.span import log_span, span_of
from registry.renderings.trade_off import trade_off_csv, trade_off_svg, trade_off_text, trade_off_vega
from registry.results.lines import Estimate, Line, LineLevel, LinePoint, Lines
from registry.results.terms import Interval
from registry.results.trade_offs import Quantity, TradeOff, TradeOffPoint
from tests.conftest import ROOT

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


@pytest.mark.parametrize("numbers", [[0.0, 1.0, 2.0], [-1.0, 1.0, 2.0]])
def test_an_axis_with_no_place_on_a_logarithm_stays_linear_and_says_so(numbers: list[float]) -> None:
    svg = lines_svg(lines([1.0, 2.0, 3.0], numbers=numbers, scale="log"))
    assert f"The axis is linear: {numbers[0]:g} of Step has no place on a logarithmic one." in svg
    xs = [x for _, x, _ in markers(svg)]
    assert (xs[1] - xs[0]) / (xs[2] - xs[0]) == pytest.approx((numbers[1] - numbers[0]) / (2 - numbers[0]), abs=1e-3)


def test_a_gap_is_a_gap() -> None:
    svg = lines_svg(lines([1.0, 2.0, None, 4.0, None, 6.0, 7.0, 8.0]))
    assert joined(svg) == [2, 3]
    assert len(markers(svg)) == 6
    assert "2 means are missing" in svg


def test_levels_without_order_are_not_joined() -> None:
    svg = lines_svg(lines([1.0, 2.0, 3.0], kind="nominal"))
    assert joined(svg) == []
    assert len(markers(svg)) == 3


def test_bands_are_the_ends_of_the_intervals() -> None:
    root = parsed(lines_svg(lines([10.0, 20.0])))
    [band] = [one for one in root.iter(f"{SVG}g") if one.get("fill-opacity")]
    [path] = band.findall(f"{SVG}path")
    ys = [float(one) for one in re.findall(r" ([\d.]+)", path.get("d"))]
    points = [y for _, _, y in markers(ElementTree.tostring(root, encoding="unicode"))]
    unit = (points[0] - points[1]) / 10
    assert ys == pytest.approx([points[0] - unit, points[1] - unit, points[1] + unit, points[0] + unit], abs=0.2)


def test_without_intervals_there_is_no_band_and_that_is_said() -> None:
    bare = lines([1.0, 2.0])
    points = tuple(LinePoint(point.level, point.mean, 3) for point in bare.lines[0].points)
    svg = lines_svg(lines([1.0, 2.0], lines=(Line("a", points),)))
    assert "fill-opacity" not in svg
    assert "No intervals: without trials, standard errors or repeats" in svg
    assert "fill-opacity" not in lines_svg(bare, ChartOptions(band=False))


@pytest.mark.parametrize("count", [1, 2, 12])
@pytest.mark.parametrize("width", [360, 880])
def test_names_at_the_ends_do_not_overlap(count: int, width: int) -> None:
    svg = lines_svg(lines(*[[50.0, 50.0 + number / 100] for number in range(count)]), ChartOptions(width=width))
    root = parsed(svg)
    ends = [one for one in root.iter(f"{SVG}text") if one.find(f"{SVG}title") is not None]
    ys = sorted(float(one.get("y") or 0) for one in ends)
    assert len(ys) == count
    assert all(other - one >= 12 for one, other in pairwise(ys))
    assert ys[0] > 0
    assert ys[-1] < float(root.get("height") or 0)


def test_names_stay_as_near_to_their_lines_as_they_can() -> None:
    assert spread([10, 50, 90], 12, 0, 100) == [10, 50, 90]
    assert spread([50, 50, 50], 12, 0, 100) == [38, 50, 62]
    assert spread([99, 98], 12, 0, 100) == pytest.approx([100, 88])


EXTREMES = [
    [[5.0, 5.0, 5.0]],
    [[0.0, 0.0]],
    [[1e-300, 1e300]],
    [[-1.7e308, 1.7e308]],
    [[5e-324, 1e-323]],
    [[7.0]],
    [[None, None]],
    [[1.0, 1.0 + 2**-52]],
]


@pytest.mark.parametrize("rows", EXTREMES)
@pytest.mark.parametrize(
    "look", [ChartOptions(), ChartOptions("dark", 360), ChartOptions("page", 1000), ChartOptions(x="log")]
)
def test_extreme_values_are_drawn_inside_of_the_picture(rows: list[list[float | None]], look: ChartOptions) -> None:
    metric = METRIC | {"lower": None, "upper": None}
    made = lines(*rows, metric=metric)
    bare = tuple(Line(one.name, tuple(LinePoint(p.level, p.mean, 1) for p in one.points)) for one in made.lines)
    root = parsed(lines_svg(lines(*rows, metric=metric, lines=bare), look))
    wide, high = float(root.get("width") or 0), float(root.get("height") or 0)
    places = [float(one.get(name) or 0) for one in root.iter(f"{SVG}circle") for name in ("cx", "cy")]
    assert all(0 <= place <= max(wide, high) for place in places)
    assert "nan" not in ElementTree.tostring(root, encoding="unicode")
    assert len(lines_text(made)) > 0


def test_round_numbers_stand_beside_the_axes() -> None:
    for values in ([76.0, 88.4], [0.001, 0.0013], [1e9, 3e9], [1e15, 1e15 + 10], [-3.0, 8.0]):
        found = span_of(values)
        assert 3 <= len(found.ticks) <= 8
        assert all(float(text) == pytest.approx(value, rel=1e-12, abs=1e-12) for value, text in found.ticks)
    assert [text for _, text in log_span([1e3, 1e6]).ticks] == ["1k", "10k", "100k", "1m"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_stand_out_of_their_ground(theme: str) -> None:
    ground = luminance(GROUNDS[theme].ground)
    for colour in COLOURS[theme]:
        high, low = sorted((luminance(colour), ground), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 3


def test_the_style_sheet_has_the_colours_of_the_pictures() -> None:
    sheet = (ROOT.parent / "registry/pages/static/lines.css").read_text(encoding="utf-8")
    for theme in THEMES[1:]:
        written = " ".join(f"--k{number}: {colour};" for number, colour in enumerate(COLOURS[theme]))
        assert sheet.count(written) == 2


def test_hostile_names_break_nothing() -> None:
    name = '<script>&"\u202e模型 ' + "x" * 300
    made = lines([1.0, 2.0])
    renamed = tuple(Line(name, one.points) for one in made.lines)
    hostile = lines([1.0, 2.0], lines=renamed, along='<a href="x">')
    parsed(lines_svg(hostile))
    assert "<script" not in lines_svg(hostile, ChartOptions("page"))
    assert chart_png(Lines, hostile, lines_svg)[:4] == b"\x89PNG"
    assert lines_csv(lines([1.0], lines=(Line("=1+1", made.lines[0].points[:1]),))).splitlines()[1].startswith("'=1+1,")


def test_csv_has_a_row_for_each_mean_and_none_for_a_gap() -> None:
    rows = lines_csv(lines([1.5, None], [2.5, 3.5])).splitlines()
    assert rows == [
        "name,level,number,mean,stderr,low,high,slots",
        "a,0,0.0,1.5,0.5,0.5,2.5,3",
        "b,0,0.0,2.5,0.5,1.5,3.5,3",
        "b,1,1.0,3.5,0.5,2.5,4.5,3",
    ]


def test_every_form_of_lines_says_of_which_slice_they_are() -> None:
    said, found = "Context at least 64000", lines([1.0, 2.0], slice={"Context": (">=64000",)})
    root = parsed(lines_svg(found))
    assert said in (root.findtext(f"{SVG}title") or "")
    assert said in (root.findtext(f"{SVG}desc") or "")
    assert any(said in (one.text or "") for one in root.iter(f"{SVG}text"))
    assert said in lines_text(found)
    assert said in lines_vega(found)["title"]["text"]


def test_vega_has_the_means_and_breaks_lines_at_gaps() -> None:
    vl_convert = pytest.importorskip("vl_convert")
    found = lines_vega(lines([1.0, None, 3.0, 4.0]))
    rows = found["data"]["values"]
    assert [(row["number"], row["mean"], row["run"]) for row in rows] == [
        (0, 1, 0),
        (2, 3, 1),
        (3, 4, 1),
    ]
    assert "<svg" in vl_convert.vegalite_to_svg(found)


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


def test_a_trade_off_has_its_points_crosses_and_steps() -> None:
    svg = trade_off_svg(trade_off(*THREE))
    found = {title.split(":")[0]: (x, y) for title, x, y in markers(svg)}
    assert found.keys() == {"a", "b", "c", "d"}
    (ax, ay), (bx, by), (cx, _) = found["a"], found["b"], found["c"]
    assert (cx - ax) / (bx - ax) == pytest.approx(0.5, abs=0.01)
    steps = [one.get("d") for one in parsed(svg).iter(f"{SVG}path") if one.get("stroke-dasharray") == "6 4"]
    # The cheaper one is as good as it gets until the better one is affordable.
    assert steps == [f"M{ax:.1f} {ay:.1f}H{bx:.1f}V{by:.1f}"]
    circles = list(parsed(svg).iter(f"{SVG}circle"))
    assert sum(one.get("fill") == "currentColor" for one in circles) == 3


@pytest.mark.parametrize("ground", ["light", "dark", "page"])
def test_points_on_the_front_behind_it_and_left_open_look_different(ground: Any) -> None:
    """Filled, small and grey, hollow, as the sentence below says; the second differs in size too."""
    root = parsed(trade_off_svg(trade_off(*THREE), ChartOptions(ground)))
    looks = {}
    for group in root.iter(f"{SVG}g"):
        for circle in group.findall(f"{SVG}circle"):
            title = circle.find(f"{SVG}title")
            assert title is not None
            colour = group.get("color") or group.get("class")
            filled = circle.get("fill") == "currentColor"
            looks[(title.text or "").split(":")[0]] = (filled, colour, float(circle.get("r") or 0))
    blue, grey = {
        "light": (COLOURS["light"][0], GROUNDS["light"].faint),
        "dark": (COLOURS["dark"][0], GROUNDS["dark"].faint),
        "page": ("k0", "faint"),
    }[ground]
    assert looks["a"][:2] == looks["b"][:2] == (True, blue)
    assert looks["c"][:2] == (True, grey)
    assert looks["c"][2] < looks["a"][2]
    assert looks["d"][:2] == (False, blue)


def test_one_metric_twice_is_told_apart_by_its_slices_in_columns_sentences_and_tips() -> None:
    short, long = {"Context": ("<=8000",)}, {"Context": (">=64000",)}
    quantities = {
        name: Quantity("metric", "accuracy", "higher", "%", slice=at, shared=2)
        for name, at in (("x", short), ("y", long))
    }
    found = trade_off(*THREE, **quantities)
    text = trade_off_text(found)
    heads = next(line for line in text.splitlines() if line.startswith("model"))
    assert heads.index("accuracy (%), Context at least 64000") < heads.index("accuracy (%), Context at most 8000")
    assert "accuracy, Context at most 8000: the mean over the 2 slots" in text.replace("\n", " ")
    assert "accuracy, Context at least 64000: the mean over the 2 slots" in text.replace("\n", " ")
    tips = [title for title, _, _ in markers(trade_off_svg(found))]
    assert all("accuracy, Context at least 64000: " in tip for tip in tips)


def test_steps_turn_where_more_of_both_is_better() -> None:
    both = trade_off(("b", 2.0, 90.0, "front"), ("a", 6.0, 50.0, "front"), x=Quantity("metric", "speed", "higher"))
    svg = trade_off_svg(both)
    places = {title.split(":")[0]: (x, y) for title, x, y in markers(svg)}
    (ax, ay), (bx, by) = places["a"], places["b"]
    # What b reaches, a slower one that is better, ends at its speed; then a is the best that can be had.
    assert f'd="M{bx:.1f} {by:.1f}V{ay:.1f}H{ax:.1f}"' in svg


def test_a_trade_off_says_its_rule_and_what_is_missing() -> None:
    text = trade_off_text(trade_off(*THREE))
    assert "Berger 1982" in text
    assert "may be on the front" in text
    assert trade_off_csv(trade_off(*THREE)).splitlines()[1] == "a,2.0,0.1,1.0,3.0,4,50.0,,,,4,front"
    assert "Nothing is drawn: none." in trade_off_svg(trade_off(status="insufficient", reason="none"))


def test_a_logarithmic_trade_off_needs_positive_means() -> None:
    assert "logarithmic" in trade_off_svg(trade_off(*THREE), ChartOptions(x="log"))
    assert "has no place on a logarithmic one" in trade_off_svg(
        trade_off(("a", 0.0, 1.0, "front")), ChartOptions(x="log")
    )


def test_a_trade_off_in_vega_is_drawn() -> None:
    vl_convert = pytest.importorskip("vl_convert")
    svg = vl_convert.vegalite_to_svg(trade_off_vega(trade_off(*THREE)))
    points = re.findall(r'told: (\w): .*?M([\d.]+),0A.*? fill="(#\w+)" stroke="(#\w+)"', svg)
    blue, grey, ground = COLOURS["light"][0], GROUNDS["light"].faint, GROUNDS["light"].ground
    assert {name: look for name, _, *look in points} == {
        "a": [blue, blue], "b": [blue, blue], "c": [grey, grey], "d": [ground, blue],
    }  # fmt: skip
    radii = {name: float(radius) for name, radius, *_ in points}
    assert radii["c"] < radii["d"] == radii["a"]
