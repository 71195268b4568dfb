"""Whatever writes a whole grid takes time in proportion to its cells."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import grid_documents
import pytest

from registry.pages.findings import missing_of
from registry.renderings import report
from registry.renderings.badge import said
from registry.renderings.grid import cells_csv, cells_markdown, cells_text, grid_markdown, grid_text
from registry.renderings.heatmap import heatmap_svg
from tests.doubling import LINEAR, growth


def grid(rows: int, columns: int) -> dict[str, Any]:
    """Every seventh cell is missing, and every missing one has a reason."""
    axes = [
        grid_documents.axis("row", list(range(rows)), "numeric"),
        grid_documents.axis("column", [f"c{number}" for number in range(columns)]),
    ]
    values = [
        [None if (row + column) % 7 == 0 else (row * columns + column) % 997 / 8 for column in range(columns)]
        for row in range(rows)
    ]
    reasons = [
        {"at": {"row": row, "column": f"c{column}"}, "reason": "too_costly"}
        for row in range(rows)
        for column in range(columns)
        if (row + column) % 7 == 0
    ]
    return grid_documents.document(axes, values, reasons=reasons)


WRITERS: dict[str, tuple[Callable[[dict[str, Any]], object], int]] = {
    "cells.csv": (cells_csv, 300),
    "cells.txt": (cells_text, 60),
    "cells.md": (cells_markdown, 60),
    "grid.txt": (grid_text, 120),
    "grid.md": (grid_markdown, 120),
    "heatmap.svg": (heatmap_svg, 150),
    "report.txt": (lambda document: report.of("txt")((document, None)), 900),
    "badge": (lambda document: said(document, None), 250),
    "findings": (lambda document: list(missing_of(document)), 600),
}


@pytest.fixture
def _without_looking_for_cycles() -> Iterator[None]:
    """Passes over the documents of the test are no part of what is measured."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_without_looking_for_cycles")
@pytest.mark.parametrize("name", WRITERS)
def test_a_grid_is_written_in_linear_time(name: str) -> None:
    write, rows = WRITERS[name]
    assert growth(write, grid(rows, 100), grid(2 * rows, 100)) < LINEAR
