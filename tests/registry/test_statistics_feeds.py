"""The feeds of statistics: a row for each series, best cell or grid; numbers, states and names as their own paths have
them."""

import csv
import io
import json
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet
from sqlalchemy import text

from registry.api import exports
from tests.house import House, Project, publication

FEEDS = ("trends", "peaks", "coverage")
IDENTITY = ["grid", "revision", "experiment", "benchmark", "model", "variant", "metric", "unit"]
LAST = ["state", "reason", "methods_version", "updated_at"]
AS_SENT = ["experiment_as_sent", "benchmark_as_sent", "model_as_sent", "variant_as_sent"]
SIZES = {
    "name": "Size",
    "kind": "numeric",
    "levels": [{"label": "7b", "number": 7e9}, {"label": "32b", "number": 32e9}],
}
CURVES = publication(
    experiment="curves", model="A", axes=[{"name": "Type", "kind": "nominal", "levels": ["=1", "2"]},
    {"name": "Length", "kind": "numeric", "levels": [-5, 0, 5, 10, 15, 20]}],
    values=[[90, 80, 70, 60, 50, 40], [50, 50, 51, 50, 49, None]], trials=200,
)  # fmt: skip
SCORE = publication(experiment="scores", model="B", axes=[], values=71.5, trials=None)
TIED = publication(experiment="sizes", model="C", axes=[SIZES], values=[50.0, 50.0], trials=100)


def feed(project: Project, statistic: str, query: str = "", form: str = "json") -> Any:
    answer = project.get(f"projects/{project.slug}/statistics.{form}?part={statistic}&{query}")
    assert answer.status_code == 200, answer.text
    return answer


def items(project: Project, statistic: str, query: str = "") -> list[dict[str, Any]]:
    return list(feed(project, statistic, query).get_json()["items"])


def table(project: Project, statistic: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(feed(project, statistic, form="csv").text, newline="")))


@pytest.fixture(scope="module")
def filled(house: House) -> Project:
    """A project with three grids and their statistics."""
    project = house.make_project("public")
    for one in (CURVES, SCORE, TIED):
        assert project.publish(one).status_code == 201
    house.compute()
    return project


def test_the_columns_are_the_identity_the_axes_and_what_the_statistic_says(filled: Project) -> None:
    heads = {one: feed(filled, one, form="csv").text.splitlines()[0].split(",") for one in FEEDS}
    axes = ["Type", "Type_num", "Length", "Length_num", "Size", "Size_num"]
    for name, head in heads.items():
        mine = IDENTITY if name == "coverage" else [*IDENTITY, *axes]
        assert (head[: len(mine)], head[-8:]) == (mine, [*LAST, *AS_SENT])
    for name in ("slope", "slope_low", "slope_high", "trend_p", "q", "direction", "onset_by", "detectable"):
        assert name in heads["trends"]
    assert heads["coverage"][8:-8] == ["cells", "possible", "fraction", "component_count", "empty_levels"]


def test_a_series_has_the_numbers_of_its_own_path(filled: Project) -> None:
    rows = [row for row in items(filled, "trends") if row["experiment"] == "curves"]
    document = filled.get(f"grids/{rows[0]['grid']}/statistics?part=trends").get_json()
    assert [(row["along"], row["Type"], row["Length"], row["Length_num"]) for row in rows] == [
        ("Length", "=1", None, None), ("Length", "2", None, None),
    ]  # fmt: skip
    for row, series in zip(rows, document["series"], strict=True):
        for name in ("count", "first", "last", "slope", "q", "trend_p", "direction", "detectable", "noise", "x_scale"):
            assert row[name] == series[name]
        interval, change = series["slope_interval"] or {}, series["fitted_change"]
        assert (row["slope_low"], row["slope_high"]) == (interval.get("low"), interval.get("high"))
        assert (row["change"], row["change_low"]) == (change["value"], change["interval"]["low"])
        assert (row["mann_kendall_s"], row["onset_by_num"]) == (series["mann_kendall"]["s"], series["onset"]["by"])
    assert rows[0]["slope"] == -2.0  # ten points for each five of the axis
    assert (rows[0]["from"], rows[0]["from_num"], rows[0]["to"], rows[0]["to_num"]) == ("-5", -5.0, "20", 20.0)
    assert (rows[1]["to"], rows[1]["count"]) == ("15", 5)


def test_trends_csv_has_the_same_numbers_under_the_same_names(filled: Project) -> None:
    rows = [row for row in table(filled, "trends") if row["experiment"] == "curves"]
    path = f"grids/{rows[0]['grid']}/statistics.csv?part=trends"
    own = list(csv.DictReader(io.StringIO(filled.get(path).text, newline="")))
    assert (len(own), len(rows), rows[0]["Type"]) == (2, 2, "'=1")
    for row, one in zip(rows, own, strict=True):
        same = one.keys() - {"from", "to"}
        assert {name: row[name] for name in same} == {name: one[name] for name in same}
        assert (float(row["from"]), row["from_num"]) == (float(one["from"]), "-5.0")


def test_a_best_cell_has_the_interval_that_the_feed_of_cells_gives_it(filled: Project) -> None:
    [best] = [row for row in items(filled, "peaks") if row["experiment"] == "curves"]
    cells = filled.get(f"projects/{filled.slug}/cells.json?experiment=curves").get_json()["items"]
    [cell] = [one for one in cells if one["value"] == best["value"]]
    for name in ("Type", "Length", "Length_num", "ci_low", "ci_high", "grid"):
        assert best[name] == cell[name]
    peaks = filled.get(f"grids/{best['grid']}/statistics?part=peaks").get_json()["peaks"]
    assert (best["best_set_size"], best["best_set_level"]) == (peaks["best_set"]["size"], peaks["best_set"]["level"])
    assert (best["runner_up"], best["gap"], best["ties"]) == (80, 10, 1)
    assert best["plausible_max_if_equal"] == peaks["plausible_max_if_equal"]
    assert best["probability_best"] == peaks["probability_best"][0]["probability"]


def test_cells_that_tie_have_a_row_each_and_labels_beside_numbers(filled: Project) -> None:
    tied = [row for row in items(filled, "peaks") if row["experiment"] == "sizes"]
    assert [(row["Size"], row["Size_num"], row["value"], row["ties"]) for row in tied] == [
        ("7b", 7e9, 50, 2), ("32b", 32e9, 50, 2),
    ]  # fmt: skip
    assert [row["runner_up"] for row in tied] == [None, None]


def test_the_interval_of_a_best_cell_is_of_its_own_noise(project: Project) -> None:
    """50 ± 1.959964 × 3; and scipy.stats.binomtest(200, 400).proportion_ci(method="wilson")"""
    axes = [{"name": "Step", "kind": "ordinal", "levels": ["a", "b"]}]
    project.published(model="errors", axes=axes, values=[40.0, 50.0], trials=None, stderr=[2.0, 3.0])
    project.published(model="trials", axes=axes, values=[40.0, 50.0], trials=[100, 400])
    project.house.compute()
    for row in items(project, "peaks"):
        ends = {"errors": (44.12010804, 55.87989196), "trials": (45.12341, 54.87659)}[row["model"]]
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(ends, rel=1e-6)
        assert (row["Step"], row["Step_num"]) == ("b", None)


def test_coverage_counts_what_was_measured_and_a_grid_without_a_series_says_why(filled: Project) -> None:
    told = {row["experiment"]: (row["cells"], row["possible"], row["fraction"]) for row in items(filled, "coverage")}
    assert told == {"curves": (11, 12, 0.91667), "scores": (1, 1, 1.0), "sizes": (2, 2, 1.0)}
    [row] = [row for row in items(filled, "trends") if row["experiment"] == "scores"]
    assert (row["state"], row["along"], row["slope"], row["count"]) == ("ready", None, None, None)
    assert row["reason"] == "no axis with an order has a measured cell"


def test_a_grid_that_is_pending_or_failed_has_one_row_and_no_number(project: Project) -> None:
    failed = project.published(model="failed")["id"]
    project.house.compute()
    pending = project.published(model="pending")["id"]
    with project.house.database.engine.begin() as connection:
        connection.execute(text("DELETE FROM statistics WHERE grid_id = :id"), {"id": failed})
        connection.execute(
            text("UPDATE derivations SET state = 'failed', reason = 'it broke' WHERE grid_id = :id"), {"id": failed}
        )
    for statistic in FEEDS:
        rows = {row["grid"]: row for row in items(project, statistic)}
        assert {key: (row["state"], row["reason"]) for key, row in rows.items()} == {
            failed: ("failed", "it broke"), pending: ("pending", None),
        }  # fmt: skip
        empty = {value for name, value in rows[pending].items() if name not in (*IDENTITY, *LAST, *AS_SENT)}
        assert empty == {None}
        [line] = [row for row in table(project, statistic) if row["grid"] == pending]
        assert "0" not in line.values()


def test_the_tag_changes_when_statistics_come_and_when_a_revision_does(project: Project) -> None:
    project.published()
    tags = []
    for step in (lambda: None, project.house.compute, lambda: project.published(trials=299), project.house.compute):
        step()
        tags.append([feed(project, one, form=form).headers["ETag"] for one in FEEDS for form in ("csv", "parquet")])
    for one in zip(*tags, strict=True):
        assert len(set(one)) == 4
    again = feed(project, "trends", form="csv")
    assert again.headers["ETag"] == tags[-1][0]
    path = f"projects/{project.slug}/statistics.csv?part=trends"
    assert project.get(path, headers={"If-None-Match": tags[-1][0]}).status_code == 304
    assert table(project, "trends")[0]["revision"] == "2"


def test_every_form_holds_the_same_rows_and_is_sent_in_parts(filled: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "_SMALL", 0)  # from a file
    for statistic in FEEDS:
        rows = items(filled, statistic)
        lines = feed(filled, statistic, form="ndjson").text.splitlines()
        assert [json.loads(line) for line in lines] == rows
        tables = (
            parquet.read_table(io.BytesIO(feed(filled, statistic, form="parquet").data)),
            pyarrow.ipc.open_file(feed(filled, statistic, form="arrow").data).read_all(),
        )
        for one in tables:
            assert one.column_names == list(rows[0])
            for name in set(rows[0]) - {"updated_at"}:
                assert one.column(name).to_pylist() == [row[name] for row in rows]
        for row, one in zip(table(filled, statistic), rows, strict=True):
            assert {name: cell for name, cell in row.items() if cell} == {
                name: "'=1" if value == "=1" else str(value) for name, value in one.items() if value not in (None, "")
            }
        path = f"projects/{filled.slug}/statistics.parquet?part={statistic}"
        answer = filled.get(path, headers={"Range": "bytes=-7"})
        assert (answer.status_code, answer.data) == (206, filled.get(path).data[-7:])


def test_filters_choose_grids_and_names_are_joined(project: Project) -> None:
    project.published(model="Qwen")
    project.published(model="qwen-2.5", benchmark="Other")
    project.published(model="Llama")
    project.house.compute()
    alias = {"kind": "model", "alias": "qwen-2.5", "name": "Qwen"}
    before = {one: feed(project, one).headers["ETag"] for one in FEEDS}
    made = project.call("POST", f"projects/{project.slug}/aliases", "admin", json=alias)
    assert made.status_code == 201
    for statistic in FEEDS:
        for asked in ("Qwen", "qwen-2.5"):
            rows = items(project, statistic, f"model={asked}")
            assert {(row["model"], row["model_as_sent"]) for row in rows} == {("Qwen", "Qwen"), ("Qwen", "qwen-2.5")}
        sent = items(project, statistic, "names=sent&model=Qwen")
        assert {row["model"] for row in sent} == {"Qwen", "qwen-2.5"}
        assert not set(AS_SENT) & set(sent[0])
        assert feed(project, statistic).headers["ETag"] != before[statistic]


def test_a_slice_is_refused_with_where_to_ask(filled: Project) -> None:
    for statistic in FEEDS:
        answer = filled.get(f"projects/{filled.slug}/statistics", query_string={"part": statistic, "at.Length": ">=5"})
        [error] = answer.get_json()["errors"]
        assert (answer.status_code, error["pointer"]) == (422, "/at.Length")
        assert f"/grids/<grid>/statistics?part={statistic}&at.Length=" in error["detail"]
    for query in ("part=trends&limit=5", "part=trends&missing=explicit", "part=precision", ""):
        assert filled.get(f"projects/{filled.slug}/statistics?{query}").status_code == 422


def test_more_grids_than_one_piece_come_once_and_in_order(project: Project) -> None:
    many = [publication(axes=[], values=float(i), model=f"m{i}", trials=None, metric={"name": "n"}) for i in range(600)]
    assert project.call("POST", f"projects/{project.slug}/grids/batch", json=many).status_code == 200
    rows = items(project, "coverage")
    assert [row["grid"] for row in rows] == sorted({row["grid"] for row in rows})
    assert len(rows) == 600
