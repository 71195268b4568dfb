"""Changes between two revisions in words: of the metric, axes, labels and protocol, and of each cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.renderings.numbers import plain_number
from registry.renderings.words import isolated, label, said

Document = Mapping[str, Any]
MEASURED = ("value", "trials", "stderr", "repeats", "sd")
"""What a measured cell may carry, and how that is called here."""
_NAMES = {"stderr": "standard error", "sd": "standard deviation", "lower": "lower bound", "upper": "upper bound"}
_TOLD = 12
"""So many levels of an axis are named."""


def name_of(field: str) -> str:
    return _NAMES.get(field, said(field))


def differing(old: Document, new: Document, fields: Sequence[str] = MEASURED) -> list[tuple[str, str, str]]:
    """The fields that differ, each with what it was and what it is; "none" where there was or is none."""
    return [
        (name_of(field), written(old.get(field)), written(new.get(field)))
        for field in fields
        if (written(old.get(field)), old.get(field)) != (written(new.get(field)), new.get(field))
    ]


def written(found: Any) -> str:
    if found is None:
        return "none"
    if isinstance(found, bool):
        return "yes" if found else "no"
    if isinstance(found, (list, tuple)):
        return ", ".join(map(written, found)) or "none"
    return plain_number(found) if isinstance(found, (int, float)) else str(found)


def changes_of(old: Document, new: Document, members: Sequence[str]) -> Iterator[str]:
    """Sentences about metric, axes, labels, protocol and members of two grids, from the first to the second."""
    yield from _said("the metric: ", differing(old["metric"], new["metric"], list(new["metric"])))
    yield from _axes(old["axes"], new["axes"])
    names = sorted({*old["labels"], *new["labels"]})
    yield from _said("the label ", differing(old["labels"], new["labels"], names), isolated)
    yield from _said("", differing(old, new, [name for name in members if name != "protocol"]))
    ways = old.get("protocol") or {}, new.get("protocol") or {}
    yield from _said("the protocol's ", differing(*ways, sorted({*ways[0], *ways[1]})), isolated)


def _said(before: str, found: Sequence[tuple[str, str, str]], spoken: Any = str) -> Iterator[str]:
    for name, old, new in found:
        yield f"{before}{spoken(name)} {isolated(old)} \u2192 {isolated(new)}"


def _axes(old: Sequence[Document], new: Sequence[Document]) -> Iterator[str]:
    before, after = ({axis["name"]: axis for axis in axes} for axes in (old, new))
    yield from (f"the axis {isolated(name)} is new" for name in after if name not in before)
    yield from (f"the axis {isolated(name)} is gone" for name in before if name not in after)
    common = [name for name in before if name in after]
    if common != [name for name in after if name in before]:
        yield f"the order of the axes {', '.join(map(isolated, before))} \u2192 {', '.join(map(isolated, after))}"
    for name in common:
        yield from _axis(f"the axis {isolated(name)}: ", before[name], after[name])


def _axis(about: str, old: Document, new: Document) -> Iterator[str]:
    yield from _said(about, differing(old, new, ("kind", "unit", "scale")))
    before, after = ([label(level) for level in axis["levels"]] for axis in (old, new))
    came, went = [one for one in after if one not in set(before)], [one for one in before if one not in set(after)]
    if came:
        yield f"{about}with {_levels(came)}"
    if went:
        yield f"{about}without {_levels(went)}"
    if not came and not went and old["levels"] != new["levels"]:
        yield f"{about}its levels " + ("have other numbers" if before == after else "stand in another order")


def _levels(names: Sequence[str]) -> str:
    more = f" and {len(names) - _TOLD:,} more" if len(names) > _TOLD else ""
    return f"the {'level' if len(names) == 1 else 'levels'} {', '.join(map(isolated, names[:_TOLD]))}{more}"
