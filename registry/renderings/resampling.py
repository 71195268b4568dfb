"""How the ranks spread when benchmarks are drawn again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from registry.renderings.numbers import UNDEFINED
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table
from registry.renderings.words import counted

Document = dict[str, Any]


def _parts(document: Document) -> Sequence[Document]:
    return (document.get("stability") or {}).get("resampling") or ()


def resampled(document: Document) -> dict[Any, Document]:
    """The spread of each name, by the name."""
    return {one["name"]: one for part in _parts(document) for one in part.get("names") or ()}


def resampling_blocks(document: Document) -> Iterator[Block]:
    """One table a component that was resampled; why it was not, where that was possible."""
    parts = [part for part in _parts(document) if part.get("names") or _refused(part)]
    if not parts:
        return
    yield Heading("Ranks with benchmarks drawn again", 2)
    for part in parts:
        if part.get("names"):
            yield _table(part)
            yield Lines(tuple(_law(part)))
        else:
            yield f"not resampled: {part.get('reason')}"


def _refused(part: Document) -> bool:
    """Whether several benchmarks were there and yet nothing was drawn; one name alone needs no word."""
    return part["status"] != "ok" and part["benchmarks"] > 1 and part.get("reason") != "one name has one rank"


def _table(part: Document) -> Table:
    names = sorted(part["names"], key=lambda one: int(one["rank"]))
    return Table(
        [
            Column("rank", [str(one["rank"]) for one in names], True),
            Column("name", [str(one["name"]) for one in names]),
            Column(f"{100 * part['level']:g} % range", [_range(one["low"], one["high"]) for one in names]),
            Column("median", [str(one["median"]) for one in names], True),
            Column("first in", [_percent(one["first_share"]) for one in names], True),
        ]
    )


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"


def _percent(share: float | None) -> str:
    return UNDEFINED if share is None else f"{100 * share:.1f} %"


def _law(part: Document) -> Iterator[str]:
    benchmarks = counted(part["benchmarks"], "benchmark", "benchmarks")
    yield f"{part['resamples']:,} draws of {benchmarks} with replacement, seed {part['seed']}"
    yield "first in: the share of the draws in which a name is first; no probability that it is the best"
    if part["ranked"] is not None and part["ranked"] < 1:
        yield f"{_percent(part['ranked'])} of the draws rank all names together; the rest is given that"
