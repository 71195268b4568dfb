"""What a picture says in words: its title, its notes, and its description for who cannot see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from registry.renderings.heatmap.panels import Planes
from registry.renderings.heatmap.scale import Scale
from registry.renderings.numbers import plain_number
from registry.renderings.words import label, place, with_unit

Document = Mapping[str, Any]
_WHOSE = {"own": "this grid's own range", "bounds": "the metric's bounds", "asked": "the range that was asked for"}


def subtitle(document: Document, planes: Planes) -> str:
    """Experiment, revision, coverage, and which end is better."""
    count = len(planes.values) - planes.values.count(None)
    parts = [document["experiment"], f"revision {document['revision']}", f"{count} of {len(planes.values)} measured"]
    direction = document["metric"].get("direction")
    return " · ".join([*parts, *([f"{direction} is better"] if direction else [])])


def notes(document: Document, planes: Planes, scale: Scale) -> Iterator[str]:
    """What a reader must know to read the colours and the marks."""
    if not any(value is not None for value in planes.values):
        yield "No cell was measured."
        return
    yield f"Colours: {_WHOSE[scale.whose]}, {_short(scale.low)} to {_short(scale.high)}." + (
        f" {scale.beyond} measured beyond it: shown in the colour of the end." if scale.beyond else ""
    )
    if not planes.whole:
        down, across = planes.joined
        yield (
            f"Too many cells to draw one by one: a block is the mean of what was measured in up to {down} × {across} "
            "cells (rows × columns)."
        )
        yield from _best(document, planes)
    if planes.left_out:
        yield f"{planes.left_out} more panels are not drawn."
    if planes.whole and planes.marks.told:
        yield planes.marks.told


def description(document: Document, planes: Planes, scale: Scale) -> str:
    """The picture in a few sentences."""
    axes = " by ".join(f"{with_unit(axis)} ({len(axis['levels'])} levels)" for axis in document["axes"])
    missing = planes.values.count(None)
    parts = [f"Heatmap of {with_unit(document['metric'])}" + (f" over {axes}." if axes else ".")]
    parts.append(f"{len(planes.values) - missing} of {len(planes.values)} cells were measured; the others are hatched.")
    if planes.whole:
        parts += _best(document, planes)
    return " ".join([*parts, *notes(document, planes, scale)])


def _short(value: float) -> str:
    return f"{value:.6g}"


def _best(document: Document, planes: Planes) -> Iterator[str]:
    """The best value and the first of its cells."""
    best = sorted(planes.marks.best)
    if best:
        where = [place(coordinate(document, index)) for index in best[:3]]
        more = f" and {len(best) - 3} more" if len(best) > 3 else ""
        named = "; ".join(name for name in where if name)
        yield f"Best: {plain_number(planes.values[best[0]] or 0.0)}" + (f" at {named}{more}." if named else ".")


def coordinate(document: Document, index: int) -> dict[str, str]:
    """The levels of a flat index, by axis."""
    at: list[tuple[str, str]] = []
    for axis in reversed(document["axes"]):
        index, place = divmod(index, len(axis["levels"]))
        at.append((axis["name"], label(axis["levels"][place])))
    return dict(reversed(at))
