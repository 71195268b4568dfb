"""What workers compute has the shape that the OpenAPI document promises, for ordinary grids and odd ones."""

from __future__ import annotations

import random
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator

from registry import create_app
from registry.api.openapi import openapi_for_clients
from registry.api.shapes import COMPONENTS
from registry.demo import demo_grids
from registry.grids.grid import Axis, Grid, Level, Metric
from registry.grids.intake import Limits, read_submission
from registry.settings import Settings
from registry.storage.rows import axis_document, metric_document
from tests.workers.statistics.documents import describe

DOCUMENTED = openapi_for_clients(create_app(Settings()))["components"]["schemas"]
OPEN, PERCENT = Metric("a", None, "higher"), Metric("a", "%", "higher", 0, 100)


def numeric(size: int, name: str = "x") -> Axis:
    return Axis(name, "numeric", tuple(Level(str(i), float(i)) for i in range(size)))


def words(*labels: str, kind: Any = "nominal") -> Axis:
    return Axis("w", kind, tuple(map(Level, labels)))


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
    "a nominal axis": Grid(OPEN, (words("a", "b"),), (1.0, 2.0)),
    "no better end": Grid(Metric("a"), (words("a", "b", "c", kind="ordinal"),), (1.0, 2.0, 3.0)),
    "three axes with errors": noisy(4, 3, 2),
    "four axes with errors": noisy(3, 2, 2, 2),
    "separated successes": Grid(PERCENT, (numeric(4),), (0.0, 0.0, 100.0, 100.0), 10),
    "all equal with trials": Grid(PERCENT, (numeric(3),), (50.0, 50.0, 50.0), 10),
    "astronomic": Grid(OPEN, (numeric(3),), (1e300, 2.0, 3.0)),
    "repeats": Grid(OPEN, (numeric(3),), (1.0, 2.0, 3.0), repeats=(3, 3, None), sd=(0.1, 0.2, None)),
} | {
    f"{sent['benchmark']}, {sent['model']}": read_submission({"axes": []} | sent, Limits()).grid
    for sent in demo_grids()
}


@pytest.mark.parametrize("name", GRIDS)
def test_a_description_has_the_promised_shape(name: str) -> None:
    grid = GRIDS[name]
    head = {
        "grid": "0193a1b2-0000-7000-8000-000000000000",
        "state": "ready",
        "metric": metric_document(grid.metric),
        "axes": [axis_document(axis) for axis in grid.axes],
    }
    document = orjson.loads(orjson.dumps(head | describe(grid)))
    promised = {"$ref": "#/components/schemas/Statistics", "components": {"schemas": COMPONENTS}}
    faults = Draft202012Validator(promised).iter_errors(document)
    assert [f"{list(fault.absolute_path)}: {fault.message}" for fault in faults] == []


@pytest.mark.parametrize("name", GRIDS)
def test_a_description_has_every_field_that_the_document_promises_to_clients(name: str) -> None:
    grid = GRIDS[name]
    head = {
        "grid": "0193a1b2-0000-7000-8000-000000000000",
        "revision": 1,
        "digest": "sha256:" + "0" * 64,
        "state": "ready",
        "methods_version": "1",
        "computed_at": "2026-11-22T00:00:00Z",
        "metric": metric_document(grid.metric),
        "axes": [axis_document(axis) for axis in grid.axes],
    }
    document = orjson.loads(orjson.dumps(head | describe(grid)))
    for part in ("Statistics", "Trends", "PeaksPart", "CoveragePart", "SensitivityPart", "PrecisionPart"):
        promised = {"$ref": f"#/components/schemas/{part}", "components": {"schemas": DOCUMENTED}}
        faults = Draft202012Validator(promised).iter_errors(document)
        assert [f"{part} {list(fault.absolute_path)}: {fault.message}" for fault in faults] == []


@pytest.mark.parametrize("name", GRIDS)
def test_a_description_has_no_field_that_the_document_does_not_name(name: str) -> None:
    described = describe(GRIDS[name])
    assert described.keys() <= COMPONENTS["Statistics"]["properties"].keys()
    for series in described["series"]:
        assert series.keys() <= COMPONENTS["Series"]["properties"].keys()
    for part, shape in (("peaks", "Peaks"), ("coverage", "Coverage"), ("sensitivity", "Sensitivity")):
        assert described[part].keys() <= COMPONENTS[shape]["properties"].keys()
