"""View `heatmaps` of the page of results: the grids of an experiment side by side, and the noise of their repeats."""

import itertools
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

from flask import request
from sqlalchemy import Connection

from registry.api import serializers
from registry.api.answers import ask, settled
from registry.api.context import parts
from registry.api.paging import write_key
from registry.api.schemas import SelectedParameters
from registry.api.statistics import recompute_old
from registry.errors import Invalid
from registry.grids.slices import PARAMETER, slice_faults, slice_text
from registry.operations.find_grids import Filters, Page, find_grids_then, find_whole_grids
from registry.operations.names import joined_names, spelled
from registry.operations.read import find_grid, find_statistics_of
from registry.operations.scope_options import count_grids
from registry.operations.stored_grids import StoredGrid, stored_grid
from registry.pages.blocks import Part, parts_of
from registry.pages.choices import in_slice
from registry.pages.heatmap import Heatmap, fits, heatmap_of
from registry.pages.links import carried, data_path
from registry.pages.live import ANSWERS, STATISTICS
from registry.pages.palette import BINS
from registry.pages.parameters import LOOK, cursor_of, look
from registry.pages.responses import state_of, tags_of
from registry.pages.said import said_of
from registry.pages.view import Asked, Found, View
from registry.query import RepeatNoiseQuery
from registry.renderings.heatmap.layout import about_size
from registry.renderings.heatmap.scale import Options
from registry.renderings.numbers import UNDEFINED, fixed, places_shown, typeset
from registry.renderings.repeat_noise import page
from registry.results.codec import read
from registry.results.grid import GridDocument
from registry.results.repeat_noise import RepeatNoise
from registry.results.statistics import PICTURED, Statistics
from registry.selection import KINDS, Selection

MOST_PANELS = 24
_UNFOLDED = 6
"""At most so many heat maps are shown at once on a phone, of whole models where it can be; the rest is folded there."""


@dataclass(frozen=True, slots=True)
class Listed:
    """The grids of a page with their statistics, the selection without aliases, how many grids there are and stand
    before them, and the next page's cursor."""

    selection: Selection
    grids: Sequence[StoredGrid]
    statistics: Sequence[Any]
    total: int
    before: int
    cursor: str | None


_TOLD = (*ANSWERS, *STATISTICS, "claim.*", "experiment.updated", "ranking.changed")


def find(asked: Asked) -> Found:
    """The grids of the selection, and the noise of their repeats."""
    options, selection, experiment = look(), asked.selection, asked.query["experiment"]
    with parts().database.reading() as connection:
        listed = _listed(connection, asked.project.id, selection)
        said = said_of(connection, asked.project, experiment)
    recompute_old(listed.statistics)
    faults = slice_faults((axis for one in listed.grids for axis in one.axes), asked.wanted, "no grid")
    if faults and not listed.before:
        raise Invalid(faults)
    repeated = any(one.grid.sd is not None for one in listed.grids)
    noise: Any = ask(RepeatNoiseQuery(**selection), asked.slug)[1] if repeated else None
    pending = any(one.state == "pending" for one in listed.statistics)
    due = said.is_due or pending or (noise is not None and not settled(noise))

    address = partial(_address, asked, listed.selection)

    def shown() -> dict[str, Any]:
        both = zip(listed.grids, listed.statistics, strict=True)
        levels = ((one, known, listed.selection.levels_of(one.names.benchmark)) for one, known in both)
        # What is best in a whole grid need not be in the slice, whose own statistics are on the page of the grid.
        cut = ((in_slice(one, its), None if its else known) for one, known, its in levels)
        sides = [(part, known) for part, known in cut if part is not None]
        every = [[axis.name for axis in one.axes] for one in listed.grids] or [[]]
        return {
            "experiment": experiment,
            "metric": asked.query["metric"],
            **_panels(sides, options, address),
            "levels_of": lambda name: slice_text(listed.selection.levels_of(name)[len(asked.wanted) :]),
            "outside": len(listed.grids) - len(sides),
            "told_there": not selection.get("as_of") and any(known is None for _, known in sides),
            "total": listed.total,
            "first": listed.before + 1,
            "last": listed.before + len(listed.grids),
            "cursor": listed.cursor,
            "said": said,
            # Those that all of these grids have, of which a ranking orders the levels.
            "axes": [name for name in every[0] if all(name in other for other in every)] if listed.total > 1 else (),
            "verdicts": [],
            "noise": noise_parts(noise),
            "noise_state": state_of(noise),
            "data": partial(_data, asked),
        }

    of_grids = [(one.id, one.etag) for one in listed.grids], [one.etag for one in listed.statistics], listed.total
    tags = [*said.tags, *of_grids, *tags_of(noise)]
    return Found(None, shown, tags, computed="ready", pending=due)


def _data(asked: Asked, path: str = "", **more: str) -> str:
    """Where the data of the selection are."""
    narrowed = [one for one in asked.given() if one[0] not in ("experiment", "metric")]
    if path == "/grids":  # a list of grids knows no suite, and those of now
        narrowed = [one for one in narrowed if one[0] not in ("suite", "as_of", "benchmark")]
        narrowed += [("benchmark", one) for one in asked.selection["benchmark"]]
    return data_path(f"/projects/{asked.slug}{path}", asked.project.visibility, [*more.items(), *narrowed])


def _address(asked: Asked, selection: Selection, one: StoredGrid, path: str, **look: str) -> str:
    """The page of a grid, or with a path its data, of what is selected."""
    levels = selection.levels_of(one.names.benchmark)
    cut = [(PARAMETER + axis, text) for axis, texts in levels for text in texts]
    if not path:
        revision = [("revision", str(one.revision))] * (one.revision != one.current_revision)
        return carried(f"/grids/{one.id}", [*revision, *cut])
    query = [*look.items(), ("revision", str(one.revision)), *cut]
    return data_path(f"/grids/{one.id}{path}", asked.project.visibility, query)


def _listed(connection: Connection, project_id: uuid.UUID, selection: Mapping[str, Any]) -> Listed:
    """The grids of the page that the request asks for, in the order of their models: as they are, or as they were."""
    names: dict[str, Any] = {kind: selection[kind] for kind in KINDS}
    filters = Filters(experiment=[selection["experiment"]], metric=[selection["metric"]], **names)
    after, joined = cursor_of("model"), joined_names(connection, project_id)

    def place(one: Any) -> tuple[str, uuid.UUID]:
        return joined.get(("model", one.model), one.model), one.id

    if as_of := selection.get("as_of"):
        then = sorted(find_grids_then(connection, project_id, filters, as_of), key=place)
        total, before = len(then), sum(place(one) <= after for one in then) if after else 0
        rows = [find_grid(connection, one.id, one.revision) for one in then[before : before + MOST_PANELS + 1]]
        found = [stored_grid(row) for row in rows if row is not None]
    else:
        total = count_grids(connection, project_id, filters)
        before = count_grids(connection, project_id, filters, after) if after else 0
        found = find_whole_grids(connection, project_id, filters, Page("called", after, MOST_PANELS))
    here = _whole([(spelled(one, joined).names.model, one) for one in found])
    last = here[-1] if len(found) > len(here) else None
    known = find_statistics_of(connection, [one.id for one in here])
    there = (spelled(one, joined) for one in here if one.id in known)
    shown = sorted(there, key=lambda one: (one.names.model, one.names.variant, one.names.benchmark))
    cursor = write_key(*place(SimpleNamespace(model=last.names.model, id=last.id))) if last else None
    picked = Selection(**selection).canonical(joined)
    return Listed(picked, shown, [known[one.id] for one in shown], total, before, cursor)


def _whole(found: Sequence[tuple[str, StoredGrid]]) -> list[StoredGrid]:
    """The grids of a page: without those of a model of which the next page has more, unless it is the only one here."""
    here, more = found[:MOST_PANELS], found[MOST_PANELS:]
    cut = {name for name, _ in (*here[-1:], *more[:1])} if more else set()
    whole = here if len(cut) != 1 else [one for one in here if one[0] not in cut]
    return [one for _, one in whole or here]


def _panels(sides: Sequence[tuple[StoredGrid, Any]], options: Options, address: Callable[..., str]) -> dict[str, Any]:
    """The heatmaps: in one range of colours, if their unit is one and the address asks for no other."""
    shown = [grid for grid, _ in sides]
    values = [value for one in shown for value in one.grid.values if value is not None]
    shared = len({one.grid.metric.unit for one in shown}) == 1 and min(values, default=0) < max(values, default=0)
    asked = request.args.get("range") or ("shared" if shared else "own")
    if asked == "shared":
        options = replace(options, span=(min(values), max(values)))
    panels = [_panel(grid, known, options, address) for grid, known in sides]
    maps = [one.map for one in panels if one.map and one.low is not None]
    alike = len({(one.scale.low, one.scale.high) for one in maps}) == 1
    of = [_called(panel) for panel in panels]
    unfolded = next((n for n in range(_UNFOLDED, 0, -1) if of[n - 1 : n] != of[n : n + 1]), _UNFOLDED)
    digest = sha256(" ".join(f"{one.id} {one.revision_tag}" for one in shown).encode()).hexdigest()[:12]
    if shown and not any(one.axes for one in shown):
        return {"singles": [_singles(panels)], "groups": [], "ranges": [], "shown": digest}
    return {
        "singles": [],
        "groups": _grouped(panels[:unfolded]),
        "rest": _grouped(panels[unfolded:]),
        "palette": options.palette,
        "bins": range(BINS),
        "ranges": [panel for panel in panels if panel.low is not None],
        # Of one range for all, one bar of colours, with the most decimals that any of them has.
        "bar_of_all": max(maps, key=lambda one: one.decimals or 0) if alike else None,
        "shared": shared,
        "range": asked,
        "bounds": bool(shown) and all(one.grid.metric.range is not None for one in shown),
        "unit": next((one.grid.metric.unit for one in shown), None),
        "shown": digest,
    }


def _called(panel: "Panel") -> str:
    return " · ".join(filter(None, (panel.grid["model"], panel.grid["variant"])))


def _grouped(panels: "Sequence[Panel]") -> "list[tuple[str, list[Panel]]]":
    """The panels of each model and variant, by its name."""
    return [(name, list(group)) for name, group in itertools.groupby(panels, key=_called)]


def _singles(panels: "Sequence[Panel]") -> Part:
    """Single scores, a row each: they have no axis along which there is something to see."""
    unit = next((f" ({one.grid['metric']['unit']})" for one in panels if one.grid["metric"]["unit"]), "")
    heads = [("benchmark", False), ("model", False), (f"score{unit}", True)]
    decimals = places_shown(one.low for one in panels)
    rows = [
        (
            one.grid["benchmark"],
            _called(one),
            UNDEFINED if one.low is None else typeset(fixed(one.low, decimals)),
        )
        for one in panels
    ]
    return Part("table", heads=heads, rows=rows, keys=2, links=[one.data("") for one in panels])


VIEW = View("heatmaps", "Heat maps", "experiments", "These heat maps", "experiment.html", SelectedParameters, find,
            own=(*LOOK, "cursor"), forms=(), events=_TOLD)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Panel:
    """A grid with its heatmap, if that is not too large, and the range of its values, if any was measured; `data` is
    where a picture of it is, or with no path its page, and `place` about how large that is."""

    grid: GridDocument
    map: Heatmap | None
    low: float | None
    high: float | None
    data: Callable[..., str]
    place: tuple[int, int] | None


def _panel(one: StoredGrid, known: Any, options: Options, address: Callable[..., str]) -> Panel:
    """A grid marked by its statistics where there are those of its revision; a slice is not marked, which says nothing
    of what else may be the best."""
    document = serializers.grid(one)
    ready = known is not None and known.document is not None and known.revision == one.revision
    stored = read(Statistics, known.document, PICTURED) if ready else None
    if options.span == "bounds" and one.grid.metric.range is None:  # a job may post a metric without its bounds
        options = Options(palette=options.palette)
    map_ = heatmap_of(document, stored, options) if fits(document) else None
    map_ = replace(map_, marked="") if map_ and known is None else map_
    measured = [value for value in one.grid.values if value is not None]
    span = options.span if isinstance(options.span, str) else f"{options.span[0]},{options.span[1]}"
    data = partial(address, one, range=span)
    place = about_size(document["axes"]) if map_ is None and len(one.axes) <= 2 else None
    return Panel(document, map_, min(measured, default=None), max(measured, default=None), data, place)


def noise_parts(found: Any) -> list[Part]:
    """The table and the sentences of the benchmarks that have repeats; nothing without any, or while it is computed."""
    if state_of(found) != "ready":
        return []
    document = read(RepeatNoise, found.document)
    repeated = tuple(one for one in document.benchmarks if one.between is not None)
    return parts_of(page(replace(document, benchmarks=repeated))) if repeated else []
