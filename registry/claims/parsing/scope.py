"""What a text may be about: the names, axes and levels of one experiment and metric, found in tokens."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from registry.claims.claim import FACETS
from registry.claims.parsing.lexicon import COMMON
from registry.claims.parsing.tokens import Token, atoms_of
from registry.grids.grid import Axis, Level, Metric

_JOINTS = frozenset("-'._/|:")
_MOST_ATOMS = 60
_GENERIC = frozenset(("size", "local", "number", "level", "count", "rate", "mean", "value", "total", "of", "the"))
"""Words of axes by which alone an axis is not named."""
PLURALS = {"benchmark": ("benchmarks", "datasets", "dataset"), "model": ("models",), "variant": ("variants",)}
_VERBS = frozenset(
    ("beats", "beat", "outperforms", "outperform", "is", "has", "ranks", "leads", "and", "vs", "versus", "reaches",
     "achieves", "trails", "matches", "exceeds", "on", "at", ",", ":", ")", "(", "'", "or", "than", ".", ";",
     "declines", "drops", "rises", "improves", "falls", "surpasses", "lags")
)  # fmt: skip
"""What follows a name that is spelt like the article "A"."""


class Named(NamedTuple):
    """What tokens name: an `axis` or a facet as such (`name` is empty), a level of an axis, or a name of a facet; a
    `metric` and an `experiment` are those of the scope."""

    kind: str
    name: str = ""


@dataclass(frozen=True)
class Scope:
    """An experiment and a metric. `names`: for each facet the spoken names, aliases among them, and what they stand
    for; `grids`: the benchmark, model and variant of each grid."""

    experiment: str
    metric: Metric
    axes: tuple[Axis, ...]
    names: Mapping[str, Mapping[str, str]]
    grids: tuple[Mapping[str, str], ...]
    held_axes: tuple[frozenset[str], ...] = ()
    """The axes of each grid, by their names; empty where all have all."""

    def axes_of(self, names: Mapping[str, str]) -> tuple[Axis, ...]:
        """The axes that any grid of these names has."""
        if not self.held_axes:
            return self.axes
        kept = [
            axes
            for grid, axes in zip(self.grids, self.held_axes, strict=True)
            if all(grid[facet] == name for facet, name in names.items())
        ]
        return tuple(axis for axis in self.axes if any(axis.name in axes for axes in kept))

    @cached_property
    def levels(self) -> Mapping[str, Mapping[str, Level]]:
        """The levels of each axis by their labels."""
        return {axis.name: {level.label: level for level in axis.levels} for axis in self.axes}

    @cached_property
    def by_number(self) -> Mapping[str, Mapping[float, Level]]:
        """The levels of each axis by their numbers, also those of labels that are whole numbers."""
        found: dict[str, dict[float, Level]] = {}
        for axis in self.axes:
            numbers = found.setdefault(axis.name, {})
            for level in axis.levels:
                plain = float(level.label) if level.label.isascii() and level.label.isdigit() else None
                number = level.number if level.number is not None else plain
                if number is not None:
                    numbers.setdefault(number, level)
        return found

    def axis(self, name: str) -> Axis:
        return next(axis for axis in self.axes if axis.name == name)

    def held(self, facet: str) -> list[str]:
        """The names of a facet that grids have."""
        return sorted({grid[facet] for grid in self.grids})

    @property
    def point(self) -> float | None:
        """A hundredth of the metric's range where that is a proportion; elsewhere there are no points."""
        proportion = self.metric.proportion_of
        return None if proportion is None else proportion / 100

    @cached_property
    def _known(self) -> _Trie:
        trie = _Trie()
        for axis in self.axes:
            trie.add(axis.name, Named("axis", axis.name))
            for level in axis.levels:
                trie.add(level.label, Named(axis.name, level.label))
        for facet in FACETS:
            for spoken, name in self.names.get(facet, {}).items():
                trie.add(spoken, Named(facet, name))
        trie.add(self.metric.name, Named("metric"))
        trie.add(self.experiment, Named("experiment"))
        return trie

    @cached_property
    def _axes_by_words(self) -> Mapping[tuple[str, ...], str | None]:
        """Axes by their names, plurals, and such parts of their names as only one has; None for parts of several."""
        found: dict[tuple[str, ...], str | None] = {}
        for name in dict.fromkeys(axis.name for axis in self.axes):
            words = atoms_of(name)
            parts = {
                tuple(words[start:end])
                for start in range(len(words))
                for end in range(start + 1, len(words) + 1)
                if end - start == len(words) or not _GENERIC.issuperset(words[start:end])
            }
            for part in parts | {(*part[:-1], part[-1] + "s") for part in parts}:
                whole = part in (tuple(words), (*words[:-1], words[-1] + "s"))
                found[part] = name if part not in found or whole else None
        return found

    def found_at(self, atoms: Sequence[Atom], place: int) -> tuple[Named, int] | None:
        """What is named from this atom on, and the atom after it: the longest name. None where nothing is, or where one
        spelling names several things."""
        named, end = self._known.longest(atoms, place)
        axis, after = self._axis_at(atoms, place)
        if axis and after >= end:
            return Named("axis", axis), after
        if len(named) > 1:
            named = {one for one in named if one[1] == _spelling(atoms, place, end)}
        if len(named) != 1 or not _is_meant(named, atoms, place, end):
            return None
        return next(iter(named))[0], end

    def _axis_at(self, atoms: Sequence[Atom], place: int) -> tuple[str, int]:
        words: list[str] = []
        best = "", place
        for atom in atoms[place : place + 8]:
            if atom.begins and words and not atom.joined and not atom.spaced:
                break
            words.append(atom.text)
            if atom.ends and atoms[place].begins and (axis := self._axes_by_words.get(tuple(words))):
                best = axis, place + len(words)
        return best


class Atom(NamedTuple):
    """A run of letters or digits: the token that it is in, whether that begins and ends with it, and whether nothing
    but a mark such as a dash (`joined`) or nothing at all (`spaced`) stands before the token."""

    text: str
    token: int
    begins: bool
    ends: bool
    joined: bool
    spaced: bool
    source: Sequence[Token]


def atoms(tokens: Sequence[Token]) -> list[Atom]:
    """The atoms of all tokens."""
    found: list[Atom] = []
    last = -1
    for place, token in enumerate(tokens):
        parts = atoms_of(token.text)
        gap = tokens[last + 1 : place]
        joined = len(gap) == 1 and gap[0].text in _JOINTS
        for number, part in enumerate(parts):
            ends = number == len(parts) - 1
            found.append(Atom(part, place, number == 0, ends, joined, not gap, tokens))
        if parts:
            last = place
    return found


class _Trie:
    """Names by their atoms."""

    def __init__(self) -> None:
        self._root: dict[Any, Any] = {}

    def add(self, spoken: str, named: Named) -> None:
        parts = atoms_of(spoken)
        if not parts or len(parts) > _MOST_ATOMS or not any(part[0].isalpha() for part in parts):
            return
        node = self._root
        for part in parts:
            node = node.setdefault(part, {})
        node.setdefault("", {})[named] = spoken

    def longest(self, found: Sequence[Atom], place: int) -> tuple[set[tuple[Named, str]], int]:
        """What the longest name from an atom on stands for, with how it is spelt, and the atom after it."""
        node, best, end = self._root, {}, place
        if not found[place].begins:
            return set(), place
        for offset in range(place, min(len(found), place + _MOST_ATOMS)):
            atom = found[offset]
            if offset > place and atom.begins and not (atom.joined or atom.spaced):
                break
            node = node.get(atom.text, {})
            if not node:
                break
            if atom.ends and "" in node:
                best, end = node[""], offset + 1
        return set(best.items()), end


def _is_meant(named: set[tuple[Named, str]], found: Sequence[Atom], place: int, end: int) -> bool:
    """Short names and common words are names only as they are spelt; "A" only where no article can stand."""
    [(_, spoken)] = named
    if len(spoken) > 2 and spoken.casefold() not in COMMON:
        return True
    if _spelling(found, place, end) != spoken:
        return False
    source = found[place].source
    following = source[found[end - 1].token + 1 :][:1]
    return spoken != "A" or not following or following[0].word in _VERBS


def _spelling(found: Sequence[Atom], place: int, end: int) -> str:
    return "".join(token.text for token in found[place].source[found[place].token : found[end - 1].token + 1])


def spoken_names(held: Iterable[str], joined: Mapping[str, str]) -> dict[str, str]:
    """Names of a facet with their aliases, and what each stands for."""
    names = {name: joined.get(name, name) for name in held if name}
    return names | {alias: name for alias, name in joined.items() if name in set(names.values())}


def scopes_about(scopes: Iterable[Scope], wanted: Mapping[str, Any]) -> Iterator[Scope]:
    """The scopes with the grids that these names leave."""
    for scope in scopes:
        matching = [all(grid[facet] == wanted[facet] for facet in FACETS if facet in wanted) for grid in scope.grids]
        kept = tuple(itertools.compress(scope.grids, matching))
        if kept:
            names = {
                facet: {
                    spoken: name for spoken, name in scope.names[facet].items() if name in {one[facet] for one in kept}
                }
                for facet in FACETS
            }
            held = tuple(itertools.compress(scope.held_axes, matching))
            narrowed = Scope(scope.experiment, scope.metric, scope.axes, names, kept, held)
            yield replace(narrowed, axes=narrowed.axes_of({}))
