"""Statements about what was measured, whatever the values; noise and missing cells change nothing about them."""

from __future__ import annotations

import numpy as np

from registry.claims.claim import Coverage
from registry.grids.slices import kept_levels
from workers.claims.scene import Found, Scene, undecided
from workers.statistics.judging import Span, judge
from workers.statistics.terms import IntArray


def judge_coverage(says: Coverage, scene: Scene) -> Found:
    """What was measured."""
    measured = scene.declared[scene.facts.present[scene.declared]]
    if says.is_ == "ragged":
        return _told(0 < measured.size < scene.declared.size, measured.size)
    if says.is_ == "cells" and says.count is not None:
        span = Span(int(measured.size), int(measured.size))
        return Found(judge(scene.region(says.count), span), span)
    if says.axis not in scene.facts.levels:
        return undecided("vague")
    return _of_levels(says, measured, scene)


def _of_levels(says: Coverage, measured: IntArray, scene: Scene) -> Found:
    levels, column = scene.facts.levels[says.axis], scene.facts.column(says.axis)
    counts = np.bincount(column[measured], minlength=len(levels))
    held = np.flatnonzero(counts).tolist()
    named = [set(kept_levels(levels, [one])) for one in says.levels]
    if says.is_ == "levels":
        return _told(all(named) and set().union(*named) == set(held), len(held))
    if says.is_ == "empty_levels":
        empty = set(column[scene.declared].tolist()) - set(held)
        return _told(set().union(*named) == empty if named else bool(empty), len(empty))
    return _of_held(says, held, counts, scene) if held else undecided("missing_cells")


def _of_held(says: Coverage, held: list[int], counts: IntArray, scene: Scene) -> Found:
    """What is said of the levels that have cells."""
    levels = scene.facts.levels[says.axis]
    if says.is_ == "span":
        ends = [set(kept_levels(levels, [one])) for one in _in_order(says, scene)]
        return _told(held[0] in ends[0] and held[-1] in ends[1], len(held))
    if says.is_ == "most":
        mine = kept_levels(levels, [says.level or ""])
        return _told(any(counts[code] == counts.max() for code in mine), int(counts.max()))
    last = levels[held[-1]].number
    return undecided("vague") if last is None else _told(last < (says.number or 0.0), last)


def _in_order(says: Coverage, scene: Scene) -> tuple[str, ...]:
    """The two ends of a span in the order of the axis; the grammar sorts levels as texts."""
    levels = scene.facts.levels[says.axis]
    places = {one: min(kept_levels(levels, [one]), default=-1) for one in says.levels}
    return tuple(sorted(says.levels, key=lambda one: places[one]))


def _told(holds: bool, number: float) -> Found:
    return Found("supported" if holds else "contradicted", Span(number, number))
