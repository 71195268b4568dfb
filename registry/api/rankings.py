"""Rankings: models, variants or the levels of an axis in order over the slots that they share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response
from marshmallow import INCLUDE

from registry.api import examples
from registry.api.cached_results import Part, answer_to
from registry.api.charts import PICTURES, forests
from registry.api.filters import slice_of_request
from registry.api.partial import part_asked
from registry.api.query_schemas import RANKING_PARTS, RankingParameters
from registry.api.responses import MEDIA, of_values, wanted_form
from registry.api.selections import selected
from registry.api.smorest import API_PREFIX, Blueprint, ready, reply
from registry.errors import Fault, Invalid
from registry.grids.slices import Slice
from registry.query import RankingQuery
from registry.renderings.forest import forest_of_ranking
from registry.renderings.ranking import by_benchmark_csv, ranking_csv, ranking_latex, ranking_markdown, ranking_text
from registry.results.ranking import Ranking

blp = Blueprint("rankings", __name__, url_prefix=API_PREFIX, description="Who is better, how surely, and over what.")

_FORMS = ("json", "txt", "md", "csv", "tex", *PICTURES)
_RENDERERS = of_values(
    Ranking,
    {
        "txt": ranking_text,
        "md": ranking_markdown,
        "csv": ranking_csv,
        "tex": ranking_latex,
        **forests(forest_of_ranking),
    },
    {"csv": ("pairs",)},
)
_OF_BENCHMARKS = of_values(Ranking, {"csv": by_benchmark_csv}, {"csv": ("pairs",)})
_DESCRIBED = blp.answers(
    reply(
        200,
        "The ranking, or why it failed",
        ready("Ranking"),
        example=examples.RANKING,
        forms=examples.RANKING_FORMS,
        media=[MEDIA[form] for form in PICTURES],
        headers=["ETag"],
    ),
    reply(202, "Pending"),
    reply(304, "Not modified"),
    public=True,
    parameters=["slice", "Prefer", "If-None-Match"],
)


@blp.get("/projects/<project>/rankings")
@blp.doc(operationId="getRanking")
@blp.arguments(RankingParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def read_ranking(query: dict[str, Any], project: str) -> Response:
    """Rank over shared slots

    The usual question (an experiment and a metric) is answered from a stored document; another is computed when it is
    first asked (`202`, `Prefer: wait=10` waits) and kept. An answer for old inputs is never given.
    """
    return _answer(query, project, None)


@blp.get("/projects/<project>/rankings.<any(json,txt,md,csv,tex,svg,png,vl.json):suffix>")
@blp.doc(operationId="getRankingAs")
@blp.arguments(RankingParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def read_ranking_as(query: dict[str, Any], project: str, suffix: str) -> Response:
    """Rank, in the form that the suffix names"""
    return _answer(query, project, suffix)


def ranking_asked(query: Mapping[str, Any], project: str, at: Slice) -> RankingQuery:
    """The question in these parameters."""
    own = ("by", "method", "missing", "alpha", "target", "pairs_of", "since")
    return RankingQuery(**selected(query, project, at), **{name: query[name] for name in own if name in query})


def _answer(query: dict[str, Any], project: str, suffix: str | None) -> Response:
    question = ranking_asked(query, project, slice_of_request(query, RankingParameters))
    form = wanted_form(suffix, _FORMS)
    fields = part_asked(query, Ranking, form)
    if query["part"] == RANKING_PARTS[0]:
        return answer_to(question, project, form, _RENDERERS, fields)
    if form != "csv":
        raise Invalid([Fault("/part", "is chosen of the CSV form alone; the other forms have all parts")])
    part = Part(f"-{query['part']}", lambda document: document)
    return answer_to(question, project, form, _OF_BENCHMARKS, part)
