"""registry mirror: exactly the current cells, whatever happened to them, and whoever is killed."""

import errno
import json
import os
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from registry.mirror import part_writer, refresh, source
from registry.operations.audit_log import COMMAND
from registry.operations.purge import purge
from tests.commands.terminal import Person, person_of
from tests.house import Project, publication
from workers.jobs.upkeep import sequence_arrivals

Cell = tuple[Any, ...]
NAMES = ("experiment", "benchmark", "model", "variant")


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return tmp_path / "lake"


def tell(project: Project) -> None:
    """Give the events of what was done their positions, as the dispatcher does."""
    sequence_arrivals(project.house.database)


def cells(lake: Path) -> list[dict[str, Any]]:
    """The cells of a mirror as its view has them: rows of parts, joined with the names of grids of the same part."""
    found = []
    for project in manifest(lake)["projects"]:
        named = {(row["grid"], row["part"]): row for row in _rows(lake / project["grids"]["path"])}
        for part in project["parts"]:
            day = date.fromisoformat(part["path"].partition("day=")[2].partition("/")[0])
            for row in _rows(lake / part["path"]):
                if (grid := named.get((row["grid"], row["part"]))) is not None:
                    sent = {f"{name}_as_sent": row[name] for name in NAMES}
                    here = {"project": project["project"], "day": day, "axes": dict(row["axes"])}
                    found.append(row | sent | {name: grid[name] for name in (*NAMES, "direction")} | here)
    return found


def _rows(path: Path) -> list[dict[str, Any]]:
    from pyarrow import parquet

    rows: list[dict[str, Any]] = parquet.ParquetFile(path).read().to_pylist()
    return rows


def mirrored(lake: Path) -> list[Cell]:
    """The measured cells of a mirror."""
    return sorted((_mirrored(row) for row in cells(lake) if row["value"] is not None), key=repr)


def _mirrored(row: dict[str, Any]) -> Cell:
    axes = tuple(sorted((axis, level["label"], level["number"]) for axis, level in row["axes"].items()))
    names = tuple(row[name] for name in (*NAMES, *(f"{name}_as_sent" for name in NAMES)))
    own = (row["value"], row["trials"], row["updated_at"], row["protocol"])
    return (row["grid"], row["revision"], *names, row["metric"], row["unit"], axes, *own)


def served(project: Project) -> list[Cell]:
    """The same of the API's own feed."""
    answer = project.get(f"projects/{project.slug}/cells.ndjson")
    assert answer.status_code == 200, answer.text
    return sorted((_served(json.loads(line)) for line in answer.text.splitlines()), key=repr)


def _served(row: dict[str, Any]) -> Cell:
    columns = list(row)
    levels = columns[columns.index("unit") + 1 : columns.index("value")]
    pairs = zip(levels[::2], levels[1::2], strict=True)
    axes = tuple(sorted((label, row[label], row[number]) for label, number in pairs if row[label] is not None))
    names = tuple(row[name] for name in (*NAMES, *(f"{name}_as_sent" for name in NAMES)))
    own = (row["value"], row["trials"], datetime.fromisoformat(row["updated_at"]).astimezone(UTC), row["protocol"])
    return (row["grid"], row["revision"], *names, row["metric"], row["unit"], axes, *own)


def manifest(lake: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((lake / "manifest.json").read_bytes())
    return found


def files(lake: Path) -> set[str]:
    return {str(file.relative_to(lake)) for file in lake.rglob("*") if file.is_file()} - {".mirror.lock"}


def check_files(lake: Path) -> None:
    """The files are those that the manifest names, with their bytes, digests and rows, and no others."""
    from pyarrow import parquet

    named = {"manifest.json"}
    for project in manifest(lake)["projects"]:
        for one in (project["grids"], *project["parts"]):
            content = (lake / one["path"]).read_bytes()
            assert (len(content), sha256(content).hexdigest()) == (one["bytes"], one["sha256"])
            assert parquet.ParquetFile(lake / one["path"]).metadata.num_rows == one["rows"]
            named.add(one["path"])
        named |= {old["path"] for old in project["superseded"]}
    assert files(lake) == named


def purge_grid(project: Project, grid: str) -> None:
    """Delete a grid and remove it for good, as somebody does weeks later."""
    assert project.call("DELETE", f"grids/{grid}").status_code == 204
    purge_deleted(project, grid)


def purge_deleted(project: Project, grid: str) -> None:
    database = project.house.database
    with database.transaction() as connection:
        connection.execute(
            text("UPDATE grids SET deleted_at = now() - interval '40 days' WHERE id = :id"), {"id": grid}
        )
    with database.transaction() as connection:
        assert purge(connection, COMMAND, older_than_days=30) >= 1
    tell(project)


def repeated(**changes: Any) -> dict[str, Any]:
    """A grid with repeats, standard errors of its own, and a cell that failed."""
    sent = publication(trials=None, axes=[{"name": "Length", "kind": "numeric", "levels": [2000, 1000, 30]}], **changes)
    del sent["values"]
    cells = [{"at": {"Length": 1000}, "value": value} for value in (3.0, 5.0)]
    failed = {"at": {"Length": 2000}, "value": None, "reason": "failed"}
    return sent | {"cells": [*cells, failed, {"at": {"Length": 30}, "value": 7.5, "stderr": 0.25}]}


def test_it_is_what_the_feed_has_after_everything_that_can_happen(person: Person, project: Project, lake: Path) -> None:
    grids = {model: project.published(model=model)["id"] for model in "ABCDE"}
    score = project.published(model="A", axes=[], values=71.5, trials=None, protocol={"seed": 1, "a": "ü"})["id"]
    tell(project)
    person.says("mirror", str(lake))
    assert mirrored(lake) == served(project)
    assert len(mirrored(lake)) == 4 * 5 + 1  # the score is another revision of A's grid

    project.published(model="B", values=[[1.5, 2.5, None], [None, None, 3.5]])
    cells = [{"at": {"Type": "2", "Length": 0}, "value": 12.25}, {"at": {"Type": "3", "Length": 4}, "value": 50}]
    assert project.call("PATCH", f"grids/{grids['C']}/cells", json={"cells": cells}).status_code == 200
    project.call("DELETE", f"grids/{grids['D']}")
    project.published(model="F")
    alias = {"kind": "model", "alias": "E", "name": "A"}
    made = project.call("POST", f"projects/{project.slug}/aliases", "admin", json=alias).get_json()["id"]
    tell(project)
    person.says("mirror", str(lake))
    assert mirrored(lake) == served(project)
    assert {row[4] for row in mirrored(lake) if row[8] == "E"} == {"A"}

    project.call("POST", f"grids/{grids['D']}/restore")
    project.call("DELETE", f"grids/{grids['B']}")
    project.call("DELETE", f"projects/{project.slug}/aliases/{made}", "admin")
    tell(project)
    person.says("mirror", str(lake))
    assert mirrored(lake) == served(project)

    project.published(model="B", values=[[9.5, None, None], [None, None, None]])
    purge_grid(project, score)
    person.says("mirror", str(lake))
    assert mirrored(lake) == served(project)
    assert {row[8] for row in mirrored(lake)} == set("BCDEF")
    check_files(lake)


def test_repeats_errors_and_reasons_are_those_of_the_grid(person: Person, project: Project, lake: Path) -> None:
    project.publish(repeated())
    tell(project)
    person.says("mirror", str(lake))
    rows = sorted(cells(lake), key=lambda row: row["axes"]["Length"]["number"])
    assert [row["axes"]["Length"]["label"] for row in rows] == ["30", "1000", "2000"]
    assert [row["value"] for row in rows] == [7.5, 4.0, None]
    assert [row["repeats"] for row in rows] == [None, 2, None]
    assert [row["stderr"] for row in rows] == [0.25, None, None]
    assert rows[1]["sd"] == pytest.approx(2**0.5)
    assert [row["reason"] for row in rows] == [None, None, "failed"]
    assert {row["direction"] for row in rows} == {"higher"}


def test_grids_of_any_axes_are_of_one_schema(
    person: Person, project: Project, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.mirror.part_writer.AT_ONCE", 4)  # pieces of a large grid
    four = [{"name": name, "kind": "nominal", "levels": ["x", "y"]} for name in "abcd"]
    values = [[[[None, 2], [3, 4]], [[5, 6], [7, 8]]], [[[9, 10], [11, 12]], [[13, None], [15, 16]]]]
    project.publish(publication(axes=four, values=values, trials=None))
    levels = [{"label": "32b", "number": 32e9}, {"label": "7b", "number": 7e9}]
    axis = {"name": "Size", "kind": "numeric", "levels": levels}
    project.published(model="B", axes=[axis], values=[1, 2], trials=[10, 20])
    project.published(model="C", axes=[{"name": "Size", "kind": "nominal", "levels": ["7b"]}], values=[None])
    project.published(model="D", axes=[], values=5, trials=None)
    tell(project)
    person.says("mirror", str(lake))
    assert mirrored(lake) == served(project)
    assert {(row[8], row[12]) for row in mirrored(lake)} >= {("D", ()), ("B", (("Size", "32b", 32e9),))}


def test_nothing_new_writes_nothing(person: Person, project: Project, lake: Path) -> None:
    project.published()
    tell(project)
    person.says("mirror", str(lake))
    before = {name: (lake / name).stat().st_mtime_ns for name in files(lake)}
    assert "unchanged" in person.says("mirror", str(lake))
    assert {name: (lake / name).stat().st_mtime_ns for name in files(lake)} == before
    project.house.compute()  # events that change no cell
    person.says("mirror", str(lake))
    assert files(lake) == set(before)
    assert manifest(lake)["projects"][0]["cursor"] == project.get(f"projects/{project.slug}/events").get_json()["head"]


def test_a_purge_leaves_nothing_of_the_grid_in_any_file(person: Person, project: Project, lake: Path) -> None:
    kept = project.published(model="kept")["id"]
    secret = project.published(model="projectzebra")["id"]
    tell(project)
    person.says("mirror", str(lake))
    project.published(model="projectzebra", values=[[1, 2, 3], [4, 5, 6]])
    tell(project)
    person.says("mirror", str(lake))  # its first revision is in one part, its second in another
    purge_grid(project, secret)
    person.says("mirror", str(lake))
    assert {row["grid"] for row in cells(lake)} == {kept}
    assert mirrored(lake) == served(project)
    check_files(lake)
    assert holding(lake, secret) == holding(lake, "projectzebra") == []
    assert holding(lake, kept)


def holding(lake: Path, word: str) -> list[str]:
    """The files in which a text stands, whether they belong to the mirror or not."""
    from pyarrow import parquet

    found = []
    for name in sorted(files(lake)):
        path = lake / name
        rows = path.read_text() if path.suffix == ".json" else str(parquet.ParquetFile(path).read().to_pylist())
        found += [name] if word in rows else []
    return found


@pytest.mark.parametrize("loss", ["retention", "restored", "restored and gone on"])
def test_after_events_were_lost_everything_is_read_anew(
    person: Person, project: Project, lake: Path, loss: str
) -> None:
    for model in "AB":
        project.published(model=model)
        tell(project)
        person.says("mirror", str(lake))
    secret = project.published(model="C")["id"]
    tell(project)
    person.says("mirror", str(lake))
    assert project.call("DELETE", f"grids/{secret}").status_code == 204
    project.published(model="D")
    tell(project)
    here = {"project": project.id}
    with project.house.database.transaction() as connection:
        if loss == "retention":
            connection.execute(text("UPDATE event_heads SET first = 5 WHERE project_id = :project"), here)
            connection.execute(text("DELETE FROM events WHERE project_id = :project AND position < 5"), here)
        else:
            connection.execute(text("UPDATE event_heads SET position = 2 WHERE project_id = :project"), here)
            connection.execute(text("DELETE FROM events WHERE project_id = :project AND position > 2"), here)
    if loss == "restored and gone on":
        for model in "EFGHI":
            project.published(model=model)
        tell(project)
    answer = person.run("mirror", str(lake))
    assert answer.exit_code == 0
    assert "read anew" in answer.stderr
    assert mirrored(lake) == served(project)
    check_files(lake)
    assert holding(lake, secret) == []
    assert "unchanged" in person.says("mirror", str(lake))


def test_grids_that_are_older_than_their_events_are_not_taken(
    person: Person, project: Project, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.published()
    tell(project)
    person.says("mirror", str(lake))
    before = files(lake)
    project.published(model="Later")
    tell(project)
    with monkeypatch.context() as behind:
        behind.setattr(source, "_position", lambda _headers: 1)
        assert "older than its events" in person.complains("mirror", str(lake), status=5)
    assert files(lake) == before
    person.says("mirror", str(lake))
    assert mirrored(lake) == served(project)


def test_an_event_before_the_last_one_may_be_gone(person: Person, project: Project, lake: Path) -> None:
    for model in "AB":
        project.published(model=model)
        tell(project)
        person.says("mirror", str(lake))
    with project.house.database.transaction() as connection:
        here = {"project": project.id}
        connection.execute(text("UPDATE event_heads SET first = 3 WHERE project_id = :project"), here)
        connection.execute(text("DELETE FROM events WHERE project_id = :project"), here)
    project.published(model="C")
    tell(project)
    assert "updated" in person.says("mirror", str(lake))
    assert mirrored(lake) == served(project)


def test_a_second_run_says_that_there_is_one_and_stops(person: Person, project: Project, lake: Path) -> None:
    from registry.mirror.directory import opened_directory

    project.published()
    tell(project)
    with opened_directory(lake, person.environment["REGISTRY_URL"]):
        assert "Another run is writing" in person.complains("mirror", str(lake))
    person.says("mirror", str(lake))
    assert mirrored(lake) == served(project)


def test_a_directory_of_others_or_of_another_registry_is_left_alone(
    person: Person, project: Project, lake: Path, tmp_path: Path
) -> None:
    part = lake / "project=x" / "day=2026-11-23" / "part-1.parquet"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"mine")
    assert "not empty" in person.complains("mirror", str(lake))
    assert part.read_bytes() == b"mine"
    other = tmp_path / "other"
    other.mkdir()
    told = {"format": 1, "registry": "http://elsewhere", "projects": []}
    (other / "manifest.json").write_text(json.dumps(told))
    assert "elsewhere" in person.complains("mirror", str(other))
    (other / "manifest.json").write_text(json.dumps(told | {"format": 99}))
    assert "format 1" in person.complains("mirror", str(other))


def test_many_small_parts_of_a_day_become_one(
    person: Person, project: Project, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh, "MOST_SMALL", 2)
    for number in range(4):
        project.published(model=f"M{number}")
        tell(project)
        person.says("mirror", str(lake))
        check_files(lake)
        assert mirrored(lake) == served(project)
        assert len(manifest(lake)["projects"][0]["parts"]) <= 2
    covered = {(one["first"], one["last"]) for one in manifest(lake)["projects"][0]["parts"]}
    assert max(last for _, last in covered) == manifest(lake)["projects"][0]["position"] == 4


def test_a_part_that_is_mostly_stale_is_written_anew(person: Person, project: Project, lake: Path) -> None:
    for model in "ABC":
        project.published(model=model)
    tell(project)
    person.says("mirror", str(lake))
    [first] = manifest(lake)["projects"][0]["parts"]
    for model in "AB":
        project.published(model=model, values=[[1, 2, 3], [4, 5, 6]])
    tell(project)
    person.says("mirror", str(lake))
    parts = manifest(lake)["projects"][0]["parts"]
    assert first["path"] not in {one["path"] for one in parts}
    assert sum(one["rows"] for one in parts) == 5 + 12
    assert first["path"] in files(lake), "a query may have begun"
    assert mirrored(lake) == served(project)


def test_days_and_rows_are_parted_within_bounds(
    person: Person, project: Project, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, bound in (("MOST_WAITING", 7), ("MOST_OPEN", 2), ("MOST_ROWS", 12)):
        monkeypatch.setattr(part_writer, name, bound)
    for number in range(9):
        back = {
            "id": project.published(model=f"M{number}")["id"],
            "then": datetime.now(UTC) - timedelta(days=number % 4),
        }
        with project.house.database.engine.begin() as connection:
            connection.execute(text("SET LOCAL session_replication_role = replica"))
            for table, key in (("grids", "id"), ("stored_revisions", "grid_id")):
                connection.execute(text(f"UPDATE {table} SET created_at = :then WHERE {key} = :id"), back)
    tell(project)
    person.says("mirror", str(lake))
    assert mirrored(lake) == served(project)
    check_files(lake)
    days = {str(row["day"]) for row in cells(lake)}
    assert len(days) == 4
    assert all(row["day"] == row["updated_at"].date() for row in cells(lake))
    assert max(one["rows"] for one in manifest(lake)["projects"][0]["parts"]) < 12 + 5


def test_all_projects_that_may_be_read_and_one_that_goes(
    person: Person, project: Project, address: str, tmp_path: Path, lake: Path
) -> None:
    house = project.house
    other = house.make_project()
    mine, theirs = project.published()["id"], other.published(model="Other")["id"]
    tell(project)
    operator = person.having(REGISTRY_TOKEN=house.operator)
    operator.says("mirror", str(lake), project.slug, other.slug)
    assert {(row["project"], row["grid"]) for row in cells(lake)} == {(project.slug, mine), (other.slug, theirs)}
    someone = person_of(project, address, tmp_path)  # may not read the other one
    answer = someone.run("mirror", str(lake), project.slug, other.slug)
    assert (answer.exit_code, "nothing there" in answer.stdout) == (1, True)
    assert f"Nothing can be read of {other.slug}:" in answer.stderr
    assert {row["grid"] for row in cells(lake)} == {mine}
    assert not (lake / f"project={other.slug}").exists()
    told = operator.json("mirror", str(lake), "--all")
    assert {one["project"]: one["state"] for one in told}[other.slug] == "mirrored"
    assert {row["grid"] for row in cells(lake)} >= {mine, theirs}
    assert operator.run("mirror", str(lake), "--all", project.slug).exit_code == 2


def test_a_purge_empties_the_files_that_were_kept_for_queries(
    person: Person, project: Project, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh, "MOST_SMALL", 1)
    kept = project.published(model="kept")["id"]
    secret = project.published(model="projectzebra")["id"]
    tell(project)
    person.says("mirror", str(lake))
    assert project.call("DELETE", f"grids/{secret}").status_code == 204
    project.published(model="later")
    tell(project)
    person.says("mirror", str(lake))
    assert not any(row["grid"] == secret for row in cells(lake))
    assert holding(lake, secret), "in the part that was replaced, for queries that have begun"
    purge_deleted(project, secret)
    person.says("mirror", str(lake))
    assert holding(lake, secret) == holding(lake, "projectzebra") == []
    assert holding(lake, kept)
    check_files(lake)


def test_the_cells_that_a_run_tells_are_those_of_current_grids(person: Person, project: Project, lake: Path) -> None:
    for model in "AB":
        project.published(model=model)
    tell(project)
    assert "mirrored, 10 cells of 2 grids" in person.says("mirror", str(lake))
    project.published(model="B", values=[[1, 2, 3], [4, 5, 6]])
    tell(project)
    assert "updated" in person.says("mirror", str(lake))
    assert "unchanged, 11 cells of 2 grids" in person.says("mirror", str(lake))


@pytest.mark.parametrize("which", ["grids", "parts"])
@pytest.mark.parametrize("harm", ["gone", "cut"])
def test_a_file_that_somebody_harmed_is_read_anew(
    person: Person, project: Project, lake: Path, which: str, harm: str
) -> None:
    project.published()
    tell(project)
    person.says("mirror", str(lake))
    told = manifest(lake)["projects"][0]
    path = lake / (told["grids"] if which == "grids" else told["parts"][0])["path"]
    if harm == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-1])
    answer = person.run("mirror", str(lake))
    assert answer.exit_code == 0, answer.output
    assert f"{path.relative_to(lake)} is not there as it was written" in answer.stderr
    assert mirrored(lake) == served(project)
    check_files(lake)


def test_a_directory_that_cannot_be_written_is_named(
    person: Person, project: Project, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "/proc/lake cannot be written: No such file" in person.complains("mirror", "/proc/lake")
    project.published()
    tell(project)
    person.says("mirror", str(lake))
    before = mirrored(lake)
    project.published(model="Later")
    tell(project)
    with monkeypatch.context() as full:

        def no_space(*_: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        full.setattr("registry.mirror.part_writer._Digested.write", no_space)
        assert f"{lake} cannot be written: No space left on device." in person.complains("mirror", str(lake))
    assert mirrored(lake) == before
    person.says("mirror", str(lake))
    assert mirrored(lake) == served(project)
    check_files(lake)
