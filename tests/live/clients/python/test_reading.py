"""What was published comes back as plain values, as pandas and as xarray."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import pytest

from results_registry import (
    AggregatesDocument,
    BadAddress,
    NotThere,
    RankingDocument,
    Refused,
    add_claims,
    aggregates,
    cells,
    claim,
    claims,
    comparison,
    coverage,
    gate,
    grid,
    grids,
    judge_claims,
    peaks,
    plan,
    ranking,
    statistics,
    trends,
)
from tests.client.conftest import Served
from tests.house import publication

SIZES = [{"label": "7b", "number": 7e9}, {"label": "32b", "number": 32e9}]


@pytest.fixture
def published(served: Served) -> dict[str, Any]:
    """Two models on two benchmarks, computed; where to read them."""
    for model, shift in (("A", 0.0), ("B", -10.0)):
        for benchmark in ("one", "two"):
            values = [[90.0 + shift, 91.0 + shift, 92.0 + shift], [None, 80.0 + shift, 70.0 + shift]]
            served.project.published(model=model, benchmark=benchmark, values=values, labels={"git": model.lower()})
    served.project.house.compute()
    return {"url": served.url, "token": served.project.tokens["reader"], "project": served.project.slug}


def awaited(served: Served, ask: Callable[..., Any]) -> Any:
    """The answer to what nobody asked before: pending, and there once it is computed."""
    assert ask(timeout=0)["state"] == "pending"
    served.project.house.compute()
    return ask()


def test_grids_are_found_by_names_and_labels(published: dict[str, Any]) -> None:
    assert {(one["model"], one["benchmark"]) for one in grids(**published)} == {
        ("A", "one"), ("A", "two"), ("B", "one"), ("B", "two"),
    }  # fmt: skip
    assert len(grids(model=["A", "B"], benchmark="one", **published)) == 2
    assert [one["model"] for one in grids(labels={"git": "b"}, benchmark="two", **published)] == ["B"]
    assert grids(model="C", **published) == []
    frame = grids(sort="created_at", **published).to_pandas()
    assert list(frame["cell_count"]) == [5, 5, 5, 5]


def test_a_grid_becomes_a_table_with_its_levels(published: dict[str, Any]) -> None:
    [found] = grids(model="A", benchmark="one", **published)
    document = grid(found["id"], url=published["url"], token=published["token"])
    assert document["values"] == [[90.0, 91.0, 92.0], [None, 80.0, 70.0]]
    table = document.to_pandas()
    assert (list(table.index), list(table.columns), table.index.name) == (["1", "2"], [0, 1, 2], "Type")
    assert math.isnan(table.loc["2", 0])
    assert table.loc["2", 1] == 80.0
    array = document.to_xarray()
    assert (array.dims, array.name, array.attrs["units"], array.attrs["model"]) == (
        ("Type", "Length"),
        "accuracy",
        "%",
        "A",
    )
    assert float(array.sel(Type="1", Length=2)) == 92.0


def test_one_statistic_of_every_grid_becomes_a_table(published: dict[str, Any]) -> None:
    slopes = trends(benchmark="one", **published).to_pandas()
    # From 90, 91 and 92: one a step; from 80 and 70: ten down.
    assert list(zip(slopes["model"], slopes["Type"], slopes["slope"], strict=True)) == [
        ("A", "1", 1.0), ("A", "2", -10.0), ("B", "1", 1.0), ("B", "2", -10.0),
    ]  # fmt: skip
    best = peaks(model=["A"], labels={"git": "a"}, **published).to_pandas()
    assert list(best["value"]) == [92.0, 92.0]
    assert list(best["Length_num"]) == [2.0, 2.0]
    counted = coverage(names="sent", **published).to_pandas()
    assert list(counted["cells"]) == [5] * 4
    assert "model_as_sent" not in counted
    with pytest.raises(Refused) as refused:
        trends(at={"Length": ">=1"}, **published)
    assert refused.value.errors[0][0] == "/at.Length"


@pytest.mark.parametrize("depth", [0, 1, 3, 4])
def test_grids_of_any_depth_become_tables(served: Served, published: dict[str, Any], depth: int) -> None:
    axes = [{"name": f"a{place}", "kind": "numeric", "levels": SIZES} for place in range(depth)]
    values: Any = 1.5
    for _ in range(depth):
        values = [values, None] if not isinstance(values, list) else [values, values]
    made = served.project.published(model=f"deep {depth}", axes=axes, values=values, trials=None)
    document = grid(made["id"], **published)
    array = document.to_xarray()
    assert (array.ndim, int(array.notnull().sum())) == (depth, max(1, 2 ** (depth - 1)))
    if depth:
        assert list(array["a0"].values) == [7e9, 32e9]
        assert list(array["a0_label"].values) == ["7b", "32b"]
    assert int(document.to_pandas().notna().to_numpy().sum()) == max(1, 2 ** (depth - 1))


def test_cells_are_tidy_and_unmeasured_ones_absent(published: dict[str, Any]) -> None:
    found = cells(model="A", **published)
    assert (len(found), len(cells(model="A", labels={"git": "b"}, **published))) == (10, 0)
    assert found.axes == ("Type", "Length")
    row = next(one for one in found if (one["benchmark"], one["Type"], one["Length"]) == ("one", "2", 1))
    given = {
        "experiment": "type-by-length", "benchmark": "one", "model": "A", "variant": "Baseline", "metric": "accuracy",
        "Type": "2", "Length": 1, "value": 80.0, "trials": 300,
    }  # fmt: skip
    assert {name: row.get(name) for name in given} == given
    assert row["ci_low"] < 80.0 < row["ci_high"]
    assert found.to_pandas().groupby("benchmark")["value"].mean().to_dict() == {"one": 84.6, "two": 84.6}


def test_cells_of_several_grids_become_one_array(published: dict[str, Any]) -> None:
    array = cells(**published).to_xarray()
    assert dict(zip(array.dims, array.shape, strict=True)) == {"benchmark": 2, "model": 2, "Type": 2, "Length": 3}
    gap = array.sel(model="A") - array.sel(model="B")
    assert set(gap.values[~gap.isnull().values]) == {10.0}
    [one] = grids(model="A", benchmark="one", **published)
    assert cells(one, **published).to_xarray().dims == ("Type", "Length")
    with pytest.raises(ValueError, match="no cells"):
        cells(updated_since="2999-01-01T00:00:00Z", **published).to_xarray()
    with pytest.raises(Refused, match='no grid of this project has the model "nobody"; there are A, B'):
        cells(model="nobody", **published)


def test_labelled_levels_keep_their_number_beside_them(served: Served, published: dict[str, Any]) -> None:
    axes = [{"name": "Size", "kind": "numeric", "levels": SIZES}]
    made = served.project.published(model="sized", axes=axes, values=[1.0, 2.0], trials=None)
    assert [(one["Size"], one["Size_num"]) for one in cells(made, **published)] == [("7b", 7e9), ("32b", 32e9)]


def test_statistics_and_rankings_are_read_and_awaited(served: Served, published: dict[str, Any]) -> None:
    [one] = grids(model="A", benchmark="one", **published)
    found = statistics(one, **published)
    assert (found["state"], found["grid"], found["digest"]) == ("ready", one["id"], one["digest"])
    ranked = ranking("type-by-length", "accuracy", **published)
    assert [entry["name"] for entry in ranked["ranking"]] == ["A", "B"]
    assert ranked.to_pandas()["rank"].to_dict() == {"A": 1, "B": 2}
    assert RankingDocument({"state": "pending"}).to_pandas().empty
    fresh = served.project.published(model="fresh")
    assert statistics(fresh["id"], timeout=0, **published)["state"] == "pending"


def test_a_table_is_read_and_awaited_and_is_a_pivot_in_pandas(served: Served, published: dict[str, Any]) -> None:
    found = awaited(served, partial(aggregates, "type-by-length", "accuracy", **published))
    frame = found.to_pandas()
    assert list(frame.index.names) == ["model", "benchmark"]
    by_hand = pd.DataFrame(list(cells(**published))).groupby(["model", "benchmark"])["value"].mean()
    assert frame["value"].to_dict() == pytest.approx(by_hand.to_dict())
    assert frame["value"].unstack().loc["B", "two"] == pytest.approx(by_hand["B", "two"])
    assert frame[["low", "high"]].notna().all(axis=None)
    assert AggregatesDocument({"state": "pending"}).to_pandas().empty


def test_a_claim_or_a_list_is_judged_and_awaited(served: Served, published: dict[str, Any]) -> None:
    about = {"experiment": "type-by-length", "metric": "accuracy", "model": "A", "benchmark": "one"}
    claim = {"kind": "value", "about": about, "of": "max", "is": {"op": "=", "number": 92.0}}
    assert awaited(served, partial(judge_claims, claim, **published))["verdict"] == "supported"
    several = [claim, {"kind": "not", "claims": [claim]}]
    found = awaited(served, partial(judge_claims, several, **published))
    assert [one["verdict"] for one in found] == ["supported", "contradicted"]


def test_claims_are_kept_and_listed(served: Served, published: dict[str, Any]) -> None:
    where = published | {"token": served.project.tokens["writer"]}
    about = {"experiment": "type-by-length", "metric": "accuracy", "model": "A", "benchmark": "one"}
    said = {"kind": "value", "about": about, "of": "max", "is": {"op": "=", "number": 92.0}}
    cited = said | {"source": {"url": "x.md"}}
    assert list(claims(**where)) == []
    kept = add_claims([cited, {"kind": "not", "claims": [said]}], timeout=0, **where)
    served.project.house.compute()
    assert add_claims(said, **where)["verdict"] == "supported"
    assert [one["id"] for one in claims(verdict="contradicted", **where)] == [kept[1]["id"]]
    assert [one["id"] for one in claims(source=["x.md", "y.md"], **where)] == [kept[0]["id"]]
    assert claim(kept[0]["id"], **where)["judgement"]["as_posted"] == "supported"


def test_a_slice_is_read_ranked_and_compared(served: Served, published: dict[str, Any]) -> None:
    at = {"Type": "1", "Length": ">=1"}
    assert [one["value"] for one in cells(model="A", benchmark="one", at=at, **published)] == [91.0, 92.0]
    one, other = (grids(model=model, benchmark="two", **published)[0] for model in "AB")
    assert [cell["value"] for cell in cells(one, at={"Length": ["0", "2"], "Type": "1"}, **published)] == [90.0, 92.0]
    ranked = awaited(served, partial(ranking, "type-by-length", "accuracy", at=at, **published))
    assert {row["name"]: row["cells"] for row in ranked["ranking"]} == {"A": 4, "B": 4}
    compared = awaited(served, partial(comparison, one, other, at=at, **published))
    assert (compared["n_common"], compared["mean"], compared["slice"]) == (2, -10.0, {"Length": [">=1"], "Type": ["1"]})
    found = awaited(served, partial(statistics, one, at=at, **published))
    assert {one["at"]["Type"] for one in found["series"]} == {"1"}


def test_two_models_are_compared_by_name(served: Served, published: dict[str, Any]) -> None:
    names = {"experiment": "type-by-length", "metric": "accuracy", "baseline_model": "A", "contender_model": "B"}
    found = awaited(served, partial(comparison, **names, **published))
    benchmarks = {one["benchmark"]: one["n_common"] for one in found["by_benchmark"]}
    assert (found["whole"]["a"], found["whole"]["n_common"]) == ("B", sum(benchmarks.values()))
    assert set(benchmarks) == {"one", "two"}
    assert found["whole"]["difference"] == pytest.approx(-10.0)
    shown = found._repr_html_()
    assert "benchmarks that both have" in shown
    assert "-10" in shown
    with pytest.raises(Refused) as refused:
        comparison("01939a3e-0000-7000-8000-000000000000", **names, **published)
    assert {pointer for pointer, _ in refused.value.errors} >= {"/baseline_model", "/contender_model"}


def test_the_next_measurement_is_planned(served: Served, published: dict[str, Any]) -> None:
    names = {"experiment": "type-by-length", "metric": "accuracy", "baseline_model": "A", "contender_model": "B"}
    found = awaited(served, partial(plan, {"kind": "separate", **names}, budget=1_000, **published))
    assert found["observed"] == pytest.approx(-10.0)


def test_a_gate_answers_and_raises_no_verdict(served: Served, published: dict[str, Any]) -> None:
    project = served.project
    definition = {"experiment": "type-by-length", "metric": "accuracy", "subject": {"model": "A"}}
    sent = definition | {"policy": {"margin": 1.0, "missing": "matched", "common_share": 0.0}}
    project.call("PUT", f"projects/{project.slug}/baselines/main", json=sent)
    waiting = gate("main", "B", timeout=0, **published)
    assert (waiting["verdict"], waiting["passes"]) == ("pending", None)
    project.house.compute()
    found = gate("main", "B", **published)
    assert (found["verdict"], found["passes"], found["contender"]) == ("regressed", False, "B")
    assert found["sentence"].startswith("B is worse than the baseline main")
    nobody = gate("main", "C", **published)
    assert (nobody["verdict"], nobody["passes"]) == ("not_comparable", None)
    with pytest.raises(Refused):
        gate("main", "A", **published)
    with pytest.raises(NotThere):
        gate("other", "B", **published)


def test_a_grid_that_is_not_published_is_judged_by_its_content(served: Served, published: dict[str, Any]) -> None:
    project = served.project
    project.published(model="base", variant="", axes=[], values=70.0, trials=1_000)
    definition = {"experiment": "type-by-length", "metric": "accuracy", "subject": {"model": "base"}}
    project.call("PUT", f"projects/{project.slug}/baselines/main", json=definition | {"policy": {"margin": 3.0}})
    for value, passes in ((60.0, False), (80.0, True)):
        sent = publication(model="pr", variant="", axes=[], values=value, trials=1_000)
        assert gate("main", sent, timeout=0, **published)["verdict"] == "pending"
        project.house.compute()
        assert gate("main", sent, **published)["passes"] is passes
    grid = project.published(model="worse", variant="", axes=[], values=60.0, trials=1_000)
    gate("main", grid, timeout=0, **published)
    project.house.compute()
    assert gate("main", grid, **published)["passes"] is False


def test_what_goes_wrong_is_raised(published: dict[str, Any]) -> None:
    with pytest.raises(NotThere):
        grid("01939a3e-0000-7000-8000-000000000000", **published)
    with pytest.raises(NotThere):
        grids(**published | {"project": "no-such-project"})
    with pytest.raises(BadAddress, match="No project"):
        grids(url=published["url"])


def test_the_round_trip_keeps_every_number(served: Served, published: dict[str, Any]) -> None:
    from results_registry import log_grid

    values = [math.pi * 1e-7, 0.1 + 0.2, 1e-300]
    names = {"experiment": "e", "benchmark": "b", "model": "m", "metric": "loss"}
    first = log_grid(values, **names, axes={"Step": [1, 2, 3]}, **served.where, strict=True).grid
    assert first is not None
    again = log_grid(grid(first["id"], **published).to_xarray(), **names, **served.where, strict=True).grid
    assert again is not None
    tidy = log_grid(cells(first["id"], **published).to_pandas(), **names, **served.where, strict=True).grid
    assert tidy is not None
    assert {one["digest"] for one in (first, again, tidy)} == {first["digest"]}
