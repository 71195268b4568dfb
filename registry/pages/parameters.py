"""Read the query of a page by the API's own schemas, without empty form fields."""

import math
import re
import uuid
from collections.abc import Collection
from typing import Any

from flask import request
from marshmallow import Schema, ValidationError, fields

from registry.api.arguments import faults_of
from registry.api.paging import read_key
from registry.errors import Fault, Invalid
from registry.pages.links import LOOKS, START
from registry.renderings.heatmap.scale import PALETTES, Options

LOOK = ("palette", "range")
ID = "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"


def checked(
    schema: type[Schema],
    without: tuple[str, ...] = (),
    also: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
    families: tuple[str, ...] = (),
) -> dict[str, Any]:
    """The page's parameters by a schema of the API, `Invalid` as there.

    `also` names those that only pages have, `optional` those that a page may do without; those that begin with one of
    `families`, as with `label.` or `at.`, are left to others.
    """
    rules = schema(exclude=without)
    given: dict[str, Any] = {}
    for name, texts in request.args.lists():
        kept = [text for text in texts if text]
        if name in also or name in (*LOOKS, START) or not kept or name.startswith(families):
            continue
        many = isinstance(rules.fields.get(name), fields.List)
        given[name] = kept if many else kept[-1]
    try:
        found: dict[str, Any] = rules.load(given, partial=optional)
    except ValidationError as error:
        raise Invalid(faults_of({"query": error.messages_dict})) from None
    return found


def salvaged(
    schema: type[Schema],
    also: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
    families: tuple[str, ...] = (),
) -> tuple[dict[str, Any], list[Fault]]:
    """Like `checked`, but what is wrong is told, and is as usual or left out, so that a form can be shown again."""
    try:
        return checked(schema, also=also, optional=optional, families=families), []
    except Invalid as error:
        wrong = tuple(fault.pointer.split("/")[1] for fault in error.faults)
        unknown = tuple(name for name, field in schema().fields.items() if name in wrong and field.required)
        kept = checked(schema, also=(*also, *wrong), optional=(*optional, *unknown), families=families)
        return kept, list(error.faults)


def argument(name: str, pattern: str, told: str) -> str:
    """The text of a parameter of the address, "" without one; `Invalid` where it is not of this pattern."""
    text = request.args.get(name) or ""
    if text and not re.fullmatch(pattern, text):
        raise Invalid([Fault(f"/{name}", told)])
    return text


def number(name: str, told: str, digits: int = 9) -> int | None:
    """The whole number from 1 that a parameter of the address is, None without one."""
    text = argument(name, f"[1-9][0-9]{{0,{digits - 1}}}", told)
    return int(text) if text else None


def choice(name: str, known: Collection[str]) -> str:
    """The one of these that a parameter names, "" for none."""
    return argument(name, "|".join(map(re.escape, known)), f"is one of {', '.join(known)}")


def cursor_of(sort: str, name: str = "cursor") -> tuple[Any, uuid.UUID] | None:
    """The key after which the page begins, None for the first one."""
    text = argument(name, f"[0-9a-f]{{1,1600}}~{ID}", "is not a cursor of this list")
    return read_key(text, sort) if text else None


def look() -> Options:
    """The palette and the range of colours that the URL asks for: `range=own`, `bounds` or `low,high`."""
    palette = choice("palette", PALETTES) or "cividis"
    return Options(palette=palette, span=_span(request.args.get("range") or "own"))


def _span(text: str) -> Any:
    if text in ("own", "bounds"):
        return text
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise Invalid([Fault("/range", "is own, bounds, or low,high")]) from None
    if not low < high or math.inf in (-low, high):
        raise Invalid([Fault("/range", "must have a low end below a high end")])
    return (low, high)
