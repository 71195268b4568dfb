"""Route of tables: means, bests and counts of cells, grouped by any dimensions of the grids of an experiment."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Response
from marshmallow import ValidationError, validates_schema

from registry.api.answers import answer_to
from registry.api.charts import PICTURES, pictures
from registry.api.fields import Choice, Dimensions, Name, Share
from registry.api.responses import of_values, wanted_form
from registry.api.schemas import (
    SelectedParameters,
    SharedSlotsParameters,
    about,
)
from registry.api.selections import selected, slice_of_request
from registry.api.smorest import Blueprint
from registry.grids.slices import Slice
from registry.query import REDUCTIONS, SLOT_POLICIES, SORTS, AggregatesQuery
from registry.renderings.aggregates import aggregates_csv, page
from registry.renderings.aggregates_picture import aggregates_svg, aggregates_vega
from registry.renderings.sheet import forms
from registry.results.aggregates import Aggregates

_DIMENSIONS = "`benchmark`, `model`, `variant` or `axis:<name>`; repeated, or with commas between them."


class AggregatesParameters(SelectedParameters, SharedSlotsParameters):
    group_by = Dimensions(
        3,
        required=True,
        metadata=about(f"One to three dimensions whose levels make the entries. {_DIMENSIONS}", ["model"]),
    )
    over = Dimensions(
        5,
        metadata=about(
            "Dimensions over whose levels each entry is averaged, every level with the same weight; `benchmark` if not"
            f" given, unless it is grouped by. {_DIMENSIONS}",
            ["benchmark"],
        ),
    )
    value = Choice(
        *REDUCTIONS,
        load_default="mean",
        metadata=about(
            "How all other dimensions are reduced first, within each level of `over`: the mean of the cells, the best"
            " in the metric's direction, or the number of measured ones."
        ),
    )
    missing = Choice(
        *SLOT_POLICIES,
        metadata=about(
            "Which slots count: a slot is a combination of levels of the dimensions that are not grouped by."
            " `matched`: those that every entry has, so that entries are comparable. `available`: each entry's own;"
            " a warning names the entries that lack some. If not given: matched, but available for counts."
        ),
    )
    alpha = Share(load_default=0.05, metadata=about("The level of tests; intervals have the level 1 - alpha."))
    sort = Name(
        metadata=about(
            "The order of rows that are names: `mean`, that over the columns; `name`; or a column, by its level. The"
            " better is first. If not given: `mean`, but `name` for counts by columns and for three dimensions."
        )
    )

    @validates_schema
    def sorted_by(self, data: Any, **_options: Any) -> None:
        sort = data.get("sort", SORTS[1])
        if sort != SORTS[1] and (reason := unsorted(data.get("group_by", ()), data.get("value"), sort)):
            raise ValidationError(reason, "sort")

    @validates_schema
    def apart(self, data: Any, **_options: Any) -> None:
        both = [one for one in data.get("over", ()) if one in data.get("group_by", ())]
        if both:
            raise ValidationError(f'"{both[0]}" is grouped by already', "over")


def unsorted(group_by: Sequence[str], value: str | None, sort: str) -> str | None:
    """Why the rows of a table are in no order but that of their names; or None."""
    if not group_by:
        return None
    if group_by[0].startswith("axis:"):
        return "is of rows that are names; levels of an axis have an order of their own"
    if len(group_by) > 2 or (len(group_by) == 1 and sort != SORTS[0]):
        return "a column is of a table of two dimensions" if sort != SORTS[0] else "is of one or two dimensions"
    if value == "count" and group_by[1:] and sort == SORTS[0]:
        return "is of means and bests; numbers of cells have no mean over columns"
    return None


blp = Blueprint("aggregates", "Tables of models by benchmarks, and others.")

_FORMS = ("json", "txt", "md", "csv", "tex", *PICTURES)
_RENDERERS = of_values(
    Aggregates,
    {
        **forms(page),
        "csv": aggregates_csv,
        **pictures(Aggregates, aggregates_svg, aggregates_vega),
    },
)


@blp.in_forms(
    "/projects/<project>/aggregates",
    "getAggregates",
    _FORMS,
    AggregatesParameters,
    "The table, or why there is none",
    "Aggregates",
    parameters=["slice"],
    computed=True,
)
def read_aggregates(query: dict[str, Any], project: str, suffix: str | None = None) -> Response:
    """Tabulate means, bests or counts

    `group_by=model,benchmark` is the table of models by benchmarks; `group_by=benchmark&over=model` says how hard the
    benchmarks are; `group_by=axis:Ratio,axis:Window` averages each cell over the benchmarks. Nothing that was not
    measured has a value, and by default entries are compared on the slots that all of them have; the answer says what
    that leaves out. Rows that are names begin with their mean over the columns and are in its order, the best first.
    Grids that say `derived` are not counted.
    """
    question = aggregates_query(query, project, slice_of_request(query, AggregatesParameters))
    return answer_to(question, project, wanted_form(suffix, _FORMS), _RENDERERS)


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
