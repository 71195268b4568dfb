"""Whether several estimates, each with its own error, are of one value.

Errors that are known: Cochran's Q (1954, Biometrics 10, 101-129), chi-squared with k - 1 degrees of freedom. Errors of
which some were estimated, each with degrees of freedom of its own: Welch's F (1951, Biometrika 38, 330-336), which is
Q / (k - 1) with a correction that vanishes as the degrees of freedom grow.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import chdtrc, fdtrc

from registry.results.model_comparison import BenchmarkHeterogeneity
from workers.statistics.terms import SMALLEST_P


def heterogeneity(
    estimates: Sequence[float], stderrs: Sequence[float], dfs: Sequence[float | None]
) -> BenchmarkHeterogeneity:
    """Tests estimates with positive errors; `dfs` are the degrees of freedom of the errors, None where known."""
    count = len(estimates)
    if count < 2:
        reason = "fewer than two benchmarks have a difference with an error"
        return BenchmarkHeterogeneity("insufficient", count, reason=reason)
    error = np.asarray(stderrs, dtype=np.float64)
    # In units of the smallest error, so that no square overflows.
    weight = (error.min() / error) ** 2
    share = weight / weight.sum()
    away = (np.asarray(estimates, dtype=np.float64) - share @ np.asarray(estimates, dtype=np.float64)) / error
    q, df = float(away @ away), count - 1
    inverse = np.array([0.0 if one is None else 1 / one for one in dfs])
    if not inverse.any():
        p = max(SMALLEST_P, float(chdtrc(df, q)))
        return BenchmarkHeterogeneity("ok", count, "cochran_q", q, df, None, p)
    spread = float(np.sum((1 - share) ** 2 * inverse))
    f = q / df / (1 + 2 * (count - 2) / (count**2 - 1) * spread)
    free = (count**2 - 1) / (3 * spread)
    return BenchmarkHeterogeneity("ok", count, "welch", f, df, free, max(SMALLEST_P, float(fdtrc(df, free, f))))
