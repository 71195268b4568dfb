"""Names that a view leaves out so that the others keep the slots that they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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

    def __str__(self) -> str:
        here = f" at {', '.join(map(str, self.at.values()))}" if self.at else ""
        no = f": no {', '.join(self.lacks[:_NAMED])}" if self.lacks else ""
        more = f" and {len(self.lacks) - _NAMED} more" if len(self.lacks) > _NAMED else ""
        return f"{self.name}{here}{no}{more} ({self.missing:,} of {self.slots:,} slots lacking)"


def set_aside_warnings(found: Iterable[SetAside]) -> tuple[Warning, ...]:
    """The warning that names are set aside; none without any."""
    named = [str(one) for one in found]
    if not named:
        return ()
    more = f"; and {len(named) - _NAMED:,} more" if len(named) > _NAMED else ""
    told = f"Set aside, so that the others keep their slots: {'; '.join(named[:_NAMED])}{more}."
    return (Warning("set_aside", f"{told} With set_aside=none they are compared too."),)
