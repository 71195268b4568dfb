"""The items of one statement, each into its part of the clause."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from registry.claims.claim import FACETS
from registry.claims.dictionary import Reading
from registry.claims.parsing.clause import Amount, Clause, Group, Unread, Where
from registry.claims.parsing.item import Item, Place
from registry.claims.parsing.scope import Scope


def clause_of(items: Sequence[Item], scope: Scope, subject: Clause | None) -> Clause:
    """The items of one statement in their parts; `subject`: the clause before it, whose subject it may share."""
    clause = Clause()
    reader = _Reader(items, scope, clause)
    while not reader.done:
        reader.step()
    if subject is not None:
        _inherit(clause, subject)
    return clause


def _inherit(clause: Clause, subject: Clause) -> None:
    """Places, names and groups before the predicate of another clause hold for one that has none itself."""
    own = {one.place.axis for one in clause.places} | {one.dimension for one in clause.groups}
    own |= {facet for facet, _, _ in clause.names}
    if any(one.before for one in clause.places) or clause.groups or any(before for *_, before in clause.names):
        # It has a subject of its own, so that only a heading before a colon still holds.
        subject = subject if "heading" in subject.words else Clause()
    clause.places += [one for one in subject.places if one.before and one.place.axis not in own]
    clause.names += [one for one in subject.names if one[2] and one[0] not in own]
    clause.groups += [one for one in subject.groups if one.dimension not in own]


class _Reader:
    """Items one by one, each into its part of the clause."""

    def __init__(self, items: Sequence[Item], scope: Scope, clause: Clause) -> None:
        self._items = items
        self._scope = scope
        self._clause = clause
        self._place = 0
        self._prep = ""
        self._aside = False
        self._core = False

    @property
    def done(self) -> bool:
        return self._place >= len(self._items)

    def step(self) -> None:
        item = self._items[self._place]
        if self._cells_counted():
            return
        group = self._group()
        if group is not None:
            self._clause.groups.append(group)
            self._prep = ""
            return
        self._place += 1
        if item.kind == "mark":
            self._mark(item)
            return
        _TAKERS.get(item.kind, _Reader._on_predicate)(self, item)
        if item.kind not in ("fill", "prep"):
            self._prep = ""

    def _mark(self, item: Item) -> None:
        if item.value not in "(),:":
            raise Unread(f'has "{item.phrase}"')
        self._aside = item.value == "(" if item.value in "()" else self._aside

    def _on_unknown(self, item: Item) -> None:
        raise Unread(f'has the word "{item.phrase}", which no rule knows')

    def _on_fill(self, item: Item) -> None:
        self._clause.words.add(item.phrase.casefold())

    def _on_accuracy(self, item: Item) -> None:
        if "acc" not in self._scope.metric.name.casefold():
            raise Unread(f'says {item.phrase}, and the metric is "{self._scope.metric.name}"')

    def _on_be(self, item: Item) -> None:
        if item.value is None and item.phrase.casefold() == "of":
            self._prep = self._prep or "of"

    def _on_keep(self, _item: Item) -> None:
        self._clause.keeps = True
        self._core = True

    def _on_prep(self, item: Item) -> None:
        self._prep = item.value

    def _on_only(self, _item: Item) -> None:
        self._clause.only = True

    def _on_neg(self, item: Item) -> None:
        if self._clause.denied:
            raise Unread("is denied twice")
        self._clause.denied = True
        self._clause.words.add(item.phrase.casefold())

    def _on_share(self, item: Item) -> None:
        if self._clause.share is not None:
            raise Unread("says twice how many")
        self._clause.share = item.value
        self._read(item)

    def _on_mod(self, item: Item) -> None:
        entry = item.entry
        if entry is not None and entry.use == "nothing":
            following = self._at(self._place)
            if following is not None and following.kind == "axis":
                raise Unread(f'says "{item.phrase} {following.phrase}", and not which')
            self._read(item)
        else:
            self._clause.mods[item.value] = item

    def _on_about(self, item: Item) -> None:
        raise Unread(f'has "{item.phrase}" without a number')

    def _on_name(self, item: Item) -> None:
        facet, name = item.value
        self._clause.names.append((facet, name, not self._core))

    def _on_place(self, item: Item) -> None:
        last = self._clause.places[-1] if self._clause.places else None
        plain = all(one.lower is None and one.upper is None for one in ([last.place] if last else []) + [item.value])
        if (
            last is not None
            and last.place.axis == item.value.axis
            and plain
            and last.before != self._core
            and not self._prep
        ):
            # "Type 1 and Type 7" is "Types 1 and 7".
            levels = tuple(dict.fromkeys((*last.place.levels, *item.value.levels)))
            self._clause.places[-1] = Where(Place(item.value.axis, levels), last.prep, last.before)
            return
        self._clause.places.append(Where(item.value, self._prep, not self._core))

    def _on_axis(self, item: Item) -> None:
        following = self._at(self._place)
        if (
            following is not None
            and following.kind == "number"
            and following.start == item.end
            and following.value.op == "="
        ):
            raise Unread(f'names "{following.phrase}", which is no level of "{item.value}"')
        self._clause.axes.append((item.value, self._prep))

    def _on_number(self, item: Item) -> None:
        self._clause.numbers.append(Amount(item.value, self._prep, self._aside))
        self._clause.readings += item.value.readings
        self._core = self._core or not self._aside

    def _on_predicate(self, item: Item) -> None:
        self._clause.core.append((item.kind, item.value))
        self._core = True
        if item.entry is not None:
            self._read(item)

    def _read(self, item: Item) -> None:
        if item.entry is not None:
            self._clause.readings.append(Reading(item.phrase, item.entry.read_as))

    def _cells_counted(self) -> bool:
        """Whether "all cells" or the like stands here, which is then read."""
        item, following = self._at(self._place), self._at(self._skip(self._place + 1))
        if item is None or following is None or item.kind != "quant" or following.kind != "cells":
            return False
        if self._clause.share is not None:
            raise Unread("says twice how many")
        self._clause.share = item.value
        self._place = self._skip(self._place + 1) + 1
        self._clause.core.append(("cells", None))
        self._core = True
        return True

    def _group(self) -> Group | None:
        """A quantifier with what it is over, and what it leaves out."""
        found = self._quantifier()
        if found is None:
            return None
        holds, place = found
        place = self._skip(place)
        item = self._at(place)
        if item is None or item.kind != "axis":
            return None
        self._place = place + 1
        without: tuple[str, ...] = ()
        following = self._at(self._place)
        if following is not None and following.kind == "except":
            without = self._left_out(item.value)
        return Group(item.value, holds, (), without)

    def _quantifier(self) -> tuple[Any, int] | None:  # noqa: PLR0911 (one for each form)
        """all, most, none, any, "3 of 4", or "at least 3", and the item after it."""
        item = self._items[self._place]
        if item.kind == "quant":
            return item.value, self._place + 1
        if item.kind != "number" or item.value.form != "one" or item.value.unit or item.value.decimals:
            return None
        count = int(item.value.low)
        of, total = self._at(self._place + 1), self._at(self._place + 2)
        if of is not None and of.phrase.casefold() in ("of", "out of") and total is not None:
            place = self._place + 2 + (total.phrase.casefold() == "the")
            total = self._at(place)
            axis = self._at(self._skip(place + 1))
            if (
                total is None
                or total.kind != "number"
                or axis is None
                or axis.kind != "axis"
                or item.value.op not in ("=", ">=")
            ):
                return None
            there = self._size(axis.value)
            if there != total.value.low:
                raise Unread(f'speaks of "{total.phrase}" {axis.phrase}, and there are {there}')
            return {"at_least": count}, self._skip(place + 1)
        if item.value.op == ">=" and count:
            return {"at_least": count}, self._place + 1
        if item.value.op == "=" and "exactly" in item.phrase.casefold():
            return {"exactly": count}, self._place + 1
        return None

    def _size(self, dimension: str) -> int:
        if dimension in FACETS:
            return len(self._scope.held(dimension))
        return len(self._scope.axis(dimension).levels)

    def _left_out(self, dimension: str) -> tuple[str, ...]:
        place = self._skip(self._place + 1)
        item = self._at(place)
        self._place = place + 1
        if item is not None and item.kind == "place" and item.value.axis == dimension:
            return tuple(item.value.levels)
        if item is not None and item.kind == "name" and item.value[0] == dimension:
            return (item.value[1],)
        if item is not None and item.kind == "number" and item.value.form == "one" and not item.value.unit:
            level = self._scope.by_number.get(dimension, {}).get(item.value.low)
            following = self._at(self._place)
            listed = following is not None and (following.kind in ("mark", "sep")) and self._more_levels()
            if level is not None and not listed:
                return (level.label,)
        raise Unread("leaves out what is no level or name here")

    def _more_levels(self) -> bool:
        """Whether more numbers follow in a list, of which it is not said what they are."""
        following = self._at(self._place + 1)
        return following is not None and following.kind == "number"

    def _skip(self, place: int) -> int:
        while (item := self._at(place)) is not None and item.kind == "fill":
            place += 1
        return place

    def _at(self, place: int) -> Item | None:
        return self._items[place] if place < len(self._items) else None


_TAKERS: Mapping[str, Callable[[_Reader, Item], None]] = {
    "unknown": _Reader._on_unknown,
    "fill": _Reader._on_fill,
    "accuracy": _Reader._on_accuracy,
    "be": _Reader._on_be,
    "keep": _Reader._on_keep,
    "prep": _Reader._on_prep,
    "only": _Reader._on_only,
    "neg": _Reader._on_neg,
    "share": _Reader._on_share,
    "mod": _Reader._on_mod,
    "about": _Reader._on_about,
    "name": _Reader._on_name,
    "place": _Reader._on_place,
    "axis": _Reader._on_axis,
    "number": _Reader._on_number,
    "ill_posed": _Reader._on_unknown,
    "performance": _Reader._on_fill,
    "quant": _Reader._on_about,
    "sep": _Reader._on_about,
    "except": _Reader._on_about,
    "between": _Reader._on_about,
}
