"""What announcing costs a publication: `python -m bench.announcing DATABASE_URL` (a migrated database of its own).

Grids are published one at a time and in batches of 500, with and without their events, by turns in one process. Time is
that of the processor, in this process and in its PostgreSQL backend, so that neighbours count little; what the
dispatcher does later is not in it.
"""

import sys
import time
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

from sqlalchemy import Connection, text

from registry.grids.intake import Limits, Submission, read_submission
from registry.operations import publish, revisions
from registry.operations.projects import make_project
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.statements import Prepared
from workers.jobs.upkeep import sequence_arrivals

ROUNDS, SINGLE, BATCH = 24, 20, 500


def submissions(prefix: str, count: int) -> list[Submission]:
    """Grids of 2 x 3 cells, each of a model of its own."""
    axes = [{"name": "Type", "kind": "nominal", "levels": ["1", "2"]}]
    axes.append({"name": "Length", "kind": "numeric", "levels": [0, 1, 2]})
    sent = {"experiment": "e", "benchmark": "b", "variant": "", "axes": axes, "trials": 300}
    sent |= {"metric": {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100}}
    values = [[99.3, 96.7, 98.3], [None, 100.0, 99.7]]
    return [read_submission(sent | {"model": f"{prefix} {n}", "values": values}, Limits()) for n in range(count)]


def silent() -> Prepared:
    """The statement of a first revision without its event, under another name."""
    with patch.object(revisions, "_arrival", lambda grid: grid):
        statement = revisions._statement()
    types = {name: kind.compile(dialect=revisions._DIALECT) for name, kind in revisions._TYPES.items()}
    return Prepared("first_revision_silent", statement, types)


def seconds_of(connection: Connection) -> float:
    """Processor seconds of this process and of the connection's backend."""
    backend = connection.scalar(text("SELECT pg_backend_pid()"))
    return time.process_time() + int(Path(f"/proc/{backend}/schedstat").read_text().split()[0]) / 1e9


def measured(database: Database, row: Any, name: str, count: int, together: int) -> float:
    """Processor seconds of publishing so many grids, so many in a transaction."""
    sent = submissions(name, count)
    with database.transaction() as connection:
        before = seconds_of(connection)
    for first in range(0, count, together):
        with database.transaction() as connection:
            publish.publish(connection, row, sent[first : first + together])
    with database.transaction() as connection:
        return seconds_of(connection) - before


def main() -> None:
    database = Database(Settings(database_url=sys.argv[1], pool_size=1), name="announcing")
    with database.transaction() as connection:
        row = make_project(connection, slug=f"announcing-{time.time_ns()}", name="announcing", visibility="private")
    without = silent()
    for count, together in ((SINGLE, 1), (BATCH, BATCH)):
        ratios, told = list[float](), list[float]()
        for number in range(-2, ROUNDS):  # the first two warm up
            found: dict[bool, float] = {}
            for way in (True, False) if number % 2 else (False, True):
                quiet = patch.object(revisions, "_WRITE", without), patch.object(publish, "announce", _nothing)
                name = f"{together} {number} {way}"
                if way:
                    found[way] = measured(database, row, name, count, together)
                else:
                    with quiet[0], quiet[1]:
                        found[way] = measured(database, row, name, count, together)
            sequence_arrivals(database)
            if number >= 0:
                ratios.append(found[True] / found[False])
                told.append(found[True] / count)
        ratios.sort()
        each = 1000 * median(told)
        spread = f"{ratios[len(ratios) // 4]:.3f} to {ratios[3 * len(ratios) // 4]:.3f}"
        print(f"{together:4} together: {each:.3f} ms a grid, {median(ratios):.3f} × as long with events ({spread})")
    database.close()


def _nothing(*_sent: Any) -> None:
    pass


if __name__ == "__main__":
    main()
