"""What protocols have to do with an answer: keys that differ, and grids that were not compared because of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from registry.grids.protocol import Protocol, Role, Rules, Value, differences
from registry.results.terms import Count, Identifier, Presence


@dataclass(frozen=True, slots=True)
class ProtocolDifference:
    """A key under which two protocols have other values."""

    key: Annotated[str, "The key."]
    baseline: Annotated[Value | None, "In the baseline, or in the grids that were compared; null: not said."]
    contender: Annotated[Value | None, "In the contender, or in the grid that was left out; null: not said."]
    role: Annotated[Role, "What the experiment declares of the key; other: nothing."]


@dataclass(frozen=True, slots=True)
class Incomparable:
    """A grid that was left out because of its protocol."""

    grid: Annotated[Identifier, "The grid's id."]
    revision: Annotated[Count, "The revision that was read."]
    benchmark: Annotated[str, "Its benchmark."]
    model: Annotated[str, "Its model."]
    variant: Annotated[str, "Its variant."]
    differs: Annotated[tuple[ProtocolDifference, ...], "Binding keys in which it differs, or that it does not say."]


LeftOutByProtocol = Annotated[
    tuple[Incomparable, ...] | None,
    "Grids of a benchmark whose protocols differ from the commonest one in a binding key; absent where none does.",
    Presence.OMITTED,
]
DifferingKeys = Annotated[
    tuple[ProtocolDifference, ...] | None,
    "Keys, the free ones aside, in which the protocols differ; absent where none does.",
    Presence.OMITTED,
]


def protocol_differences(
    rules: Rules, mine: Protocol | None, theirs: Protocol | None
) -> tuple[ProtocolDifference, ...]:
    """The keys that differ, of a baseline and a contender, with what each means."""
    found = differences(mine, theirs)
    return tuple(ProtocolDifference(one.key, one.baseline, one.contender, rules.role_of(one.key)) for one in found)


def differing_keys(
    rules: Rules, mine: Protocol | None, theirs: Protocol | None
) -> tuple[ProtocolDifference, ...] | None:
    """The keys that differ and are not free; None where none is."""
    return tuple(one for one in protocol_differences(rules, mine, theirs) if one.role != "free") or None
