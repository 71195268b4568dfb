"""Names that a project never had, axes in other letters, ranges without a level: each is told, with what there is."""

from __future__ import annotations

from typing import Any

import pytest

from tests.house import House, Project, publication

RATIOS = [{"name": "Ratio", "kind": "numeric", "levels": [0.1, 0.2, 0.3]}]
SWEEP = "experiment=sweep&metric=accuracy"


@pytest.fixture(scope="module")
def sweep(house: House) -> Project:
    """Model A has every ratio, model B the first one alone."""
    project = house.make_project()
    more = {"experiment": "sweep", "axes": RATIOS, "variant": "", "trials": 150}
    for model, values in (("A", [50.0, 60.0, 70.0]), ("B", [40.0, None, None])):
        assert project.publish(publication(model=model, values=values, **more)).status_code == 201
    alias = {"kind": "model", "alias": "Ay", "name": "A"}
    assert project.call("POST", f"projects/{project.slug}/aliases", "admin", json=alias).status_code == 201
    return project


def asked(project: Project, path: str) -> Any:
    """The answer to a question that is computed when it is asked."""
    address = f"projects/{project.slug}/{path}"
    if project.get(address).status_code == 202:
        project.house.compute()
    return project.get(address)


def fault(project: Project, path: str) -> tuple[str, str]:
    answer = project.get(f"projects/{project.slug}/{path}")
    assert answer.status_code == 422, answer.text
    [one] = answer.get_json()["errors"]
    return one["pointer"], one["detail"]


@pytest.mark.parametrize("table", ["cells", "cells.csv", "trends", "peaks.csv", "coverage.ndjson"])
def test_a_table_of_a_name_that_no_grid_ever_had_is_refused(sweep: Project, table: str) -> None:
    told = fault(sweep, f"{table}?model=A&model=C")
    assert told == ("/model", 'no grid of this project has the model "C"; there are A, B')
    assert fault(sweep, f"{table}?experiment=Sweep")[1].endswith('did you mean "sweep"; there is sweep')
    assert fault(sweep, f"{table}?model=A,B")[1].endswith("; repeat the parameter for several")


@pytest.mark.parametrize("names", ["model=A", "model=Ay", "model=B&variant=", "updated_since=2999-01-01"])
def test_a_table_of_known_names_is_served_however_empty(sweep: Project, names: str) -> None:
    assert sweep.get(f"projects/{sweep.slug}/cells.csv?{names}").status_code == 200


def test_names_of_deleted_grids_are_known(project: Project) -> None:
    gone = project.published(model="gone")
    assert project.call("DELETE", f"grids/{gone['id']}").status_code == 204
    assert project.get(f"projects/{project.slug}/cells.json?model=gone").get_json()["items"] == []
    assert "warnings" not in project.get(f"projects/{project.slug}/grids?model=gone").get_json()


def test_a_list_of_a_name_that_no_grid_ever_had_warns(sweep: Project) -> None:
    told = sweep.get(f"projects/{sweep.slug}/grids?model=A&model=a%20b").get_json()
    assert [one["model"] for one in told["items"]] == ["A"]
    assert told["warnings"] == [
        {"code": "unknown_name", "detail": 'no grid of this project has the model "a b"; there are A, B'}
    ]


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        (f"rankings?{SWEEP}&by=axis:ratio", "/by"),
        (f"aggregates?{SWEEP}&group_by=axis:ratio", "/group_by"),
        (f"lines?{SWEEP}&along=ratio", "/along"),
        (f"rankings?{SWEEP}&at.ratio=0.1", "/at.ratio"),
        (
            "trade-offs?experiment=sweep&x=metric:accuracy&y=metric:accuracy&x.at.ratio=0.1&y.at.Ratio=0.2",
            "/x.at.ratio",
        ),
        (
            "trade-offs?experiment=sweep&x=metric:accuracy&y=metric:accuracy&x.at.Ratio=0.1&y.at.ratio=0.2",
            "/y.at.ratio",
        ),
        ("trade-offs?experiment=sweep&x=metric:accuracy&y=metric:accuracy&at.ratio=0.1", "/at.ratio"),
    ],
)
def test_an_axis_in_other_letters_is_meant_and_found_in_the_question(sweep: Project, path: str, pointer: str) -> None:
    told = fault(sweep, path)
    assert told[0] == pointer
    assert 'did you mean "Ratio"' in told[1]


def test_an_axis_of_one_grid_in_other_letters(sweep: Project) -> None:
    location = sweep.get(f"projects/{sweep.slug}/grid/trends?model=A&along=ratio").headers["Location"]
    [one] = sweep.get(location).get_json()["errors"]
    assert one == {"pointer": "/along", "detail": 'the grid has no axis "ratio"; did you mean "Ratio"; there is Ratio'}


def test_faults_of_the_form_of_a_slice_point_at_the_quantity_too(sweep: Project) -> None:
    path = "trade-offs?experiment=sweep&x=metric:accuracy&y=metric:accuracy&x.at.Ratio=&y.at.Ratio=0.1"
    assert fault(sweep, path)[0] == "/x.at.Ratio"


@pytest.mark.parametrize("path", [f"rankings?{SWEEP}", f"aggregates?{SWEEP}&group_by=model", "cells.csv?"])
def test_a_range_with_its_ends_exchanged_is_told(sweep: Project, path: str) -> None:
    told = fault(sweep, f"{path}&at.Ratio=>=0.3&at.Ratio=<=0.1")
    assert told == (
        "/at.Ratio",
        'the axis "Ratio" has no level that is at most 0.1 and at least 0.3 at once; there are 0.1, 0.2, 0.3',
    )


def test_a_suite_warns_of_benchmarks_that_no_grid_has(sweep: Project) -> None:
    path, sent = f"projects/{sweep.slug}/suites/mine", {"benchmarks": ["Core Generalization", "core generalization"]}
    told = sweep.call("PUT", path, json=sent).get_json()
    detail = (
        'no grid of this project has the benchmark "core generalization"; did you mean "Core Generalization"; there is '
        "Core Generalization"
    )
    assert told["warnings"] == [{"code": "unknown_name", "detail": detail}]
    assert sweep.call("PUT", path, json={"benchmarks": ["Core Generalization"]}).get_json()["warnings"] == []


def test_a_table_says_who_is_left_when_a_name_has_nothing(sweep: Project) -> None:
    told = asked(sweep, f"aggregates?{SWEEP}&group_by=model&at.Ratio=0.2").get_json()
    assert told["warnings"] == [{"code": "dropped", "detail": "B has no measured cell here: only A is left."}]
    text = sweep.get(f"projects/{sweep.slug}/aggregates.txt?{SWEEP}&group_by=model&at.Ratio=0.2").text
    assert "warning: B has no measured cell here: only A is left." in text
    assert asked(sweep, f"aggregates?{SWEEP}&group_by=model").get_json()["warnings"] == []


def test_a_ranking_says_how_many_of_its_cells_were_compared(sweep: Project) -> None:
    told = asked(sweep, f"rankings?{SWEEP}").get_json()
    assert {one["name"]: (one["cells"], one["compared"]) for one in told["ranking"]} == {"A": (3, 1), "B": (1, 1)}
    text = sweep.get(f"projects/{sweep.slug}/rankings.txt?{SWEEP}").text
    assert "1 of 3" in text


def test_differences_of_counts_are_said_to_be_so(project: Project) -> None:
    """62.7 % of 150 trials are 94 successes, which are 62.667 %; 50 % are 75."""
    for model, value in (("A", 62.7), ("B", 50.0)):
        project.published(model=model, axes=[], values=value, trials=150)
    pair = "experiment=type-by-length&metric=accuracy&baseline_model=B&contender_model=A"
    told = asked(project, f"comparisons?{pair}").get_json()
    assert (told["by_benchmark"][0]["mean"], told["whole"]["difference"]) == pytest.approx(
        (12.7, 100 * (94 - 75) / 150)
    )
    assert told["assumes"] == ["independent_trials", "whole_successes"]
    text = project.get(f"projects/{project.slug}/comparisons.txt?{pair}").text
    assert "the nearest whole number of successes" in text
    project.published(model="C", axes=[], values=40.0, trials=150)
    exact = pair.replace("contender_model=A", "contender_model=C")
    assert asked(project, f"comparisons?{exact}").get_json()["assumes"] == ["independent_trials"]


def test_the_columns_of_a_trade_off_at_two_slices_have_names_of_their_own(sweep: Project) -> None:
    query = "experiment=sweep&x=metric:accuracy&y=metric:accuracy&x.at.Ratio=0.1&y.at.Ratio=0.2"
    text = sweep.get(f"projects/{sweep.slug}/trade-offs.txt?{query}").text
    assert "accuracy (%), Ratio 0.2" in text.splitlines()[3]
    assert "accuracy (%), Ratio 0.1" in text.splitlines()[3]
    assert "accuracy, Ratio 0.2: the mean over the 1 slot that it has." in text
