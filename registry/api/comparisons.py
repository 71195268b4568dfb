"""Comparisons: the gap between two grids of a project, by their ids, or between two models by name."""

from __future__ import annotations

import uuid
from typing import Any

from flask import Response
from marshmallow import INCLUDE
from sqlalchemy import Connection

from registry.api import examples
from registry.api.cached_results import answer_to
from registry.api.charts import PICTURES, forests
from registry.api.context import enter, parts
from registry.api.filters import slice_of_request
from registry.api.partial import part_asked
from registry.api.query_schemas import BENCHMARKS_OF_SIDES, EitherComparisonParameters
from registry.api.responses import MEDIA, of_values, wanted_form
from registry.api.selections import selected
from registry.api.smorest import API_PREFIX, Blueprint, ready, reply
from registry.errors import NotAcceptable
from registry.grids.slices import Slice
from registry.operations.compare import revision_of
from registry.operations.find import Filters, the_only_grid
from registry.operations.query_names import check_slice_of_grid
from registry.query import SIDES, ComparisonQuery, ModelComparisonQuery, model_comparison
from registry.renderings.comparison import comparison_csv, comparison_markdown, comparison_text
from registry.renderings.comparison_of_models import (
    model_comparison_csv,
    model_comparison_markdown,
    model_comparison_text,
)
from registry.renderings.forest import forest_of_models
from registry.results.comparison import Comparison
from registry.results.model_comparison import ModelComparison

blp = Blueprint(
    "comparisons", __name__, url_prefix=API_PREFIX, description="How far one grid, or one model, is from another."
)

_FORMS = ("json", "txt", "md", "csv")
_FORMS_OF_MODELS = (*_FORMS, *PICTURES)
_RENDERERS = of_values(Comparison, {"txt": comparison_text, "md": comparison_markdown, "csv": comparison_csv})
_RENDERERS_OF_MODELS = of_values(
    ModelComparison,
    {
        "txt": model_comparison_text,
        "md": model_comparison_markdown,
        "csv": model_comparison_csv,
        **forests(forest_of_models),
    },
)
_DESCRIBED = blp.answers(
    reply(
        200,
        "The comparison, or why it failed; by names, that of the models",
        {"anyOf": [*ready("Comparison")["oneOf"], {"$ref": "#/components/schemas/ModelComparison"}]},
        example=examples.COMPARISON,
        forms=examples.COMPARISON_FORMS,
        media=[MEDIA[form] for form in PICTURES],
        headers=["ETag"],
    ),
    reply(202, "Pending"),
    reply(304, "Not modified"),
    errors=[409],
    public=True,
    parameters=["slice", "Prefer", "If-None-Match"],
)


@blp.get("/projects/<project>/comparisons")
@blp.doc(operationId="getComparison")
@blp.arguments(EitherComparisonParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def read_comparison(query: dict[str, Any], project: str) -> Response:
    """Compare two grids, or two models

    Contender less baseline, on the cells that both have. By ids: two grids; without revisions the current ones, and an
    answer for older ones is never given in their place. `confounded` says that more than one of model, benchmark,
    variant and metric differs. By names (`experiment`, `metric`, `baseline_model`, `contender_model`): `by_benchmark`
    has the comparison of both models' grids on every benchmark, `whole` the pair of the ranking of these two over all
    of them. Each grid is compared with that of the same variant; of several, one is chosen by `variant`, or one of
    each model by `baseline_variant` and `contender_variant`, by which variants of one model are compared too. With
    `baseline_benchmark` and `contender_benchmark` two grids are compared, as by ids. Computed when it is first asked
    (`202`, `Prefer: wait=10` waits) and kept.
    """
    return _answer(query, project, None)


@blp.get("/projects/<project>/comparisons.<any(json,txt,md,csv,svg,png,vl.json):suffix>")
@blp.doc(operationId="getComparisonAs")
@blp.arguments(EitherComparisonParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def read_comparison_as(query: dict[str, Any], project: str, suffix: str) -> Response:
    """Compare two grids, or two models, in the form that the suffix names"""
    return _answer(query, project, suffix)


def _answer(query: dict[str, Any], project: str, suffix: str | None) -> Response:
    wanted = slice_of_request(query, EitherComparisonParameters)
    of_models = "experiment" in query and BENCHMARKS_OF_SIDES[0] not in query
    form = wanted_form(suffix, _FORMS_OF_MODELS if of_models else _FORMS)
    if of_models:
        part = part_asked(query, ModelComparison, form)
        return answer_to(models_asked(query, project, wanted), project, form, _RENDERERS_OF_MODELS, part)
    if form not in _FORMS:
        raise NotAcceptable("Two models are drawn, and not two grids; name the models (contender_model=…).")
    part = part_asked(query, Comparison, form)
    with parts().database.reading() as connection:
        project_id = enter(connection, project, "reader").project_id
        grids = query if "baseline" in query else query | _grids_named(connection, project_id, query)
        question = comparison_asked(connection, project_id, grids, wanted)
    return answer_to(question, project, form, _RENDERERS, part)


def _grids_named(connection: Connection, project_id: uuid.UUID, query: dict[str, Any]) -> dict[str, str]:
    """The ids of the two grids that the names of both sides lead to; `NotFound` or `Conflict` where they do not."""
    found = {}
    for side in SIDES:
        variant = [query[f"{side}_variant"]] if f"{side}_variant" in query else query["variant"]
        benchmark, model = [query[f"{side}_benchmark"]], [query[f"{side}_model"]]
        filters = Filters([query["experiment"]], benchmark, model, variant, [query["metric"]])
        found[side] = str(the_only_grid(connection, project_id, filters))
    return found


def models_asked(query: dict[str, Any], project: str, wanted: Slice = ()) -> ModelComparisonQuery:
    """The question about two models in a query; `Invalid` when there is no suite of its name."""
    baseline, contender = ((query[f"{side}_model"], query.get(f"{side}_variant")) for side in SIDES)
    return model_comparison(
        baseline,
        contender,
        alpha=query["alpha"],
        **selected(query, project, wanted),
    )


def comparison_asked(
    connection: Connection, project_id: uuid.UUID, query: dict[str, Any], wanted: Slice = ()
) -> ComparisonQuery:
    """The question in a query, about the revisions that are current where it names none; `Invalid` when one of the
    grids has nothing of the slice."""
    baseline, contender = uuid.UUID(query["baseline"]), uuid.UUID(query["contender"])
    mine = revision_of(connection, project_id, baseline, query.get("baseline_revision"))
    theirs = revision_of(connection, project_id, contender, query.get("contender_revision"))
    question = ComparisonQuery(
        "",
        "",
        at=wanted,
        baseline=str(baseline),
        baseline_revision=mine[0],
        contender=str(contender),
        contender_revision=theirs[0],
        alpha=query["alpha"],
        baseline_items=mine[1],
        contender_items=theirs[1],
    )
    if wanted:
        check_slice_of_grid(connection, baseline, question.baseline_revision, wanted, "the baseline")
        check_slice_of_grid(connection, contender, question.contender_revision, wanted, "the contender")
    return question
