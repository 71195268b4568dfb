"""One benchmark that carries most of the differences: its scale, not its evidence, then makes the order."""

from __future__ import annotations

import numpy as np

from workers.statistics.contrasts import Contrasts
from workers.statistics.score_matrix import ScoreMatrix

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
    if used.size < FEWEST or squares.sum() == 0:
        return None
    largest = int(np.argmax(squares))
    share = float(squares[largest] / squares.sum())
    if share <= 0.5:
        return None
    name = standings.benchmark_names[int(used[largest])]
    return (
        f'The benchmark "{name}" carries {share:.0%} of the squared differences; method=standardised_difference '
        "weighs every benchmark by its own spread."
    )
