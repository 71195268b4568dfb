"""One statement of a sentence: its predicate, and the names, places, groups and numbers that it has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from registry.claims.dictionary import Reading
from registry.claims.parsing.item import Item, Place
from registry.claims.parsing.numbers import Said


class Unread(Exception):
    """No rule covers a clause; the text says why."""


@dataclass(frozen=True, slots=True)
class Group:
    """A quantifier over the levels of an axis or the names of a facet."""

    dimension: str
    holds: Any
    levels: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with the preposition before it; `aside`: in parentheses."""

    said: Said
    prep: str = ""
    aside: bool = False


@dataclass(frozen=True, slots=True)
class Where:
    """A place with the preposition before it; `before`: whether it stands before the predicate."""

    place: Place
    prep: str = ""
    before: bool = True


@dataclass
class Clause:
    """What a clause has. `core`: its predicates in order, kind and value."""

    core: list[tuple[str, Any]] = field(default_factory=list)
    places: list[Where] = field(default_factory=list)
    names: list[tuple[str, str, bool]] = field(default_factory=list)
    """Facet, name, and whether it stands before the predicate."""
    groups: list[Group] = field(default_factory=list)
    axes: list[tuple[str, str]] = field(default_factory=list)
    """Axes and facets as such, with the preposition before them."""
    numbers: list[Amount] = field(default_factory=list)
    mods: dict[Any, Item] = field(default_factory=dict)
    share: Any = None
    denied: bool = False
    keeps: bool = False
    only: bool = False
    words: set[str] = field(default_factory=set)
    readings: list[Reading] = field(default_factory=list)

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind, _ in self.core)
