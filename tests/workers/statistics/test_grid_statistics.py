"""Coverage and peaks of whole grids against the reference numbers."""

import pytest

from registry.grids.grid import Axis, Grid, Level, Metric
from tests.workers.statistics.documents import describe
from tests.workers.statistics.reference_numbers import PERCENT, described, each, line, seed_grid, seeds


def levels_at(grid: str, found: list[dict[str, object]]) -> list[list[str]]:
    """Coordinates as [row, column] in plain text."""
    y, x = seeds()[grid]["y"]["name"], seeds()[grid]["x"]["name"]
    return [[str(at[y]), str(at[x])] for at in found]


@each("coverage")
def test_coverage_agrees(entry):
    found, expected = described(entry["grid"])["coverage"], entry["output"]
    y, x = seeds()[entry["grid"]]["y"]["name"], seeds()[entry["grid"]]["x"]["name"]
    assert (found["cells"], found["possible"]) == (expected["cells"], expected["possible"])
    assert found["fraction"] == pytest.approx(expected["fraction"])
    for level in found["by"][y]["levels"]:
        row = expected["rows"][str(level["level"])]
        assert (level["count"], level["first"], level["last"]) == (row["n"], row["first"], row["last"])
        assert level["holes"] == row["holes"]
    assert [c["count"] for c in found["by"][x]["levels"]] == list(expected["col_counts"].values())
    assert found["by"][x]["empty"] == expected["empty_columns"]
    assert found["by"][x]["complete"] == expected["complete_columns"]
    assert [str(level) for level in found["by"][y]["complete"]] == [str(r) for r in expected["complete_rows"]]
    assert found["component_count"] == len(expected["bipartite_components"])


@each("global")
def test_the_peak_lists_all_its_ties(entry):
    peaks, expected = described(entry["grid"])["peaks"], entry["output"]
    assert peaks["best"]["value"] == expected["max"]
    assert levels_at(entry["grid"], peaks["best"]["at"]) == [[str(p) for p in at] for at in expected["argmax"]]
    assert peaks["best"]["ties"] == expected["n_tied_max"]
    assert peaks["runner_up"]["value"] == expected["second_distinct"]


@each("per_row", "per_col")
def test_every_level_has_its_own_peak(entry):
    grid, way = entry["grid"], "y" if entry["stat"] == "per_row" else "x"
    other = seeds()[grid]["x" if way == "y" else "y"]["name"]
    found = {str(b["level"]): b for b in described(grid)["peaks"]["by"][seeds()[grid][way]["name"]]}
    expected = {level: best for level, best in entry["output"].items() if best and best.get("at")}
    assert found.keys() == expected.keys()
    for level, best in expected.items():
        assert found[level]["value"] == best["max"]
        assert [str(at[other]) for at in found[level]["at"]] == [str(p) for p in best["at"]]


def test_peaks_are_at_the_better_end_if_there_is_one():
    peaks = describe(line([0.3, 0.1, 0.2], metric=Metric("loss", direction="lower")))["peaks"]
    assert peaks["best"] == {"value": 0.1, "at": [{"x": 1}], "ties": 1}
    assert peaks["runner_up"]["value"] == 0.2
    assert peaks["runner_up"]["gap"] == pytest.approx(0.1)
    undirected = describe(line([0.3, 0.1], metric=Metric("size")))["peaks"]
    assert [undirected[name] for name in ("status", "best", "noise_status")] == ["undefined", None, "undefined"]
    constant = describe(line([2.0] * 150))["peaks"]
    assert (constant["best"]["ties"], len(constant["best"]["at"]), constant["runner_up"]) == (150, 100, None)


def test_levels_that_never_meet_are_apart():
    axes = tuple(Axis(n, "nominal", (Level("1"), Level("2"))) for n in "ab")
    found = describe(Grid(PERCENT, axes, (1.0, None, None, 2.0)))["coverage"]
    assert found["component_count"] == 2
    assert found["components"] == [{"a": ["1"], "b": ["1"]}, {"a": ["2"], "b": ["2"]}]


def test_margins_are_a_share_of_the_range():
    assert describe(seed_grid("s4/r1-qwen/AIME24"))["params"]["sharp_change"] == 5.0
    params = describe(line([1.0], metric=Metric("loss")))["params"]
    assert (params["sharp_change"], params["equivalence"]) == (None, None)


def test_what_is_left_out_of_a_large_grid_is_counted():
    sizes = {"a": 1200, "b": 4, "c": 2}
    axes = tuple(Axis(n, "numeric", tuple(Level(str(i), float(i)) for i in range(size))) for n, size in sizes.items())
    values = tuple(float((7 * i) % 53) for i in range(1200 * 4 * 2))
    found = describe(Grid(Metric("m", None, "higher"), axes, values))
    assert len(found["series"]) == 2_000
    assert found["series_left_out"] == 4 * 2 + 1200 * 2 + 1200 * 4 - 2_000
    assert {series["along"] for series in found["series"]} == {"a", "b", "c"}
    assert found["coverage"]["by"]["a"]["levels_left_out"] == 200
    assert found["peaks"]["best"]["ties"] > len(found["peaks"]["best"]["at"]) == 100


def test_astronomic_numbers_keep_their_coverage_and_peaks():
    found = describe(line([1e300, -1e300, 5.0], metric=Metric("m", None, "higher")))
    assert found["series"] == []
    assert "10^100" in found["series_reason"]
    assert found["peaks"]["best"]["value"] == 1e300
    assert found["coverage"]["cells"] == 3


def test_values_that_fall_because_their_trials_grow_are_no_common_direction():
    """At a rate of 0.99 nine in ten cells of 10 trials show 100 %, of 1,000 nearly none: of 300 flat grids of 7 such
    rows all had p < 0.05."""
    axes = (line([0.0] * 7).axes[0], Axis("y", "ordinal", tuple(Level(n) for n in "123456")))
    values = (100.0, 100.0, 100.0, 99.1, 98.9, 99.0) * 7
    uneven = describe(Grid(PERCENT, axes, values, (10, 10, 10, 1000, 1000, 1000) * 7))["grid_trend"]["y"]
    assert (uneven["status"], uneven["reason"].split(" within")[0]) == (
        "insufficient",
        "trials differ more than twofold",
    )
    assert describe(Grid(PERCENT, axes, values, 1000))["grid_trend"]["y"]["status"] == "ok"


def test_what_is_assumed_is_what_the_tests_of_any_row_rest_on():
    """A cell without noise takes it from its own row alone; of one cell nothing is tested."""
    x = line([0.0] * 4).axes[0]
    axes, values = (Axis("a", "nominal", (Level("1"), Level("2"))), x), (90.0, 80.0, 70.0, 60.0, 90.0, 80.0, 70.0, 50.0)
    trials = Grid(PERCENT, axes, values, (100,) * 6 + (None, 100))
    repeats = Grid(Metric("loss"), axes, values, repeats=(5,) * 6 + (1, 5), sd=(1.0,) * 6 + (None, 1.0))
    alone = Grid(PERCENT, (x,), values[:4], (None, None, None, 100), stderr=(2.0, 2.0, 2.0, None))
    one = Grid(Metric("loss"), (line([0.0]).axes[0],), (1.0,), repeats=(5,), sd=(1.0,))
    unknown = ["equal_scatter", "independent_levels", "rows_share_nothing"]
    assert describe(trials)["assumes"] == ["independent_trials", *unknown]
    assert describe(repeats)["assumes"] == ["equal_noise", *unknown]
    assert describe(alone)["assumes"] == ["independent_trials", "exact_errors"]
    assert describe(one)["assumes"] == describe(line([50.0], trials=100))["assumes"] == []


def test_a_report_that_tests_nothing_has_no_p():
    kinds = Axis("a", "nominal", tuple(Level(n) for n in "123456"))
    assert describe(Grid(PERCENT, (kinds,), (50.0,) * 6, 100))["opened"] == {"p": None, "axes": {"a": None}}
