"""Protocols: which of their keys bind in an experiment."""

from __future__ import annotations

from typing import Any

from flask import Response, request
from sqlalchemy import Connection

from registry.api import examples
from registry.api.audit_log import actor
from registry.api.context import enter, parts
from registry.api.experiments import blp
from registry.api.idempotency import idempotent_write
from registry.api.responses import json_answer, known_tags
from registry.api.schemas import Empty, ProtocolRulesIn
from registry.api.smorest import reply
from registry.grids.protocol import Rules
from registry.operations import acts
from registry.operations.experiments import ExperimentNote, find_experiment


@blp.get("/projects/<project>/experiments/<path:experiment>/protocol")
@blp.doc(operationId="getProtocolRules")
@blp.arguments(Empty, location="query")
@blp.answers(
    reply(200, "The rules", "ProtocolRules", example=examples.PROTOCOL_RULES, headers=["ETag"]),
    reply(304, "Not modified"),
    public=True,
    parameters=["If-None-Match"],
)
def read_rules(_query: dict[str, Any], project: str, experiment: str) -> Response:
    """Read which keys of protocols bind

    Where nothing was declared no key does: what differs is warned of.
    """
    with parts().database.reading() as connection:
        found = find_experiment(connection, enter(connection, project, "reader").id, experiment)
    return _answer(found)


@blp.put("/projects/<project>/experiments/<path:experiment>/protocol")
@blp.doc(operationId="setProtocolRules")
@blp.arguments(ProtocolRulesIn, example=examples.PROTOCOL_RULES_IN)
@blp.answers(
    reply(200, "The rules", "ProtocolRules", example=examples.PROTOCOL_RULES, headers=["ETag"]),
    errors=[400, 409, 412, 415],
    parameters=["Idempotency-Key", "If-Match"],
)
@idempotent_write()
def set_rules(connection: Connection, row: Any, sent: dict[str, Any], project: str, experiment: str) -> Response:
    """Set which keys of protocols bind

    Grids whose protocols differ in a binding key are not compared. Every ranking, comparison and table of the
    experiment is computed again.
    """
    tags = known_tags("If-Match")
    expected = None if "If-Match" not in request.headers or "*" in tags else tags
    rules = Rules(sent["binding"], sent["free"], sent["required"])
    return _answer(acts.set_protocol_rules(connection, actor(connection), row.id, experiment, rules, expected=expected))


def _answer(found: ExperimentNote) -> Response:
    return json_answer({"experiment": found.name, **found.rules.document()}, tag=found.rules.tag)
