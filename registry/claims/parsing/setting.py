"""What a statement is about: where it holds, for which groups, and which grids it names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from registry.claims.claim import FACETS
from registry.claims.dictionary import Reading
from registry.claims.parsing.clause import Amount, Clause, Group, Unread, Where
from registry.claims.parsing.numbers import Said
from registry.claims.parsing.scope import Scope

Part = dict[str, Any]


class Setting:
    """A clause in its scope. A rule takes what it uses; `close` refuses a clause of which something is left."""

    def __init__(self, clause: Clause, scope: Scope) -> None:
        self.clause = clause
        self.scope = scope
        self.axes = scope.axes_of(_names(clause))
        self.readings = list(clause.readings)
        self.strength = ""
        self._numbers = list(clause.numbers)
        self._mods = dict(clause.mods)
        self._axes = list(clause.axes)
        self._places = list(clause.places)
        self._share = clause.share
        self._denied = clause.denied
        self._only = clause.only
        if item := self._mods.pop("noise", None):
            self.strength = "noise"
            self.read(item.phrase, item.entry.read_as if item.entry else "")

    def read(self, phrase: str, read_as: str) -> None:
        self.readings.append(Reading(phrase, read_as))

    def points(self, count: float) -> float:
        """So many points in the metric's unit."""
        if self.scope.point is None:
            raise Unread("has a word that is read in points, and the metric has no range of 0 to 1 or 0 to 100")
        return round(count * self.scope.point, 9)

    def mod(self, value: Any) -> bool:
        """Take a modifier: whether it is there."""
        item = self._mods.pop(value, None)
        if item is not None and item.entry is not None:
            self.read(item.phrase, item.entry.read_as)
        return item is not None

    def unjudged(self, value: Any, why: str) -> None:
        """Take a modifier that this statement has no number for."""
        if item := self._mods.pop(value, None):
            self.read(item.phrase, f"not judged: {why}")

    def share(self) -> Any:
        found, self._share = self._share, None
        return found

    def denied(self) -> bool:
        found, self._denied = self._denied, False
        return found

    def only(self) -> bool:
        found, self._only = self._only, False
        return found

    def number(self, *preps: str, aside: bool | None = None) -> Said | None:
        """Take the only number that stands behind one of these prepositions."""
        found = [one for one in self._numbers if one.prep in preps and aside in (None, one.aside)]
        if len(found) != 1:
            return None
        self._numbers.remove(found[0])
        return found[0].said

    @property
    def numbers(self) -> Sequence[Amount]:
        return self._numbers

    def value(self, said: Said) -> dict[str, Any]:
        """A number of the metric as a claim has it; a percent sign is for metrics in percent."""
        percent = self.scope.metric.unit == "%" or self.scope.point == 1
        if (said.unit == "%" and not percent) or said.unit == "factor":
            raise Unread("has a number in another unit than the metric")
        if said.unit == "points" and self.scope.point != 1:
            raise Unread("has a number in points, and the metric is not in percent")
        if said.form == "between" and said.decimals == 1 and self.scope.point != 1 and self._is_decade(said):
            raise Unread("has a decade, and the metric is not in percent")
        return said.document()

    def _is_decade(self, said: Said) -> bool:
        return any(reading.phrase.endswith("0s") for reading in said.readings)

    def take_axes(self, *preps: str) -> list[str]:
        """Take the axes that stand as such behind these prepositions; without any, all of them."""
        found = [axis for axis, prep in self._axes if not preps or prep in preps]
        self._axes = [(axis, prep) for axis, prep in self._axes if axis not in found]
        return list(dict.fromkeys(found))

    @property
    def places(self) -> Sequence[Where]:
        return self._places

    def take_place(self, axis: str, *preps: str, single: bool = True) -> Where | None:
        """Take the only place on an axis behind these prepositions."""
        found = [
            one for one in self._places
            if one.place.axis == axis
            and (not preps or one.prep in preps)
            and (not single or len(one.place.levels) == 1)
        ]  # fmt: skip
        if len(found) != 1:
            return None
        self._places.remove(found[0])
        return found[0]

    def take_exactly(self, one: Where) -> None:
        """Take a place."""
        self._places = [other for other in self._places if other is not one]

    def along(self) -> str:
        """The one axis that a series runs along, where all others are bound."""
        named = [axis for axis in self.take_axes("with", "at", "by") if axis not in FACETS]
        bound = {one.place.axis for one in self._places if self._binds(one)}
        whole = self._whole_series(bound)
        named += [whole] if whole else []
        bound |= {group.dimension for group in self.clause.groups}
        free = [axis.name for axis in self.axes if axis.name not in bound or axis.name in named]
        free = list(dict.fromkeys(free))
        if len(named) > 1 or len(free) != 1 or (named and named != free):
            raise Unread(f"is not about one series: {', '.join(free) or 'no axis'} is left open")
        if not self.scope.axis(free[0]).ordered:
            raise Unread(f'runs along "{free[0]}", whose levels have no order')
        self._one_grid()
        return free[0]

    def _whole_series(self, bound: set[str]) -> str:
        """The axis of "across all lengths", where that is the only one that is not bound; it makes no groups then."""
        groups = [one for one in self.clause.groups if one.holds == "all" and not one.without and not one.levels]
        rest = {axis.name for axis in self.axes} - bound
        found = next(
            (one for one in groups if {one.dimension} == rest and self.scope.axis(one.dimension).ordered), None
        )
        if found is None:
            return ""
        self.clause.groups = [one for one in self.clause.groups if one is not found]
        return found.dimension

    def _binds(self, one: Where) -> bool:
        """Whether a place leaves one level of its axis, or is the subject of a statement on each of several."""
        several = one.before and len(one.place.levels) > 1 and one.place.lower is None and one.place.upper is None
        ordered = self.scope.axis(one.place.axis).ordered
        single = len(one.place.levels) == 1 and (one.before or one.prep in ("at", "of", "") or not ordered)
        axes = {axis.name for axis in self.axes}
        # The only ordered axis is that of the series, though a step on it may be named.
        last = ordered and sum(self.scope.axis(axis).ordered for axis in axes) == 1
        return (several and not last) or (single and not last)

    def _one_grid(self) -> None:
        """Refuse a statement about one series where several grids have it."""
        facets = {facet: name for facet, name, _ in self.clause.names}
        grouped = [group.dimension for group in self.clause.groups]
        left = [grid for grid in self.scope.grids if all(grid[facet] == name for facet, name in facets.items())]
        keys = [tuple(grid[facet] for facet in grouped if facet in FACETS) for grid in left]
        if not left or len(set(keys)) != len(keys):
            raise Unread("is about several grids: benchmark, model or variant is left open")

    def need_one_grid(self) -> None:
        self._one_grid()

    def context(self, *, each: bool = True) -> Part:
        """`where`, `for` and `holds` of what is left; `each`: a list of levels is a group each, else a slice."""
        where: Part = {}
        groups: list[Group] = list(self.clause.groups)
        for one in self._places:
            place = one.place
            if place.axis in where or any(group.dimension == place.axis for group in groups):
                raise Unread(f'names "{place.axis}" twice')
            if each and len(place.levels) > 1 and place.lower is None and place.upper is None:
                groups.append(Group(place.axis, "all", place.levels))
            else:
                where[place.axis] = place.condition()
        self._places = []
        found: Part = {"where": where} if where else {}
        return found | self._groups(groups)

    def _groups(self, groups: Sequence[Group]) -> Part:
        groups = [*groups, *self._named_groups()]
        if not groups:
            return {}
        if len({group.dimension for group in groups}) < len(groups):
            raise Unread("has several groups of one axis")
        quantified = [group for group in groups if group.holds != "all"]
        if len(groups) > 1 and (quantified or any(group.without for group in groups)):
            raise Unread("has a quantifier over several axes")
        found: Part = {"for": {group.dimension: list(group.levels) or "*" for group in groups}}
        holds = groups[0].holds if len(groups) == 1 else "all"
        if holds == "others":
            raise Unread('has "other", and nothing that it excludes')
        if holds != "all":
            found["holds"] = holds
        if groups[0].without:
            found["except"] = list(groups[0].without)
        return found

    def _named_groups(self) -> Iterable[Group]:
        for facet in FACETS:
            names = list(dict.fromkeys(name for kind, name, _ in self.clause.names if kind == facet))
            if len(names) > 1:
                yield Group(facet, "all", tuple(names))

    def about(self) -> dict[str, str]:
        """The names of grids in the clause, of each facet one."""
        return _names(self.clause)

    def close(self) -> None:
        """Refuse the clause if anything of it was not taken."""
        left = [
            *(item.phrase for item in self._mods.values()),
            *("a number" for _ in self._numbers),
            *(axis for axis, _ in self._axes),
            *(one.place.axis for one in self._places),
            *(["how many cells"] if self._share is not None else []),
            *(["a denial"] if self._denied else []),
            *(["only"] if self._only else []),
        ]
        if left:
            raise Unread(f"has something that no rule of its kind takes: {', '.join(dict.fromkeys(left))}")


def _names(clause: Clause) -> dict[str, str]:
    """The facets of which a clause names one."""
    found: dict[str, str] = {}
    for facet in FACETS:
        names = {name for kind, name, _ in clause.names if kind == facet}
        if len(names) == 1:
            found[facet] = names.pop()
    return found


def joined(parts: Sequence[Part]) -> Part:
    """One statement, or all of several."""
    return parts[0] if len(parts) == 1 else {"kind": "all_of", "claims": list(parts)}
