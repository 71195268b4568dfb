"""The first pages that people see: the list of projects, and the overview of one with its first verdicts."""

import itertools
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from flask import Response, g, request
from sqlalchemy import Connection

from registry.api import serializers
from registry.api.answers import ask
from registry.api.context import caller, enter, parts
from registry.api.paging import read_instant, write_instant
from registry.api.schemas import SLUG
from registry.errors import Invalid, NotFound, TryLater
from registry.operations.alerts import LIVE, list_alerts
from registry.operations.find_claims import CONTRADICTED, ClaimFilters, claims_in_order, verdicts_in_order
from registry.operations.find_grids import Filters, Page, find_whole_grids
from registry.operations.names import joined_of_kind
from registry.operations.overview import Scope, entries_of, scopes_of, usual_rankings
from registry.operations.projects import count_projects, projects_by_use
from registry.operations.read import find_statistics_of
from registry.operations.scope_options import name_counts
from registry.pages.bar import days_ago
from registry.pages.blocks import ShownVerdict, shown
from registry.pages.drawings import Whiskers, whiskers_of
from registry.pages.events import latest, runs_of
from registry.pages.front import pages
from registry.pages.gates import tags, told
from registry.pages.links import data_path
from registry.pages.live import GATES, GRIDS, PENDING_SECONDS, SETTLED_SECONDS, STATISTICS, live_on
from registry.pages.parameters import argument
from registry.pages.prose import prose_of
from registry.pages.responses import page
from registry.pages.said import headline, ordered, shown_claim, tags_of_claims
from registry.query import TARGETS, RankingQuery
from registry.renderings.lines import listed
from registry.renderings.ranking import (
    beside_means,
    has_holes,
    mean_texts,
    over_fewer,
    scale_words,
    what_marks,
    without_mean,
)
from registry.renderings.verdicts.grid import grid_verdict
from registry.renderings.verdicts.ranking import of_measured
from registry.renderings.verdicts.targets import OfTarget, of_target, verdict_of_targets
from registry.results.codec import read
from registry.results.ranking import Ranking
from registry.results.statistics import Statistics
from results_registry.config import DEFAULT_HOME, TOKEN_FILE

_PROJECTS, _EXPERIMENTS = 100, 100
_TOLD, _GRIDS_EACH, _CELLS = 12, 3, 200_000
"""Experiments that have a verdict, the grids that are told one by one where no ranking is, and the cells of all these:
what is told once is kept."""
_MOST_KEPT = 1_000
_DRAWN = 5
"""Names of a ranking whose means are drawn beside its verdict."""


@dataclass(frozen=True, slots=True)
class Means:
    """The first names of a ranking with their means, as its own page draws them."""

    rows: Sequence[tuple[str, str]]
    whiskers: Whiskers
    more: int
    notes: Sequence[str]
    scale: str


_RANKINGS: dict[str, tuple[OfTarget, Means | None]] = {}
"""What rankings say, and their means, by the etags of these, which are long to read."""
_OF_GRIDS_TOLD: dict[tuple[uuid.UUID, str], ShownVerdict] = {}
"""Verdicts on grids by their ids and the etags of their statistics."""
_NEWS_OF_RESULTS = (*GRIDS, *STATISTICS, *GATES, "claim.*", "ranking.*")
_CLAIMS, _ALERTS, _NEWS, _READ_NEWS = 3, 3, 5, 50
_CONCLUSIONS, _FIRST = ("ranking.changed", "claim.flipped"), 3
Experiment = tuple[Scope, Sequence[tuple[str, ShownVerdict]], Means | None]
"""An experiment by the metric of which it has most cells, and what is known of its results: the verdict of their
ranking, or where that has no answer of its grids, as long as they are few; each with the id of its grid; and the means
of the ranking."""


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
        return project(rows[0].slug)
    listed = rows[:_PROJECTS]
    more = f"{write_instant(listed[-1].used_at)}~{listed[-1].slug}" if len(rows) > _PROJECTS else None
    json = data_path("/projects", "private" if "visitor" in g else "public")
    context = {"projects": listed, "total": total, "more": more, "json": json}
    return page("projects.html", [rows, total], lambda: context)


@pages.get("/projects/<project>")
def project(project: str) -> Response:
    """What there is in a project."""
    now = datetime.now(UTC)
    with parts().database.snapshot() as connection:
        row = enter(connection, project, "reader")
        scopes, experiments, lacking, known, grids = experiments_told(connection, row.id)
        counts = {f"{kind}s": name_counts(connection, row.id, kind, limit=1)[1] for kind in ("model", "benchmark")}
        claims = claims_in_order(connection, row.id, ClaimFilters(verdict=CONTRADICTED), _CLAIMS)
        judged = verdicts_in_order(connection, row.id, ClaimFilters())
        alerts = list_alerts(connection, row.id, {"state": LIVE}, None, _ALERTS + 1)
        news = latest(connection, row.id, _READ_NEWS)
    _ask_for_targets(project, lacking)
    waits = [one.experiment for one, target in lacking if target == TARGETS[0]]

    def context() -> dict[str, Any]:
        return {
            "project": row,
            "prose_": prose_of(row.description),
            "about_json": data_path(f"/projects/{project}", row.visibility),
            "json": data_path(f"/projects/{project}", row.visibility),
            "front": request.path == "/",
            "month_ago": days_ago(30),
            "experiments": experiments,
            "waits": waits,
            "every": PENDING_SECONDS if waits else SETTLED_SECONDS,
            "empty": [one.experiment for one in scopes if not one.measured][:_EXPERIMENTS],
            "counts": {"experiments": len(scopes), **counts, "grids": grids},
            "alerts": [told(one) for one in alerts],
            "claims": [shown_claim(one) for one in claims],
            "headline": headline(judged),
            "judged": ordered(judged),
            "news": list(_lately(news.said(project, now))),
            "feed": live_on(row, (*_NEWS_OF_RESULTS, "experiment.*", "project.updated")),
        }

    made_of = [row.updated_at, scopes, waits, known, counts, tags_of_claims(claims), judged, tags(alerts), news.tags]
    return page("project.html", [*made_of, now.replace(second=0, microsecond=0)], context)


def _lately(told: Sequence[Any]) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
    """The first events in runs as the activity has them, of grids that were revised together one; before them the last
    ones of what other values made another conclusion."""
    room, first = _NEWS, [one for one in told if one[0].type in _CONCLUSIONS][:_FIRST]
    for shown_, folded in runs_of([*first, *(one for one in told if one not in first)], unfolded=1):
        if room <= 0:
            return
        yield shown_[:room], folded
        room -= len(shown_)


def _by_experiment(scopes: Sequence[Scope], joined: Mapping[str, str]) -> list[Scope]:
    """Each experiment, of its metrics that with most cells, the latest changed first; joined names are one."""
    found, metrics = dict[str, Scope](), dict[str, set[str]]()
    for one in scopes:
        name = joined.get(one.experiment, one.experiment)
        metrics.setdefault(name, set()).add(one.metric)
        known = found.get(name)
        if known is None or known.measured < one.measured:
            found[name] = replace(one, experiment=name)
    order = [replace(one, also=tuple(sorted(metrics[name] - {one.metric}))) for name, one in sorted(found.items())]
    return sorted(order, key=lambda one: str(one.updated_at), reverse=True)


def experiments_told(
    connection: Connection, project_id: Any
) -> tuple[list[Scope], list[Experiment], list[tuple[Scope, str]], list[object], int]:
    """All experiments, those with data and their verdicts, the rankings that they lack, what all is made of, and how
    many grids there are, by any metric."""
    every = scopes_of(connection, project_id, Filters())
    scopes = _by_experiment(every, joined_of_kind(connection, project_id, "experiment"))
    told = _told(connection, project_id, [one for one in scopes if one.measured][:_EXPERIMENTS])
    return scopes, *told, sum(one.grids for one in every)


def _told(
    connection: Connection, project_id: Any, scopes: Sequence[Scope]
) -> tuple[list[Experiment], list[tuple[Scope, str]], list[object]]:
    """The experiments with their verdicts, the rankings that they lack, and what all is made of."""
    ranked = _ranked(connection, project_id, scopes[:_TOLD])
    tags_: list[object] = [etag for each in ranked.values() for etag, _, _ in each.values()]
    # What has no noise is tested for other targets: the narrowest that is speaks, as above the results themselves.
    spoken = {name: [(one, drawn) for _, one, drawn in each.values()] for name, each in ranked.items() if each}
    verdicts = {name: shown(verdict_of_targets([one for one, _ in each])) for name, each in spoken.items()}
    means = {name: next((drawn for one, drawn in each if one.tested), each[0][1]) for name, each in spoken.items()}
    answered = {name for name, one in verdicts.items() if one.answer != "none"}
    means = {name: one for name, one in means.items() if name in answered}
    few = [one for one in scopes[:_TOLD] if one.grids <= _GRIDS_EACH and one.experiment not in answered]
    few.sort(key=lambda one: one.possible)
    cells = itertools.accumulate(one.possible for one in few)
    alone = [one for one, until in zip(few, cells, strict=True) if until <= _CELLS]
    found = {name: [("", one)] for name, one in verdicts.items()}
    by_grid, tags_of_grids = _of_grids(connection, project_id, alone) if alone else ({}, [])
    each = found | by_grid
    told: list[Experiment] = [(one, each.get(one.experiment, ()), means.get(one.experiment)) for one in scopes]
    lacking = [
        (one, target) for one in scopes[:_TOLD] if one.experiment in answered
        for target in TARGETS if target not in ranked[one.experiment]
    ]  # fmt: skip
    lacking += [(one, TARGETS[0]) for one in scopes[:_TOLD] if one.grids > 1 and ranked.get(one.experiment) == {}]
    return told, lacking, [*tags_, *tags_of_grids]


def _ranked(
    connection: Connection, project_id: Any, scopes: Sequence[Scope]
) -> dict[str, dict[str, tuple[str, OfTarget, Means | None]]]:
    """The usual rankings of these experiments by target, as far as they are known from the narrowest on: the etag, what
    each says, and its means; none where the narrowest is being computed."""
    if len(_RANKINGS) > _MOST_KEPT:
        _RANKINGS.clear()
    kept, found = dict(_RANKINGS), {}
    for (name, _), each in usual_rankings(connection, project_id, scopes, list(kept)).items():
        if TARGETS[0] not in each:
            continue
        there = {target: one for target, one in each.items() if one.etag and each[TARGETS[0]].etag}
        for one in there.values():
            if one.document is not None:
                answer = of_measured(read(Ranking, one.document))
                kept[one.etag] = _RANKINGS[one.etag] = of_target(answer), means_of(answer)
        found[name] = {target: (one.etag, *kept[one.etag]) for target, one in there.items()}
    return found


def _ask_for_targets(slug: str, lacking: Sequence[tuple[Scope, str]]) -> None:
    """Promise the rankings that say what else it holds for; the page shows them once they are there."""
    with suppress(TryLater, NotFound, Invalid):
        for one, target in lacking:
            ask(RankingQuery(one.experiment, one.metric, target=target), slug)


def means_of(ranking: Ranking) -> Means | None:
    """The means of its first names, those without one last; None where there is nothing to compare."""
    drawn = sorted(ranking.ranking[:_DRAWN], key=lambda one: one.mean is None)
    ranking = replace(ranking, ranking=(*drawn, *ranking.ranking[_DRAWN:]))
    first, texts = ranking.ranking[:_DRAWN], mean_texts(ranking)
    whiskers = whiskers_of([(one.mean, one.mean_interval) for one in first])
    if whiskers is None or len(first) < 2:
        return None
    names = [(one.name, text.strip()) for one, text in zip(first, texts, strict=False)]
    notes = [
        *beside_means(replace(ranking, ranking=first)),
        *without_mean(((one.name, one.mean) for one in first), ranking),
        *(
            [what_marks(ranking.missing, (one.adjusted and one.mean_interval for one in first))]
            * any(over_fewer(ranking))
        ),
    ]
    return Means(names, whiskers, len(ranking.ranking) - len(first), notes, scale_words(ranking))


def means_on(ranking: Ranking, benchmark: str) -> Means | None:
    """The means of the best names of a ranking on one of its benchmarks; None where it has no two scores there."""
    scores = {one.name: one for part in ranking.by_benchmark if part.benchmark == benchmark for one in part.names}
    lower = bool(ranking.scale and ranking.scale.direction == "lower")
    best = sorted(scores.values(), key=lambda one: one.score, reverse=not lower)
    rows = {row.name: row for row in ranking.ranking}
    here = [
        replace(rows[one.name], rank=None, mean=one.score, mean_interval=one.interval, adjusted=None) for one in best
    ]
    own = replace(ranking, ranking=tuple(here))
    without = [name for name in rows if name not in scores]
    told = [f"No mean on it, being set aside or not measured: {listed(without)}"] if without else []
    if ranking.missing != "available" and has_holes(own):
        told.append("Each mean is over the cells on it that all of these have.")
    found = means_of(own)
    return found and replace(found, notes=[*found.notes, *told])


def _of_grids(
    connection: Connection, project_id: Any, scopes: Sequence[Scope]
) -> tuple[dict[str, list[tuple[str, ShownVerdict]]], list[object]]:
    """The verdicts on the grids of these experiments whose statistics are there, and their entity tags."""
    entries = entries_of(connection, project_id, Filters(), scopes, _GRIDS_EACH)
    told, tags_ = verdicts_on(connection, project_id, [one.id for each in entries.values() for one in each])
    found: dict[str, list[tuple[str, ShownVerdict]]] = {}
    for scope in scopes:
        for entry in entries.get((scope.experiment, scope.metric), ()):
            if entry.id in told:
                found.setdefault(scope.experiment, []).append((str(entry.id), told[entry.id]))
    return found, tags_


def verdicts_on(
    connection: Connection, project_id: Any, grids: Sequence[uuid.UUID]
) -> tuple[dict[uuid.UUID, ShownVerdict], list[object]]:
    """The verdicts on grids whose statistics are there, and the entity tags of these."""
    known = find_statistics_of(connection, grids)
    ready = {grid: one for grid, one in known.items() if one.document is not None}
    if len(_OF_GRIDS_TOLD) > _MOST_KEPT:
        _OF_GRIDS_TOLD.clear()
    kept = dict(_OF_GRIDS_TOLD)
    new = [grid for grid, one in ready.items() if (grid, one.etag) not in kept]
    page_ = Page("benchmark", limit=len(new))
    for stored in find_whole_grids(connection, project_id, Filters(ids=new), page_) if new else ():
        verdict = grid_verdict(serializers.grid(stored), read(Statistics, ready[stored.id].document))
        names = (stored.names.benchmark, stored.names.model, stored.names.variant)
        key = stored.id, ready[stored.id].etag
        kept[key] = _OF_GRIDS_TOLD[key] = shown(verdict, " · ".join(filter(None, names)))
    told = {grid: kept[grid, one.etag] for grid, one in ready.items() if (grid, one.etag) in kept}
    return told, [one.etag for one in ready.values()]


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


def steps(address: str) -> tuple[Step, ...]:
    """Five lines for a POSIX shell against the registry at `address`, with the token that `registry up` leaves in the
    home of who reads them, wherever this server has its own; they publish into the project `demo`."""
    home = f"${{REGISTRY_HOME:-{DEFAULT_HOME.replace('~', '$HOME')}}}"
    return (
        Step(
            "Keep the address and a token: `registry up` writes an administrator's into its home, or `REGISTRY_HOME`.",
            f'API={address}/api/v1\nAUTH="Authorization: Bearer $(cat "{home}/{TOKEN_FILE}")"',
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
