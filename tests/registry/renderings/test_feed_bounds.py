"""However many cells a grid has, a feed holds a block of its rows."""

import json
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from registry.renderings import cells_feed, rows
from registry.renderings.cells_feed import cells_of_grid, columns_of, rows_of
from registry.renderings.rows import WRITERS, json_of_objects

COLUMNS = columns_of(("step", "seed"))
OF_ONE = columns_of(("step", "seed"), of_one=True)
FORMS = (*WRITERS, "json of one")


def stored(cells: int) -> Any:
    """A grid of so many cells as a row of `registry.operations.export`, arrays as PostgreSQL's text."""
    axes = [
        {"name": "step", "kind": "numeric", "levels": list(range(cells // 200))},
        {"name": "seed", "kind": "nominal", "levels": [f"s{number}" for number in range(200)]},
    ]
    return SimpleNamespace(
        id="0193a7c0-0000-7000-8000-000000000001", number=1, experiment="e", benchmark="b", model="m", variant="",
        metric={"name": "loss", "unit": None, "lower": None, "upper": None}, axes=json.dumps(axes),
        values="{" + ",".join(str(number % 997 / 8) if number % 7 else "NULL" for number in range(cells)) + "}",
        trials=None, cell_trials=None, stderr=None, sd=None, repeats="{" + "3," * (cells - 1) + "3}",
        updated_at=datetime(2026, 1, 1, tzinfo=UTC), protocol=None,
    )  # fmt: skip


def written(form: str, row: Any) -> Iterator[bytes]:
    if form == "json of one":
        return json_of_objects(cells_of_grid(OF_ONE, rows_of(row, OF_ONE)), {"grid": "g"})
    return WRITERS[form](COLUMNS.fields, rows_of(row, COLUMNS))


def peak(form: str, row: Any) -> int:
    tracemalloc.start()
    try:
        for _ in written(form, row):
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("form", FORMS)
def test_a_feed_comes_in_pieces_and_its_memory_does_not_grow_with_its_grid(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, block in ((cells_feed, "_PART"), (rows, "_GROUP"), (rows, "_ROWS")):
        monkeypatch.setattr(module, block, 1_024)
    small, large = stored(4_000), stored(12_000)
    list(written(form, small))  # what is imported is no part of it
    assert peak(form, large) < 1.3 * peak(form, small)
    sizes = [len(piece) for piece in written(form, large)]
    assert max(sizes) < 0.4 * sum(sizes)
