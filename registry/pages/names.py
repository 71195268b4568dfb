"""Pages of names: those in use of a kind, and one name with what was measured of it and where it ranks."""

import itertools
import uuid
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from flask import Response, redirect, request
from sqlalchemy import Connection

from registry.api.context import enter, parts
from registry.api.paging import read_text, write_text
from registry.api.schemas import NamesInUseParameters
from registry.errors import NotFound
from registry.grids.intake.levels import has_control
from registry.grids.protocol import Protocol, written
from registry.operations.cached_results import find_result
from registry.operations.find_grids import FILTERED, Filters
from registry.operations.names import names_akin, names_together
from registry.operations.overview import (
    MOST_SCOPES,
    Entry,
    Standing,
    entries_of,
    lacking_of,
    protocols_of,
    scopes_of,
    standings_of,
    usual_rankings,
)
from registry.pages.drawings import Whiskers, whiskers_of
from registry.pages.front import pages
from registry.pages.links import data_path, name_page, of_data, results_page
from registry.pages.live import GRIDS, live_on
from registry.pages.parameters import checked
from registry.pages.project import Means, means_on, verdicts_on
from registry.pages.responses import page, state_of
from registry.query import TARGETS, RankingQuery
from registry.renderings.numbers import fixed, places_of, span, typeset
from registry.renderings.ranking import MARK, what_marks
from registry.results.codec import read
from registry.results.ranking import Ranking

_LISTED = 100
NAME = "name"
"""The parameter with a name that stands in no path."""


@pages.get("/projects/<project>/<any(experiments,benchmarks,models,variants,metrics):kinds>")
def names(project: str, kinds: str) -> Response:
    """The names of a kind in use with how many grids carry each; with `name` the page of that name."""
    kind = kinds.removesuffix("s")
    if request.args.get(NAME):
        return _page_of_name(project, kind, request.args[NAME])
    query = checked(NamesInUseParameters, without=("limit", "suite", *FILTERED))
    after, words = read_text(query["cursor"]) if "cursor" in query else None, query.get("q", ())
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        found, total = names_together(connection, row.id, kind, after, _LISTED + 1, words)
    shown = found[:_LISTED]
    asked = of_data()

    def context() -> dict[str, Any]:
        return {
            "project": row,
            "kind": kind,
            "names": shown,
            "total": total,
            "feed": live_on(row, GRIDS),
            "words": " ".join(words),
            "cursor": write_text(shown[-1]["name"]) if len(found) > _LISTED else None,
            "json": data_path(f"/projects/{project}/names/{kinds}", row.visibility, asked),
        }

    return page("names.html", [row.updated_at, found, total], context)


def _page_of_name(project: str, kind: str, name: str) -> Response:
    """The page of a name that its path cannot hold; of any other by its path."""
    place = name_page(project, kind, name)
    if kind == "experiment" or "?name=" not in place:
        return redirect(place or "/", 303)  # type: ignore[return-value]
    return show_name(project, kind, name)


_SCOPES, _GRIDS_EACH = 30, 6
_TOLD, _CELLS = 12, 200_000
"""Grids of a model whose verdicts its page tells, and the cells of all these."""
RANKED = ("model", "benchmark", "variant")


@pages.get("/projects/<project>/<any(benchmarks,models,variants,metrics):kinds>/<path:name>")
def name(project: str, kinds: str, name: str) -> Response:
    """What was measured of a name, where it stands, and what it is also called."""
    return show_name(project, kinds.removesuffix("s"), name)


def show_name(project: str, kind: str, name: str) -> Response:
    """The page of a name; `NotFound` for one that no grid carries."""
    if has_control(name):
        raise NotFound(f"No {kind} has such a name.")
    wanted: dict[str, Any] = {kind: [name]}
    filters = Filters(**wanted)
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        scopes = scopes_of(connection, row.id, filters)
        if not scopes:
            raise NotFound(f'No grid of the project has the {kind} "{name}".')
        akin, shown = names_akin(connection, row.id, kind, name), scopes[:_SCOPES]
        entries = entries_of(connection, row.id, filters, shown, _GRIDS_EACH)
        called = akin.alias_of or name
        standings = standings_of(connection, row.id, kind, called, shown) if kind in RANKED else []
        rankings = usual_rankings(connection, row.id, shown, targets=TARGETS[:1]) if kind == "benchmark" else {}
        means = [_mean(connection, project, one, called) for one in standings]
        small = _told(entries) if kind == "model" else []
        verdicts, tags = verdicts_on(connection, row.id, small) if small else ({}, [])
        lacking = lacking_of(connection, row.id, filters, shown) if kind == "model" else {}
        told = protocols_of(connection, row.id, filters) if kind == "benchmark" else {}

    def context() -> dict[str, Any]:
        return {
            "project": row,
            "kind": kind,
            "name": name,
            "akin": akin,
            "entries": entries,
            "total": {one: sum(getattr(scope, one) for scope in scopes) for one in ("grids", "measured", "possible")},
            "every_scope": scopes,
            "scopes": shown,
            "each": _GRIDS_EACH,
            "best": _best_on(called, rankings),
            "verdicts": verdicts,
            "lacking": lacking,
            "protocols": {one: [(_said_in(keys), models) for keys, models in some] for one, some in told.items()},
            "untold": sum(scope.grids for scope in scopes) - len(verdicts),
            "more": len(scopes) >= MOST_SCOPES,
            "standings": [(one, *mean) for one, mean in zip(standings, means, strict=True)],
            "note": _marks([text for text, _ in means if MARK in text]),
            "of_entry": _words_of_entry(kind),
            "ranking_of": lambda query: ranking_path(project, query),
            "feed": live_on(row, (*GRIDS, "ranking.changed")),
            "ranked": kind in RANKED,
            "data": partial(_data_of, row, (kind, name)),
        }

    found = [row.updated_at, scopes, akin, entries, standings, means, tags, lacking, told]
    return page("name.html", [*found, *(one.etag for each in rankings.values() for one in each.values())], context)


def _marks(marked: Sequence[str]) -> str:
    """What the marks of means say, where there are any."""
    return what_marks("matched", (f"{MARK} (" in text for text in marked)) if marked else ""


def _data_of(project: Any, carried: tuple[str, str], path: str, **more: Any) -> str:
    return data_path(f"/projects/{project.slug}{path}", project.visibility, [carried, *more.items()])


def _said_in(protocol: Protocol) -> str:
    """A protocol in words, of which only keys that differ are there."""
    return ", ".join(f"{key} {written(value)}" for key, value in protocol.items()) or "not said"


def _told(entries: Mapping[Any, Sequence[Entry]]) -> list[uuid.UUID]:
    """The first grids of a model, whose verdicts its page tells."""
    listed = [one for scope in entries.values() for one in scope][:_TOLD]
    cells = itertools.accumulate(one.possible for one in listed)
    return [one.id for one, until in zip(listed, cells, strict=True) if until <= _CELLS]


def _best_on(benchmark: str, rankings: Mapping[tuple[str, str], Mapping[str, Any]]) -> list[tuple[str, str, Means]]:
    """The best models on a benchmark by each experiment and metric that has a stored ranking of it."""
    rows = [(scope, row) for scope, each in rankings.items() for row in each.values() if row.etag]
    found = [(*scope, means_on(read(Ranking, row.document), benchmark)) for scope, row in rows]
    return [(experiment, metric, means) for experiment, metric, means in found if means]


def _mean(connection: Connection, project: str, standing: Standing, name: str) -> tuple[str, Whiskers | None]:
    """The mean of a name in a stored ranking, with its interval, and drawn on the scale of all means, as the last one;
    "" where there is none."""
    row = find_result(connection, project, standing.query) if standing.is_in else None
    found = read(Ranking, row.document) if row is not None and state_of(row) == "ready" else None
    rows = sorted(found.ranking, key=lambda one: one.name == name) if found else []
    if found is None or rows[-1].mean is None:
        return "", None
    places, ends = places_of(one.mean for one in rows), rows[-1].mean_interval
    around = f" ({span(ends.low, ends.high, places)})" if ends else ""
    text = f"{fixed(rows[-1].mean, places)}{MARK if rows[-1].adjusted else ''}{around}"
    return typeset(text), whiskers_of([(one.mean, one.mean_interval) for one in rows])


def _words_of_entry(kind: str) -> Any:
    """What tells a grid from the others of its experiment and metric: its names but that of the page."""
    kinds = [one for one in ("benchmark", "model", "variant") if one != kind]
    return lambda entry: " · ".join(filter(None, (getattr(entry, one) for one in kinds)))


def ranking_path(project: str, query: RankingQuery) -> str:
    """The address of the page of a ranking; "" where the share does not reach."""
    return results_page(project, "ranking", query.to_query())
