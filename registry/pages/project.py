"""The overview of a project, and of all."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from flask import Response, g, redirect, request
from sqlalchemy import Connection

from registry.api import serializers
from registry.api.context import caller, enter, parts
from registry.api.paging import read_instant, write_instant
from registry.api.schemas import SLUG, FindParameters
from registry.operations.alerts import LIVE, list_alerts
from registry.operations.find import Filters, Page, find_whole_grids
from registry.operations.find_claims import ClaimFilters, claims_in_order, verdicts_in_order
from registry.operations.names import joined_of_kind
from registry.operations.overview import Scope, entries_of, scopes_of, usual_rankings
from registry.operations.projects import count_projects, projects_by_use
from registry.operations.read import find_statistics_of
from registry.operations.scope_options import name_counts
from registry.pages.blocks import ShownVerdict, shown
from registry.pages.events import latest
from registry.pages.front import pages
from registry.pages.gates import tags, told
from registry.pages.links import carried, data_path
from registry.pages.live import GATES, GRIDS, STATISTICS, live_on
from registry.pages.prose import prose_of
from registry.pages.queries import argument
from registry.pages.responses import page
from registry.pages.said import headline, ordered, shown_claim, tags_of_claims
from registry.renderings.verdicts.grid import grid_verdict
from registry.renderings.verdicts.ranking import ranking_verdict
from registry.results.codec import read
from registry.results.ranking import Ranking
from registry.results.statistics import Statistics
from results_registry.config import DEFAULT_HOME, TOKEN_FILE

_PROJECTS, _EXPERIMENTS = 100, 100
_TOLD, _GRIDS_EACH, _CELLS = 12, 3, 5_000
"""Experiments that have a verdict, the grids that are told one by one where no ranking is, and the cells of these."""
_MOST_KEPT = 1_000
_VERDICTS: dict[str, ShownVerdict] = {}
"""Verdicts on rankings by the etags of these, which are long to read."""
_CLAIMS, _ALERTS, _NEWS = 3, 3, 5
_Experiment = tuple[Scope, Sequence[tuple[str, ShownVerdict]]]
"""An experiment by the metric of which it has most cells, and what is known of its results: the verdict of their
ranking, or where that has no answer of its grids, as long as they are few; each with the id of its grid."""
_OF_GRIDS = (*FindParameters().fields, "after")


@pages.get("/")
def projects() -> Response:
    """The projects that the visitor may see, the latest used first; of the only one its overview."""
    instant, _, slug = argument("after", f"[0-9a-f]{{1,14}}~{SLUG}", "is not a cursor of this list").partition("~")
    after = (read_instant(instant), slug) if slug else None
    with parts().database.reading() as connection:
        who = caller(connection)
        rows = projects_by_use(connection, who, after, _PROJECTS + 1)
        total = count_projects(connection, who)
    if total == len(rows) == 1:
        return _overview(rows[0].slug)
    listed = rows[:_PROJECTS]
    more = f"{write_instant(listed[-1].used_at)}~{listed[-1].slug}" if len(rows) > _PROJECTS else None
    json = data_path("/projects", "private" if "visitor" in g else "public")
    context = {"projects": listed, "total": total, "more": more, "json": json}
    return page("projects.html", [rows, total], lambda: context)


@pages.get("/projects/<project>")
def project(project: str) -> Response:
    """What there is in a project. An address with filters is that of its grids, as it was."""
    if any(name in _OF_GRIDS or name.startswith("label.") for name in request.args):
        given = request.args.items(multi=True)
        return redirect(carried(f"/projects/{project}/grids", given), 308)  # type: ignore[return-value]
    return _overview(project)


def _overview(slug: str) -> Response:
    now = datetime.now(UTC)
    with parts().database.snapshot() as connection:
        row = enter(connection, slug, "reader")
        joined = joined_of_kind(connection, row.id, "experiment")
        scopes = _by_experiment(scopes_of(connection, row.id, Filters()), joined)
        experiments, known = _told(connection, row.id, [one for one in scopes if one.measured][:_EXPERIMENTS])
        counts = {f"{kind}s": name_counts(connection, row.id, kind, limit=1)[1] for kind in ("model", "benchmark")}
        claims = claims_in_order(connection, row.id, ClaimFilters(verdict=("contradicted",)), _CLAIMS)
        judged = verdicts_in_order(connection, row.id, ClaimFilters())
        alerts = list_alerts(connection, row.id, {"state": LIVE}, None, _ALERTS + 1)
        news = latest(connection, row.id, _NEWS)

    def context() -> dict[str, Any]:
        return {
            "project": row,
            "prose_": prose_of(row.description),
            "about_json": data_path(f"/projects/{slug}", row.visibility),
            "json": data_path(f"/projects/{slug}", row.visibility),
            "front": request.path == "/",
            "experiments": experiments,
            "empty": [one.experiment for one in scopes if not one.measured][:_EXPERIMENTS],
            "counts": {"experiments": len(scopes), **counts, "grids": sum(one.grids for one in scopes)},
            "alerts": [told(one) for one in alerts],
            "claims": [shown_claim(one) for one in claims],
            "headline": headline(judged),
            "judged": ordered(judged),
            "news": news.said(slug, now),
            "atom": data_path(f"/projects/{slug}/events.atom", row.visibility),
            "feed": live_on(row, (*GRIDS, *STATISTICS, *GATES, "claim.*", "experiment.*", "project.updated")),
        }

    made_of = [row.updated_at, scopes, known, counts, tags_of_claims(claims), judged, tags(alerts), news.tags]
    return page("project.html", [*made_of, now.replace(second=0, microsecond=0)], context)


def _by_experiment(scopes: Sequence[Scope], joined: Mapping[str, str]) -> list[Scope]:
    """Each experiment, of its metrics that with most cells, the latest changed first; joined names are one."""
    found: dict[str, Scope] = {}
    for one in scopes:
        name = joined.get(one.experiment, one.experiment)
        known = found.get(name)
        if known is None or known.measured < one.measured:
            found[name] = replace(one, experiment=name)
    order = sorted(found.values(), key=lambda one: one.experiment)
    return sorted(order, key=lambda one: str(one.updated_at), reverse=True)


def _told(connection: Connection, project_id: Any, scopes: Sequence[Scope]) -> tuple[list[_Experiment], list[object]]:
    """The experiments with their verdicts, and what these are made of."""
    if len(_VERDICTS) > _MOST_KEPT:
        _VERDICTS.clear()
    kept = dict(_VERDICTS)
    ranked = usual_rankings(connection, project_id, scopes[:_TOLD], list(kept))
    for one in ranked.values():
        if one.document is not None:
            kept[one.etag] = _VERDICTS[one.etag] = shown(ranking_verdict(read(Ranking, one.document)))
    verdicts = {name: kept[one.etag] for (name, _), one in ranked.items()}
    answered = {name for name, one in verdicts.items() if one.answer != "none"}
    few = [one for one in scopes[:_TOLD] if one.grids <= _GRIDS_EACH and one.possible <= _CELLS]
    alone = [one for one in few if one.experiment not in answered]
    found = {name: [("", one)] for name, one in verdicts.items()}
    by_grid, tags_ = _of_grids(connection, project_id, alone) if alone else ({}, [])
    each = found | by_grid
    tags_ += [one.etag for one in ranked.values()]
    return [(one, each.get(one.experiment, ())) for one in scopes], tags_


def _of_grids(
    connection: Connection, project_id: Any, scopes: Sequence[Scope]
) -> tuple[dict[str, list[tuple[str, ShownVerdict]]], list[object]]:
    """The verdicts on the grids of these experiments whose statistics are there, and their entity tags."""
    entries = entries_of(connection, project_id, Filters(), scopes, _GRIDS_EACH)
    known = find_statistics_of(connection, [one.id for each in entries.values() for one in each])
    ready = {grid: one for grid, one in known.items() if one.document is not None}
    found: dict[str, list[tuple[str, ShownVerdict]]] = {}
    page_ = Page("benchmark", limit=len(ready))
    for stored in find_whole_grids(connection, project_id, Filters(ids=list(ready)), page_) if ready else ():
        verdict = grid_verdict(serializers.grid(stored), read(Statistics, ready[stored.id].document))
        names = (stored.names.benchmark, stored.names.model, stored.names.variant)
        shown_ = shown(verdict, " · ".join(filter(None, names)))
        found.setdefault(stored.names.experiment, []).append((str(stored.id), shown_))
    return found, [one.etag for one in ready.values()]


PUBLICATION = """{
  "experiment": "type-by-length", "benchmark": "Core Generalization",
  "model": "my-model", "variant": "Baseline",
  "metric": {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100},
  "axes": [{"name": "Type", "kind": "nominal", "levels": ["1", "2"]},
           {"name": "Length", "kind": "numeric", "levels": [0, 1, 2, 3, 4]}],
  "values": [[99.5, 99.0, 98.5, 93.0, 88.5], [100.0, 99.5, null, 98.0, 97.5]],
  "trials": 200}"""


@dataclass(frozen=True, slots=True)
class Step:
    """A line to paste into a shell, and the sentence above it."""

    says: str
    command: str


def steps(address: str, home: Path) -> tuple[Step, ...]:
    """Five lines for a POSIX shell against the registry at `address`, with the token that `registry up` left in its
    home if it did; they publish into the project `demo`."""
    here = home / TOKEN_FILE
    token = shlex.quote(str(here)) if here.is_file() else f"{DEFAULT_HOME}/{TOKEN_FILE}"
    return (
        Step(
            "Keep the address and a token: `registry up` writes an administrator's into its home.",
            f'API={address}/api/v1\nAUTH="Authorization: Bearer $(cat {token})"',
        ),
        Step(
            "Publish a grid: a metric over axes, null where nobody measured. The answer is shown, and its id kept.",
            f"""GRID=$(curl -s "$API/projects/demo/grids" -H "$AUTH" -H "Content-Type: application/json" \\
  -d '{PUBLICATION}' |
  tee /dev/stderr | grep -o '"id":"[0-9a-f-]*' | head -n 1 | cut -c 7-)""",
        ),
        Step(
            "Wait for its statistics. `202` means that they are still being computed.",
            'curl -s "$API/grids/$GRID/statistics" -H "$AUTH" -H "Prefer: wait=10"',
        ),
        Step(
            "Read the trends as a table. `.csv`, `.md` and `.txt` after a path name a form; without one it is JSON.",
            'curl -s "$API/grids/$GRID/statistics.txt?part=trends" -H "$AUTH"',
        ),
        Step(
            "Rank the models of an experiment over the cells that all of them have.",
            'curl -s "$API/projects/demo/rankings.txt?experiment=type-by-length&metric=accuracy"'
            ' -H "$AUTH" -H "Prefer: wait=10"',
        ),
    )
