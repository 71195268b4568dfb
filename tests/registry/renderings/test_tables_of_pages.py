"""A heatmap as a table: each number under its own headings, or no table; what is not shown is counted."""

import itertools
import math
import re
from typing import Any

import pytest

from registry.pages.heatmap import fits, heatmap_of
from registry.pages.ranking import matrix_of
from registry.renderings.heatmap import heatmap_svg, heatmap_vega
from tests.registry.renderings import grid_documents
from tests.registry.renderings.documents import compared, read, read_ranking

SHAPES = [(3, 500), (301, 2), (500,), (400,), (300,), (300, 2), (12, 400), (10, 10, 3, 3), (2, 3, 4), (7,), ()]


def counted(*shape: int) -> dict[str, Any]:
    """A grid in which the value of a cell is its flat index."""
    axes = [grid_documents.axis(name, list(range(size)), "numeric") for name, size in zip("ABCD", shape, strict=False)]
    number = itertools.count()

    def nested(sizes: tuple[int, ...]) -> Any:
        return [nested(sizes[1:]) for _ in range(sizes[0])] if sizes else next(number)

    return grid_documents.document(axes, nested(shape), metric={"name": "n", "unit": None, "direction": "higher"})


def test_every_number_of_a_table_stands_under_its_own_headings(subtests) -> None:
    for shape in SHAPES:
        with subtests.test(shape=shape):
            grid = counted(*shape)
            if fits(grid):
                under_its_own_headings(grid, shape)
            else:
                assert max(shape) > 300


def under_its_own_headings(grid: dict[str, Any], shape: tuple[int, ...]) -> None:
    shown = heatmap_of(grid)
    names = [axis["name"] for axis in grid["axes"]]
    cells = list(itertools.product(*map(range, shape)))
    found = 0
    for plate in shown.plates:
        for row, squares in plate.rows:
            columns = shown.planes.columns if shown.planes.column_axis else ("",)
            for column, square in zip(columns, squares, strict=True):
                at = cells[int(square.text)]
                where = ", ".join(f"{name} {level}" for name, level in zip(names, at, strict=True))
                assert square.tip.split(" · ")[0] == (f"{where}: {square.text}" if where else square.text)
                assert ([row] if shown.planes.row_axis else []) + ([column] if shown.planes.column_axis else []) == [
                    str(level) for level in at[-2:]
                ]
                found += 1
    left = (len(cells) - found) // math.prod(shape[-2:])
    assert shown.left_out.startswith(f"{left} more tables are not shown; CSV and JSON have every cell." if left else "")
    assert bool(shown.left_out) == bool(left)


def test_colours_of_a_small_part_of_what_a_metric_may_be_say_so() -> None:
    """17 of the 1,000 that are possible, then of 50."""
    grid = counted(3, 6)
    bounds = {"lower": 0, "upper": 1000}
    assert (
        heatmap_of(grid | {"metric": grid["metric"] | bounds}).narrow == "all colours span 1.7 % of the metric’s range"
    )
    assert heatmap_of(grid | {"metric": grid["metric"] | bounds | {"upper": 50}}).narrow == ""
    assert heatmap_of(grid).narrow == ""


def test_a_best_cell_in_a_table_that_is_not_shown_is_told_and_has_no_outline_in_the_legend() -> None:
    """The last of 900 cells is the best; the last 40 of 100 panels are left out."""
    grid = counted(10, 10, 3, 3)
    where = {"A": 9, "B": 9, "C": 2, "D": 2}
    others = [where, where | {"D": 1}]
    known = {"revision": grid["revision"], "peaks": {"best_set": {"level": 0.95, "size": 2, "at": others}}}
    told = "The best cell, 899 at A 9, B 9, C 2, D 2, is in a {} that is not shown."
    assert told.format("table") in heatmap_of(grid, read(known)).left_out
    picture = heatmap_svg(grid, read(known))
    drawn = " ".join(re.findall(r"<text[^>]*>([^<]*)", picture))
    assert told.format("panel") in drawn
    assert "1 other cell that may be the best is in panels that are not shown." in drawn
    assert "best value" not in drawn
    assert "stroke-dasharray" not in picture
    whole = heatmap_svg(counted(2, 2, 3, 3))
    assert "best value" in whole
    assert "not shown" not in whole


def test_a_grid_whose_cells_are_joined_makes_no_table() -> None:
    with pytest.raises(ValueError, match="joined"):
        heatmap_of(counted(3, 500))


SMALLEST = 2.2250738585072014e-308


APART = [[2.225073858507201e-308, SMALLEST], [0.0, 5e-324], [-1.7e308, 1.7e308], [5e-324, 1.7e308], [1.7e308, 1.7e308]]


def test_values_as_close_or_as_far_apart_as_doubles_can_be_have_colours() -> None:
    for one, other in APART:
        grid = grid_documents.document([grid_documents.axis("x", ["a", "b"])], [one, other])
        kinds = [square.kind.split()[0] for square in heatmap_of(grid).plates[0].rows[0][1]]
        assert kinds == (["c16", "c16"] if one == other else ["c0", "c31"])
        assert heatmap_svg(grid).count("<g><title>") == 2
        encodings = [layer.get("encoding", {}) for layer in heatmap_vega(grid)["layer"]]
        low, high = next(encoding["color"]["scale"]["domain"] for encoding in encodings if "color" in encoding)
        assert low < high


LOSS = {"name": "loss", "unit": None, "direction": "lower", "lower": None, "upper": None}


def line(*values: float | None, **more: Any) -> dict[str, Any]:
    axes = [grid_documents.axis("x", list(range(len(values))), "numeric")]
    return grid_documents.document(axes, list(values), **more)


def seen(shown: Any) -> dict[str, Any]:
    """What is seen of a heatmap of one row, from the low end of the colours."""
    [(_, squares)] = shown.plates[0].rows
    cells = [f"{square.text}, {square.kind}: {square.tip}; {square.told}" for square in squares]
    return {
        "cells": cells,
        "ends": shown.ends(),
        "marked": shown.marked,
        "falling": shown.falling,
        "apart": shown.has(" apart"),
    }


def difference(one: dict[str, Any], other: dict[str, Any], *holm: float | None) -> Any:
    cells = [{"at": {"x": place}, "p_holm": p} for place, p in enumerate(holm)]
    return heatmap_of(
        one, None, None, "difference", other, compared({"alpha": 0.05, "cells": cells}) if cells else None
    )


def test_cells_have_their_colours_marks_and_tips(subtests, snapshot) -> None:
    """The better value, and the better difference, has the later colour in either direction."""
    reasons = [{"at": {"x": 5}, "reason": "too_costly"}, {"at": {"x": 1}, "reason": "not_applicable"}]
    higher, lower = line(8.0, 7.0, 9.0), line(8.0, 7.0, 9.0, metric=LOSS)
    for name, shown in {
        "higher is better": heatmap_of(higher),
        "lower is better": heatmap_of(lower),
        "a difference where higher is better": difference(higher, line(8.0, 8.0, 8.0)),
        "a difference where lower is better": difference(lower, line(8.0, 8.0, 8.0, metric=LOSS)),
        "what differs by more than noise is outlined": difference(line(1, 2, 3), line(3, 1, 1), 0.2, 0.01, None),
        "no cell differs by more than noise": difference(line(1), line(2), 1.0),
        "no cell was tested": difference(line(1), line(2), None),
        "a reason is of its own cell, not of a level that is gone": heatmap_of(line(None, None, reasons=reasons)),
    }.items():
        with subtests.test(msg=name):
            assert seen(shown) == snapshot(name=name)
    for grid in (higher, lower):
        svg = heatmap_svg(grid)
        bar = [text for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg) if text in ("7", "8", "9")][-3:]
        assert bar == (["7", "8", "9"] if grid is lower else ["9", "8", "7"])  # from the top of the bar, the better end
        assert ("lower is better, so" in svg) == (grid is lower)


def test_every_pair_has_the_colour_of_the_better_side_also_where_lower_is_better() -> None:
    pair = {"a": "a", "b": "b", "status": "ok", "estimand": "difference", "difference": -2.0, "n_common": 3}
    document = {"alpha": 0.05, "ranking": [{"name": "a"}, {"name": "b"}], "pairs": [pair | {"p_holm": 0.01}]}
    for lower, kinds in ((False, ("d0 sure", "d20 sure")), (True, ("d20 sure", "d0 sure"))):
        matrix = matrix_of(read_ranking(document), lower=lower)
        assert matrix is not None
        assert (matrix.rows[0][1][1].kind, matrix.rows[1][1][0].kind) == kinds
        assert matrix.ends == (("+2.00", "\u22122.00") if lower else ("\u22122.00", "+2.00"))
    alike = matrix_of(read_ranking(document | {"pairs": [pair | {"difference": 0.0, "p_holm": 1.0}]}))
    assert alike is not None
    assert alike.ends == ()
