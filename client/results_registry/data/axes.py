"""The axes as a caller declares them: names, levels by name, or the registry's own form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from results_registry.data.scalars import level
from results_registry.errors import BadData

KINDS = ("numeric", "ordinal", "nominal")
Declared = dict[str, Any]


def declared_axes(given: Any) -> list[Declared]:
    """Each axis as `{"name", …}`.

    A list holds names or `{"name", "kind", "levels", "unit", "scale"}`; a mapping goes from a name to the levels, a
    kind, or such fields.
    """
    if given is None:
        return []
    if isinstance(given, str):
        return [{"name": given}]
    if isinstance(given, Mapping):
        return [_named(str(name), about) for name, about in given.items()]
    axes = [_one(axis) for axis in given]
    names = [axis["name"] for axis in axes]
    if len(set(names)) < len(names):
        raise BadData(f"Two axes have the same name: {', '.join(names)}.")
    return axes


def _one(axis: Any) -> Declared:
    if isinstance(axis, Mapping):
        if "name" not in axis:
            raise BadData("An axis needs a name.")
        return _with_levels({"name": str(axis["name"])} | {key: axis[key] for key in axis if key != "name"})
    return {"name": str(axis)}


def _named(name: str, about: Any) -> Declared:
    if about is None:
        return {"name": name}
    if isinstance(about, str):
        if about not in KINDS:
            raise BadData(f'The axis "{name}" is {", ".join(KINDS)}, or has a list of levels; not "{about}".')
        return {"name": name, "kind": about}
    if isinstance(about, Mapping):
        return _with_levels({"name": name, **about})
    return _with_levels({"name": name, "levels": about})


def _with_levels(axis: Declared) -> Declared:
    if axis.get("levels") is None:
        return {key: value for key, value in axis.items() if key != "levels"}
    return axis | {"levels": [one if isinstance(one, Mapping) else level(one) for one in _listed(axis["levels"])]}


def _listed(levels: Any) -> Sequence[Any]:
    if hasattr(levels, "tolist"):
        levels = levels.tolist()
    if isinstance(levels, (str, bytes)):
        raise BadData("The levels of an axis are a list.")
    return list(levels)


def label_of(one: Any) -> Any:
    """The text by which a coordinate names a declared level."""
    return one["label"] if isinstance(one, Mapping) else one
