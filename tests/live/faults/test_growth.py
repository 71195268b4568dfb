"""What takes time in proportion to what it is given, measured: on an idle machine, and again before it fails."""

from __future__ import annotations

import gc
import string
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from registry.grids.suspect_names import near_duplicates
from registry.logs import redact
from registry.pages.findings import missing_of
from registry.renderings.badge import said
from registry.renderings.grid import cells_csv, grid_markdown, grid_text
from registry.renderings.heatmap import heatmap_svg
from tests.importers.test_tables_of_people import read
from tests.live.doubling import LINEAR, growth
from tests.registry.renderings.grid_documents import axis, document
from tests.registry.renderings.test_feed_bounds import WRITERS as FEEDS
from tests.registry.renderings.test_feed_bounds import stored, written

HOSTILE = ["0", "://a:", "x://y", ":", "share=", "bearer ", "Basic\t", "rgs_AbCdEfGh_", "a://b:c@", " ", "@"]


@pytest.mark.parametrize("repeated", HOSTILE)
def test_secrets_are_looked_for_in_linear_time(repeated: str) -> None:
    once = repeated * (16_000 // len(repeated))
    assert growth(lambda text: redact(None, "", {"path": text}), once, 2 * once) < LINEAR


ENDS = ["".join(letters) for letters in product(string.ascii_lowercase, repeat=2)]


@pytest.mark.parametrize(
    "names",
    [
        [f"{'x' * 100}{end}" for end in ENDS[:600]],
        [end * 6 for end in ENDS[:600]],
        [f"lab/checkpoint-{number:04}" for number in range(2000)],
    ],
    ids=["of one beginning", "apart", "of one shape"],
)
def test_names_are_compared_with_known_ones_in_linear_time(names: list[str]) -> None:
    few, many = set(names[: len(names) // 2]), set(names)
    assert growth(lambda some: near_duplicates(some, some), few, many) < LINEAR


@pytest.fixture
def _without_looking_for_cycles() -> Iterator[None]:
    """Passes over the documents of the test are no part of what is measured."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def gapped(rows: int, columns: int = 100) -> dict[str, Any]:
    """Every seventh cell is missing, and every missing one has a reason."""
    axes = [axis("row", list(range(rows)), "numeric"), axis("column", [f"c{number}" for number in range(columns)])]
    values: list[list[float | None]] = [
        [(row * columns + column) % 997 / 8 for column in range(columns)] for row in range(rows)
    ]
    reasons = []
    for row, column in product(range(rows), range(columns)):
        if (row + column) % 7 == 0:
            values[row][column] = None
            reasons.append({"at": {"row": row, "column": f"c{column}"}, "reason": "too_costly"})
    return document(axes, values, reasons=reasons)


RENDERINGS: dict[str, tuple[Callable[[dict[str, Any]], object], int]] = {
    "cells.csv": (cells_csv, 300),
    "grid.txt": (grid_text, 120),
    "grid.md": (grid_markdown, 120),
    "heatmap.svg": (heatmap_svg, 150),
    "badge": (lambda grid: said(grid, None), 250),
    "findings": (lambda grid: list(missing_of(grid)), 600),
}


@pytest.mark.usefixtures("_without_looking_for_cycles")
@pytest.mark.parametrize("name", RENDERINGS)
def test_a_grid_is_written_in_linear_time(name: str) -> None:
    write, rows = RENDERINGS[name]
    assert growth(write, gapped(rows), gapped(2 * rows)) < LINEAR


@pytest.mark.parametrize("form", FEEDS)
def test_a_feed_is_written_in_linear_time(form: str) -> None:
    few = 40_000 if "json" in form else 100_000
    assert growth(lambda row: sum(map(len, written(form, row))), stored(few), stored(2 * few)) < LINEAR


def table_of(name: str, size: int) -> str:
    stars, rows = "*" * size, "a & 1 & 2 \\\\\n" * (size // 20)
    return {
        "tables without an end": "\\begin{tabular}" * (size // 2),
        "rules without an end": "\\begin{tabular}{l}" + "\\cmidrule(" * size + "\\end{tabular}",
        "commands in commands": "\\begin{tabular}{l}a & b \\\\" + "\\textbf{" * size + "\\end{tabular}",
        "rows": f"\\begin{{tabular}}{{lcc}}\nStep & x & y \\\\\n{rows}\\end{{tabular}}",
        "stars around a number": f"|a|b|\n|-|-|\n|x|{stars}7{stars}|\n|y|{'<' * size}|\n|z|{'[' * size}|\n",
    }[name]


@pytest.mark.parametrize(
    "name", ["tables without an end", "rules without an end", "commands in commands", "rows", "stars around a number"]
)
def test_tables_of_people_are_read_in_linear_time(name: str, tmp_path: Path) -> None:
    paths = {size: tmp_path / f"{size}.tex" for size in (8_000, 16_000)}
    for size, path in paths.items():
        path.write_text(table_of(name, size))
    assert growth(lambda size: read(str(paths[size])), 8_000, 16_000) < LINEAR
