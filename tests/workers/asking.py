"""What tests of workers ask a project for over HTTP, and what they hold the answers against."""

import time
from datetime import UTC, datetime
from typing import Any

from jsonschema import Draft202012Validator
from sqlalchemy import func, select, update

from registry.api.shapes import COMPONENTS
from registry.storage.tables import cached_results
from tests.house import House, Project
from workers.jobs.invalidation import apply_invalidations
from workers.queries import compute_due


def answer_due(house: House) -> None:
    """Answer every question that is due, also one that rests; nobody looks at the statistics of the grids."""
    house._drop_jobs_of_ended_tests()
    apply_invalidations(house.database, house.settings)
    with house.database.transaction() as connection:
        resting = (cached_results.c.state == "pending", cached_results.c.attempts == 0)
        connection.execute(update(cached_results).where(*resting).values(due_at=func.now()))
    while compute_due(house.database, house.settings):
        pass


def computed(project: Project, path: str, **options: Any) -> Any:
    """The document at a path, computed now if it is due; the answer itself where the path has a suffix as `.txt`."""
    until = time.monotonic() + 30
    options = {"headers": {"Prefer": "wait=0"}} | options
    while (found := project.get(path, **options)).status_code in (202, 503) and time.monotonic() < until:
        answer_due(project.house)
    assert found.status_code == 200, found.text
    return found.get_json() if found.is_json else found


def described(document: dict[str, Any], name: str) -> dict[str, Any]:
    """The document, which is what the API says of a component and has no field of its own."""
    promised = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": COMPONENTS}}
    faults = Draft202012Validator(promised).iter_errors(document)
    assert [f"{list(fault.absolute_path)}: {fault.message}" for fault in faults] == []
    assert document.keys() <= COMPONENTS[name].get("properties", document).keys()
    return document


def faults_of(answer: Any) -> dict[str, str]:
    """What is said to be wrong with a request, by where it is."""
    assert answer.status_code == 422, answer.text
    return {one["pointer"]: one["detail"] for one in answer.get_json()["errors"]}


def join(project: Project, kind: str, alias: str, name: str) -> None:
    """Make a name stand for another."""
    sent = {"kind": kind, "alias": alias, "name": name}
    assert project.call("POST", f"projects/{project.slug}/aliases", json=sent).status_code == 201


def now(project: Project) -> str:
    """The database's clock, between what was done and what will be."""
    with project.house.database.reading() as connection:
        found: datetime = connection.scalar(select(func.clock_timestamp()))
    return found.astimezone(UTC).isoformat().replace("+00:00", "Z")
