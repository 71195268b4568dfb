"""Two grids of the same names in one push: distinguished by their sources' editions, else the later one is refused.

Sent one after the other they would be two revisions of one grid, and each push would exchange them again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import orjson

from registry.errors import Conflict
from registry.importers.imported_grid import IDENTITY, Note
from registry.importers.reading import Item, Skipped, missing_names

_ABOUT = ("labels", "variant", "source", "description")
"""Members of a publication that do not tell contents apart."""


def distinct(
    items: Iterable[Item | Skipped], same: Callable[[Item], object] = lambda _one: None
) -> Iterator[Item | Skipped]:
    """Items, no two of them with the same names; `same` is told of those whose content was met already."""
    duplicates = Duplicates()
    for one in items:
        judged = one if isinstance(one, Skipped) else duplicates.judged(one)
        if judged is not None:
            yield judged
        elif isinstance(one, Item):
            same(one)


class Duplicates:
    """Identities met so far, each with the file that it came from and its content."""

    def __init__(self) -> None:
        self._met: dict[bytes, tuple[str, bytes]] = {}

    def judged(self, one: Item) -> Item | Skipped | None:
        """The grid; None if it was met already, with the same content.

        If the same names were met with another content: the grid with its edition in its variant. `Skipped` where the
        source has none, or that is taken too.
        """
        sent = one.found.submission
        if missing_names(sent):
            return one  # which is refused for that
        content = _digest({name: value for name, value in sent.items() if name not in _ABOUT})
        before = self._keep(one.source, sent, content)
        if before is None:
            return one
        first, theirs = before
        if theirs == content:
            return None
        if one.found.edition:
            variant = f"{sent.get('variant', '')} {one.found.edition}".strip()
            apart = {**sent, "variant": variant}
            other = self._keep(one.source, apart, content)
            if other is None:
                detail = f'the same names with other values came from {first}: this one is the variant "{variant}"'
                notes = (*one.found.notes, Note("told_apart", detail))
                return replace(one, found=replace(one.found, submission=apart, notes=notes))
            if other[1] == content:
                return None
        detail = f"{_named(sent)} came from {first} with other values; --variant tells them apart."
        return Skipped(one.source, Conflict(detail))

    def _keep(self, source: str, sent: dict[str, Any], content: bytes) -> tuple[str, bytes] | None:
        """File and content that had this identity before; None if it is new, and then it is recorded."""
        key = _digest([*(sent.get(name, "") for name in IDENTITY), sent["metric"].get("name")])
        before = self._met.get(key)
        if before is None:
            self._met[key] = (source, content)
        return before


def _named(sent: dict[str, Any]) -> str:
    names = [sent.get(name) for name in IDENTITY] + [sent["metric"].get("name")]
    return " · ".join(str(name) for name in names if name)


def _digest(value: Any) -> bytes:
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)).digest()[:16]
