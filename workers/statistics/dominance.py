"""One benchmark that carries most of the differences: its scale, not its evidence, then makes the order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workers.statistics.contrasts import Contrasts
from workers.statistics.counted_cells import blocks_of
from workers.statistics.score_matrix import ScoreMatrix
from workers.statistics.terms import FloatArray

FEWEST = 3
"""Benchmarks from which one can dominate."""


def dominance(found: Contrasts, standings: ScoreMatrix) -> str | None:
    """Warning where one of three benchmarks or more carries over half of the sum, over all pairs, of the squared
    parts of the mean difference; `None` where none does, or where the metric has two ends: then all benchmarks are on
    one scale, and between two names of much the same strength some benchmark always stands out."""
    if standings.bounded:
        return None
    used = np.unique(standings.benchmarks)
    weighed = np.nan_to_num(found.by_benchmark) / np.maximum(found.benchmarks, 1)[:, :, None]
    squares = np.sum(weighed**2, axis=(0, 1))
    return said(squares, [standings.benchmark_names[i] for i in used.tolist()], standings.group)


def dominance_of_benchmarks(standings: ScoreMatrix) -> str | None:
    """The same without a matrix of pairs for each benchmark: by the squared distances from a benchmark's own mean, each
    benchmark weighted by 1 and two names by all benchmarks together."""
    if standings.bounded:
        return None
    found = blocks_of(standings)
    held = np.maximum(found.held, 1)
    means = np.add.reduceat(found.values, found.starts, axis=1) / held
    there = found.held > 0
    count = there.sum(axis=0)
    total = np.where(there, means, 0.0).sum(axis=0)
    # Over all pairs of m names the squared differences sum to m times those of the distances from the mean.
    squares = count * np.where(there, means**2, 0.0).sum(axis=0) - total**2
    used = np.unique(standings.benchmarks[standings.present.any(axis=0)])
    return said(np.maximum(squares, 0.0), [standings.benchmark_names[i] for i in used.tolist()], standings.group)


def said(squares: FloatArray, names: Sequence[str], group: str) -> str | None:
    """The warning, from each benchmark's part of the sum of squares."""
    if squares.size < FEWEST or squares.sum() == 0:
        return None
    largest = int(np.argmax(squares))
    share = float(squares[largest] / squares.sum())
    if share <= 0.5:
        return None
    return (
        f'The {group} "{names[largest]}" carries {share:.0%} of the squared differences; '
        "method=win_rate and method=borda count only who is ahead."
    )
