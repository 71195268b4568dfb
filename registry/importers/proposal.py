"""A mapping proposed for a file, as TOML to correct: what its columns look like, and what is doubtful about each.

Names decide first (`model`, `stderr`, a known metric), then values: numbers with fractions are metrics, and what tells
rows of the same names apart is an axis. In JSON and YAML the records
are the members of that list or object whose members hold most numbers.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tomli_w

from registry.errors import Malformed
from registry.grids.intake.levels import MAX_AXES
from registry.importers import delimited
from registry.importers.cell_text import GAPS, looks_like_error, plain_number
from registry.importers.imported_grid import Layout
from registry.importers.records import records_of
from registry.importers.scores import meaning_of
from registry.importers.sheet import IDENTITY_WORDS
from registry.importers.source import Source, read_yaml

_ROWS, _DEEPEST, _FEW = 2_000, 4, 40
"""Rows that are looked at, steps of a way to records, and values of an axis."""
_CALLED = {
    "model": ("model", "model_name", "model_id", "system", "method", "agent", "checkpoint", "name", ""),
    "benchmark": ("benchmark", "task", "task_name", "dataset", "eval", "evaluation", "test"),
    "variant": ("variant", "setting", "config"),
    "metric": ("metric", "metric_name"),
    "trials": ("trials", "n", "num_samples", "n_samples", "test_cases", "total"),
}


@dataclass
class _Columns:
    """What each column is taken for."""

    roles: dict[str, str] = field(default_factory=dict)
    axes: list[str] = field(default_factory=list)
    metrics: dict[str, dict[str, Any]] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def proposed(source: Source) -> str:
    """The TOML text for a CSV, JSON or YAML file; `Malformed` for a file in which no numbers are found."""
    way: list[str] = []
    keys: list[str] = []
    if source.begins_like_json or source.is_yaml:
        document = read_yaml(source.text, "It") if source.is_yaml else source.document
        way, keys = _way_to_records(source.records if document is None else document)
        layout = Layout(records=".".join(way), keys=tuple(keys))
        rows = [record.flat(()) for _, record in itertools.islice(records_of(source, layout), _ROWS)]
    else:
        rows = list(_table(source))
    found = _columns(rows, keys)
    if not found.metrics:
        raise Malformed("No column of it holds numbers that look like results.")
    for name in ("model", "benchmark", "experiment"):
        if name not in found.roles and name not in keys:
            found.doubts.append(
                f"nothing names the {name}: {name} = \"…\", [column], or a group of path = '(?P<{name}>…)'"
            )
    settings: dict[str, Any] = {"records": ".".join(way), "keys": keys} if way else {}
    settings |= {"axes": found.axes} if found.axes else {}
    renamed = {role: name for role, name in found.roles.items() if role != name}
    settings |= {"column": renamed} if renamed else {}
    told = [f"Proposed from {len(rows):,} rows of {source.name}. Doubts:", *found.doubts]
    told += [f"left out: {', '.join(found.left)}"] if found.left else []
    return "".join(f"# {line}\n" for line in told) + "\n" + tomli_w.dumps(settings | {"metric": found.metrics})


def _table(source: Source) -> Iterator[dict[str, str]]:
    rows = delimited.rows_of(source)
    header = next(rows, (1, []))[1]
    for _, cells in itertools.islice(rows, _ROWS):
        yield dict(zip(header, cells, strict=False))


def _columns(rows: Sequence[Mapping[str, str]], keys: Sequence[str]) -> _Columns:
    found = _Columns()
    names = list(dict.fromkeys(name for row in rows for name in row))
    texts = {name: [text for row in rows if (text := row.get(name, "")) not in GAPS] for name in names}
    lower = {name.rpartition(".")[2].casefold(): name for name in reversed(names)}
    if all(plain_number(text) is not None for text in texts.get("", ())):
        lower.pop("", None)  # numbers of rows, no names
    for role, called in _CALLED.items():
        name = next((lower[one] for one in called if one in lower and lower[one] not in found.roles.values()), None)
        if name is not None and (role != "trials" or all(map(_is_count, texts[name]))):
            found.roles[role] = name
    for word in IDENTITY_WORDS:
        if word in names and word not in found.roles:
            found.roles[word] = word
    rest = [name for name in names if name not in found.roles.values()]
    numeric = [name for name in rest if texts[name] and all(plain_number(text) is not None for text in texts[name])]
    errors = [name for name in numeric if looks_like_error(name, [one for one in numeric if one != name])]
    found.metrics = {name: _metric(name, errors, found) for name in _measured(numeric, errors, texts)}
    others = [name for name in rest if name not in found.metrics and name not in errors and texts[name]]
    others = [name for name in others if not texts[name][0].startswith("[")]  # lists, which are no levels
    found.axes = _axes(rows, [*keys, *found.roles.values()], others, len(rows))
    found.left = [name for name in others if name not in found.axes]
    if found.axes:
        found.doubts.append(f"taken for axes, since they tell rows of one name apart: {', '.join(found.axes)}")
    if unknown := [name for name, one in found.metrics.items() if "direction" not in one]:
        found.doubts.append(f"which end is better, and unit and bounds, are not known of: {', '.join(unknown)}")
    return found


def _measured(numeric: Sequence[str], errors: Sequence[str], texts: Mapping[str, Sequence[str]]) -> list[str]:
    """Columns of results: those of a known name, else those with fractions, else whole numbers; none that is one number
    everywhere."""
    varied = [name for name in numeric if name not in errors and len(set(texts[name])) > min(1, len(texts[name]) - 1)]
    known = [name for name in varied if meaning_of(name)]
    fractions = [name for name in varied if any("." in text or "e" in text.casefold() for text in texts[name])]
    return known or fractions or varied


def _axes(rows: Sequence[Mapping[str, str]], names: Sequence[str], others: Sequence[str], most: int) -> list[str]:
    """Columns that tell rows of the same names apart, those first that tell most apart."""
    chosen: list[str] = []
    apart = len({tuple(row.get(name) for name in names) for row in rows})
    while apart < most and len(chosen) < MAX_AXES:
        told = {
            name: len({tuple(row.get(one) for one in (*names, *chosen, name)) for row in rows})
            for name in others
            if name not in chosen and len({row.get(name) for row in rows}) <= _FEW
        }
        best = max(told, key=lambda name: told[name], default=None)
        if best is None or told[best] == apart:
            break
        chosen.append(best)
        apart = told[best]
    return chosen


def _metric(name: str, errors: Sequence[str], found: _Columns) -> dict[str, Any]:
    meaning = meaning_of(name)
    metric: dict[str, Any] = {} if meaning is None or meaning.direction is None else {"direction": meaning.direction}
    if own := [one for one in errors if looks_like_error(one, [name])]:
        metric["stderr"] = own[0]
        found.doubts.append(f"{own[0]} is taken for the standard error of {name}; a standard deviation is sd")
    return metric


def _is_count(text: str) -> bool:
    value = plain_number(text)
    return value is not None and value > 0 and value == math.floor(value)


def _way_to_records(document: Any) -> tuple[list[str], list[str]]:
    """The steps to the records, and the columns of the names that stand for `*`."""
    way: list[str] = []
    keys: list[str] = []
    node = document
    while len(way) < _DEEPEST:
        if isinstance(node, list):
            way, keys, node = [*way, "*"], [*keys, ""], _largest(node)
        elif isinstance(node, Mapping) and len(node) > 1 and len({_shape(one) for one in node.values()}) == 1:
            if not isinstance(next(iter(node.values())), Mapping | list):
                break
            way, keys, node = (
                [*way, "*"],
                [*keys, "model" if "model" not in keys else "benchmark"],
                _largest([*node.values()]),
            )
        else:
            inner = (
                {name: one for name, one in node.items() if _holds_records(one)} if isinstance(node, Mapping) else {}
            )
            if not inner:
                break
            name = max(inner, key=lambda one: _numbers(inner[one]))
            way, node = [*way, name], inner[name]
    return (way, keys) if way else (["*"], [""])


def _largest(members: Sequence[Any]) -> Any:
    return max(members[:_ROWS], key=_numbers, default=None)


def _holds_records(node: Any) -> bool:
    return isinstance(node, list) and bool(node) and isinstance(node[0], Mapping)


def _shape(node: Any) -> Any:
    if isinstance(node, list):
        return list, _shape(node[0]) if node else None
    return frozenset(node) if isinstance(node, Mapping) else type(node)


def _numbers(node: Any) -> int:
    """How many numbers a value holds."""
    if isinstance(node, Mapping | list):
        return sum(map(_numbers, node.values() if isinstance(node, Mapping) else node[:_ROWS]))
    return isinstance(node, int | float) and not isinstance(node, bool)
