"""The condition that an event is one of which a webhook is told; operations and workers share it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, and_, or_

from registry.storage.tables import events

EVERYTHING = "*"


def is_told(types: Sequence[str], names: Mapping[str, Sequence[str]]) -> ColumnElement[bool]:
    """Condition that an event has one of these types (`claim.flipped`, `claim.*`, `*`), and for each of these fields of
    its data one of these texts. An event without such a field is not told."""
    of_type = or_(*(_is_of(one) for one in types))
    return and_(of_type, *(events.c.data[name].astext.in_(texts) for name, texts in names.items()))


def _is_of(pattern: str) -> ColumnElement[bool]:
    if pattern.endswith(EVERYTHING):
        return events.c.type.startswith(pattern[:-1], autoescape=True)
    return events.c.type == pattern
