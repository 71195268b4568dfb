"""Which axis matters, as bars: the shares of the variance."""

from __future__ import annotations

from dataclasses import dataclass

from registry.results.statistics import Statistics


@dataclass(frozen=True, slots=True)
class Bar:
    """A share of the whole: where it begins and how long it is, in hundredths for an SVG attribute."""

    name: str
    percent: str
    start: str
    length: str


def shares_of(statistics: Statistics) -> list[Bar]:
    """The axes' shares and the residual, one after the other; none where they are not computed."""
    found = statistics.sensitivity
    if found is None or not found.axes:
        return []
    shares = [(name, axis.share) for name, axis in found.axes.items()]
    shares += [("residual", found.residual.share)] if found.residual else []
    bars, start = [], 0.0
    for name, share in shares:
        length = max(0.0, 100 * share)
        bars.append(Bar(name, f"{100 * share:.0f} %", f"{start:.2f}", f"{length:.2f}"))
        start += length
    return bars
