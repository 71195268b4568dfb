"""Where the series of a grid cross asked levels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from registry.renderings import sheet
from registry.renderings.numbers import UNDEFINED, plain_number
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table
from registry.renderings.tidy import harmless, tidy
from registry.renderings.words import label, measure, place

Document = dict[str, Any]


def thresholds_text(document: Document) -> str:
    """The crossings for a terminal."""
    return sheet.text(page(document))


def thresholds_markdown(document: Document) -> str:
    """The crossings as Markdown."""
    return sheet.markdown(page(document))


def thresholds_csv(document: Document) -> str:
    """One row a series and level."""
    names = ("level", "side", _first(document), "crossing", "sustained_until", "recovers")
    rows = (
        [harmless(one["along"]), harmless(place(one["at"])), *(found.get(name) for name in names)]
        for one, found in _crossings(document)
    )
    return tidy(["along", "at", *names], rows)


def _crossings(document: Document) -> list[tuple[Document, Document]]:
    return [(one, found) for one in document.get("series") or () for found in one.get("thresholds") or ()]


def _first(document: Document) -> str:
    """`first_below`, or `first_above` where lower is better."""
    found = [name for _, one in _crossings(document) for name in one if name.startswith("first_")]
    return found[0] if found else "first_below"


def page(document: Document) -> Iterator[Block]:
    """The crossings' page."""
    yield Heading(f"Thresholds — {measure(document.get('metric'))}", 1)
    yield f"grid {document.get('grid', '')} · revision {document.get('revision', '')}"
    crossings = _crossings(document)
    if not crossings:
        yield "No series: no axis with an order has a measured cell."
        return
    first = _first(document)
    yield Table(
        (
            Column("along", [one["along"] for one, _ in crossings]),
            Column("at", [place(one["at"]) or UNDEFINED for one, _ in crossings]),
            Column("level", [plain_number(found["level"]) for _, found in crossings], True),
            Column(first.replace("_", " "), [_shown(found.get(first)) for _, found in crossings], True),
            Column("crosses at", [_shown(found["crossing"]) for _, found in crossings], True),
            Column("sustained until", [_shown(found["sustained_until"]) for _, found in crossings], True),
            Column("recovers", ["yes" if found["recovers"] else "no" for _, found in crossings]),
        )
    )
    yield Lines(("crosses at: interpolated between its neighbours; sustained until: the last point before it",))


def _shown(position: Any) -> str:
    if position is None:
        return UNDEFINED
    return f"{position:.4g}" if isinstance(position, float) else label(position)
