"""Formats by name, detection of a file's format by its content, and walks through folders."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from typing import Any

from registry.errors import Malformed, RegistryError
from registry.importers import records
from registry.importers.imported_grid import ImportedGrid, Overrides
from registry.importers.source import Source

MODULES = {
    "grid": "own_json", "lm-eval": "lm_eval", "inspect": "inspect_log", "mteb": "mteb",
    "mlflow": "mlflow", "every-eval-ever": "every_eval_ever", "asv": "asv",
    "model-index": "model_index", "parquet": "parquet",
    "html": "html_tables", "markdown": "markdown", "csv": "delimited", "records": "records",
}  # fmt: skip
"""In the order of detection: formats with a mark of their own before plain tables."""
_TABLES = ("csv", "html", "markdown", "parquet", "records")
_WITH_ITEMS = ("lm-eval", "inspect")
_COMPANIONS = ("model_meta.json", "machine.json")
_OF_ASV = "benchmarks.json"
_SAMPLES = re.compile(r"samples_.+_([0-9]{4}-[0-9]{2}-[0-9T.:-]+)\.jsonl")


def importer(name: str) -> Any:
    """Module that reads a format."""
    return import_module(f"registry.importers.{MODULES[name]}")


def detect(source: Source) -> str:
    """Name of the format that a file has by its content, JSON by all of it; `Malformed` lists the formats tried."""
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
    own = "records of one's own are read with --axes and --value, or" if source.begins_like_json else "else"
    tried = ", ".join(MODULES)
    raise Malformed(f"Its {what} is of no known format (tried: {tried}); --format names one; {own} by a mapping.")


def choose(source: Source, wanted: Overrides, name: str = "auto") -> str:
    """Name of the format to read a file as: the requested one, else the detected one."""
    if not source.head:
        raise Malformed("The file is empty.")
    if name == "auto":
        name = "records" if records.asked_for(source, wanted) else detect(source)
    named = replace(wanted, roles={}) if name in _WITH_ITEMS and wanted.roles.keys() == {"cluster"} else wanted
    if (given := named.of_tables) and name not in _TABLES:
        raise Malformed(f"It is read as {name}, where {', '.join(given)} would change nothing: --format names another.")
    return name


def read(source: Source, wanted: Overrides, name: str = "auto") -> Iterator[ImportedGrid]:
    """Grids of one file."""
    yield from importer(choose(source, wanted, name)).read(source, wanted)


def files_of(paths: Sequence[Path], left_out: Sequence[str] = (), taken: Sequence[str] = ()) -> Iterator[Path]:
    """The files, and those in folders in the order of their names, except those whose name matches a pattern.

    A pattern of what is left out applies to the name of a file or a folder; of what is `taken`, if there is one, to the
    name of a file in a folder.
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
                name
                for name in names
                if name not in _COMPANIONS
                and not (name == _OF_ASV and any(Path(folder, one, "machine.json").is_file() for one in inner))
                and not name.startswith(".")
                and wanted(name)
                and (not taken or any(fnmatchcase(name, pattern) for pattern in taken))
            )
            for name in kept:
                if not _is_of_another(name, kept):
                    yield Path(folder, name)


def _is_of_another(name: str, others: Sequence[str]) -> bool:
    """Tell whether these are samples of results of lm-evaluation-harness in the same folder, which are read with
    them."""
    match = _SAMPLES.fullmatch(name)
    return match is not None and f"results_{match[1]}.json" in others
