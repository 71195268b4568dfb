"""The filters of a query: names that repeat for OR, labels, and an instant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import request
from marshmallow import Schema

from registry.api.fields import unknown
from registry.errors import Fault, Invalid
from registry.grids.intake.faults import escaped
from registry.grids.intake.levels import has_control
from registry.grids.slices import Slice, read_slice
from registry.operations.find import Filters

_PLACEHOLDER = "<key>"
"""Placeholder that documents write for the name of a label; clients made from older ones sent it as it stood there."""


def slice_of_request(query: Mapping[str, Any], schema: type[Schema]) -> Slice:
    """The slice in the parameters `at.<axis>`; `Invalid` for a name that this schema does not have."""
    _check_names(query, schema, ("at.",))
    return read_slice(request.args.lists())


def filters_of(query: dict[str, Any], schema: type[Schema], also: tuple[str, ...] = ()) -> Filters:
    """Filters from a query that was read by this schema; `Invalid` for a name that it does not have and that begins
    with none of `also`."""
    _check_names(query, schema, ("label.", *also))
    names = {kind: query[kind] for kind in ("experiment", "benchmark", "model", "variant", "metric")}
    labels = _labels()
    return Filters(
        **names,
        labels=labels,
        updated_since=query.get("updated_since"),
        id=query.get("id", ""),
        deleted=query.get("deleted", "exclude"),
    )


def _check_names(query: Mapping[str, Any], schema: type[Schema], beginnings: tuple[str, ...]) -> None:
    surplus = unknown([name for name in query if not name.startswith(beginnings)], set(schema().fields))
    if surplus:
        raise Invalid([Fault(f"/{escaped(name)}", detail) for name, detail in surplus.items()])


def _labels() -> dict[str, list[str]]:
    """The texts that are asked for of each label."""
    labels = {name.removeprefix("label."): texts for name, texts in request.args.lists() if name.startswith("label.")}
    faulty = [name for name, texts in labels.items() if any(has_control(text) for text in (name, *texts))]
    if faulty:
        raise Invalid([Fault(f"/label.{name}", "must not hold control characters") for name in faulty])
    if _PLACEHOLDER in labels:
        raise Invalid([Fault(f"/label.{_PLACEHOLDER}", "names no label: write its name for <key>, as in label.seed=0")])
    return labels
