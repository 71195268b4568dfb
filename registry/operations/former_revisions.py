"""Revisions that claims name: whether grids have them, and their axes, which may be other ones than the current."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from registry.claims.claim import Claim, atoms_of, revisions_in
from registry.errors import Fault
from registry.grids.grid import Axis
from registry.storage.keys import among, of_grid
from registry.storage.rows import axis_of
from registry.storage.tables import grids, revisions

MOST_CELLS = 1_000_000
"""Cells of all revisions together that claims of one request name."""
Former = Mapping[tuple[str, int], tuple[int, Sequence[Axis]]]
"""Revisions by grid and number: how many cells each has, and its axes."""


def former_revisions(connection: Connection, known: Mapping[str, Any], claims: Sequence[Claim]) -> Former:
    """The revisions that claims name, as far as these grids have them."""
    named = {one for claim in claims for one in revisions_in(claim) if one[0] in known}
    if not named:
        return {}
    wanted = [(uuid.UUID(grid), number) for grid, number in named]
    query = select(revisions.c.grid_id, revisions.c.number, revisions.c.cell_count, revisions.c.axes)
    rows = connection.execute(query.join(grids, of_grid(revisions)).where(*among(wanted)))
    return {(str(row.grid_id), row.number): (row.cell_count, [axis_of(one) for one in row.axes]) for row in rows}


def faults_of_revisions(claim: Claim, known: Mapping[str, Any], former: Former, pointer: str) -> Iterator[Fault]:
    """A fault for each revision that its grid, one of those known, does not have."""
    for where, atom in atoms_of(claim.says):
        about = atom.about
        if about.revision is not None and about.grid in known and (about.grid, about.revision) not in former:
            last = known[about.grid].revision
            yield Fault(f"{pointer}{where}/about/revision", f"is no revision of this grid, whose last one is {last}")


def too_large(former: Former) -> Iterator[Fault]:
    """A fault where the revisions have too many cells together."""
    if sum(cells for cells, _ in former.values()) > MOST_CELLS:
        yield Fault("", f"names revisions of more than {MOST_CELLS:,} cells together")


def axes_of_revisions(claim: Claim, former: Former) -> list[Axis]:
    """The axes of the revisions that a claim names."""
    return [axis for one in sorted(revisions_in(claim)) for axis in former[one][1]]
