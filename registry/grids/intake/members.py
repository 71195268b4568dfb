"""Read statements about a whole grid: `questions`, `design_effect`, `derived`, `protocol`; warn of names that suggest
the third."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from registry.grids.derived_names import looks_derived
from registry.grids.grid import Axis, Grid
from registry.grids.intake.faults import REPORTED, Limits, Report, number, whole
from registry.grids.intake.levels import has_control
from registry.grids.intake.protocol import read_protocol

MOST_QUESTIONS = 2**31 - 1
MOST_DESIGN_EFFECT = 1e6
_LINE = 80
_ADVICE = "it would count beside what it is made of"
_DECLARE = "publish it with derived, and it is shown but neither ranked nor counted"
MOST_PARTS = 1_000
"""Largest number of names in `derived`."""


def read_members(sent: Mapping[str, Any], limits: Limits, report: Report) -> dict[str, Any]:
    """Fields of a Grid that were given; null and false count as absent."""
    found: dict[str, Any] = {}
    if (questions := sent.get("questions")) is not None:
        found["questions"] = whole(questions)
        if found["questions"] is None or found["questions"] > MOST_QUESTIONS:
            report.fault("/questions", f"must be a whole number from 1 to {MOST_QUESTIONS}")
    if (effect := sent.get("design_effect")) is not None:
        found["design_effect"] = number(effect)
        if found["design_effect"] is None or not 1 <= found["design_effect"] <= MOST_DESIGN_EFFECT:
            report.fault("/design_effect", f"must be a number from 1 to {MOST_DESIGN_EFFECT:.0f}")
    derived = sent.get("derived")
    if derived is not None and derived is not False:
        found["derived"] = derived is True or _parts(derived, limits, report)
    if (protocol := sent.get("protocol")) is not None:
        found["protocol"] = read_protocol(protocol, report)
    return found


def _parts(given: Any, limits: Limits, report: Report) -> tuple[str, ...]:
    """Names that a grid is made of, in alphabetical order: they are a set."""
    if not isinstance(given, Sequence) or isinstance(given, str) or not 1 <= len(given) <= MOST_PARTS:
        report.fault("/derived", f"must be true, or a list of 1 to {MOST_PARTS} names")
        return ()
    for place, name in enumerate(given):
        if not isinstance(name, str) or not 1 <= len(name) <= limits.name or has_control(name):
            wanted = f"must be a name of 1 to {limits.name} characters without control characters"
            report.fault(f"/derived/{place}", wanted)
            return ()
    if len(set(given)) < len(given):
        report.fault("/derived", "must name each once")
    return tuple(sorted(given))


def check_members(grid: Grid, report: Report) -> None:
    """Check that `questions` and `design_effect` come with trials, and that no cell has fewer trials than questions."""
    known = known_trials(grid)
    for name in ("questions", "design_effect"):
        if getattr(grid, name) is not None and not known:
            report.fault(f"/{name}", "goes with trials")
    if grid.questions is not None and known and grid.questions > min(known):
        report.fault("/questions", f"is above {min(known)}, the smallest number of trials of a cell")


def known_trials(grid: Grid) -> list[int]:
    """Numbers of trials that are known."""
    given = grid.trials if isinstance(grid.trials, tuple) else (grid.trials,)
    return [trials for trials in given if trials is not None]


def check_amended(grid: Grid, pointer: Callable[[int], str], report: Report) -> None:
    """Check that no cell of an amended grid has fewer trials than the grid has questions."""
    if grid.questions is not None and isinstance(grid.trials, tuple):
        for index, trials in enumerate(grid.trials):
            if trials is not None and trials < grid.questions:
                report.fault(pointer(index), f"is below the {grid.questions} questions of the grid")


def warn_of_derived_names(sent: Mapping[str, Any], grid: Grid, report: Report) -> None:
    """Warn of names of averages and totals, which would count in addition to their parts."""
    if grid.derived:
        return
    for kind in ("benchmark", "model", "variant"):
        if _is_suspect(sent[kind]):
            advice = _DECLARE if kind == "benchmark" else _ADVICE
            report.warn("looks_derived", f"/{kind}", f'"{sent[kind]}" is named like an average or a total: {advice}')
    _warn_of_derived_levels(grid.axes, report)


def _is_suspect(name: str) -> bool:
    # The name of an average fits on a line; long texts and runs of spaces would take the pattern long.
    return len(name) <= _LINE and looks_derived(" ".join(name.split()))


def _warn_of_derived_levels(axes: Sequence[Axis], report: Report) -> None:
    suspects = (
        (f"/axes/{place}/levels/{level}", one.label)
        for place, axis in enumerate(axes)
        if axis.kind != "numeric"
        for level, one in enumerate(axis.levels)
        if _is_suspect(one.label)
    )
    for pointer, label in islice(suspects, REPORTED):
        detail = f'the level "{label}" is named like an average or a total: {_ADVICE}'
        report.warn("looks_derived", pointer, detail)
