"""The pairs of a ranking as a table: all of them where they are few, else those of one name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from registry.pages.blocks import Part, parts_of
from registry.pages.matrix import MOST_IN_MATRIX, MOST_LINKED
from registry.renderings.pairs import pair_blocks
from registry.results.pairs import Pair


@dataclass(frozen=True, slots=True)
class Pairs:
    """The table with its notes, of how many pairs, and whose they are ("": all pairs are there)."""

    parts: Sequence[Part]
    total: int
    name: str = ""


def pairs_of(
    pairs: Sequence[Pair], names: Sequence[str], wanted: str, link: Callable[[Sequence[str]], str] | None = None
) -> Pairs:
    """These pairs of a ranking of these names; of many names only those of the wanted one, the first if none is. With
    `link`, the rows of a short table lead to where the two are compared."""
    if len(names) <= MOST_IN_MATRIX:
        return Pairs([_linked(part, link) for part in parts_of(pair_blocks(pairs))], len(pairs))
    total = len(names) * (len(names) - 1) // 2
    if len(pairs) < total and wanted not in names:
        return Pairs([], total, names[0])  # neighbours in the order are listed, and nobody has chosen a name
    name = wanted if wanted in names else names[0]
    own = [pair for pair in pairs if name in (pair.a, pair.b)]
    found = parts_of(pair_blocks(own))
    tables = [
        _linked(part, link) for part in found if part.kind != "lines"
    ]  # the notes count pairs, which are not all here
    return Pairs(tables, total, name)


def _linked(part: Part, link: Callable[[Sequence[str]], str] | None) -> Part:
    """The table with an address for each of its rows, if it is short: the addresses of many would outweigh it."""
    if link is None or part.kind != "table" or len(part.rows) > MOST_LINKED:
        return part
    return replace(part, links=[link(row[:2]) for row in part.rows])
