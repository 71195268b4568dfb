"""Comparisons: the gap between two grids of a project."""

from __future__ import annotations

import uuid
from typing import Any

from flask import Response
from marshmallow import INCLUDE
from sqlalchemy import Connection

from registry.api import examples
from registry.api.cached_results import answer_to
from registry.api.context import enter, parts
from registry.api.filters import slice_of_request
from registry.api.query_schemas import ComparisonParameters
from registry.api.responses import of_values, wanted_form
from registry.api.smorest import API_PREFIX, Blueprint, ready, reply
from registry.grids.slices import Slice
from registry.operations.compare import revision_of
from registry.operations.query_names import check_slice_of_grid
from registry.query import ComparisonQuery
from registry.renderings.comparison import comparison_csv, comparison_markdown, comparison_text
from registry.results.comparison import Comparison

blp = Blueprint("comparisons", __name__, url_prefix=API_PREFIX, description="How far one grid is from another.")

_FORMS = ("json", "txt", "md", "csv")
_RENDERERS = of_values(Comparison, {"txt": comparison_text, "md": comparison_markdown, "csv": comparison_csv})
_DESCRIBED = blp.answers(
    reply(
        200,
        "The comparison, or why it failed",
        ready("Comparison"),
        example=examples.COMPARISON,
        forms=examples.COMPARISON_FORMS,
        headers=["ETag"],
    ),
    reply(202, "Pending"),
    reply(304, "Not modified"),
    public=True,
    parameters=["slice", "Prefer", "If-None-Match"],
)


@blp.get("/projects/<project>/comparisons")
@blp.doc(operationId="getComparison")
@blp.arguments(ComparisonParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def read_comparison(query: dict[str, Any], project: str) -> Response:
    """Compare two grids

    Contender less baseline, on the cells that both have. Without revisions the current ones are compared: an answer
    for older ones is never given in their place. `confounded` says that more than one of model, benchmark, variant and
    metric differs. Computed when it is first asked (`202`, `Prefer: wait=10` waits) and kept.
    """
    return _answer(query, project, None)


@blp.get("/projects/<project>/comparisons.<any(json,txt,md,csv):suffix>")
@blp.doc(operationId="getComparisonAs")
@blp.arguments(ComparisonParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def read_comparison_as(query: dict[str, Any], project: str, suffix: str) -> Response:
    """Compare two grids, in the form that the suffix names"""
    return _answer(query, project, suffix)


def _answer(query: dict[str, Any], project: str, suffix: str | None) -> Response:
    with parts().database.reading() as connection:
        wanted = slice_of_request(query, ComparisonParameters)
        question = comparison_asked(connection, enter(connection, project, "reader").project_id, query, wanted)
    return answer_to(question, project, wanted_form(suffix, _FORMS), _RENDERERS)


def comparison_asked(
    connection: Connection, project_id: uuid.UUID, query: dict[str, Any], wanted: Slice = ()
) -> ComparisonQuery:
    """The question in a query, about the revisions that are current where it names none; `Invalid` when one of the
    grids has nothing of the slice."""
    baseline, contender = uuid.UUID(query["baseline"]), uuid.UUID(query["contender"])
    question = ComparisonQuery(
        "",
        "",
        at=wanted,
        baseline=str(baseline),
        baseline_revision=revision_of(connection, project_id, baseline, query.get("baseline_revision")),
        contender=str(contender),
        contender_revision=revision_of(connection, project_id, contender, query.get("contender_revision")),
        alpha=query["alpha"],
    )
    if wanted:
        check_slice_of_grid(connection, baseline, question.baseline_revision, wanted, "the baseline")
        check_slice_of_grid(connection, contender, question.contender_revision, wanted, "the contender")
    return question
