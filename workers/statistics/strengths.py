"""Bradley–Terry strengths of one connected component, by Newton's method on the table of wins.

Bradley and Terry (1952); ties count half for either side. The maximum of the likelihood exists exactly when wins
connect the names in both directions (Ford 1957). Where it does not, every compared pair gets one virtual tie, which
keeps a name that wins everything finite (Caron and Doucet 2012 discuss such priors).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from workers.statistics.terms import BoolArray, FloatArray

PRIOR = 0.5


@dataclass(frozen=True)
class Strengths:
    """Log-strengths with mean 0, the inverse of Fisher's information, and whether there was need of no prior."""

    values: FloatArray
    inverse: FloatArray
    mle_exists: bool


def bradley_terry(wins: FloatArray, met: BoolArray) -> Strengths:
    """Fits M names that are connected through `met`; `wins` holds wins plus half the ties, row over column."""
    size = len(wins)
    if size < 2:
        return Strengths(np.zeros(size), np.zeros((size, size)), True)
    exists = strongly_connected(wins > 0)
    table = wins if exists else wins + PRIOR * met
    games, won = table + table.T, table.sum(axis=1)
    values = np.zeros(size)
    information = curvature(games, values)
    for _ in range(200):
        gradient = won - np.sum(games * expit(values[:, None] - values), axis=1)
        step = np.zeros(size)
        # The information is singular by a constant: solved with the first strength held, then centred.
        step[1:] = np.linalg.solve(information[1:, 1:], gradient[1:])
        step -= step.mean()
        # No strength moves by more than 2 at once: far out the curvature vanishes, and Newton's step overshoots.
        values = values + step / max(1.0, float(np.max(np.abs(step))) / 2)
        information = curvature(games, values)
        if float(np.max(np.abs(step))) < 1e-12:
            break
    # Adding the projection on constants makes the Laplacian regular; taking it off again leaves the pseudo-inverse.
    centre = np.ones((size, size)) / size
    return Strengths(values - values.mean(), np.linalg.inv(information + centre) - centre, exists)


def curvature(games: FloatArray, values: FloatArray) -> FloatArray:
    """Fisher's information: a Laplacian weighted by games and the uncertainty of their outcome."""
    chance = expit(values[:, None] - values)
    weight = games * chance * (1 - chance)
    return np.asarray(np.diag(weight.sum(axis=1)) - weight, dtype=np.float64)


def strongly_connected(beats: BoolArray) -> bool:
    """Return whether every name reaches every other one along wins."""
    return reaches_all(beats) and reaches_all(beats.T)


def reaches_all(beats: BoolArray) -> bool:
    """Return whether the first name reaches all others."""
    reached = np.zeros(len(beats), dtype=np.bool_)
    reached[:1] = True
    while True:
        more = reached | beats[reached].any(axis=0)
        if np.array_equal(more, reached):
            return bool(reached.all())
        reached = more
