"""A world that writes down what it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from workers.claims.worlds import Terms, World
from workers.statistics.judging import Span
from workers.statistics.terms import IntArray

Sums = set[tuple[tuple[int, float], ...]]


@dataclass(frozen=True)
class Log:
    """The different sums of cells (a cell alone is one) that were asked for, and for how many intervals in all."""

    sums: Sums = field(default_factory=set)
    intervals: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Watched:
    """Another world, with a log."""

    world: World
    log: Log

    @property
    def name(self) -> Literal["posted", "declared", "noise", "joint"]:
        """That of the other."""
        return self.world.name

    def cells(self, of: IntArray) -> IntArray:
        """Those of the other."""
        return self.world.cells(of)

    def spans(self, cells: Sequence[int], family: int = 1) -> list[Span] | None:
        """Those of the other."""
        self.log.intervals.append(len(cells))
        self.log.sums.update(((cell, 1.0),) for cell in cells)
        return self.world.spans(cells, family)

    def linear(self, terms: Terms, family: int = 1) -> Span | None:
        """That of the other."""
        self.log.intervals.append(1)
        self.log.sums.add(_canonical(terms))
        return self.world.linear(terms, family)

    def shared(self, parts: int) -> Watched:
        """The other's, with the same log."""
        return Watched(self.world.shared(parts), self.log)


def _canonical(terms: Terms) -> tuple[tuple[int, float], ...]:
    """A sum, and the same with the other sign, in one way of writing."""
    found = sorted((cell, float(factor)) for cell, factor in terms if factor)
    sign = 1.0 if not found or found[0][1] > 0 else -1.0
    return tuple((cell, sign * factor) for cell, factor in found)
