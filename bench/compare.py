"""The registry beside MLflow and beside a folder of JSON files, with the same grids in the same minutes.

MLflow is installed into an environment of its own, in the user's cache; where that cannot be, the table says so.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.compare_mlflow import BATCH, Measured, measure_mlflow, measure_registry, same_grid
from bench.figures import Figure, show
from bench.json_folder import measure_folder
from bench.mlflow_server import Unreachable, environment, tracking_server
from bench.system import System, system

HOME = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "results-registry" / "mlflow"


def measure(grids: int = 1000, mlflow: bool = True, reads: int = 200, home: Path = HOME) -> Iterator[Figure]:
    """Grids a second and milliseconds of a ranking, of all three; `mlflow` False leaves MLflow out."""
    with tempfile.TemporaryDirectory(prefix="registry-compare-") as place, system(workers=False) as found:
        ours = measure_registry(found, grids, reads)
        others, missing = {}, ""
        if mlflow:
            try:
                others["MLflow"] = beside_mlflow(found, grids, Path(place), home)
            except Unreachable as error:
                missing = str(error)
        folder = Path(place) / "grids"
        folder.mkdir()
        others["a folder of JSON files"] = measure_folder(folder, grids, same_grid)
    for name, theirs in others.items():
        yield from compared(name, grids, ours, theirs)
    if missing:
        yield Figure("beside MLflow", None, "", beside=missing)


def beside_mlflow(found: System, grids: int, place: Path, home: Path) -> Measured:
    """The same by an MLflow tracking server on the PostgreSQL of the system."""
    with tracking_server(environment(home), found.settings.database_url, place) as server:
        return measure_mlflow(server, grids)


def compared(name: str, grids: int, ours: Measured, theirs: Measured) -> Iterator[Figure]:
    """What the registry measured, and how many times as fast as the other that is."""

    def rate(what: str, mine: float, other: float, whose: str = name) -> Figure:
        return Figure(f"beside {name}: {what}", mine, "grids/s", beside=f"{whose} {other:,.0f}: {times(mine / other)}")

    def seconds(what: str, mine: float, other: float) -> Figure:
        beside = f"{name} {1000 * other:,.0f} ms: {times(other / mine)}"
        return Figure(f"beside {name}: {what}", 1000 * mine, "ms", beside=beside)

    yield rate(f"publish {grids:,} grids, one client", ours.one, theirs.one)
    yield rate("publish, eight clients", ours.eight, theirs.eight)
    if ours.batches is not None:
        eight = f"eight clients of {name}"
        yield rate(f"publish in batches of {BATCH}, one client", ours.batches, theirs.eight, eight)
    yield seconds("first ranking after the last grid", ours.first, theirs.first)
    yield seconds("every further ranking", ours.again, theirs.again)


def times(ratio: float) -> str:
    """How many times as fast the registry is."""
    return f"{ratio:,.0f} ×" if ratio >= 10 else f"{ratio:.2g} ×"


if __name__ == "__main__":
    show(measure(*(int(one) for one in sys.argv[1:2])))
