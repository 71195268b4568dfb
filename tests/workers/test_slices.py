"""A slice is answered as if only its cells had been posted, by everything that is computed and by feeds."""

from __future__ import annotations

import csv
import json
import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Invalid
from registry.grids.grid import Level
from registry.grids.slices import kept_levels, read_slice, slice_text
from tests.house import House, Project

AXES = [
    {"name": "Task", "kind": "nominal", "levels": ["lookup", "sum", "<8k"]},
    {"name": "Context", "kind": "numeric", "unit": "tokens", "levels": [1000, 8000, 64000, 128000]},
]
METRIC = {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100}
LONG = {"at.Context": ">=64000"}
CASES: list[tuple[dict[str, Any], list[int], list[int]]] = [
    (LONG, [0, 1, 2], [2, 3]),
    ({"at.Context": [">1000", "<128000"]}, [0, 1, 2], [1, 2]),
    ({"at.Task": ["sum", "<8k"], "at.Context": "<=64000"}, [1, 2], [0, 1, 2]),
    ({"at.Task": "lookup", "at.Context": ["1000", "64000.0"]}, [0], [0, 2]),
]
"""A query, and the levels that it keeps of both axes."""


def values(model: int, benchmark: int) -> list[list[float | None]]:
    chance = random.Random(10 * model + benchmark)
    return [
        [None if chance.random() < 0.15 else round(60 - 5 * place + 8 * model + chance.gauss(0, 4), 1)
         for place in range(4)]
        for _ in range(3)
    ]  # fmt: skip


def fill(project: Project, tasks: list[int], contexts: list[int]) -> dict[tuple[int, int], dict[str, Any]]:
    """Grids with only these levels, by the number of their model and benchmark."""
    axes = [
        {**axis, "levels": [axis["levels"][place] for place in kept]}
        for axis, kept in zip(AXES, (tasks, contexts), strict=True)
    ]
    return {
        (model, benchmark): project.published(
            experiment="long", model=f"model {model}", benchmark=f"benchmark {benchmark}", axes=axes, metric=METRIC,
            values=[[values(model, benchmark)[task][context] for context in contexts] for task in tasks],
            trials=200,
        )
        for model in range(3) for benchmark in range(2)
    }  # fmt: skip


def answered(project: Project, path: str, query: dict[str, Any]) -> dict[str, Any]:
    for _ in range(50):
        found = project.get(path, query_string=query)
        if found.status_code != 202:
            break
        project.house.compute()
    assert found.status_code == 200, found.text
    document: dict[str, Any] = found.get_json()
    return document


_OWN = ("grid", "digest", "computed_at", "slice", "inputs", "project", "revision")


def plain(value: Any) -> Any:
    """A document without what differs between two projects."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items() if name not in _OWN}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


@pytest.fixture(params=CASES, ids=lambda case: slice_text(read_slice(_pairs(case[0]))))
def case(request: pytest.FixtureRequest, house: House) -> tuple[dict[str, Any], Any, Any, Any, Any]:
    query, tasks, contexts = request.param
    whole, part = house.make_project(), house.make_project()
    return query, whole, part, fill(whole, [0, 1, 2], [0, 1, 2, 3]), fill(part, tasks, contexts)


def _pairs(query: dict[str, Any]) -> list[tuple[str, list[str]]]:
    return [(name, [texts] if isinstance(texts, str) else texts) for name, texts in query.items()]


def test_every_answer_of_a_slice_is_that_of_grids_which_have_nothing_else(case: Any) -> None:
    query, whole, part, grids, cut = case
    scope = {"experiment": "long", "metric": "accuracy"}
    for more in ({}, {"by": "axis:Context"}, {"method": "borda"}, {"by": "axis:Task", "missing": "observed"}):
        mine = answered(whole, f"projects/{whole.slug}/rankings", scope | more | query)
        assert plain(mine) == plain(answered(part, f"projects/{part.slug}/rankings", scope | more))
        assert mine["slice"] == {name.removeprefix("at."): sorted(texts) for name, texts in _pairs(query)}
    spot = "experiments/long/sweet-spot"
    mine = answered(whole, f"projects/{whole.slug}/{spot}", {"metric": "accuracy"} | query)
    assert plain(mine) == plain(answered(part, f"projects/{part.slug}/{spot}", {"metric": "accuracy"}))
    sides = [{"baseline": own[0, 0]["id"], "contender": own[1, 0]["id"]} for own in (grids, cut)]
    mine = answered(whole, f"projects/{whole.slug}/comparisons", sides[0] | query)
    assert plain(mine) == plain(answered(part, f"projects/{part.slug}/comparisons", sides[1]))
    for path in ("statistics", "trends", "peaks", "coverage", "sensitivity"):
        mine = answered(whole, f"grids/{grids[2, 1]['id']}/{path}", query)
        assert plain(mine) == plain(answered(part, f"grids/{cut[2, 1]['id']}/{path}", {}))
    crossed = {"value": 60}
    mine = answered(whole, f"grids/{grids[2, 1]['id']}/thresholds", crossed | query)
    assert plain(mine) == plain(answered(part, f"grids/{cut[2, 1]['id']}/thresholds", crossed))


@pytest.mark.parametrize("form", ["csv", "ndjson", "json"])
def test_feeds_of_a_slice_have_its_cells_and_no_other(case: Any, form: str) -> None:
    query, whole, part, grids, cut = case
    for missing in ("absent", "explicit"):
        paths = [(whole, f"projects/{whole.slug}", query), (part, f"projects/{part.slug}", {})]
        paths += [(whole, f"grids/{grids[1, 1]['id']}", query), (part, f"grids/{cut[1, 1]['id']}", {})]
        for (one, path, asked), (other, there, _) in zip(paths[::2], paths[1::2], strict=True):
            mine, theirs = (
                project.get(f"{where}/cells.{form}", query_string={"missing": missing} | more)
                for project, where, more in ((one, path, asked), (other, there, {}))
            )
            assert (mine.status_code, theirs.status_code) == (200, 200), mine.text
            assert numbers(mine, form) == numbers(theirs, form)
    shown = whole.get(f"grids/{grids[1, 1]['id']}/cells.md", query_string=query).text
    told = re.sub(r"\nOnly .*; nothing else is counted\.\n", "", shown)
    assert told == part.get(f"grids/{cut[1, 1]['id']}/cells.md").text != shown


def numbers(answer: Any, form: str) -> list[Any]:
    """The rows, without ids and times."""
    if form == "csv":
        rows: list[Any] = list(csv.DictReader(answer.text.splitlines()))
    else:
        rows = answer.get_json()["items"] if form == "json" else answer.text.splitlines()
    found = [json.loads(row) if isinstance(row, str) else row for row in rows]
    return [{name: one for name, one in row.items() if name not in ("grid", "revision", "updated_at")} for row in found]


@pytest.mark.parametrize(
    ("query", "pointer", "told"),
    [
        ({"at.Depth": "1"}, "/at.Depth", 'axis "Depth"; there are '),
        ({"at.Context": "5"}, "/at.Context", 'no level "5"; there are 1000, 8000, 64000, 128000'),
        ({"at.Context": ">200000"}, "/at.Context", "no level above 200000; there are 1000"),
        (
            {"at.Task": ">=1"},
            "/at.Task",
            "no level at least 1 (its levels have no numbers); there are lookup, sum, <8k",
        ),
        ({"at.Context": ">=long"}, "/at.Context", 'a range is >= and a number, which "long" is not; there are 1000'),
        ({"at.Context": "<=64k"}, "/at.Context", 'a range is <= and a number, which "64k" is not; there are 1000'),
        ({"at.Task": "Lookup"}, "/at.Task", 'no level "Lookup"; did you mean "lookup"; there are lookup, sum'),
        ({"at.Task": ">=SUM"}, "/at.Task", 'which "SUM" is not; did you mean "sum"; there are lookup, sum'),
        ({"at.context": "1000"}, "/at.context", 'axis "context"; did you mean "Context"; there are '),
        ({"at.": "1"}, "/at.", "names no axis"),
        ({"at.Context": ""}, "/at.Context", "is a level"),
    ],
)
def test_a_slice_that_no_grid_has_is_refused_with_what_there_is(
    project: Project, query: dict[str, str], pointer: str, told: str
) -> None:
    grids = fill(project, [0, 1, 2], [0, 1, 2, 3])
    one, other = grids[0, 0]["id"], grids[1, 0]["id"]
    here, scope = f"projects/{project.slug}", {"experiment": "long", "metric": "accuracy"}
    for path, more in (
        (f"{here}/rankings", scope),
        (f"{here}/cells.csv", {}),
        (f"{here}/experiments/long/sweet-spot", {"metric": "accuracy"}),
        (f"{here}/comparisons", {"baseline": one, "contender": other}),
        (f"grids/{one}/trends", {}),
        (f"grids/{one}/thresholds", {"value": 3}),
        (f"grids/{one}/cells", {}),
    ):
        answer = project.get(path, query_string=more | query)
        assert answer.status_code == 422, (path, answer.text)
        assert any(pointer == fault["pointer"] and told in fault["detail"] for fault in answer.get_json()["errors"]), (
            answer.text
        )


def test_a_parameter_that_is_no_slice_is_refused_as_before(project: Project) -> None:
    grid = project.published()
    for path in (f"grids/{grid['id']}/trends", f"projects/{project.slug}/rankings"):
        answer = project.get(path, query_string={"att.Context": "1", "experiment": "x", "metric": "y"})
        assert answer.status_code == 422
        assert "/att.Context" in {fault["pointer"] for fault in answer.get_json()["errors"]}


def test_grids_without_the_axis_are_not_in_the_slice(project: Project) -> None:
    fill(project, [0, 1, 2], [0, 1, 2, 3])
    project.published(experiment="long", model="scalar", benchmark="benchmark 0", axes=[], values=99, metric=METRIC)
    scope = {"experiment": "long", "metric": "accuracy"}
    document = answered(project, f"projects/{project.slug}/rankings", scope | LONG)
    assert {row["name"] for row in document["ranking"]} == {"model 0", "model 1", "model 2"}
    whole = answered(project, f"projects/{project.slug}/rankings", scope)
    assert "scalar" in {row["name"] for row in whole["ranking"]}
    assert "slice" not in whole


def test_a_ranking_of_a_slice_follows_its_inputs(project: Project) -> None:
    fill(project, [0, 1, 2], [0, 1, 2, 3])
    scope = {"experiment": "long", "metric": "accuracy"} | LONG
    before = answered(project, f"projects/{project.slug}/rankings", scope)
    better = [[10.0] * 4] * 3
    project.published(
        experiment="long", model="model 2", benchmark="benchmark 0", axes=AXES, metric=METRIC, values=better
    )
    after = answered(project, f"projects/{project.slug}/rankings", scope)
    assert before["ranking"][0]["name"] == "model 2" != after["ranking"][0]["name"]


@pytest.mark.unit
@given(st.lists(st.integers(-50, 50), unique=True, max_size=8), st.integers(-60, 60), st.integers(-60, 60))
def test_ranges_hold_together_and_levels_by_themselves(levels: list[int], low: int, high: int) -> None:
    known = [Level(str(one), float(one)) for one in levels]
    inside = kept_levels(known, [f">={low}", f"<{high}"])
    assert [levels[place] for place in inside] == [one for one in levels if low <= one < high]
    named = kept_levels(known, [str(low), f"{high}.0"])
    assert [levels[place] for place in named] == [one for one in levels if one in (low, high)]


@pytest.mark.unit
def test_a_label_that_reads_like_a_range_is_a_label_where_there_is_such_a_level() -> None:
    assert kept_levels([Level("<8k"), Level("8k")], ["<8k"]) == [0]
    assert kept_levels([Level("<8", 4.0), Level("8", 8.0)], ["<8"]) == [0]
    assert kept_levels([Level("4", 4.0), Level("8", 8.0)], ["<8"]) == [0]


@pytest.mark.unit
def test_more_conditions_than_a_query_may_have_are_refused() -> None:
    with pytest.raises(Invalid, match="100 conditions"):
        read_slice([("at.x", [str(n) for n in range(101)])])
