"""Find the axes, levels and names that a claim mentions: to replace aliases, and to find what no grid has."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from registry.claims.claim import FACETS, Atom, Claim, Extreme, Part, Rank, SweetSpot, atoms_of
from registry.claims.reading import nearby
from registry.errors import Fault
from registry.grids.grid import Axis, Level
from registry.grids.intake.faults import escaped
from registry.grids.slices import Slice, kept_levels

Rename = Callable[[str, str], str]
"""The name behind a name of a kind."""
Mention = tuple[str, str, tuple[str, ...]]
"""JSON pointer, dimension, and levels or ranges of it; none where only the dimension is named."""
_MOST_SHOWN = 12
_SIDES = ("left", "right", "ahead", "behind")


def mentions(atom: Atom) -> Iterator[Mention]:
    """Every dimension that a statement mentions."""
    for axis, conditions in atom.where:
        yield f"/where/{escaped(axis)}", axis, conditions
    for axis, levels in atom.for_:
        yield f"/for/{escaped(axis)}", axis, levels
    yield from _of_says(atom.says)


def _of_says(says: Any) -> Iterator[Mention]:
    for name in ("along", "by", "axis"):
        if isinstance(given := getattr(says, name, None), str) and given:
            levels = getattr(says, {"along": "turn", "by": "name", "axis": "level"}[name], None)
            yield f"/{name}", given, (levels,) if levels else ()
    for place, axis in enumerate(getattr(says, "axes", ())):
        yield f"/axes/{place}", axis, ()
    for name in ("to", "from_", "onset"):
        if level := getattr(says, name, None):
            yield f"/{name.rstrip('_')}", says.along, (level,)
    for side in _SIDES:
        for axis, conditions in getattr(says, side, ()):
            yield f"/{side}/{escaped(axis)}", axis, conditions
    for place, region in enumerate(getattr(says, "inside", ())):
        for axis, conditions in region:
            yield f"/inside/{place}/{escaped(axis)}", axis, conditions
    if isinstance(says, Extreme | SweetSpot):
        for place, at in enumerate(says.at):
            for axis, level in at:
                yield f"/at/{place}", axis, (level,)


def faults_of(claim: Claim, axes: Sequence[Axis], pointer: str = "") -> Iterator[Fault]:
    """A fault for each axis that no grid has, and for each level that none of its axes has. Names of grids are not
    checked: what they name may be published later."""
    levels: dict[str, dict[Level, None]] = {}
    for axis in axes:
        levels.setdefault(axis.name, {}).update(dict.fromkeys(axis.levels))
    for where, atom in atoms_of(claim.says):
        for place, dimension, conditions in mentions(atom):
            if dimension in FACETS:
                continue
            if dimension not in levels:
                said = f'no grid has the axis "{dimension}"{nearby(dimension, levels)}{_there(levels)}'
                yield Fault(f"{pointer}{where}{place}", said)
                continue
            known = list(levels[dimension])
            labels = [level.label for level in known]
            for one in conditions:
                if not kept_levels(known, [one]):
                    said = f'the axis "{dimension}" has no level {one}{nearby(one, labels)}{_there(labels)}'
                    yield Fault(f"{pointer}{where}{place}", said)


def _there(names: Sequence[str] | Mapping[str, Any]) -> str:
    known = list(names)
    more = f" and {len(known) - _MOST_SHOWN} more" if len(known) > _MOST_SHOWN else ""
    return f"; there are {', '.join(known[:_MOST_SHOWN])}{more}" if known else "; there is none"


def names_in(claim: Claim) -> Iterator[tuple[str, str]]:
    """The names of grids in a claim: their kinds and themselves, each once."""
    found: dict[tuple[str, str], None] = {}
    for _, atom in atoms_of(claim.says):
        about = [(facet, getattr(atom.about, facet)) for facet in FACETS]
        found |= dict.fromkeys((facet, name) for facet, name in about if name not in ("", None))
        for _, dimension, levels in mentions(atom):
            found |= dict.fromkeys((dimension, level) for level in levels if dimension in FACETS)
    yield from found


def with_names(claim: Claim, rename: Rename) -> Claim:
    """The claim with every name of a grid replaced by that which it stands for."""
    return replace(claim, says=_renamed(claim.says, rename))


def _renamed(part: Part, rename: Rename) -> Part:
    if not isinstance(part, Atom):
        return replace(part, claims=tuple(_renamed(one, rename) for one in part.claims))
    about = part.about
    named: dict[str, Any] = {facet: rename(facet, name) for facet in FACETS if (name := getattr(about, facet))}
    new_about = replace(about, experiment=rename("experiment", about.experiment), **named)
    return replace(
        part,
        about=new_about,
        where=_slice(part.where, rename),
        for_=_slice(part.for_, rename),
        says=_said(part.says, rename),
    )


def _said(says: Any, rename: Rename) -> Any:
    new: dict[str, Any] = {side: _slice(getattr(says, side), rename) for side in _SIDES if hasattr(says, side)}
    if hasattr(says, "inside"):
        new["inside"] = tuple(_slice(region, rename) for region in says.inside)
    if isinstance(says, Extreme | SweetSpot):
        new["at"] = tuple(tuple((axis, *_levels(axis, (level,), rename)) for axis, level in one) for one in says.at)
    if isinstance(says, Rank):
        [new["name"]] = _levels(says.by, (says.name,), rename)
    return replace(says, **new) if new else says


def _slice(wanted: Slice, rename: Rename) -> Slice:
    return tuple((axis, _levels(axis, levels, rename)) for axis, levels in wanted)


def _levels(axis: str, levels: tuple[str, ...], rename: Rename) -> tuple[str, ...]:
    return tuple(sorted({rename(axis, level) for level in levels})) if axis in FACETS else levels
