"""Two grids item by item: who is right where the other is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from registry.renderings.numbers import p_value
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table
from registry.renderings.words import counted
from registry.results.comparison import Comparison
from registry.results.items import Flips, ItemPairs

FLIPS = ("both", "only_contender", "only_baseline", "neither")
_NOTHING = "no outcomes of items were posted"


def item_blocks(document: Comparison) -> Iterator[Block]:
    """The flips in words and as a table; nothing where neither grid has outcomes of items."""
    found = document.items
    if found is None or found.reason == _NOTHING:
        return
    yield Heading("Item by item", 2)
    if not found.paired:
        yield f"not paired, and taken as independent samples: {found.reason}"
        return
    right, wrong = _words_of(document)
    if found.flips:
        yield _in_words(found, right, wrong)
        yield _table(found.flips, right, wrong)
    yield Lines(tuple(_notes(found)))


def _words_of(document: Comparison) -> tuple[str, str]:
    """What an outcome of 1 is, and one of 0."""
    return ("right", "wrong") if document.baseline.metric.get("direction") == "higher" else ("1", "0")


def _in_words(found: ItemPairs, right: str, wrong: str) -> str:
    """Who is right where the other is wrong, in a sentence."""
    flips = found.flips
    if flips is None:
        return ""
    cells = f" in {found.cells} cells" if found.cells > 1 else ""
    return (
        f"The same {counted(found.items, 'item', 'items')}{cells} in both: the contender is {right} and the baseline"
        f" {wrong} {_times(flips.only_contender)}, the other way round {_times(flips.only_baseline)}; both are {right}"
        f" {_times(flips.both)}, neither {_times(flips.neither)}."
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times" if count else "never"


def _table(flips: Flips, right: str, wrong: str) -> Table:
    """The 2 x 2 table: the contender in rows, the baseline in columns."""
    return Table(
        [
            Column("", [f"contender {right}", f"contender {wrong}"]),
            Column(f"baseline {right}", [f"{flips.both:,}", f"{flips.only_baseline:,}"], True),
            Column(f"baseline {wrong}", [f"{flips.only_contender:,}", f"{flips.neither:,}"], True),
        ]
    )


def _notes(found: ItemPairs) -> Iterator[str]:
    if found.mcnemar:
        yield f"McNemar: exact p {p_value(found.mcnemar.p)}, mid-p {p_value(found.mcnemar.mid_p)}"
    elif found.flips:
        yield "an item that is in several cells is one cluster of the error"
    if found.caution:
        yield f"caution: {found.caution}"
