"""Texts of a picture: its title, its notes, and its description for those who cannot see it."""

from collections.abc import Iterator

from registry.renderings.grid import decimals_shown
from registry.renderings.heatmap.panels import Planes
from registry.renderings.heatmap.scale import Scale
from registry.renderings.heatmap.text import broken
from registry.renderings.numbers import fixed
from registry.renderings.table import one_line
from registry.renderings.words import counted, label, place, slice_line, title, with_unit
from registry.results.grid import GridDocument

_NAMES = (10_000, 120, 80, 60, 40, 30, 24, 20, 16, 12, 8)
"""Characters to which the names in a title are shortened, as far as it takes."""
_WHOSE = {"own": "this grid's own range", "bounds": "the metric's bounds", "asked": "the range that was asked for"}


def heading(document: GridDocument, size: float, room: float) -> list[str]:
    """The title in at most three lines of a room; where it is longer its long names are shortened, and each stays."""
    metric = document["metric"]
    for most in _NAMES:
        names = {name: _clipped(document[name], most) for name in ("benchmark", "model", "variant")}
        whole = title({**names, "metric": {name: _clipped(metric[name], most) for name in ("name", "unit")}})
        found = broken(whole, size, room, 3)
        if "".join(found).replace(" ", "") == one_line(whole).replace(" ", ""):
            break
    return found


def _clipped(name: str | None, most: int) -> str:
    text = name or ""
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - half].rstrip()}…{text[-half:].lstrip()}"


BARE = "not measured"
ASIDE = "measured, not compared"


def unvalued(planes: Planes, index: int) -> str:
    """What is said of a cell without a value."""
    why = planes.reasons.get(index)
    return (ASIDE if index in planes.marks.aside else BARE) + (f" ({why})" if why else "")


def subtitle(document: GridDocument, planes: Planes) -> str:
    """Experiment, or all of the selection where several grids are meant; revision (such have none), coverage, and which
    end is better."""
    count = len(planes.values) - planes.values.count(None)
    own = slice_line(document.get("slice"), short=True)
    parts = [*(one for one in own if one not in document["experiment"]), document["experiment"]]
    parts += [f"revision {document['revision']}"] if document["revision"] else []
    parts.append(f"{count:,} of {len(planes.values):,} {'shown' if planes.marks.aside else 'measured'}")
    direction = document["metric"]["direction"]
    return " · ".join([*parts, *([f"{direction} is better"] if direction else [])])


def notes(document: GridDocument, planes: Planes, scale: Scale, *, joined: bool = True) -> Iterator[str]:
    """Notes that explain the colours and the marks; `joined`: whether what joins cells is drawn."""
    if not any(value is not None for value in planes.values):
        yield "No cell was measured."
        return
    yield _colours(document, scale, whose=_WHOSE[scale.whose] if document["revision"] else "its own range")
    if joined and not planes.whole:
        down, across = planes.joined
        yield (
            f"Too many cells to draw one by one: a block is the mean of what was measured in up to {down} × {across} "
            "cells (rows × columns)."
        )
        yield from _best(document, planes)
    if joined and planes.left_out:
        yield f"{counted(planes.left_out, 'more panel is', 'more panels are')} not drawn."
        yield from unseen(document, planes, "panel")
    if (planes.whole or not joined) and planes.marks.told:
        yield planes.marks.told


def _colours(document: GridDocument, scale: Scale, whose: str) -> str:
    decimals = decimals_shown(document, [scale.low, scale.high])
    low, high = (fixed(end, decimals) for end in (scale.low, scale.high))
    ends = f"all of it {low}" if scale.low == scale.high else f"{low} to {high}"
    told = f"Colours: {whose}, {ends}"
    told += "; lower is better, so the lowest has the colour of the best." if scale.falling else "."
    if scale.beyond:
        told += f" {counted(scale.beyond, 'value lies', 'values lie')} beyond it, shown in the colour of the end."
    return told


def description(document: GridDocument, planes: Planes, scale: Scale, *, joined: bool = True) -> str:
    """The picture in a few sentences."""
    axes = " by ".join(
        f"{with_unit(axis)} ({counted(len(axis['levels']), 'level', 'levels')})" for axis in document["axes"]
    )
    parts = [f"Heatmap of {with_unit(document['metric'])}" + (f" over {axes}." if axes else ".")]
    parts += slice_line(document.get("slice"))
    parts += _measured(len(planes.values), planes.values.count(None))
    if planes.whole or not joined:
        parts += _best(document, planes)
    return " ".join([*parts, *notes(document, planes, scale, joined=joined)])


def _measured(cells: int, missing: int) -> Iterator[str]:
    """How much was measured; nothing of it is the word of the notes."""
    if cells and not missing:
        yield "Its only cell was measured." if cells == 1 else f"All of its {cells:,} cells were measured."
    elif cells > missing:
        others = "the other is" if missing == 1 else "the others are"
        yield f"{cells - missing:,} of {cells:,} cells were measured; {others} hatched."


def _best(document: GridDocument, planes: Planes) -> Iterator[str]:
    """The best value and the first of its cells."""
    best = sorted(planes.marks.best)
    if best:
        where = [place(coordinate(document, index)) for index in best[:3]]
        more = f" and {len(best) - 3} more" if len(best) > 3 else ""
        decimals = decimals_shown(document, planes.values)
        yield f"Best: {fixed(planes.values[best[0]], decimals)} at {'; '.join(where)}{more}."
    elif len(planes.values) == 1 and planes.values[0] is not None:
        yield f"It is {fixed(planes.values[0], decimals_shown(document, planes.values))}."


def unseen(document: GridDocument, planes: Planes, one: str) -> Iterator[str]:
    """Which marked cells are in the panels (or tables: `one` is the word) that are left out."""
    best, tied = sorted(planes.marks.best), planes.marks.tied
    if best and not planes.best:
        decimals = decimals_shown(document, planes.values)
        where = "; ".join(place(coordinate(document, index)) for index in best[:3])
        more = f" and {len(best) - 3} more" if len(best) > 3 else ""
        cells, stand = ("cell", f"is in a {one} that is") if len(best) == 1 else ("cells", f"are in {one}s that are")
        yield f"The best {cells}, {fixed(planes.values[best[0]], decimals)} at {where}{more}, {stand} not shown."
    elif len(best) > len(planes.best):
        yield f"{len(best) - len(planes.best)} of the {len(best)} best cells are in {one}s that are not shown."
    if len(tied) > len(planes.tied):
        others = counted(
            len(tied) - len(planes.tied), "other cell that may be the best is", "other cells that may be the best are"
        )
        yield f"{others} in {one}s that are not shown."


def coordinate(document: GridDocument, index: int) -> dict[str, str]:
    """The levels of a flat index, by axis."""
    at: list[tuple[str, str]] = []
    for axis in reversed(document["axes"]):
        index, place = divmod(index, len(axis["levels"]))
        at.append((axis["name"], label(axis["levels"][place])))
    return dict(reversed(at))
