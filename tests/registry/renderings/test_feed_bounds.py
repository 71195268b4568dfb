"""However many cells a grid has, a feed holds a block of its rows, and takes time in proportion to them."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from registry.renderings import feed_arrow
from registry.renderings.feed import cells_of, columns_of
from registry.renderings.feed_arrow import arrow_pieces, parquet_pieces
from registry.renderings.feed_text import csv_pieces, json_pieces, ndjson_pieces
from tests.doubling import LINEAR, growth

WRITERS: dict[str, Callable[..., Iterable[bytes]]] = {
    "csv": csv_pieces,
    "ndjson": ndjson_pieces,
    "json": lambda *given, **more: json_pieces(*given, **more, head={"grid": "g"}),
    "arrow": arrow_pieces,
    "parquet": parquet_pieces,
}
COLUMNS = columns_of(("step", "seed"))


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
    return iter(WRITERS[form](COLUMNS, [[cells_of(row, COLUMNS)]], explicit=False))


def peak(form: str, row: Any) -> int:
    tracemalloc.start()
    try:
        for _ in written(form, row):
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("form", WRITERS)
def test_the_memory_of_a_feed_does_not_grow_with_its_grid(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_arrow, "_GROUP", 4_096)
    small, large = stored(10_000), stored(30_000)
    peak(form, stored(1_000))  # what is imported is no part of it
    assert peak(form, large) < 1.3 * peak(form, small)


@pytest.mark.parametrize("form", WRITERS)
def test_a_large_grid_comes_in_many_pieces(form: str) -> None:
    sizes = [len(piece) for piece in written(form, stored(100_000))]
    assert max(sizes) < 0.4 * sum(sizes)


@pytest.mark.parametrize("form", WRITERS)
def test_a_feed_is_written_in_linear_time(form: str) -> None:
    few = 40_000 if "json" in form else 100_000
    assert growth(lambda row: sum(map(len, written(form, row))), stored(few), stored(2 * few)) < LINEAR
