"""The page of a ranking: the order with what the tests leave open, the pairs, and the question as a form."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flask import Response, redirect, request
from sqlalchemy import Connection

from registry.api.cached_results import ask, progress
from registry.api.context import enter, parts
from registry.api.query_schemas import RankingParameters
from registry.api.rankings import ranking_asked
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
from registry.pages.blocks import parts_of, sections_of
from registry.pages.charts import lines_of_ranking
from registry.pages.choices import MOST_LISTED, Choice, choice_of
from registry.pages.compared import Compared, comparisons_of, models_page
from registry.pages.front import pages
from registry.pages.links import data_path, here, name_page
from registry.pages.live import ANSWERS, PENDING_SECONDS, SETTLED_SECONDS, live_on
from registry.pages.matrix import MOST_IN_MATRIX, matrix_of
from registry.pages.pairs import pairs_of
from registry.pages.palette import DIFFERENCES
from registry.pages.queries import salvaged, state_of, tags_of
from registry.pages.responses import page
from registry.pages.sharing import cited_ranking
from registry.pages.slices import slice_lists, slice_of_page
from registry.pages.verdict import shown
from registry.query import METHODS, MISSING, TARGETS, RankingQuery
from registry.renderings.policies import friedman_blocks, policy_blocks, target
from registry.renderings.policies import method as by_author
from registry.renderings.ranking import group_word, order_blocks
from registry.renderings.ranking_change import change_blocks, change_sentence
from registry.renderings.verdicts.ranking import ranking_verdict
from registry.results.codec import read
from registry.results.ranking import Ranking

FILTERS = ("benchmark", "model", "variant")
MOST_ROWS = 2_000
"""Names that the page shows."""
MOST_WITH_PAIRS = 100
"""Names up to which a ranking lists every pair."""
MOST_GROUPS = 50
"""Groups that the page lists; the rest is counted."""
MOST_LINKED = 12
"""Names of a group up to which it leads to a ranking of its own."""
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
        offer = offer_of(connection, row.id, query)
        only = only_way(offer, query)
        if only and not faults:
            return redirect(here(**only), 303)  # type: ignore[return-value]
        unknown = [] if faults or _is_of_the_past(query) else list(_unknown(connection, row.id, offer, query))
        faults += unknown
        lower = not faults and is_lower_better(connection, row.id, _scope_of(query))
    found: Any = None
    question: RankingQuery | None = None
    if not faults and "experiment" in query and "metric" in query:
        try:
            question = ranking_asked({**query, PAIRS: ""}, project, wanted)
            found = ask(question, project, patience=2.0)[1]
        except (Invalid, NotFound) as error:
            faults = list(error.faults) if isinstance(error, Invalid) else [Fault("/experiment", error.detail)]
    state = state_of(found)
    pairs = _pairs_row(question, project, found) if question and state == "ready" else None
    compared = _compared(row, query, found, wanted) if state == "ready" else None

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
            "progress": progress(found, question) if question and state == "pending" else None,
            "reason": found.reason if state == "failed" else None,
            "ranking": answer,
            "changed": parts_of([change_sentence(answer), *change_blocks(answer)]) if answer and answer.change else [],
            "cited": cited_ranking(answer, found.etag) if answer else None,
            "data": lambda suffix="": data_path(f"/projects/{project}/rankings{suffix}", row.visibility, _given()),
            "every": PENDING_SECONDS if state == "pending" else SETTLED_SECONDS,
            "feed": live_on(row, (*ANSWERS, "ranking.changed"), experiment=query.get("experiment")),
            "compared": compared,
            "drawn_lines": lines_of_ranking(project, question, answer) if question and answer else "",
            **(_shown(answer, question, project, pairs, lower=lower) if question and answer else {}),
        }

    made_of = [row.updated_at, offer, faults, compared, *tags_of(found), *(tags_of(pairs) if pairs is not None else ())]
    return page("ranking.html", made_of, context, status=_status(faults, unknown))


def _pairs_row(question: RankingQuery, project: str, found: Any) -> Any:
    """The answer with the pairs of the wanted name, where the ranking has too many names to list all; else None."""
    wanted, names = request.args.get(PAIRS), {row.name for row in read(Ranking, found.document).ranking}
    if wanted not in names or len(names) <= MOST_WITH_PAIRS:
        return None
    return ask(replace(question, pairs_of=wanted), project, patience=2.0)[1]


def _compared(project: Any, query: Mapping[str, Any], found: Any, wanted: Slice) -> Compared | None:
    """The comparisons of the two names of a ranking that has no more, as the grids are now."""
    names = [row.name for row in read(Ranking, found.document).ranking]
    if len(names) != 2 or query.get("as_of"):
        return None
    with parts().database.reading() as connection:
        return comparisons_of(connection, project, query, names, wanted)


def _is_of_the_past(query: Mapping[str, Any]) -> bool:
    """Whether names may be meant that no grid has now."""
    return bool(query.get("as_of") or query.get("since"))


def _scope_of(query: Mapping[str, Any]) -> Filters:
    experiment, metric = ([query[name]] if name in query else [] for name in ("experiment", "metric"))
    return Filters(experiment=experiment, metric=metric)


def _shown(ranking: Ranking, question: RankingQuery, project: str, pairs: Any, *, lower: bool) -> dict[str, Any]:
    """The answer as the template takes it; `pairs` is the row of that with the pairs of a name, if there is one."""

    def two(names: Sequence[str]) -> str:
        return models_page(project, question, names)

    verdict, left_out = shown(ranking_verdict(ranking)), [f"{one.part} ({one.reason})" for one in ranking.left_out]
    if len(ranking.ranking) > MOST_ROWS:
        left_out.append(
            f"names after the first {MOST_ROWS:,} of {len(ranking.ranking):,} (the JSON and the CSV have all)"
        )
        ranking = replace(ranking, ranking=ranking.ranking[:MOST_ROWS])
    listed = read(Ranking, pairs.document).pairs if state_of(pairs) == "ready" else ranking.pairs
    order = parts_of(order_blocks(ranking))
    columns = further_columns(ranking, order)
    names = [one.name for one in ranking.ranking]
    link_pair = _link_of_pair(ranking.by)
    link_two = two if ranking.by == "model" else link_pair if len(names) > 2 else None
    return {
        "verdict": verdict,
        "order": order,
        "columns": [name for name, _ in columns],
        "bars": bars_of(ranking, columns),
        "bars_width": WIDTH,
        "link_of": _link_of(project, question.by),
        "groups": [_group(group, link_pair) for group in ranking.groups[:MOST_GROUPS]],
        "two": ranking.by.removeprefix("axis:") if ranking.by in FILTERS and len(names) > 2 else "",
        "both": two(names) if len(names) == 2 else "",
        "more_groups": max(0, len(ranking.groups) - MOST_GROUPS),
        "matrix": matrix_of(ranking, lower=lower, link=link_two),
        "most_in_matrix": MOST_IN_MATRIX,
        "asked": _given(),
        "pairs": pairs_of(listed, names, request.args.get(PAIRS, ""), link_two if len(names) > 2 else None),
        "pairs_pending": pairs is not None and state_of(pairs) == "pending",
        "further": sections_of(
            parts_of(
                [
                    *friedman_blocks(ranking.friedman, group_word(ranking)),
                    *policy_blocks(ranking),
                ]
            ),
            "",
        ),
        "left_out": left_out,
        "bins": range(DIFFERENCES),
    }


@dataclass(frozen=True, slots=True)
class Group:
    """Names that the tests do not separate, and the address of a ranking of these alone, if there is one."""

    names: Sequence[str]
    href: str = ""


def _group(names: Sequence[str], link: Callable[[Sequence[str]], str]) -> Group:
    return Group(names, link(names) if 1 < len(names) <= MOST_LINKED else "")


def _link_of_pair(by: str) -> Callable[[Sequence[str]], str]:
    """The address of this ranking of some of its names alone; "" for the levels of an axis."""
    if by not in ("model", "variant"):
        return lambda _names: ""
    return lambda names: here(**{by: list(names), PAIRS: None})


def offer_of(connection: Connection, project_id: uuid.UUID, query: Mapping[str, Any]) -> Offer:
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


def only_way(offer: Offer, query: Mapping[str, Any]) -> dict[str, str] | None:
    """Parameters that complete the query where there is only one way to do so. Of the past, a metric may be gone."""
    if _is_of_the_past(query) and "metric" in query:
        return None
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


def _link_of(project: str, by: str) -> Callable[[str], str]:
    """The page of a ranked name; "" for the levels of an axis."""
    if by.startswith("axis:"):
        return lambda _name: ""
    return lambda name: name_page(project, by, name)
