"""Read outcomes of items as they are sent, for the cells of a grid. Pure functions; faults carry JSON pointers."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from registry.grids.grid import Cell, Grid, Position
from registry.grids.intake.faults import Limits, Report, escaped, number, whole
from registry.grids.intake.levels import LevelIndex
from registry.grids.outcomes import (
    ItemSet,
    Outcomes,
    digest_of_ids,
    disagreement,
    has_spare_bits,
    packed_bits,
    scale_of,
    size_of_bits,
)

MOST_REPEATS = 1_000_000
_WANTED = "must be base64 of one bit an item, or a list of numbers from 0 to 1"


@dataclass(frozen=True, slots=True)
class SentItems:
    """Outcomes of one set in some cells of a grid, by position, in the order in which they came."""

    of: ItemSet
    cells: Mapping[Position, Outcomes]


def read_items(sent: Mapping[str, Any], grid: Grid, limits: Limits, most: int) -> SentItems:
    """The outcomes in a body of `{"set", "cells"}`, at most `most` of them; raises `Invalid`.

    Every cell must be measured, and agree with the mean of its outcomes.
    """
    report = Report()
    of = _set(sent["set"], report)
    if of.count * len(sent["cells"]) > most:
        report.fault("/cells", f"{len(sent['cells'])} cells of {of.count} items are more than {most} outcomes")
    scale = scale_of(grid.metric)
    if scale is None:
        report.fault("/cells", f'the metric "{grid.metric.name}" is not from 0 to 1 or from 0 to 100')
    report.stop_at_faults()
    indexes = {axis.name: LevelIndex(axis, limits) for axis in grid.axes}
    found: dict[Position, Outcomes] = {}
    for place, cell in enumerate(sent["cells"]):
        pointer = f"/cells/{place}"
        at = _position(cell["at"], indexes, grid, f"{pointer}/at", report)
        outcomes = _outcomes(cell, of.count, pointer, report)
        if at is None or outcomes is None:
            continue
        if at in found:
            report.fault(f"{pointer}/at", "this cell is given twice")
            continue
        found[at] = outcomes = replace(outcomes, clusters=of.clusters)
        fault = disagreement(cast(Cell, grid.cell(grid.index(at))), cast(float, scale), outcomes)
        if fault is not None:
            report.fault(f"{pointer}/outcomes", fault)
    report.stop_at_faults()
    return SentItems(of, found)


def _set(given: Mapping[str, Any], report: Report) -> ItemSet:
    ids, digest, count = given.get("ids"), given.get("digest"), given["count"]
    names = given.get("clusters")
    if names is not None and len(names) != count:
        report.fault("/set/clusters", f"there are {len(names)} names of clusters and {count} items")
    places = {name: place for place, name in enumerate(dict.fromkeys(names or ()))}
    clusters = None if names is None else tuple(places[name] for name in names)
    if ids is None:
        if digest is None:
            report.fault("/set/digest", "is needed where no ids are given: the SHA-256 of what the items are")
        return ItemSet(given["name"], digest or "", count, clusters=clusters)
    if len(ids) != count:
        report.fault("/set/ids", f"there are {len(ids)} ids and {count} items")
    own = digest_of_ids(ids)
    if digest not in (None, own):
        report.fault("/set/digest", f"is not that of the ids, {own}")
    return ItemSet(given["name"], own, count, tuple(ids), clusters)


def _position(
    given: Mapping[str, Any], indexes: Mapping[str, LevelIndex], grid: Grid, pointer: str, report: Report
) -> Position | None:
    if given.keys() != indexes.keys():
        axes = f"its axes are {', '.join(indexes)}" if indexes else "it has none"
        report.fault(pointer, f"names a level of every axis of the grid and nothing else; {axes}")
        return None
    places = [index.find(given[name], f"{pointer}/{escaped(name)}", report) for name, index in indexes.items()]
    at = tuple(place for place in places if place is not None)
    if len(at) < len(places):
        return None
    known = all(place < size for place, size in zip(at, grid.shape, strict=True))
    if not known or grid.cell(grid.index(at)) is None:
        report.fault(pointer, "the grid has no measured cell there")
        return None
    return at


def _outcomes(cell: Mapping[str, Any], count: int, pointer: str, report: Report) -> Outcomes | None:
    given, before = cell["outcomes"], report.met
    repeats = 1 if cell.get("repeats") is None else whole(cell["repeats"])
    if repeats is None or repeats > MOST_REPEATS:
        report.fault(f"{pointer}/repeats", f"must be a whole number from 1 to {MOST_REPEATS}")
        return None
    pointer = f"{pointer}/outcomes"
    if isinstance(given, str):
        if repeats > 1:
            report.fault(pointer, "of several repeats are scores: the mean of each item, not a bit")
        bits = _bits(given, count, pointer, report)
        return Outcomes(count, bits=bits) if report.met == before else None
    scores = _scores(given, count, pointer, report)
    if report.met > before:
        return None
    if repeats == 1 and all(score in (0.0, 1.0) for score in scores):
        return Outcomes(count, bits=packed_bits(scores))
    return Outcomes(count, scores=scores, repeats=repeats)


def _bits(given: str, count: int, pointer: str, report: Report) -> bytes:
    try:
        bits = base64.b64decode(given, validate=True)
    except (binascii.Error, ValueError):
        report.fault(pointer, _WANTED)
        return b""
    if len(bits) != size_of_bits(count):
        report.fault(pointer, f"has {len(bits)} bytes; {count} items are {size_of_bits(count)}")
    elif has_spare_bits(bits, count):
        report.fault(pointer, "has a bit beyond the last item; those that are left over are 0")
    return bits


def _scores(given: Any, count: int, pointer: str, report: Report) -> tuple[float, ...]:
    if not isinstance(given, Sequence):
        report.fault(pointer, _WANTED)
        return ()
    if len(given) != count:
        report.fault(pointer, f"there are {len(given)} outcomes and {count} items")
        return ()
    found = []
    for place, one in enumerate(given):
        score = number(one)
        if score is None or not 0 <= score <= 1:
            report.fault(f"{pointer}/{place}", "must be a number from 0 to 1")
            return ()
        found.append(score + 0.0)
    return tuple(found)
