"""`fields` answers some fields of a document, and refuses what no such document has."""

from typing import Any

import pytest
from sqlalchemy import text

from tests.house import House, Project

AXES = [
    {"name": "Type", "kind": "nominal", "levels": ["1", "2"]},
    {"name": "a.b,c", "kind": "numeric", "levels": list(range(8))},
]
VALUES = [[90 - 3 * n - 2 * row for n in range(8)] for row in range(2)]


@pytest.fixture(scope="module")
def place(house: House) -> tuple[Project, str, str]:
    """A project with two grids of one experiment, whose statistics are there."""
    project = house.make_project("public")
    one, other = (
        project.published(experiment="e", model=model, axes=AXES, values=VALUES, trials=100)["id"] for model in "ab"
    )
    house.compute()
    return project, one, other


def answered(project: Project, path: str) -> dict[str, Any]:
    if project.get(path).status_code == 202:
        project.house.compute()
    answer = project.get(path)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.get_json()
    return found


def test_one_statistic_of_each_series_alone(place: Any) -> None:
    project, grid, _ = place
    whole = project.get(f"grids/{grid}/statistics?part=trends").get_json()
    answer = project.get(f"grids/{grid}/statistics?part=trends&fields=series.at,series.slope")
    assert answer.get_json() == {"series": [{"at": one["at"], "slope": one["slope"]} for one in whole["series"]]}
    assert len(answer.data) < 200
    assert len(project.get(f"grids/{grid}/statistics?part=trends").data) > 5_000
    along = f"grids/{grid}/statistics?part=trends&along=a.b,c&fields=series.q,grid,state"
    assert project.get(along).get_json() == {
        "grid": grid, "state": "ready", "series": [{"q": one["q"]} for one in whole["series"]],
    }  # fmt: skip


def test_paths_lead_through_lists_mappings_and_what_is_null(place: Any) -> None:
    project, grid, _ = place
    whole = project.get(f"grids/{grid}/statistics").get_json()
    cases = {
        "coverage.by.Type.complete": {"coverage": {"by": {"Type": {"complete": ["1", "2"]}}}},
        "coverage.by.`a.b,c`.empty": {"coverage": {"by": {"a.b,c": {"empty": []}}}},
        "coverage.by.*.empty": {"coverage": {"by": {"Type": {"empty": []}, "a.b,c": {"empty": []}}}},
        "series.weighted.slope": {"series": [{"weighted": None}] * 2},
        "metric.name,axes.name": {"metric": {"name": "accuracy"}, "axes": [{"name": "Type"}, {"name": "a.b,c"}]},
        "peaks,peaks.best.value": {"peaks": whole["peaks"]},
        "peaks.best.value,peaks": {"peaks": whole["peaks"]},
        "peaks.best.at.Type": {"peaks": {"best": {"at": [{"Type": "1"}]}}},
        "reason": {},
    }
    for fields, expected in cases.items():
        answer = project.get(f"grids/{grid}/statistics", query_string={"fields": fields})
        assert answer.get_json() == expected, fields


def test_every_document_with_fields_has_them(place: Any) -> None:
    project, one, other = place
    home = f"projects/{project.slug}"
    paths = {
        f"{home}/rankings?experiment=e&metric=accuracy": "ranking.name,ranking.rank",
        f"{home}/comparisons?baseline={one}&contender={other}": "status,cells.gap",
        f"grids/{one}/statistics?part=thresholds&value=70": "series.thresholds.crossings.at",
        f"grids/{one}/statistics?part=peaks&at.Type=2": "peaks.best.value,slice",
    }
    for path, fields in paths.items():
        whole = answered(project, path)
        part = answered(project, f"{path}&fields={fields}")
        assert set(part) == {field.split(".")[0] for field in fields.split(",")} <= set(whole)
        assert len(str(part)) < len(str(whole)) / 3


def test_another_choice_of_fields_has_another_tag(place: Any) -> None:
    project, grid, _ = place
    path = f"grids/{grid}/statistics?part=trends"
    choices = ("", "&fields=series.slope", "&fields=series.at", "&fields=series.at,series.slope")
    tags = {fields: project.get(path + fields).headers["ETag"] for fields in choices}
    assert len(set(tags.values())) == 4
    assert project.get(f"{path}&fields=series.slope,series.at").headers["ETag"] == tags[choices[3]]
    for fields, tag in tags.items():
        assert project.get(path + fields, headers={"If-None-Match": tag}).status_code == 304
    wrong = project.get(f"{path}&fields=series.at", headers={"If-None-Match": tags["&fields=series.slope"]})
    assert wrong.status_code == 200


FAULTS = {
    "series.slop": 'has no field "series.slop"; did you mean "series.slope"?',
    "slope": 'has no field "slope"; did you mean "series.slope"?',
    "series.slope.low": 'has no field "series.slope.low"; did you mean "series.slope"?',
    "xyzzy": 'has no field "xyzzy"; there are ',
    "peaks.best": 'has no field "peaks.best"',
    "series.at.Typ": 'has no "Typ" in "series.at"; there is Type',
    "series..at": "is paths of fields",
    "": "is paths of fields",
    ",series": "is paths of fields",
}


def test_an_unknown_path_or_another_form_is_refused_with_the_nearest(place: Any) -> None:
    project, grid, _ = place
    for fields, told in FAULTS.items():
        answer = project.get(f"grids/{grid}/statistics", query_string={"part": "trends", "fields": fields})
        [error] = answer.get_json()["errors"]
        assert (answer.status_code, error["pointer"]) == (422, "/fields")
        assert error["detail"].startswith(told)
    for path in (f"grids/{grid}/statistics.csv?", f"projects/{project.slug}/rankings.md?experiment=e&metric=accuracy&"):
        answer = project.get(f"{path}fields=state")
        assert (answer.status_code, answer.get_json()["errors"][0]["pointer"]) == (422, "/fields")


def test_what_failed_says_so_whatever_was_asked(project: Project) -> None:
    grid = project.published()["id"]
    failed = "UPDATE derivations SET state = 'failed', reason = 'it broke' WHERE grid_id = :id"
    with project.house.database.engine.begin() as connection:
        connection.execute(text(failed), {"id": grid})
    told = project.get(f"grids/{grid}/statistics?part=trends&fields=series.slope").get_json()
    assert (told["state"], told["reason"]) == ("failed", "it broke")
