"""The pairs of a ranking as a table: all of them where they are few, else those of one name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from registry.pages.blocks import Part, parts_of
from registry.pages.matrix import MOST_IN_MATRIX
from registry.renderings.pairs import pair_blocks

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pairs:
    """The table with its notes, of how many pairs, and whose they are ("": all pairs are there)."""

    parts: Sequence[Part]
    total: int
    name: str = ""


def pairs_of(document: Document, names: Sequence[str], wanted: str) -> Pairs:
    """The pairs of a ranking of these names; of many names only those of the wanted one, the first if none is."""
    pairs = document.get("pairs") or []
    if len(names) <= MOST_IN_MATRIX:
        return Pairs(parts_of(pair_blocks(document)), len(pairs))
    name = wanted if wanted in names else names[0]
    own = [pair for pair in pairs if name in (pair.get("a"), pair.get("b"))]
    found = parts_of(pair_blocks(document | {"pairs": own}))
    tables = [part for part in found if part.kind != "lines"]  # the notes count pairs, which are not all here
    return Pairs(tables, len(pairs), name)
