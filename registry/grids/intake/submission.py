"""Read a publication as it was sent into names and a Grid.

The HTTP schema has checked the shape of the incoming mapping: field names, types of containers, lengths of names. Its
meaning is checked here: levels, blocks, bounds, trials, and statements about the whole grid.
"""

import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import orjson

from registry.grids.grid import Axis, Grid, Metric, Position
from registry.grids.intake import sent_cells
from registry.grids.intake.faults import NO_VALUE, IntakeWarning, Limits, Report, number, unsigned_zero, whole
from registry.grids.intake.levels import guess_kind, read_axes
from registry.grids.intake.members import check_members, read_members, warn_of_derived_names
from registry.grids.intake.sent_cells import (
    Entry,
    flatten,
    in_numeric_order,
    leaf_pointer,
    read_cells,
    read_leaves,
    size_of,
)


@dataclass(frozen=True)
class Names:
    """Names of a grid; with its project they are its identity."""

    experiment: str
    benchmark: str
    model: str
    variant: str
    metric: str

    @cached_property
    def key(self) -> uuid.UUID:
        """First 128 bits of the SHA-256 of the names, because names may be longer than an index entry."""
        names = [self.experiment, self.benchmark, self.model, self.variant, self.metric]
        return uuid.UUID(bytes=sha256(orjson.dumps(names)).digest()[:16])


@dataclass(frozen=True, slots=True)
class Submission:
    """A publication: names, content and doubts; where the content came from, and what is said of the grid, if it is."""

    names: Names
    grid: Grid
    warnings: tuple[IntakeWarning, ...] = ()
    source: Mapping[str, str] | None = None
    """Format, name and SHA-256 of the file that it was read from, as far as they are known."""
    description: str | None = None
    """Markdown; None leaves that of the grid as it is."""


def read_submission(sent: Mapping[str, Any], limits: Limits) -> Submission:
    """Read one publication; raises `Invalid` with a pointer for every fault."""
    report = Report()
    metric = read_metric(sent["metric"], report)
    axes = read_axes(_with_kinds(sent), limits, report)
    if ("values" in sent) == ("cells" in sent):
        report.fault("", "give either values or cells" + ("" if "values" in sent else "; an empty grid has cells: []"))
    report.stop_at_faults()
    if "cells" in sent:
        if misplaced := [name for name in ("stderr", "repeats", "sd", "reasons") if sent.get(name) is not None]:
            report.fault(f"/{misplaced[0]}", "with cells, each cell carries its own")
        grid, place = _from_cells(sent, metric, axes, limits, report)
    else:
        grid, place = _from_values(sent, metric, axes, limits, report)
    report.stop_at_faults()
    grid = replace(grid, **read_members(sent, limits, report))
    check_values(grid, place, report)
    check_members(grid, report)
    report.stop_at_faults()
    grid = sent_cells.without_false_exactness(grid, place, report)
    sent_cells.warn_off_lattice(grid, place, report)
    warn_of_derived_names(sent, grid, report)
    names = Names(sent["experiment"], sent["benchmark"], sent["model"], sent["variant"], metric.name)
    sent_warnings = [  # from the program that read the values from another source
        IntakeWarning(one["code"], one["detail"], one.get("pointer")) for one in sent.get("warnings") or ()
    ]
    all_warnings = dict.fromkeys((*sent_warnings, *report.all_warnings()))
    source, description = sent.get("source") or None, sent.get("description")
    return Submission(names, in_numeric_order(grid), tuple(all_warnings), source, description)


def _with_kinds(sent: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Declared axes; one without kind and levels gets its kind from the coordinates of the cells."""
    return [
        {**axis, "kind": guess_kind([cell["at"].get(axis["name"]) for cell in sent.get("cells", ())])}
        if not axis.get("kind") and not axis.get("levels") and sent.get("cells")
        else axis
        for axis in sent["axes"]
    ]


def read_metric(sent: Mapping[str, Any], report: Report) -> Metric:
    """Metric; its lower bound is below its upper one."""
    metric = Metric(
        sent["name"],
        sent.get("unit"),
        sent.get("direction"),
        unsigned_zero(number(sent.get("lower"))),
        unsigned_zero(number(sent.get("upper"))),
    )
    if metric.lower is not None and metric.upper is not None and metric.lower >= metric.upper:
        report.fault("/metric/upper", "must be above lower")
    return metric


def _from_values(
    sent: Mapping[str, Any], metric: Metric, axes: Sequence[Axis], limits: Limits, report: Report
) -> tuple[Grid, Callable[[int], str]]:
    shape = [len(axis.levels) for axis in axes]
    if size_of(axes) > limits.cells:
        report.fault("/axes", f"a grid holds at most {limits.cells} cells, not {size_of(axes)}")
        report.stop_at_faults()

    def block(name: str, read: Callable[[Any], Any], wanted: str) -> Any:
        leaves = flatten(sent[name], shape, f"/{name}", report)
        return (
            None
            if leaves is None
            else read_leaves(leaves, read, wanted, lambda i: leaf_pointer(f"/{name}", i, shape), report)
        )

    values = block("values", number, NO_VALUE) or ()
    trials: Any = sent.get("trials")
    if trials is not None:
        whole_wanted = "must be a positive whole number"
        trials = (
            block("trials", whole, whole_wanted)
            if isinstance(trials, list)
            else _one(trials, whole, "/trials", whole_wanted, report)
        )
    stderr: Any = sent.get("stderr")
    if stderr is not None:
        wanted = "must be a number that is not negative"
        if isinstance(stderr, list):
            stderr = block("stderr", _not_negative, wanted)
        else:
            one = _one(stderr, _not_negative, "/stderr", wanted, report)
            stderr = tuple(None if value is None else one for value in values)
    repeats, sd = _repeats(sent, block, report)
    grid = Grid(
        metric=metric,
        axes=tuple(axes),
        values=values,
        trials=trials,
        stderr=stderr,
        repeats=repeats,
        sd=sd,
        labels=sent.get("labels") or {},
    )
    if not report.faults:
        grid = _with_repeats(grid, report)
        grid = replace(grid, reasons=_reasons(sent.get("reasons") or (), grid, limits, report))
    return grid, lambda index: leaf_pointer("/values", index, shape)


def _repeats(sent: Mapping[str, Any], block: Callable[..., Any], report: Report) -> tuple[Any, Any]:
    if sent.get("repeats") is None and sent.get("sd") is None:
        return None, None
    repeats = block("repeats", whole, "must be a positive whole number") if _is_block(sent, "repeats") else None
    sd = block("sd", _not_negative, "must be a number that is not negative") if _is_block(sent, "sd") else None
    if repeats is not None and sent.get("sd") is None and set(repeats) <= {1, None}:
        return None, None
    if repeats is None or sd is None:
        report.fault("/repeats" if repeats is None else "/sd", "repeats and sd are nested like values, both of them")
    return repeats, sd


def _is_block(sent: Mapping[str, Any], name: str) -> bool:
    return sent.get(name) is not None and (isinstance(sent[name], list) or not sent["axes"])


def _with_repeats(grid: Grid, report: Report) -> Grid:
    """The grid without single repeats, which say nothing of their spread: as where cells are sent one by one."""
    for index, (count, spread) in enumerate(zip(grid.repeats or (), grid.sd or (), strict=True)):
        if (count, spread) == (None, None):
            continue
        if (spread is not None) != ((count or 0) > 1) or grid.values[index] is None:
            pointer = leaf_pointer("/repeats", index, grid.shape)
            report.fault(pointer, "a cell has a value, 2 or more repeats and their sd, or neither of the two")
    if grid.repeats is None or 1 not in grid.repeats:
        return grid
    repeats = tuple(None if count == 1 else count for count in grid.repeats)
    return replace(grid, repeats=repeats) if any(repeats) else replace(grid, repeats=None, sd=None)


def _reasons(given: Sequence[Any], grid: Grid, limits: Limits, report: Report) -> dict[int, str]:
    """Reasons of cells without a value, by flat index, from `[{"at", "reason"}]`, the form in which a grid is read."""
    if not given:
        return {}
    cells = [{"at": one["at"], "value": None, "reason": one["reason"]} for one in given]
    inner = Report()
    axes, entries = read_cells(cells, grid.axes, limits, inner)
    for fault in inner.faults:
        report.fault(fault.pointer.replace("/cells", "/reasons", 1), fault.detail)
    if axes != grid.axes:
        report.fault("/reasons", "name levels that the axes do not have")
    if report.faults:
        return {}
    for at, entry in entries.items():
        if grid.values[grid.index(at)] is not None:
            report.fault(entry.pointer.replace("/cells", "/reasons", 1), "is the reason of a cell that has a value")
    return {grid.index(at): entry.reason for at, entry in entries.items() if entry.reason is not None}


def _from_cells(
    sent: Mapping[str, Any], metric: Metric, axes: Sequence[Axis], limits: Limits, report: Report
) -> tuple[Grid, Callable[[int], str]]:
    grown, entries = read_cells(sent["cells"], axes, limits, report)
    if size_of(grown) > limits.cells:
        report.fault("/cells", f"these coordinates span {size_of(grown)} cells; a grid holds at most {limits.cells}")
    report.stop_at_faults()
    trials = sent.get("trials")
    if trials is not None:
        trials = _one(trials, whole, "/trials", "beside cells, trials is one positive whole number", report)
    grid = build(metric, grown, entries, trials, sent.get("labels") or {})
    pointers = {grid.index(at): entry.pointer for at, entry in entries.items()}
    return grid, lambda index: f"{pointers.get(index, '')}/value"


def build(
    metric: Metric,
    axes: tuple[Axis, ...],
    entries: Mapping[Position, Entry],
    trials: int | None,
    labels: Mapping[str, str],
) -> Grid:
    """Grid from entries at positions; `trials` holds for the cells that bring none of their own."""
    empty = Grid(metric, axes, (None,) * size_of(axes))
    placed = {empty.index(at): entry for at, entry in entries.items()}

    def column(name: str) -> Any:
        if not any(getattr(entry, name) is not None for entry in placed.values()):
            return None
        found: list[Any] = [None] * len(empty.values)
        for index, entry in placed.items():
            found[index] = getattr(entry, name)
        return tuple(found)

    own = column("trials")
    if own is not None and trials is not None:
        own = tuple(
            trials if mine is None and index in placed and placed[index].value is not None else mine
            for index, mine in enumerate(own)
        )
    reasons = {index: entry.reason for index, entry in placed.items() if entry.reason is not None}
    return Grid(
        metric=metric,
        axes=axes,
        values=column("value") or empty.values,
        trials=trials if own is None else own,
        stderr=column("stderr"),
        repeats=column("repeats"),
        sd=column("sd"),
        reasons=reasons,
        labels=labels,
    )


def check_values(grid: Grid, place: Callable[[int], str], report: Report) -> None:
    """Check the bounds, and that trials belong to a proportion and to measured cells only."""
    lower, upper = grid.metric.lower, grid.metric.upper
    measured = [value for value in grid.values if value is not None]
    if measured and ((lower is not None and min(measured) < lower) or (upper is not None and max(measured) > upper)):
        for index, value in enumerate(grid.values):
            if value is not None and ((lower is not None and value < lower) or (upper is not None and value > upper)):
                report.fault(place(index), f"{value} is outside the metric's bounds {_bounds(lower, upper)}")
    if grid.trials is not None and grid.metric.proportion_of is None:
        own = grid.trials if isinstance(grid.trials, tuple) else ()
        places = (_beside(place(index), "trials") for index, one in enumerate(own) if one is not None)
        detail = "trials are of a proportion, with bounds 0 to 1 or 0 to 100; of other metrics send stderr"
        report.fault(next(places, "/trials"), detail)
    for name in ("trials", "stderr"):
        given = getattr(grid, name)
        if isinstance(given, tuple):
            for index, one in enumerate(given):
                if one is not None and grid.values[index] is None:
                    report.fault(_beside(place(index), name), f"{name} of a cell that has no value")


def _beside(pointer: str, name: str) -> str:
    """Pointer to what stands beside a value: `/trials/0/1` of `/values/0/1`, `/cells/4/trials` of `/cells/4/value`."""
    return re.sub(r"/values?(?=/|$)", f"/{name}", pointer, count=1)


def _bounds(lower: float | None, upper: float | None) -> str:
    return f"{'-∞' if lower is None else lower:} … {'∞' if upper is None else upper}"


def _not_negative(value: Any) -> float | None:
    found = number(value)
    return found if found is not None and found >= 0 else None


def _one(value: Any, read: Callable[[Any], Any], pointer: str, wanted: str, report: Report) -> Any:
    found = read(value)
    if found is None:
        report.fault(pointer, wanted)
    return found
