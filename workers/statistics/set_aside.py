"""Who costs the others slots, where only slots that all have are compared.

The usual slots are those that more than half of the names have. A name that lacks more than a fifth of them is set
aside: left in, it takes them from everybody. Of two names both have every usual slot, and none is. Where that would be
more than half of the names, the holes are everybody's, and nobody is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from registry.results.policies import NOBODY
from registry.results.set_aside import SetAside
from registry.results.terms import Place
from workers.statistics.cell_table import SortedCells
from workers.statistics.score_matrix import ScoreMatrix
from workers.statistics.slot_costs import Sharing
from workers.statistics.terms import BoolArray, IntArray

_SHARE = 5


def usual_slots(present: BoolArray) -> BoolArray:
    """Mask of the slots that more than half of the names have that have any."""
    return np.asarray(2 * present.sum(axis=0) > np.count_nonzero(present.any(axis=1)), dtype=np.bool_)


def of_names(standings: ScoreMatrix, wanted: Sequence[str]) -> IntArray:
    """The names that are set aside, as rows of the standings: whom `wanted` says (see `Selection.set_aside`)."""
    if wanted:
        return np.flatnonzero([name in wanted for name in standings.names] if wanted != NOBODY else [])
    usual = usual_slots(standings.present)
    missing = np.count_nonzero(usual & ~standings.present, axis=1)
    costly = (missing * _SHARE > np.count_nonzero(usual)) & standings.present.any(axis=1)
    many = 2 * np.count_nonzero(costly) > np.count_nonzero(standings.present.any(axis=1))
    return np.flatnonzero(costly & ~many)


def of_entries(sharing: Sharing, wanted: Sequence[str], names: Sequence[str]) -> BoolArray:
    """Mask of the entries of a table that are set aside in their column; `names` are those of the rows."""
    found, columns = sharing.found, sharing.columns
    if wanted:
        listed = np.array([name in wanted and wanted != NOBODY for name in names], dtype=np.bool_)
        return np.asarray(np.repeat(listed, columns) & (found.counts > 0), dtype=np.bool_)
    usual = 2 * sharing.held > sharing.wanted
    column = np.arange(found.entries) % columns
    there = np.bincount(sharing.column[usual], minlength=columns)[column]
    missing = there - np.bincount(found.entry[usual[found.slot]], minlength=found.entries)
    costly = (missing * _SHARE > there) & (found.counts > 0)
    many = 2 * np.bincount(column[costly], minlength=columns) > np.bincount(column[found.counts > 0], minlength=columns)
    return np.asarray(costly & ~many[column], dtype=np.bool_)


def told_of_entries(
    sharing: Sharing, aside: BoolArray, places: Mapping[int, Mapping[str, Place]], others: Sequence[str]
) -> Iterator[SetAside]:
    """The entries that are set aside, with the levels of the other dimensions that they lack."""
    found, usual = sharing.found, 2 * sharing.held > sharing.wanted
    first = np.zeros(found.slots, dtype=np.int64)
    first[found.slot] = np.arange(found.slot.size)
    for entry in np.flatnonzero(aside).tolist():
        own = np.zeros(found.slots, dtype=np.bool_)
        own[found.slot[found.entry == entry]] = True
        there = usual & (sharing.column == entry % sharing.columns)
        (_, name), *column = places[entry].items()
        levels = tuple(
            str(level) for kind in others for level in _lacking(found, kind, first[there], first[there & own])
        )
        missing, size = int(np.count_nonzero(there & ~own)), int(np.count_nonzero(there))
        yield SetAside(str(name), levels, missing, size, dict(column) or None)


def _lacking(found: SortedCells, kind: str, usual: IntArray, own: IntArray) -> Iterator[Place]:
    """The levels of a dimension of which some slot is usual, and none is among one's own; cells stand for slots."""
    codes = found.cells.codes[kind]
    lacking = np.setdiff1d(codes[usual], codes[own])
    return (found.cells.levels[kind][code] for code in lacking.tolist() if code >= 0)
