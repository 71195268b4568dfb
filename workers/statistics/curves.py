"""Series of one length as the rows of arrays, so that one call of numpy serves all of them; the modules of which
`series.py` and claims about courses consist take these.

A row never depends on its neighbours: every reduction runs along a row, and every iteration settles each row by itself.
The numbers of a series are therefore the same, to the last bit, whether it is described alone or among thousands.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from registry.results.terms import KnownNoise, Place
from workers.statistics.noise import added, binomial_errors, pooled
from workers.statistics.ranks import tie_patterns
from workers.statistics.table import Curve
from workers.statistics.terms import FloatArray, IntArray

MOST_ELEMENTS = 60_000
"""Pairs of cells, over all rows, that are looked at together: longer lists of series are cut."""


@dataclass(frozen=True)
class RowNoise:
    """The errors of S series of m cells. `error` is the standard error of each cell in the metric's unit, all positive.

    `df` are, per row, the degrees of freedom of the estimate behind the errors, the variance within cells pooled over
    the row; `None` where they are known. `own` are then the variance of each cell by its own repeats, which may be 0,
    and its degrees of freedom: what rests on them needs no equal noise. With trials, `k` of `n` are the effective
    successes and trials: those submitted, divided by the design effect; `counted` are the whole ones, `None` where a
    design effect makes exact tests impossible.
    """

    kind: KnownNoise
    error: FloatArray
    df: FloatArray | None = None
    k: FloatArray | None = None
    n: FloatArray | None = None
    whole: float = 1.0
    counted: tuple[IntArray, IntArray] | None = None
    own: tuple[FloatArray, FloatArray] | None = None

    def of_sum(self, weights: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """The standard error of a weighted sum of the cells of each row, and its degrees of freedom; `None` where
        errors are known."""
        if self.own is None:
            return np.sqrt(np.sum((weights * self.error) ** 2, axis=-1)), None
        variance, df = added(weights**2 * self.own[0], self.own[1])
        return np.sqrt(variance), df

    @property
    def binomial(self) -> tuple[FloatArray, FloatArray] | None:
        """The effective successes and trials; `None` for noise of another kind."""
        return None if self.k is None or self.n is None else (self.k, self.n)


@dataclass(frozen=True)
class Curves:
    """S >= 1 series of m >= 1 cells each, whose noise is of one kind; all arrays are S x m, their rows contiguous."""

    rows: Sequence[Curve]
    x: FloatArray
    y: FloatArray
    ticks: IntArray
    noise: RowNoise | None

    @classmethod
    def of(cls, rows: Sequence[Curve]) -> "Curves":
        """Series of one length and one kind of noise, as `alike` gives them."""
        x, y = np.array([row.x for row in rows]), np.array([row.y for row in rows])
        return cls(rows, x, y, np.array([row.ticks for row in rows]), _noise(rows, y))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def count(self) -> int:
        """Number of cells of each series."""
        return int(self.y.shape[1])

    @cached_property
    def moves(self) -> FloatArray:
        """The m - 1 differences between neighbours, rounded to the submitted decimals: -5.6, not -5.59999."""
        scale = np.array([[10.0**row.decimals] for row in self.rows])
        return np.asarray(self.tick_moves / scale, dtype=np.float64)

    @cached_property
    def tick_moves(self) -> IntArray:
        """The same in units of the last decimal."""
        return self.ticks[:, 1:] - self.ticks[:, :-1]

    @cached_property
    def numbers(self) -> list[list[float]]:
        """The abscissae of each series as numbers of Python."""
        found: list[list[float]] = self.x.tolist()
        return found

    @cached_property
    def span(self) -> FloatArray:
        """The distance from the first to the last abscissa."""
        return self.x[:, -1] - self.x[:, 0]

    @cached_property
    def mean(self) -> FloatArray:
        """The mean of each series."""
        return np.asarray(self.y.mean(axis=1))

    @cached_property
    def magnitude(self) -> FloatArray:
        """The largest absolute value of each series."""
        return np.asarray(np.abs(self.y).max(axis=1))

    @cached_property
    def ties(self) -> list[tuple[int, ...]]:
        """Sizes, for each series, of the groups of equal values that have more than one member, sorted."""
        return tie_patterns(self.ticks)

    @cached_property
    def places(self) -> list[Sequence[Place]]:
        """The levels of the measured cells of each series."""
        return [row.places for row in self.rows]


def alike(curves: Sequence[Curve]) -> Iterator[list[int]]:
    """The positions of the curves that can be rows of one `Curves`, the groups in order of appearance."""
    groups: dict[tuple[int, KnownNoise, bool, float | None], list[int]] = {}
    for i, curve in enumerate(curves):
        kind = curve.noise_kind
        exact = kind != "trials" or curve.design_effect == 1.0
        whole = curve.whole if kind == "trials" else None
        groups.setdefault((curve.count, kind, exact, whole), []).append(i)
    for (count, *_), positions in groups.items():
        most = max(1, MOST_ELEMENTS // count**2)
        yield from (positions[start : start + most] for start in range(0, len(positions), most))


def _noise(rows: Sequence[Curve], y: FloatArray) -> RowNoise | None:
    kind, first = rows[0].noise_kind, rows[0]
    if kind == "unknown":
        return None
    if kind == "trials":
        trials = np.array([row.trials for row in rows])
        effect = np.array([[row.design_effect] for row in rows])
        whole = first.whole or 1.0
        k = np.rint(y * trials / whole).astype(np.int64)
        counted = (k, trials) if first.design_effect == 1.0 else None
        return RowNoise(
            kind, binomial_errors(k, trials, whole, effect), None, k / effect, trials / effect, whole, counted
        )
    stderr = np.array([row.stderr for row in rows])
    if kind == "stderr":
        return RowNoise(kind, stderr)
    repeats = np.array([row.repeats for row in rows])
    return RowNoise(kind, *pooled(stderr, repeats), own=(stderr**2, repeats - 1.0))
