"""Statistics that release 0.1.0 computed are shown everywhere until somebody has them computed again.

`documents_of_0_1_0.json` is what that release's `workers.derive.finished(workers.statistics.describe(grid))` says of
these grids.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from registry.results.codec import compressed
from registry.storage.tables import revisions, statistics
from tests.house import House

DOCUMENTS = json.loads((Path(__file__).parent / "documents_of_0_1_0.json").read_text(encoding="utf-8"))
GRIDS: dict[str, dict[str, Any]] = {
    "numbers": {
        "axes": [
            {"name": "Window", "kind": "numeric", "levels": [1, 2, 4, 8]},
            {"name": "Ratio", "kind": "numeric", "levels": [0.1, 0.5, 0.9]},
        ],
        "values": [[10.0, 20.3, 30.0], [20.7, 30.3, None], [30.3, 40.0, 50.3], [90.0, 41.3, 12.7]],
    },
    "words": {},
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


def test_documents_of_the_release_before_are_shown(house: House, subtests: pytest.Subtests) -> None:
    project = house.make_project("public")
    ids = {name: project.published(experiment="old", model=name, **one)["id"] for name, one in GRIDS.items()}
    for grid in ids.values():  # pages wait for what nobody asked before
        project.get(f"projects/{project.slug}/comparisons?baseline={grid}&contender={grid}")
    project.get(f"projects/{project.slug}/experiments/old/sweet-spot?metric=accuracy")
    house.compute()
    with house.database.transaction() as connection:
        for name, grid in ids.items():
            row = connection.execute(select(revisions).where(revisions.c.grid_id == grid)).one()
            head = {"grid": grid, "revision": 1, "digest": "sha256:" + bytes(row.digest).hex(), "state": "ready"}
            head |= {"methods_version": "1", "computed_at": "2026-01-01T00:00:00Z"}
            document = compressed(head | {"metric": row.metric, "axes": row.axes} | DOCUMENTS[name])
            values = {"document": document, "methods_version": "1", "etag": "1-0-s1", "facts": None}
            connection.execute(update(statistics).where(statistics.c.grid_id == grid).values(values))
    for name, grid in ids.items():
        for path in (one.format(grid=grid, project=project.slug) for one in PATHS):
            with subtests.test(name, path=path):
                answer = house.call("GET", path)
                assert answer.status_code == 200, answer.text
                assert not re.search(r"\b(None(?! of)|nan|inf)\b", answer.text)
    house.compute()
