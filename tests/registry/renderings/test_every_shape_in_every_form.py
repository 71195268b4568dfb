"""Grids of every degenerate shape, with the statistics that the workers make of them, through every rendering."""

import csv
import io
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import Any

import pytest

from registry.grids.grid import Axis, Grid, Level, Metric
from registry.pages.findings import findings_of
from registry.pages.heatmap import fits, heatmap_of
from registry.pages.spark import sparks_of
from registry.renderings.heatmap import heatmap_svg
from registry.renderings.heatmap.png import heatmap_png
from registry.storage.rows import axis_document, metric_document
from tests.registry.renderings.documents import of, read
from tests.registry.renderings.grid_documents import cells_csv, grid_markdown, grid_text
from tests.workers.statistics.documents import describe

HIGHER, LOWER, NEITHER = (Metric("accuracy", "%", way, 0.0, 100.0) for way in ("higher", "lower", None))
FREE = Metric("loss", None, "lower", None, None)
ODD = ("🦙 7b", "נמוך", "模型", "e\u0301", "a|b<!--", "x" * 256)


def steps(count: int, name: str = "Step") -> Axis:
    return Axis(name, "numeric", tuple(Level(str(n), float(n)) for n in range(count)))


def kinds(*labels: str, name: str = "Kind") -> Axis:
    return Axis(name, "nominal", tuple(map(Level, labels)))


TWO_SERIES = (99.3, 96.7, 98.3, 92.7, 87.7, 83.0, 82.0, 86.3, None, 100.0, 99.7, 99.7, 98.3, 98.0, 99.3, 98.7)
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
    "rises and falls": Grid(HIGHER, (kinds("1", "2"), steps(8, "Length")), TWO_SERIES, 300),
    "rises and falls of unknown noise": Grid(HIGHER, (kinds("1", "2"), steps(8, "Length")), TWO_SERIES, None),
    "log": Grid(LOWER, (LOG,), (99.0, 80.0, 60.0, 40.0, 30.0, 12.0), 400),
    "subnormals": Grid(FREE, (steps(4),), (5e-324, 1e-320, 2.225073858507201e-308, 2.2250738585072014e-308), None),
    "the largest": Grid(FREE, (steps(6),), (1e308, -1e308, 1.7e308, None, -1.7e308, 0.0), None),
    "odd names": Grid(
        Metric("דיוק 🎯", "٪", "higher", 0.0, 100.0), (kinds(*ODD, name="ציר"), steps(2, "x" * 256)),
        (*map(float, range(11)), None), 50,
    ),
    "hundreds of ties": Grid(HIGHER, (kinds(*map(str, range(20))), steps(15)), (10.0,) * 299 + (1.0,), None),
}  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """The document of a grid, its statistics, and everything that is written of it in words, by its name."""

    document: dict[str, Any]
    found: dict[str, Any]
    written: dict[str, str]


@pytest.fixture(scope="module")
def shapes() -> dict[str, Shape]:
    return {name: shape(name, grid) for name, grid in GRIDS.items()}


def shape(name: str, grid: Grid) -> Shape:
    names = {"experiment": "e", "benchmark": "b", "model": "m", "variant": ""}
    if name == "odd names":
        names = dict(zip(names, ODD[:4], strict=True))
    axes = [axis_document(axis) for axis in grid.axes]
    sizes = [len(axis.levels) for axis in grid.axes]
    values = nested(list(grid.values), sizes)
    trials = nested(list(grid.trials), sizes) if isinstance(grid.trials, tuple) else grid.trials
    errors = {"stderr": nested(list(grid.stderr), sizes)} if grid.stderr else {}
    document = names | errors | {
        "id": "01a201bd-00fc-727f-9bd3-9065cc8d6c0d", "revision": 1, "metric": metric_document(grid.metric),
        "axes": axes, "values": values, "trials": trials,
        "cell_count": sum(value is not None for value in grid.values),
    }  # fmt: skip
    head = {"grid": "g", "revision": 1, "methods_version": "1", "metric": document["metric"], "axes": axes}
    found = head | describe(grid)
    return Shape(document, found, written(document, found))


def nested(flat: list[Any], sizes: list[int]) -> Any:
    if not sizes:
        return flat[0]
    size = len(flat) // sizes[0] if sizes[0] else 0
    return [nested(flat[number * size : (number + 1) * size], sizes[1:]) for number in range(sizes[0])]


def written(document: dict[str, Any], found: dict[str, Any]) -> dict[str, str]:
    texts = {render.__name__: render(document) for render in (grid_text, grid_markdown)}
    for part in ("statistics", "trends", "changes", "peaks", "coverage", "sensitivity", "precision"):
        for form, render in of(part).items():
            texts[f"{part}.{form}"] = render(found)
    for finding in findings_of(document, read(found)):
        lines = [f"{name} {told}" for name, told in finding.entries]
        texts[f"finding {finding.about}"] = "\n".join([finding.about, *lines, finding.note])
    return texts | {"svg": heatmap_svg(document, read(found))}


FALSE = {
    "a plural of one": r"\b1 (cells|levels|series|points|steps|values|pairs|panels|more steps) (?!of)",
    "at nowhere": r"\bat ?[.;,]|[%\d] at$",
    "a number that is none": r"\b(nan|inf|None)\b",
    "a doubled stop": r"(?<!\.)\.\.(?!\.)",
    "an empty pair of brackets": r"\(\s*\)",
    "beyond the bound": r"expected at (10[1-9]|-\d)",
}


def test_every_form_is_written_and_says_nothing_false(shapes: dict[str, Shape], subtests) -> None:
    for of_what, one in shapes.items():
        for name, text in one.written.items():
            for what, pattern in FALSE.items() if not name.endswith(".csv") else ():
                if match := re.search(pattern, text, re.MULTILINE):
                    with subtests.test(msg=of_what, form=name, says=what):
                        pytest.fail(text[max(0, match.start() - 80) : match.end() + 40])


def test_every_cell_was_measured_only_where_every_cell_was(shapes: dict[str, Shape]) -> None:
    for one in shapes.values():
        cells = math.prod(len(axis["levels"]) for axis in one.document["axes"])
        for name, text in one.written.items():
            if re.search("[Ee]very cell was measured|All of its|Its only cell was measured", text):
                assert one.document["cell_count"] == cells, name


def test_no_text_lists_hundreds_of_ties(shapes: dict[str, Shape]) -> None:
    for one in shapes.values():
        assert all(one.written[name].count("\n") < 200 for name in ("peaks.txt", "changes.txt"))
    of_ties = shapes["hundreds of ties"].written
    assert "and 289 more" in of_ties["peaks.txt"]
    assert "and 287 more" in of_ties["finding Best"]


def test_every_picture_is_drawn_and_every_cell_is_told_of(shapes: dict[str, Shape], subtests) -> None:
    for name, one in shapes.items():
        with subtests.test(msg=name):
            found = read(one.found)
            ET.fromstring(one.written["svg"])  # noqa: S314 (made here)
            assert fits(one.document)
            squares = [
                square for plate in heatmap_of(one.document, found).plates for _, row in plate.rows for square in row
            ]
            assert len(squares) == math.prod(len(axis["levels"]) for axis in one.document["axes"])
            assert sum(square.kind != "bare" for square in squares) == one.document["cell_count"]
            for along in {series["along"] for series in one.found["series"]}:
                sparks_of(one.document, [series for series in found.series if series.along == along])
    assert heatmap_png(shapes["odd names"].document).startswith(b"\x89PNG")


def test_csv_has_a_row_a_measured_cell(shapes: dict[str, Shape]) -> None:
    for one in shapes.values():
        rows = list(csv.reader(io.StringIO(cells_csv(one.document), newline="")))
        assert len(rows) == 1 + one.document["cell_count"]
        assert {len(row) for row in rows} == {len(rows[0])}


def test_every_part_of_what_the_workers_describe_has_its_numbers(shapes: dict[str, Shape]) -> None:
    """The names that they write are those that the renderings read."""
    for name in ("rises and falls", "rises and falls of unknown noise"):
        texts = shapes[name].written
        assert "1 8 99.3 → 86.3 " in " ".join(texts["trends.txt"].split())
        assert "1        2   3  -5.6" in texts["changes.txt"]
        assert "best accuracy (%): 100.0\n" in texts["peaks.txt"]
        assert ("noise floor: " in texts["peaks.txt"]) == (name == "rises and falls")
        assert "15 of 16 cells measured (94 %)\n" in texts["coverage.txt"]
        assert "residual" in texts["sensitivity.txt"]
        assert "decimals: 1\n" in texts["precision.txt"]
        assert max(map(len, texts["statistics.txt"].splitlines())) <= 120
