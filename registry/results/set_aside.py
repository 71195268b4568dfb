"""Names that a view leaves out so that the others keep the slots that they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from registry.results.inputs import Warning
from registry.results.terms import Count, Place, Presence

_NAMED = 12


@dataclass(frozen=True, slots=True)
class SetAside:
    """A name that is set aside, and what it lacks. `set_aside=none` brings it back."""

    name: Annotated[str, "The name."]
    lacks: Annotated[tuple[str, ...], "Levels and benchmarks that most names have, and of which it has nothing."]
    missing: Annotated[Count, "The slots that it lacks of those that most names have."]
    slots: Annotated[Count, "The slots that most names have."]
    at: Annotated[
        Mapping[str, Place] | None, "The column of a table in which it is; absent elsewhere.", Presence.OMITTED
    ] = None


def set_aside_warnings(found: Iterable[SetAside]) -> tuple[Warning, ...]:
    """The warning that names are set aside; none without any."""
    places: dict[SetAside, list[str]] = {}
    for one in found:
        places.setdefault(replace(one, at=None), []).extend([", ".join(map(str, one.at.values()))] if one.at else [])
    if not places:
        return ()
    said = _listed([lacking_text(one, at) for one, at in places.items()], "; ")
    said = f"Set aside, so that the others keep their slots: {said}."
    return (Warning("set_aside", f"{said} With set_aside=none they are compared too."),)


def lacking_text(one: SetAside, places: Sequence[str] = ()) -> str:
    """Say which name is set aside and what it lacks, at each of these places."""
    at = f" at {_listed(places)}" if places else ""
    no = f": no {_listed(one.lacks)}" if one.lacks else ""
    return f"{one.name}{at}{no} ({one.missing:,} of {one.slots:,} slots lacking{' in each' * (len(places) > 1)})"


def _listed(texts: Sequence[str], between: str = ", ") -> str:
    more = f"{between.rstrip()} and {len(texts) - _NAMED:,} more" if len(texts) > _NAMED else ""
    return between.join(texts[:_NAMED]) + more
