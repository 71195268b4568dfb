"""The file of an imported grid, and the doubts about it, in the form that the registry takes."""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from registry.importers.imported_grid import ImportedGrid, Note, Place
from registry.importers.reading import MOST_WARNINGS, from_file, from_server, with_warnings
from registry.importers.source import Source

pytestmark = pytest.mark.unit
EMPTY = ImportedGrid({})


def named(path: Path) -> dict[str, str]:
    source: dict[str, str] = from_file(EMPTY, Source(str(path), path), "csv").submission["source"]
    return source


def test_a_path_below_the_working_directory_is_named_whole_and_any_other_by_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    path = tmp_path / "runs" / "a.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\n")
    digest = sha256(b"\xef\xbb\xbfa,b\n").hexdigest()
    assert named(Path("runs/a.csv")) == {"format": "csv", "name": "runs/a.csv", "sha256": digest}
    assert named(path)["name"] == named(Path("runs/../runs/a.csv"))["name"] == "a.csv"


def test_a_name_that_is_no_text_can_be_sent(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"a\nb\xff\x1b[1m\xc3\xa9.csv")
    path.write_bytes(b"x")
    assert named(path)["name"] == "a\ufffdb?\ufffd[1m\xe9.csv"


def test_the_address_of_a_server_is_kept_without_what_is_secret() -> None:
    found = from_server(EMPTY, "https://me:secret@mlflow.example.org:5000/x?token=1", "mlflow").submission
    assert found["source"] == {"format": "mlflow", "name": "https://mlflow.example.org:5000/x"}


def test_notes_become_warnings_within_the_bounds_of_the_registry() -> None:
    notes = [Note("doubt", f"number {n}", Place(n + 1, 2)) for n in range(150)]
    sent = with_warnings(ImportedGrid({"warnings": [{"code": "old", "detail": "kept"}]}, tuple(notes)))["warnings"]
    assert len(sent) == MOST_WARNINGS
    assert sent[:2] == [
        {"code": "old", "detail": "kept"},
        {"code": "doubt", "detail": "number 0", "pointer": "/line/1/column/2"},
    ]
    assert sent[-1] == {"code": "more_warnings", "detail": "and 52 more, which the import named"}
    [long] = with_warnings(ImportedGrid({}, (Note("doubt", "\t" + "x" * 2_000),)))["warnings"]
    assert (len(long["detail"]), long["detail"][0]) == (1_000, "\ufffd")
    assert "warnings" not in with_warnings(EMPTY)
