"""Experiments: what can be asked about all of their grids together."""

from __future__ import annotations

from typing import Any

from flask import Response
from marshmallow import INCLUDE

from registry.api import examples
from registry.api.cached_results import answer_to
from registry.api.filters import slice_of_request
from registry.api.query_schemas import SweetSpotParameters
from registry.api.responses import of_values, wanted_form
from registry.api.smorest import API_PREFIX, Blueprint, ready, reply
from registry.query import SweetSpotQuery
from registry.renderings.sweet_spot import sweet_spot_csv, sweet_spot_markdown, sweet_spot_text
from registry.results.sweet_spot import SweetSpot

blp = Blueprint("experiments", __name__, url_prefix=API_PREFIX, description="All grids of an experiment together.")

_FORMS = ("json", "txt", "md", "csv")
_RENDERERS = of_values(SweetSpot, {"txt": sweet_spot_text, "md": sweet_spot_markdown, "csv": sweet_spot_csv})
_DESCRIBED = blp.answers(
    reply(
        200,
        "The sweet spot, or why there is none",
        ready("SweetSpot"),
        example=examples.SWEET_SPOT,
        forms=examples.SWEET_SPOT_FORMS,
        headers=["ETag"],
    ),
    reply(202, "Pending"),
    reply(304, "Not modified"),
    public=True,
    parameters=["slice", "Prefer", "If-None-Match"],
)


@blp.get("/projects/<project>/experiments/<path:experiment>/sweet-spot")
@blp.doc(operationId="getSweetSpot")
@blp.arguments(SweetSpotParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def read_sweet_spot(query: dict[str, Any], project: str, experiment: str) -> Response:
    """Find the coordinate that serves several grids

    By mean rank, mean z, mean and minimax regret, with the Pareto set, the agreement of the peaks and what chance
    would do; for each axis the same for its levels. On the cells that all of the grids have.
    """
    return _answer(query, project, experiment, None)


@blp.get("/projects/<project>/experiments/<path:experiment>/sweet-spot.<any(json,txt,md,csv):suffix>")
@blp.doc(operationId="getSweetSpotAs")
@blp.arguments(SweetSpotParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def read_sweet_spot_as(query: dict[str, Any], project: str, experiment: str, suffix: str) -> Response:
    """Find the sweet spot, in the form that the suffix names"""
    return _answer(query, project, experiment, suffix)


def _answer(query: dict[str, Any], project: str, experiment: str, suffix: str | None) -> Response:
    names = {kind: tuple(sorted(set(query[kind]))) for kind in ("benchmark", "model", "variant")}
    question = SweetSpotQuery(experiment, query["metric"], **names, at=slice_of_request(query, SweetSpotParameters))
    return answer_to(question, project, wanted_form(suffix, _FORMS), _RENDERERS)
