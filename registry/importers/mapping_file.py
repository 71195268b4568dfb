"""Mappings: TOML files that say how the files of an archive are read.

    experiment = "imagenet"
    benchmark = "ImageNet-1k"
    axes = ["img_size"]

    [column]
    model = "model"

    [metric.top1]
    direction = "higher"
    unit = "%"

A mapping holds what the options of `registry push` say, under their names, and what no option can: the way to the
records of JSON and YAML (`records`, `keys`), a regular expression on the path of a file whose named groups are columns
(`path`), labels and keys of the protocol that are columns, and several metrics, each with its direction, unit, bounds
and the columns of its errors. `SCHEMA` is its JSON Schema. Shipped mappings have a name and lie in `mappings/`.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from importlib import resources
from pathlib import Path
from typing import Any

from registry.errors import Malformed
from registry.importers.imported_grid import Layout, MetricColumns, Overrides
from registry.importers.reading import Sources
from registry.importers.sheet import LABEL, PROTOCOL

_TEXT = {"type": "string", "minLength": 1}
_TEXTS = {"type": "array", "items": {"type": "string"}}
_NUMBER = {"type": "number"}
_COUNT = {"type": "integer", "minimum": 1}
_METRIC = {"unit": _TEXT, "direction": {"enum": ["higher", "lower"]}, "lower": _NUMBER, "upper": _NUMBER}
_CARRIED = dict.fromkeys(("column", "stderr", "trials", "repeats", "sd"), _TEXT)
_OF_ROWS = {"oneOf": [{"type": ["string", "number", "boolean"]}, {"type": "object", "properties": {"column": _TEXT},
            "required": ["column"], "additionalProperties": False}]}  # fmt: skip
_OF_TEXT = ("format", "experiment", "benchmark", "model", "variant", "description", "value", "repeats", "rows",
            "columns", "records", "path")  # fmt: skip
_OF_TEXTS = ("axes", "drop", "numeric", "ordinal", "nominal", "only", "keys", "headings", "files", "exclude")
_KEYS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(_OF_TEXT, _TEXT),
    **dict.fromkeys(_OF_TEXTS, _TEXTS),
    "model_from": {"enum": ["file", "folder"]},
    "trials": _COUNT,
    "questions": _COUNT,
    "design_effect": {"type": "number", "minimum": 1},
    "derived": {"type": "boolean"},
    "column": {"type": "object", "additionalProperties": {"type": "string"}},
    "where": {"type": "object", "additionalProperties": _TEXTS},
    "labels": {"type": "object", "additionalProperties": _OF_ROWS},
    "protocol": {"type": "object", "additionalProperties": _OF_ROWS},
    "metric": {"type": "object", "additionalProperties": {
        "type": "object", "properties": _METRIC | _CARRIED, "additionalProperties": False}},
}  # fmt: skip
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "How the files of an archive are read into grids",
    "type": "object",
    "properties": _KEYS,
    "additionalProperties": False,
}
"""The JSON Schema of a mapping."""
_PATHS = resources.files("registry.importers") / "mappings"


def names() -> list[str]:
    """Names of the shipped mappings."""
    return sorted(one.name.removesuffix(".toml") for one in _PATHS.iterdir() if one.name.endswith(".toml"))


def read_mapping(name: str) -> Sources:
    """How the mapping of a file, or the one that is shipped under a name, has files read.

    Raises `Malformed` for a text that is no TOML, and with the keys for one that is no mapping.
    """
    shipped = _PATHS / f"{name}.toml"
    is_file = Path(name).is_file()
    if not is_file and not (re.fullmatch("[a-z0-9-]+", name) and shipped.is_file()):
        raise Malformed(f"There is no mapping {name}: say a TOML file, or one of {', '.join(names())}.")
    try:
        given = tomllib.loads((Path(name) if is_file else shipped).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Malformed(f"{name} is not TOML: {error}.") from None
    if faults := list(_faults(given, SCHEMA, "")):
        raise Malformed(f"{name}: {'; '.join(faults)}.")
    try:
        re.compile(given.get("path", ""))
    except re.error as error:
        raise Malformed(f"{name}: path is no regular expression: {error}.") from None
    files, left_out = (tuple(given.get(one, ())) for one in ("files", "exclude"))
    return Sources((), str(given.get("format", "auto")), _settings(given), left_out, files)


_TOLD_APART = ("format", "files", "exclude", "column", "where", "labels", "protocol", "metric")


def _settings(given: Mapping[str, Any]) -> Overrides:
    plain: dict[str, Any] = {
        name: tuple(one) if isinstance(one, list) else one for name, one in given.items() if name not in _TOLD_APART
    }
    metrics = {
        name: MetricColumns(
            {key: one[key] for key in _METRIC if key in one},
            {key: one[key] for key in _CARRIED if key in one and key != "column"},
        )
        for name, one in given.get("metric", {}).items()
    }
    if len(metrics) == 1 and {"rows", "columns"} & given.keys():  # a pivot has no column of its values
        [(name, one)] = metrics.items()
        plain |= {"metric": name, **one.settings}
        metrics = {}
    columns = {name: one["column"] for name, one in given.get("metric", {}).items() if "column" in one}
    where = {name: tuple(one) for name, one in given.get("where", {}).items()}
    if metrics and "metric" in given.get("column", {}):
        where[given["column"]["metric"]] = tuple(metrics)
    labels, protocol = given.get("labels", {}), given.get("protocol", {})
    told = {LABEL + name: one for name, one in labels.items()} | {
        PROTOCOL + name: one for name, one in protocol.items()
    }
    layout = Layout(
        **{one.name: plain.pop(one.name) for one in fields(Layout) if one.name in plain},
        metrics=metrics,
        where=where,
        beside={name: one["column"] for name, one in told.items() if isinstance(one, Mapping)},
    )
    return Overrides(
        **plain,
        layout=layout,
        roles={**given.get("column", {}), **columns},
        labels={name: str(one) for name, one in labels.items() if not isinstance(one, Mapping)},
        protocol={name: one for name, one in protocol.items() if not isinstance(one, Mapping)},
    )


_TYPES: dict[str, Any] = {
    "string": str, "number": int | float, "integer": int, "boolean": bool, "object": dict, "array": list,
}  # fmt: skip


def _faults(given: Any, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    """Why a value does not fulfil one of the schemas above, with its place: `metric.top1.unit`."""
    if "oneOf" in schema:
        if all(any(_faults(given, one, where)) for one in schema["oneOf"]):
            yield f"{where} is neither a plain value nor {{ column = NAME }}"
    elif "enum" in schema:
        if given not in schema["enum"]:
            yield f"{where} is one of {', '.join(schema['enum'])}"
    elif not _is_of(given, schema["type"]):
        yield f"{where} is not of the type {schema['type']}"
    elif given == "" and schema.get("minLength"):
        yield f"{where} is empty"
    elif "minimum" in schema and given < schema["minimum"]:
        yield f"{where} is at least {schema['minimum']}"
    elif isinstance(given, list):
        yield from (fault for n, one in enumerate(given) for fault in _faults(one, schema["items"], f"{where}[{n}]"))
    elif isinstance(given, dict):
        yield from _faults_of_members(given, schema, where)


def _is_of(given: Any, types: str | Sequence[str]) -> bool:
    wanted = [types] if isinstance(types, str) else types
    if isinstance(given, bool):  # which Python calls a whole number
        return "boolean" in wanted
    return isinstance(given, tuple(_TYPES[one] for one in wanted))


def _faults_of_members(given: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> Iterator[str]:
    known, others = schema.get("properties", {}), schema.get("additionalProperties", False)
    for name in schema.get("required", ()):
        if name not in given:
            yield f"{where} lacks {name}"
    for name, one in given.items():
        at = f"{where}.{name}" if where else name
        if name in known or others:
            yield from _faults(one, known.get(name, others), at)
        else:
            yield f"{at} is not known; there are: {', '.join(known)}"
