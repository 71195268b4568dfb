"""Verdicts that baselines gave by themselves."""

from __future__ import annotations

from typing import Any

from flask import Response

from registry.api import examples
from registry.api.baseline_schemas import VerdictsParameters
from registry.api.context import enter, parts
from registry.api.paging import page
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.operations.alerts import list_verdicts, verdict_of
from registry.operations.baselines import find_baseline
from registry.results.codec import to_document

blp = Blueprint("verdicts", __name__, url_prefix=API_PREFIX, description="What baselines found by themselves.")


@blp.get("/projects/<project>/baselines/<baseline>/verdicts")
@blp.doc(operationId="listVerdicts")
@blp.arguments(VerdictsParameters, location="query")
@blp.answers(
    reply(200, "A page of verdicts", "StoredVerdicts", example=examples.STORED_VERDICTS, headers=["Link"]), public=True
)
def list_all(query: dict[str, Any], project: str, baseline: str) -> Response:
    """List the verdicts of a baseline

    The last first. A contender is judged when the baseline is set and when a grid of either side has changed since its
    last verdict; a verdict never changes.
    """
    before = int(query["cursor"]) if "cursor" in query else None
    with parts().database.reading() as connection:
        row = find_baseline(connection, enter(connection, project, "reader").id, baseline)
        found = list_verdicts(connection, row, query.get("contender"), before, query["limit"] + 1)
    return page(found, query["limit"], lambda one: to_document(verdict_of(one)), lambda one: str(one.number))
