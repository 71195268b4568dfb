"""Pictures and feeds: how fast, and in how much memory.

On an embedded server of its own: the SVG of seed 0, the same as PNG, and the feed of a project as CSV, read to its end
by a client that keeps nothing.
"""

import json
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from bench.figures import Figure, show
from migrations.apply import migrate
from registry import create_app
from registry.demo import demo_grids
from registry.grids.intake import Limits, read_submission
from registry.local.embedded import embedded_servers
from registry.logs import configure_logs
from registry.operations.export import exported, select_cells
from registry.operations.find_grids import Filters
from registry.operations.publish import publish
from registry.renderings.cells_feed import columns_of, rows_of
from registry.renderings.heatmap import heatmap_svg
from registry.renderings.heatmap.png import png_of
from registry.renderings.rows import csv_of_rows
from registry.results.codec import from_document
from registry.results.statistics import Statistics
from registry.settings import Settings
from registry.storage.database import Database
from tests.house import House, Project, publication


def median_ms(work: Callable[[], object], times: int) -> float:
    found = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        found.append(1000 * (time.perf_counter() - begun))
    return statistics.median(found)


def mebibytes() -> float:
    """The most memory that this process had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def pictures(house: House, times: int) -> Iterator[Figure]:
    """Seed 0 as pictures."""
    project = house.make_project()
    grid = project.publish({"axes": []} | demo_grids()[0]).get_json()["id"]
    house.compute()
    document = json.loads(project.get(f"grids/{grid}").data)
    found = from_document(Statistics, json.loads(project.get(f"grids/{grid}/statistics").data))
    svg = heatmap_svg(document, found)
    took = median_ms(lambda: heatmap_svg(document, found), times)
    yield Figure("SVG of seed 0 (7 × 20)", took, "ms", at_most=8.0, beside=f"{len(svg) / 1000:.0f} kB")
    yield Figure("the same as PNG", median_ms(lambda: png_of(svg), min(times, 10)), "ms")
    answered = median_ms(lambda: project.get(f"grids/{grid}/heatmap.svg"), times)
    yield Figure("`GET heatmap.svg`, without HTTP between", answered, "ms")


def publish_cells(house: House, project: Project, count: int) -> None:
    """Publish so many grids of 7 x 20."""
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


def feed(house: House, cells: int) -> Iterator[Figure]:
    """So many cells, read as CSV."""
    project = house.make_project()
    publish_cells(house, project, cells // 140)
    before, begun, busy, size = mebibytes(), time.perf_counter(), time.process_time(), 0
    with house.database.snapshot() as connection:
        selection = select_cells(connection, project.id, Filters())
    chosen = time.perf_counter() - begun
    columns = columns_of(selection.axes)
    read = (row for piece in exported(house.database.reading, selection) for row in piece)
    for piece in csv_of_rows(columns.fields, (one for row in read for one in rows_of(row, columns))):
        size += len(piece)
    seconds, busy = time.perf_counter() - begun, time.process_time() - busy
    rate, grown = selection.cells / seconds, mebibytes() - before
    beside = f"{selection.cells / busy:,.0f} a second of this process, {size / 1e6:.0f} MB, chosen in {chosen:.2f} s"
    yield Figure(f"feed of {selection.cells:,} cells as CSV", rate, "cells/s", at_least=200_000, beside=beside)
    yield Figure("… memory that it takes", grown, "MiB", at_most=16.0)


def statistics_feeds(house: House, grids: int) -> Iterator[Figure]:
    """The trends and the best cells of so many grids, as CSV and Parquet through the application; a second read comes
    from the file that the first one wrote."""
    project = house.make_project()
    publish_cells(house, project, grids)
    house.compute()
    for path in ("statistics.csv?part=trends", "statistics.parquet?part=peaks"):
        before, begun = mebibytes(), time.perf_counter()
        answer = project.get(f"projects/{project.slug}/{path}", buffered=False)
        size = sum(map(len, answer.response))
        took, grown = time.perf_counter() - begun, mebibytes() - before
        begun = time.perf_counter()
        again = sum(map(len, project.get(f"projects/{project.slug}/{path}", buffered=False).response))
        beside = f"{size / 1e6:.1f} MB; again in {time.perf_counter() - begun:.2f} s" if again == size else "differs"
        yield Figure(f"{path} of {grids:,} grids of 7 × 20", took, "s", beside=beside)
        yield Figure(f"… memory that {path} takes", grown, "MiB", at_most=48.0)


def measure(cells: int = 1_000_000, times: int = 30, grids: int = 5_000) -> Iterator[Figure]:
    """Milliseconds of a picture, cells a second of a feed, seconds of the feeds of statistics."""
    configure_logs("ERROR")
    with tempfile.TemporaryDirectory() as home, embedded_servers(Path(home)) as (database_url, redis_url):
        migrate(database_url)
        settings = replace(Settings(), database_url=database_url, redis_url=redis_url, ranking_debounce=0.0)
        house = House(create_app(settings), Database(settings, name="bench"), settings)
        yield from pictures(house, times)
        yield from feed(house, cells)
        yield from statistics_feeds(house, grids)
        house.database.close()


if __name__ == "__main__":
    show(measure())
