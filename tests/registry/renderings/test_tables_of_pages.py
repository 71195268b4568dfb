"""A heatmap as a table: each number under its own headings, or no table; what is not shown is counted."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import grid_documents
import pytest

from registry.pages.heatmap import fits, heatmap_of
from registry.pages.ranking import matrix_of
from registry.renderings.heatmap import heatmap_svg, heatmap_vega
from tests.registry.renderings.documents import compared, read, read_ranking

SHAPES = [(3, 500), (301, 2), (500,), (400,), (300,), (300, 2), (12, 400), (10, 10, 3, 3), (2, 3, 4), (7,), ()]


def counted(*shape: int) -> dict[str, Any]:
    """A grid in which the value of a cell is its flat index."""
    axes = [grid_documents.axis(name, list(range(size)), "numeric") for name, size in zip("ABCD", shape, strict=False)]
    number = itertools.count()

    def nested(sizes: tuple[int, ...]) -> Any:
        return [nested(sizes[1:]) for _ in range(sizes[0])] if sizes else next(number)

    return grid_documents.document(axes, nested(shape), metric={"name": "n", "unit": None, "direction": "higher"})


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_number_of_a_table_stands_under_its_own_headings(shape: tuple[int, ...]) -> None:
    grid = counted(*shape)
    if not fits(grid):
        assert max(shape) > 300
        return
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


def test_the_legend_has_the_outlines_that_are_drawn() -> None:
    picture = heatmap_svg(counted(2, 2, 3, 3))
    assert "best value" in picture
    assert "not shown" not in picture


def test_a_grid_whose_cells_are_joined_makes_no_table() -> None:
    with pytest.raises(ValueError, match="joined"):
        heatmap_of(counted(3, 500))


SMALLEST = 2.2250738585072014e-308


@pytest.mark.parametrize(
    "values",
    [[2.225073858507201e-308, SMALLEST], [0.0, 5e-324], [-1.7e308, 1.7e308], [5e-324, 1.7e308], [1.7e308, 1.7e308]],
)
def test_values_as_close_or_as_far_apart_as_doubles_can_be_have_colours(values: list[float]) -> None:
    grid = grid_documents.document([grid_documents.axis("x", ["a", "b"])], values)
    kinds = [square.kind.split()[0] for square in heatmap_of(grid).plates[0].rows[0][1]]
    assert kinds == (["c16", "c16"] if values[0] == values[1] else ["c0", "c31"])
    assert heatmap_svg(grid).count("<g><title>") == 2
    low, high = next(
        layer["encoding"]["color"]["scale"]["domain"]
        for layer in heatmap_vega(grid)["layer"]
        if "color" in layer.get("encoding", {})
    )
    assert low < high


def test_a_reason_belongs_to_its_own_cell_though_another_names_a_level_that_is_gone() -> None:
    reasons = [{"at": {"x": "gone"}, "reason": "too_costly"}, {"at": {"x": "b"}, "reason": "not_applicable"}]
    grid = grid_documents.document([grid_documents.axis("x", ["a", "b"])], [None, None], reasons=reasons)
    assert [square.told for square in heatmap_of(grid).plates[0].rows[0][1]] == [
        "not measured",
        "not measured: not applicable",
    ]


LOSS = {"name": "loss", "unit": None, "direction": "lower", "lower": None, "upper": None}


def line(*values: float | None, **more: Any) -> dict[str, Any]:
    axes = [grid_documents.axis("x", list(range(len(values))), "numeric")]
    return grid_documents.document(axes, list(values), **more)


def test_the_better_value_and_the_better_difference_have_the_later_colours_in_either_direction() -> None:
    for metric, better in ((None, 2), (LOSS, 1)):
        more = {"metric": metric} if metric else {}
        grid, other = line(8.0, 7.0, 9.0, **more), line(8.0, 8.0, 8.0, **more)
        [(_, values)] = heatmap_of(grid).plates[0].rows
        assert values[better].kind == "c31 best"
        assert [square.kind.split()[0] for square in values].count("c0") == 1
        shown = heatmap_of(grid, None, None, "difference", other)
        [(_, differences)] = shown.plates[0].rows
        assert differences[0].kind == "d10"
        assert differences[better].kind == "d20"
        assert differences[3 - better].kind == "d0"
        assert shown.ends() == (("+1", "\u22121") if metric else ("\u22121", "+1"))
        assert heatmap_of(grid).ends() == (("9", "7") if metric else ("7", "9"))
        assert shown.falling == bool(metric)
        svg = heatmap_svg(grid)
        bar = [text for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg) if text in ("7", "8", "9")][-3:]
        assert bar == (["7", "8", "9"] if metric else ["9", "8", "7"])  # from the top of the bar, the better end
        assert ("lower is better, so" in svg) == bool(metric)


def test_a_difference_map_marks_the_cells_that_differ_by_more_than_noise() -> None:
    cells = [{"at": {"x": 0}, "p_holm": 0.2}, {"at": {"x": 1}, "p_holm": 0.01}, {"at": {"x": 2}, "p_holm": None}]
    shown = heatmap_of(
        line(1, 2, 3), None, None, "difference", line(3, 1, 1), compared({"alpha": 0.05, "cells": cells})
    )
    [(_, squares)] = shown.plates[0].rows
    assert [square.kind.endswith(" apart") for square in squares] == [False, True, False]
    assert squares[1].tip == "x 1: +1 (2 against 1) · Holm p 0.0100"
    assert squares[1].told == "more than noise"
    assert shown.marked == "Outlined: 1 of 2 tested cells, which differs by more than noise (Holm p < 0.05)."
    assert shown.has(" apart")


def test_a_difference_map_without_a_significant_cell_says_that_its_colours_are_no_findings() -> None:
    def told(p: float | None) -> str:
        comparison = compared({"alpha": 0.05, "cells": [{"at": {"x": 0}, "p_holm": p}]})
        return heatmap_of(line(1), None, None, "difference", line(2), comparison).marked

    assert told(1.0) == (
        "The tested cell does not differ by more than noise (Holm p < 0.05): the colours show sizes, not findings."
    )
    assert told(None) == "No cell was tested: the noise of one of the grids is not known."


def test_every_pair_has_the_colour_of_the_better_side_also_where_lower_is_better() -> None:
    tested = {"a": "a", "b": "b", "status": "ok", "estimand": "difference"}
    document = {
        "alpha": 0.05,
        "ranking": [{"name": "a"}, {"name": "b"}],
        "pairs": [tested | {"difference": -2.0, "n_common": 3, "p_holm": 0.01}],
    }
    for lower, kinds in ((False, ("d0 sure", "d20 sure")), (True, ("d20 sure", "d0 sure"))):
        matrix = matrix_of(read_ranking(document), lower=lower)
        assert matrix is not None
        assert (matrix.rows[0][1][1].kind, matrix.rows[1][1][0].kind) == kinds
        assert matrix.ends == (("+2.00", "\u22122.00") if lower else ("\u22122.00", "+2.00"))
