"""Results of airspeed velocity; the numbers were read off the files by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.grids.intake import Limits, read_submission
from registry.importers.imported_grid import Overrides
from registry.importers.reading import Item, Sources, items_of

FILES = Path(__file__).parent / "files"
TIME = {"name": "time", "unit": "s", "direction": "lower", "lower": 0}


def read(folder: str) -> dict[str, dict[str, Any]]:
    """The grids of a folder by benchmark; all of its other files are read with them, or say nothing."""
    found = list(items_of(Sources((str(FILES / folder),), "auto", Overrides())))
    assert all(isinstance(one, Item) for one in found), found
    grids = [one.found.submission for one in found if isinstance(one, Item)]
    return {grid["benchmark"]: grid for grid in grids}


def test_the_product_of_the_parameters_is_a_grid_with_gaps_where_a_run_failed_or_was_skipped() -> None:
    made = read("asv")["suite.Joined.time_made"]
    grid = read_submission(made, Limits()).grid
    assert [(axis.name, axis.kind, [level.label for level in axis.levels]) for axis in grid.axes] == [
        ("length", "numeric", ["10", "100"]),
        ("kind", "nominal", ["list", "tuple", "set"]),
    ]
    assert grid.values == (1.111499841499608e-06, None, 2.119000100719859e-06, 1.6629999208817026e-06,
                           2.7949997729592724e-06, None)  # fmt: skip
    assert grid.reasons == {1: "failed", 5: "not_applicable"}
    assert grid.stderr is not None
    # the interval at 99 % is 9.92e-07 to 1.323e-06, and 2.575829 standard errors to either side
    assert grid.stderr[0] == pytest.approx((1.323e-06 - 9.92e-07) / 2 / 2.575829, rel=1e-6)
    assert made["metric"] == TIME


def test_commits_are_models_under_the_machine_and_environment_that_measured_them() -> None:
    found = read("asv")
    one = found["suite.peakmem_list"]
    assert (one["model"], one["variant"]) == ("cde70ad74b2edf5b4acc294989ddc3aecf57ffd5", "minibox existing-py_python3")
    assert one["labels"] == {"date": "2026-11-27T04:47:06+00:00"}
    assert one["protocol"]["machine"] == "minibox"
    assert one["protocol"]["benchmark_version"].startswith("73dc2c59")
    assert (one["metric"]["name"], one["metric"]["unit"]) == ("peakmemory", "bytes")
    assert found["suite.track_answer"]["metric"] == {"name": "track", "unit": "points"}


def test_results_of_the_first_version_are_read_too() -> None:
    found = read("archives/asv")
    assert len(found) == 21
    latitude = found["time_coordinates.time_latitude"]
    assert (latitude["cells"][0]["value"], latitude["variant"]) == (
        0.0004540278911590576,
        "cheetah py2.7-Cython-numpy1.8",
    )
    assert [cell["value"] for cell in found["time_other.time_parameterized"]["cells"]] == [1, 2, 3]
    assert [found[f"time_AAA_{name}"]["cells"][0]["reason"] for name in ("failure", "skip")] == [
        "failed",
        "not_applicable",
    ]
    assert found["time_ci_small"]["cells"][0]["stderr"] == pytest.approx(0.1 / 2.575829, rel=1e-6)
    assert (found["time_units.mem_unit"]["metric"]["name"], found["time_units.mem_unit"]["cells"][0]["value"]) == (
        "memory",
        344,
    )
