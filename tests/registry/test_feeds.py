"""The tidy feed: stable columns, exact numbers, ranges, one snapshot, and refusals that say why."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from typing import Any

import pytest
from sqlalchemy import text

from registry.api import exports
from tests.house import House, Project, publication

IDENTITY = ["grid", "revision", "experiment", "benchmark", "model", "variant", "metric", "unit"]
MEASURED = ["value", "trials", "stderr", "ci_low", "ci_high", "updated_at"]
AS_SENT = ["experiment_as_sent", "benchmark_as_sent", "model_as_sent", "variant_as_sent"]
SCORE = publication(experiment="leaderboard", axes=[], values=71.5, trials=None)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def feed(project: Project, query: str = "", form: str = "csv") -> Any:
    answer = project.get(f"projects/{project.slug}/cells.{form}?{query}")
    assert answer.status_code == 200, answer.text
    return answer


def test_the_columns_are_those_of_every_grid_that_passes(project: Project) -> None:
    grid = project.published()
    project.publish(SCORE)
    both, one = feed(project).text, feed(project, "experiment=leaderboard").text
    axes = ["Type", "Type_num", "Length", "Length_num"]
    assert both.splitlines()[0].split(",") == [*IDENTITY, *axes, *MEASURED, *AS_SENT, "protocol"]
    assert one.splitlines()[0].split(",") == [*IDENTITY, *MEASURED, *AS_SENT, "protocol"]
    rows = rows_of(both)
    assert [row["value"] for row in rows] == ["99.3", "96.7", "98.3", "100.0", "99.7", "71.5"]
    assert (rows[4]["grid"], rows[4]["Type"], rows[4]["Type_num"]) == (grid["id"], "2", "")
    assert (rows[4]["Length"], rows[4]["Length_num"], rows[4]["trials"]) == ("2", "2.0", "300")
    assert (rows[5]["Type"], rows[5]["Length_num"], rows[5]["trials"], rows[5]["ci_low"]) == ("", "", "", "")


def test_a_revision_that_came_again_with_other_content_has_another_tag_and_another_file(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a restore: the number of the revision and the count of cells are those of before."""
    monkeypatch.setattr(exports, "_SMALL", 0)
    project = house.make_project()
    grid = project.published(values=[[11.25, 1, 1], [1, 1, 1]])["id"]
    paths = [f"projects/{project.slug}/cells.csv", f"grids/{grid}/cells.csv"]
    before = [project.get(path, headers={"Range": "bytes=0-9999"}) for path in paths]
    assert all("11.25" in answer.text for answer in before)
    amended = project.published(values=[[55.25, 1, 1], [1, 1, 1]])
    with house.database.engine.begin() as connection:
        # What a restore and another publication leave: revision 1 is the second content.
        connection.execute(text("SET session_replication_role = replica"))
        connection.execute(text("DELETE FROM derivations WHERE grid_id = :id AND revision = 1"), {"id": grid})
        connection.execute(text("DELETE FROM stored_revisions WHERE grid_id = :id AND number = 1"), {"id": grid})
        for table, column in (("stored_revisions", "number"), ("derivations", "revision")):
            statement = f"UPDATE {table} SET {column} = 1 WHERE grid_id = :id"
            connection.execute(text(statement), {"id": grid})
        connection.execute(text("UPDATE grids SET revision = 1 WHERE id = :id"), {"id": grid})
        connection.execute(text("SET session_replication_role = DEFAULT"))
    assert amended["revision"] == 2
    for path, old in zip(paths, before, strict=True):
        ranged = project.get(path, headers={"Range": "bytes=0-9999"})
        assert (ranged.status_code, "55.25" in ranged.text, "11.25" in ranged.text) == (206, True, False)
        assert ranged.headers["ETag"] != old.headers["ETag"]
        assert ranged.text == project.get(path).text
        assert project.get(path, headers={"If-None-Match": old.headers["ETag"]}).status_code == 200


def test_the_interval_of_a_proportion_is_wilsons(project: Project) -> None:
    project.published(axes=[], values=50.0, trials=100)
    row = rows_of(feed(project).text)[0]
    # scipy.stats.binomtest(50, 100).proportion_ci(method='wilson'): 0.4038315303758468, 0.5961684696241532
    assert float(row["ci_low"]) == pytest.approx(40.38315303758468, rel=1e-9)
    assert float(row["ci_high"]) == pytest.approx(59.61684696241532, rel=1e-9)


def test_the_interval_of_a_standard_error_is_two_of_it(project: Project) -> None:
    project.published(axes=[], values=50.0, trials=None, stderr=2.0)
    row = rows_of(feed(project).text)[0]
    assert (float(row["ci_low"]), float(row["ci_high"])) == pytest.approx((46.08007203, 53.91992797), rel=1e-9)


def test_unmeasured_cells_are_absent_unless_asked_for(project: Project) -> None:
    project.published()
    assert len(rows_of(feed(project).text)) == 5
    explicit = rows_of(feed(project, "missing=explicit").text)
    assert len(explicit) == 6
    assert next(row["value"] for row in explicit if row["Type"] == "2") == ""
    assert json.loads(feed(project, "missing=explicit", "json").text)["items"][3]["value"] is None


def test_every_form_holds_the_same_cells(project: Project) -> None:
    import pyarrow
    from pyarrow import parquet

    project.published()
    project.publish(SCORE)
    items = feed(project, form="json").get_json()["items"]
    assert [json.loads(line) for line in feed(project, form="ndjson").text.splitlines()] == items
    tables = {
        "parquet": parquet.read_table(io.BytesIO(feed(project, form="parquet").data)),
        "arrow": pyarrow.ipc.open_file(feed(project, form="arrow").data).read_all(),
    }
    for table in tables.values():
        assert table.column("value").to_pylist() == [item["value"] for item in items]
        assert table.column("Length_num").to_pylist() == [item["Length_num"] for item in items]
        assert str(table.schema.field("updated_at").type) == "timestamp[us, tz=UTC]"
    for row, item in zip(rows_of(feed(project).text), items, strict=True):
        assert {name: text for name, text in row.items() if text} == {
            name: str(value) for name, value in item.items() if value not in (None, "")
        }


def test_numbers_come_back_as_the_same_doubles(project: Project) -> None:
    values = [0.1 + 0.2, 5e-324, 1.7976931348623157e308, -0.0, 1e22, 123456789.123456789]
    axis = [{"name": "x", "kind": "numeric", "levels": [0, 0.1, 0.2, 0.30000000000000004, 1e300, 2e300]}]
    metric = {"name": "loss"}
    project.publish(publication(axes=axis, values=values, metric=metric, trials=None))
    rows = rows_of(feed(project).text)
    assert [float(row["value"]).hex() for row in rows] == [value.hex() for value in values]
    assert [float(row["x_num"]) for row in rows] == axis[0]["levels"]


def test_filters_choose_grids(project: Project) -> None:
    project.published(labels={"git": "a"})
    project.published(model="other", labels={"git": "b"})
    assert {row["model"] for row in rows_of(feed(project, "model=other").text)} == {"other"}
    assert {row["model"] for row in rows_of(feed(project, "label.git=a").text)} == {"Qwen-2.5 3B"}
    assert rows_of(feed(project, "label.git=c").text) == []
    assert rows_of(feed(project, "updated_since=2999-01-01").text) == []
    for query in ("page=1", "limit=5", "missing=never", "label.x=%00"):
        assert project.get(f"projects/{project.slug}/cells?{query}").status_code == 422


def test_names_are_joined_and_what_was_posted_stands_beside_them(project: Project) -> None:
    project.published(model="Qwen")
    project.published(model="=qwen", benchmark="Core", variant="")
    project.published(model="Llama")
    alone = feed(project)
    for kind, alias, name in (("model", "=qwen", "Qwen"), ("benchmark", "Core", "Core Generalization")):
        made = {"kind": kind, "alias": alias, "name": name}
        assert project.call("POST", f"projects/{project.slug}/aliases", "admin", json=made).status_code == 201
    joined = feed(project)
    assert joined.headers["ETag"] != alone.headers["ETag"]
    assert joined.text.splitlines()[0] == alone.text.splitlines()[0]
    rows = rows_of(feed(project, "model=Qwen").text)
    assert {(row["model"], row["model_as_sent"], row["benchmark"], row["benchmark_as_sent"]) for row in rows} == {
        ("Qwen", "Qwen", "Core Generalization", "Core Generalization"),
        ("Qwen", "'=qwen", "Core Generalization", "Core"),
    }
    assert {row["variant_as_sent"] for row in rows} == {"Baseline", ""}
    items = feed(project, "model==qwen", "json").get_json()["items"]
    assert {item["model_as_sent"] for item in items} == {"Qwen", "=qwen"}
    sent = feed(project, "names=sent&model=Qwen")
    assert {row["model"] for row in rows_of(sent.text)} == {"Qwen", "'=qwen"}
    assert not set(AS_SENT) & set(rows_of(sent.text)[0])
    assert project.get(f"projects/{project.slug}/cells?names=both").status_code == 422


def test_a_grids_own_cells_keep_the_names_that_were_posted(project: Project) -> None:
    grid = project.published(model="qwen")["id"]
    made = {"kind": "model", "alias": "qwen", "name": "Qwen"}
    assert project.call("POST", f"projects/{project.slug}/aliases", "admin", json=made).status_code == 201
    for form in ("csv", "ndjson"):
        head, *rows = project.get(f"grids/{grid}/cells.{form}").text.splitlines()
        assert "as_sent" not in head
        assert "qwen" in rows[0]


def test_the_last_column_says_how_each_grid_was_measured(project: Project) -> None:
    import pyarrow
    from pyarrow import parquet

    said = {"shots": 5, "harness": "lm-eval, \u00dc", "chat_template": True, "temperature": 0.5}
    text = '{"chat_template":true,"harness":"lm-eval, \u00dc","shots":5,"temperature":0.5}'
    grid = project.published(axes=[], values=50.0, protocol=said)["id"]
    project.published(axes=[], values=60.0, model="silent")
    assert [row["protocol"] for row in rows_of(feed(project).text)] == [text, ""]
    items = feed(project, form="json").get_json()["items"]
    assert [item["protocol"] for item in items] == [text, None]
    assert list(items[0])[-1] == "protocol"
    tables = [
        parquet.read_table(io.BytesIO(feed(project, form="parquet").data)),
        pyarrow.ipc.open_file(feed(project, form="arrow").data).read_all(),
    ]
    for table in tables:
        assert (table.column_names[-1], table.column("protocol").to_pylist()) == ("protocol", [text, None])
    for name in ("cells.csv", f"{grid}.csv"):
        path = f"grids/{grid}/{name}" if name == "cells.csv" else f"grids/{name}"
        assert [row["protocol"] for row in rows_of(project.get(path).text)] == [text]
    same = {"experiment": "leaderboard", "labels": {}}
    project.publish(SCORE | same | {"model": "a", "protocol": {"a": 1, "longer": 2}})
    project.publish(SCORE | same | {"model": "b", "protocol": {"longer": 2.0, "A": 1}})
    assert len({row["protocol"] for row in rows_of(feed(project, "experiment=leaderboard").text)}) == 1


def test_names_that_a_spreadsheet_would_run_are_quoted_and_odd_ones_survive(project: Project) -> None:
    odd = ["=1+1", "@x", 'a"b', "a,b", "-cmd", "-5"]
    project.publish(
        publication(model="=cmd", axes=[{"name": "value", "kind": "nominal", "levels": odd}], values=[1.0] * 6)
    )
    rows = rows_of(feed(project).text)
    assert [row["axis_value"] for row in rows] == ["'=1+1", "'@x", 'a"b', "a,b", "'-cmd", "'-5"]
    assert rows[0]["model"] == "'=cmd"
    assert feed(project, form="json").get_json()["items"][0]["model"] == "=cmd"


def test_a_repeated_read_gives_the_same_bytes_and_a_304(project: Project) -> None:
    project.published()
    first, again = feed(project), feed(project)
    assert (first.data, first.headers["ETag"]) == (again.data, again.headers["ETag"])
    path = f"projects/{project.slug}/cells.csv"
    assert project.get(path, headers={"If-None-Match": first.headers["ETag"]}).status_code == 304
    assert feed(project, "missing=explicit").headers["ETag"] != first.headers["ETag"]
    project.published(model="other")
    assert project.get(path, headers={"If-None-Match": first.headers["ETag"]}).status_code == 200


RANGES = {
    "bytes=0-9": (0, 10),
    "bytes=10-": (10, None),
    "bytes=-7": (-7, None),
    "bytes=5-999999999": (5, None),
    "bytes=-999999999": (0, None),
}


@pytest.mark.parametrize("form", ["csv", "ndjson", "json", "parquet", "arrow"])
@pytest.mark.parametrize("where", ["project", "grid"])
def test_a_range_is_exactly_its_part_of_the_whole(project: Project, form: str, where: str) -> None:
    grid = project.published()
    path = f"projects/{project.slug}/cells.{form}" if where == "project" else f"grids/{grid['id']}/cells.{form}"
    whole = project.get(path).data
    for header, (start, end) in RANGES.items():
        answer = project.get(path, headers={"Range": header, "Accept-Encoding": "gzip"})
        assert (answer.status_code, answer.data) == (206, whole[start:end])
        first = start if start >= 0 else len(whole) + start
        assert answer.headers["Content-Range"] == f"bytes {first}-{first + len(answer.data) - 1}/{len(whole)}"
        assert "Content-Encoding" not in answer.headers
    beyond = project.get(path, headers={"Range": f"bytes={len(whole)}-"})
    assert (beyond.status_code, beyond.headers["Content-Range"]) == (416, f"bytes */{len(whole)}")
    for ignored in ("bytes=0-1,3-4", "lines=0-1", "bytes=-", "nonsense"):
        assert project.get(path, headers={"Range": ignored}).data == whole


def test_head_says_how_long_and_that_ranges_are_answered(project: Project) -> None:
    project.published()
    path = f"projects/{project.slug}/cells.csv"
    whole, head = project.get(path), project.call("HEAD", path, "reader")
    assert (head.status_code, head.data, head.headers["Accept-Ranges"]) == (200, b"", "bytes")
    assert int(head.headers["Content-Length"]) == len(whole.data)
    assert head.headers["ETag"] == whole.headers["ETag"]


def test_if_range_of_another_export_gives_the_whole(project: Project) -> None:
    project.published()
    path = f"projects/{project.slug}/cells.csv"
    tag = project.get(path).headers["ETag"]
    part = {"Range": "bytes=0-3"}
    assert project.get(path, headers=part | {"If-Range": tag}).status_code == 206
    for other in ('"other"', f"W/{tag}", "Sat, 21 Nov 2026 00:00:00 GMT"):
        assert project.get(path, headers=part | {"If-Range": other}).status_code == 200


def test_a_compressed_feed_is_the_same_feed(project: Project) -> None:
    project.published()
    path = f"projects/{project.slug}/cells.csv"
    plain, squeezed = project.get(path), project.get(path, headers={"Accept-Encoding": "gzip"})
    assert squeezed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(squeezed.data) == plain.data
    assert squeezed.headers["ETag"] == f"W/{plain.headers['ETag']}"


def test_an_empty_project_has_a_header_and_no_rows(project: Project) -> None:
    assert feed(project).text == ",".join([*IDENTITY, *MEASURED, *AS_SENT, "protocol"]) + "\n"
    assert feed(project, form="json").get_json() == {"items": []}
    assert feed(project, form="ndjson").data == b""


def test_options_are_answered_without_a_token(project: Project) -> None:
    answer = project.house.call("OPTIONS", f"projects/{project.slug}/cells.csv")
    assert answer.status_code == 200
    assert set(answer.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}


def test_without_pyarrow_a_problem_names_what_is_missing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.published()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for form in ("parquet", "arrow"):
        answer = project.get(f"projects/{project.slug}/cells.{form}")
        assert (answer.status_code, answer.content_type) == (501, "application/problem+json")
        assert "pip install pyarrow" in answer.get_json()["detail"]


def test_a_reader_of_another_project_sees_nothing(project: Project) -> None:
    other = project.house.make_project()
    for form in ("csv", "parquet"):
        assert other.get(f"projects/{project.slug}/cells.{form}").status_code == 404
        assert project.house.call("GET", f"projects/{project.slug}/cells.{form}").status_code == 401


def test_deleted_grids_leave_the_feed(project: Project) -> None:
    grid = project.published()["id"]
    assert project.call("DELETE", f"grids/{grid}").status_code == 204
    assert rows_of(feed(project).text) == []


def test_more_grids_than_one_piece_come_once_and_in_the_order_of_their_ids(project: Project) -> None:
    many = [publication(axes=[], values=float(i), model=f"m{i}", trials=None, metric={"name": "n"}) for i in range(600)]
    assert project.call("POST", f"projects/{project.slug}/grids/batch", json=many).status_code == 200
    rows = rows_of(feed(project).text)
    assert sorted(float(row["value"]) for row in rows) == list(map(float, range(600)))
    assert [row["grid"] for row in rows] == sorted(row["grid"] for row in rows)
