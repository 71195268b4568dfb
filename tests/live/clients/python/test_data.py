"""Every form in which a job may hold a grid becomes the same publication."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

from results_registry import BadData
from results_registry.data import read_cells, read_data
from tests.client.conftest import Served
from tests.house import ACCURACY

NAMES = {"experiment": "type-by-length", "benchmark": "B", "model": "M", "variant": "", "metric": "accuracy"}
VALUES = [[99.3, 96.7, 98.3], [None, 100.0, 99.7]]
NAN = float("nan")
ARRAY = np.array([[99.3, 96.7, 98.3], [NAN, 100.0, 99.7]])
WANTED = {
    "axes": [{"name": "Type", "levels": ["1", "2"]}, {"name": "Length", "levels": [0, 1, 2]}],
    "values": VALUES,
}
RECORDS: list[dict[str, Any]] = [
    {"Type": kind, "Length": length, "value": value}
    for kind, row in zip(("1", "2"), VALUES, strict=True)
    for length, value in enumerate(row)
]
FRAME = pd.DataFrame(RECORDS)
WIDE = pd.DataFrame(ARRAY, index=pd.Index(["1", "2"], name="Type"), columns=pd.Index([0, 1, 2], name="Length"))
BOTH = {"Type": ["1", "2"], "Length": [0, 1, 2]}


class Tensor:
    """What torch's tensors have of this; torch itself is 500 MB."""

    shape = (2, 3)

    def detach(self) -> "Tensor":
        return self

    def tolist(self) -> list[list[float]]:
        return ARRAY.tolist()


FORMS: dict[str, tuple[Any, Any]] = {
    "xarray": (xr.DataArray(ARRAY, dims=["Type", "Length"], coords=BOTH), None),
    "pandas, wide": (WIDE, None),
    "pandas, wide, names given": (WIDE.rename_axis(index=None, columns=None), ["Type", "Length"]),
    "pandas, tidy": (FRAME, None),
    "pandas, tidy, value named like the metric": (FRAME.rename(columns={"value": "accuracy"}), None),
    "pandas, tidy, coordinates in the index": (FRAME.set_index(["Type", "Length"]), None),
    "pandas, series": (FRAME.set_index(["Type", "Length"])["value"], None),
    "pandas, nullable": (FRAME.convert_dtypes(), None),
    "pandas, with the registry's own columns": (
        FRAME.assign(model="M", variant="", Length_num=FRAME["Length"].astype(float), unit="%"),
        None,
    ),
    "pandas, as the registry's own table": (FRAME.assign(grid="0193", revision=1, protocol='{"shots":5}'), None),
    "polars, tidy": (pl.DataFrame(RECORDS), None),
    "polars, tidy, axes chosen": (pl.DataFrame(RECORDS), ["Type", "Length"]),
    "numpy with levels": (ARRAY, BOTH),
    "numpy, masked": (np.ma.masked_invalid(ARRAY), BOTH),
    "numpy, objects": (np.array(VALUES, dtype=object), BOTH),
    "a tensor": (Tensor(), BOTH),
    "nested lists": (VALUES, BOTH),
    "nested dict": ({"1": {0: 99.3, 1: 96.7, 2: 98.3}, "2": {0: None, 1: 100.0, 2: 99.7}}, ["Type", "Length"]),
    "tuple dict": ({(one["Type"], one["Length"]): one["value"] for one in RECORDS}, ["Type", "Length"]),
    "records": (RECORDS, None),
    "the registry's cells": ([{"at": {k: r[k] for k in BOTH}, "value": r["value"]} for r in RECORDS], None),
    "dict of columns": (FRAME.to_dict("list"), None),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_grid(form: str) -> None:
    data, axes = FORMS[form]
    assert read_data(data, axes, NAMES) == WANTED


def test_wide_polars_has_its_rows_in_the_first_column() -> None:
    wide = pl.DataFrame({"Type": ["1", "2"], "a": [1.0, None], "b": [2, 3]})
    found = read_data(wide, ["Type", "Part"], NAMES)
    assert found == {
        "axes": [{"name": "Type", "levels": ["1", "2"]}, {"name": "Part", "levels": ["a", "b"]}],
        "values": [[1.0, 2], [None, 3]],
    }


@pytest.mark.parametrize(
    ("given", "value"),
    [(3, 3), (0.25, 0.25), (np.float32(0.5), 0.5), (np.array(7), 7), (Decimal("1.5"), 1.5), (Fraction(1, 4), 0.25),
     (True, 1), (None, None), (NAN, None), (pd.NA, None), (np.float64("nan"), None)],
    ids=repr,
)  # fmt: skip
def test_one_number_is_a_grid_without_axes(given: Any, value: Any) -> None:
    assert read_data(given, None, NAMES) == {"axes": [], "values": value}


def test_no_digit_of_a_double_is_lost() -> None:
    given = [math.pi, 0.1 + 0.2, 5e-324, 1.7976931348623157e308, -0.0]
    assert repr(read_data(given, ["x"], NAMES)["values"]) == repr(given)


def test_an_infinite_value_is_a_cell_that_failed() -> None:
    found = read_data({"a": 1.0, "b": float("inf"), "c": NAN}, ["run"], NAMES)
    assert found["cells"] == [
        {"at": {"run": "a"}, "value": 1.0},
        {"at": {"run": "b"}, "value": None, "reason": "failed"},
    ]
    assert found["axes"] == [{"name": "run", "levels": ["a", "b", "c"]}]


def test_trials_and_errors_come_as_one_number_or_like_the_data() -> None:
    assert read_data(VALUES, BOTH, NAMES, trials=300)["trials"] == 300
    counts = [[10, 20, 30], [None, 40, 50]]
    for data, trials in (
        (VALUES, counts),
        (ARRAY, np.array([[10, 20, 30], [0, 40, 50]])),
        (WIDE, WIDE * 0 + np.array([[10, 20, 30], [1, 40, 50]])),
        ({(r["Type"], r["Length"]): r["value"] for r in RECORDS},
         {("1", 0): 10, ("1", 1): 20, ("1", 2): 30, ("2", 1): 40, ("2", 2): 50}),
    ):  # fmt: skip
        assert read_data(data, BOTH, NAMES, trials=trials) == WANTED | {"trials": counts}
    rows = [{"x": 1, "value": 0.5, "trials": 10, "stderr": 0.1}, {"x": 2, "value": 0.6, "trials": 10, "stderr": 0.2}]
    wanted = {"axes": [{"name": "x", "levels": [1, 2]}], "values": [0.5, 0.6], "trials": 10, "stderr": [0.1, 0.2]}
    assert read_data(rows, None, NAMES) == wanted
    leaves = {1: {"value": 0.5, "trials": 10, "stderr": 0.1}, 2: {"value": 0.6, "trials": 10, "stderr": 0.2}}
    assert read_data(leaves, ["x"], NAMES) == wanted


def test_repeats_and_scattered_cells_stay_cells() -> None:
    twice = [{"x": 1, "value": 0.5}, {"x": 1, "value": 0.7}]
    assert read_data(twice, None, NAMES)["cells"] == [{"at": {"x": 1}, "value": 0.5}, {"at": {"x": 1}, "value": 0.7}]
    diagonal = {(number, number): 1.0 for number in range(40)}
    assert len(read_data(diagonal, ["a", "b"], NAMES)["cells"]) == 40


def test_axes_may_say_kind_unit_and_levels_that_the_data_lacks() -> None:
    axes = [{"name": "size", "kind": "numeric", "unit": "B", "levels": [{"label": "7b", "number": 7e9}, "70b"]}]
    assert read_data({"70b": 2.0}, axes, NAMES) == {"axes": axes, "values": [None, 2.0]}
    assert read_data([1.0, 2.0], {"Type": "nominal"}, NAMES)["axes"] == [
        {"name": "Type", "kind": "nominal", "levels": [0, 1]}
    ]
    assert read_data({1: 1.0, "x": 2.0}, ["a"], NAMES) == {
        "axes": [{"name": "a", "levels": ["1", "x"]}],
        "values": [1.0, 2.0],
    }


def test_levels_are_numbers_or_text_whatever_the_library_calls_them() -> None:
    days = pd.date_range("2026-11-01", periods=2)
    found = read_data(pd.Series([1.0, 2.0], index=pd.Index(days, name="day")), None, NAMES)
    assert found["axes"] == [{"name": "day", "levels": ["2026-11-01T00:00:00", "2026-11-02T00:00:00"]}]
    found = read_data(
        xr.DataArray([1.0, 2.0], dims=["lr"], coords={"lr": np.array([1e-3, 1e-4], np.float64)}), None, NAMES
    )
    assert found["axes"] == [{"name": "lr", "levels": [0.001, 0.0001]}]


def test_an_empty_grid_is_a_grid() -> None:
    assert read_data({}, BOTH, NAMES)["axes"] == WANTED["axes"]
    assert read_data([], ["x"], NAMES) == {"axes": [{"name": "x", "levels": []}], "values": []}


@pytest.mark.parametrize(
    ("data", "axes", "said"),
    [
        ("0.5", None, "must be a number"),
        ({"a": "high"}, ["x"], "must be a number, not 'high'"),
        ([[1, 2], [3]], ["a", "b"], "rows of different lengths"),
        ([1, 2], ["a", "b"], "1 dimensions, but there are 2 axes"),
        ([1, 2], {"a": ["x"]}, 'axis "a" has 1 levels, but the data has 2'),
        ({("a", 1): 1, ("b",): 2}, ["x", "y"], "Some coordinates have 1 levels, some 2"),
        ({None: 1.0}, ["x"], "coordinate is missing"),
        ([{"x": NAN, "value": 1}], None, "coordinate is missing"),
        ([{"x": 1, "score": 1}], None, 'no column "value" or "accuracy"'),
        ([{"x": 1, "value": 1}], ["y"], "no column 'y'"),
        ([{"x": 1, "y": 1, "value": 1}, {"x": 1, "y": 2, "value": 1}], ["x"], 'column "y" varies'),
        ([{"x": 1, "model": "other", "value": 1}], None, "model='M'"),
        (xr.Dataset({"a": ("x", [1.0])}), None, "Dataset of several variables"),
        (np.zeros((1, 1, 1, 1, 1)), None, "at most 4 axes"),
        (1.0, ["x"], "One number has no axes"),
        ([1.0], {"x": "sideways"}, "is numeric, ordinal, nominal"),
        ([[1.0]], ["x", "x"], "same name"),
        (object(), None, "must be a number"),
        ([1j], ["x"], "must be a number"),
    ],
)  # fmt: skip
def test_what_is_no_grid_is_named(data: Any, axes: Any, said: str) -> None:
    with pytest.raises(BadData, match=said.replace("(", r"\(")):
        read_data(data, axes, NAMES)


def test_a_step_of_a_running_job_is_one_record_or_anything_else() -> None:
    wanted = ([{"name": "Step"}], [{"at": {"Step": 100}, "value": 0.5}])
    for cells in ({"Step": 100, "value": 0.5}, {"at": {"Step": 100}, "value": 0.5}, [{"Step": 100, "accuracy": 0.5}]):
        assert read_cells(cells, None, NAMES) == wanted
    assert read_cells({100: 0.5}, ["Step"], NAMES) == wanted
    assert read_cells({"Step": 100, "value": NAN}, None, NAMES)[1] == []


@pytest.mark.parametrize("form", ["xarray", "pandas, tidy", "tuple dict"])
def test_the_registry_takes_what_the_client_makes(served: Served, form: str) -> None:
    data, axes = FORMS[form]
    sent = NAMES | {"metric": ACCURACY} | read_data(data, axes, NAMES, trials=300)
    answer = served.project.publish(sent)
    assert answer.status_code == 201, answer.text
    grid = served.grid()
    assert grid["values"] == VALUES
    assert [(axis["name"], axis["kind"]) for axis in grid["axes"]] == [("Type", "nominal"), ("Length", "numeric")]
