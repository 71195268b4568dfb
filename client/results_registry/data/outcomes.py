"""Outcomes of items as they are given to `log_grid`, and as they are sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from results_registry.data.scalars import level, measured, whole
from results_registry.errors import BadData

_FIELDS = ("name", "ids", "digest", "outcomes", "repeats")


def read_items(given: Mapping[str, Any], axes: Sequence[str]) -> dict[str, Any]:
    """The body that the registry takes, `{"set", "cells"}`."""
    if wrong := [name for name in given if name not in _FIELDS]:
        raise BadData(f"Items have {', '.join(_FIELDS)}, not {wrong[0]!r}.")
    if not given.get("name") or given.get("outcomes") is None:
        raise BadData("Items need a name and their outcomes.")
    outcomes = given["outcomes"]
    cells = outcomes if isinstance(outcomes, Mapping) else {(): outcomes}
    repeats = whole(given.get("repeats"), "repeats")
    more = {} if repeats is None else {"repeats": repeats}
    scores = {key: _scores(one) for key, one in cells.items()}
    sent = [{"at": _at(key, axes), "outcomes": one} | more for key, one in scores.items()]
    counts = set(map(len, scores.values()))
    if len(counts) != 1:
        raise BadData("Every cell needs an outcome of each item.")
    known = {name: given[name] for name in ("name", "digest") if given.get(name)}
    ids = {} if given.get("ids") is None else {"ids": [str(one) for one in given["ids"]]}
    return {"set": known | ids | {"count": counts.pop()}, "cells": sent}


def _at(key: Any, axes: Sequence[str]) -> dict[str, Any]:
    if isinstance(key, Mapping):
        return dict(key)
    levels = key if isinstance(key, tuple) else (key,)
    if len(levels) != len(axes):
        raise BadData(f"The coordinate {key!r} of the items needs a level for each of {', '.join(axes) or 'no axes'}.")
    return {axis: level(one) for axis, one in zip(axes, levels, strict=True)}


def _scores(given: Any) -> list[float]:
    found = []
    for one in given:
        score = measured(one)
        if score is None or isinstance(score, str) or not 0 <= score <= 1:
            raise BadData("An outcome of an item is a number from 0 to 1.")
        found.append(int(score) if score in (0, 1) else score)
    return found
