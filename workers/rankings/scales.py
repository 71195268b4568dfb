"""Which metrics share a scale: only their values are compared with each other.

Proportions (bounds 0 and 1, or 0 and 100) of the units "", "%" and none share one, whatever they are given on. Other
closed ranges must be equal. An open range joins the closed one of its unit where there is exactly one, a missing
direction the only one of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from registry.grids.grid import Direction, Metric

Kind = tuple[str | None, Direction | None, float | None, float | None]
"""Unit, direction, lower and upper bound of a metric as it was posted."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A class of metrics. `factor` brings the values of the metric that was asked about onto it."""

    unit: str
    direction: Direction | None
    lower: float | None
    upper: float | None
    factor: float = 1.0

    @property
    def key(self) -> tuple[str, Direction | None, float | None, float | None]:
        """Equal for metrics whose values are compared."""
        return self.unit, self.direction, self.lower, self.upper


@dataclass(frozen=True, slots=True)
class Scales:
    """The scale of every kind of metric, and whether some had no direction and took that of the others."""

    of: Mapping[Kind, Scale]
    assumed: bool

    @property
    def classes(self) -> list[Scale]:
        """The different scales, in order."""
        found = {scale.key: replace(scale, factor=1.0) for scale in self.of.values()}
        return [found[key] for key in sorted(found, key=repr)]


def kind_of(metric: Mapping[str, Any]) -> Kind:
    """What decides about the scale of a metric."""
    return metric["unit"] or None, metric["direction"], metric["lower"], metric["upper"]


def scales(kinds: Iterable[Kind]) -> Scales:
    """The scales of the metrics of a board; the order in which they come means nothing."""
    posted = sorted(set(kinds), key=repr)
    directions = {direction for _, direction, _, _ in posted if direction}
    only = next(iter(directions)) if len(directions) == 1 else None
    whole = max((part for kind in posted if (part := _whole(kind))), default=None)
    found = {kind: _closed(kind, kind[1] or only, whole) for kind in posted}
    ranges = [scale for scale in found.values() if scale.lower is not None and scale.upper is not None]
    of = {kind: _joined(kind, scale, found, ranges) for kind, scale in found.items()}
    return Scales(of, only is not None and any(kind[1] is None for kind in posted))


def _whole(kind: Kind) -> float | None:
    """1 or 100 where a metric is a proportion of one of the units that proportions have."""
    whole = Metric("", None, None, kind[2], kind[3]).proportion_of
    return float(whole) if whole and kind[0] in (None, "%") else None


def _closed(kind: Kind, direction: Direction | None, whole: float | None) -> Scale:
    own = _whole(kind)
    if own is None:
        return Scale(kind[0] or "", direction, kind[2], kind[3])
    return Scale("%", direction, 0.0, whole, cast(float, whole) / own)


def _joined(kind: Kind, scale: Scale, found: Mapping[Kind, Scale], ranges: list[Scale]) -> Scale:
    """An open range on the scale that it is taken to share; else all open ones of a unit and direction are one."""
    if scale.lower is not None and scale.upper is not None:
        return scale
    alike = {one.key: one for one in ranges if one.direction == scale.direction and _same_unit(kind, one)}
    if len(alike) == 1:
        [one] = alike.values()
        # A percentage without bounds is no fraction, and where both are posted nobody knows which it is.
        posted = {_whole(other) for other, its in found.items() if its.key == one.key} - {None}
        if len(posted) < 2 and not (kind[0] == "%" and posted == {1.0}):
            return replace(one, factor=1.0)
    open_ = [one for one in found.values() if (one.unit, one.direction) == (scale.unit, scale.direction)]
    open_ = [one for one in open_ if one.lower is None or one.upper is None]
    lowers, uppers = {one.lower for one in open_}, {one.upper for one in open_}
    return replace(
        scale,
        lower=scale.lower if len(lowers) == 1 else None,
        upper=scale.upper if len(uppers) == 1 else None,
    )


def _same_unit(kind: Kind, scale: Scale) -> bool:
    return (kind[0] or "") == scale.unit or (scale.unit == "%" and kind[0] is None)
