"""What people and programs read of a grid, written out by hand."""

from __future__ import annotations

import csv
import io

from grid_documents import axis, document, two_axes

from registry.renderings.grid import cells_csv, cells_markdown, cells_text, grid_markdown, grid_text

TITLE = "Core Generalization · Qwen-2.5 3B · Baseline — accuracy (%)\n\n"


def test_two_axes_are_rows_and_columns_that_meet_on_the_decimal_point() -> None:
    assert grid_text(two_axes()) == TITLE + (
        "      Length\n"
        "Type     0      1     2\n"
        "1     99.3   96.7  98.3\n"
        "2      ·    100.0  99.7\n"
        "\n"
        "· not measured\n\n"
        "5 of 6 cells measured · revision 1 · trials 300\n"
    )


def test_markdown_is_a_pipe_table() -> None:
    assert grid_markdown(two_axes()) == "### " + TITLE + (
        "| Type / Length | 0 | 1 | 2 |\n"
        "| --- | ---: | ---: | ---: |\n"
        "| 1 | 99.3 | 96.7 | 98.3 |\n"
        "| 2 | · | 100.0 | 99.7 |\n"
        "\n"
        "· not measured\n\n"
        "5 of 6 cells measured · revision 1 · trials 300\n"
    )


def test_one_short_axis_is_a_row() -> None:
    found = grid_text(
        document([axis("Model size", [{"label": "7b", "number": 7e9}, {"label": "32b", "number": 32e9}])], [61, 80.25])
    )
    assert found == TITLE + (
        "Model size       7b    32b\naccuracy (%)  61.00  80.25\n\n2 of 2 cells measured · revision 1\n"
    )


def test_one_long_axis_is_a_column() -> None:
    found = grid_text(document([axis("Step", list(range(13)), "numeric", "k")], [None, *range(12)]))
    assert found.splitlines()[2:5] == ["Step (k)  accuracy (%)", "       0             ·", "       1             0"]


def test_no_axes_are_one_number() -> None:
    assert grid_text(document([], 52.0)) == TITLE + "52\n\n1 of 1 cell measured · revision 1\n"


def test_leading_axes_make_a_table_for_each_combination() -> None:
    axes = [axis("Seed", ["a", "b"]), axis("Type", ["1"]), axis("Length", ["x", "y"])]
    found = grid_text(document(axes, [[[1.5, None]], [[None, None]]]))
    assert found == TITLE + (
        "Seed a\n\n"
        "      Length\n"
        "Type    x  y\n"
        "1     1.5  ·\n"
        "\n"
        "Seed b\n\nNo cell was measured.\n\n"
        "· not measured\n\n"
        "1 of 4 cells measured · revision 1\n"
    )


def test_an_empty_grid_says_that_no_cell_was_measured() -> None:
    empty = document([axis("Type", ["1", "2"]), axis("Length", [])], [[], []])
    assert grid_text(empty) == TITLE + "No cell was measured.\n\n0 of 0 cells measured · revision 1\n"
    assert cells_csv(empty).count("\n") == 1


def test_the_footer_tells_what_is_known_of_the_noise_and_why_cells_are_missing() -> None:
    found = grid_text(
        document(
            [axis("Type", ["1", "2", "3"])],
            [1.0, 2.0, None],
            trials=[100, 300, None],
            stderr=[0.5, 0.5, None],
            reasons=[{"at": {"Type": "3"}, "reason": "not_applicable"}],
        )
    )
    assert found.splitlines()[-1] == (
        "2 of 3 cells measured · revision 1 · trials 100–300 · standard error 0.5 · 1 not applicable"
    )


def test_wide_characters_fill_two_columns_and_combining_ones_none() -> None:
    found = grid_text(document([axis("語", ["日本", "e\u0301", "plain"]), axis("x", ["a"])], [[1.0], [2.0], [3.0]]))
    assert found.splitlines()[2:7] == ["       x", "語     a", "日本   1", "e\u0301      2", "plain  3"]


def test_a_table_too_wide_for_a_terminal_is_folded_with_its_keys() -> None:
    found = grid_text(
        document([axis("Type", ["1"]), axis("Length", list(range(100, 200)), "numeric")], [list(range(100))])
    )
    lines = found.splitlines()[2:-2]
    assert max(map(len, lines)) <= 120
    assert [line.split()[0] for line in lines if line.strip()] == ["Length", "Type", "1"] * 4


def test_cells_are_one_row_each() -> None:
    assert cells_text(two_axes(trials=None)).splitlines()[2:6] == [
        "Type  Length  accuracy (%)",
        "1          0          99.3",
        "1          1          96.7",
        "1          2          98.3",
    ]
    assert "| 2 | 1 | 100.0 | 300 |\n" in cells_markdown(two_axes())


def test_csv_is_tidy_and_has_the_numbers_of_numeric_axes() -> None:
    axes = [axis("Type", ["1"]), axis("Size", [{"label": "7b", "number": 7e9}, 8], "numeric")]
    found = cells_csv(document(axes, [[0.1 + 0.2, 1.0]], trials=[[3, 4]], stderr=[[None, 0.5]]))
    start = "0193a7c0-0000-7000-8000-000000000001,1,type-by-length,Core Generalization,Qwen-2.5 3B,Baseline,accuracy,%"
    assert found == (
        "grid,revision,experiment,benchmark,model,variant,metric,unit,Type,Size,Size_num,value,trials,stderr\n"
        f"{start},1,7b,7000000000.0,0.30000000000000004,3,\n"
        f"{start},1,8,8,1.0,4,0.5\n"
    )


def test_csv_does_not_start_formulas() -> None:
    axes = [axis("=A1", ["@SUM(1)", "plain"])]
    found = list(csv.reader(io.StringIO(cells_csv(document(axes, [-1.5, 2.0]) | {"model": "=1+1", "variant": "-x"}))))
    assert found[1][4:6] == ["'=1+1", "'-x"]
    assert [row[8:] for row in found] == [["'=A1", "value"], ["'@SUM(1)", "-1.5"], ["plain", "2.0"]]


def test_an_axis_named_like_a_column_gets_a_name_of_its_own() -> None:
    header = cells_csv(document([axis("model", ["a"]), axis("value", [1], "numeric")], [[1.0]])).splitlines()[0]
    assert header.split(",")[8:] == ["axis_model", "axis_value", "axis_value_num", "value"]


def test_a_hundred_thousand_cells_are_a_hundred_thousand_rows() -> None:
    axes = [axis("a", list(range(1000)), "numeric"), axis("b", list(range(100)), "numeric")]
    rows = list(
        csv.reader(io.StringIO(cells_csv(document(axes, [[i / 7 + j for j in range(100)] for i in range(1000)]))))
    )
    assert len(rows) == 100_001
    assert float(rows[-1][-1]) == 999 / 7 + 99
