"""Names, levels and metrics as people read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from registry.renderings.numbers import plain_number
from registry.renderings.table import Column


def title(document: Mapping[str, Any]) -> str:
    """`benchmark · model · variant — metric (unit)`."""
    names = [document.get(name) for name in ("benchmark", "model", "variant")]
    return " · ".join(str(name) for name in names if name) + " — " + measure(document["metric"])


def measure(metric: Mapping[str, Any] | None) -> str:
    """The metric with its unit."""
    return with_unit(metric) if metric else "value"


def with_unit(named: Mapping[str, Any]) -> str:
    """A metric or an axis with its unit, if it has one."""
    return f"{named['name']} ({named['unit']})" if named.get("unit") else str(named["name"])


def label(level: Any) -> str:
    """A level as people read it: its label, or its number."""
    if isinstance(level, dict):
        return str(level["label"])
    return plain_number(level) if isinstance(level, (int, float)) else str(level)


def place(at: Mapping[str, Any], without: str | None = None) -> str:
    """A coordinate, `Type 2, Length 1`."""
    return ", ".join(f"{name} {label(level)}" for name, level in at.items() if name != without)


def places(found: Sequence[Mapping[str, Any]], without: str | None = None, ties: int | None = None) -> str:
    """Coordinates, and how many more there are than were listed."""
    named = [place(at, without) for at in found]
    more = (ties or len(named)) - len(named)
    return "; ".join(name for name in named if name) + (f"; and {more} more" if more > 0 else "")


def said(word: Any) -> str:
    """A word of the wire in plain writing."""
    return str(word).replace("_", " ")


def counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def axis_columns(cells: Sequence[Mapping[str, Any]]) -> list[Column]:
    """A column for each axis of some coordinates."""
    names = list(dict.fromkeys(name for at in cells for name in at))
    return [Column(name, [label(at.get(name, "")) for at in cells], _numeric(cells, name)) for name in names]


def _numeric(cells: Sequence[Mapping[str, Any]], name: str) -> bool:
    return not any(isinstance(at.get(name), str) for at in cells)
