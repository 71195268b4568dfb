"""Statistics that release 0.1.0 computed are shown everywhere until somebody has them computed again."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select, update

from registry.results.codec import compressed
from registry.storage.tables import revisions, statistics
from tests.house import House, Project
from tests.released import unpack_release

GRIDS = {
    "numbers": {
        "axes": [
            {"name": "Window", "kind": "numeric", "levels": [1, 2, 4, 8]},
            {"name": "Ratio", "kind": "numeric", "levels": [0.1, 0.5, 0.9]},
        ],
        "values": [[10.0, 20.3, 30.0], [20.7, 30.3, None], [30.3, 40.0, 50.3], [90.0, 41.3, 12.7]],
    },
    "words": {
        "axes": [
            {"name": "Type", "kind": "nominal", "levels": ["1", "2"]},
            {"name": "Length", "kind": "numeric", "levels": [0, 1, 2]},
        ],
        "values": [[99.3, 96.7, 98.3], [None, 100.0, 99.7]],
    },
    "one cell": {"axes": [{"name": "Type", "kind": "nominal", "levels": ["1"]}], "values": [50.0]},
}
PATHS = [
    "/api/v1/grids/{grid}/statistics",
    *(f"/api/v1/grids/{{grid}}/{part}.{form}"
      for part in ("statistics", "trends", "changes", "peaks", "coverage", "sensitivity", "precision")
      for form in ("txt", "md", "csv")),
    "/api/v1/grids/{grid}/heatmap.svg",
    "/api/v1/grids/{grid}/badge.svg",
    "/api/v1/projects/{project}/trends.csv",
    "/api/v1/projects/{project}/peaks.csv",
    "/api/v1/projects/{project}/coverage.csv",
    "/grids/{grid}",
    "/projects/{project}/experiments/old",
    "/projects/{project}/comparisons?baseline={grid}&contender={grid}",
]  # fmt: skip
_SCRIPT = """
import json, sys
from types import SimpleNamespace
from registry.rows import grid_of
from workers.statistics import describe
from workers.derive import finished
import gzip
for line in sys.stdin:
    print(gzip.decompress(finished(describe(grid_of(SimpleNamespace(**json.loads(line)))))).decode())
"""


@pytest.fixture(scope="module")
def old(house: House, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, dict[str, str]]]:
    """A project whose statistics are documents of release 0.1.0, and the ids of its grids."""
    project = house.make_project("public")
    ids = {name: project.published(experiment="old", model=name, **one)["id"] for name, one in GRIDS.items()}
    house.compute()
    with house.database.reading() as connection:
        rows = connection.execute(select(revisions).where(revisions.c.grid_id.in_(ids.values()))).all()
    documents = described(unpack_release(tmp_path_factory.mktemp("code")), [dict(row._mapping) for row in rows])
    with house.database.transaction() as connection:
        for row, found in zip(rows, documents, strict=True):
            head = {"grid": str(row.grid_id), "revision": row.number, "digest": "sha256:" + bytes(row.digest).hex()}
            head |= {"state": "ready", "methods_version": "1", "computed_at": "2026-01-01T00:00:00Z"}
            document = head | {"metric": row.metric, "axes": row.axes} | found
            here = (statistics.c.grid_id == row.grid_id, statistics.c.revision == row.number)
            values = {"document": compressed(document), "methods_version": "1", "etag": "1-0-s1", "facts": None}
            connection.execute(update(statistics).where(*here).values(values))
    yield project, ids
    house.compute()


def described(code: Path, rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """What release 0.1.0 says of these revisions, without a head."""
    lines = "".join(json.dumps(row, default=str) + "\n" for row in rows)
    ran = subprocess.run(
        [sys.executable, "-c", _SCRIPT], input=lines, env={"PYTHONPATH": str(code)}, capture_output=True, text=True,
        check=False, cwd=code, timeout=120,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", GRIDS)
def test_documents_of_the_release_before_are_shown(old: tuple[Project, dict[str, str]], name: str, path: str) -> None:
    project, ids = old
    answer = project.house.call("GET", path.format(grid=ids[name], project=project.slug))
    assert answer.status_code == 200, answer.text
    assert not re.search(r"\b(None|nan|inf)\b", answer.text)
