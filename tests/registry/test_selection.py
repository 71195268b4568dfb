"""A selection is read, written and said in one way by every view."""

import csv
import io
import re
from datetime import UTC, datetime
from typing import Any

import pytest

from registry.query import AggregatesQuery, RankingQuery, query_of
from registry.renderings.words import moment
from registry.selection import Selection
from tests.house import House, Project, publication

NARROWED: dict[str, Any] = {"experiment": "type-by-length", "metric": "accuracy", "suite": "both", "at.Type": "1"}
VIEWS: dict[str, dict[str, str]] = {
    "rankings": {},
    "aggregates": {"group_by": "model"},
    "lines": {"along": "Length"},
    "trade-offs": {"x": "metric:accuracy", "y": "metric:accuracy"},
    "comparisons": {"baseline_model": "a", "contender_model": "b"},
    "noise": {},
}


@pytest.fixture
def measured(project: Project) -> Project:
    for model in ("a", "b"):
        project.publish(publication(experiment="type-by-length", benchmark="one", model=model))
    project.call("PUT", f"projects/{project.slug}/suites/both", json={"benchmarks": ["one", "two"]})
    return project


def test_every_view_of_one_selection_says_it_in_the_same_words(measured: Project, house: House) -> None:
    said, at = {}, datetime.now(UTC)
    for view, own in VIEWS.items():
        asked = {name: text for name, text in NARROWED.items() if view != "trade-offs" or name != "metric"} | own
        asked["as_of"] = at.isoformat()
        path = f"projects/{measured.slug}/{view}"
        measured.get(path, query_string=asked, headers={"Prefer": "wait=0"})
        house.compute()
        found = measured.get(path, query_string=asked)
        assert found.status_code == 200, (view, found.text)
        said[view] = found.get_json()["selection"]
        if view != "noise":  # which is not drawn
            rows = csv.DictReader(io.StringIO(measured.get(f"{path}.csv", query_string=asked).text))
            [ends] = {tuple(text for name, text in row.items() if re.search("suite|slice|as_of", name)) for row in rows}
            assert ends == ("both", *["Type 1"] * (len(ends) - 2), said[view]["as_of"]), view
            drawn = " ".join(re.findall("[^<>]+(?=<)", measured.get(f"{path}.svg", query_string=asked).text))
            assert "suite both" in drawn, view
            assert f"as of {moment(at)}" in drawn, view
    scope = "type-by-length, suite both"
    assert {view: one["sentence"].removesuffix(f", as of {one['as_of']}") for view, one in said.items()} == {
        "rankings": f"accuracy in {scope}, Type 1",
        "aggregates": f"accuracy in {scope}, Type 1",
        "lines": f"accuracy in {scope}, Type 1",
        "trade-offs": f"{scope}, Type 1",
        "comparisons": f"accuracy in {scope}, models a, b, Type 1",
        "noise": f"accuracy in {scope}, Type 1",
    }
    assert len({said[view]["digest"] for view in ("rankings", "aggregates", "lines", "noise")}) == 1
    assert all(one["benchmark"] == ["one", "two"] and one["at"] == {"Type": ["1"]} for one in said.values())


def test_what_is_written_of_a_question_asks_it_again() -> None:
    asked = RankingQuery("e", "m", model=("a", "b"), at=(("Length", (">=8000",)),), suite="s", by="variant", alpha=0.1)
    assert asked.to_query() == [
        ("experiment", "e"), ("metric", "m"), ("suite", "s"), ("model", "a"), ("model", "b"), ("at.Length", ">=8000"),
        ("by", "variant"), ("alpha", "0.1"),
    ]  # fmt: skip
    table = AggregatesQuery("e", "m", benchmark=("x",), group_by=("model", "benchmark"))
    assert table.to_query()[2:] == [("benchmark", "x"), ("group_by", "model"), ("group_by", "benchmark")]
    assert query_of(asked.document()) == asked
    assert asked.selected().digest == asked.selection.selected().digest != Selection("e", "m").selected().digest
