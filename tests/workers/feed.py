"""What tests see of a project's feed."""

import json
from typing import Any

from jsonschema import Draft202012Validator

from registry.operations.events import Wanted, read_events
from registry.results.events import CATALOGUE
from registry.results.schema import components
from tests.house import Project
from workers.jobs.upkeep import sequence_arrivals

_SCHEMAS = components(*{kind.data for kind in CATALOGUE.values()})
LARGEST = 2_000
"""Bytes of the data of an event whose names are of usual length."""


def feed(project: Project, *types: str) -> list[Any]:
    """The events of a project, of these types or of all, each as the catalogue says that it is unless a purge emptied
    it."""
    sequence_arrivals(project.house.database)
    with project.house.database.reading() as connection:
        found = read_events(connection, project.id, 0, 100_000, Wanted(types)).events
    for one in found:
        if one.data or one.subject:
            _check(one)
    return list(found)


def told(project: Project, *types: str) -> list[tuple[str, dict[str, Any]]]:
    return [(one.type, one.data) for one in feed(project, *types)]


def _check(event: Any) -> None:
    named = {"$ref": f"#/components/schemas/{CATALOGUE[event.type].data.__name__}", "components": {"schemas": _SCHEMAS}}
    faults = [error.message for error in Draft202012Validator(named).iter_errors(event.data)]
    assert not faults, (event.type, event.data, faults)
    schema = _SCHEMAS[CATALOGUE[event.type].data.__name__]
    assert event.data.keys() <= schema["properties"].keys(), (event.type, event.data)
    assert len(json.dumps(event.data)) < LARGEST, event.data
