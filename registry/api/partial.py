"""Answers with some of their fields: `fields=series.at,series.slope` (AIP-157 calls it a read mask)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from hashlib import sha256
from typing import Any

import orjson

from registry.api.cached_results import Part
from registry.errors import Fault, Invalid
from registry.results.field_paths import NoKey, Tree, selected, tree_of, unknown_path

_POINTER = "/fields"


def part_asked(
    query: Mapping[str, Any], kind: type, form: str, *, only: Collection[str] | None = None, of: Part | None = None
) -> Part | None:
    """The part of a document of this type that a query asks for with `fields`, of the part `of` if that is given;
    `of` itself where it does not ask.

    `Invalid` for a path that no such document has (`only`: the fields at its top), and in another form than JSON.
    """
    if "fields" not in query:
        return of
    if form != "json":
        raise Invalid([Fault(_POINTER, f"is for JSON; the {form} form has what it has")])
    if (wrong := unknown_path(query["fields"], kind, only)) is not None:
        raise Invalid([Fault(_POINTER, wrong)])
    tree = tree_of(query["fields"])
    mark = sha256(orjson.dumps(tree, option=orjson.OPT_SORT_KEYS)).hexdigest()[:8]

    def select(document: dict[str, Any]) -> dict[str, Any]:
        return _selected(document if of is None else of.select(document), tree, kind)

    return Part(f"{of.mark if of else ''}-f{mark}", select)


def _selected(document: dict[str, Any], tree: Tree, kind: type) -> dict[str, Any]:
    try:
        return selected(document, tree, kind)
    except NoKey as missing:
        raise Invalid([Fault(_POINTER, str(missing))]) from None
