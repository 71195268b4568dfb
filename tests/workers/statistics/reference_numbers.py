"""The reference numbers that the tests assert: made by other libraries (`sources` in the file names them)."""

import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from registry.grids.grid import Axis, Grid, Level, Metric
from tests.workers.statistics.documents import describe

HERE = Path(__file__).parent
PERCENT = Metric("accuracy", "%", "higher", 0, 100)
TRIALS = {"AIME24": 150, "AIME25": 150, "AMC23": 200, "GPQA_D": 990}


@cache
def entries() -> list[dict[str, Any]]:
    return json.loads((HERE / "reference.json").read_text(encoding="utf-8"))["entries"]


@cache
def seeds() -> dict[str, dict[str, Any]]:
    grids = json.loads((HERE / "reference_seeds.json").read_text(encoding="utf-8"))["grids"]
    return {grid["id"]: grid for grid in grids}


def having(stat: str, grid: str | None = None) -> list[dict[str, Any]]:
    """The entries of one statistic."""
    return [e for e in entries() if e["stat"] == stat and (grid is None or e["grid"] == grid)]


def each(*stats: str) -> Callable[[Callable[[dict[str, Any]], None]], Callable[[pytest.Subtests], None]]:
    """Check every entry of these statistics in one test, which tells all that do not agree."""

    def test_of(check: Callable[[dict[str, Any]], None]) -> Callable[[pytest.Subtests], None]:
        def test(subtests: pytest.Subtests) -> None:
            for entry in (entry for stat in stats for entry in having(stat)):
                with subtests.test(entry["stat"], grid=entry["grid"], target=entry["target"]):
                    check(entry)

        test.__doc__ = check.__doc__
        return test

    return test_of


def agrees(found: dict[str, Any], expected: dict[str, Any], names: str, **near: float) -> None:
    """Hold numbers against those of the reference, which calls some of them otherwise: `mine=theirs`."""
    for name in names.split():
        mine, _, theirs = name.partition("=")
        assert found[mine] == pytest.approx(expected[theirs or mine], **({"rel": 1e-9} | near)), name


def seed_axis(given: dict[str, Any]) -> Axis:
    numeric = given["kind"] == "numeric"
    levels = tuple(Level(str(value), float(value) if numeric else None) for value in given["values"])
    return Axis(given["name"], given["kind"], levels)


def seed_grid(name: str, trials: int | None = None) -> Grid:
    """A seed table as a grid; the same trials behind every cell."""
    given = seeds()[name]
    values = tuple(value for row in given["values"] for value in row)
    return Grid(PERCENT, (seed_axis(given["y"]), seed_axis(given["x"])), values, trials)


@cache
def described(name: str, trials: int | None = None) -> dict[str, Any]:
    return describe(seed_grid(name, trials))


def series_of(entry: dict[str, Any], trials: int | None = None) -> dict[str, Any]:
    """The series that an entry's target (`row Type=1`, `col Ratio=0.1`) names."""
    way, level = entry["target"].split(" ", 1)
    axis, value = level.split("=")
    for series in described(entry["grid"], trials)["series"]:
        if axis in series["at"] and same_level(series["at"][axis], value):
            return series
    raise LookupError(f"{way} {level}")


def same_level(found: Any, value: str) -> bool:
    return found == value if isinstance(found, str) else math.isclose(found, float(value))


def line(
    values: list[float | None],
    numbers: list[float] | None = None,
    metric: Metric = PERCENT,
    trials: int | None = None,
    **more: Any,
) -> Grid:
    """A grid of one numeric axis."""
    numbers = numbers or [float(i) for i in range(len(values))]
    axis = Axis("x", "numeric", tuple(Level(repr(number), number) for number in numbers), **more)
    return Grid(metric, (axis,), tuple(values), trials)


def one_series(values: list[float | None], **more: Any) -> dict[str, Any]:
    """The only series of a line."""
    (series,) = describe(line(values, **more))["series"]
    return series


def leaves(value: Any) -> list[Any]:
    """Every scalar of a JSON-ready value."""
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]
