"""Experiments: what people wrote about them, and how much they hold."""

from __future__ import annotations

from typing import Any

from flask import Response, request
from sqlalchemy import Connection

from registry.api import examples, serializers
from registry.api.audit_log import actor
from registry.api.context import enter, parts
from registry.api.idempotency import idempotent_write
from registry.api.responses import json_answer, known_tags
from registry.api.schemas import Empty, ExperimentChange
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.grids.protocol import Rules
from registry.operations import acts
from registry.operations.audit_log import record
from registry.operations.experiments import describe_experiment, find_experiment
from registry.operations.labels import told_changes

blp = Blueprint("experiments", __name__, url_prefix=API_PREFIX, description="What experiments are, in words.")


@blp.get("/projects/<project>/experiments/<path:experiment>")
@blp.doc(operationId="getExperiment")
@blp.arguments(Empty, location="query")
@blp.answers(
    reply(200, "The experiment", "Experiment", example=examples.EXPERIMENT, headers=["ETag"]),
    reply(304, "Not modified"),
    public=True,
    parameters=["If-None-Match"],
)
def read_experiment(_query: dict[str, Any], project: str, experiment: str) -> Response:
    """Read an experiment

    What people wrote about it, and how much it holds. An alias finds the experiment that it stands for. 404 for one
    that has no grid and that nothing was written about.
    """
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        found = find_experiment(connection, row.id, experiment)
    return json_answer(serializers.experiment(found, row.slug), tag=found.etag)


@blp.patch("/projects/<project>/experiments/<path:experiment>")
@blp.doc(operationId="updateExperiment")
@blp.arguments(ExperimentChange, example=examples.EXPERIMENT_CHANGE)
@blp.answers(
    reply(200, "The experiment", "Experiment", example=examples.EXPERIMENT, headers=["ETag"]),
    errors=[400, 409, 412, 415],
    parameters=["Idempotency-Key", "If-Match"],
)
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
        acts.set_protocol_rules(connection, actor(connection), row.id, found.name, Rules(**declared))
        found = find_experiment(connection, row.id, found.name)
    answer = json_answer(serializers.experiment(found, project))
    answer.headers["ETag"] = f'"{found.etag}"'
    return answer
