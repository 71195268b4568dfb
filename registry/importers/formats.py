"""Every format by name, the telling of a file's format by its content, and walks through folders."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from registry.errors import Malformed, RegistryError
from registry.importers.found import Found, Overrides
from registry.importers.source import Source

MODULES = {
    "grid": "own_json", "lm-eval": "lm_eval", "inspect": "inspect_log", "helm": "helm", "mteb": "mteb",
    "mlflow": "mlflow", "model-index": "model_index", "parquet": "parquet", "netcdf": "netcdf", "wandb": "wandb",
    "markdown": "markdown", "csv": "delimited",
}  # fmt: skip
"""In the order in which a file is tried: what has a mark of its own before what is only a table."""
_COMPANIONS = ("run_spec.json", "model_meta.json", "scenario.json", "scenario_state.json", "instances.json",
               "per_instance_stats.json", "display_predictions.json", "display_requests.json")  # fmt: skip


def importer(name: str) -> Any:
    """The module that reads a format."""
    return import_module(f"registry.importers.{MODULES[name]}")


def told(source: Source) -> str:
    """The name of the format that a file has by its content; `Malformed` lists what was tried."""
    for name in MODULES:
        try:
            if importer(name).looks_like(source):
                return name
        except RegistryError:
            continue
    tried = ", ".join(MODULES)
    raise Malformed(f"Its content is of no known format (tried: {tried}); --format names one.")


def read(source: Source, wanted: Overrides, name: str = "auto") -> Iterator[Found]:
    """The grids of one file."""
    if not source.head:
        raise Malformed("The file is empty.")
    chosen = told(source) if name == "auto" else name
    yield from importer(chosen).read(source, wanted)


def files_of(paths: Sequence[Path]) -> Iterator[tuple[Path, bool]]:
    """The files, and those in folders in the order of their names; and whether a file was named itself."""
    for path in paths:
        if not path.is_dir():
            yield path, True
            continue
        for folder, inner, names in os.walk(path):
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            for name in sorted(names):
                if name not in _COMPANIONS and not name.startswith("."):
                    yield Path(folder, name), False
