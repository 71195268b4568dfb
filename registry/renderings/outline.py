"""Any JSON as lines and tables: for parts whose names are their own explanation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.renderings.numbers import UNDEFINED
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table
from registry.renderings.tidy import harmless, tidy
from registry.renderings.words import said


def outline(found: Mapping[str, Any], under: str = "") -> Iterator[Block]:
    """Plain values as `name: value` lines, lists of objects as tables, objects under their own heading."""
    plain = {name: value for name, value in found.items() if not _nested(value)}
    if plain:
        yield Lines(tuple(f"{said(name)}: {shown(value)}" for name, value in plain.items()))
    for name, value in found.items():
        path = f"{under} · {said(name)}" if under else said(name)
        if isinstance(value, Mapping) and value:
            yield Heading(path, 3)
            yield from outline(value, path)
        elif _nested(value):
            yield Heading(path, 3)
            yield records(value)


def records(found: Sequence[Any]) -> Table:
    """A list of objects, one row each."""
    flat = [flattened(one) if isinstance(one, Mapping) else {"value": one} for one in found]
    names = list(dict.fromkeys(name for row in flat for name in row))
    return Table([_column(name, [row.get(name) for row in flat]) for name in names])


def _column(name: str, cells: Sequence[Any]) -> Column:
    numeric = any(isinstance(cell, float) for cell in cells)
    return Column(said(name), [shown(cell) for cell in cells], numeric or all(isinstance(c, int) for c in cells))


def flattened(found: Mapping[str, Any], under: str = "") -> dict[str, Any]:
    """An object without objects in it, its names joined by points."""
    flat: dict[str, Any] = {}
    for name, value in found.items():
        path = f"{under}.{name}" if under else str(name)
        if isinstance(value, Mapping):
            flat |= flattened(value, path)
        else:
            flat[path] = value
    return flat


def shown(value: Any) -> str:
    """A value in one line."""
    if value is None:
        return UNDEFINED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}" if value != int(value) or abs(value) >= 1e15 else str(int(value))
    if isinstance(value, Mapping):
        return ", ".join(f"{said(name)} {shown(one)}" for name, one in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(shown, value)) or "none"
    return said(value) if isinstance(value, str) and value.isidentifier() else str(value)


def _nested(value: Any) -> bool:
    """Whether a value needs a place of its own."""
    if isinstance(value, Mapping):
        return bool(value)
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def leaves_csv(document: Mapping[str, Any], part: str) -> str:
    """A part as rows of path and value."""
    head = [str(document.get("grid", "")), document.get("revision")]
    found = document.get(part)
    leaves = _leaves(found, part) if found is not None else ()
    return tidy(
        ["grid", "revision", "statistic", "value"], ([*head, harmless(path), harmless(one)] for path, one in leaves)
    )


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, one in value.items():
            yield from _leaves(one, f"{path}.{name}")
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from _leaves(one, f"{path}[{place}]")
    else:
        yield path, value
