"""Revisions that claims name: such a statement is judged by that revision, whatever came after it."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, select

from registry.claims.claim import Claim, atoms_of, revisions_in
from registry.storage.keys import among, of_grid
from registry.storage.tables import grids, revisions
from workers.claims.facts import Facts, Source


def former_rows(connection: Connection, project_id: Any, claims: Sequence[Claim]) -> Sequence[Any]:
    """Rows of the revisions that some claims name, with the names of their grids; none of a grid that was deleted."""
    return _rows(connection, project_id, claims, revisions.c)


def former_marks(connection: Connection, project_id: Any, claims: Sequence[Claim]) -> Sequence[Any]:
    """The same rows with number and digest only, without content."""
    return _rows(connection, project_id, claims, (revisions.c.number, revisions.c.digest))


def _rows(connection: Connection, project_id: Any, claims: Sequence[Claim], columns: Iterable[Any]) -> Sequence[Any]:
    named = sorted({one for claim in claims for one in revisions_in(claim)})
    if not named:
        return []
    statement = (
        select(grids.c.id, grids.c.benchmark, grids.c.model, grids.c.variant, *columns)
        .join_from(grids, revisions, of_grid(revisions))
        .where(grids.c.project_id == project_id, grids.c.deleted_at.is_(None))
        .where(*among((uuid.UUID(grid), number) for grid, number in named))
    )
    return connection.execute(statement).all()


def facts_for(claim: Claim, current: Facts, former: Sequence[Source]) -> Facts:
    """The facts that a claim is judged by: with the revisions that it names, and without the current ones where all of
    its statements name one, so that nothing of these can change its verdict."""
    named = revisions_in(claim)
    if not named:
        return current
    mine = [one._replace(former=True) for one in former if (one.id, one.revision) in named]
    every = all(atom.about.revision is not None for _, atom in atoms_of(claim.says))
    return Facts.of([*(() if every else current.sources), *mine], current.rules, current.known)
