"""What tests hold in their hands: the application in one process, and a project with tokens."""

import json
import os
import time
import uuid
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flask import Flask
from sqlalchemy import insert, text
from werkzeug.test import TestResponse

from registry.operations.auth import ROLES, issue_token
from registry.operations.projects import make_project
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.tables import alerts, gate_verdicts, new_id

PARTITIONS = int(os.environ.get("REGISTRY_TEST_PARTITIONS", "0"))
"""Parts of the largest tables in the databases of tests; 0: they are whole, as nearly everywhere."""
CITUS = bool(os.environ.get("REGISTRY_TEST_CITUS"))
"""Whether the database that the environment names is the coordinator of a cluster, which knows its nodes."""
WEBHOOK = {"url": "https://hooks.example.org/registry", "types": ["grid.*"]}
BUSY, LONGEST_BUSY = "is in use; try again", 30.0
"""What sixteen threads of a test are told on a machine that stood still for a second: they repeat, as clients do."""
ACCURACY = {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100}


def publication(**changes: Any) -> dict[str, Any]:
    """A small grid as a job would POST it; arguments replace or add fields."""
    return {
        "experiment": "type-by-length",
        "benchmark": "Core Generalization",
        "model": "Qwen-2.5 3B",
        "variant": "Baseline",
        "metric": ACCURACY,
        "axes": [
            {"name": "Type", "kind": "nominal", "levels": ["1", "2"]},
            {"name": "Length", "kind": "numeric", "levels": [0, 1, 2]},
        ],
        "values": [[99.3, 96.7, 98.3], [None, 100.0, 99.7]],
        "trials": 300,
    } | changes


@dataclass(frozen=True)
class House:
    """The application, its database and its settings."""

    app: Flask
    database: Database
    settings: Settings

    def call(
        self, method: str, path: str, *, token: str | None = None, json: Any = None, **options: Any
    ) -> TestResponse:
        """Send a request; paths that do not begin with a slash are under /api/v1/. Pages lead on, as in a browser."""
        options.setdefault("follow_redirects", path.startswith("/projects/"))
        headers = dict(options.pop("headers", {}))
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        full = path if path.startswith("/") else f"/api/v1/{path}"
        if json is not None:
            options["data"], options["content_type"] = _dumps(json), "application/json"
        until = time.monotonic() + LONGEST_BUSY
        while True:
            answer = self.app.test_client().open(full, method=method, headers=headers, **options)
            if answer.status_code != 503 or BUSY not in answer.get_data(as_text=True) or time.monotonic() > until:
                return answer
            time.sleep(0.1)

    @cached_property
    def operator(self) -> str:
        """An administrator's token for every project."""
        with self.database.transaction() as connection:
            return issue_token(connection, project_id=None, role="admin", name="tests", days=1)[1]

    def make_project(self, visibility: str = "private") -> "Project":
        slug = f"p-{uuid.uuid4().hex[:12]}"
        with self.database.transaction() as connection:
            row = make_project(connection, slug=slug, name=slug, visibility=visibility)
            tokens = {
                role: issue_token(connection, project_id=row.id, role=role, name=role, days=1)[1] for role in ROLES
            }
        return Project(self, slug, row.id, tokens)

    def compute(self) -> None:
        """Do what the dispatcher and the workers would do, until nothing is due but in projects of ended tests."""
        from workers.derive import derive_due
        from workers.jobs.invalidation import apply_invalidations
        from workers.jobs.upkeep import sequence_arrivals
        from workers.queries import compute_due

        self._drop_jobs_of_ended_tests()
        apply_invalidations(self.database, self.settings)
        with self.database.transaction() as connection:
            # A result that took long rests as its inputs change on and on; no test waits for that.
            connection.execute(
                text("UPDATE cached_results SET due_at = now() WHERE state = 'pending' AND attempts = 0")
            )
        while derive_due(self.database, self.settings) + compute_due(self.database, self.settings):
            pass
        sequence_arrivals(self.database)

    def _drop_jobs_of_ended_tests(self) -> None:
        """Delete what is due in projects that nobody will look at again: most tests publish and never compute."""
        ended = {"ended": [project.id for project in ENDED if project.house.settings.database_url == self.url]}
        with self.database.transaction() as connection:
            for statement in _JOBS:
                connection.execute(text(statement), ended)
        ENDED[:] = [project for project in ENDED if project.house.settings.database_url != self.url]

    @property
    def url(self) -> str:
        return self.settings.database_url


_JOBS = (
    "DELETE FROM arrivals WHERE project_id = ANY(:ended)",
    "DELETE FROM invalidations WHERE project_id = ANY(:ended)",
    "DELETE FROM cached_results WHERE state = 'pending' AND project_id = ANY(:ended)",
    "DELETE FROM derivations USING grids WHERE derivations.state = 'pending' AND grids.id = derivations.grid_id"
    " AND grids.project_id = ANY(:ended)",
)
ENDED: "list[Project]" = []
"""The projects of tests that have ended; their jobs are dropped before the next computation."""


@dataclass(frozen=True)
class Project:
    """A project and its tokens by role."""

    house: House
    slug: str
    id: uuid.UUID
    tokens: dict[str, str]

    def call(self, method: str, path: str, role: str = "writer", **options: Any) -> TestResponse:
        """Send a request with a token of this project."""
        return self.house.call(method, path, token=self.tokens[role], **options)

    def get(self, path: str, **options: Any) -> TestResponse:
        return self.call("GET", path, "reader", **options)

    def publish(self, sent: dict[str, Any] | None = None, **options: Any) -> TestResponse:
        """POST a grid; the small one if none is given."""
        return self.call("POST", f"projects/{self.slug}/grids", json=publication() if sent is None else sent, **options)

    def published(self, **changes: Any) -> dict[str, Any]:
        """A published grid as it was answered."""
        answer = self.publish(publication(**changes))
        assert answer.status_code in (200, 201), answer.text
        return answer.get_json()

    def hooked(self) -> tuple[str, str]:
        """The ids of a webhook that nothing is sent to, and of a delivery of it."""
        made = self.call("POST", f"projects/{self.slug}/webhooks", "admin", json=WEBHOOK).get_json()["id"]
        sent = self.call("POST", f"projects/{self.slug}/webhooks/{made}/test", "admin").get_json()["id"]
        return made, sent

    def alerted(self) -> str:
        """The id of an alert that no baseline made."""
        verdict, alert, baseline = new_id(), new_id(), new_id()
        told = {"project_id": self.id, "baseline_id": baseline, "policy_version": 1}
        judged = {"contender": "B", "inputs_key": verdict, "look": 1, "passes": False, "grid_ids": []}
        document = {"verdict": "regressed", "sentence": "B is worse.", "failing": [{}]}
        opened = {"baseline": "main", "model": "B", "key": alert, "group_id": alert, "verdict_id": verdict}
        with self.house.database.transaction() as connection:
            row = told | judged | {"id": verdict, "number": 1, "document": document}
            connection.execute(insert(gate_verdicts).values(row))
            connection.execute(insert(alerts).values(told | opened | {"id": alert}))
        return str(alert)


def _dumps(value: Any) -> str:
    return json.dumps(value)
