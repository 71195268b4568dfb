"""Store that MLflow writes without a server: a database of SQLite (`mlflow.db`), or the folder `mlruns` of older
versions, `<experiment>/<run>/` with `meta.yaml`, `metrics/`, `params/`, `tags/`.

Each run is read like one in a server's response (`mlflow.py`); of a metric's steps the last value counts.
"""

from __future__ import annotations

import re
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from registry.errors import Malformed
from registry.importers import mlflow
from registry.importers.imported_grid import ImportedGrid, Overrides
from registry.importers.scores import left_out, text
from registry.importers.source import Source, read_yaml

NAME = "mlflow-store"
_FINISHED = (3, "3", "FINISHED")
_RUN = re.compile(rb"^run_(?:id|uuid):", re.MULTILINE)
_STORED = re.compile(rb"^(?:experiment_id|model_id):", re.MULTILINE)
_LONGEST = 64 * 1024
_SQLITE = b"SQLite format 3\0"
_ENTRIES = {
    "metrics": "SELECT run_uuid, key, CASE WHEN NOT is_nan THEN value END FROM latest_metrics",
    "params": "SELECT run_uuid, key, value FROM params",
    "tags": "SELECT run_uuid, key, value FROM tags",
}
_COMPUTED = "SELECT 1 FROM sqlite_master WHERE type = 'view' OR sql LIKE 'create virtual%'"
_RUNS = """
    SELECT run_uuid, runs.name, status, runs.experiment_id, experiments.name,
           runs.lifecycle_stage = 'active' AND experiments.lifecycle_stage = 'active'
    FROM runs JOIN experiments USING (experiment_id) ORDER BY runs.experiment_id, start_time, run_uuid
"""


def looks_like(source: Source) -> bool:
    if source.head.startswith(_SQLITE):
        return b"latest_metrics" in source.content and b"experiments" in source.content
    return source.path is not None and source.path.name == "meta.yaml" and bool(_RUN.search(source.head))


def read(source: Source, wanted: Overrides) -> Iterator[ImportedGrid]:
    """One grid for each metric of the run that this `meta.yaml` describes, or of each run of the database."""
    if source.path is None:
        raise Malformed("A store of MLflow is read where it lies.")
    if source.head.startswith(_SQLITE):
        yield from _read_database(source.path, wanted)
        return
    meta, folder = _meta(source), source.path.parent
    if meta.get("status") not in _FINISHED or meta.get("lifecycle_stage", "active") != "active":
        raise Malformed(f'The run did not finish, or was deleted: its status is "{text(meta.get("status"))}".')
    above = folder.parent / "meta.yaml"
    experiment = _meta(Source(str(above), above)) if above.is_file() else {}
    run = {
        "info": {"run_id": text(meta.get("run_id")) or text(meta.get("run_uuid")), "status": "FINISHED",
                 "run_name": text(meta.get("run_name")), "experiment_id": text(meta.get("experiment_id"))},
        "data": {"metrics": [{"key": name, "value": _last(content)} for name, content in _entries(folder / "metrics")],
                 "params": [{"key": name, "value": content} for name, content in _entries(folder / "params")],
                 "tags": [{"key": name, "value": content} for name, content in _entries(folder / "tags")]},
    }  # fmt: skip
    titles = {text(meta.get("experiment_id")): text(experiment.get("name"))}
    yield from mlflow.read_run(run, titles, wanted, [])


def _read_database(path: Path, wanted: Overrides) -> Iterator[ImportedGrid]:
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)) as database:
            if database.execute(_COMPUTED).fetchone():
                raise Malformed("It is no database of MLflow: it has views, which may be without end.")
            runs = database.execute(_RUNS).fetchall()
            data: defaultdict[str, dict[str, list[Any]]] = defaultdict(lambda: {kind: [] for kind in _ENTRIES})
            for name, query in _ENTRIES.items():
                for run, key, value in database.execute(query):
                    is_infinite = isinstance(value, float) and abs(value) >= sys.float_info.max  # as MLflow writes it
                    data[run][name].append({"key": key, "value": None if is_infinite else value})
    except sqlite3.Error as error:
        raise Malformed(f"It is no database of MLflow: {error}.") from None
    told = [
        {"info": {"run_id": run, "run_name": name, "status": status, "experiment_id": str(key)}, "data": data[run]}
        for run, name, status, key, _, active in runs
        if active
    ]
    notes = mlflow.unfinished(told) + left_out([name for _, name, *_, active in runs if not active], "deleted runs")
    titles = {str(key): title for _, _, _, key, title, _ in runs}
    for run in told:
        yield from mlflow.read_run(run, titles, wanted, notes)


def parts_of_store(folder: Path, inner: list[str], names: list[str]) -> list[str]:
    """Files of a folder to read by themselves; folders that belong to a `meta.yaml` are removed from `inner`.

    Of a run that is its `meta.yaml`, of an experiment nothing but its runs, of a logged model nothing.
    """
    if "meta.yaml" not in names:
        return names
    with (folder / "meta.yaml").open("rb") as file:
        head = file.read(_LONGEST)
    if _RUN.search(head):
        inner.clear()
        return ["meta.yaml"]
    if not _STORED.search(head):
        return names
    inner[:] = [name for name in inner if (folder / name / "meta.yaml").is_file()]
    return [name for name in names if name != "meta.yaml"]


def _meta(source: Source) -> Mapping[str, Any]:
    found = read_yaml(source.text, source.name)
    if not isinstance(found, Mapping):
        raise Malformed(f"{source.name} is no mapping.")
    return found


def _entries(folder: Path) -> Iterator[tuple[str, str]]:
    """Files below a folder by name (`eval/accuracy`), with the end of their contents."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _LONGEST))
            yield str(path.relative_to(folder)), file.read().decode(errors="replace").strip()


def _last(content: str) -> float | str | None:
    """Value of the latest step: a line is an instant, a value, a step."""
    lines = [line.split() for line in content.splitlines() if line.strip()]
    if not lines or any(len(line) < 2 for line in lines[-1:]):
        return None
    try:
        return float(lines[-1][1])
    except ValueError:
        return lines[-1][1]
