"""Names, levels and metrics as people read them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.grids.protocol import Protocol, written
from registry.grids.slices import slice_of, slice_text, with_slice
from registry.renderings.numbers import UNDEFINED, plain_number
from registry.renderings.table import Column
from registry.results.terms import SliceDocument


def title(document: Mapping[str, Any]) -> str:
    """`benchmark · model · variant — metric (unit)`."""
    names = [document.get(name) for name in ("benchmark", "model", "variant")]
    return " · ".join(str(name) for name in names if name) + " — " + measure(document["metric"])


def versus(one: Sequence[str], other: Sequence[str]) -> str:
    """`A vs B` of the names in which two sides differ; of all of them where they differ in none."""
    both = list(zip(one, other, strict=True))
    told = [(mine, theirs) for mine, theirs in both if mine != theirs] or both
    return " vs ".join(" · ".join(name or UNDEFINED for name in names) for names in zip(*told, strict=True))


def measure(metric: Mapping[str, Any] | None) -> str:
    """The metric with its unit."""
    return with_unit(metric) if metric else "value"


def with_unit(named: Mapping[str, Any]) -> str:
    """A metric or an axis with its unit, if it has one."""
    return f"{named['name']} ({named['unit']})" if named.get("unit") else str(named["name"])


def label(level: Any) -> str:
    """A level as people read it: its label, or its number."""
    if isinstance(level, dict):
        return str(level["label"])
    return plain_number(level) if isinstance(level, (int, float)) else str(level)


def slice_line(document: SliceDocument, *, short: bool = False) -> Iterator[str]:
    """What a result is restricted to, as a sentence or in short; nothing for a result of whole grids."""
    if document:
        yield (
            slice_text(slice_of(document))
            if short
            else f"Only {isolated(slice_text(slice_of(document)))}; nothing else is counted."
        )


def about(found: Any, *, metric_is_said: bool = False) -> str:
    """What an answer about several grids is about: `accuracy in long-context, suite reasoning`, or without the metric
    where that is said before."""
    if found.selection is not None:
        said_before = f"{found.selection.metric} in " if metric_is_said else ""
        return isolated(found.selection.sentence.removeprefix(said_before))
    # Of a server of an older version, which may know less.
    metric = found.metric["name"] if isinstance(found.metric, Mapping) else found.metric
    told = [None if metric_is_said else metric, found.experiment]
    return with_slice(" in ".join(filter(None, told)), slice_of(found.slice or {}))


def protocol_line(protocol: Protocol | None) -> Iterator[str]:
    """How something was measured, `Protocol: harness lm-eval · shots 5`; nothing where that is not known."""
    if protocol:
        told = (f"{isolated(key)} {isolated(written(value))}" for key, value in sorted(protocol.items()))
        yield f"Protocol: {' · '.join(told)}"


def place(at: Mapping[str, Any], without: str | None = None) -> str:
    """A coordinate, `Type 2, Length 1`."""
    return ", ".join(f"{isolated(name)} {isolated(spoken(level))}" for name, level in at.items() if name != without)


def isolated(text: str) -> str:
    """A name in a sentence: one that is written from right to left does not turn around what stands beside it."""
    if text.isascii() or not any(unicodedata.bidirectional(character) in ("R", "AL") for character in text):
        return text
    return f"\u2068{text}\u2069"


def spoken(level: Any) -> str:
    """A level in a sentence: seven digits and more of a number by thousands, `70 000 000 000`."""
    if isinstance(level, (int, float)) and level == int(level) and 1e6 <= abs(level) < 1e15:
        return f"{int(level):,}".replace(",", "\u202f")
    return label(level)


def places(
    found: Sequence[Mapping[str, Any]], without: str | None = None, ties: int | None = None, most: int = 12
) -> str:
    """Coordinates, at most so many, and how many more there are."""
    named = [name for name in (place(at, without) for at in found[:most]) if name]
    more = max(ties or 0, len(found)) - len(found[:most])
    return "; ".join(named) + (f"; and {more:,} more" if more > 0 and named else "")


def said(word: Any) -> str:
    """A word of the wire in plain writing."""
    return str(word).replace("_", " ")


def slope_per(axes: Sequence[Mapping[str, Any]], along: str, x_scale: Any) -> str:
    """Unit that a slope is per: a factor of ten of the axis on a logarithmic scale, a level where there is only an
    order, else its unit."""
    axis: Mapping[str, Any] = next((one for one in axes if one["name"] == along), {})
    if x_scale == "log10":
        return f"factor of ten of {along}"
    if axis.get("kind") == "ordinal":
        return f"level of {along}"
    return f"{axis.get('unit') or 'unit'} of {along}"


def counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def axis_columns(cells: Sequence[Mapping[str, Any]]) -> list[Column]:
    """A column for each axis of some coordinates."""
    names = list(dict.fromkeys(name for at in cells for name in at))
    return [Column(name, [label(at.get(name, "")) for at in cells], _numeric(cells, name)) for name in names]


def _numeric(cells: Sequence[Mapping[str, Any]], name: str) -> bool:
    return not any(isinstance(at.get(name), str) for at in cells)
