"""How the ranks spread when benchmarks are drawn again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from registry.renderings.numbers import UNDEFINED
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table
from registry.renderings.words import counted
from registry.results.resampling import ResampledRank, Resampling
from registry.results.stability import Stability

MOST_NAMED = 100
"""Names up to which ranks are written out a second time, beside the order."""


def resampled(stability: Stability) -> Mapping[str, ResampledRank]:
    """The ranks of each name over the resamples, by the name."""
    return {one.name: one for part in stability.resampling for one in part.names}


def resampling_blocks(stability: Stability, group: str = "benchmark") -> Iterator[Block]:
    """One table a component that was resampled; why it was not, where that was possible. `group` is the word for what
    is drawn again."""
    parts = [part for part in stability.resampling if part.names or _refused(part)]
    if not parts:
        return
    yield Heading(f"Ranks with {group}s drawn again", 2)
    for part in parts:
        if len(part.names) > MOST_NAMED:
            yield f"the ranges of {len(part.names):,} names stand in the JSON and CSV forms of this ranking"
            yield Lines(tuple(_law(part, group)))
        elif part.names:
            yield _table(part)
            yield Lines(tuple(_law(part, group)))
        else:
            yield f"not resampled: {part.reason}"


def _refused(part: Resampling) -> bool:
    """Whether several benchmarks were there and yet nothing was drawn; one name alone needs no word."""
    return part.status != "ok" and part.benchmarks > 1 and part.reason != "one name has one rank"


def _table(part: Resampling) -> Table:
    names = sorted(part.names, key=lambda one: one.rank)
    return Table(
        [
            Column("rank", [str(one.rank) for one in names], True),
            Column("name", [one.name for one in names]),
            Column(f"{100 * part.level:g} % range", [rank_range(one.low, one.high) for one in names]),
            Column("median", [str(one.median) for one in names], True),
            Column("first in", [_percent(one.first_share) for one in names], True),
        ]
    )


def rank_range(low: int | None, high: int | None) -> str:
    """The ranks from the best to the worst."""
    if low is None or high is None:
        return UNDEFINED
    return str(low) if low == high else f"{low}–{high}"


def _percent(share: float | None) -> str:
    return UNDEFINED if share is None else f"{100 * share:.1f} %"


def _law(part: Resampling, group: str) -> Iterator[str]:
    drawn = counted(part.benchmarks, group, f"{group}s")
    yield f"{part.resamples:,} draws of {drawn} with replacement, seed {part.seed}"
    if part.law == "linearised_bootstrap":
        yield f"scores follow the weights of the {group}s by their linear part"
    yield "first in: the share of the draws in which a name is first; no probability that it is the best"
    if part.ranked is not None and part.ranked < 1:
        yield f"{_percent(part.ranked)} of the draws rank all names together; the rest is given that"
