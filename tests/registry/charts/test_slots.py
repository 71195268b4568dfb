"""Lines over ragged grids, against pandas: which cells are averaged, and over which slots."""

from __future__ import annotations

import random

import pandas as pd
import pytest

from registry.charts.lines import LinesQuery, Shown, lines_of
from registry.charts.slots import Source
from registry.errors import Invalid
from registry.grids.grid import Axis, Grid, Level, Metric
from registry.results.lines import Lines

pytestmark = pytest.mark.unit
ACCURACY = Metric("accuracy", "%", "higher", 0, 100)


def numbered(name: str, numbers: list[float]) -> Axis:
    return Axis(name, "numeric", tuple(Level(f"{one:g}", one) for one in numbers))


def worded(name: str, labels: list[str]) -> Axis:
    return Axis(name, "nominal", tuple(Level(one) for one in labels))


def ragged(seed: int, models: int) -> tuple[list[Source], pd.DataFrame]:
    """Grids with axes in either order, some levels and some cells missing, and all of their cells as a frame."""
    chance, sources, rows = random.Random(seed), list[Source](), list[dict[str, object]]()
    for number in range(models):
        for benchmark in ("b1", "b2", "b3"):
            if chance.random() < 0.1:
                continue
            types = chance.sample(["x", "y", "z"], chance.choice([2, 3]))
            lengths = sorted(chance.sample([1.0, 2.0, 4.0, 8.0], chance.choice([3, 4])))
            axes = [worded("Type", types), numbered("Length", lengths)]
            if chance.random() < 0.5:
                axes.reverse()
            values: list[float | None] = []
            for first in axes[0].levels:
                for second in axes[1].levels:
                    at = {axis.name: level for axis, level in zip(axes, (first, second), strict=True)}
                    value = None if chance.random() < 0.15 else round(chance.uniform(0, 100), 1)
                    values.append(value)
                    row = {"model": f"m{number}", "benchmark": benchmark, "Type": at["Type"].label}
                    rows.append(row | {"Length": at["Length"].number, "value": value})
            names = {"model": f"m{number}", "benchmark": benchmark, "variant": ""}
            content = Grid(ACCURACY, tuple(axes), tuple(values), trials=100)
            sources.append(Source(f"{number}{benchmark}", 1, "", names, content))
    return sources, pd.DataFrame(rows).dropna()


def means(lines: Lines) -> dict[tuple[str, object], tuple[float, int]]:
    return {
        (line.name, point.level): (pytest.approx(point.mean), point.slots)
        for line in lines.lines
        for point in line.points
    }


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("missing", ["matched", "available"])
def test_means_are_those_of_pandas_over_the_slots_that_all_share_or_that_each_has(seed: int, missing: str) -> None:
    sources, cells = ragged(seed, 3)
    names = sorted(set(cells["model"]))
    lines = lines_of(LinesQuery("e", "accuracy", along="Length", missing=missing), sources, Shown(names))  # type: ignore[arg-type]
    slot = ["Length", "benchmark", "Type"]
    owners = cells.groupby(slot)["model"].nunique().rename("owners")
    kept = cells.join(owners, on=slot)
    if missing == "matched":
        kept = kept[kept["owners"] == len(names)]
    expected = {key: (group["value"].mean(), len(group)) for key, group in kept.groupby(["model", "Length"])}
    assert means(lines) == expected
    shared = owners[owners == len(names)].groupby("Length").size()
    others = owners[owners < len(names)].groupby("Length").size()
    for level in lines.levels:
        assert (level.shared, level.left_out) == (shared.get(level.level, 0), others.get(level.level, 0))


@pytest.mark.parametrize("seed", range(6))
def test_levels_of_another_axis_have_lines_of_their_own_cells(seed: int) -> None:
    sources, cells = ragged(seed, 2)
    lines = lines_of(LinesQuery("e", "accuracy", along="Length", by="axis:Type", missing="available"), sources, Shown())
    expected = {key: (group["value"].mean(), len(group)) for key, group in cells.groupby(["Type", "Length"])}
    assert means(lines) == expected


def test_the_cells_of_one_level_are_never_those_of_another() -> None:
    """Rows of a thousand each: a mean that took a cell of another row would be a thousand off."""
    values = [1_000.0 * row + column for row in range(3) for column in range(50)]
    axes = (worded("Row", ["a", "b", "c"]), numbered("Step", [float(step) for step in range(50)]))
    one = Source("1", 1, "", {"model": "m", "benchmark": "b", "variant": ""}, Grid(Metric("v"), axes, tuple(values)))
    lines = lines_of(LinesQuery("e", "v", along="Step", by="axis:Row"), [one], Shown())
    assert {line.name: [point.mean for point in line.points] for line in lines.lines} == {
        name: [1_000.0 * row + column for column in range(50)] for row, name in enumerate("abc")
    }


def test_of_two_grids_in_one_slot_the_later_counts() -> None:
    axis = (numbered("Step", [1, 2]),)
    names = {"model": "m", "benchmark": "b", "variant": ""}
    both = [
        Source(str(number), 1, "", names, Grid(ACCURACY, axis, values))
        for number, values in enumerate([(1.0, 2.0), (5.0, None)])
    ]
    lines = lines_of(LinesQuery("e", "accuracy"), both, Shown(["m"]))
    assert [point.mean for point in lines.lines[0].points] == [5.0, 2.0]


def source(model: str, *values: float | None, metric: Metric = ACCURACY, axis: Axis | None = None) -> Source:
    names = {"model": model, "benchmark": "b", "variant": ""}
    return Source(model, 1, "", names, Grid(metric, (axis or numbered("Step", [1, 2, 3]),), values))


def test_without_a_shared_slot_there_is_no_line_and_the_emptiest_names_are_said() -> None:
    lines = lines_of(
        LinesQuery("e", "accuracy"), [source("a", 1.0, None, None), source("b", None, 2.0, 3.0)], Shown(["a", "b"])
    )
    assert (lines.status, [line.points for line in lines.lines]) == ("insufficient", [(), ()])
    assert "a (1), b (2)" in (lines.reason or "")


def test_levels_that_share_other_slots_are_said() -> None:
    axes = (worded("Type", ["x", "y"]), numbered("Step", [1, 2]))
    names = {"model": "m", "benchmark": "b", "variant": ""}
    one = Source("1", 1, "", names, Grid(ACCURACY, axes, (10.0, 10.0, 90.0, None)))
    lines = lines_of(LinesQuery("e", "accuracy"), [one], Shown(["m"]))
    assert [point.mean for point in lines.lines[0].points] == [50.0, 10.0]
    assert [warning.code for warning in lines.warnings] == ["slots_vary", "noise_unknown"]


@pytest.mark.parametrize(
    "other, told",
    [
        (Metric("accuracy", "%", "higher", 0, 1), "bounds: 0 to 100 in 1, 0 to 1 in 1"),
        (Metric("accuracy", "points", "higher", 0, 100), "unit"),
        (Metric("accuracy", "%", "lower", 0, 100), "better end"),
    ],
)
def test_metrics_that_have_no_mean_are_refused(other: Metric, told: str) -> None:
    with pytest.raises(Invalid, match=told):
        lines_of(
            LinesQuery("e", "accuracy"), [source("a", 1, 1, 1), source("b", 1, 1, 1, metric=other)], Shown(["a", "b"])
        )


def test_what_one_grid_leaves_open_another_says() -> None:
    bare = Metric("accuracy", "%")
    lines = lines_of(
        LinesQuery("e", "accuracy"), [source("a", 1, 1, 1, metric=bare), source("b", 1, 1, 1)], Shown(["a", "b"])
    )
    assert (lines.metric["direction"], lines.metric["upper"]) == ("higher", 100)
