"""A sentence as items: names, places on axes, numbers and known words, each with the tokens that it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from registry.claims.claim import FACETS
from registry.claims.dictionary import Entry
from registry.claims.parsing.item import Item, Place, phrase_of
from registry.claims.parsing.lexicon import phrase_at
from registry.claims.parsing.numbers import number_at
from registry.claims.parsing.scope import PLURALS, Named, Scope, atoms
from registry.claims.parsing.tokens import Token

_SILENT = frozenset("*_`#\"'|.!?[]{}")
_MOST_LISTED = 200
"""Levels of one place; a sentence about more of an axis without numbers is not read."""
_RANGES = {"<=": "to", "<": "below", ">=": "from", ">": "above", "up to": "to", "at most": "to", "until": "to",
           "at least": "from", "beyond": "above", "above": "above", "over": "above", "after": "above", "past": "above",
           "greater than": "above", "longer than": "above", "below": "below", "under": "below", "before": "below",
           "less than": "below", "shorter than": "below", "from": "from"}  # fmt: skip
_BEHIND = {"and above": "from", "or more": "from", "onwards": "from", "onward": "from", "and beyond": "from",
           "and up": "from", "and below": "to", "or less": "to"}  # fmt: skip


def items_of(tokens: Sequence[Token], scope: Scope) -> list[Item]:
    """The items of a sentence; marks without meaning are left out."""
    reader = _Reader(tokens, scope)
    found: list[Item] = []
    place = 0
    while place < len(tokens):
        if (several := reader.coordinate_at(place)) is not None:
            found += several
            place = several[-1].end
            continue
        item = reader.item_at(place)
        if item is not None:
            found.append(item)
        place = item.end if item is not None else place + 1
    return list(_with_growing(found, scope))


def _with_growing(items: Sequence[Item], scope: Scope) -> Iterator[Item]:
    """ "as Length increases from 5 to 9" says along which axis, not that something rises."""
    place = 0
    while place < len(items):
        group = items[place : place + 3]
        if (
            [item.kind for item in group] != ["fill", "axis", "go"]
            or group[0].phrase.casefold() != "as"
            or group[2].value != "up"
        ):
            yield items[place]
            place += 1
            continue
        first, axis, _ = group
        yield Item("prep", "with", first.start, first.end, first.phrase)
        yield axis
        place += 3
        ends = items[place : place + 4]
        if [item.kind for item in ends] == ["prep", "number", "prep", "number"] and ends[0].value == "from":
            levels = [scope.by_number.get(axis.value, {}).get(item.value.low) for item in ends[1::2]]
            if None not in levels and all(item.value.form == "one" and not item.value.unit for item in ends[1::2]):
                low, high = (level.number for level in levels if level is not None)
                if low is not None and high is not None and low < high:
                    yield Item("place", Place(axis.value, (), (), low, high), ends[0].start, ends[3].end, "")
                    place += 4


class _Reader:
    def __init__(self, tokens: Sequence[Token], scope: Scope) -> None:
        self._tokens = tokens
        self._scope = scope
        self._atoms = atoms(tokens)
        self._atom_of = {atom.token: place for place, atom in reversed(list(enumerate(self._atoms)))}

    def item_at(self, place: int) -> Item | None:
        """The longest of what can stand at a token; None for a mark that says nothing."""
        found = list(self._found_at(place))
        if found:
            # Names go before words of the same length, and both before numbers.
            return max(found, key=lambda item: item.end)
        token = self._tokens[place]
        if token.text in _SILENT:
            return None
        if token.text in ",;:()-/":
            return self._item("mark", token.text, place, place + 1)
        return self._item("unknown", token.text, place, place + 1)

    def coordinate_at(self, place: int) -> list[Item] | None:
        """ "(2000, 0.4)": a level of each axis, in the order of the axes."""
        axes = self._scope.axes
        if (
            self._word(place) != "("
            or self._word(place - 1) != "at"
            or len(axes) < 2
            or self._word(place + 2 * len(axes)) != ")"
        ):
            return None
        found = []
        for number, axis in enumerate(axes):
            at = place + 1 + 2 * number
            level = self._level_at(axis.name, at)
            if level is None or level[1] != at + 1 or self._word(at + 1) not in (",", ")"):
                return None
            found.append(self._item("place", Place(axis.name, (level[0],)), at, at + 1))
        return [*found[:-1], replace(found[-1], end=place + 2 * len(axes) + 1)]

    def _found_at(self, place: int) -> Iterator[Item]:
        if (named := self.named_at(place)) is not None:
            yield self._of_name(*named, place)
        if (bounded := self._bounded_axis_at(place)) is not None:
            yield self._item("place", bounded[0], place, bounded[1])
        if (bracketed := self._bracketed_at(place)) is not None:
            yield self._item("place", bracketed[0], place, bracketed[1])
        if self._tokens[place].word in _COLLECTIONS:
            yield self._item("axis", _COLLECTIONS[self._tokens[place].word], place, place + 1)
        if (phrase := phrase_at(self._tokens, place)) is not None:
            word, end = phrase
            yield self._item(word.kind, word.value, place, end, word.entry)
        if (number := number_at(self._tokens, place)) is not None:
            yield self._item("number", number[0], place, number[1])

    def named_at(self, place: int) -> tuple[Named, int] | None:
        """What is named from a token on, and the token after it."""
        first = self._atom_of.get(place)
        found = self._scope.found_at(self._atoms, first) if first is not None else None
        return None if found is None else (found[0], self._atoms[found[1] - 1].token + 1)

    def _bracketed_at(self, place: int) -> tuple[Place, int] | None:
        """ "shorter lengths (0-4)": levels in parentheses behind an axis that an adjective only sums up."""
        if self._word(place) not in _SUMMED_UP:
            return None
        named = self.named_at(place + 1) if place + 1 < len(self._tokens) else None
        if named is None or named[0].kind != "axis" or self._word(named[1]) != "(":
            return None
        return self._place_at(named[0].name, named[1])

    def _bounded_axis_at(self, place: int) -> tuple[Place, int] | None:
        """ "beyond Length 17": levels on one side of one, where the axis is named behind the bound."""
        if self._word(place) == "between":
            named = self.named_at(place + 1) if place + 1 < len(self._tokens) else None
            return self._levels_at(named[0].name, named[1], between=True) if named and named[0].kind == "axis" else None
        for length in (2, 1):
            bound = _RANGES.get(" ".join(self._word(one) for one in range(place, place + length)))
            if bound is None or (bound == "from" and self._word(place) == "from"):
                continue
            named = self.named_at(place + length) if place + length < len(self._tokens) else None
            level = self._level_at(named[0].name, named[1]) if named and named[0].kind == "axis" else None
            if named and level and self._word(level[1]) not in ("-", "to", ","):
                return self._bound(named[0].name, bound, level)
        return None

    def _item(self, kind: str, value: Any, start: int, end: int, entry: Entry | None = None) -> Item:
        return Item(kind, value, start, end, phrase_of(self._tokens[start:end]), entry)

    def _of_name(self, named: Named, end: int, start: int) -> Item:
        if named.kind in ("metric", "experiment"):
            return self._item("fill", named.kind, start, end)
        if named.kind in FACETS:
            return self._item("name", (named.kind, named.name), start, end)
        if named.kind != "axis":
            return self._item("place", Place(named.kind, (named.name,)), start, end)
        placed = self._place_at(named.name, end)
        return (
            self._item("axis", named.name, start, end)
            if placed is None
            else self._item("place", *placed_item(placed, start))
        )

    def _place_at(self, axis: str, place: int) -> tuple[Place, int] | None:
        """The levels behind the name of an axis."""
        bracket = self._word(place) == "("
        start = place + 1 if bracket else place
        while self._word(start) in ("=", ":", "of", "size", "sizes", "level", "levels", "value", "values", "#"):
            start += 1
        numbered = not bracket and self._word(start) == "numbered"
        placed = self._bounded_at(axis, start) or self._levels_at(axis, start + numbered)
        if placed is not None and numbered:
            return replace(placed[0], numbered=True), placed[1]
        if placed is None or not bracket:
            return placed
        return (placed[0], placed[1] + 1) if self._word(placed[1]) == ")" else None

    def _bounded_at(self, axis: str, place: int) -> tuple[Place, int] | None:
        for length in (2, 1):
            bound = _RANGES.get(" ".join(self._word(one) for one in range(place, place + length)))
            level = self._level_at(axis, place + length) if bound else None
            if bound and level:
                if self._word(level[1]) in ("to", "-", "through") and bound == "from":
                    return self._levels_at(axis, place + length)
                return self._bound(axis, bound, level)
        return None

    def _levels_at(self, axis: str, place: int, *, between: bool = False) -> tuple[Place, int] | None:
        inner = self._word(place) == "between"
        first = self._level_at(axis, place + inner)
        between = between or inner
        if first is None:
            return None
        level, end = first
        if between and self._word(end) not in ("and", "-"):
            return None
        if self._word(end) in (("and", "-") if between else ("-", "to", "through")):
            last = self._level_at(axis, end + 1)
            return None if last is None else self._range(axis, level, *last)
        behind = _BEHIND.get(f"{self._word(end)} {self._word(end + 1)}")
        if behind:
            return self._bound(axis, behind, (level, end + 2))
        levels = [level]
        while (after := self._joint(end)) and (more := self._level_at(axis, after)):
            if self._word(more[1]) in ("-", "to", "%"):
                break
            levels.append(more[0])
            end = more[1]
        return Place(axis, tuple(dict.fromkeys(levels))), end

    def _joint(self, place: int) -> int:
        """The token after a comma, "and", or both; 0 where there is none."""
        comma = self._word(place) == ","
        joined = self._word(place + comma) in ("and", "&")
        return place + comma + joined if comma or joined else 0

    def _level_at(self, axis: str, place: int) -> tuple[str, int] | None:
        """A level of the axis by its label or its number. A number with a percent sign is none."""
        levels = self._scope.levels.get(axis, {})
        for length in (3, 2, 1):
            if place + length > len(self._tokens):
                continue
            said = phrase_of(self._tokens[place : place + length])
            if said in levels and self._word(place + length) != "%":
                return said, place + length
        if place >= len(self._tokens) or not self._tokens[place].is_number or self._word(place + 1) == "%":
            return None
        level = self._scope.by_number.get(axis, {}).get(float(self._tokens[place].text))
        return None if level is None else (level.label, place + 1)

    def _range(self, axis: str, first: str, last: str, end: int) -> tuple[Place, int] | None:
        order = [level.label for level in self._scope.axis(axis).levels]
        low, high = order.index(first), order.index(last)
        if low > high:
            return None
        numeric = self._scope.axis(axis).kind == "numeric"
        if not numeric and high - low >= _MOST_LISTED:
            return None
        lower, upper = ((self._scope.levels[axis][one].number if numeric else None) for one in (first, last))
        return Place(axis, tuple(order[low : high + 1]), (first, last), lower, upper), end

    def _bound(self, axis: str, bound: str, level: tuple[str, int]) -> tuple[Place, int] | None:
        """Levels on one side of one; None where there are none."""
        order = [one.label for one in self._scope.axis(axis).levels]
        at = order.index(level[0])
        kept = {"to": order[: at + 1], "below": order[:at], "from": order[at:], "above": order[at + 1 :]}[bound]
        numeric = self._scope.axis(axis).kind == "numeric"
        if not kept or not self._scope.axis(axis).ordered or not (numeric or len(kept) <= _MOST_LISTED):
            return None
        lower = upper = None
        if numeric and bound in ("from", "above"):
            lower = self._scope.levels[axis][kept[0]].number
        elif numeric:
            upper = self._scope.levels[axis][kept[-1]].number
        return Place(axis, tuple(kept), (), lower, upper), level[1]

    def _word(self, place: int) -> str:
        return self._tokens[place].word if 0 <= place < len(self._tokens) else ""


_SUMMED_UP = frozenset(
    ("shorter", "longer", "short", "long", "smaller", "larger", "small", "large", "lower", "higher", "low", "high",
     "medium")
)  # fmt: skip
"""Adjectives of levels that are listed behind them."""
_COLLECTIONS = {plural: facet for facet, plurals in PLURALS.items() for plural in plurals}


def placed_item(placed: tuple[Place, int], start: int) -> tuple[Place, int, int]:
    """What an item of a place is made of."""
    return placed[0], start, placed[1]
