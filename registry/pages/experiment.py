"""The page of an experiment: its grids side by side, and the coordinate that serves all of them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from flask import Response, request
from sqlalchemy import Connection

from registry.api.cached_results import ask, known_answer, settled
from registry.api.context import enter, parts
from registry.api.old_statistics import recompute_old
from registry.api.paging import write_key
from registry.api.query_schemas import SweetSpotParameters
from registry.errors import Invalid, NotFound
from registry.grids.intake.levels import has_control
from registry.grids.slices import PARAMETER, Slice, slice_faults, slice_text
from registry.operations.experiments import find_note
from registry.operations.find import Filters, Page, find_whole_grids, sort_key
from registry.operations.form_options import count_grids, name_options
from registry.operations.query_names import known_names_text
from registry.operations.read import find_statistics_of
from registry.operations.stored_grids import StoredGrid
from registry.pages.blocks import parts_of
from registry.pages.choices import Choice, choice_of
from registry.pages.evidence import evidence_of
from registry.pages.front import pages
from registry.pages.links import data_path
from registry.pages.live import ANSWERS, PENDING_SECONDS, SETTLED_SECONDS, STATISTICS, live_on
from registry.pages.noise import asked_noise, noise_parts
from registry.pages.palette import BINS
from registry.pages.panels import groups_of, panels_of, shared_range
from registry.pages.prose import prose_of
from registry.pages.queries import LOOK, checked, cursor_of, look, state_of, tags_of
from registry.pages.responses import page
from registry.pages.said import said_of
from registry.pages.slices import in_slice, slice_lists, slice_of_page
from registry.pages.verdict import ShownVerdict
from registry.pages.verdict import shown as shown_verdict
from registry.query import RankingQuery, RepeatNoiseQuery, SweetSpotQuery
from registry.renderings.heatmap.options import Options
from registry.renderings.sweet_spot import sweet_spot_blocks
from registry.renderings.verdicts.ranking import ranking_verdict
from registry.renderings.verdicts.sweet_spot import sweet_spot_verdict
from registry.results.codec import read
from registry.results.ranking import Ranking
from registry.results.sweet_spot import SweetSpot

MOST_PANELS = 24
FILTERS = ("model", "variant", "benchmark")


@dataclass(frozen=True, slots=True)
class Scope:
    """The grids that are asked for: those of an experiment by one of its metrics, and only those of chosen names."""

    experiment: str
    metric: str
    metrics: Sequence[str]
    chosen: Mapping[str, Sequence[str]]
    wanted: Slice

    @property
    def query(self) -> SweetSpotQuery:
        """The question which coordinate serves all of the grids."""
        return SweetSpotQuery(self.experiment, self.metric, **self._names, at=self.wanted)

    @property
    def ranking(self) -> RankingQuery:
        """The question who is best in all of the grids."""
        return RankingQuery(self.experiment, self.metric, **self._names, at=self.wanted)

    @property
    def noise(self) -> RepeatNoiseQuery:
        """The question by how much one repeat of a cell varies."""
        return RepeatNoiseQuery(self.experiment, self.metric, **self._names, at=self.wanted)

    @property
    def sliced_by(self) -> list[tuple[str, str]]:
        """Query string of the slice."""
        return [(PARAMETER + axis, text) for axis, texts in self.wanted for text in texts]

    @property
    def _names(self) -> dict[str, Any]:
        return {kind: tuple(sorted(set(texts))) for kind, texts in self.chosen.items()}


@dataclass(frozen=True, slots=True)
class Listed:
    """The grids of a page with their statistics, how many there are and stand before them, the next page's cursor, and
    the names to choose from."""

    grids: Sequence[StoredGrid]
    statistics: Sequence[Any]
    total: int
    before: int
    cursor: str | None
    choices: Sequence[Choice]

    @property
    def pending(self) -> bool:
        """Whether statistics are being computed."""
        return any(one.state == "pending" for one in self.statistics)

    @property
    def tags(self) -> list[object]:
        """Entity tags of everything that a page of these grids is made of."""
        tags = [(one.id, one.etag) for one in self.grids], [one.etag for one in self.statistics]
        return [*tags, self.choices, self.total]


_TOLD = (*ANSWERS, *STATISTICS, "claim.*", "experiment.updated", "ranking.changed")


@pages.get("/projects/<project>/experiments/<path:experiment>")
def experiment(project: str, experiment: str) -> Response:
    """The grids of an experiment with one metric, and their sweet spot and the noise of their repeats."""
    options = look()
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        scope = _scope(connection, row.id, experiment)
        listed = _listed(connection, row.id, scope)
        note = find_note(connection, row.id, experiment)
        said = said_of(connection, row, experiment)
    recompute_old(listed.statistics)
    if not listed.before and (
        faults := slice_faults((a for one in listed.grids for a in one.axes), scope.wanted, "no grid")
    ):
        raise Invalid(faults)
    sweet = ask(scope.query, project, patience=1.0)[1] if listed.total > 1 else None
    ranked = known_answer(scope.ranking, project) if listed.total > 1 else None
    noise = asked_noise(scope.noise, project, listed.grids)
    pending = listed.pending or any(one is not None and not settled(one) for one in (sweet, noise))

    def context() -> dict[str, Any]:
        chosen = [(kind, text) for kind, texts in scope.chosen.items() for text in texts] + scope.sliced_by
        shown = [(part, known) for part, known in _in_slice(listed, scope.wanted) if part is not None]
        return {
            "project": row,
            "experiment": experiment,
            "note": note,
            "prose_": prose_of(note.description),
            "metric": scope.metric,
            "metrics": scope.metrics,
            **_panels(shown, options),
            "outside": len(listed.grids) - len(shown),
            "slices": slice_lists((axis for one in listed.grids for axis in one.axes), scope.wanted),
            "slice_text": slice_text(scope.wanted),
            "sliced": {PARAMETER + axis: texts for axis, texts in scope.wanted},
            "selected": {PARAMETER + axis: texts for axis, texts in scope.wanted}
            | {kind: tuple(texts) for kind, texts in scope.chosen.items() if texts},
            "whole": {PARAMETER + axis: None for axis, _ in scope.wanted},
            **_place(listed),
            **_look(options),
            "choices": listed.choices,
            "said": said,
            "sweet": _sweet_spot(sweet),
            "verdicts_": list(_verdicts(sweet, ranked)),
            "sweet_state": state_of(sweet),
            "noise": noise_parts(noise),
            "noise_state": state_of(noise),
            "data": lambda path="", **more: data_path(
                f"/projects/{project}{path}", row.visibility, [*more.items(), *chosen]
            ),
            "every": PENDING_SECONDS if pending or said.is_due else SETTLED_SECONDS,
            "feed": live_on(row, _TOLD, experiment=experiment),
        }

    tags = [*said.tags, note.tag, note.rules.tag, *listed.tags, *tags_of(sweet), *tags_of(ranked), *tags_of(noise)]
    return page("experiment.html", [row.updated_at, scope.metrics, *tags], context)


def _scope(connection: Connection, project_id: uuid.UUID, experiment: str) -> Scope:
    """Scope that the request asks for; `NotFound` for an experiment or a metric that no grid has."""
    if has_control(experiment):
        raise NotFound("No experiment has such a name.")
    metrics = name_options(connection, project_id, "metric", Filters(experiment=[experiment]))
    if not metrics:
        raise NotFound(f'The project has no grid of an experiment "{experiment}".')
    query = checked(SweetSpotParameters, also=(*LOOK, "cursor"), optional=("metric",), families=(PARAMETER,))
    metric = query.get("metric") or metrics[0]
    if metric not in metrics:
        raise NotFound(f'No grid of "{experiment}" has the metric "{metric}"; {known_names_text(metrics)}.')
    return Scope(experiment, metric, metrics, {kind: query[kind] for kind in FILTERS}, slice_of_page())


def _listed(connection: Connection, project_id: uuid.UUID, scope: Scope) -> Listed:
    """The grids of the page that the request asks for, in the order of their models."""
    of_metric = Filters(experiment=[scope.experiment], metric=[scope.metric])
    names = scope.chosen
    filters = replace(of_metric, model=names["model"], variant=names["variant"], benchmark=names["benchmark"])
    after = cursor_of("model")
    found = find_whole_grids(connection, project_id, filters, Page("model", after, MOST_PANELS))
    last = found[MOST_PANELS - 1] if len(found) > MOST_PANELS else None
    known = find_statistics_of(connection, [one.id for one in found[:MOST_PANELS]])
    there = (one for one in found[:MOST_PANELS] if one.id in known)
    shown = sorted(there, key=lambda one: (one.names.model, one.names.variant, one.names.benchmark))
    return Listed(
        shown,
        [known[one.id] for one in shown],
        count_grids(connection, project_id, filters),
        count_grids(connection, project_id, filters, after) if after else 0,
        write_key(sort_key(last, "model"), last.id) if last else None,
        [choice_of(connection, project_id, kind, names[kind], of_metric) for kind in FILTERS],
    )


def _in_slice(listed: Listed, wanted: Slice) -> Iterator[tuple[StoredGrid | None, Any]]:
    """Each grid as far as the slice has it, with its statistics: what is best in all of it may be outside."""
    for one, known in zip(listed.grids, listed.statistics, strict=True):
        yield (in_slice(one, wanted), None) if wanted else (one, known)


def _panels(sides: Sequence[tuple[StoredGrid, Any]], options: Options) -> dict[str, Any]:
    """The heatmaps, and the ranges that they may have."""
    shown = [grid for grid, _ in sides]
    panels = panels_of(shown, [known for _, known in sides], options)
    return {
        "groups": groups_of(panels),
        "ranges": [panel for panel in panels if panel.low is not None],
        "shared": shared_range(panels),
        "bounds": bool(shown) and all(one.grid.metric.range is not None for one in shown),
        "unit": next((one.grid.metric.unit for one in shown), None),
        "shown": _digest(shown),
    }


def _digest(shown: Sequence[StoredGrid]) -> str:
    """Changes when any value on the page does."""
    return sha256(" ".join(f"{one.id} {one.revision_tag}" for one in shown).encode()).hexdigest()[:12]


def _place(listed: Listed) -> dict[str, Any]:
    """Where the page stands among the pages of the experiment."""
    first, last = listed.before + 1, listed.before + len(listed.grids)
    return {"total": listed.total, "first": first, "last": last, "cursor": listed.cursor}


def _look(options: Options) -> dict[str, Any]:
    """The colours, as the address asks for them."""
    return {
        "asked": [(name, text) for name, text in request.args.items(multi=True) if text and name in LOOK],
        "range": request.args.get("range", "own"),
        "palette": options.palette,
        "bins": range(BINS),
    }


def _sweet_spot(found: Any) -> Any:
    """The verdict on the sweet spot and its blocks, or None while there is none."""
    if state_of(found) != "ready":
        return None
    document = read(SweetSpot, found.document)
    return {"evidence": evidence_of(document), "parts": parts_of(sweet_spot_blocks(document))}


def _verdicts(sweet: Any, ranked: Any) -> Iterator[ShownVerdict]:
    """What the ranking and the sweet spot amount to, as far as they are there."""
    if ranked is not None:
        yield shown_verdict(ranking_verdict(read(Ranking, ranked.document)), "Who is best")
    if state_of(sweet) == "ready":
        yield shown_verdict(sweet_spot_verdict(read(SweetSpot, sweet.document)), "Best coordinate")
