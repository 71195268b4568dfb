"""The tidy feed: stable columns, exact numbers, ranges, one snapshot, refusals that say why, files that are kept."""

import csv
import gzip
import io
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet
from sqlalchemy import text

from registry.api import exports
from registry.settings import Settings
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
    explicit = rows_of(feed(project, "missing=explicit").text)
    assert len(explicit) == 7
    assert next(row["value"] for row in explicit if row["Type"] == "2") == ""
    assert json.loads(feed(project, "missing=explicit", "json").text)["items"][3]["value"] is None


def test_what_is_new_has_the_columns_of_the_whole_also_while_nothing_is(project: Project) -> None:
    for name in ("Zeta", "Alpha"):
        project.published(model=name, axes=[{"name": name, "levels": ["a"]}], values=[1], trials=None)
    for table in ("cells.csv?", "statistics.csv?part=trends", "statistics.csv?part=peaks"):
        whole, new = (
            project.get(f"projects/{project.slug}/{table}{more}").text.splitlines()
            for more in ("", "&updated_since=2200-01-01")
        )
        assert new == whole[:1]
        assert whole[0].split(",")[8:12] == ["Zeta", "Zeta_num", "Alpha", "Alpha_num"]


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
        for statement in (
            "SET LOCAL session_replication_role = replica",
            "DELETE FROM derivations WHERE grid_id = :id AND revision = 1",
            "DELETE FROM stored_revisions WHERE grid_id = :id AND number = 1",
            "UPDATE stored_revisions SET number = 1 WHERE grid_id = :id",
            "UPDATE derivations SET revision = 1 WHERE grid_id = :id",
            "UPDATE grids SET revision = 1 WHERE id = :id",
        ):
            connection.execute(text(statement), {"id": grid} if ":id" in statement else {})
    assert amended["revision"] == 2
    for path, old in zip(paths, before, strict=True):
        ranged = project.get(path, headers={"Range": "bytes=0-9999"})
        assert (ranged.status_code, "55.25" in ranged.text, "11.25" in ranged.text) == (206, True, False)
        assert ranged.headers["ETag"] != old.headers["ETag"]
        assert ranged.text == project.get(path).text
        assert project.get(path, headers={"If-None-Match": old.headers["ETag"]}).status_code == 200


@pytest.mark.parametrize(
    ("noise", "interval"),
    [
        # scipy.stats.binomtest(50, 100).proportion_ci(method='wilson')
        ({"trials": 100}, (40.38315303758468, 59.61684696241532)),
        ({"trials": None, "stderr": 2.0}, (46.08007203, 53.91992797)),
    ],
)
def test_an_interval_is_wilsons_or_of_the_standard_error(project: Project, noise: Any, interval: Any) -> None:
    project.published(axes=[], values=50.0, **noise)
    row = rows_of(feed(project).text)[0]
    assert (float(row["ci_low"]), float(row["ci_high"])) == pytest.approx(interval, rel=1e-9)


def test_every_form_holds_the_same_cells_and_how_their_grid_was_measured(project: Project) -> None:
    said = {"shots": 5, "harness": "lm-eval, \u00dc", "chat_template": True, "temperature": 0.5}
    text = '{"chat_template":true,"harness":"lm-eval, \u00dc","shots":5,"temperature":0.5}'
    grid = project.published(protocol=said)["id"]
    project.publish(SCORE)
    items = feed(project, form="json").get_json()["items"]
    assert [item["protocol"] for item in items] == [text] * 5 + [None]
    assert list(items[0])[-1] == "protocol"
    assert [json.loads(line) for line in feed(project, form="ndjson").text.splitlines()] == items
    files = [feed(project, form=form).data for form in ("parquet", "arrow")]
    for table in (parquet.read_table(io.BytesIO(files[0])), pyarrow.ipc.open_file(files[1]).read_all()):
        for name in ("value", "Length_num", "protocol"):
            assert table.column(name).to_pylist() == [item[name] for item in items]
        assert str(table.schema.field("updated_at").type) == "timestamp[us, tz=UTC]"
        assert table.column_names[-1] == "protocol"
    for row, item in zip(rows_of(feed(project).text), items, strict=True):
        assert {name: text for name, text in row.items() if text} == {
            name: str(value) for name, value in item.items() if value not in (None, "")
        }
    assert {row["protocol"] for row in rows_of(project.get(f"grids/{grid}/cells.csv").text)} == {text}
    for model, protocol in (("a", {"a": 1, "longer": 2}), ("b", {"longer": 2.0, "A": 1})):
        project.publish(SCORE | {"experiment": "same", "model": model, "protocol": protocol})
    assert len({row["protocol"] for row in rows_of(feed(project, "experiment=same").text)}) == 1


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
    grid = project.published(model="=qwen", benchmark="Core", variant="")["id"]
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
    for form in ("csv", "ndjson"):  # those of a grid keep the names that were posted
        head, *own = project.get(f"grids/{grid}/cells.{form}").text.splitlines()
        assert ("as_sent" in head, "qwen" in own[0]) == (False, True)
    table, said = feed(project, "variant=").text, "direction=higher&lower=0&upper=100"
    assert "Core Generalization" in table
    sent = project.call("POST", f"projects/{project.slug}/grids?{said}", content_type="text/csv", data=table)
    back, posted = sent.get_json(), project.get(f"grids/{grid}?revision=1").get_json()
    assert [back[name] for name in ("id", "model", "axes")] == [posted[name] for name in ("id", "model", "axes")]


def test_names_that_a_spreadsheet_would_run_are_quoted_and_odd_ones_survive(project: Project) -> None:
    odd = ["=1+1", "@x", 'a"b', "a,b", "-cmd", "-5"]
    project.published(model="=cmd", axes=[{"name": "value", "kind": "nominal", "levels": odd}], values=[1.0] * 6)
    rows = rows_of(feed(project).text)
    assert [row["axis_value"] for row in rows] == ["'=1+1", "'@x", 'a"b', "a,b", "'-cmd", "'-5"]
    assert rows[0]["model"] == "'=cmd"
    assert feed(project, form="json").get_json()["items"][0]["model"] == "=cmd"


def test_the_same_bytes_have_one_tag_whole_in_part_or_compressed(project: Project) -> None:
    project.published()
    path = f"projects/{project.slug}/cells.csv"
    first, again, head = feed(project), feed(project), project.call("HEAD", path, "reader")
    tag = first.headers["ETag"]
    assert (first.data, tag) == (again.data, again.headers["ETag"])
    assert (head.status_code, head.data, head.headers["Accept-Ranges"]) == (200, b"", "bytes")
    assert head.headers["ETag"] == tag
    assert int(head.headers["Content-Length"]) == len(first.data)
    squeezed = project.get(path, headers={"Accept-Encoding": "gzip"})
    assert (squeezed.headers["Content-Encoding"], squeezed.headers["ETag"]) == ("gzip", f"W/{tag}")
    assert gzip.decompress(squeezed.data) == first.data
    part = {"Range": "bytes=0-3"}
    assert project.get(path, headers=part | {"If-Range": tag}).status_code == 206
    for other in ('"other"', f"W/{tag}", "Sat, 21 Nov 2026 00:00:00 GMT"):
        assert project.get(path, headers=part | {"If-Range": other}).status_code == 200
    assert project.get(path, headers={"If-None-Match": tag}).status_code == 304
    assert feed(project, "missing=explicit").headers["ETag"] != tag
    project.published(model="other")
    assert project.get(path, headers={"If-None-Match": tag}).status_code == 200


RANGES = {
    "bytes=0-9": (0, 10),
    "bytes=10-": (10, None),
    "bytes=-7": (-7, None),
    "bytes=5-999999999": (5, None),
    "bytes=-999999999": (0, None),
}


@pytest.fixture(scope="module")
def published(house: House) -> tuple[Project, str]:
    project = house.make_project()
    return project, project.published()["id"]


@pytest.mark.parametrize("form", ["csv", "ndjson", "json", "parquet", "arrow"])
def test_a_range_is_exactly_its_part_of_the_whole(published: tuple[Project, str], form: str) -> None:
    project, grid = published
    for path in (f"projects/{project.slug}/cells.{form}", f"grids/{grid}/cells.{form}"):
        whole = project.get(path).data
        for header, (start, end) in RANGES.items():
            answer = project.get(path, headers={"Range": header, "Accept-Encoding": "gzip"})
            assert (answer.status_code, answer.data) == (206, whole[start:end])
            first = start if start >= 0 else len(whole) + start
            assert answer.headers["Content-Range"] == f"bytes {first}-{first + len(answer.data) - 1}/{len(whole)}"
            assert "Content-Encoding" not in answer.headers
        beyond = project.get(path, headers={"Range": f"bytes={len(whole)}-"})
        assert (beyond.status_code, beyond.headers["Content-Range"]) == (416, f"bytes */{len(whole)}")
        assert beyond.get_json()["type"] == "/docs#problem-range_not_satisfiable"
        for ignored in ("bytes=0-1,3-4", "lines=0-1", "bytes=-", "nonsense"):
            assert project.get(path, headers={"Range": ignored}).data == whole


def test_an_empty_project_and_one_whose_grids_were_deleted_have_a_header_and_no_rows(project: Project) -> None:
    for _ in range(2):
        assert feed(project).text == ",".join([*IDENTITY, *MEASURED, *AS_SENT, "protocol"]) + "\n"
        assert feed(project, form="json").get_json() == {"items": []}
        assert feed(project, form="ndjson").data == b""
        assert project.call("DELETE", f"grids/{project.published()['id']}").status_code == 204


def test_without_pyarrow_a_problem_names_what_is_missing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.published()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for form in ("parquet", "arrow"):
        answer = project.get(f"projects/{project.slug}/cells.{form}")
        assert (answer.status_code, answer.content_type) == (501, "application/problem+json")
        assert "pip install pyarrow" in answer.get_json()["detail"]


def test_more_grids_than_one_piece_come_once_and_in_the_order_of_their_ids(project: Project) -> None:
    many = [publication(axes=[], values=float(i), model=f"m{i}", trials=None, metric={"name": "n"}) for i in range(600)]
    assert project.call("POST", f"projects/{project.slug}/grids/batch", json=many).status_code == 200
    rows = rows_of(feed(project).text)
    assert sorted(float(row["value"]) for row in rows) == list(map(float, range(600)))
    assert [row["grid"] for row in rows] == sorted(row["grid"] for row in rows)


def settings(path: Path, size: int = 10**6) -> Settings:
    return replace(Settings(), exports=str(path), exports_size=size)


def never() -> Iterator[bytes]:
    raise AssertionError("it is there already")
    yield b""


def test_a_file_is_written_once_and_a_failure_leaves_none(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        exports.opened(settings(tmp_path), "name", never())
    assert list(tmp_path.iterdir()) == []
    for pieces in (iter([b"ab", b"c"]), never()):
        with exports.opened(settings(tmp_path), "name", pieces) as file:
            assert file.read() == b"abc"


def test_only_so_much_is_kept_and_what_is_larger_than_all_is_still_read(tmp_path: Path) -> None:
    with exports.opened(settings(tmp_path, 5), "name", [b"x" * 10]) as file:
        assert file.read() == b"x" * 10
    assert list(tmp_path.iterdir()) == []
    for name in "abc":
        exports.opened(settings(tmp_path, 25), name, [b"x" * 10]).close()
    assert len(list(tmp_path.glob("*.export"))) == 2


def test_two_registries_in_one_directory_have_files_of_their_own(tmp_path: Path) -> None:
    one, other = settings(tmp_path), replace(settings(tmp_path), database_url="postgresql://127.0.0.1/other")
    for given, content in ((one, b"one"), (other, b"other")):
        with exports.opened(given, "name", iter([content])) as file:
            assert file.read() == content
