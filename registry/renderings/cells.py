"""The measured cells of a grid, one row each: tidy CSV for programs, tables for people.

Every function takes the JSON of a grid with its values.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from registry.renderings.feed import PROTOCOL, protocol_text
from registry.renderings.numbers import plain_number
from registry.renderings.tidy import axis_names, harmless, tidy
from registry.renderings.words import counted, label, said
from registry.results.grid import Carried, GridDocument, Name, PostedAxis

_CARRIED: tuple[Carried, ...] = ("trials", "stderr", "repeats", "sd")
_IDENTITY: tuple[Name, ...] = ("experiment", "benchmark", "model", "variant")


def cells_csv(document: GridDocument) -> str:
    """The measured cells, tidy: identity, a level of each axis (and its number), the value and what it
    carries, the protocol where there is one, and the slice where it is cut to one."""
    axes = document["axes"]
    header = ["grid", "revision", *_IDENTITY, "metric", "unit"]
    only = document.get("slice")
    after = ("value", *_CARRIED, PROTOCOL, *(("slice",) if only else ()))
    names = axis_names([axis["name"] for axis in axes], (*header, *after), ("", "_num"))
    columns_of_axes = [column for axis, name in zip(axes, names, strict=True) for column in _columns_of(axis, name)]
    known = given(document)
    protocol = protocol_text(document.get("protocol"))
    last = () if protocol is None else (protocol,)
    metric = document["metric"]
    identity = [
        str(document["id"]),
        document["revision"],
        *(document[name] for name in _IDENTITY),
        metric["name"],
        metric["unit"],
    ]
    head = tuple(map(harmless, identity))
    levels = [[_level_cells(axis, level) for level in axis["levels"]] for axis in axes]
    columns = [flat(document["values"], len(axes)), *(carried(document, name) for name in known)]
    rows = (
        (*head, *itertools.chain.from_iterable(at), *measured, *last)
        for at, measured in zip(itertools.product(*levels), zip(*columns, strict=False), strict=False)
        if measured[0] is not None
    )
    return tidy([*header, *columns_of_axes, "value", *known, *((PROTOCOL,) if last else ())], rows, only=only)


def _columns_of(axis: PostedAxis, name: str) -> tuple[str, ...]:
    return (name, f"{name}_num") if axis["kind"] == "numeric" else (name,)


def _level_cells(axis: PostedAxis, level: Any) -> tuple[Any, ...]:
    """A level as CSV writes it: the label, and on a numeric axis its number."""
    if axis["kind"] != "numeric":
        return (harmless(label(level)),)
    if isinstance(level, dict):
        return harmless(level["label"]), level["number"]
    return level, level


def footer(document: GridDocument, values: Sequence[float | None]) -> str:
    """How much was measured, which revision this is, and what is known of the noise."""
    measured = len(values) - values.count(None)
    parts = [f"{measured:,} of {counted(len(values), 'cell', 'cells')} measured", f"revision {document['revision']}"]
    for name in given(document) if measured else ():
        beside = zip(values, carried(document, name), strict=False)
        found = [one for value, one in beside if value is not None and one is not None]
        share = "" if len(found) == measured else f" (in {counted(len(found), 'cell', 'cells')})"
        parts += [f"{'standard error' if name == 'stderr' else name} {_range(found)}{share}"] if found else []
    reasons = reasons_in(document)
    parts += [f"{reasons.count(reason)} {reason}" for reason in dict.fromkeys(reasons)]
    return " · ".join(parts)


def _range(found: Sequence[float]) -> str:
    low, high = min(found), max(found)
    return plain_number(low) if low == high else f"{plain_number(low)}–{plain_number(high)}"


def flat(nested: Any, depth: int) -> list[Any]:
    """A value nested to the axes as one row-major list."""
    flat = [nested]
    for _ in range(depth):
        flat = list(itertools.chain.from_iterable(flat))
    return flat


def given(document: GridDocument) -> list[Carried]:
    """Columns that were given beside the values."""
    return [name for name in _CARRIED if document.get(name) is not None]


def reasons_in(document: GridDocument) -> list[str]:
    """Why cells are missing, in plain writing, one for each of them."""
    return [said(entry["reason"]) for entry in document.get("reasons", ())]


def carried(document: GridDocument, name: Carried) -> list[Any]:
    """Numbers that the cells carry under a name, row-major; one number stands for every cell."""
    nested, depth = document[name], len(document["axes"])
    if isinstance(nested, list):
        return flat(nested, depth)
    return [nested] * len(flat(document["values"], depth))
