"""A backup and its restore through pipes, where no file can be written."""

import os
import subprocess
import sys
from dataclasses import replace

from registry import create_app
from registry.storage.database import Database
from tests.house import House


def test_a_backup_goes_through_pipes_where_no_file_can_be_written(own: House, empty_database_url: str) -> None:
    project = own.make_project()
    grid = project.published()
    there = replace(own.settings, database_url=empty_database_url)

    def registry(url: str, word: str, given: bytes = b"") -> bytes:
        argv, told = [sys.executable, "-m", "registry", word, "-"], os.environ | {"REGISTRY_DATABASE_URL": url}
        return subprocess.run(argv, env=told, input=given, capture_output=True, check=True, timeout=240).stdout

    registry(there.database_url, "restore", registry(own.url, "backup"))
    database = Database(there, name="tests")
    restored = replace(project, house=House(create_app(there), database, there))
    answer = restored.get(f"grids/{grid['id']}")
    database.close()
    assert (answer.status_code, answer.get_json()["digest"]) == (200, grid["digest"])
