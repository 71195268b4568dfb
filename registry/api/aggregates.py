"""Tables: means, bests and counts of cells, grouped by any dimensions of the grids of an experiment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response
from marshmallow import INCLUDE

from registry.api import examples
from registry.api.cached_results import answer_to
from registry.api.filters import slice_of_request
from registry.api.query_schemas import AggregatesParameters, unsorted
from registry.api.responses import MEDIA, dumps, of_values, wanted_form
from registry.api.selections import selected
from registry.api.smorest import API_PREFIX, Blueprint, ready, reply
from registry.grids.slices import Slice
from registry.query import SORTS, AggregatesQuery
from registry.renderings.aggregates import aggregates_csv, aggregates_latex, aggregates_markdown, aggregates_text
from registry.renderings.aggregates_picture import aggregates_png, aggregates_svg, aggregates_vega
from registry.results.aggregates import Aggregates

blp = Blueprint(
    "aggregates", __name__, url_prefix=API_PREFIX, description="Tables of models by benchmarks, and others."
)

_FORMS = ("json", "txt", "md", "csv", "tex", "svg", "png", "vl.json")
_RENDERERS = of_values(
    Aggregates,
    {
        "txt": aggregates_text,
        "md": aggregates_markdown,
        "csv": aggregates_csv,
        "tex": aggregates_latex,
        "svg": aggregates_svg,
        "png": aggregates_png,
        "vl.json": lambda found: dumps(aggregates_vega(found)),
    },
)
_DESCRIBED = blp.answers(
    reply(
        200,
        "The table, or why there is none",
        ready("Aggregates"),
        example=examples.AGGREGATES,
        forms=examples.AGGREGATES_FORMS,
        media=[MEDIA[form] for form in ("svg", "png", "vl.json")],
        headers=["ETag"],
    ),
    reply(202, "Pending"),
    reply(304, "Not modified"),
    public=True,
    parameters=["slice", "Prefer", "If-None-Match"],
)


@blp.get("/projects/<project>/aggregates")
@blp.doc(operationId="getAggregates")
@blp.arguments(AggregatesParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def read_aggregates(query: dict[str, Any], project: str) -> Response:
    """Tabulate means, bests or counts

    `group_by=model,benchmark` is the table of models by benchmarks; `group_by=benchmark&over=model` says how hard the
    benchmarks are; `group_by=axis:Ratio,axis:Window` averages each cell over the benchmarks. Nothing that was not
    measured has a value, and by default entries are compared on the slots that all of them have; the answer says what
    that leaves out, and which entries and levels cost the most. Rows that are names begin with their mean over the
    columns and are in its order, the best first. Grids that say `derived` are not counted.
    """
    return _answer(query, project, None)


@blp.get("/projects/<project>/aggregates.<any(json,txt,md,csv,tex,svg,png,vl.json):suffix>")
@blp.doc(operationId="getAggregatesAs")
@blp.arguments(AggregatesParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def read_aggregates_as(query: dict[str, Any], project: str, suffix: str) -> Response:
    """Tabulate, in the form that the suffix names"""
    return _answer(query, project, suffix)


def aggregates_query(query: Mapping[str, Any], project: str, at: Slice) -> AggregatesQuery:
    """The query with what was not asked for as it is understood."""
    group_by = tuple(query["group_by"])
    usual = () if "benchmark" in group_by else ("benchmark",)
    return AggregatesQuery(
        **selected(query, project, at),
        group_by=group_by,
        over=tuple(sorted(query.get("over", usual))),
        value=query["value"],
        missing=query.get("missing", "available" if query["value"] == "count" else "matched"),
        alpha=query["alpha"],
        sort=query.get("sort", SORTS[0] if unsorted(group_by, query["value"], SORTS[0]) is None else SORTS[1]),
    )


def _answer(query: dict[str, Any], project: str, suffix: str | None) -> Response:
    question = aggregates_query(query, project, slice_of_request(query, AggregatesParameters))
    return answer_to(question, project, wanted_form(suffix, _FORMS), _RENDERERS)
