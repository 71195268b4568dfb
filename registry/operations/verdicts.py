"""Stored verdicts of a baseline: what it found by itself, whenever its scope changed."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.dialects.postgresql import distinct_on

from registry.operations.aliases import joined_names
from registry.results.codec import from_document
from registry.results.verdicts import StoredVerdict
from registry.storage.tables import gate_verdicts


def list_verdicts(
    connection: Connection, baseline: Any, contender: str | None, before: int | None, limit: int
) -> Sequence[Any]:
    """Verdicts of a baseline (its row), the last first; those on one model, or before a number."""
    statement = select(gate_verdicts).where(gate_verdicts.c.baseline_id == baseline.id)
    if contender is not None:
        name = joined_names(connection, baseline.project_id).get(("model", contender), contender)
        statement = statement.where(gate_verdicts.c.contender.in_({contender, name}))
    if before is not None:
        statement = statement.where(gate_verdicts.c.number < before)
    return connection.execute(statement.order_by(gate_verdicts.c.number.desc()).limit(limit)).all()


def last_verdicts(connection: Connection, baseline_id: uuid.UUID, version: int, limit: int) -> Sequence[Any]:
    """The last verdict on each contender by this version, the last given first."""
    mine = (gate_verdicts.c.baseline_id == baseline_id, gate_verdicts.c.policy_version == version)
    each = select(gate_verdicts).ext(distinct_on(gate_verdicts.c.contender)).where(*mine)
    last = each.order_by(gate_verdicts.c.contender, gate_verdicts.c.number.desc()).subquery()
    return connection.execute(select(last).order_by(last.c.number.desc()).limit(limit)).all()


def verdict_of(row: Any) -> StoredVerdict:
    """A stored verdict as it is served."""
    columns = {name: getattr(row, name) for name in ("number", "policy_version", "contender", "passes", "look")}
    return from_document(StoredVerdict, {**row.document, **columns, "created_at": row.created_at.isoformat()})
