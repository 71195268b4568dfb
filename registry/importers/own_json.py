"""Import the registry's own JSON: the body of `POST …/grids`, a list of them, or one a line (NDJSON).

A metric may be its name alone, as `log_grid` takes it.
"""

from collections.abc import Iterator, Mapping

from registry.errors import Fault, Invalid
from registry.importers.imported_grid import IDENTITY, ImportedGrid, Overrides
from registry.importers.scores import mapping
from registry.importers.source import Source

NAME = "grid"
_BODY = {"values", "cells", "axes"}


def looks_like(source: Source) -> bool:
    if not source.begins_like_json:
        return False
    first = next(iter(source.records), None)
    return isinstance(first, Mapping) and {"metric", "model"} <= first.keys() and bool(_BODY & first.keys())


def read(source: Source, wanted: Overrides) -> Iterator[ImportedGrid]:
    for number, given in enumerate(source.own_records):
        sent = dict(mapping(given, f"/{number}"))
        wrong = [name for name in IDENTITY if sent.get(name) is not None and not isinstance(sent[name], str)]
        if wrong:
            raise Invalid([Fault(f"/{number}/{name}", "is not a text") for name in wrong])
        metric = sent.get("metric")
        sent["metric"] = {"name": metric} if isinstance(metric, str) else mapping(metric or {}, f"/{number}/metric")
        yield wanted.applied(ImportedGrid(sent))
