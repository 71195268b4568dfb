"""The noise floor: how much a value varies when nothing was changed."""

from __future__ import annotations

from typing import Any

from flask import Response
from marshmallow import INCLUDE

from registry.api.cached_results import answer_to
from registry.api.fields import Share
from registry.api.query_schemas import (
    SelectedParameters,
)
from registry.api.schemas import about
from registry.api.selections import selected, slice_of_request
from registry.api.smorest import Blueprint, ready, reply
from registry.query import RepeatNoiseQuery


class RepeatNoiseParameters(SelectedParameters):
    alpha = Share(load_default=0.05, metadata=about("The level of tests; intervals have the level 1 - alpha."))


blp = Blueprint("noise", "What a value varies by of itself.")


@blp.get("/projects/<project>/noise", operation="getNoise")
@blp.arguments(RepeatNoiseParameters, location="query", unknown=INCLUDE)
@blp.answers(
    reply(200, "The noise, or why nothing is known of it", ready("RepeatNoise"), example="noise", headers=["ETag"]),
    reply(202, "Pending"),
    public=True,
    parameters=["slice", "Prefer", "If-None-Match"],
)
def read_noise(query: dict[str, Any], project: str) -> Response:
    """Read the noise floor of an experiment

    By benchmark the spread between repeats of a cell, the one that their trials explain, and the ratio of variances.
    """
    at = slice_of_request(query, RepeatNoiseParameters)
    question = RepeatNoiseQuery(**selected(query, project, at), alpha=query["alpha"])
    return answer_to(question, project, "json", {})
