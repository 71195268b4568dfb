"""The page of an experiment: its grids side by side, and the coordinate that serves all of them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from flask import Response, request

from registry.api import serializers
from registry.api.cached_results import ask, settled
from registry.api.context import enter, parts
from registry.api.paging import write_key
from registry.api.query_schemas import SweetSpotParameters
from registry.errors import NotFound
from registry.grids.intake.levels import has_control
from registry.operations.find import Filters, Page, find_whole_grids, sort_key
from registry.operations.form_options import count_grids, name_options
from registry.operations.query_names import known_names_text
from registry.operations.read import find_statistics
from registry.operations.stored_grids import StoredGrid
from registry.pages.blocks import parts_of
from registry.pages.choices import choice_of
from registry.pages.front import pages
from registry.pages.heatmap import Heatmap, fits, heatmap_of
from registry.pages.links import data_path
from registry.pages.palette import BINS
from registry.pages.queries import LOOK, checked, cursor_of, look, state_of, tags_of
from registry.pages.responses import PENDING_SECONDS, SETTLED_SECONDS, page
from registry.pages.verdict import verdict_of
from registry.query import SweetSpotQuery
from registry.renderings.heatmap.options import Options
from registry.renderings.numbers import plain_number
from registry.renderings.sweet_spot import sweet_spot_blocks
from registry.results.codec import read
from registry.results.statistics import PICTURED, Statistics
from registry.results.sweet_spot import SweetSpot

Document = dict[str, Any]
MOST_PANELS = 24
FILTERS = ("model", "variant", "benchmark")


@pages.get("/projects/<project>/experiments/<path:experiment>")
def experiment(project: str, experiment: str) -> Response:
    """The grids of an experiment with one metric, and their sweet spot."""
    options = look()
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        if has_control(experiment):
            raise NotFound("No experiment has such a name.")
        metrics = name_options(connection, row.id, "metric", Filters(experiment=[experiment]))
        if not metrics:
            raise NotFound(f'The project has no grid of an experiment "{experiment}".')
        query = checked(SweetSpotParameters, also=(*LOOK, "cursor"), optional=("metric",))
        metric = query.get("metric") or metrics[0]
        if metric not in metrics:
            raise NotFound(f'No grid of "{experiment}" has the metric "{metric}"; {known_names_text(metrics)}.')
        chosen = {kind: query[kind] for kind in FILTERS}
        scope = Filters(experiment=[experiment], metric=[metric], **chosen)
        after = cursor_of("model")
        total, before = (
            count_grids(connection, row.id, scope),
            count_grids(connection, row.id, scope, after) if after else 0,
        )
        found = find_whole_grids(connection, row.id, scope, Page("model", after, MOST_PANELS))
        of_metric = Filters(experiment=[experiment], metric=[metric])
        choices = [choice_of(connection, row.id, kind, chosen[kind], of_metric) for kind in FILTERS]
        shown = sorted(found[:MOST_PANELS], key=_order)
        statistics = [find_statistics(connection, one.id) for one in shown]
    sweet = _sweet_spot(project, experiment, metric, chosen) if total > 1 else None
    pending = (sweet is not None and not settled(sweet)) or any(one.state == "pending" for one in statistics)
    last = found[MOST_PANELS - 1] if len(found) > MOST_PANELS else None
    cursor = write_key(sort_key(last, "model"), last.id) if last else None

    def context() -> dict[str, Any]:
        panels = _panels(shown, statistics, options)
        return {
            "project": row,
            "experiment": experiment,
            "shown": _digest(shown),
            "metric": metric,
            "metrics": metrics,
            "unit": next((one.grid.metric.unit for one in shown), None),
            "groups": _groups(panels),
            "ranges": [panel for panel in panels if panel["low"] is not None],
            "total": total,
            "first": before + 1,
            "last": before + len(shown),
            "cursor": cursor,
            "asked": [(name, text) for name, text in request.args.items(multi=True) if text and name in LOOK],
            "shared": _shared(panels),
            "bounds": _bounds(shown),
            "range": request.args.get("range", "own"),
            "palette": options.palette,
            "bins": range(BINS),
            "choices": choices,
            "sweet": _shown(sweet),
            "sweet_state": state_of(sweet),
            "data": lambda path="", **more: data_path(
                f"/projects/{project}{path}", row.visibility, [*more.items(), *_pairs(chosen)]
            ),
            "every": PENDING_SECONDS if pending else SETTLED_SECONDS,
        }

    made_of = [
        row.updated_at,
        [(one.id, one.etag) for one in shown],
        [one.etag for one in statistics],
        metrics,
        choices,
        total,
    ]
    return page("experiment.html", [*made_of, *tags_of(sweet)], context)


def _digest(shown: Sequence[StoredGrid]) -> str:
    """Changes when any value on the page does."""
    return sha256(" ".join(f"{one.id} {one.revision_tag}" for one in shown).encode()).hexdigest()[:12]


def _order(one: StoredGrid) -> tuple[str, str, str]:
    return one.names.model, one.names.variant, one.names.benchmark


def _sweet_spot(project: str, experiment: str, metric: str, chosen: dict[str, Sequence[str]]) -> Any:
    names = {kind: tuple(sorted(set(texts))) for kind, texts in chosen.items()}
    _, found = ask(SweetSpotQuery(experiment, metric, **names), project, patience=1.0)
    return found


def _shown(found: Any) -> Any:
    """The blocks of the sweet spot, or None while there is none."""
    if state_of(found) != "ready":
        return None
    document = read(SweetSpot, found.document)
    return {"verdict": verdict_of(document), "parts": parts_of(sweet_spot_blocks(document))}


def _panels(shown: Sequence[StoredGrid], statistics: Sequence[Any], options: Options) -> list[dict[str, Any]]:
    """Each grid with its heatmap and the range of its values."""
    found = []
    for one, known in zip(shown, statistics, strict=True):
        document = serializers.grid(one)
        measured = [value for value in one.grid.values if value is not None]
        ready = known.document is not None and known.revision == one.revision
        stored = read(Statistics, known.document, PICTURED) if ready else None
        map_: Heatmap | None = heatmap_of(document, stored, _possible(options, one)) if fits(document) else None
        low, high = min(measured, default=None), max(measured, default=None)
        found.append(
            {
                "grid": document,
                "map": map_,
                "low": low,
                "high": high,
                "range": f"{plain_number(low)} to {plain_number(high)}" if low is not None and high is not None else "",
            }
        )
    return found


def _possible(options: Options, one: StoredGrid) -> Options:
    """The bounds only where the metric has them; a metric may be posted without them by one job."""
    return Options(palette=options.palette) if options.span == "bounds" and one.grid.metric.range is None else options


def _groups(panels: Sequence[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """The panels by model and variant."""
    grouped = itertools.groupby(panels, key=lambda panel: (panel["grid"]["model"], panel["grid"]["variant"]))
    return [(" · ".join(filter(None, names)), list(group)) for names, group in grouped]


def _shared(panels: Sequence[dict[str, Any]]) -> str | None:
    """The one range that holds every value, as the address takes it."""
    lows = [panel["low"] for panel in panels if panel["low"] is not None]
    highs = [panel["high"] for panel in panels if panel["high"] is not None]
    if not lows or min(lows) == max(highs):
        return None
    return f"{plain_number(min(lows))},{plain_number(max(highs))}"


def _bounds(shown: Sequence[StoredGrid]) -> bool:
    return bool(shown) and all(one.grid.metric.range is not None for one in shown)


def _pairs(chosen: dict[str, Sequence[str]]) -> list[tuple[str, str]]:
    return [(kind, text) for kind, texts in chosen.items() for text in texts]
