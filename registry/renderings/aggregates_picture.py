"""A table of means, bests or counts as a heatmap."""

from dataclasses import replace
from typing import Any

from registry.renderings.aggregates import by, dimension_name, labels_of, value_places
from registry.renderings.heatmap.panels import Marks, Planes, planes_of
from registry.renderings.heatmap.scale import Options
from registry.renderings.heatmap.svg import planes_svg
from registry.renderings.heatmap.vega import heatmap_vega
from registry.renderings.words import about, left_out_line
from registry.results.aggregates import Aggregates
from registry.results.grid import GridDocument, PostedAxis

_ID = "table"
_WHAT = {"mean": "Mean", "best": "Best", "count": "Number"}


def aggregates_svg(found: Aggregates) -> str:
    """The picture of a table: the second-last dimension down, the last one across, a panel for each level of a third.
    What was not measured is hatched, and nothing else; where there is no table, so is everything."""
    document = grid_of_table(found)
    return planes_svg(document, _planes(document, found), Options())


def aggregates_vega(found: Aggregates) -> dict[str, Any]:
    """The same as a Vega-Lite 6 specification."""
    document = grid_of_table(found)
    return heatmap_vega(document, planes=_planes(document, found))


def _planes(document: GridDocument, found: Aggregates) -> Planes:
    planes = planes_of_table(document, _told(found))
    aside = frozenset(index for index, one in enumerate(found.entries) if one.value is None and one.cells)
    return replace(planes, marks=replace(planes.marks, aside=aside))


def _told(found: Aggregates) -> str:
    return "".join(f"{one[0].upper()}{one[1:]}." for one in left_out_line(found.incomparable, "counted"))


def grid_of_table(found: Aggregates) -> GridDocument:
    """The table as a grid whose axes are its dimensions, values rounded as they are written."""
    labels, places = labels_of(found), value_places(found)
    axes = [_axis(name, list(labels[name].values())) for name in found.group_by if name in labels]
    values = [one.value if one.value is None or places is None else round(one.value, places) for one in found.entries]
    sizes = [len(axis["levels"]) for axis in axes]
    counts = found.value == "count"
    document: Any = {
        "id": _ID,
        "project": "",
        "experiment": about(found, metric_is_said=True),
        "benchmark": f"{_WHAT[found.value]} {by(found)}",
        "model": "",
        "variant": "",
        "metric": {
            "name": "measured cells" if counts else found.metric,
            "unit": None if counts else found.unit,
            "direction": None if counts else found.direction,
            "lower": None,
            "upper": None,
        },
        "axes": axes,
        "values": _nested(values, sizes) if axes else None,
        "shape": tuple(sizes),
        "revision": 0,
        "slice": found.slice,
    }
    return document  # type: ignore[no-any-return]


def planes_of_table(document: GridDocument, told: str) -> Planes:
    """The panels of such a grid, with what is told of it. None of its values is marked as the best one: columns need
    not be comparable."""
    return replace(planes_of(document), marks=Marks(frozenset(), frozenset(), told))


def _axis(dimension: str, labels: list[Any]) -> PostedAxis:
    return {"name": dimension_name(dimension), "kind": "nominal", "unit": None, "scale": "linear", "levels": labels}


def _nested(values: list[float | None], sizes: list[int]) -> Any:
    """The values, row-major, as lists nested to the axes."""
    nested: list[Any] = values
    for size in sizes[:0:-1]:
        nested = [nested[start : start + size] for start in range(0, len(nested), size)]
    return nested
