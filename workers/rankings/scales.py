"""Scales: metrics on one scale have comparable values.

Proportions (bounds 0 and 1, or 0 and 100) with the units "", "%" or none share one scale. Other closed ranges must be
equal. An open range joins the closed range of its unit if there is exactly one, and a missing direction becomes that of
the others if they agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from registry.grids.grid import Direction, Metric
from registry.results.ranking import RankedScale

Kind = tuple[str | None, Direction | None, float | None, float | None]
"""Unit, direction, lower and upper bound of a metric as it was posted."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A class of comparable metrics. Multiplying by `factor` converts a value of the metric to this scale."""

    unit: str
    direction: Direction | None
    lower: float | None
    upper: float | None
    factor: float = 1.0

    @property
    def key(self) -> tuple[str, Direction | None, float | None, float | None]:
        """Equal for metrics with comparable values."""
        return self.unit, self.direction, self.lower, self.upper


@dataclass(frozen=True, slots=True)
class Scales:
    """Scale of every kind of metric, and whether a missing direction was assumed."""

    of: Mapping[Kind, Scale]
    assumed: bool

    @property
    def one(self) -> RankedScale | None:
        """The scale of all values as answers say it; None where there are several."""
        known = [scale for scale in self.classes if scale.direction] or self.classes
        if len(known) != 1:
            return None
        [scale] = known
        # Shares of 1 have no unit: they are no percentages.
        unit = None if scale.unit == "%" and scale.upper == 1 else scale.unit or None
        return RankedScale(unit, scale.direction, scale.lower, scale.upper)

    @property
    def classes(self) -> list[Scale]:
        """The different scales, in a fixed order."""
        found = {scale.key: replace(scale, factor=1.0) for scale in self.of.values()}
        return [found[key] for key in sorted(found, key=repr)]


def kind_of(metric: Mapping[str, Any]) -> Kind:
    """Properties of a metric that decide its scale."""
    return metric["unit"] or None, metric["direction"], metric["lower"], metric["upper"]


def scales(kinds: Iterable[Kind]) -> Scales:
    """Scales of the metrics in a ranking; the order of `kinds` has no effect."""
    posted = sorted(set(kinds), key=repr)
    directions = {direction for _, direction, _, _ in posted if direction}
    only = next(iter(directions)) if len(directions) == 1 else None
    whole = max((part for kind in posted if (part := _whole(kind))), default=None)
    found = {kind: _closed(kind, kind[1] or only, whole) for kind in posted}
    ranges = [scale for scale in found.values() if scale.lower is not None and scale.upper is not None]
    of = {kind: _joined(kind, scale, found, ranges) for kind, scale in found.items()}
    return Scales(of, only is not None and any(kind[1] is None for kind in posted))


def factor_to(scale: RankedScale | None, other: RankedScale | None) -> float:
    """What a difference on a scale is multiplied by to be one on the other: not 1 for shares of 1 and of 100."""
    wholes = [_whole((one.unit, one.direction, one.lower, one.upper)) for one in (scale, other) if one]
    return wholes[1] / wholes[0] if len(wholes) == 2 and wholes[0] and wholes[1] else 1.0


def _whole(kind: Kind) -> float | None:
    """1 or 100 if a metric is a proportion with one of the units of proportions, else None."""
    whole = Metric("", None, None, kind[2], kind[3]).proportion_of
    return float(whole) if whole and kind[0] in (None, "%") else None


def _closed(kind: Kind, direction: Direction | None, whole: float | None) -> Scale:
    own = _whole(kind)
    if own is None:
        return Scale(kind[0] or "", direction, kind[2], kind[3])
    return Scale("%", direction, 0.0, whole, cast(float, whole) / own)


def _joined(kind: Kind, scale: Scale, found: Mapping[Kind, Scale], ranges: list[Scale]) -> Scale:
    """Scale of an open range: the closed one that it joins, else one for all open ranges of its unit and direction."""
    if scale.lower is not None and scale.upper is not None:
        return scale
    alike = {one.key: one for one in ranges if one.direction == scale.direction and _same_unit(kind, one)}
    if len(alike) == 1:
        [one] = alike.values()
        # A percentage without bounds is no fraction, and where both are posted it is unknown which of them it is.
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
