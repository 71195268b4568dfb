"""Every format by name, the telling of a file's format by its content, and walks through folders."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from typing import Any

from registry.errors import Malformed, RegistryError
from registry.importers import records
from registry.importers.found import Found, Overrides
from registry.importers.mlflow_store import parts_of_store
from registry.importers.source import Source

MODULES = {
    "grid": "own_json", "lm-eval": "lm_eval", "inspect": "inspect_log", "helm": "helm", "mteb": "mteb",
    "mlflow": "mlflow", "mlflow-store": "mlflow_store", "trainer": "trainer",
    "model-index": "model_index", "parquet": "parquet", "netcdf": "netcdf", "wandb": "wandb",
    "latex": "latex", "markdown": "markdown", "csv": "delimited", "records": "records",
}  # fmt: skip
"""In the order in which a file is tried: what has a mark of its own before what is only a table."""
_COMPANIONS = ("run_spec.json", "model_meta.json", "scenario.json", "scenario_state.json", "instances.json",
               "per_instance_stats.json", "display_predictions.json", "display_requests.json")  # fmt: skip


_CHECKPOINT = re.compile(r"checkpoint-(\d+)")


def importer(name: str) -> Any:
    """The module that reads a format."""
    return import_module(f"registry.importers.{MODULES[name]}")


def told(source: Source) -> str:
    """The name of the format that a file has by its content, JSON by all of it; `Malformed` lists what was tried."""
    for name in MODULES:
        try:
            if importer(name).looks_like(source):
                return name
        except RegistryError:
            continue
    what = "content"
    if source.begins_like_json:
        _ = source.records  # which says where the JSON is at fault
        what = "JSON"
    hint = "; records of one's own are read with --axes and --value" if source.begins_like_json else ""
    raise Malformed(f"Its {what} is of no known format (tried: {', '.join(MODULES)}); --format names one{hint}.")


def chosen(source: Source, wanted: Overrides, name: str = "auto") -> str:
    """The name of the format that a file is read as: the one that was asked for, else the one that it has."""
    if not source.head:
        raise Malformed("The file is empty.")
    if name != "auto":
        return name
    return "records" if records.asked_for(source, wanted) else told(source)


def read(source: Source, wanted: Overrides, name: str = "auto") -> Iterator[Found]:
    """The grids of one file."""
    yield from importer(chosen(source, wanted, name)).read(source, wanted)


def files_of(paths: Sequence[Path], left_out: Sequence[str] = ()) -> Iterator[Path]:
    """The files, and those in folders in the order of their names, without those that a pattern leaves out.

    A pattern is that of a file's or a folder's name.
    """

    def wanted(name: str) -> bool:
        return not any(fnmatchcase(name, pattern) for pattern in left_out)

    for path in paths:
        if not path.is_dir():
            yield path
            continue
        for folder, inner, names in os.walk(path):
            inner[:] = sorted(name for name in inner if not name.startswith(".") and wanted(name))
            kept = sorted(
                name for name in names if name not in _COMPANIONS and not name.startswith(".") and wanted(name)
            )
            for name in parts_of_store(Path(folder), inner, kept):
                if not _is_outlived(Path(folder, name)):
                    yield Path(folder, name)


def _is_outlived(path: Path) -> bool:
    """Whether this is the state of a Trainer at a checkpoint, and a later state of the same training lies near it."""
    match = _CHECKPOINT.fullmatch(path.parent.name) if path.name == "trainer_state.json" else None
    if match is None:
        return False
    others = (
        _CHECKPOINT.fullmatch(other.parent.name) for other in path.parent.parent.glob("checkpoint-*/" + path.name)
    )
    later = any(other and int(other[1]) > int(match[1]) for other in others)
    return later or (path.parent.parent / path.name).is_file()
