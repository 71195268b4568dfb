"""Fields of a form: what there is to choose from, and the levels of axes."""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from flask import request
from sqlalchemy import Connection

from registry.api.context import parts
from registry.errors import Fault, Forbidden, Invalid
from registry.grids.grid import Axis, Level
from registry.grids.slices import PARAMETER, Slice, pointer_to, read_slice, slice_faults, sliced
from registry.operations.find_grids import Filters
from registry.operations.scope_options import name_counts
from registry.operations.stored_grids import StoredGrid
from registry.pages.links import local_path
from registry.renderings.numbers import plain_number

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
    """Of a field to type in: `text`, `level`, `datetime-local`, or `names` where models are suggested."""

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


def same_origin() -> None:
    """Refuse a form that another site sent: browsers say where a POST comes from."""
    site = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin")
    own = {request.host, urlsplit(parts().settings.url).netloc}
    known = origin is not None and origin.partition("://")[2] in own
    if not (known if site is None else site == "same-origin"):
        raise Forbidden("This form was not sent from a page of this registry. Open the page again and repeat it.")


def own_path(path: str) -> str:
    """A path on this server, whatever was asked for: nobody is sent elsewhere from here."""
    return path if local_path(path) else "/"


MOST_LEVELS = 200


def slice_of_page() -> Slice:
    """The slice in the address. `Invalid` for what can be no slice."""
    return read_slice(given())


def given() -> list[tuple[str, list[str]]]:
    """The parameters of the address; fields that were left empty ask for nothing."""
    kept = [(name, [text for text in texts if text]) for name, texts in request.args.lists()]
    return [(name, texts) for name, texts in kept if texts]


def in_slice(stored: StoredGrid, wanted: Slice) -> StoredGrid | None:
    """The grid with the cells of the slice alone; None where it has none of its levels."""
    grid = sliced(stored.grid, wanted)
    return None if grid is None else replace(stored, grid=grid, axes=grid.axes, cell_count=grid.cell_count)


def cut(stored: StoredGrid, wanted: Slice, whose: str = "the grid") -> StoredGrid:
    """The grid with the cells of the slice alone; `Invalid` where it has no such axis or level."""
    found = in_slice(stored, wanted)
    if found is None:
        nothing = [Fault(pointer_to(wanted[0][0]), f"{whose} has no level that fulfils all of it")]
        raise Invalid(slice_faults(stored.axes, wanted, whose) or nothing)
    return found


def slice_lists(axes: Iterable[Axis], wanted: Slice) -> list[Field]:
    """The lists for each axis with two levels or more: two where all levels have numbers, else one."""
    conditions, levels = dict(wanted), dict[str, dict[str, Level]]()
    for axis in axes:
        levels.setdefault(axis.name, {}).update({level.label: level for level in axis.levels})
    return [
        one
        for name, known in levels.items()
        if len(known) > 1 or name in conditions
        for one in _lists(name, list(known.values()), conditions.get(name, ()))
    ]


def _lists(axis: str, levels: Sequence[Level], chosen: Sequence[str]) -> Iterator[Field]:
    parameter = PARAMETER + axis
    numbered = sorted((level.number, level.label) for level in levels if level.number is not None)
    if len(levels) > MOST_LEVELS:
        least = f", or >={plain_number(numbered[len(levels) // 2][0])}" if len(numbered) == len(levels) else ""
        yield Field(axis, parameter, (), " ".join(chosen), f"a level{least}", "level")
        return
    if len(numbered) < len(levels):
        offered = [Option(level.label, level.label, level.label in chosen) for level in levels]
        yield Field(axis, parameter, [*offered, *_others(chosen, offered)])
        return
    first, last = (
        [Option(value, label, value in chosen) for n, label in numbered for value in [f"{sign}{plain_number(n)}"]]
        for sign in (">=", "<=")
    )
    yield Field(f"{axis} from", parameter, [*first, *_others(chosen, [*first, *last])])
    yield Field("to", parameter, last)


def _others(chosen: Sequence[str], offered: Sequence[Option]) -> list[Option]:
    """What is in the address and is none of the options: it stays asked for."""
    known = {option.value for option in offered}
    return [Option(one, one if one[0] in "<>=" else f"only {one}", True) for one in chosen if one not in known]
