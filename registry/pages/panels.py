"""The grids of an experiment side by side: a heatmap each, and the range of their values."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from registry.api import serializers
from registry.operations.stored_grids import StoredGrid
from registry.pages.heatmap import Heatmap, fits, heatmap_of
from registry.renderings.heatmap.options import Options
from registry.results.codec import read
from registry.results.grid import GridDocument
from registry.results.statistics import PICTURED, Statistics


@dataclass(frozen=True, slots=True)
class Panel:
    """A grid with its heatmap, if that is not too large, and the range of its values, if any was measured."""

    grid: GridDocument
    map: Heatmap | None
    low: float | None
    high: float | None


def panels_of(shown: Sequence[StoredGrid], statistics: Sequence[Any], options: Options) -> list[Panel]:
    """A panel for each grid, marked by its statistics where there are those of its revision."""
    return [_panel(one, known, options) for one, known in zip(shown, statistics, strict=True)]


def _panel(one: StoredGrid, known: Any, options: Options) -> Panel:
    document = serializers.grid(one)
    ready = known is not None and known.document is not None and known.revision == one.revision
    stored = read(Statistics, known.document, PICTURED) if ready else None
    map_ = heatmap_of(document, stored, _possible(options, one)) if fits(document) else None
    measured = [value for value in one.grid.values if value is not None]
    return Panel(document, map_, min(measured, default=None), max(measured, default=None))


def _possible(options: Options, one: StoredGrid) -> Options:
    """The bounds only where the metric has them; a metric may be posted without them by one job."""
    return Options(palette=options.palette) if options.span == "bounds" and one.grid.metric.range is None else options


def groups_of(panels: Sequence[Panel]) -> list[tuple[str, list[Panel]]]:
    """The panels by model and variant."""
    grouped = itertools.groupby(panels, key=lambda panel: (panel.grid["model"], panel.grid["variant"]))
    return [(" · ".join(filter(None, names)), list(group)) for names, group in grouped]
