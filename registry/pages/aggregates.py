"""The page of a table: models by benchmarks, or any other dimensions, and the question as a form."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import Response, redirect, request
from sqlalchemy import Connection

from registry.api.aggregates import aggregates_query
from registry.api.cached_results import ask
from registry.api.context import enter, parts
from registry.api.query_schemas import AggregatesParameters
from registry.errors import Fault, Invalid, NotFound
from registry.grids.grid import Axis
from registry.grids.slices import PARAMETER, slice_text
from registry.operations.find import Filters
from registry.operations.form_options import axes_with_levels, name_options, scope_options
from registry.pages.blocks import parts_of
from registry.pages.choices import MOST_LISTED, Choice, choice_of
from registry.pages.front import pages
from registry.pages.links import LOOKS, data_path, here
from registry.pages.live import ANSWERS, PENDING_SECONDS, SETTLED_SECONDS, live_on
from registry.pages.palette import BINS
from registry.pages.pivot import is_sortable, pivot_of
from registry.pages.queries import salvaged, state_of, tags_of
from registry.pages.responses import page
from registry.pages.sharing import picture_of
from registry.pages.slices import slice_lists, slice_of_page
from registry.query import REDUCTIONS, SLOT_POLICIES
from registry.renderings.aggregates import dimension_name, doubts, heading, told
from registry.renderings.sheet import Lines
from registry.results.aggregates import Aggregates
from registry.results.codec import read

_FROM = "from"
"""The parameter with the first row that is shown."""
_USUAL = ["model", "benchmark"]
_NAMES = ("benchmark", "model", "variant")
_REDUCTIONS = {"mean": "mean of the cells", "best": "best cell", "count": "number of cells"}
_POLICIES = {"matched": "only slots that all entries have", "available": "whatever an entry has"}


@dataclass(frozen=True, slots=True)
class Form:
    """Choices of the form; `scopes` only where no experiment is chosen."""

    experiments: Choice
    scopes: Sequence[Any] = ()
    metrics: Sequence[str] = ()
    axes: Sequence[Axis] = ()
    filters: Sequence[Choice] = ()

    @property
    def dimensions(self) -> list[tuple[str, str]]:
        """Every dimension, by its word and by its name."""
        axes = sorted({axis.name for axis in self.axes})
        return [*((name, name) for name in _NAMES), *((f"axis:{name}", name) for name in axes)]


@pages.get("/projects/<project>/aggregates")
def aggregates(project: str) -> Response:
    """Show a table; while the query is incomplete or wrong, the form and what is missing."""
    query, faults = salvaged(
        AggregatesParameters, also=(_FROM,), optional=("experiment", "metric", "group_by"), families=(PARAMETER,)
    )
    query.setdefault("group_by", _USUAL)
    wanted, first = slice_of_page(), _first_row()
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        form = _form(connection, row.id, query)
    if (only := _only(form, query)) and not faults:
        return redirect(here(**only), 303)  # type: ignore[return-value]
    found: Any = None
    missing = False
    if not faults and "experiment" in query and "metric" in query:
        try:
            found = ask(aggregates_query(query, project, wanted), project, patience=2.0)[1]
        except (Invalid, NotFound) as error:
            missing = isinstance(error, NotFound)
            faults = list(error.faults) if isinstance(error, Invalid) else [Fault("/experiment", error.detail)]
    state = state_of(found)

    def context() -> dict[str, Any]:
        answer = read(Aggregates, found.document) if state == "ready" else None
        return {
            "project": row,
            "query": query,
            "form": form,
            "slices": slice_lists(form.axes, wanted),
            "slice_text": slice_text(wanted),
            "faults": faults,
            "reductions": [(name, _REDUCTIONS[name]) for name in REDUCTIONS],
            "policies": _policies(query["value"]),
            "most_listed": MOST_LISTED,
            "state_word": state,
            "reason": found.reason if state == "failed" else None,
            "table": answer,
            "name_of": dimension_name,
            "data": lambda suffix="": data_path(
                f"/projects/{project}/aggregates{suffix}", row.visibility, _given(query)
            ),
            "every": PENDING_SECONDS if state == "pending" else SETTLED_SECONDS,
            "feed": live_on(row, ANSWERS, experiment=query.get("experiment")),
            "picture": picture_of(
                f"/projects/{project}/aggregates.png", row.visibility if answer else "", _given(query)
            ),
            **(_shown(answer, first) if answer else {}),
        }

    status = 200 if not faults else 404 if missing else 422
    return page("aggregates.html", [row.updated_at, form, faults, *tags_of(found)], context, status=status)


def _shown(found: Aggregates, first: int) -> dict[str, Any]:
    """The answer as the template takes it."""
    return {
        "heading": heading(found),
        "told": list(told(found)),
        "pivot": pivot_of(found, first),
        "sortable": is_sortable(found),
        "doubts": parts_of([Lines(notes)] if (notes := tuple(doubts(found))) else []),
        "bins": range(BINS),
    }


def _policies(value: str) -> list[tuple[str, str]]:
    """The choices for missing cells; the usual one of the value has no word, so that it changes with the value."""
    usual = "available" if value == "count" else "matched"
    others = [(name, _POLICIES[name]) for name in SLOT_POLICIES if name != usual]
    return [("", _POLICIES[usual]), *others]


def _first_row() -> int:
    text = request.args.get(_FROM) or "0"
    if not re.fullmatch("[0-9]{1,6}", text):
        raise Invalid([Fault(f"/{_FROM}", "is the number of a row, from 0")])
    return int(text)


def _form(connection: Connection, project_id: uuid.UUID, query: Mapping[str, Any]) -> Form:
    experiment = query.get("experiment")
    experiments = choice_of(connection, project_id, "experiment", [experiment] if experiment else [])
    if not experiment:
        return Form(experiments, scope_options(connection, project_id, MOST_LISTED + 1))
    scope = Filters(experiment=[experiment])
    return Form(
        experiments,
        metrics=name_options(connection, project_id, "metric", scope),
        axes=axes_with_levels(connection, project_id, scope),
        filters=[choice_of(connection, project_id, kind, query[kind], scope) for kind in _NAMES],
    )


def _only(form: Form, query: Mapping[str, Any]) -> dict[str, str]:
    """Parameters that complete the query where there is only one way to do so. Of the past, a metric may be gone."""
    if query.get("as_of") and "metric" in query:
        return {}
    if "experiment" not in query:
        [scope] = form.scopes if len(form.scopes) == 1 else [None]
        return {"experiment": scope.experiment, "metric": scope.metric} if scope else {}
    [metric] = form.metrics if len(form.metrics) == 1 else [None]
    return {"metric": metric} if metric and query.get("metric") != metric else {}


def _given(query: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The query in the address, with the dimensions that are meant where none are named."""
    given = [(name, text) for name, text in request.args.items(multi=True) if text and name not in (_FROM, *LOOKS)]
    named = any(name == "group_by" for name, _ in given)
    return given if named else [*given, ("group_by", ",".join(query["group_by"]))]
