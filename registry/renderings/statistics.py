"""Write the statistics of a grid, or one part of them; each part has a module, such as `trends.py` and `peaks.py`."""

from collections.abc import Callable, Iterator

from registry.renderings import changes, coverage, peaks, precision, sensitivity, sheet, trends
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.words import assumptions, measure, said, slice_line
from registry.results.statistics import Statistics

Renderer = Callable[[Statistics], str]


def of(part: str) -> dict[str, Renderer]:
    """The renderers of a part (or of `statistics`, all of them) by form: `txt`, `md`, `csv`."""
    return {**sheet.forms(lambda document: page(document, part)), "csv": _CSV[part]}


def page(document: Statistics, part: str) -> Iterator[Block]:
    """The page of a part, or of `statistics`."""
    yield Heading(f"{said(part).capitalize()} — {measure(document.metric)}", 1)
    yield _head(document)
    yield from slice_line(document.slice)
    assumed = () if part in _CERTAIN else tuple(assumptions(document.assumes, document.design_effect))
    if assumed:
        yield Lines(assumed)
    if part != "statistics":
        yield from _BLOCKS[part](document)
        return
    for name, blocks in _BLOCKS.items():
        yield Heading(name.capitalize(), 2)
        yield from blocks(document)


def _head(document: Statistics) -> str:
    """Which content this is about, and by which methods."""
    parts = [f"grid {document.grid}", f"revision {document.revision}"]
    if document.methods_version:
        parts.append(f"methods {document.methods_version}")
    parts.append(f"alpha {document.params.alpha:g}")
    return " · ".join(parts)


_CERTAIN = ("coverage", "precision")
"""Parts without a test, which assume nothing."""
_BLOCKS: dict[str, Callable[[Statistics], Iterator[Block]]] = {
    "trends": trends.blocks,
    "changes": changes.blocks,
    "peaks": peaks.blocks,
    "coverage": coverage.blocks,
    "sensitivity": sensitivity.blocks,
    "precision": precision.blocks,
}
_CSV: dict[str, Renderer] = {
    "statistics": trends.csv,
    "trends": trends.csv,
    "changes": changes.csv,
    "peaks": peaks.csv,
    "coverage": coverage.csv,
    "sensitivity": sensitivity.csv,
    "precision": precision.csv,
}
