"""An event in one line, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_NAMES = ("project", "experiment", "benchmark", "model", "variant", "metric", "baseline", "name")
_LONGEST = 300


def event_line(data: Mapping[str, Any]) -> str:
    """What an event tells: its sentence if it has one, else its names, and then the other fields but for ids."""
    if isinstance(sentence := data.get("sentence"), str) and sentence:
        return _short(sentence)
    names = [str(data[name]) for name in _NAMES if data.get(name)]
    return _short(", ".join([*names, *_others(data)]))


def _others(data: Mapping[str, Any]) -> Iterator[str]:
    for name, value in data.items():
        if name in _NAMES or value is None or isinstance(value, (dict, list)) or _is_id(value):
            continue
        yield f"{name.replace('_', ' ')} {str(value).lower() if isinstance(value, bool) else value}"


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 36 and value.count("-") == 4


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= _LONGEST else f"{one_line[: _LONGEST - 1]}…"
