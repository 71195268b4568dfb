"""Experiments: what people wrote about them, and what can be asked about all of their grids together."""

from __future__ import annotations

from typing import Any

from flask import Response, request
from marshmallow import INCLUDE
from sqlalchemy import Connection
from werkzeug.routing import PathConverter

from registry.api import examples, serializers
from registry.api.audit_log import actor
from registry.api.cached_results import answer_to, part_asked
from registry.api.context import enter, parts
from registry.api.idempotency import idempotent_write
from registry.api.query_schemas import SweetSpotParameters
from registry.api.responses import json_answer, known_tags, of_values, wanted_form
from registry.api.schemas import ExperimentChange
from registry.api.selections import selected, slice_of_request
from registry.api.smorest import Blueprint, ready, reply
from registry.grids.protocol import Rules
from registry.operations.amend import told_changes
from registry.operations.audit_log import record
from registry.operations.experiments import describe_experiment, find_experiment, set_protocol_rules
from registry.query import SweetSpotQuery
from registry.renderings.sweet_spot import sweet_spot_csv, sweet_spot_markdown, sweet_spot_text
from registry.results.sweet_spot import SweetSpot

blp = Blueprint("experiments", "All grids of an experiment together.")

_FORMS = ("json", "txt", "md", "csv")
_RENDERERS = of_values(SweetSpot, {"txt": sweet_spot_text, "md": sweet_spot_markdown, "csv": sweet_spot_csv})
_DESCRIBED = blp.answers(
    reply(
        200,
        "The sweet spot, or why there is none",
        ready("SweetSpot"),
        example="sweet_spot",
        forms=("txt", "md", "csv"),
        headers=["ETag"],
    ),
    reply(202, "Pending"),
    public=True,
    parameters=["slice", "Prefer", "If-None-Match"],
)


class ExperimentPath(PathConverter):
    """The name of an experiment at the end of a path, slashes and all, but not what is asked about an experiment.

    Otherwise `Allow` of a sweet spot would name the methods of an experiment.
    """

    regex = r"(?![^?]*/sweet-spot(?:\.(?:json|txt|md|csv))?\Z)[^/].*?"


@blp.get("/projects/<project>/experiments/<path:experiment>/sweet-spot", operation="getSweetSpot")
@blp.arguments(SweetSpotParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def read_sweet_spot(query: dict[str, Any], project: str, experiment: str) -> Response:
    """Find the coordinate that serves several grids

    By mean rank, mean z, mean and minimax regret, with the Pareto set, the agreement of the peaks and what chance
    would do; for each axis the same for its levels. On the cells that all of the grids have.
    """
    return _answer(query, project, experiment, None)


@blp.get(
    "/projects/<project>/experiments/<path:experiment>/sweet-spot.<any(json,txt,md,csv):suffix>",
    operation="getSweetSpotAs",
)
@blp.arguments(SweetSpotParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def read_sweet_spot_as(query: dict[str, Any], project: str, experiment: str, suffix: str) -> Response:
    """Find the sweet spot, in the form that the suffix names"""
    return _answer(query, project, experiment, suffix)


@blp.get("/projects/<project>/experiments/<experiment:experiment>", operation="getExperiment")
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


@blp.patch("/projects/<project>/experiments/<experiment:experiment>", operation="updateExperiment")
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


def _answer(query: dict[str, Any], project: str, experiment: str, suffix: str | None) -> Response:
    at = slice_of_request(query, SweetSpotParameters)
    question = SweetSpotQuery(**selected(query | {"experiment": experiment}, project, at))
    form = wanted_form(suffix, _FORMS)
    return answer_to(question, project, form, _RENDERERS, part_asked(query, SweetSpot, form))
