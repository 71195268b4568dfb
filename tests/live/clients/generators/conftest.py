"""The document as it is served, the tools that read it, and a registry that computes while clients wait."""

import json
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.house import House

HERE = Path(__file__).parent
SLOPE = -10.0
"""Theil–Sen of 90, 80, 70, 60 at 1, 2, 3, 4."""
EXPECTED: dict[str, Any] = {
    "slope": SLOPE,
    "ranked": ["large", "small"],
    "pages": [["large"], ["small"]],
    "last": None,
    "labelled": ["small"],
    "csv": "grid,revision,experiment,benchmark,model,variant,metric,unit,Length,Length_num,value,trials,stderr,ci_low,"
    "ci_high,updated_at,protocol",
    "png": list(b"PNG"),
    "missing": [404, "Not found"],
    "taken": [412, "Precondition failed"],
    "invalid": [422, "/values"],
}
"""What every session is told, whatever its client was generated with."""


@pytest.fixture(scope="session")
def documents(house: House, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The whole document and the view for clients, as files."""
    home = tmp_path_factory.mktemp("documents")
    found = {view: home / f"{view}.json" for view in ("whole", "client")}
    for view, file in found.items():
        file.write_text(house.call("GET", f"/openapi.json?view={view}").text, encoding="utf-8")
    return found


@pytest.fixture(scope="session")
def node() -> Callable[..., str]:
    """Run a program of the npm packages; its output."""
    programs = HERE / "node_modules" / ".bin"
    if shutil.which("node") is None or not programs.is_dir():
        pytest.skip("needs Node and the generators: npm ci --prefix tests/live/clients/generators")

    def run(program: str, *arguments: object, cwd: Path) -> str:
        command = [str(programs / program) if program != "node" else "node", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)
        assert done.returncode == 0, f"{command}\n{done.stdout[-5000:]}\n{done.stderr[-5000:]}"
        return done.stdout + done.stderr

    return run


@pytest.fixture(scope="module")
def given(house: House, address: str) -> Iterator[Callable[[], dict[str, str]]]:
    """Makes what a session needs: an address, a token, and a project whose statistics are computed meanwhile."""
    stopping = threading.Event()

    def work() -> None:
        while not stopping.wait(0.05):
            house.compute()

    def make() -> dict[str, str]:
        project = house.make_project()
        return {"base": address, "token": project.tokens["writer"], "project": project.slug}

    worker = threading.Thread(target=work)
    worker.start()
    yield make
    stopping.set()
    worker.join()


def told(output: str) -> dict[str, Any]:
    """What a session says on its last line."""
    found: dict[str, Any] = json.loads(output.strip().splitlines()[-1])
    return found
