"""What the workers write is what the renderings read: the names agree."""

from __future__ import annotations

from typing import Any

import pytest

from registry.grids.grid import Axis, Grid, Level, Metric
from registry.storage.rows import axis_document, metric_document
from tests.registry.renderings.documents import of
from tests.workers.statistics.documents import describe

TYPES = Axis("Type", "nominal", (Level("1"), Level("2")))
LENGTHS = Axis("Length", "numeric", tuple(Level(str(n), float(n)) for n in range(8)))
VALUES = (99.3, 96.7, 98.3, 92.7, 87.7, 83.0, 82.0, 86.3, None, 100.0, 99.7, 99.7, 98.3, 98.0, 99.3, 98.7)


def described(trials: int | None) -> dict[str, Any]:
    grid = Grid(Metric("accuracy", "%", "higher", 0.0, 100.0), (TYPES, LENGTHS), VALUES, trials)
    head = {"grid": "g", "revision": 1, "methods_version": "1"}
    return {
        **head,
        "metric": metric_document(grid.metric),
        "axes": [axis_document(a) for a in grid.axes],
        **describe(grid),
    }


@pytest.mark.parametrize("trials", [None, 300])
def test_every_part_of_a_described_grid_has_its_numbers(trials: int | None) -> None:
    document = described(trials)
    found = {part: of(part)["txt"](document) for part in ("trends", "changes", "peaks", "coverage", "sensitivity")}
    assert "1 8 99.3 → 86.3 " in " ".join(found["trends"].split())
    assert "1        2   3  -5.6" in found["changes"]
    assert "best accuracy (%): 100.0\n" in found["peaks"]
    assert ("noise floor: " in found["peaks"]) == (trials is not None)
    assert "15 of 16 cells measured (94 %)\n" in found["coverage"]
    assert "residual" in found["sensitivity"]
    assert "decimals: 1\n" in of("precision")["txt"](document)


@pytest.mark.parametrize("trials", [None, 300])
def test_text_of_a_described_grid_fits_a_terminal(trials: int | None) -> None:
    assert max(map(len, of("statistics")["txt"](described(trials)).splitlines())) <= 120
