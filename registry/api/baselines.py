"""Baselines: what contenders are judged against, by name."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from flask import Response, request
from sqlalchemy import Connection

from registry.api import examples
from registry.api.audit_log import actor
from registry.api.baseline_schemas import NAME, NAME_RULE, BaselineIn, BaselineParameters
from registry.api.context import enter, parts
from registry.api.idempotency import idempotent_write
from registry.api.paging import page, read_text, write_text
from registry.api.responses import dumps, json_answer, known_tags
from registry.api.schemas import Empty, NamesParameters
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.errors import Fault, Invalid
from registry.operations import acts
from registry.operations.alerts import alerts_of
from registry.operations.baselines import Expect, find_baseline, list_baselines, pinned, tag_of, what_it_reaches
from registry.results.codec import from_document, to_document
from registry.results.gates import Baseline, Definition, Reachable
from registry.results.inputs import Warning

blp = Blueprint("baselines", __name__, url_prefix=API_PREFIX, description="What contenders are judged against.")


@blp.put("/projects/<project>/baselines/<baseline>")
@blp.doc(operationId="setBaseline")
@blp.arguments(BaselineIn, example=examples.BASELINE_IN)
@blp.answers(
    reply(200, "Changed, or as it was", "Baseline", example=examples.BASELINE, headers=["ETag"]),
    reply(201, "Created", "Baseline", example=examples.BASELINE, headers=["ETag"]),
    errors=[400, 409, 412, 415],
    parameters=["Idempotency-Key", "If-Match"],
)
@idempotent_write()
def set_baseline(connection: Connection, row: Any, sent: dict[str, Any], project: str, baseline: str) -> Response:
    """Set a baseline

    Another definition is a new version of the policy; verdicts name theirs. The answer says whether a contender with
    the same trials could pass, and what it takes; with `strict` a policy that cannot pass is refused.
    """
    if not re.fullmatch(NAME, baseline):
        raise Invalid([Fault("", f"the name of a baseline {NAME_RULE}")])
    found, is_new, reached = kept(connection, row.id, baseline, sent, _expected())
    answer = Response(dumps(document(found, reached)), 201 if is_new else 200, content_type="application/json")
    answer.headers["ETag"] = f'"{tag_of(found)}"'
    return answer


def kept(
    connection: Connection, project_id: uuid.UUID, name: str, sent: Mapping[str, Any], expect: Expect
) -> tuple[Any, bool, Reachable]:
    """Set a baseline to what was sent, as `BaselineIn` loads it: its row, whether it is new, and what it reaches."""
    definition = pinned(connection, project_id, _definition(sent))
    reached = what_it_reaches(connection, project_id, definition)
    if sent["strict"] and reached.can_pass is False:
        raise Invalid([Fault("/policy", warning.detail.removesuffix(".")) for warning in reached.warnings])
    found, is_new = acts.set_baseline(connection, actor(connection), project_id, name, to_document(definition), expect)
    return found, is_new, reached


def _definition(sent: Mapping[str, Any]) -> Definition:
    policy = dict(sent["policy"])
    policy.setdefault("per", "cell" if policy["kind"] == "no_cell_worse" else "overall")
    fields = ("experiment", "metric", "benchmarks", "variants", "subject")
    return from_document(Definition, {name: sent[name] for name in fields} | {"policy": policy})


def _expected() -> Expect:
    return known_tags("If-Match") if "If-Match" in request.headers else None


def document(row: Any, reached: Reachable | None = None, **more: Any) -> dict[str, Any]:
    """A baseline as it is served, with what was computed of it."""
    told = {"name": row.name, "policy_version": row.version, "updated_at": row.created_at.isoformat()}
    computed = {} if reached is None else asdict(reached)
    found: dict[str, Any] = to_document(from_document(Baseline, {**row.definition, **told, **computed, **more}))
    return found


@blp.get("/projects/<project>/baselines")
@blp.doc(operationId="listBaselines")
@blp.arguments(NamesParameters, location="query")
@blp.answers(reply(200, "A page of baselines", "Baselines", headers=["Link"]), public=True)
def list_all(query: dict[str, Any], project: str) -> Response:
    """List the baselines

    By name, without what is computed.
    """
    after = read_text(query["cursor"]) if "cursor" in query else None
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        found = list_baselines(connection, row.id, after, query["limit"] + 1)
    return page(found, query["limit"], document, lambda one: write_text(one.name))


@blp.get("/projects/<project>/baselines/<baseline>")
@blp.doc(operationId="getBaseline")
@blp.arguments(BaselineParameters, location="query")
@blp.answers(reply(200, "The baseline", "Baseline", example=examples.BASELINE, headers=["ETag"]), public=True)
def read_baseline(query: dict[str, Any], project: str, baseline: str) -> Response:
    """Read a baseline

    Whether a contender could pass is computed from the grids as they are now.
    """
    with parts().database.reading() as connection:
        project_id = enter(connection, project, "reader").id
        row = find_baseline(connection, project_id, baseline, query.get("policy_version"))
        going, precision = alerts_of(connection, row.id)
        more = {"alerts_open": going, "alert_precision": to_document(precision)}
        definition = from_document(Definition, row.definition)
        answer = json_answer(document(row, reached(connection, project_id, definition), **more))
    answer.headers["ETag"] = f'"{tag_of(row)}"'
    return answer


def reached(connection: Connection, project_id: uuid.UUID, definition: Definition) -> Reachable:
    """What the policy reaches; nothing, with the reason, where its grids are gone since."""
    try:
        return what_it_reaches(connection, project_id, definition)
    except Invalid as error:
        return Reachable(False, warnings=tuple(Warning("gone", f"{at[1:]}: {told}") for at, told in error.faults))


@blp.delete("/projects/<project>/baselines/<baseline>")
@blp.doc(operationId="deleteBaseline")
@blp.arguments(Empty, location="query")
@blp.answers(reply(204, "Deleted"), errors=[409, 412], parameters=["Idempotency-Key", "If-Match"])
@idempotent_write()
def delete_baseline(connection: Connection, row: Any, _query: dict[str, Any], project: str, baseline: str) -> Response:
    """Delete a baseline

    With its versions; the audit log keeps them.
    """
    acts.delete_baseline(connection, actor(connection), row.id, baseline, _expected())
    return Response(status=204)
