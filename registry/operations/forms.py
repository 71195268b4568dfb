"""Forms that were sent twice are carried out once: a double click, or a page that is sent again."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from registry.storage.tables import submitted_forms

_KEPT = timedelta(days=1)


def claim_form(connection: Connection, form_id: uuid.UUID) -> str | None:
    """Claim a form for this transaction; where its sender was led if it was carried out before.

    While another transaction carries out the same form, this one waits for it.
    """
    statement = insert(submitted_forms).values(id=form_id, location="").on_conflict_do_nothing()
    if connection.execute(statement.returning(submitted_forms.c.id)).first() is not None:
        return None
    found = select(submitted_forms.c.location).where(submitted_forms.c.id == form_id).with_for_update()
    led: Any = connection.scalar(found)
    return str(led)


def note_location(connection: Connection, form_id: uuid.UUID, location: str) -> None:
    """Remember where the sender of a claimed form is led, and forget forms of yesterday."""
    connection.execute(delete(submitted_forms).where(submitted_forms.c.at < func.now() - _KEPT))
    connection.execute(update(submitted_forms).where(submitted_forms.c.id == form_id).values(location=location))
