"""Routes of projects: the projects themselves, their tokens, and what people wrote about their experiments."""

import uuid
from typing import Any

from flask import Response, request
from sqlalchemy import Connection

from registry.api import examples, serializers
from registry.api.context import actor, caller, entered, parts, project_for
from registry.api.idempotency import idempotent_write, made, written
from registry.api.paging import listed, page
from registry.api.problems import registry_error
from registry.api.responses import json_answer, known_tags
from registry.api.schemas import (
    ByIdParameters,
    DeletedProjectParameters,
    ExperimentChange,
    ProjectChange,
    ProjectIn,
    ProjectsParameters,
    TokenIn,
)
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.errors import Conflict, PreconditionFailed, Unauthenticated
from registry.grids.protocol import Rules
from registry.operations import acts, auth, projects
from registry.operations.amend import changed_labels, told_changes
from registry.operations.audit_log import record
from registry.operations.auth import authorize, own_token
from registry.operations.experiments import describe_experiment, find_experiment, set_protocol_rules

blp = Blueprint("projects", "Who owns results; the boundary of access.")


@blp.post("/projects", operation="createProject")
@blp.arguments(ProjectIn, example=examples.PROJECT_IN)
@blp.answers(reply(201, "Created", "Project", headers=["Location", "Idempotent-Replayed"]))
def make_project(sent: dict[str, Any]) -> Response:
    """Create a project

    Needs an administrator's token for every project.
    """

    def make(connection: Connection) -> tuple[Any, Response]:
        row = acts.create_project(connection, actor(connection), **sent)
        place = f"{API_PREFIX}/projects/{row.slug}"
        return row, json_answer(serializers.project(row), status=201, Location=place)

    return made(sent["slug"], make)


@blp.get("/projects", operation="listProjects")
@blp.arguments(ProjectsParameters, location="query")
@blp.answers(reply(200, "A page of projects", "Projects", headers=["Link"]), public=True)
def list_projects(query: dict[str, Any]) -> Response:
    """List the projects that you may see

    By slug: the public ones, and those that your token is for.
    """
    after, limit = query.get("cursor"), query["limit"] + 1
    with parts().database.reading() as connection:
        who = caller(connection)
        if query["deleted"] == "exclude":
            rows = projects.list_projects(connection, who, after, limit)
        elif who.is_anyone:
            raise Unauthenticated("Deleted projects are listed for their administrators: send a token.")
        else:
            rows = projects.list_administered(connection, who, after, limit, deleted=True)
    return page(rows, query["limit"], serializers.project, lambda row: str(row.slug))


@blp.get("/projects/<project>", operation="getProject")
@blp.answers(reply(200, "The project", "Project", headers=["ETag"]), public=True, parameters=["If-None-Match"])
def read_project(project: str) -> Response:
    """Read a project

    A private one only with a token for it: 404 without.
    """
    row = project_for(project, "reader")
    return json_answer(serializers.project(row), tag=_tag(row))


def _tag(row: Any) -> str:
    return f"{row.updated_at:%Y%m%d%H%M%S%f}"


def _expect(connection: Connection, project_id: uuid.UUID) -> Any:
    """Hold the project and return its row; `PreconditionFailed` when `If-Match` does not allow what it is now."""
    row = projects.lock_project(connection, project_id)
    if "If-Match" in request.headers and not {"*", _tag(row)} & set(known_tags("If-Match")):
        raise PreconditionFailed("The project has changed; read it again.")
    return row


@blp.patch("/projects/<project>", operation="updateProject")
@blp.arguments(ProjectChange, example={"visibility": "public"})
@blp.answers(reply(200, "The changed project", "Project", headers=["ETag"]), parameters=["If-Match"])
@idempotent_write("admin")
def change_project(connection: Connection, home: Any, changes: dict[str, Any], project: str) -> Response:
    """Change a project's name, visibility, description or labels

    Labels are set and taken away by name. Its slug stays. Needs the role admin.
    """
    before, values = _expect(connection, home.id), dict(changes)
    if "labels" in changes:
        values["labels"] = changed_labels(before.labels, changes["labels"], parts().settings.max_labels)
    row = acts.update_project(connection, actor(connection), home.id, values, told_changes(changes))
    return json_answer(serializers.project(row), ETag=f'"{_tag(row)}"')


@blp.delete("/projects/<project>", operation="deleteProject")
@blp.arguments(DeletedProjectParameters, location="query")
@blp.answers(reply(204, "Deleted"), parameters=["If-Match"])
@idempotent_write("admin")
def delete_project(connection: Connection, row: Any, query: dict[str, Any], project: str) -> Response:
    """Delete a project

    It and all in it answer 404 from now on, until it is restored. 409 where it holds grids, unless `cascade` says that
    they go with it. Its slug stays taken until an operator purges it. Needs the role admin.
    """
    _expect(connection, row.id)
    acts.delete_project(connection, actor(connection), row, cascade=query["cascade"])
    return Response(status=204)


@blp.post("/projects/<project>/restore", operation="restoreProject")
@blp.answers(reply(200, "The project", "Project"))
def restore_project(project: str) -> Response:
    """Restore a deleted project

    With all that it held; one that is not deleted stays as it is. A project that was purged is gone for good. Needs the
    role admin.
    """

    def home(connection: Connection) -> Any:
        row = projects.find_restorable(connection, project)
        authorize(caller(connection), row, "admin")
        return row

    def write(connection: Connection, row: Any) -> Response:
        return json_answer(serializers.project(acts.restore_project(connection, actor(connection), row)))

    return written(home, write, needs="admin")


def _without_secret(made: Response) -> Response:
    place = made.headers["Location"]
    detail = f"The token {place.rpartition('/')[2]} was already made by this key. Its secret was shown then, once."
    return registry_error(Conflict(detail), Location=place)


@blp.post("/projects/<project>/tokens", operation="createToken")
@blp.arguments(TokenIn, example=examples.TOKEN_IN)
@blp.answers(reply(201, "Created; the secret is shown this once", "TokenSecret", headers=["Location"]))
@idempotent_write("admin", kept=_without_secret)
def make_token(connection: Connection, home: Any, sent: dict[str, Any], project: str) -> Response:
    """Create a token for a project

    A repetition with the same `Idempotency-Key` makes none. It is answered 409 with the `Location` of the token that
    was made, whose secret is kept nowhere: if that answer was lost, revoke the token and make another.
    """
    days = sent["days"] or parts().settings.token_days
    row, secret = acts.create_token(connection, actor(connection), home.id, **sent | {"days": days})
    place = f"{API_PREFIX}/projects/{project}/tokens/{row.id}"
    return json_answer(serializers.token(row) | {"token": secret}, status=201, Location=place)


@blp.get("/projects/<project>/tokens", operation="listTokens")
@blp.arguments(ByIdParameters, location="query")
@blp.answers(reply(200, "A page of tokens, without secrets", "Tokens", headers=["Link"]))
def list_tokens(query: dict[str, Any], project: str) -> Response:
    """List a project's tokens

    The oldest first, without those that were revoked. Needs the role admin.
    """
    return listed(project, query, auth.list_tokens, serializers.token, role="admin")


@blp.delete("/projects/<project>/tokens/<uuid:token_id>", operation="revokeToken")
@blp.answers(reply(204, "Revoked"))
@idempotent_write("admin")
def revoke_token(connection: Connection, row: Any, project: str, token_id: uuid.UUID) -> Response:
    """Revoke a token at once

    Requests with it are answered 401 from now on. Needs the role admin.
    """
    acts.revoke_token(connection, actor(connection), row.id, token_id)
    return Response(status=204)


identity_blp = Blueprint("identity", "Who is calling.")


@identity_blp.get("/whoami", operation="whoami")
@identity_blp.answers(reply(200, "The token that was sent, without its secret", "Identity"))
def whoami() -> Response:
    """Read the token that is sent

    Its name, its role, the project that it is for (null: all of them) and when it expires. 401 without a token.
    """
    with parts().database.reading() as connection:
        return json_answer(serializers.identity(own_token(connection, caller(connection))))


experiments_blp = Blueprint("experiments", "What experiments are, in words.")


@experiments_blp.get("/projects/<project>/experiments/<path:experiment>", operation="getExperiment")
@experiments_blp.answers(
    reply(200, "The experiment", "Experiment", headers=["ETag"]), public=True, parameters=["If-None-Match"]
)
def read_experiment(project: str, experiment: str) -> Response:
    """Read an experiment

    What people wrote about it, and how much it holds. An alias finds the experiment that it stands for. 404 for one
    that has no grid and that nothing was written about.
    """
    with entered(project) as (connection, row):
        found = find_experiment(connection, row.id, experiment)
    return json_answer(serializers.experiment(found, row.slug), tag=found.etag)


@experiments_blp.patch("/projects/<project>/experiments/<path:experiment>", operation="updateExperiment")
@experiments_blp.arguments(ExperimentChange, example=examples.EXPERIMENT_CHANGE)
@experiments_blp.answers(reply(200, "The experiment", "Experiment", headers=["ETag"]), parameters=["If-Match"])
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
