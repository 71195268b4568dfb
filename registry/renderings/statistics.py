"""A grid's statistics and their parts as text, Markdown and CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from registry.renderings import changes, coverage, peaks, precision, sensitivity, sheet, trends, trends_csv
from registry.renderings.assumptions import assumptions
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.words import measure, said

Document = dict[str, Any]
Renderer = Callable[[Document], str]


def of(part: str) -> dict[str, Renderer]:
    """The renderers of a part (or of `statistics`, all of them) by form: `txt`, `md`, `csv`."""
    return {
        "txt": lambda document: sheet.text(page(document, part)),
        "md": lambda document: sheet.markdown(page(document, part)),
        "csv": _CSV[part],
    }


def page(document: Document, part: str) -> Iterator[Block]:
    """The page of a part, or of `statistics`."""
    yield Heading(f"{said(part).capitalize()} — {measure(document.get('metric'))}", 1)
    yield _head(document)
    assumed = () if part in _CERTAIN else tuple(assumptions(document))
    if assumed:
        yield Lines(assumed)
    if part != "statistics":
        yield from _BLOCKS[part](document)
        return
    for name, blocks in _BLOCKS.items():
        yield Heading(name.capitalize(), 2)
        yield from blocks(document)


def _head(document: Document) -> str:
    """Which content this is about, and by which methods."""
    params = document.get("params") or {}
    parts = [f"grid {document.get('grid', '')}", f"revision {document.get('revision', '')}"]
    if document.get("methods_version"):
        parts.append(f"methods {document['methods_version']}")
    if params.get("alpha") is not None:
        parts.append(f"alpha {params['alpha']:g}")
    return " · ".join(parts)


_CERTAIN = ("coverage", "precision")
"""Parts without a test, which assume nothing."""
_BLOCKS: dict[str, Callable[[Document], Iterator[Block]]] = {
    "trends": trends.blocks,
    "changes": changes.blocks,
    "peaks": peaks.blocks,
    "coverage": coverage.blocks,
    "sensitivity": sensitivity.blocks,
    "precision": precision.blocks,
}
_CSV: dict[str, Renderer] = {
    "statistics": trends_csv.csv,
    "trends": trends_csv.csv,
    "changes": changes.csv,
    "peaks": peaks.csv,
    "coverage": coverage.csv,
    "sensitivity": sensitivity.csv,
    "precision": precision.csv,
}
