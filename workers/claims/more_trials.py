"""Give the cells of a claim more trials, for `trials.py`: what was posted comes out again, or is a little off."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workers.claims.facts import CellErrors, Facts, Source, Terms, trials_of
from workers.statistics.terms import FloatArray, IntArray

_LEAST_DF = 0.5
"""Degrees of freedom that are left at least where a plan tries fewer than two repeats."""


def with_more_trials(facts: Facts, factor: float, *, with_grids: bool) -> Facts:
    """The facts with so many times the trials or repeats of every cell, of which the posted numbers come out again.
    `with_grids`: also where cells are read as series of their grid, as trends do."""
    given = facts.errors
    n, stderr = given.n * factor, given.stderr / factor**0.5
    # Each cell has its own r - 1 degrees of freedom.
    df = np.maximum((given.df + 1) * factor - 1, _LEAST_DF)
    # The posted number itself, and not the whole successes that it was rounded from.
    k = np.where(n > 0, given.values / given.whole * n, given.k)
    sources = [_source_with_more_trials(one, factor) for one in facts.sources] if with_grids else facts.sources
    return replace(facts, errors=replace(given, k=k, n=n, stderr=stderr, df=df), sources=sources)


def _source_with_more_trials(source: Source, factor: float) -> Source:
    grid = source.grid
    trials: Any = grid.trials
    if isinstance(trials, tuple):
        trials = _times(trials, factor)
    elif trials is not None:
        trials = round(trials * factor)
    stderr = None if grid.stderr is None else tuple(one and one / factor**0.5 for one in grid.stderr)
    repeats: Any = None if grid.repeats is None else _times(grid.repeats, factor)
    return source._replace(grid=replace(grid, trials=trials, stderr=stderr, repeats=repeats))


def _times(counts: Sequence[int | None], factor: float) -> tuple[int | None, ...]:
    return tuple(one and round(one * factor) for one in counts)


@dataclass(frozen=True)
class Sum:
    """A sum of noisy cells: the cells, and how far each moves with the sum when that is one standard error off and the
    rest is as probable as it can be."""

    cells: IntArray
    moves: FloatArray
    size: float
    """The standard error of the sum."""

    @classmethod
    def of(cls, terms: Terms, errors: CellErrors) -> "Sum":
        cells = np.array([cell for cell, _ in terms], dtype=np.int64)
        factors = np.array([float(factor) for _, factor in terms])
        variances = _variances_of(errors, cells)
        size = float(np.sqrt(np.sum(factors**2 * variances)))
        return cls(cells, factors * variances / size if size else np.zeros(cells.size), size)

    def moved(self, facts: Facts, errors: float) -> Facts:
        """The facts with the sum so many of its standard errors off."""
        given = facts.errors
        values = given.values.copy()
        values[self.cells] += errors * self.moves
        counted = given.n > 0
        values[counted] = np.clip(values, 0.0, given.whole)[counted]
        k = np.where(counted, values / given.whole * given.n, given.k)
        return replace(facts, errors=replace(given, values=values, k=k))


def _variances_of(errors: CellErrors, cells: IntArray) -> FloatArray:
    """Variances of cells whose posted numbers are true."""
    mine = errors.at(cells)
    counted = mine.n > 0
    share = np.clip(mine.values / mine.whole, 0.0, 1.0)
    binomial = share * (1 - share) / np.where(counted, mine.n, 1.0) * mine.whole**2
    return np.where(counted, binomial, np.nan_to_num(mine.stderr) ** 2)


def trials_alike(facts: Facts, cells: IntArray) -> int | None:
    """The trials of a cell where all of these have the same."""
    found = {trials_of(facts, cell) for cell in cells.tolist()}
    return found.pop() if len(found) == 1 else None


def items_of(facts: Facts, cells: IntArray) -> int | None:
    """The fewest items of these cells where each of their trials is an item of its own; None where they are not known,
    or are sampled more than once."""
    found = []
    for cell in cells.tolist():
        questions, trials = facts.sources[int(facts.owner[cell])].grid.questions, trials_of(facts, cell)
        if questions is None or trials is None or trials > questions:
            return None
        found.append(questions)
    return min(found, default=None)
