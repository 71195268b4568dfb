"""What changed in a ranking between two instants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from registry.results.terms import Count, Detectable, Instant, Interval, Presence

ChangeVerdict = Literal["new", "gone", "unchanged", "same_cells", "better", "worse", "open"]


@dataclass(frozen=True, slots=True)
class Move:
    """A name with its ranks."""

    name: Annotated[str, "The name."]
    before: Annotated[int | None, "Its rank before; null: it had none."]
    now: Annotated[int | None, "Its rank now; null: it has none."]


@dataclass(frozen=True, slots=True)
class NameChange(Move):
    """A name then and now. The difference is that of its own values, now less then, over the cells measured at both
    instants: the pair of a ranking of both (`rerun`), in which a benchmark whose cells are all the same has a
    difference of 0 and no error."""

    verdict: Annotated[
        ChangeVerdict,
        "new, gone: it is in one of the rankings alone. unchanged: of the same revisions of the same grids. "
        "same_cells: other cells came or went, and those measured at both are the same. better, worse: `p_holm` is "
        "below alpha. open: the tests do not tell.",
    ]
    cells: Annotated[Count, "Cells measured at both instants."] = 0
    difference: Annotated[
        float | None, "Now less then, in the unit of the ranking; null where nothing is subtracted.", Presence.OPTIONAL
    ] = None
    interval: Annotated[Interval | None, "Of `difference`.", Presence.OPTIONAL] = None
    p: Annotated[float | None, "The p-value; null where nothing was tested.", Presence.OPTIONAL] = None
    p_holm: Annotated[float | None, "Holm over the names that were tested.", Presence.OPTIONAL] = None
    detectable: Detectable = None
    test: Annotated[str | None, "The test that was used; null: none.", Presence.OPTIONAL] = None
    reason: Annotated[str | None, "Why the tests do not tell.", Presence.OMITTED] = None


@dataclass(frozen=True, slots=True)
class RankingChange:
    """What changed in a ranking since an instant. Both rankings have the aliases of today."""

    since: Annotated[Instant, "The earlier instant."]
    names: Annotated[tuple[NameChange, ...], "The names in the order of the ranking, then those that are gone."]


def moves(before: Mapping[str, int | None], now: Mapping[str, int | None]) -> Iterator[Move]:
    """Every name of two rankings with its ranks: those of now, then those that are gone."""
    return (Move(name, before.get(name), now.get(name)) for name in {**now, **before})
