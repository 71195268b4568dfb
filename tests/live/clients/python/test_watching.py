"""`registry watch` pushes what is written into a folder, also what changes, and goes on after a file at fault."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house import Project

pytestmark = pytest.mark.db
TABLE = "model,task,accuracy\nA,x,0.5\n"


def test_a_folder_is_pushed_as_it_fills(address: str, project: Project, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    own = {"REGISTRY_URL": address, "REGISTRY_TOKEN": project.tokens["writer"], "REGISTRY_PROJECT": project.slug,
           "REGISTRY_SPOOL": str(tmp_path / "spool")}  # fmt: skip
    command = [sys.executable, "-m", "registry", "watch", "out", "--every", "0.2", "--experiment", "e",
               "--benchmark", "b", "--value", "accuracy"]  # fmt: skip
    with subprocess.Popen(command, cwd=tmp_path, env=os.environ | own, stderr=subprocess.PIPE, text=True) as watching:
        assert watching.stderr is not None
        try:
            (tmp_path / "out/a.csv").write_text(TABLE)
            assert "1 grid from 1 file: 1 new" in line_of(watching.stderr, "from 1 file")
            (tmp_path / "out/b.csv").write_text("a\tb\n")
            line_of(watching.stderr, "Error")
            (tmp_path / "out/a.csv").write_text(TABLE.replace("0.5", "0.75"))
            assert "1 grid from 1 file" in line_of(watching.stderr, "from 1 file: ")
        finally:
            watching.send_signal(signal.SIGINT)
            watching.communicate(timeout=30)
    [grid] = project.get(f"projects/{project.slug}/grids").get_json()["items"]
    assert grid["revision"] == 2


def line_of(stream, words: str) -> str:
    """The next line with these words."""
    return next(line for line in stream if words in line)
