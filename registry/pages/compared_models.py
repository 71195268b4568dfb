"""The page of two models compared by name: the verdict, all benchmarks together, and each of them with a link to the
comparison of both grids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from flask import Response, redirect, request
from marshmallow import ValidationError, validates_schema

from registry.api.cached_results import ask
from registry.api.comparisons import models_asked
from registry.api.context import enter, parts
from registry.api.query_schemas import BENCHMARKS_OF_SIDES, VARIANTS_OF_SIDES, EitherComparisonParameters
from registry.errors import Fault, Invalid, NotFound
from registry.grids.slices import PARAMETER, slice_text
from registry.pages.blocks import Part, parts_of, sections_of, typeset
from registry.pages.charts import named
from registry.pages.choices import MOST_LISTED
from registry.pages.compared import MODEL_SIDES
from registry.pages.links import LOOKS, carried, data_path, here
from registry.pages.live import ANSWERS, PENDING_SECONDS, SETTLED_SECONDS, live_on
from registry.pages.queries import salvaged, state_of, tags_of
from registry.pages.ranking import offer_of, only_way
from registry.pages.responses import page
from registry.pages.slices import slice_lists, slice_of_page
from registry.pages.verdict import shown
from registry.renderings.comparison_of_models import page as blocks
from registry.renderings.verdicts.model_comparison import model_comparison_verdict
from registry.results.codec import read
from registry.results.model_comparison import ModelComparison

_ASKED = ("experiment", "metric", *MODEL_SIDES)
_IDS = ("baseline", "contender", "baseline_revision", "contender_revision")
_FIELDS = (*_ASKED, "baseline_variant", "contender_variant", "benchmark", "variant", "suite")
_MOST_ROWS = 60
"""Benchmarks that the page lists; the downloads have all."""


class _Parameters(EitherComparisonParameters):
    """Those of the API, of which a form may lack any; variants still need each other."""

    @validates_schema
    def _check_way(self, data: dict[str, Any], **_options: Any) -> None:
        if ids := [name for name in _IDS if name in data]:
            raise ValidationError({name: ["cannot be given with the names of models"] for name in ids})
        if given := [name for name in BENCHMARKS_OF_SIDES if name in data]:
            raise ValidationError({name: ["makes it a comparison of two grids: choose these here"] for name in given})
        self.check_pair(data, VARIANTS_OF_SIDES, "variant")


def asks_by_name() -> bool:
    """Whether the address of a comparison is about models and not about grids."""
    return any(request.args.get(name) for name in _FIELDS)


def comparison_of_models(project: str) -> Response:
    """Contender less baseline over all benchmarks; while a name is missing or wrong, the form and what is wrong."""
    query, faults = salvaged(_Parameters, optional=_ASKED, families=(PARAMETER,))
    wanted, found, missing = slice_of_page(), None, False
    models = [query[side] for side in MODEL_SIDES if side in query]
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        offer = offer_of(connection, row.id, {**query, "model": models})
        only = only_way(offer, query)
        if only and not faults:
            return redirect(here(**only), 303)  # type: ignore[return-value]
    if not faults and named(query, *_ASKED):
        try:
            found = ask(models_asked(query, project, wanted), project, patience=2.0)[1]
        except (Invalid, NotFound) as error:
            missing = isinstance(error, NotFound)
            faults = list(error.faults) if isinstance(error, Invalid) else [Fault("/experiment", error.detail)]
    state = state_of(found)

    def context() -> dict[str, Any]:
        answer = read(ModelComparison, found.document) if found is not None and state == "ready" else None
        return {
            "project": row,
            "query": query,
            "offer": offer,
            "choices": {choice.kind: choice for choice in offer.choices},
            "sides": MODEL_SIDES,
            "kept": _kept(offer.choices),
            "faults": faults,
            "slices": slice_lists(offer.levels, wanted),
            "slice_text": slice_text(wanted),
            "most_listed": MOST_LISTED,
            "state_word": state,
            "reason": found.reason if found is not None and state == "failed" else None,
            "data": lambda suffix="": data_path(f"/projects/{project}/comparisons{suffix}", row.visibility, _given()),
            "every": PENDING_SECONDS if state == "pending" else SETTLED_SECONDS,
            "feed": live_on(row, ANSWERS, experiment=query.get("experiment")),
            "found": answer,
            **(_shown(answer, project) if answer else {}),
        }

    made_of = [row.updated_at, offer, faults, *tags_of(found)]
    return page("compared_models.html", made_of, context, status=404 if missing else 422 if faults else 200)


def _given() -> list[tuple[str, str]]:
    return [(name, text) for name, text in request.args.items(multi=True) if text and name not in LOOKS]


def _kept(choices: Sequence[Any]) -> list[tuple[str, str]]:
    """What the address asks and the form has no field for."""
    fields = {*_ASKED, "share", *(choice.kind for choice in choices)}
    return [(name, text) for name, text in _given() if name not in fields and not name.startswith(PARAMETER)]


def _shown(found: ModelComparison, project: str) -> dict[str, Any]:
    verdict = model_comparison_verdict(found)
    told = [part for part in parts_of(blocks(found)) if part.text != typeset(verdict.sentence)]
    return {
        "verdict": shown(verdict),
        "sections": sections_of([_linked(part, found, project) for part in told], "All benchmarks together"),
        "more_rows": max(0, len(found.by_benchmark) + found.by_benchmark_left_out - _MOST_ROWS),
    }


def _linked(part: Part, found: ModelComparison, project: str) -> Part:
    """The table of the benchmarks, each with the address of the comparison of both grids."""
    if part.kind != "table":
        return part
    links = [_page_of(one.href, project) for one in found.by_benchmark[:_MOST_ROWS]]
    return replace(part, rows=part.rows[:_MOST_ROWS], links=links)


def _page_of(href: str | None, project: str) -> str:
    """The page of the comparison whose data are at this address of the API."""
    return carried(f"/projects/{quote(project)}/comparisons", parse_qsl(urlsplit(href).query)) if href else ""
