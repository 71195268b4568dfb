"""Fields of a form: of one thing out of a list, and of names, several at once, which with too many are typed."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from registry.operations.find import Filters
from registry.operations.scope_options import name_counts

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


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    text: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Field:
    """A list to choose from, under the name of its parameter; without options, a field to type in."""

    label: str
    parameter: str
    options: Sequence[Option]
    typed: str = ""
    nothing: str = "all"
    """What is asked for where nothing is chosen; "": something always is."""
    kind: str = "text"
    """Of a field to type in: `text`, `date`, or `names` where models are suggested."""

    @property
    def chosen(self) -> int:
        return sum(option.chosen for option in self.options)


def select(
    label: str, name: str, offered: Iterable[tuple[str, str]], chosen: object, nothing: str = "", usual: str = ""
) -> Field:
    """A list of values with their texts, of which the usual one is not written into the address. What is chosen and not
    offered stays chosen: another view may offer it."""
    known = dict(offered)
    nothing = known.pop(usual, nothing)
    wanted = [str(one) for one in (chosen if isinstance(chosen, list) else [chosen]) if one not in (None, "", usual)]
    known |= {one: one for one in wanted if one not in known}
    return Field(label, name, [Option(value, text, value in wanted) for value, text in known.items()], nothing=nothing)
