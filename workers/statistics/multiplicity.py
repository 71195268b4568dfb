"""Many tests at once: Holm (1979) bounds the chance of any error, Benjamini and Hochberg (1995) the share of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workers.statistics.terms import FloatArray


def holm(ps: Sequence[float]) -> list[float]:
    """Step-down adjusted p-values in the order given."""
    found: list[float] = holm_array(np.asarray(ps, dtype=np.float64)).tolist()
    return found


def holm_array(values: FloatArray) -> FloatArray:
    """The same of an array."""
    order = np.argsort(values, kind="stable")
    scaled = np.maximum.accumulate(values[order] * np.arange(values.size, 0, -1))
    adjusted = np.empty(values.size)
    adjusted[order] = np.minimum(scaled, 1.0)
    return adjusted


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Step-up adjusted p-values (q) in the order given."""
    values = np.asarray(ps, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * values.size / np.arange(1, values.size + 1)
    adjusted = np.empty(values.size)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return [float(q) for q in adjusted]


def adjusted(ps: Sequence[float | None], method: str) -> list[float | None]:
    """Adjusts the p-values that exist (`holm` or `bh`) and leaves the others absent."""
    found = [p for p in ps if p is not None]
    results = iter((holm if method == "holm" else benjamini_hochberg)(found))
    return [None if p is None else next(results) for p in ps]
