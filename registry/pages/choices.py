"""A field of a form that offers names, several at once: a list to tick, or with too many names a text that suggests
them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from registry.operations.find import Filters
from registry.operations.form_options import name_counts

MOST_TICKED, MOST_LISTED, MOST_SUGGESTED = 60, 200, 300


@dataclass(frozen=True, slots=True)
class Choice:
    """The names of a kind, each with the number of its grids; those chosen are among them, whatever they are."""

    kind: str
    options: Sequence[tuple[str, int]]
    chosen: Sequence[str] = ()
    total: int = 0
    """How many names there are, those that are not among the options too."""

    @property
    def names(self) -> Sequence[str]:
        return [name for name, _ in self.options]

    @property
    def listed(self) -> bool:
        """Whether all of them go into a list of which one is chosen."""
        return self.total <= MOST_LISTED

    @property
    def whole(self) -> bool:
        """Whether all of them go into a list to tick; else the others are typed."""
        return self.total <= MOST_TICKED

    @property
    def ticked(self) -> Sequence[tuple[str, int, bool]]:
        """The names to tick, each with its grids and whether it is chosen: all, or with too many those chosen."""
        marked = ((name, count, name in self.chosen) for name, count in self.options)
        return [one for one in marked if self.whole or one[2]]


def choice_of(
    connection: Connection, project_id: uuid.UUID, kind: str, chosen: Sequence[str] = (), filters: Filters | None = None
) -> Choice:
    """The names of a kind that grids carry which fulfil the other filters."""
    anything: dict[str, Any] = {kind: ()}
    scope = replace(filters or Filters(), **anything)
    found, total = name_counts(connection, project_id, kind, scope, MOST_SUGGESTED, chosen)
    absent = {name: 0 for name in chosen if name not in dict(found)}
    options = sorted([*found, *absent.items()])
    return Choice(kind, options, chosen, total + len(absent))
