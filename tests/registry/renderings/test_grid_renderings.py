"""What people and programs read of a grid, whole."""

import csv
import io

import pytest

from registry.renderings.numbers import interval_of
from tests.registry.renderings.grid_documents import axis, cells_csv, document, grid_markdown, grid_text, two_axes

TYPES = axis("Type", ["1", "2", "3"])
SIZES = axis("Model size", [{"label": "7b", "number": 7e9}, {"label": "32b", "number": 32e9}])
GRIDS = {
    "rows and columns that meet on the decimal point": two_axes(),
    "one short axis is a row": document([SIZES], [61, 80.25]),
    "one long axis is a column": document([axis("Step", list(range(13)), "numeric", "k")], [None, *range(12)]),
    "no axes are one number": document([], 52.0),
    "leading axes make a table for each combination": document(
        [axis("Seed", ["a", "b"]), axis("Type", ["1"]), axis("Length", ["x", "y"])], [[[1.5, None]], [[None, None]]]
    ),
    "no cell was measured": document([axis("Type", ["1", "2"]), axis("Length", [])], [[], []]),
    "the footer tells of noise and gaps": document(
        [TYPES],
        [1.0, 2.0, None],
        trials=[100, 300, None],
        stderr=[0.5, 0.5, None],
        reasons=[{"at": {"Type": "3"}, "reason": "not_applicable"}],
    ),
    "wide characters fill two columns and combining ones none": document(
        [axis("語", ["日本", "e\u0301", "plain"]), axis("x", ["a"])], [[1.0], [2.0], [3.0]]
    ),
}


def test_a_grid_is_a_table_of_text(subtests, snapshot) -> None:
    for name, grid in GRIDS.items():
        with subtests.test(msg=name):
            assert grid_text(grid) == snapshot(name=name)


def test_a_grid_is_a_pipe_table_of_markdown_and_its_cells_are_one_row_each(snapshot) -> None:
    assert grid_markdown(two_axes()) == snapshot


def test_a_table_too_wide_for_a_terminal_is_folded_with_its_keys() -> None:
    axes = [axis("Type", ["1"]), axis("Length", list(range(100, 200)), "numeric")]
    lines = grid_text(document(axes, [list(range(100))])).splitlines()[2:-2]
    assert max(map(len, lines)) <= 120
    assert [line.split()[0] for line in lines if line.strip()] == ["Length", "Type", "1"] * 4


def test_csv_is_tidy_and_has_the_numbers_of_numeric_axes(snapshot) -> None:
    axes = [axis("Type", ["1"]), axis("Size", [{"label": "7b", "number": 7e9}, 8], "numeric")]
    assert cells_csv(document(axes, [[0.1 + 0.2, 1.0]], trials=[[3, 4]], stderr=[[None, 0.5]])) == snapshot
    assert cells_csv(GRIDS["no cell was measured"]).count("\n") == 1


def test_csv_does_not_start_formulas() -> None:
    axes = [axis("=A1", ["@SUM(1)", "plain"])]
    found = list(csv.reader(io.StringIO(cells_csv(document(axes, [-1.5, 2.0]) | {"model": "=1+1", "variant": "-x"}))))
    assert found[1][4:6] == ["'=1+1", "'-x"]
    assert [[row[8], row[10]] for row in found] == [["'=A1", "value"], ["'@SUM(1)", "-1.5"], ["plain", "2.0"]]


def test_a_lone_cell_has_the_wider_interval_of_its_trials_and_its_repeats_within_its_scale() -> None:
    """By Wilson 80 of 100 are 71.1 to 86.7; by Student's t of 9 degrees of freedom 30 / sqrt(10) reach 21.5."""
    low, high = interval_of(80.0, 100.0, (100, None, 10, 30.0)) or (0.0, 0.0)
    assert (low, high) == pytest.approx((58.5, 100.0), abs=0.05)
    assert interval_of(80.0, 100.0, (100, None, 10, 0.1)) == pytest.approx((71.1, 86.7), abs=0.05)
    assert interval_of(99.0, 100.0, (None, None, 3, 2.0)) == pytest.approx((94.03, 100.0), abs=0.01)
