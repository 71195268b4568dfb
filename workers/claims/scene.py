"""One group of cells in one world, and what is found of a statement there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from registry.claims.claim import Number
from workers.claims.facts import Facts
from workers.claims.worlds import World
from workers.statistics.judging import Answer, Span, judge
from workers.statistics.terms import IntArray

Reason = Literal[
    "missing_cells",
    "within_noise",
    "noise_unknown",
    "too_few_points",
    "confounded",
    "not_comparable",
    "no_direction",
    "vague",
    "not_published",
    "too_large",
    "failed",
]
POSITIVE = (Span(0, low_open=True),)


@dataclass(frozen=True)
class Found:
    """Result of a statement: the span of the number that it is about, the cells that decide it, and how many tie with
    those named. `reason` says why it is not decided, `detail` in words that are those of this case. `smallest_p`: the
    one that a test of so few points can reach. `over` says over which cells means are taken, in words, and `total` of
    how many things the span counts some."""

    answer: Answer
    span: Span | None = None
    reason: Reason | None = None
    cells: tuple[int, ...] = ()
    ties: int | None = None
    detail: str = ""
    smallest_p: float | None = None
    over: str = ""
    total: int | None = None


def undecided(reason: Reason, detail: str = "") -> Found:
    """Not decided, for this reason."""
    return Found("not_decidable", reason=reason, detail=detail)


@dataclass(frozen=True)
class Scene:
    """The declared cells of a group, in row-major order. `rounded`: how ranges of numbers are read. `alpha` is the
    group's share of that of the claim."""

    facts: Facts
    world: World
    declared: IntArray
    alpha: float
    rounded: bool = True

    @cached_property
    def cells(self) -> IntArray:
        """Those that exist in the world."""
        return self.world.cells(self.declared)

    def region(self, said: Number) -> tuple[Span, ...]:
        """The values that a stated number allows."""
        return (Span(*said.ends(rounded=self.rounded)),)

    def judged(self, region: tuple[Span, ...], span: Span | None, cells: tuple[int, ...] = ()) -> Found:
        """Tell whether a span lies within a region; where it is unknown, so is the noise."""
        answer = judge(region, span)
        reason: Reason | None = None
        if answer == "not_decidable":
            reason = self.why if span is not None else "noise_unknown"
        return Found(answer, span, reason, cells)

    @property
    def why(self) -> Reason:
        """The reason of what a span does not decide."""
        return "within_noise" if self.noisy else "missing_cells"

    @property
    def noisy(self) -> bool:
        """True if measured cells may have other values than those that were posted."""
        return self.world.name in ("noise", "joint")

    def series(self, along: str) -> list[int] | None:
        """The cells in the order of an axis; None where they are more than one series."""
        if along not in self.facts.axes or any(name != along for name in self.facts.varying(self.declared)):
            return None
        column = self.facts.column(along)[self.cells]
        found: list[int] = self.cells[np.argsort(column, kind="stable")].tolist()
        return found

    def along(self, given: str) -> str:
        """The axis that a series runs along: the one that is named, or the only one with several levels."""
        varying = self.facts.varying(self.declared)
        return given or (varying[0] if len(varying) == 1 else "")

    def shared(self, parts: int) -> Scene:
        """The same for one of several parts, which share alpha."""
        return Scene(self.facts, self.world.shared(parts), self.declared, self.alpha / parts, self.rounded)

    def restricted(self, declared: IntArray) -> Scene:
        """The same of other cells."""
        return Scene(self.facts, self.world, declared, self.alpha, self.rounded)


def all_found(parts: list[Found], answer: Answer, scene: Scene) -> Found:
    """Several findings under one answer: with the span, if there is one, and the reason of the first undecided."""
    first = next((one.reason for one in parts if one.reason), scene.why)
    span = parts[0].span if len(parts) == 1 else None
    cells = tuple(dict.fromkeys(cell for one in parts for cell in one.cells))
    return Found(answer, span, first if answer == "not_decidable" else None, cells)
