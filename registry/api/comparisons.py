"""Route of comparisons: the gap between two grids of a project, by their ids, or between two models by name."""

import uuid
from typing import Any

from flask import Response
from marshmallow import Schema, ValidationError, validates_schema
from sqlalchemy import Connection

from registry.api.answers import answer_once, answer_to, part_asked
from registry.api.charts import PICTURES, forests
from registry.api.context import asks, authorize_body, enter, parts
from registry.api.fields import Matching, Name, Share
from registry.api.publication import OF_A_GRID_SENT, read_grid
from registry.api.request_body import sent_json
from registry.api.responses import of_values, wanted_form
from registry.api.schemas import (
    GRID_ID,
    OfOthersParameters,
    about,
    fields_wanted,
    number_of_revision,
)
from registry.api.selections import selected, slice_of_request
from registry.api.smorest import Blueprint, ready, reply
from registry.errors import Fault, Invalid
from registry.grids.slices import Slice
from registry.operations.compare import revision_of, unpublished
from registry.operations.query_names import check_slice_of_grid
from registry.query import (
    SIDES,
    ComparisonQuery,
    ModelComparisonQuery,
    model_comparison,
)
from registry.renderings import comparison, comparison_of_models
from registry.renderings.charts.forest import forest_of_models
from registry.renderings.comparison import comparison_csv
from registry.renderings.comparison_of_models import model_comparison_csv
from registry.renderings.sheet import forms
from registry.results.comparison import Comparison, ModelComparison


def _grid(text: str, example: str, *, required: bool) -> Any:
    return Matching(GRID_ID, "must be the id of a grid", required=required, metadata=about(text, example))


class UnpublishedParameters(Schema):
    baseline = _grid("The grid that is subtracted.", "0193a1b2-0000-7000-8000-000000000001", required=True)
    baseline_revision = number_of_revision("The current one if not given.")
    alpha = Share(load_default=0.05, metadata=about("The level of tests; intervals have the level 1 - alpha."))


class ComparisonParameters(UnpublishedParameters):
    fields = fields_wanted()
    contender = _grid("The grid that it is subtracted from.", "0193a1b2-0000-7000-8000-000000000002", required=True)
    contender_revision = number_of_revision("The current one if not given.")


_OF_IDS = ("baseline", "contender", "baseline_revision", "contender_revision")
_OF_NAMES = ("experiment", "metric", "baseline_model", "contender_model")
VARIANTS_OF_SIDES = ("baseline_variant", "contender_variant")
_MORE_OF_NAMES = (*VARIANTS_OF_SIDES, "benchmark", "variant", "suite", "as_of")


class EitherComparisonParameters(ComparisonParameters, OfOthersParameters):
    """A comparison of two grids by their ids, or of two models by name, which alone takes what narrows a selection."""

    baseline = _grid("The grid that is subtracted.", "0193a1b2-0000-7000-8000-000000000001", required=False)
    contender = _grid("The grid that it is subtracted from.", "0193a1b2-0000-7000-8000-000000000002", required=False)
    experiment = Name(metadata=about("In place of ids: compare models by name, in this experiment."))
    metric = Name(metadata=about("By name: the name of the metric."))
    baseline_model = Name(metadata=about("By name: the model that is subtracted."))
    contender_model = Name(metadata=about("By name: the model that it is subtracted from."))
    baseline_variant = Name(
        empty=True,
        metadata=about("By name: the baseline's variant; with that of the contender, or neither: the same of both."),
    )
    contender_variant = Name(empty=True, metadata=about("By name: the contender's variant."))

    @validates_schema
    def _check_way(self, data: dict[str, Any], **_options: Any) -> None:
        ids = [name for name in _OF_IDS if data.get(name) is not None]
        names = [name for name in (*_OF_NAMES, *_MORE_OF_NAMES) if data.get(name) not in (None, "", [])]
        names += [name for name in VARIANTS_OF_SIDES if data.get(name) == ""]
        if ids and names:
            raise ValidationError({name: [_MIXED] for name in names})
        needed = _OF_NAMES if names else _OF_IDS[:2]
        if absent := [name for name in needed if name not in data]:
            raise ValidationError({name: [_REQUIRED] for name in absent})
        self.check_variants(data)

    def check_variants(self, data: dict[str, Any]) -> None:
        """`ValidationError` where the variant of one side is given alone, or beside that of both."""
        given = [name for name in VARIANTS_OF_SIDES if name in data]
        if len(given) == 1:
            [other] = {*VARIANTS_OF_SIDES} - {*given}
            raise ValidationError(f"is needed with {given[0]}", other)
        if given and data["variant"]:
            raise ValidationError(f"is chosen by {' and '.join(given)}; give one or the other", "variant")


_REQUIRED = "Missing data for required field."
_MIXED = (
    "cannot be given with ids: compare two grids by baseline and contender, or two models by experiment, metric,"
    " baseline_model and contender_model"
)
blp = Blueprint("comparisons", "How far one grid, or one model, is from another.")

_FORMS = ("json", "txt", "md", "csv")
_FORMS_OF_MODELS = (*_FORMS, *PICTURES)
_RENDERERS = of_values(Comparison, {**forms(comparison.page), "csv": comparison_csv})
_RENDERERS_OF_MODELS = of_values(
    ModelComparison,
    {
        **forms(comparison_of_models.page),
        "csv": model_comparison_csv,
        **forests(ModelComparison, forest_of_models),
    },
)


@blp.in_forms(
    "/projects/<project>/comparisons",
    "getComparison",
    _FORMS_OF_MODELS,
    EitherComparisonParameters,
    "The comparison, or why it failed; by names, that of the models",
    {"anyOf": [*ready("Comparison")["oneOf"], {"$ref": "#/components/schemas/ModelComparison"}]},
    example="comparison",
    parameters=["slice"],
    computed=True,
)
def read_comparison(query: dict[str, Any], project: str, suffix: str | None = None) -> Response:
    """Compare two grids, or two models

    Contender less baseline, on the cells that both have. By ids: two grids; without revisions the current ones, and an
    answer for older ones is never given in their place. `confounded` says that more than one of model, benchmark,
    variant and metric differs. By names (`experiment`, `metric`, `baseline_model`, `contender_model`): `by_benchmark`
    has the comparison of both models' grids on every benchmark, `whole` the pair of the ranking of these two over all
    of them. Each grid is compared with that of the same variant; of several, one is chosen by `variant`, or one of
    each model by `baseline_variant` and `contender_variant`, by which variants of one model are compared too. Computed
    when it is first asked (`202`, `Prefer: wait=10` waits) and kept.
    """
    wanted = slice_of_request(query, EitherComparisonParameters)
    of_models = "experiment" in query
    form = wanted_form(suffix, _FORMS_OF_MODELS if of_models else _FORMS)
    if of_models:
        part = part_asked(query, ModelComparison, form)
        return answer_to(models_asked(query, project, wanted), project, form, _RENDERERS_OF_MODELS, part)
    with parts().database.reading() as connection:
        project_id = enter(connection, project, "reader").project_id
        if form not in _FORMS:
            raise Invalid([Fault("/baseline", "two grids are not drawn; name two models (contender_model=…)")])
        part = part_asked(query, Comparison, form)
        question = comparison_asked(connection, project_id, query, wanted)
    return answer_to(question, project, form, _RENDERERS, part)


@blp.post("/projects/<project>/comparisons", operation="compareGrid", writes=False)
@blp.arguments(UnpublishedParameters, location="query")
@blp.answers(
    reply(200, "The comparison, or why it failed", ready("Comparison"), example="comparison"),
    reply(202, "Pending"),
    **OF_A_GRID_SENT,
)
@asks
def compare_grid(query: dict[str, Any], project: str) -> Response:
    """Compare a grid that is not published with one that is

    The grid in the body is the contender; nothing is stored, and the comparison is forgotten once given.
    """
    authorize_body()
    content = unpublished(read_grid(sent_json(), parts().limits))
    baseline = query["baseline"]
    with parts().database.reading() as connection:
        project_id = enter(connection, project, "reader").id
        number, _ = revision_of(connection, project_id, uuid.UUID(baseline), query.get("baseline_revision"))
    question = ComparisonQuery(
        "", "", baseline=baseline, baseline_revision=number, alpha=query["alpha"], content=content
    )
    return answer_once(question, project, {"baseline": baseline, "baseline_revision": number})


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
