"""Paths of fields in documents: `series.slope`, `coverage.by.Length.empty`; what a caller asks for of a long answer, by
the parameter `fields` of the API.

The names of a path are joined by dots. A list is passed through: `series.slope` is the slope of each series. In a
mapping the next name is a key, or `*` for all of them. A name with a dot or a comma in it stands in backquotes.
"""

import dataclasses
import re
import types
import typing
from collections.abc import Collection, Hashable, Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Annotated, Any, cast, get_args, get_origin, get_type_hints, is_typeddict

from registry.results.codec import wire_name

Tree = Mapping[str, Any]
"""What is asked for below each name: another tree, or None for all of it."""
_NAME = r"(?:`[^`]+`|[^.,`]+)"
_PATH = rf"{_NAME}(?:\.{_NAME})*"
FORM = re.compile(rf"{_PATH}(?:,{_PATH})*")
"""Paths with commas between them."""
_EVERY = "*"
_DEEPEST = 8
_MOST_SHOWN = 12


def tree_of(paths: str) -> Tree:
    """The paths in a text that `FORM` matches, as one tree: a path within another one adds nothing."""
    tree: dict[str, Any] = {}
    for path in re.findall(_PATH, paths):
        _add(tree, _names(path))
    return tree


def _names(path: str) -> list[str]:
    return [name.strip("`") for name in re.findall(_NAME, path)]


def _add(tree: dict[str, Any], names: list[str]) -> None:
    inner: dict[str, Any] | None = tree
    for name in names[:-1]:
        inner = None if inner is None else inner.setdefault(name, {})
    if inner is not None:
        inner[names[-1]] = None


def unknown_path(paths: str, kind: type, only: Collection[str] | None = None) -> str | None:
    """What is wrong with the first path that no document of this type can have, with the nearest that it can have; None
    where all are known. `only` are the fields that the document has at its top."""
    for path in re.findall(_PATH, paths):
        names = _names(path)
        if (only is not None and names[0] not in only) or not _leads(kind, names):
            known = [one for one in _paths(kind) if only is None or one.split(".")[0] in only]
            return f'has no field "{path}"; {_advice(".".join(names), known)}'
    return None


def _advice(path: str, known: list[str]) -> str:
    ends = [one for one in known if one.endswith(f".{path}")]
    near = ends[:1] or get_close_matches(path[:100], known, n=1, cutoff=0.6)
    top = dict.fromkeys(one.split(".")[0] for one in known)
    return f'did you mean "{near[0]}"?' if near else f"there are {', '.join(top)}"


def _leads(kind: Any, names: list[str]) -> bool:
    """Whether names lead to a field below this type."""
    if not names:
        return True
    if kind is Any:
        return True
    inner = _below(cast(Hashable, kind))
    found = inner.get(names[0], inner.get(_EVERY))
    return found is not None and _leads(found, names[1:])


@lru_cache(maxsize=512)
def _below(kind: Any) -> dict[str, Any]:
    """The types of the fields of a type, through lists; `*` for those of a mapping; none of a scalar."""
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Annotated or origin is tuple or origin is list:
        return _below(inside[0])
    if origin in (types.UnionType, typing.Union):
        return {name: found for one in inside for name, found in _below(one).items()}
    if origin in (dict, get_origin(Mapping[str, Any])):
        return {_EVERY: inside[1]}
    if dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind, include_extras=True)
        return {wire_name(field): hints[field.name] for field in dataclasses.fields(kind)}
    return get_type_hints(kind, include_extras=True) if is_typeddict(kind) else {}


@lru_cache(maxsize=16)
def _paths(kind: Any) -> tuple[str, ...]:
    return tuple(_walked(kind, "", _DEEPEST))


def _walked(kind: Any, before: str, depth: int) -> Iterator[str]:
    for name, inner in _below(kind).items() if depth else ():
        yield before + name
        yield from _walked(inner, f"{before}{name}.", depth - 1)


class NoKey(Exception):
    """No mapping at this place has the key; the message says which there are."""


def selected(document: Mapping[str, Any], tree: Tree, kind: type) -> dict[str, Any]:
    """What the tree asks for of a document of this type, in the document's order; lists keep their items and null stays
    null. `NoKey` when a key is in none of the mappings that it was looked for in."""
    seen: dict[tuple[str, str], set[str]] = {}
    found = _selected(document, tree, kind, "", seen)
    for (place, key), known in seen.items():
        if known and key not in known:
            listed = ", ".join(sorted(known)[:_MOST_SHOWN])
            raise NoKey(f'has no "{key}" in "{place}"; there {"is" if len(known) == 1 else "are"} {listed}')
    return cast(dict[str, Any], found)


def _selected(value: Any, tree: Tree | None, kind: Any, place: str, seen: dict[tuple[str, str], set[str]]) -> Any:
    if isinstance(value, list):
        return [_selected(one, tree, kind, place, seen) for one in value]
    if tree is None or not isinstance(value, dict):
        return value
    inner = _below(kind)
    if _EVERY in inner:
        for name in set(tree) - {_EVERY}:
            seen.setdefault((place, name), set()).update(value)
    wanted = {**dict.fromkeys(value, tree[_EVERY]), **tree} if _EVERY in tree else tree
    return {
        name: _selected(one, wanted[name], inner.get(name, inner.get(_EVERY, Any)), f"{place}.{name}".lstrip("."), seen)
        for name, one in value.items()
        if name in wanted
    }
