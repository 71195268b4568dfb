"""Grids of every degenerate shape, with the statistics that the workers make of them, through every rendering."""

from __future__ import annotations

import csv
import io
import math
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest
import vl_convert

from registry.grids.grid import Axis, Grid, Level, Metric
from registry.pages.findings import findings_of
from registry.pages.heatmap import fits, heatmap_of
from registry.pages.spark import sparks_of
from registry.renderings.badge import said
from registry.renderings.grid import cells_csv, cells_markdown, cells_text, grid_markdown, grid_text
from registry.renderings.heatmap import heatmap_svg, heatmap_vega
from registry.renderings.heatmap.png import heatmap_png
from registry.storage.rows import axis_document, metric_document
from tests.registry.renderings.documents import of, read, report_of
from tests.workers.statistics.documents import describe

HIGHER, LOWER, NEITHER = (Metric("accuracy", "%", way, 0.0, 100.0) for way in ("higher", "lower", None))
FREE = Metric("loss", None, "lower", None, None)
ODD = ("🦙 7b", "נמוך", "模型", "e\u0301", "a|b<!--", "x" * 256)


def steps(count: int, name: str = "Step") -> Axis:
    return Axis(name, "numeric", tuple(Level(str(n), float(n)) for n in range(count)))


def kinds(*labels: str, name: str = "Kind") -> Axis:
    return Axis(name, "nominal", tuple(map(Level, labels)))


LOG = Axis("Context", "numeric", tuple(Level(f"{10**n}", float(10**n)) for n in range(3, 9)), scale="log")
GRIDS = {
    "a single score": Grid(HIGHER, (), (73.4,), None),
    "a single score with trials": Grid(HIGHER, (), (73.4,), 500),
    "nothing measured, no axis": Grid(HIGHER, (), (None,), None),
    "an axis without levels": Grid(HIGHER, (kinds(), steps(2)), (), None),
    "one cell": Grid(LOWER, (steps(1),), (7.0,), 100),
    "one cell of many": Grid(HIGHER, (kinds("a", "b"), steps(3)), (None, None, 5.0, None, None, None), 100),
    "all equal": Grid(HIGHER, (kinds("a", "b"), steps(4)), (50.0,) * 8, 200),
    "all at the bound": Grid(HIGHER, (kinds("a", "b"), steps(6)), (100.0,) * 12, 300),
    "all at the other bound": Grid(LOWER, (kinds("a", "b"), steps(6)), (0.0,) * 12, 300),
    "all missing": Grid(HIGHER, (kinds("a", "b"), steps(3)), (None,) * 6, 10),
    "no direction": Grid(NEITHER, (steps(6),), (1.0, 2.0, 3.0, 2.5, 4.0, 5.0), None),
    "four axes": Grid(
        FREE, (kinds("a", "b"), kinds("c", "d", name="K"), steps(2, "S"), steps(3)), tuple(map(float, range(24))), None
    ),
    "log": Grid(LOWER, (LOG,), (99.0, 80.0, 60.0, 40.0, 30.0, 12.0), 400),
    "subnormals": Grid(FREE, (steps(4),), (5e-324, 1e-320, 2.225073858507201e-308, 2.2250738585072014e-308), None),
    "the largest": Grid(FREE, (steps(6),), (1e308, -1e308, 1.7e308, None, -1.7e308, 0.0), None),
    "odd names": Grid(
        Metric("דיוק 🎯", "٪", "higher", 0.0, 100.0), (kinds(*ODD, name="ציר"), steps(2, "x" * 256)),
        (*map(float, range(11)), None), 50,
    ),
    "a thousand ties": Grid(HIGHER, (kinds(*map(str, range(40))), steps(30)), (10.0,) * 1199 + (1.0,), None),
}  # fmt: skip


@pytest.fixture(scope="module", params=GRIDS)
def both(request: pytest.FixtureRequest) -> tuple[dict[str, Any], dict[str, Any]]:
    """The document of a grid, and its statistics."""
    grid = GRIDS[request.param]
    names = {"experiment": "e", "benchmark": "b", "model": "m", "variant": ""}
    if request.param == "odd names":
        names = dict(zip(names, ODD[:4], strict=True))
    axes = [axis_document(axis) for axis in grid.axes]
    values = nested(list(grid.values), [len(axis.levels) for axis in grid.axes])
    document = names | {
        "id": "01a201bd-00fc-727f-9bd3-9065cc8d6c0d", "revision": 1, "metric": metric_document(grid.metric),
        "axes": axes, "values": values, "trials": grid.trials,
        "cell_count": sum(value is not None for value in grid.values),
    }  # fmt: skip
    head = {"grid": "g", "revision": 1, "methods_version": "1", "metric": document["metric"], "axes": axes}
    return document, head | describe(grid)


def nested(flat: list[Any], sizes: list[int]) -> Any:
    if not sizes:
        return flat[0]
    size = len(flat) // sizes[0] if sizes[0] else 0
    return [nested(flat[number * size : (number + 1) * size], sizes[1:]) for number in range(sizes[0])]


@pytest.fixture(scope="module")
def written(both: tuple[dict[str, Any], dict[str, Any]]) -> dict[str, str]:
    """Everything that is written in words, by its name."""
    document, found = both
    texts = {render.__name__: render(document) for render in (grid_text, grid_markdown, cells_text, cells_markdown)}
    for form in ("txt", "md", "html"):
        texts[f"report.{form}"] = report_of(form)((document, found))
        texts[f"report without statistics.{form}"] = report_of(form)((document, None))
    for part in ("statistics", "trends", "changes", "peaks", "coverage", "sensitivity", "precision"):
        for form, render in of(part).items():
            texts[f"{part}.{form}"] = render(found)
    for finding in findings_of(document, read(found)):
        lines = [f"{name} {told}" for name, told in finding.entries]
        texts[f"finding {finding.about}"] = "\n".join([finding.about, *lines, finding.note])
    return texts | {"svg": heatmap_svg(document, read(found)), "badge": said(document, read(found))[0]}


FALSE = {
    "a plural of one": r"\b1 (cells|levels|series|points|steps|values|pairs|panels|more steps) (?!of)",
    "at nowhere": r"\bat ?[.;,]|[%\d] at$",
    "a number that is none": r"\b(nan|inf|None)\b",
    "a doubled stop": r"(?<!\.)\.\.(?!\.)",
    "an empty pair of brackets": r"\(\s*\)",
    "beyond the bound": r"expected at (10[1-9]|-\d)",
}


def test_every_form_is_written_and_says_nothing_false(written: dict[str, str]) -> None:
    for name, text in written.items():
        if name.endswith(".csv"):
            continue
        for what, pattern in FALSE.items():
            match = re.search(pattern, text, re.MULTILINE)
            assert match is None, (name, what, text[max(0, match.start() - 80) : match.end() + 40])


def test_every_cell_was_measured_only_where_every_cell_was(
    both: tuple[dict[str, Any], dict[str, Any]], written: dict[str, str]
) -> None:
    document, _ = both
    cells = math.prod(len(axis["levels"]) for axis in document["axes"])
    for name, text in written.items():
        if re.search("[Ee]very cell was measured|All of its|Its only cell was measured", text):
            assert document["cell_count"] == cells, name
        if "never measured" in text.lower().replace("finding never measured", "") and name.startswith("report"):
            assert document["cell_count"] < cells, name


def test_no_text_lists_hundreds_of_ties(both: tuple[dict[str, Any], dict[str, Any]], written: dict[str, str]) -> None:
    _, found = both
    for name in ("peaks.txt", "changes.txt", "report.txt"):
        assert written[name].count("\n") < 250, name
    best = found["peaks"].get("best") if found.get("peaks") else None
    if best and best["ties"] > 12:
        assert f"and {best['ties'] - 10} more" in written["peaks.txt"]
        assert f"and {best['ties'] - 12} more" in written["report.txt"].replace("\n ", "")
        assert f"and {best['ties'] - 12} more" in written["finding Best"]


def test_every_picture_is_drawn_and_every_cell_is_told_of(both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    document, found = both
    svg = heatmap_svg(document, read(found))
    ET.fromstring(svg)  # noqa: S314 (made here)
    assert heatmap_png(document, read(found)).startswith(b"\x89PNG")
    vl_convert.vegalite_to_svg(heatmap_vega(document, read(found)), vl_version="6.4")
    assert fits(document)
    shown = heatmap_of(document, read(found))
    squares = [square for plate in shown.plates for _, row in plate.rows for square in row]
    assert len(squares) == math.prod(len(axis["levels"]) for axis in document["axes"])
    assert sum(square.kind != "bare" for square in squares) == document["cell_count"]
    for along in {one["along"] for one in found["series"]}:
        sparks_of(document, [one for one in read(found).series if one.along == along])


def test_csv_has_a_row_a_measured_cell(both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    document, _ = both
    rows = list(csv.reader(io.StringIO(cells_csv(document), newline="")))
    assert len(rows) == 1 + document["cell_count"]
    assert {len(row) for row in rows} == {len(rows[0])}
