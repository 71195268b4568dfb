"""A grid and its cells: text and Markdown for people, tidy CSV for programs.

Every function takes the JSON of a grid with its values.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from registry.renderings import sheet
from registry.renderings.numbers import decimals_of, fixed, plain_number
from registry.renderings.sheet import Block, Heading
from registry.renderings.table import Column, Table
from registry.renderings.tidy import harmless, tidy
from registry.renderings.words import label, measure, title, with_unit

Document = dict[str, Any]
_CARRIED = ("trials", "stderr", "repeats", "sd")
_IDENTITY = ("experiment", "benchmark", "model", "variant")
_LONGEST_ROW = 12


def grid_text(document: Document) -> str:
    """The grid as aligned tables of two axes each."""
    return sheet.text(_page(document))


def grid_markdown(document: Document) -> str:
    """The grid as pipe tables of two axes each."""
    return sheet.markdown(_page(document))


def cells_text(document: Document) -> str:
    """The measured cells, one row each."""
    return sheet.text(_cells_page(document))


def cells_markdown(document: Document) -> str:
    """The measured cells as a pipe table, one row each."""
    return sheet.markdown(_cells_page(document))


def cells_csv(document: Document) -> str:
    """The measured cells, tidy: identity, a level of each axis (and its number), the value and what it carries."""
    axes = document["axes"]
    header = ["grid", "revision", *_IDENTITY, "metric", "unit"]
    header += itertools.chain.from_iterable(_columns_of(axis) for axis in axes)
    given = [name for name in _CARRIED if document.get(name) is not None]
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
    columns = [_flat(document["values"], len(axes)), *(_carried(document, name) for name in given)]
    rows = (
        (*head, *itertools.chain.from_iterable(at), *measured)
        for at, measured in zip(itertools.product(*levels), zip(*columns, strict=False), strict=False)
        if measured[0] is not None
    )
    return tidy([*header, "value", *given], rows)


def _page(document: Document) -> Iterator[Block]:
    values = _flat(document["values"], len(document["axes"]))
    yield Heading(title(document), 3)
    if not any(value is not None for value in values):
        yield "No cell was measured."
    else:
        decimals = decimals_of(value for value in values if value is not None)
        yield from _tables(document["axes"], document["values"], decimals, measure(document["metric"]))
    yield footer(document, values)


def _tables(axes: Sequence[Document], values: Any, decimals: int | None, name: str) -> Iterator[Block]:
    """One number, one row or column, or a table for each combination of the levels of the leading axes."""
    if not axes:
        yield fixed(values, decimals)
        return
    if len(axes) == 1:
        yield _line(axes[0], [fixed(value, decimals) for value in values], name)
        return
    leading, (rows, columns) = axes[:-2], axes[-2:]
    for at in itertools.product(*(range(len(axis["levels"])) for axis in leading)):
        part = values
        for place in at:
            part = part[place]
        if at:
            where = [f"{axis['name']} {label(axis['levels'][place])}" for axis, place in zip(leading, at, strict=True)]
            yield Heading(" · ".join(where), 4)
        if any(value is not None for row in part for value in row):
            yield _plane(rows, columns, part, decimals)
        else:
            yield "No cell was measured."


def _line(axis: Document, cells: list[str], name: str) -> Table:
    """One axis: a row while it is short, else a column."""
    levels = [label(level) for level in axis["levels"]]
    if len(levels) > _LONGEST_ROW:
        return Table([Column(with_unit(axis), levels, axis["kind"] == "numeric"), Column(name, cells, True)])
    heads = [Column(level, [cell], True) for level, cell in zip(levels, cells, strict=True)]
    return Table([Column(with_unit(axis), [name]), *heads], keys=1)


def _plane(rows: Document, columns: Document, part: list[list[float | None]], decimals: int | None) -> Table:
    """Two axes: rows down, columns across."""
    names = Column(with_unit(rows), [label(level) for level in rows["levels"]], rows["kind"] == "numeric")
    across = zip(*part, strict=True)
    cells = [
        Column(label(level), [fixed(value, decimals) for value in column], True)
        for level, column in zip(columns["levels"], across, strict=True)
    ]
    return Table([names, *cells], keys=1, over=with_unit(columns))


def footer(document: Document, values: Sequence[float | None]) -> str:
    """How much was measured, which revision this is, and what is known of the noise."""
    measured = len(values) - values.count(None)
    parts = [f"{measured} of {len(values)} cells measured", f"revision {document['revision']}"]
    for name, shown in (("trials", "trials"), ("stderr", "standard error"), ("repeats", "repeats"), ("sd", "sd")):
        if document.get(name) is not None:
            found = [given for given in _carried(document, name) if given is not None] if measured else []
            parts += [f"{shown} {_range(found)}"] if found else []
    reasons = [entry["reason"].replace("_", " ") for entry in document.get("reasons") or ()]
    parts += [f"{reasons.count(reason)} {reason}" for reason in dict.fromkeys(reasons)]
    return " · ".join(parts)


def _range(found: Sequence[float]) -> str:
    low, high = min(found), max(found)
    return plain_number(low) if low == high else f"{plain_number(low)}–{plain_number(high)}"


def _cells_page(document: Document) -> Iterator[Block]:
    axes, values = document["axes"], _flat(document["values"], len(document["axes"]))
    yield Heading(title(document), 3)
    measured = [index for index, value in enumerate(values) if value is not None]
    if not measured:
        yield "No cell was measured."
    else:
        yield Table([*_level_columns(axes, measured), *_value_columns(document, values, measured)])
    yield footer(document, values)


def _level_columns(axes: Sequence[Document], measured: Sequence[int]) -> Iterator[Column]:
    """A column for each axis: the levels of the measured cells."""
    coordinates = list(itertools.product(*([label(level) for level in axis["levels"]] for axis in axes)))
    for place, axis in enumerate(axes):
        yield Column(with_unit(axis), [coordinates[index][place] for index in measured], axis["kind"] == "numeric")


def _value_columns(document: Document, values: Sequence[Any], measured: Sequence[int]) -> Iterator[Column]:
    """The values of the measured cells and what they carry."""
    decimals = decimals_of(values[index] for index in measured)
    yield Column(measure(document["metric"]), [fixed(values[index], decimals) for index in measured], True)
    for name in _CARRIED:
        if document.get(name) is not None:
            whole = list(itertools.islice(_carried(document, name), len(values)))
            found = [whole[index] for index in measured]
            places = decimals_of(one for one in found if one is not None)
            yield Column(name, [fixed(one, places) for one in found], True)


def _flat(nested: Any, depth: int) -> list[Any]:
    """A value nested to the axes as one row-major list."""
    flat = [nested]
    for _ in range(depth):
        flat = list(itertools.chain.from_iterable(flat))
    return flat


def _carried(document: Document, name: str) -> list[Any]:
    """What each cell carries under a name, row-major; one number stands for every cell."""
    given, depth = document[name], len(document["axes"])
    if isinstance(given, list):
        return _flat(given, depth)
    return [given] * len(_flat(document["values"], depth))


def _columns_of(axis: Document) -> tuple[str, ...]:
    return (axis["name"], f"{axis['name']}_num") if axis["kind"] == "numeric" else (axis["name"],)


def _level_cells(axis: Document, level: Any) -> tuple[Any, ...]:
    """A level as CSV writes it: the label, and on a numeric axis its number."""
    if axis["kind"] != "numeric":
        return (harmless(label(level)),)
    if isinstance(level, dict):
        return harmless(level["label"]), level["number"]
    return level, level
