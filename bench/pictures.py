"""Pictures and feeds: how fast, how large, in how much memory. `python -m bench.pictures [cells in millions]`.

On an embedded server of its own: the SVG of seed 0, the same as PNG, and the feed of a project as CSV, read to its end
by a client that keeps nothing.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from migrations.apply import migrate
from registry import create_app
from registry.demo import demo_grids
from registry.grids.intake import Limits, read_submission
from registry.local.embedded import embedded_servers
from registry.operations.export import exported, select_cells
from registry.operations.find import Filters
from registry.operations.publish import publish
from registry.renderings.feed import cells_of, columns_of
from registry.renderings.feed_text import csv_pieces
from registry.renderings.heatmap import heatmap_svg
from registry.renderings.heatmap.png import png_of
from registry.settings import Settings
from registry.storage.database import Database
from tests.house import House, publication


def median_ms(work: object, times: int = 30) -> float:
    found = []
    for _ in range(times):
        begun = time.perf_counter()
        work()  # type: ignore[operator]
        found.append(1000 * (time.perf_counter() - begun))
    return statistics.median(found)


def mebibytes() -> float:
    """The most memory that this process had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def pictures(house: House) -> None:
    project = house.make_project()
    grid = project.publish({"axes": []} | demo_grids()[0]).get_json()["id"]
    house.compute()
    document = json.loads(project.get(f"grids/{grid}").data)
    found = json.loads(project.get(f"grids/{grid}/statistics").data)
    svg = heatmap_svg(document, found)
    print(f"SVG 7 x 20: {median_ms(lambda: heatmap_svg(document, found)):.1f} ms, {len(svg)} bytes")
    print(f"PNG 7 x 20: {median_ms(lambda: png_of(svg), 10):.0f} ms")
    print(f"GET heatmap.svg: {median_ms(lambda: project.get(f'grids/{grid}/heatmap.svg')):.1f} ms in process")


def feed(house: House, million: float) -> None:
    """Publish so many cells in grids of 7 x 20, and read them as CSV."""
    project, count = house.make_project(), int(million * 1_000_000 / 140)
    axes = [
        {"name": "Type", "kind": "nominal", "levels": list("1234567"), "unit": None, "scale": "linear"},
        {"name": "Length", "kind": "numeric", "levels": list(range(20)), "unit": None, "scale": "linear"},
    ]
    for first in range(0, count, 500):
        numbers = range(first, min(count, first + 500))
        sent = [
            publication(
                model=f"m{number}",
                axes=axes,
                values=[[(number * 7 + row * 31 + column) % 1000 / 10 for column in range(20)] for row in range(7)],
                labels={},
            )
            for number in numbers
        ]
        with house.database.transaction() as connection:
            row = type("Row", (), {"id": project.id, "slug": project.slug, "project_id": project.id})
            publish(connection, row, [read_submission(one, Limits()) for one in sent])
    before, begun, busy, size = mebibytes(), time.perf_counter(), time.process_time(), 0
    with house.database.snapshot() as connection:
        selection = select_cells(connection, project.id, Filters())
    chosen = time.perf_counter() - begun
    columns = columns_of(selection.axes)
    rows = ((cells_of(row, columns) for row in piece) for piece in exported(house.database.reading, selection))
    for piece in csv_pieces(columns, rows, explicit=False):
        size += len(piece)
    seconds, busy = time.perf_counter() - begun, time.process_time() - busy
    print(
        f"feed of {selection.cells} cells as CSV: {selection.cells / seconds:,.0f} cells/s, "
        f"{selection.cells / busy:,.0f} a second of this process's CPU time, {size / 1e6:.0f} MB, "
        f"chosen in {chosen:.2f} s, memory {before:.0f} -> {mebibytes():.0f} MiB"
    )


def main() -> None:
    millions = [float(text) for text in sys.argv[1:]] or [1.0]
    with tempfile.TemporaryDirectory() as home, embedded_servers(Path(home)) as (database_url, redis_url):
        migrate(database_url)
        settings = replace(Settings(), database_url=database_url, redis_url=redis_url, ranking_debounce=0.0)
        house = House(create_app(settings), Database(settings, name="bench"), settings)
        pictures(house)
        for million in millions:
            feed(house, million)


if __name__ == "__main__":
    main()
