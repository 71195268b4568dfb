"""What workers compute has the shape that the OpenAPI document promises, for ordinary grids and odd ones."""

from __future__ import annotations

import random

import orjson
import pytest
from jsonschema import Draft202012Validator

from registry.api.openapi import openapi_for_clients
from registry.api.shapes import COMPONENTS
from registry.demo import demo_grids
from registry.grids.grid import Axis, Grid, Level, Metric
from registry.grids.intake import Limits, read_submission
from registry.results.codec import from_document, to_document
from registry.results.statistics import GridStatistics
from registry.storage.rows import axis_document, metric_document
from tests.house import House
from workers.statistics import describe

OPEN, PERCENT = Metric("a", None, "higher"), Metric("a", "%", "higher", 0, 100)


def numeric(size: int, name: str = "x") -> Axis:
    return Axis(name, "numeric", tuple(Level(str(i), float(i)) for i in range(size)))


def noisy(*shape: int) -> Grid:
    """A grid of losses with standard errors."""
    chance = random.Random(1)
    axes = tuple(numeric(size, f"x{i}") for i, size in enumerate(shape))
    values: list[float] = [1.0]
    for size in shape:
        values = [chance.random() for _ in values for _ in range(size)]
    return Grid(Metric("loss", None, "lower", 0), axes, tuple(values), None, tuple(0.1 for _ in values))


GRIDS = {
    "one number": Grid(OPEN, (), (1.0,)),
    "no number": Grid(OPEN, (), (None,)),
    "one axis with a gap": Grid(OPEN, (numeric(5),), (1.0, 2.0, None, 2.0, 5.0)),
    "an axis without levels": Grid(OPEN, (numeric(0),), ()),
    "a nominal axis": Grid(OPEN, (Axis("w", "nominal", (Level("a"), Level("b"))),), (1.0, 2.0)),
    "no better end": Grid(Metric("a"), (Axis("w", "ordinal", (Level("a"), Level("b"), Level("c"))),), (1.0, 2.0, 3.0)),
    "three axes with errors": noisy(4, 3, 2),
    "four axes with errors": noisy(3, 2, 2, 2),
    "separated successes": Grid(PERCENT, (numeric(4),), (0.0, 0.0, 100.0, 100.0), 10),
    "all equal with trials": Grid(PERCENT, (numeric(3),), (50.0, 50.0, 50.0), 10),
    "astronomic": Grid(OPEN, (numeric(3),), (1e300, 2.0, 3.0)),
    "repeats": Grid(OPEN, (numeric(3),), (1.0, 2.0, 3.0), repeats=(3, 3, None), sd=(0.1, 0.2, None)),
} | {
    f"of document {sent['labels']['seed']}": read_submission({"axes": []} | sent, Limits()).grid
    for sent in demo_grids()
}

HEAD = {
    "grid": "0193a1b2-0000-7000-8000-000000000000",
    "revision": 1,
    "digest": "sha256:" + "0" * 64,
    "state": "ready",
    "methods_version": "1",
    "computed_at": "2026-11-22T00:00:00Z",
}


def test_a_description_has_the_promised_shape_and_no_other_field_and_is_read_as_it_was_written(
    house: House, subtests: pytest.Subtests
) -> None:
    to_clients = openapi_for_clients(house.app)["components"]["schemas"]
    checks = [
        Draft202012Validator({"$ref": "#/components/schemas/Statistics", "components": {"schemas": schemas}})
        for schemas in (COMPONENTS, to_clients)
    ]
    for name, grid in GRIDS.items():
        with subtests.test(name):
            statistics = describe(grid)
            described = to_document(statistics)
            told = {"metric": metric_document(grid.metric), "axes": [axis_document(axis) for axis in grid.axes]}
            written = orjson.dumps(described)
            document = HEAD | told | orjson.loads(written)
            for check in checks:
                faults = [f"{list(one.absolute_path)}: {one.message}" for one in check.iter_errors(document)]
                assert faults == [], check.schema["$ref"]
            assert described.keys() <= COMPONENTS["Statistics"]["properties"].keys()
            for series in described["series"]:
                assert series.keys() <= COMPONENTS["Series"]["properties"].keys()
            for part, shape in (("peaks", "Peaks"), ("coverage", "Coverage"), ("sensitivity", "Sensitivity")):
                assert described[part].keys() <= COMPONENTS[shape]["properties"].keys()
            again = from_document(GridStatistics, orjson.loads(written))
            assert orjson.dumps(to_document(again)) == written
            assert (again.series, again.peaks) == (statistics.series, statistics.peaks)
