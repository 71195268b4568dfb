"""The page of a ranking: the order with what the tests leave open, the pairs, and the question as a form."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from flask import Response, redirect, request
from sqlalchemy import Connection

from registry.api.cached_results import ask, progress
from registry.api.context import enter, parts
from registry.api.query_schemas import RankingParameters
from registry.api.rankings import benchmarks_asked
from registry.errors import Fault, Invalid, NotFound
from registry.grids.grid import Axis
from registry.grids.slices import PARAMETER, Slice, slice_text
from registry.operations.find import Filters
from registry.operations.form_options import (
    axes_with_levels,
    axis_options,
    count_grids,
    is_lower_better,
    name_options,
    scope_options,
)
from registry.operations.query_names import known_names_text
from registry.operations.suites import list_suites
from registry.pages.bars import WIDTH, bars_of, further_columns
from registry.pages.blocks import parts_of
from registry.pages.choices import MOST_LISTED, Choice, choice_of
from registry.pages.front import pages
from registry.pages.links import data_path, here, to
from registry.pages.matrix import MOST_IN_MATRIX, matrix_of
from registry.pages.pairs import pairs_of
from registry.pages.palette import DIFFERENCES
from registry.pages.queries import salvaged, state_of, tags_of
from registry.pages.responses import PENDING_SECONDS, SETTLED_SECONDS, page
from registry.pages.slices import slice_lists, slice_of_page
from registry.query import METHODS, MISSING, TARGETS, RankingQuery
from registry.renderings.policies import friedman_blocks, policy_blocks, target
from registry.renderings.policies import method as by_author
from registry.renderings.ranking import order_blocks
from registry.renderings.resampling import resampling_blocks
from registry.results.codec import read
from registry.results.ranking import Ranking

FILTERS = ("benchmark", "model", "variant")
MOST_WITH_PAIRS = 100
"""Names up to which a ranking lists every pair."""
MOST_GROUPS = 50
"""Groups that the page lists; the rest is counted."""
PAIRS = "pairs_of"
"""The name whose pairs are listed where there are too many to list all."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Choices of the form in a project; `scopes` only where no experiment is chosen."""

    experiments: Choice
    metrics: Sequence[str]
    axes: Sequence[str]
    choices: Sequence[Choice]
    scopes: Sequence[Any]
    suites: Sequence[str] = ()
    levels: Sequence[Axis] = ()
    """The axes with their levels, from which a slice is chosen."""


@pages.get("/projects/<project>/rankings")
def ranking(project: str) -> Response:
    """Show a ranking; while the query is incomplete or wrong, the form and what is missing."""
    query, faults = salvaged(RankingParameters, also=(PAIRS,), optional=("experiment", "metric"), families=(PARAMETER,))
    wanted = slice_of_page()
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        offer = _offer(connection, row.id, query)
        only = _only(offer, query)
        if only and not faults:
            return redirect(here(**only), 303)  # type: ignore[return-value]
        unknown = [] if faults else list(_unknown(connection, row.id, offer, query))
        faults += unknown
        lower = not faults and is_lower_better(connection, row.id, _scope_of(query))
    found: Any = None
    if not faults and "experiment" in query and "metric" in query:
        try:
            found = ask(_question(query, project, wanted), project, patience=2.0)[1]
        except (Invalid, NotFound) as error:
            faults = list(error.faults) if isinstance(error, Invalid) else [Fault("/experiment", error.detail)]
    state = state_of(found)
    pairs = _pairs_row(_question(query, project, wanted), project, found) if state == "ready" else None

    def context() -> dict[str, Any]:
        answer = read(Ranking, found.document) if state == "ready" else None
        return {
            "project": row,
            "query": query,
            "offer": offer,
            "slices": slice_lists(offer.levels, wanted),
            "slice_text": slice_text(wanted),
            "faults": faults,
            "methods": [(name, by_author(name)) for name in METHODS],
            "missings": [(name, by_author(name)) for name in MISSING],
            "targets": [(name, target(name)) for name in TARGETS],
            "most_listed": MOST_LISTED,
            "state_word": state,
            "progress": progress(found, _question(query, project, wanted)) if state == "pending" else None,
            "reason": found.reason if state == "failed" else None,
            "ranking": answer,
            "data": lambda suffix="": data_path(f"/projects/{project}/rankings{suffix}", row.visibility, _given()),
            "every": PENDING_SECONDS if state == "pending" else SETTLED_SECONDS,
            **(_shown(answer, _link_of(project, query), pairs, lower=lower) if answer else {}),
        }

    made_of = [row.updated_at, offer, faults, *tags_of(found), *(tags_of(pairs) if pairs is not None else ())]
    return page("ranking.html", made_of, context, status=_status(faults, unknown))


def _pairs_row(question: RankingQuery, project: str, found: Any) -> Any:
    """The answer with the pairs of the wanted name, where the ranking has too many names to list all; else None."""
    wanted, names = request.args.get(PAIRS), {row.name for row in read(Ranking, found.document).ranking}
    if wanted not in names or len(names) <= MOST_WITH_PAIRS:
        return None
    return ask(replace(question, pairs_of=wanted), project, patience=2.0)[1]


def _scope_of(query: Mapping[str, Any]) -> Filters:
    experiment, metric = ([query[name]] if name in query else [] for name in ("experiment", "metric"))
    return Filters(experiment=experiment, metric=metric)


def _shown(ranking: Ranking, link: Callable[[str], str], pairs: Any, *, lower: bool) -> dict[str, Any]:
    """The answer as the template takes it; `pairs` is the row of that with the pairs of a name, if there is one."""
    listed = read(Ranking, pairs.document).pairs if state_of(pairs) == "ready" else ranking.pairs
    order = parts_of(order_blocks(ranking))
    columns = further_columns(ranking, order)
    names = [one.name for one in ranking.ranking]
    return {
        "order": order,
        "columns": [name for name, _ in columns],
        "bars": bars_of(ranking, columns),
        "bars_width": WIDTH,
        "link_of": link,
        "groups": [", ".join(group) for group in ranking.groups[:MOST_GROUPS]],
        "more_groups": max(0, len(ranking.groups) - MOST_GROUPS),
        "matrix": matrix_of(ranking, lower=lower),
        "most_in_matrix": MOST_IN_MATRIX,
        "asked": _given(),
        "pairs": pairs_of(listed, names, request.args.get(PAIRS, "")),
        "pairs_pending": pairs is not None and state_of(pairs) == "pending",
        "resampling": parts_of(resampling_blocks(ranking.stability)),
        "policies": parts_of([*friedman_blocks(ranking.friedman), *policy_blocks(ranking)]),
        "left_out": [f"{one.part} ({one.reason})" for one in ranking.left_out],
        "bins": range(DIFFERENCES),
    }


def _offer(connection: Connection, project_id: uuid.UUID, query: Mapping[str, Any]) -> Offer:
    """Choices of the form, given those that were made."""
    experiment = query.get("experiment")
    experiments = choice_of(connection, project_id, "experiment", [experiment] if experiment else [])
    if not experiment:
        return Offer(experiments, (), (), (), scope_options(connection, project_id, MOST_LISTED + 1))
    scope = Filters(experiment=[experiment])
    levels = axes_with_levels(connection, project_id, scope)
    return Offer(
        experiments,
        name_options(connection, project_id, "metric", scope),
        sorted({axis.name for axis in levels}),
        [choice_of(connection, project_id, kind, query[kind], scope) for kind in FILTERS],
        (),
        [one.name for one in list_suites(connection, project_id, None, MOST_LISTED)],
        levels,
    )


def _only(offer: Offer, query: Mapping[str, Any]) -> dict[str, str] | None:
    """Parameters that complete the query where there is only one way to do so."""
    if "experiment" not in query and len(offer.scopes) == 1:
        return {"experiment": offer.scopes[0].experiment, "metric": offer.scopes[0].metric}
    if len(offer.metrics) == 1 and query.get("metric") != offer.metrics[0]:
        return {"metric": offer.metrics[0]}
    return None


def _unknown(connection: Connection, project_id: uuid.UUID, offer: Offer, query: Mapping[str, Any]) -> Iterator[Fault]:
    """Names in the question that no grid has: an answer about them would be about nothing."""
    experiment, metric, by = query.get("experiment"), query.get("metric"), query["by"]
    if experiment is None:
        return
    if not offer.metrics:
        yield Fault("/experiment", f'No grid of an experiment "{experiment}" is here.')
        return
    if metric is not None and metric not in offer.metrics:
        yield Fault(
            "/metric", f'No grid of "{experiment}" has the metric "{metric}"; {known_names_text(offer.metrics)}.'
        )
        return
    scope = Filters(experiment=[experiment], metric=[metric] if metric else [])
    axis = by.removeprefix("axis:")
    if axis != by and axis not in offer.axes:
        axes = axis_options(connection, project_id, scope)
        yield Fault("/by", f'No grid of "{experiment}" has an axis "{axis}"; {known_names_text(axes)}.')
    for choice in offer.choices:
        for name in choice.chosen:
            named_so: dict[str, Any] = {choice.kind: [name]}
            if not count_grids(connection, project_id, replace(scope, **named_so)):
                names = name_options(connection, project_id, choice.kind, scope)
                yield Fault(
                    f"/{choice.kind}",
                    f'No grid of "{experiment}" has the {choice.kind} "{name}"; {known_names_text(names)}.',
                )


def _status(faults: Sequence[Fault], unknown: Sequence[Fault]) -> int:
    """404 for an experiment or a metric that is not there, as the API answers; 422 for all else that is wrong."""
    if not faults:
        return 200
    return 404 if unknown and unknown[0].pointer in ("/experiment", "/metric") else 422


def _given() -> list[tuple[str, str]]:
    return [(name, text) for name, text in request.args.items(multi=True) if text and name != PAIRS]


def _link_of(project: str, query: Mapping[str, Any]) -> Callable[[str], str]:
    """Where the grids of a ranked name are listed; "" for the levels of an axis."""
    by, grids = str(query["by"]), f"/projects/{quote(project)}/grids"
    if by.startswith("axis:"):
        return lambda _name: ""
    return lambda name: to(grids, experiment=query["experiment"], metric=query["metric"], **{by: name})


def _question(query: Mapping[str, Any], project: str, wanted: Slice) -> RankingQuery:
    return RankingQuery(
        query["experiment"],
        query["metric"],
        **named(query) | {"benchmark": benchmarks_asked(query, project), "at": wanted},
        **{name: query[name] for name in ("by", "method", "missing", "alpha", "target", "suite")},
    )


def named(query: Mapping[str, Any]) -> dict[str, Any]:
    """The names that a question is limited to, each once."""
    return {kind: tuple(sorted(set(query[kind]))) for kind in FILTERS}
