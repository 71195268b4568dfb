"""A field of a form that offers names: a list to choose from, or with too many names a text that finds itself."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from registry.operations.find import Filters
from registry.operations.form_options import name_options

MOST_LISTED, MOST_SUGGESTED = 200, 1000


@dataclass(frozen=True, slots=True)
class Choice:
    """The names of a kind; those chosen are among them, whatever they are."""

    kind: str
    names: Sequence[str]
    chosen: Sequence[str] = ()
    whole: bool = True
    """Whether these are all names there are."""

    @property
    def listed(self) -> bool:
        """Whether a list of all of them is short enough."""
        return self.whole and len(self.names) <= MOST_LISTED


def choice_of(
    connection: Connection, project_id: uuid.UUID, kind: str, chosen: Sequence[str] = (), filters: Filters | None = None
) -> Choice:
    """The names of a kind that grids of this scope carry."""
    found = name_options(connection, project_id, kind, filters or Filters(), MOST_SUGGESTED + 1)
    names = sorted({*found[:MOST_SUGGESTED], *chosen} - {""})
    return Choice(kind, names, chosen, len(found) <= MOST_SUGGESTED)
