"""Experiments: what people wrote about them, and what can be asked about all of their grids together."""

from __future__ import annotations

from typing import Any

from flask import Response, request
from sqlalchemy import Connection

from registry.api import examples, serializers
from registry.api.audit_log import actor
from registry.api.context import enter, parts
from registry.api.idempotency import idempotent_write
from registry.api.responses import json_answer, known_tags
from registry.api.schemas import ExperimentChange
from registry.api.smorest import Blueprint, reply
from registry.grids.protocol import Rules
from registry.operations.amend import told_changes
from registry.operations.audit_log import record
from registry.operations.experiments import describe_experiment, find_experiment, set_protocol_rules

blp = Blueprint("experiments", "What experiments are, in words.")


@blp.get("/projects/<project>/experiments/<path:experiment>", operation="getExperiment")
@blp.answers(reply(200, "The experiment", "Experiment", headers=["ETag"]), public=True, parameters=["If-None-Match"])
def read_experiment(project: str, experiment: str) -> Response:
    """Read an experiment

    What people wrote about it, and how much it holds. An alias finds the experiment that it stands for. 404 for one
    that has no grid and that nothing was written about.
    """
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        found = find_experiment(connection, row.id, experiment)
    return json_answer(serializers.experiment(found, row.slug), tag=found.etag)


@blp.patch("/projects/<project>/experiments/<path:experiment>", operation="updateExperiment")
@blp.arguments(ExperimentChange, example=examples.EXPERIMENT_CHANGE)
@blp.answers(reply(200, "The experiment", "Experiment", headers=["ETag"]), parameters=["If-Match"])
@idempotent_write()
def change_experiment(
    connection: Connection, row: Any, changes: dict[str, Any], project: str, experiment: str
) -> Response:
    """Change what is said of an experiment

    Labels are set and taken away by name. Grids whose protocols differ in a binding key are not compared: with another
    `protocol` every ranking, comparison and table of the experiment is computed again. `If-Match` holds for what is
    said, not for what the experiment holds.
    """
    declared = changes.pop("protocol", None)
    tags = known_tags("If-Match")
    expected = None if "If-Match" not in request.headers or "*" in tags else [tag.split("-")[0] for tag in tags]
    most = parts().settings.max_labels
    found, is_changed = describe_experiment(
        connection, row.id, experiment, changes, most_labels=most, expected=expected
    )
    if is_changed:
        told = told_changes(changes)
        record(connection, actor(connection), "experiment.updated", found.name, project_id=row.id, **told)
    if declared is not None:
        set_protocol_rules(connection, actor(connection), row.id, found.name, Rules(**declared))
        found = find_experiment(connection, row.id, found.name)
    return json_answer(serializers.experiment(found, project), ETag=f'"{found.etag}"')
